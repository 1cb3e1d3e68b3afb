"""What raters said, joined with the key, as a CSV."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simcounsel.disk import csv_text
from simcounsel.studies.answers import Answer, facts_of, last_answers, read_answers
from simcounsel.studies.entry import ATTENTION, YOU
from simcounsel.studies.instrument import RatingItem
from simcounsel.studies.study import Rater, Study, open_key, open_study, write_whole

EMOTION_AWARE = "emotion_aware"
COLUMNS = (
    "rater",
    "item",
    "position",
    "run",
    "condition",
    "model",
    "person",
    "partner_role",
    "chat",
    "question",
    "value",
    "points",
    "toward_later",
    "way",
    "toward_emotion_aware",
    "comment",
    "time",
    "seconds",
    "also_in",
    "study",
    "about_rater",
    "checks_passed",
    "checks_failed",
)


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """One row for each rater, item and question, joined with the key.

    value: empty for "cannot say". toward_later, toward_emotion_aware: for questions that compare
    two, the value turned so that high means the later version of a persona, or the emotion-aware
    recall. way: of what was asked of each of two recalls by itself, which it was; the question is
    then `fits`, of the study's `fits_1` and `fits_2`.
    """
    study, key = open_study(folder), open_key(folder)
    questions = {item.id: item for item in study.instrument.items}
    last = last_answers(read_answers(folder))
    raters = {rater.name: of_rater(study, rater, last) for rater in study.raters}
    for (name, id), answer in sorted(last.items()):
        origin = key.items.get(id)
        if origin is None:
            continue
        for question, item in questions.items():
            value = answer.answers.get(question)
            way = origin.ways[item.of - 1] if item.of and origin.ways else None
            yield {
                "study": study.instrument.title,
                **raters[name],
                **answer.model_dump(include={"rater", "item", "position", "time", "seconds"}),
                "comment": answer.comment,
                **origin.model_dump(
                    include={"run", "condition", "model", "person", "partner_role", "chat"}
                ),
                "also_in": " ".join(origin.also_in),
                "question": question if way is None else question.removesuffix(f"_{item.of}"),
                "value": value,
                "points": item.points,
                "toward_later": _toward(item, value, origin.earlier == 1, origin.earlier),
                "way": way,
                "toward_emotion_aware": _toward(
                    item, value, origin.ways[1:] == (EMOTION_AWARE,), origin.ways
                ),
            }


def of_rater(study: Study, rater: Rater, last: Mapping[tuple[str, str], Answer]) -> dict[str, Any]:
    """What a rater said of themselves, and how many checks of attention they passed and failed so
    far.
    """
    you = last.get((rater.name, YOU))
    said = [
        f"{fact.id}: {fact.choices[choice - 1]}"
        for fact in facts_of(study)
        if you and (choice := you.answers.get(fact.id))
    ]
    checked = [
        last[rater.name, item].answers.get(ATTENTION) == wanted
        for item, wanted in rater.checks.items()
        if (rater.name, item) in last
    ]
    return {
        "about_rater": "; ".join(said),
        "checks_passed": sum(checked),
        "checks_failed": len(checked) - sum(checked),
    }


def _toward(item: RatingItem, value: int | None, high_is_it: bool, sides: object) -> int | None:
    """A comparison turned so that high means one of the two. high_is_it: whether the second of
    the two is meant. sides: empty where the item has none.
    """
    if not item.compares or not sides or value is None:
        return None
    return value if high_is_it else item.points + 1 - value


def write_csv(folder: Path, file: Path) -> int:
    """The rows as CSV; returns how many. An empty field is a missing value."""
    found = list(rows(folder))
    write_whole(file, csv_text(COLUMNS, ([row[name] for name in COLUMNS] for row in found)))
    return len(found)
