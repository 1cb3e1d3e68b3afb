"""`simcounsel study methods`: an ODD description of a study, and deviations from its plan."""
