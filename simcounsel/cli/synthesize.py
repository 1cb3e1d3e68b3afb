"""`synthesize`: six roles write a new corpus."""
