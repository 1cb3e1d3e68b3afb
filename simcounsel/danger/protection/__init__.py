"""A counselor's safety protocol: it goes before any policy from the moment that danger is heard
until the danger has been met.
"""

from simcounsel.danger.protection.guarded import Guarded

__all__ = ["Guarded"]
