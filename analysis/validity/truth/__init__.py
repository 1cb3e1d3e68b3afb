"""`simcounsel study validity truth`: simulated effects beside those of real studies."""
