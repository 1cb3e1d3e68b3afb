"""Where what is fetched or unpacked is kept between two commands."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """SIMCOUNSEL_CACHE, else XDG_CACHE_HOME/simcounsel, else ~/.cache/simcounsel; need not
    exist.
    """
    own = os.environ.get("SIMCOUNSEL_CACHE")
    if own:
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "simcounsel"
