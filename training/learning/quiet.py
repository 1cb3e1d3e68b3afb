"""Hugging Face's progress bars and notices, silenced while something is loaded: a training has its
own progress.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from warnings import catch_warnings, simplefilter

from transformers.utils import logging


@contextmanager
def quietly() -> Iterator[None]:
    """No bars and no notices inside; errors are raised as ever."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with catch_warnings():
            simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
