"""What each run of a sweep needs, imported once by the process of which they are forks. What cannot
be imported is told by the run that needs it.
"""

import contextlib
import importlib

for _name in ("simcounsel.engine.simulation", "simcounsel.corpus.synthesis"):
    with contextlib.suppress(Exception):
        importlib.import_module(_name)
