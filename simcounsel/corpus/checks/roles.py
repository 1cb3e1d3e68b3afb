"""Who is whose client: speakers in each other's part, and labels of speakers inside a line."""

import re
from collections.abc import Iterator

from simcounsel.corpus.checks.findings import Finding, Severity, quoted
from simcounsel.corpus.checks.rules import Limits, of_dialogue
from simcounsel.corpus.checks.wordlists import phrases
from simcounsel.corpus.dialogues import Dialogue

_QUOTES = re.compile(r"“[^”\n]{0,400}”|\"[^\"\n]{0,400}\"|「[^」\n]{0,400}」|«[^»\n]{0,400}»")
Place = tuple[int, re.Match[str]]


@of_dialogue(
    "role_reversal", looks_for="a client who counsels, a counselor who needs it, labels in a line"
)
def role_reversal(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """Labels inside a line; a client who speaks as a counselor does; a counselor who tells their
    own trouble.

    It goes by phrases (`wordlists/roles.yaml`) outside quotation marks, so it sees open reversals,
    not subtle ones.
    """
    yield from _labels(dialogue)
    yield from _counseling_clients(dialogue)
    yield from _troubled_counselors(dialogue)


def _places(dialogue: Dialogue, client: bool, name: str) -> list[Place]:
    """The turns of one side in which a phrase of this name stands, and where."""
    pattern = phrases("roles")[name]
    hits = [
        (number, pattern.search(_QUOTES.sub(lambda quote: " " * len(quote.group()), turn.text)))
        for number, turn in enumerate(dialogue.turns, start=1)
        if (turn.speaker == "client") == client
    ]
    return [(number, hit) for number, hit in hits if hit]


def _finding(
    dialogue: Dialogue, place: Place, severity: Severity, what: str, remedy: str
) -> Finding:
    number, hit = place
    start = hit.start() + len(hit.group()) - len(hit.group().lstrip())
    return Finding(
        turn=number,
        severity=severity,
        span=(start, hit.end()),
        what=f"{what}: {quoted(dialogue.turns[number - 1].text[start:])}",
        remedy=remedy,
    )


def _labels(dialogue: Dialogue) -> Iterator[Finding]:
    for client in (True, False):
        for place in _places(dialogue, client, "label"):
            yield _finding(
                dialogue,
                place,
                "error",
                f"a speaker's label inside the {dialogue.turns[place[0] - 1].speaker}'s line",
                "cut the label; if another speaker's words follow it, make them a turn of"
                " their own",
            )


def _counseling_clients(dialogue: Dialogue) -> Iterator[Finding]:
    """What only a counselor says is an error; what mostly a counselor says is a warning, in two
    lines an error.
    """
    strong, weak = (
        _places(dialogue, True, "only a counselor"),
        _places(dialogue, True, "mostly a counselor"),
    )
    for severity, places in (
        ("error", strong),
        ("error" if len(weak) + bool(strong) > 1 else "warning", weak),
    ):
        for place in places:
            yield _finding(
                dialogue,
                place,
                "error" if severity == "error" else "warning",
                "the client speaks as a counselor would",
                "look whether the speakers were swapped; if not, give the client their own words",
            )


def _troubled_counselors(dialogue: Dialogue) -> Iterator[Finding]:
    """A word about their own life is a warning; told as a trouble, and comforted by the client or
    told again, it is an error.
    """
    own = _places(dialogue, False, "own life")
    trouble = {number for number, _ in _places(dialogue, False, "own trouble")}
    comforted = {number - 1 for number, _ in _places(dialogue, True, "comforting")}
    turned = bool(own and trouble) and (
        len(own) > 1 or any(number in comforted for number, _ in own)
    )
    for place in own:
        yield _finding(
            dialogue,
            place,
            "error" if turned else "warning",
            "the counselor speaks of their own life",
            "keep the hour the client's; cut it, or make it a brief remark that goes back to the"
            " client",
        )
