"""The public names of the package."""

import inspect
from typing import Any

import simcounsel
import simcounsel.testing
from docs.generating.text import page, prose


def public() -> dict[str, Any]:
    """Each public name with what it stands for."""
    found = {
        name: getattr(simcounsel, name) for name in simcounsel.__all__ if not name.startswith("__")
    }
    names = getattr(
        simcounsel.testing,
        "__all__",
        [name for name in vars(simcounsel.testing) if not name.startswith("_")],
    )
    return found | {f"testing.{name}": getattr(simcounsel.testing, name) for name in names}


def methods(kind: Any) -> dict[str, Any]:
    """The public functions and properties that a class states itself."""
    if not inspect.isclass(kind):
        return {}
    return {
        name: one
        for base in reversed(kind.__mro__)
        if base.__module__.startswith("simcounsel")
        for name, one in vars(base).items()
        if not name.startswith("_")
        and (inspect.isfunction(one) or isinstance(one, (classmethod, staticmethod, property)))
    }


def _signature(one: Any) -> str:
    bare = one.__func__ if isinstance(one, (classmethod, staticmethod)) else one
    try:
        return str(inspect.signature(bare)).replace("simcounsel.", "")
    except (TypeError, ValueError):
        return ""


def _doc(one: Any) -> str:
    return (
        inspect.getdoc(one.__func__ if isinstance(one, (classmethod, staticmethod)) else one) or ""
    )


def api() -> str:
    """The page."""
    parts = []
    for name, one in sorted(public().items()):
        told = [f"## simcounsel.{name}"]
        if inspect.isclass(one) or inspect.isroutine(one):
            told.append(f"```text\n{name}{_signature(one)}\n```")
        told.append(prose(_doc(one)) if _doc(one) else "A type; see its definition.")
        for inner, method in methods(one).items():
            if isinstance(method, property):
                told.append(f"**`.{inner}`** {prose(_doc(method.fget))}")
            else:
                told.append(f"**`.{inner}{_signature(method)}`** {prose(_doc(method))}")
        parts.append("\n\n".join(told))
    about = (
        "What changes only with a note in the change log; every other name is private. How the parts go together is in"
        " [Adding your own](../extending.md)."
    )
    return page("Python", about, *parts)
