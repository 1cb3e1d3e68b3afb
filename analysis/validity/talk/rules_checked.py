"""The hand rules beside what people coded."""

from collections.abc import Sequence

import pandas as pd
from sklearn.metrics import cohen_kappa_score

from analysis.validity.talk.moves import moves_in
from analysis.validity.talk.sessions import Coded

CODES = ("change", "sustain", "neutral")


def checked(coded: Sequence[Coded]) -> pd.DataFrame:
    """Of change and of sustain talk how often the rules find what people found, and how often they
    are right (in 0 to 1), with Cohen's kappa.
    """
    rules = [moves_in(one.line) for one in coded]
    rows = []
    for code in CODES[:2]:
        people = [one.code == code for one in coded]
        found = [code in one for one in rules]
        both = sum(a and b for a, b in zip(people, found, strict=True))
        rows.append(
            {
                "code": f"{code} talk",
                "lines": len(coded),
                "by people": sum(people),
                "by rules": sum(found),
                "recall": both / sum(people) if any(people) else None,
                "precision": both / sum(found) if any(found) else None,
                "kappa": float(cohen_kappa_score(people, found))
                if any(people) and any(found)
                else None,
            }
        )
    return pd.DataFrame(rows)
