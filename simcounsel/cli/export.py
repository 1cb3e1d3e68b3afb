"""`export`: runs become training data."""
