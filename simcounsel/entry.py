"""A command line from its start to its exit code: what goes wrong on purpose is one message,
without a traceback.

0      done
1      an error that a message names; 2 an argument that is not as it must be
3      given up, nothing of it written: a model did not answer, or too many answers were unusable;
       the command that the message names goes on
128+N  ended by signal N: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP; 141: nobody reads any more
"""

import contextlib
import logging
import re
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import requires

from simcounsel import hosts, interrupts, named_code, terminal
from simcounsel.errors import GivenUp, SimcounselError
from simcounsel.gallery import located

GIVEN_UP = 3
INTERRUPTED = 130
OURS = ("", "simcounsel", "training", "analysis")


def start(name: str, app: Callable[[], object], install: Callable[[str], str]) -> None:
    """Run a command line, then exit if it did not end well. install: what to type to have a package
    that is missing.
    """
    named = hosts.named_in(sys.argv[1:])
    with terminal.guarded(), named, named_code.as_before(), interrupts.like_ctrl_c() as heard:
        logging.basicConfig(format="%(message)s", level=logging.WARNING, handlers=[_Messages()])
        code = _flushed(name, _exit_code(name, app, install))
    if heard:
        code = 128 + heard[0]
    if code:
        sys.exit(code)


def install_of(package: str) -> str:
    """What to type to have a package: the smallest of our extras that brings it."""
    brought: dict[str, int] = {}
    bringing: set[str] = set()
    for line in requires("simcounsel") or ():
        name, _, marker = line.partition(";")
        if extra := re.search(r"extra == ['\"]([\w-]+)['\"]", marker):
            brought[extra[1]] = brought.get(extra[1], 0) + 1
            plain = re.split(r"[^\w.-]", name.strip())[0]
            if plain.lower().replace("-", "_") == package.lower():
                bringing.add(extra[1])
    best = min(bringing - {"test"}, key=lambda extra: (brought[extra], extra), default="all")
    return f"pip install 'simcounsel[{best}]'"


class _Messages(logging.Handler):
    """Onto standard error as it is at that moment: a live display shows them above itself."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say it."""
        _say(self.format(record))


def _exit_code(name: str, app: Callable[[], object], install: Callable[[str], str]) -> int:
    try:
        sys.argv[1:] = [located(argument) for argument in sys.argv[1:]]
        app()
    except SystemExit as ended:
        if isinstance(ended.code, str):
            _say(ended.code)
            return 1
        return int(ended.code or 0)
    except SimcounselError as error:
        _say(f"{name}: {error}")
        return GIVEN_UP if isinstance(error, GivenUp) else 1
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package in OURS:
            traceback.print_exc()
        else:
            _say(f"{name}: the package {package} is missing; {install(package)}")
        return 1
    except KeyboardInterrupt:
        _say("stopped")
        return INTERRUPTED
    except BrokenPipeError:
        return terminal.UNREAD
    except Exception:  # a fault of ours: what its words quote is guarded too
        with contextlib.suppress(SimcounselError, SystemExit):
            traceback.print_exc()
        return 1
    return 0


def _flushed(name: str, code: int) -> int:
    """The exit code once all is written out, or could not be."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except SystemExit:
            code = code or terminal.UNREAD
            terminal.give_up(stream)
        except SimcounselError as error:
            if not code:
                _say(f"{name}: {error}")
            code = code or 1
            terminal.give_up(stream)
    return code


def _say(words: str) -> None:
    """On standard error, if anything can be said there."""
    with contextlib.suppress(SimcounselError, SystemExit):
        print(words, file=sys.stderr, flush=True)  # noqa: T201
