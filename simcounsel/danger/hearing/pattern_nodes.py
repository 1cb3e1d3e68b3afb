"""A pattern as it is written in a word list, taken apart; see `patterns` for the language."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Kind = Literal["Word", "Choice", "Gap", "Not", "After", "End", "Start"]
BRACKETS: Mapping[str, Kind] = {"(": "Choice", "!(": "Not", "-(": "After"}
EDGES: Mapping[str, Kind] = {"$": "End", "^": "Start"}
_TOKEN = re.compile(
    r"\s+|(?P<class><[\w ]+>)|~(?P<gap>\d+)|(?P<open>[!-]?\()|(?P<sign>[)|?$^])"
    r"|(?P<word>(?:[^\s()|?$^<>~!-]|-(?!\())+)"
)
_RUN = re.compile(r"[^\s()|?$^<>~!-]+(?=[^\s()|?$^<>~!-]\?)")


class BadPattern(ValueError):
    """A pattern that cannot be read; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """What a language's patterns are read with."""

    spaced: bool
    """Words stand apart."""
    fillers: tuple[str, ...] = ()
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    common: frozenset[str] = frozenset()
    """Words too common to look a pattern up by."""
    turning: tuple[str, ...] = ()
    """Words that a gap does not pass over, since they turn what is said into its contrary."""

    @cached_property
    def filling(self) -> frozenset[str]:
        """The single words of the fillers; in a text they may be in capitals."""
        return frozenset(word for filler in self.fillers for word in filler.split())


@dataclass(frozen=True, kw_only=True)
class Node:
    """A part of a pattern."""

    kind: Kind
    text: str = ""
    inner: tuple[tuple["Node", ...], ...] = ()
    optional: bool = False
    """It may be missing."""


def read_nodes(source: str, grammar: Grammar) -> tuple[Node, ...]:
    tokens, at = [], 0
    while at < len(source):
        found = (None if grammar.spaced else _RUN.match(source, at)) or _TOKEN.match(source, at)
        if not found:
            raise BadPattern(f"{source!r}: {source[at]!r} means nothing at character {at + 1}")
        if not found.group().isspace():
            tokens.append(found)
        at = found.end()
    reader = _Reader(source, tokens, grammar)
    (nodes,) = reader.choices(())
    if reader.at < len(tokens):
        raise BadPattern(f"{source!r}: a bracket is closed that was not opened")
    return nodes


class _Reader:
    """Tokens into nodes."""

    def __init__(self, source: str, tokens: Sequence[re.Match[str]], grammar: Grammar) -> None:
        self.source, self.tokens, self.grammar, self.at = source, tokens, grammar, 0

    def choices(
        self, done: tuple[tuple[Node, ...], ...], *, inside: bool = False
    ) -> tuple[tuple[Node, ...], ...]:
        """The alternatives up to the closing bracket, or to the end."""
        nodes: list[Node] = []
        while self.at < len(self.tokens) and self.tokens[self.at].group() not in ("|", ")"):
            nodes.append(self._node())
        if not nodes:
            raise BadPattern(f"{self.source!r}: nothing stands where a word should")
        done = (*done, tuple(nodes))
        if inside and self.at < len(self.tokens) and self.tokens[self.at].group() == "|":
            self.at += 1
            return self.choices(done, inside=True)
        return done

    def _node(self) -> Node:
        token = self.tokens[self.at]
        self.at += 1
        node = (
            self._single(token)
            if token.re is _RUN or not token["open"]
            else self._bracket(token.group())
        )
        if self.at < len(self.tokens) and self.tokens[self.at].group() == "?":
            self.at += 1
            node = Node(kind=node.kind, text=node.text, inner=node.inner, optional=True)
        return node

    def _bracket(self, opened: str) -> Node:
        inner = self.choices((), inside=True)
        if self.at >= len(self.tokens) or self.tokens[self.at].group() != ")":
            raise BadPattern(f"{self.source!r}: a bracket is not closed")
        self.at += 1
        return Node(kind=BRACKETS[opened], inner=inner)

    def _single(self, token: re.Match[str]) -> Node:
        if token.re is _RUN:
            return Node(kind="Word", text=token.group())
        if token["class"]:
            name = token["class"][1:-1]
            if name not in self.grammar.classes:
                raise BadPattern(f"{self.source!r}: no class {name!r}")
            return Node(
                kind="Choice",
                inner=tuple(
                    read_nodes(entry, self.grammar) for entry in self.grammar.classes[name]
                ),
            )
        if token["gap"]:
            return Node(kind="Gap", text=token["gap"], optional=True)
        if token["word"]:
            return self._word(token["word"])
        if token.group() in EDGES:
            return Node(kind=EDGES[token.group()])
        raise BadPattern(f"{self.source!r}: {token.group()!r} stands where a word should")

    def _word(self, word: str) -> Node:
        if not word.endswith("+"):
            return Node(kind="Word", text=word)
        if word[:-1] not in self.grammar.forms:
            raise BadPattern(f"{self.source!r}: `forms` has no {word[:-1]!r}")
        forms = (word[:-1], *self.grammar.forms[word[:-1]])
        return Node(kind="Choice", inner=tuple((Node(kind="Word", text=form),) for form in forms))
