"""Learning the scanners' numbers; only `train` needs scikit-learn."""
