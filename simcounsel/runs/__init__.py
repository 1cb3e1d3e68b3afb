"""Runs on disk: the folder, its log, and what a run came to."""
