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
from simcounsel.packaged import packaged


@dataclass(frozen=True, kw_only=True)
class CorpusMeasure:
    """How a measure is shown."""

    id: str
    name: str
    kind: str
    """A number, a share shown as per cent, or a count."""
    meaning: str


MEASURES = tuple(CorpusMeasure(**told) for told in packaged("analysis.corpora", "measures.yaml"))
"""In the order of the table."""


@dataclass(frozen=True, kw_only=True)
class CorporaCounts:
    """All counts."""

    corpora: pd.DataFrame
    """One row a group and measure."""
    dialogues: pd.DataFrame
    """One row a dialogue."""
    distributions: pd.DataFrame
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
) -> CorporaCounts:
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
    return CorporaCounts(
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


def _distributions(dialogues: pd.DataFrame, groups: Sequence[Group]) -> pd.DataFrame:
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


def curves_table(counted: CorporaCounts) -> pd.DataFrame:
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
