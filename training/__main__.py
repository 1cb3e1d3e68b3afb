"""`python -m training`: not built yet."""

import sys

sys.exit("simcounsel: training is not built yet; `python -m simcounsel --help` shows what is")
