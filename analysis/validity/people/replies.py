"""The part of the page on people's ratings where replies of models on benches were rated: by model,
with Spearman's rho between people and judge, and how far raters agree.
"""

from collections.abc import Sequence
from pathlib import Path

from analysis.raters.replies import (
    both_of,
    judged_of,
    limit_of,
    model_means,
    people_of,
    ranks,
    raters_agree,
)
from analysis.validity.part import ValidityPart, table_of
from analysis.validity.people.making import make
from analysis.validity.runs import SaidOf
from simcounsel.bench.result import read_result
from simcounsel.corpus.rated import label_of


def of_benches(
    places: Sequence[Path], ratings: Sequence[Path], command: str, margin: float
) -> ValidityPart:
    """The part. ReportError where people rated nothing of these, or the benches' judges differ."""
    benches = {label_of(place): place for place in places}
    results = [read_result(place) for place in places]
    people = people_of(benches, ratings)
    both, judge = both_of(judged_of(benches), people), results[0].judge
    ranked = ranks(both)
    toys = sorted({one.model for one in results if one.trial})
    part = make(
        both.rename(columns={"case": "client", "judge": "model"}).assign(
            score=both["score"] + f" by {judge}"
        ),
        command,
        SaidOf(toys=tuple(toys)),
        margin,
    )
    own = (
        table_of(
            "reply_means",
            "By model: people, and the judge of the same replies",
            model_means(both),
            note="From replies to cases to all, from 0 as on the bench; 95% over cases. The judge:"
            f" {judge}. {people['rater'].nunique()} raters.",
        ),
        table_of(
            "reply_ranks",
            "Do people and judge order them alike? Spearman's rho",
            ranked,
            note="95% over cases, with the models as they are. " + limit_of(ranked),
        ),
        table_of("reply_agreement", "Do raters agree with each other?", raters_agree(people)),
    )
    return part.model_copy(update={"tables": (*own, *part.tables)})
