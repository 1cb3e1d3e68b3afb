"""Do simulated clients stay the persons that were written? By an observer, and by themselves."""
