"""Runs on disk: the folder, its log, older versions of it, and what a run came to."""
