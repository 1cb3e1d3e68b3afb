"""A client that changes over a course of sessions: guarded at first, less so where a defense is
met.
"""

from simcounsel.policies.changing.policy import Changing

__all__ = ["Changing"]
