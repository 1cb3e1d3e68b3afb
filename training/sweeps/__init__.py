"""Several trainings that differ in a few keys: carried out one after another, and compared."""
