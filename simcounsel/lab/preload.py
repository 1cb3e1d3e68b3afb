"""What each run of a sweep needs, imported once by the process of which they are forks. What cannot
be imported is told by the run that needs it.
"""

import contextlib

from simcounsel.record_kinds import WORLD, other_kinds

with contextlib.suppress(Exception):
    for _kind in (WORLD, *other_kinds()):
        _kind.part("going")
