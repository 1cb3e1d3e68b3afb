"""YAML text into data and the lines of its parts: plain values, nested and repeated within
bounds.
"""

import re
from typing import Any, cast

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from simcounsel.intake import MOST_DEPTH
from simcounsel.specs.file_text import Lines

try:  # libyaml reads five times as fast as PyYAML's parser in Python; every wheel includes it
    from yaml.cyaml import CParser  # type: ignore[attr-defined]
except ImportError as error:
    raise ImportError(
        "PyYAML was installed without libyaml; run"
        " `pip install --force-reinstall --only-binary pyyaml pyyaml`"
    ) from error

MOST_REPEATED = 20_000
"""Values that aliases repeat, a text of n characters counting as 1 + n / 100. A few lines of
aliases to aliases can stand for billions.
"""
MOST_DIGITS = 18
"""Of a whole number, so that it fits into 64 bits wherever it is kept."""
_CONTROL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x84\\x86-\\x9f\\ud800-\\udfff]")
_TAG = "tag:yaml.org,2002:"
_SCALARS = (
    ("bool", r"^(?:true|True|false|False)$", "tTfF"),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    (
        "float",
        r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$|^[-+]?[0-9]+[eE][-+]?[0-9]+$",
        "-+0123456789.",
    ),
)
"""What is no text, beside null and `<<`: its type, what it looks like, how it begins."""
_TOO_DEEP = f"nested too deeply, or an alias that contains itself; {MOST_DEPTH} levels are the most"
_NUMBER = "shorten it, or quote it if it is text"
_REPEATED = (
    f"aliases (*name) repeat more than {MOST_REPEATED:,} values; write out what is meant, or use"
    " fewer aliases"
)
_UNHASHABLE = (
    "not valid YAML: unhashable key; a key is plain text, put it in quotes if it begins with [ or {"
)


class NotYaml(Exception):
    """Text that is not YAML as it is used here. problems: line (from 1), and what is wrong with a
    remedy.
    """

    def __init__(self, *problems: tuple[int, str]) -> None:
        super().__init__("; ".join(what for _, what in problems))
        self.problems = problems


class _Loader(Composer, CParser, SafeConstructor, Resolver):
    """YAML 1.2 where it hurts: `on`, `off`, `yes`, `no` and times like 07:15 stay text, 010 is
    ten.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, looks) for tag, looks in known if tag in (_TAG + "null", _TAG + "merge")]
        for first, known in Resolver.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)


for _tag, _looks, _first in _SCALARS:
    _Loader.add_implicit_resolver(_TAG + _tag, re.compile(_looks), list(_first))
_Loader.add_constructor(_TAG + "int", lambda _, node: int(cast(yaml.ScalarNode, node).value))


def control_in(text: str) -> str | None:
    """What is wrong with a text that no file of ours may hold; None when nothing is. Line breaks
    and tabs are fine.
    """
    found = _CONTROL.search(text)
    return f"holds the control character #x{ord(found[0]):02x}; take it out" if found else None


def parse_yaml(text: str) -> tuple[Any, Lines]:
    """The data, None when there is none, and for each path in it the line where it is. NotYaml
    names every problem.
    """
    try:
        return _read(_Loader(text))
    except yaml.MarkedYAMLError as error:
        raise NotYaml(_syntax(error, text)) from None
    except yaml.reader.ReaderError as error:
        line = text.encode().count(b"\n", 0, error.position) + 1
        what = f"the control character #x{error.character:02x}; take it out"
        raise NotYaml((line, f"not valid YAML: {what}")) from None
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        what = f"the control character #x{ord(text[error.start]):02x}; take it out"
        raise NotYaml((line, f"not valid YAML: {what}")) from None


def _read(loader: _Loader) -> tuple[Any, Lines]:
    try:
        node = loader.get_single_node()
    except RecursionError:
        event: Any = loader.peek_event()
        raise NotYaml((event.start_mark.line + 1, _TOO_DEEP)) from None
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value and not node.style):
        return None, {(): 1}
    survey = _Survey(loader)
    survey.walk(node, ())
    if survey.problems:
        raise NotYaml(*survey.problems)
    return loader.construct_document(node), survey.lines


def _syntax(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str]:
    """The line of what the parser cannot read, and its words with a remedy."""
    lines = text.split("\n")
    mark, begun = error.problem_mark or error.context_mark, error.context_mark
    line = min(mark.line + 1 if mark else 1, len(lines))  # libyaml ends a text with a line break
    if error.problem == "exceeded maximum nesting depth":
        return line, _TOO_DEEP
    within = error.context or ""
    if begun and begun.line + 1 < line:
        within += f" (line {begun.line + 1})"
    what = ": ".join(part for part in (within, error.problem) if part)
    if "\t" in lines[line - 1]:
        hint = " (indent with spaces, not tabs)"
    elif "quoted" in within:
        hint = "; close the quotes; in double quotes \\\\ begins an escape, correct that too"
    else:
        hint = "; quote text that contains ': ' or begins with [, {, &, *, !, %, @"
    return line, f"not valid YAML: {what}{hint}"


class _Survey:
    """A walk through all nodes, as often as aliases repeat them: their lines, and what cannot be
    used.
    """

    def __init__(self, loader: _Loader) -> None:
        self.lines: Lines = {}
        self.problems: list[tuple[int, str]] = []
        self._loader = loader
        self._seen: set[int] = set()
        self._repeated = 0.0

    def walk(self, node: yaml.Node, at: tuple[str | int, ...]) -> None:
        line = node.start_mark.line + 1
        self.lines[at] = line
        if len(at) > MOST_DEPTH:
            raise NotYaml((line, _TOO_DEEP))
        if id(node) not in self._seen:
            self._seen.add(id(node))
            self._look(node, line)
        else:
            scalar = isinstance(node, yaml.ScalarNode)
            self._repeated += 1 + (len(node.value) / 100 if scalar else 0)
            if self._repeated > MOST_REPEATED:
                raise NotYaml((line, _REPEATED))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                self._entry(key, value, at)
        elif isinstance(node, yaml.SequenceNode):
            for index, value in enumerate(node.value):
                self.walk(value, (*at, index))

    def _entry(self, key: yaml.Node, value: yaml.Node, at: tuple[str | int, ...]) -> None:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            self.problems.append((line, _UNHASHABLE))
            return
        self._look(key, line)
        here = (*at, key.value)
        if here in self.lines:
            what = f"{_short(key.value)} is here a second time; remove one"
            self.problems.append((line, what))
        self.walk(value, here)
        self.lines[here] = line

    def _look(self, node: yaml.Node, line: int) -> None:
        kind = node.tag.removeprefix(_TAG)
        if isinstance(node, yaml.ScalarNode):
            wrong = self._wrong(node, kind)
        elif kind != ("map" if isinstance(node, yaml.MappingNode) else "seq"):
            wrong = f"not valid YAML here: the tag {_short(kind)}; take it out"
        else:
            return
        if wrong:
            self.problems.append((line, wrong))

    def _wrong(self, node: yaml.ScalarNode, kind: str) -> str | None:
        """A tag that is not ours, and a value that Python or a file could not hold."""
        text = node.value
        if kind != "str" and node.tag != self._loader.resolve(yaml.ScalarNode, text, (True, False)):  # type: ignore[no-untyped-call]
            tag = f"the tag {_short(kind)} before {_short(text)}"
            return f"not valid YAML here: {tag}; take it out"
        if kind == "int" and len(text.lstrip("+-0")) > MOST_DIGITS:
            most = f"a whole number has at most {MOST_DIGITS} digits"
            return f"{_short(text)}: {most}; {_NUMBER}"
        if kind == "float" and abs(float(text)) == float("inf"):
            return f"{_short(text)}: a number this large cannot be kept; {_NUMBER}"
        found = control_in(text)
        return f"{_short(text)}: {found}" if found else None


def _short(text: str) -> str:
    return repr(text) if len(text) <= 60 else repr(text[:57]) + "..."
