"""The lines from which the gate learns, what it learned, and the script that does it (`train`)."""
