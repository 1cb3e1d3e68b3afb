"""The small language in which the words of danger are written, and how they are found in a text.

In languages with spaces a pattern is words with spaces between them; in others (Chinese) the words
stand together and spaces mean nothing.

    word          the word, an apostrophe in it written or not ('s reads as a word of its own, so
                  that it may be a filler); word* any ending, word+ the forms that `forms` lists
    (a b|c)       one of these
    x?            x may be missing (a word, a bracket, a class; in Chinese a character)
    <name>        one of the class `name`
    ~3            up to three words (characters), within a sentence
    !(a|b)        not followed by
    -(a|b)        not right after (plain words only)
    ^             begins a sentence
    $             ends a clause
    a & b         both, in one sentence or in neighbouring ones, in any order; the place is a's
    a & !(b|c)    a, where neither b nor c is in its sentence or in a neighbouring one

Between words there may be a comma and up to FILLED fillers ("just", "really"); a text that is
searched has its fillers in capitals (`reading.normal`), so that one short expression stands for all
of them. Each pattern knows words one of which a text must hold (`keys`), so that almost all
patterns are never tried on almost all lines; one is made ready only when it is tried, since all of
them take seconds.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from simcounsel.danger.hearing.pattern_nodes import BadPattern, Grammar, Node, read_nodes

FILLED = 3
"""At most this many fillers are between two words."""
STEM = 3
"""A word with any ending is looked up by its first three letters."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One stretch that must be found."""

    nodes: tuple[Node, ...]
    grammar: Grammar
    keys: frozenset[str]
    """Words (spaced) or beginnings of one or two characters; at least one is in any text that
    fits.
    """

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Ready to be searched for."""
        begins, ends = edges(self.grammar)
        return re.compile(f"{begins}{_sequence(self.nodes, self.grammar)}{ends}")


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Parts that are near each other, in any order, and parts that must not be there."""

    source: str
    parts: tuple[Part, ...]
    absent: tuple[Part, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """Those of the part that has the fewest common ones, and of equals the fewest."""
        return min(
            (part.keys for part in self.parts),
            key=lambda keys: (
                sum(_is_common(key, self.parts[0].grammar) for key in keys),
                len(keys),
            ),
        )


def read_pattern(source: str, grammar: Grammar) -> Pattern:
    """BadPattern when it cannot be read, names a class that is not there, or needs no word at
    all.
    """
    parts = [text.strip() for text in source.split("&")]
    absent = [text for text in parts[1:] if text.startswith("!(")]
    return Pattern(
        source=source,
        parts=tuple(_part(text, grammar) for text in parts if text not in absent),
        absent=tuple(_part(text[1:], grammar) for text in absent),
    )


def any_of(sources: Iterable[str], grammar: Grammar) -> str:
    """A regular expression for any of these, without word boundaries; one that never fits for
    none.
    """
    made = [_sequence(read_nodes(source, grammar), grammar) for source in sources]
    return f"(?:{'|'.join(made)})" if made else r"(?!)"


def between(grammar: Grammar) -> str:
    """What may be between two words."""
    if not grammar.spaced:
        return ""
    return rf"[ ,]+(?:[A-Z]+[ ,]+){{0,{FILLED}}}" if grammar.fillers else "[ ,]+"


def _part(source: str, grammar: Grammar) -> Part:
    nodes = read_nodes(source, grammar)
    keys = _keys(nodes, grammar)
    if not keys:
        raise BadPattern(
            f"{source!r} needs no word, so it would be tried on every text; add a word that must"
            " are there"
        )
    _check(source, nodes)
    return Part(nodes=nodes, grammar=grammar, keys=keys)


def _check(source: str, nodes: Sequence[Node]) -> None:
    """BadPattern when everything in it, or in one of its brackets, may be missing."""
    if all(node.optional or node.kind in ("Start", "Not", "After") for node in nodes):
        raise BadPattern(
            f"{source!r}: everything in a pattern, or in one of its brackets, may be missing"
        )
    for node in nodes:
        for choice in node.inner if node.kind == "Choice" else ():
            _check(source, choice)


def edges(grammar: Grammar) -> tuple[str, str]:
    """What must hold before and after whole words."""
    return (r"(?<!\w)", r"(?!\w)") if grammar.spaced else ("", "")


def _sequence(nodes: Sequence[Node], grammar: Grammar) -> str:
    joined, out, firm = between(grammar), "", False
    for node in nodes:
        if node.kind in ("End", "Start", "Not", "After"):
            out += _around(node, grammar, joined if firm else "")
        elif node.kind == "Gap":
            out += _gap(int(node.text), grammar)
        elif firm:
            out += (
                f"(?:{joined}{_single(node, grammar)})?"
                if node.optional
                else f"{joined}{_single(node, grammar)}"
            )
        else:
            out += (
                f"(?:{_single(node, grammar)}{joined})?"
                if node.optional
                else _single(node, grammar)
            )
            firm = not node.optional
    return out


def _around(node: Node, grammar: Grammar, joined: str) -> str:
    """What is looked at and not taken."""
    if node.kind == "End":
        return r"""(?= *(?:[^\w\s'&%$#-]|\n|\Z))"""
    if node.kind == "Start":
        return r"""(?<![^.!?\n;:—"(。！？；：，,…] )(?<![^\s.!?\n;:—"(。！？；：，,…])"""
    if node.kind == "Not":
        choices = "|".join(_sequence(choice, grammar) for choice in node.inner)
        return f"(?!{joined}(?:{choices}){edges(grammar)[1]})"
    gap = " " if grammar.spaced else ""
    return "".join(
        f"(?<!{gap.join(re.escape(word.text) for word in choice)}{gap})" for choice in node.inner
    )


def _single(node: Node, grammar: Grammar) -> str:
    if node.kind == "Choice":
        return f"(?:{'|'.join(dict.fromkeys(_sequence(choice, grammar) for choice in node.inner))})"
    word = node.text.removesuffix("*")
    written = (
        re.sub(r"'s\Z", "(?: [sS]|s)", word)
        if word.endswith("'s")
        else re.escape(word).replace("'", "'?")
    )
    if word in grammar.filling:
        return f"(?:{word}|{word.upper()})"
    return written + (r"\w*" if node.text.endswith("*") else "")


def _gap(most: int, grammar: Grammar) -> str:
    """Up to `most` other words, or characters; fillers count as words here, so that there is one
    way only to read each text.
    """
    turning = (
        rf"(?!(?:{'|'.join(re.escape(word) for word in grammar.turning)})(?!\w))"
        if grammar.turning
        else ""
    )
    return (
        rf"(?:[ ,]+{turning}[^\s.,;:!?…]+){{0,{most}}}?"
        if grammar.spaced
        else rf"[^\s.;:!?…。！？；：]{{0,{most}}}?"
    )


def _keys(nodes: Sequence[Node], grammar: Grammar) -> frozenset[str]:
    """The best set of words one of which must be there; empty when there is none."""
    found = [keys for node in nodes if not node.optional and (keys := _keys_of(node, grammar))]
    return min(
        found,
        key=lambda keys: (sum(_is_common(key, grammar) for key in keys), len(keys)),
        default=frozenset(),
    )


def _is_common(key: str, grammar: Grammar) -> bool:
    return key in grammar.common if grammar.spaced else all(one in grammar.common for one in key)


def _keys_of(node: Node, grammar: Grammar) -> frozenset[str]:
    if node.kind == "Choice":
        each = [_keys(choice, grammar) for choice in node.inner]
        return frozenset().union(*each) if all(each) else frozenset()
    if node.kind != "Word":
        return frozenset()
    word = node.text.removesuffix("*")
    if not grammar.spaced:
        return frozenset((_rare(word, grammar.common),))
    bare = word.removesuffix("'s").replace("'", "")
    return frozenset((f"{bare[:STEM]}*",) if node.text.endswith("*") else (bare,))


def _rare(word: str, common: Collection[str]) -> str:
    """Two neighbouring characters of a word (one, where it has one), none of them common if that
    can be.
    """
    pairs = [word[at : at + 2] for at in range(len(word) - 1)] or [word]
    return min(pairs, key=lambda pair: sum(one in common for one in pair))
