"""Claims from runs. Nothing here yet: `python -m analysis` says so."""
