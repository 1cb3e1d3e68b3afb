"""Practice with feedback."""
