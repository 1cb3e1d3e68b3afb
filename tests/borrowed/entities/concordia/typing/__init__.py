"""A stand-in with Concordia's interface; nothing of Concordia is here."""
