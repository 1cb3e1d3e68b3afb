"""Learning a counselor from a corpus. Nothing here yet: `python -m training` says so."""
