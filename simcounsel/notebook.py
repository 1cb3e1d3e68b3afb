"""Whether this is a notebook, and a line in it that tells how far something is."""

import importlib
import sys
from collections.abc import Callable
from typing import Any


def line() -> Callable[[str], None]:
    """Shows a text, in a notebook, in place of the one before; elsewhere it does nothing."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ != "ZMQInteractiveShell":
        return lambda text: None
    display: Any = importlib.import_module("IPython.display").display
    shown = display({"text/plain": ""}, raw=True, display_id=True)
    return lambda text: shown.update({"text/plain": text}, raw=True)
