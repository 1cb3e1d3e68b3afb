"""The figures of a judge for the terminal, each with its interval and with what it rests on.

Whether a model judge is any good, from what `simcounsel study judge` collected; beside it,
plain counts of the talk.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from analysis.judge_figures import (
    Fields,
    Figure,
    alpha_of_rounds,
    alpha_with_people,
    fall,
    good_against_bad,
    position,
    rank_correlation,
    retest,
    sensitivity,
)
from analysis.judge_items import ItemFigure, falls, item_figures
from simcounsel.instruments.clinicians import clinicians_said

BETTER_WHEN_LOWER = (
    "advice_per_turn",
    "talk_share",
    "question_marks_per_turn",
    "counselor_characters",
    "characters_to_characters",
)
"""Counts of the talk that are expected to be lower in good sessions: a counselor who talks long
leaves less room.
"""


def figures(ratings: Path) -> list[Figure]:
    """All figures from a ratings.jsonl but those of single items."""
    by_kind = _read(ratings)
    labels = _labels(by_kind)
    found: list[Figure] = []
    for of, scores in (
        *_judged(by_kind.get("rated", [])).items(),
        *_counted(by_kind.get("counted", [])).items(),
    ):
        faults = dict.fromkeys(name.split(": ", 1)[1] for name in scores["variant"] if ": " in name)
        found += [
            good_against_bad(of, scores, labels),
            rank_correlation(of, scores, labels),
            alpha_with_people(of, scores, labels),
            *(make(of, scores, fault) for fault in faults for make in (sensitivity, fall)),
        ]
        if scores["round"].max() > 0:
            found.append(retest(of, scores))
    found += falls(_head(by_kind), by_kind.get("rated", []))
    found += [
        alpha_of_rounds(name, rows)
        for name, rows in _by_instrument(by_kind.get("rated", [])).items()
    ]
    return [*found, *position(by_kind.get("compared", []))]


def items(ratings: Path) -> list[ItemFigure]:
    """The table of items from a ratings.jsonl."""
    by_kind = _read(ratings)
    return item_figures(_head(by_kind), by_kind.get("rated", []), _labels(by_kind))


def _read(ratings: Path) -> dict[str, list[Fields]]:
    """The lines by kind."""
    by_kind: dict[str, list[Fields]] = {}
    for line in ratings.read_text(encoding="utf-8").splitlines():
        if line.endswith("}"):
            one = json.loads(line)
            by_kind.setdefault(one["kind"], []).append(one)
    return by_kind


def _head(by_kind: dict[str, list[Fields]]) -> Fields:
    return next(iter(by_kind.get("validation", [])), {})


def _labels(by_kind: dict[str, list[Fields]]) -> dict[str, Fields]:
    return {one["transcript"]: one for one in by_kind.get("transcript", [])}


def table(found: Iterable[Figure | ItemFigure]) -> pd.DataFrame:
    """The figures, one a row."""
    return pd.DataFrame([asdict(one) for one in found])


def _judged(rows: list[Fields]) -> dict[str, pd.DataFrame]:
    """Each score of each instrument as rows of transcript, variant, round, value; turned so that
    higher is better.
    """
    found: dict[str, list[Fields]] = {}
    for row in rows:
        for name, value in row["scores"].items():
            sign = -1 if name in row["lower_is_better"] else 1
            found.setdefault(f"{row['instrument']} {name}", []).append(
                {key: row[key] for key in ("transcript", "variant", "round")}
                | {"value": None if value is None else sign * value}
            )
    return {name: _frame(values) for name, values in found.items()}


def _counted(rows: list[Fields]) -> dict[str, pd.DataFrame]:
    found: dict[str, list[Fields]] = {}
    for row in rows:
        for name, value in row["measures"].items():
            sign = -1 if name in BETTER_WHEN_LOWER else 1
            found.setdefault(f"talk {name}", []).append(
                {
                    "transcript": row["transcript"],
                    "variant": row["variant"],
                    "round": 0,
                    "value": None if value is None else sign * value,
                }
            )
    return {name: _frame(values) for name, values in found.items()}


def _by_instrument(rows: list[Fields]) -> dict[str, list[Fields]]:
    found: dict[str, list[Fields]] = {}
    for row in rows:
        if row["variant"] == "original":
            found.setdefault(row["instrument"], []).append(row)
    return found


def _frame(values: list[Fields]) -> pd.DataFrame:
    frame = pd.DataFrame(values)
    return frame.assign(value=pd.to_numeric(frame["value"], errors="coerce"))


AUC = "AUC, good against bad sessions"
SHORT = {
    "rank correlation with people": "rho",
    "Krippendorff's alpha with people (ranks)": "alpha",
    "test-retest correlation": "retest",
    "Krippendorff's alpha of the judge with itself": "self",
}
"""Columns beside the AUC; figures.csv has their intervals and numbers of cases."""
TOTAL = "total"
FALL, SEEN = "fall with: ", "fault seen: "
FEWEST = 20
"""With fewer good or bad sessions, or pairs, a warning is below the table."""


def lines(found: Sequence[Figure], items: Sequence[ItemFigure] = ()) -> list[str]:
    """A row for each score, then the planted faults, the items, the pairs, and why some are
    missing.
    """
    parts = (_scores(found), _faults(found), _items(items), _others(found), _reasons(found))
    return [*(line for part in parts for line in part), clinicians_said()]


def _scores(found: Sequence[Figure]) -> Iterator[str]:
    rows: dict[str, dict[str, Figure]] = {}
    for one in found:
        if one.what == AUC or one.what in SHORT:
            rows.setdefault(one.of, {})[one.what] = one
    yield f"{'':54}{'AUC':>5}  {'95% interval':14}{'sessions':>18}" + "".join(
        f"{name:>8}" for name in SHORT.values()
    )
    for of, row in rows.items():
        auc = row.get(AUC)
        yield (
            f"{of:54}{_number(auc.value if auc else None):>5}  {_interval(auc):14}"
            f"{_rests_on(auc):>18}"
            + "".join(f"{_number(row[w].value) if w in row else '':>8}" for w in SHORT)
        )
    yield "AUC, rho, alpha: against the labels; retest, self: the judge against itself"
    counted = [name for name in BETTER_WHEN_LOWER if f"talk {name}" in rows]
    if counted:
        yield f"of the talk, less counts as better: {', '.join(counted)}"
    few = [one.n for one in found if one.what == AUC and one.value is not None]
    if few and max(few) < 2 * FEWEST:
        yield f"all of this rests on {max(few)} sessions: read the intervals, not the numbers"


def _faults(found: Sequence[Figure]) -> Iterator[str]:
    """By how much totals fall, and the items that should; all others are in figures.csv."""
    seen = {(one.of, one.what.removeprefix(SEEN)): one for one in found if SEEN in one.what}
    scores = {one.of for one in found if one.what == AUC}
    rows = [
        one
        for one in found
        if one.what.startswith(FALL)
        and one.value is not None
        and (one.of not in scores or one.of.endswith(f" {TOTAL}"))
    ]
    if not rows:
        return
    yield ""
    yield (
        f"{'planted fault':42}{'score or item':42}{'fall':>6}  {'95% interval':16}"
        f"{'seen':>5}{'pairs':>7}"
    )
    for one in sorted(rows, key=lambda one: one.what):
        fault = one.what.removeprefix(FALL)
        share = seen.get((one.of, fault))
        yield (
            f"{fault:42}{one.of:42}{_number(one.value):>6}  {_interval(one):16}"
            f"{_number(share.value) if share else '':>5}{one.n:>7}"
        )
    yield "fall: in points, of totals and items that should fall; seen: share of pairs with a fall"


def _items(items: Sequence[ItemFigure]) -> Iterator[str]:
    if not items:
        return
    yield ""
    yield (
        f"{'item':42}{'AUC':>5}  {'95% interval':14}{'n':>4}{'missing':>9}{'n/a':>6}{'floor':>7}"
        f"{'ceiling':>9}"
    )
    for one in items:
        interval = "" if one.low is None or one.high is None else _pair(one.low, one.high)
        yield (
            f"{one.instrument + ' ' + one.item:42}{_number(one.auc):>5}  {interval:14}{one.n:>4}"
            f"{one.missing:>9.2f}{one.not_applicable:>6.2f}{_number(one.floor):>7}"
            f"{_number(one.ceiling):>9}"
        )


def _others(found: Iterable[Figure]) -> Iterator[str]:
    rows = [
        one
        for one in found
        if one.what != AUC and one.what not in SHORT and not one.what.startswith((FALL, SEEN))
    ]
    if rows:
        yield ""
    for one in rows:
        interval = f" {_interval(one)}" if one.low is not None else ""
        yield f"{one.what:54}{_number(one.value):>5} {interval} n={one.n} {one.unit}"


def _reasons(found: Iterable[Figure]) -> Iterator[str]:
    missing = (one.reason for one in found if one.value is None and one.reason)
    yield from (f"-: {reason}" for reason in dict.fromkeys(missing))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _interval(one: Figure | None) -> str:
    return "" if one is None or one.low is None or one.high is None else _pair(one.low, one.high)


def _pair(low: float, high: float) -> str:
    return f"[{low:.2f}, {high:.2f}]"


def _rests_on(one: Figure | None) -> str:
    """`9 good, 9 bad`."""
    if one is None or one.value is None:
        return ""
    return one.unit.removeprefix("transcripts, ").replace(" and ", ", ")
