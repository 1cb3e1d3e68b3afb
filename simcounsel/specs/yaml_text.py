"""YAML text into data and the lines of its parts: plain values, nested and repeated within
bounds.
"""

import contextlib
import re
from typing import Any

import yaml

from simcounsel.intake import MOST_DEPTH
from simcounsel.specs.file_text import Lines

MOST_REPEATED = 20_000
"""Values that aliases repeat, a text of n characters counting as 1 + n / 100. A few lines of
aliases to aliases can stand for billions.
"""
MOST_DIGITS = 18
"""Of a whole number, so that it fits into 64 bits wherever it is kept."""
_CONTROL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f\\ud800-\\udfff]")


def control_in(text: str) -> str | None:
    """What is wrong with a text that no file of ours may hold; None when nothing is. Line breaks
    and tabs are fine.
    """
    found = _CONTROL.search(text)
    return f"holds the control character #x{ord(found[0]):02x}; take it out" if found else None


class NotYaml(Exception):
    """Text that is not YAML as it is used here. problems: line (from 1), and what is wrong with a
    remedy.
    """

    def __init__(self, problems: list[tuple[int, str]]) -> None:
        super().__init__("; ".join(what for _, what in problems))
        self.problems = problems


class _Values(yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """YAML 1.2 where it hurts: `on`, `off`, `yes`, `no` and times like 07:15 stay text, 010 is
    ten.
    """


_Values.yaml_implicit_resolvers = {
    first: [
        (tag, regexp)
        for tag, regexp in resolvers
        if not tag.endswith((":bool", ":int", ":timestamp", ":float", ":value"))
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _resolve(tag: str, pattern: str, first: str) -> None:
    _Values.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))


_resolve("bool", r"^(?:true|True|false|False)$", "tTfF")
_resolve("int", r"^[-+]?[0-9]+$", "-+0123456789")
_resolve(
    "float",
    r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$|^[-+]?[0-9]+[eE][-+]?[0-9]+$",
    "-+0123456789.",
)


def _decimal(loader: _Values, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node))


_Values.add_constructor("tag:yaml.org,2002:int", _decimal)  # type: ignore[type-var]


class _InPython(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """PyYAML's own parser. Its words about what is wrong are plainer than libyaml's, and it knows
    the line.
    """

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


try:
    from yaml.cyaml import CParser as _InC  # type: ignore[attr-defined]
except ImportError:  # PyYAML was built without libyaml
    _InC = _InPython  # type: ignore[misc, assignment]


class _Loader(yaml.composer.Composer, _InPython, _Values):
    def __init__(self, text: str) -> None:
        _InPython.__init__(self, text)
        yaml.composer.Composer.__init__(self)
        _Values.__init__(self)


class _Quick(yaml.composer.Composer, _InC, _Values):
    """Several times as fast. Nodes are composed in Python, where deep nesting ends in a
    RecursionError.
    """

    def __init__(self, text: str) -> None:
        _InC.__init__(self, text)
        yaml.composer.Composer.__init__(self)
        _Values.__init__(self)


def parse_yaml(text: str) -> tuple[Any, Lines]:
    """The data, None when there is none, and for each path in it the line where it stands. NotYaml
    names every problem.
    """
    with contextlib.suppress(NotYaml, yaml.YAMLError, ValueError, RecursionError):
        return _read(_Quick(text))
    loader: _Loader | None = None
    try:
        loader = _Loader(text)
        return _read(loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise NotYaml(
            [(line, f"not valid YAML: {error.problem or error.context}{_hint(text, line)}")]
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise NotYaml(
            [
                (
                    line,
                    (
                        f"not valid YAML: the control character #x{ord(text[error.position]):02x};"
                        " take it out"
                    ),
                )
            ]
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        raise NotYaml([(_reached(loader), f"not valid YAML: {error}; correct it there")]) from None
    except RecursionError:
        raise NotYaml([(_reached(loader), _TOO_DEEP)]) from None


def _read(loader: _Loader | _Quick) -> tuple[Any, Lines]:
    node = loader.get_single_node()
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value and not node.style):
        return None, {(): 1}  # on which line nothing stands, the two parsers see differently
    survey = _Survey(loader)
    survey.walk(node, ())
    if survey.problems:
        raise NotYaml(survey.problems)
    return loader.construct_document(node), survey.lines


_NUMBER = "shorten it, or quote it if it is text"
_TOO_DEEP = f"nested too deeply, or an alias that contains itself; {MOST_DEPTH} levels are the most"


def _reached(loader: _Loader | None) -> int:
    return loader.line + 1 if loader else 1


def _hint(text: str, line: int) -> str:
    lines = text.splitlines()
    if 0 < line <= len(lines) and "\t" in lines[line - 1]:
        return " (indent with spaces, not tabs)"
    return "; quote text that contains ': ' or begins with [, {, &, *, !, %, @"


class _Survey:
    """A walk through all nodes, as often as aliases repeat them: their lines, and what cannot be
    used.
    """

    def __init__(self, loader: _Values) -> None:
        self.lines: Lines = {}
        self.problems: list[tuple[int, str]] = []
        self._loader = loader
        self._seen: set[int] = set()
        self._repeated = 0.0

    def walk(self, node: yaml.Node, at: tuple[str | int, ...]) -> None:
        line = node.start_mark.line + 1
        self.lines[at] = line
        if len(at) > MOST_DEPTH:
            raise NotYaml([(line, _TOO_DEEP)])
        if id(node) in self._seen:
            self._repeat(node, line)
        else:
            self._seen.add(id(node))
            self._look(node, line)
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                self._entry(key, value, at)
        elif isinstance(node, yaml.SequenceNode):
            for index, value in enumerate(node.value):
                self.walk(value, (*at, index))

    def _entry(self, key: yaml.Node, value: yaml.Node, at: tuple[str | int, ...]) -> None:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            self.problems.append(
                (
                    line,
                    (
                        "not valid YAML: unhashable key; a key is plain text, put it in quotes if"
                        " it begins with [ or {"
                    ),
                )
            )
            return
        self._look(key, line)
        here = (*at, key.value)
        if here in self.lines:
            self.problems.append(
                (line, f"{_short(key.value)} stands here a second time; remove one")
            )
        self.walk(value, here)
        self.lines[here] = line

    def _repeat(self, node: yaml.Node, line: int) -> None:
        self._repeated += 1 + (len(node.value) / 100 if isinstance(node, yaml.ScalarNode) else 0)
        if self._repeated > MOST_REPEATED:
            raise NotYaml(
                [
                    (
                        line,
                        (
                            f"aliases (*name) repeat more than {MOST_REPEATED:,} values; write out"
                            " what is meant, or use fewer aliases"
                        ),
                    )
                ]
            )

    def _look(self, node: yaml.Node, line: int) -> None:
        """Values that Python or a file could not hold, and tags that are not ours."""
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        if not isinstance(node, yaml.ScalarNode):
            if kind != ("map" if isinstance(node, yaml.MappingNode) else "seq"):
                self.problems.append(
                    (line, f"not valid YAML here: the tag {_short(kind)}; take it out")
                )
            return
        if kind != "str" and node.tag != self._loader.resolve(
            yaml.ScalarNode, node.value, (True, False)
        ):  # type: ignore[no-untyped-call]
            self.problems.append(
                (
                    line,
                    (
                        f"not valid YAML here: the tag {_short(kind)} before {_short(node.value)};"
                        " take it out"
                    ),
                )
            )
        elif kind == "int" and len(node.value.lstrip("+-0")) > MOST_DIGITS:
            self.problems.append(
                (
                    line,
                    (
                        f"{_short(node.value)}: a whole number has at most {MOST_DIGITS} digits;"
                        f" {_NUMBER}"
                    ),
                )
            )
        elif kind == "float" and abs(float(node.value)) == float("inf"):
            self.problems.append(
                (line, f"{_short(node.value)}: a number this large cannot be kept; {_NUMBER}")
            )
        elif found := control_in(node.value):
            self.problems.append((line, f"{_short(node.value)}: {found}"))


def _short(text: str) -> str:
    return repr(text) if len(text) <= 60 else repr(text[:57]) + "..."
