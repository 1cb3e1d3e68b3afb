"""`python -m analysis`: not built yet."""

import sys

sys.exit("simcounsel: analysis is not built yet; `python -m simcounsel --help` shows what is")
