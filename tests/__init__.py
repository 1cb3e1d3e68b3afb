"""The tests of simcounsel, a package so that they can share what they need."""

import os

# Each worker, and each process that a test starts, computes with one thread: on a machine of two cores, threads that
# wait for each other spin away what others need. Read by numpy, scipy, scikit-learn and torch when they are imported.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
