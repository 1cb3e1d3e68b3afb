"""What is counted in corpora, without any judge: lengths and revisions, diversity, how clients open
up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.corpora.sources import Group
from simcounsel.corpus.disclosure import STEPS, Curve, by_stages, by_words, disclosed
from simcounsel.corpus.diversity import Embed, Equal, diversity, equal_for
from simcounsel.corpus.measures import (
    Number,
    corpus_measures,
    dialogue_measures,
    quartiles,
    seconds_per_session,
    unit_of,
)

Table = pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How a measure is shown."""

    id: str
    name: str
    kind: str
    """A number, a share shown as per cent, or a count."""
    meaning: str


MEASURES = (
    Measure(id="sessions", name="dialogues", kind="count", meaning="sessions"),
    Measure(id="clients", name="clients", kind="count", meaning="different clients"),
    Measure(id="utterances", name="lines a dialogue", kind="number", meaning="of both sides"),
    Measure(id="length", name="length of a line", kind="number", meaning="in the corpus's unit"),
    Measure(
        id="counselor_length",
        name="of the counselor's lines",
        kind="number",
        meaning="in the corpus's unit",
    ),
    Measure(
        id="client_length",
        name="of the client's lines",
        kind="number",
        meaning="in the corpus's unit",
    ),
    Measure(id="modified", name="revised", kind="share", meaning="of the counselor's lines"),
    Measure(id="seconds", name="seconds a session", kind="number", meaning="of the models' time"),
    Measure(
        id="questions",
        name="lines with a question",
        kind="share",
        meaning="of the counselor's lines",
    ),
    Measure(
        id="templated",
        name="templated",
        kind="share",
        meaning="counselor's lines with a common opening",
    ),
    Measure(id="skills", name="skills used", kind="share", meaning="of 18"),
    Measure(
        id="effective_skills",
        name="skills, effective number",
        kind="number",
        meaning="two to the power of the entropy",
    ),
    Measure(
        id="skill_uses",
        name="uses of skills a dialogue",
        kind="number",
        meaning="each line counting each of its skills",
    ),
    Measure(
        id="objectives",
        name="objectives a dialogue",
        kind="number",
        meaning="points that a session was planned for",
    ),
    Measure(
        id="distinct_1",
        name="distinct-1",
        kind="number",
        meaning="different words in all; equal amounts of text",
    ),
    Measure(
        id="distinct_2",
        name="distinct-2",
        kind="number",
        meaning="different pairs in all; equal amounts of text",
    ),
    Measure(
        id="distinct_3",
        name="distinct-3",
        kind="number",
        meaning="different triples in all; equal amounts of text",
    ),
    Measure(
        id="self_bleu",
        name="self-BLEU",
        kind="number",
        meaning="0 all different, 1 all the same; equally many dialogues",
    ),
    Measure(
        id="spread",
        name="spread of embeddings",
        kind="number",
        meaning="mean cosine distance; equally many dialogues",
    ),
)
"""In the order of the table: first those of Xue et al. 2026, Tables II and V."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """All counts."""

    corpora: Table
    """One row a group and measure."""
    dialogues: Table
    """One row a dialogue."""
    distributions: Table
    curves: dict[str, dict[str, Curve]]
    """By group, how clients open up, by words and by stages."""
    units: dict[str, str]
    """In what lengths are counted, by group."""
    equal: Equal
    """On how much diversity was measured in each."""


def count(
    groups: Sequence[Group],
    embed: Embed | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Counted:
    """Count everything in every group."""
    equal = equal_for([group.dialogues for group in groups])
    rows, each = [], []
    for group in groups:
        tell(f"counting {group.name}")
        found = corpus_measures(group.dialogues) | diversity(group.dialogues, equal, embed)
        found["seconds"] = seconds_per_session(group.seconds, group.dialogues)
        rows += [
            {"corpus": group.name, "measure": one.id, **vars(found[one.id])} for one in MEASURES
        ]
        each += [_row(group, dialogue) for dialogue in group.dialogues]
    dialogues = pd.DataFrame(each)
    return Counted(
        corpora=pd.DataFrame(rows),
        dialogues=dialogues,
        distributions=_distributions(dialogues, groups),
        curves={group.name: _curves(group) for group in groups},
        units={group.name: unit_of(group.dialogues) for group in groups},
        equal=equal,
    )


def _row(group: Group, dialogue: Any) -> dict[str, Any]:
    numbers: dict[str, Number] = dialogue_measures(dialogue) | disclosed(dialogue)
    about = {
        "corpus": group.name,
        "dialogue": dialogue.id,
        "client": dialogue.client,
        "theme": dialogue.theme,
        "condition": dialogue.condition,
    }
    return (
        about
        | {name: number.value for name, number in numbers.items()}
        | {"seconds": group.seconds.get(dialogue.id)}
    )


SPREAD = (
    ("turns", "lines a dialogue"),
    ("counselor_length", "length of the counselor's lines"),
    ("client_length", "length of the client's lines"),
)
"""Whose distribution over dialogues is shown."""


def _distributions(dialogues: Table, groups: Sequence[Group]) -> Table:
    rows = []
    for group in groups:
        own = dialogues[dialogues["corpus"] == group.name]
        for column, _ in SPREAD:
            values = [float(value) for value in own[column].dropna()]
            found = quartiles(values)
            rows.append(
                {
                    "corpus": group.name,
                    "measure": column,
                    "n": len(values),
                    **(vars(found) if found else {}),
                }
            )
    return pd.DataFrame(rows)


def _curves(group: Group) -> dict[str, Curve]:
    found = {"words": by_words(group.dialogues), "stages": by_stages(group.dialogues)}
    return {name: curve for name, curve in found.items() if curve is not None}


def curves_table(counted: Counted) -> Table:
    """One row a group, kind of curve and tenth of the client's lines."""
    rows = [
        {
            "corpus": name,
            "curve": kind,
            "share_of_lines": step / STEPS,
            "reached": value,
            "dialogues": curve.dialogues,
        }
        for name, curves in counted.curves.items()
        for kind, curve in curves.items()
        for step, value in enumerate(curve.shares)
    ]
    return pd.DataFrame(rows, columns=["corpus", "curve", "share_of_lines", "reached", "dialogues"])
