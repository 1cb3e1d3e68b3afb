"""What the command line says of a study: how it was made, the links, how far each rater is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast, get_args

from simcounsel.errors import StudyError
from simcounsel.studies.answers import Answer, damaged_answers, last_answers, read_answers
from simcounsel.studies.entry import CONSENT, YOU
from simcounsel.studies.instrument import About, load_instrument, shipped
from simcounsel.studies.items import Choice, Partner
from simcounsel.studies.making import make_study
from simcounsel.studies.offline import write_offline
from simcounsel.studies.study import Rater, Study, open_key, open_study
from simcounsel.studies.table import of_rater

THINGS: dict[About, str] = {
    "transcripts": "transcripts",
    "personas": "personas",
    "persona and talk": "transcripts beside personas",
    "recalls": "moments of recall",
}
"""What a study consists of, in a word."""
NOTE = (
    "note           several pairs are of the same person: raters may know the earlier text again"
    " when they meet it twice"
)


def make(
    runs: Sequence[Path],
    instrument: str | None,
    out: Path,
    *,
    raters: int | None,
    seed: int,
    who: str | None,
    partners: Sequence[str] | None,
    most: int | None,
    fewest_lines: int,
) -> list[str]:
    """Make a study and its offline pages; say what is in it."""
    if instrument is None:
        raise StudyError(
            f"--instrument is needed to make a study: {', '.join(shipped())}, or a YAML file"
        )
    unknown = [role for role in partners or () if role not in get_args(Partner)]
    if unknown:
        raise StudyError(
            f"--with {unknown[0]}: nobody has that role; known here: {', '.join(get_args(Partner))}"
        )
    default = Choice()
    choice = Choice(
        who=who,
        partners=cast(tuple[Partner, ...], tuple(partners)) if partners else default.partners,
        most=most,
        fewest_lines=fewest_lines,
    )
    asked = load_instrument(instrument)
    study = make_study(runs, asked, out, raters=raters, seed=seed, choice=choice)
    write_offline(out, study)
    key = open_key(out)
    people = Counter(origin.person for origin in key.items.values())
    again = any(count > 1 for count in people.values()) and asked.about == "personas"
    conditions = Counter(origin.condition or "unknown" for origin in key.items.values())
    return [
        (
            f"made           {out}: {len(study.items)} {THINGS[asked.about]},"
            f" {len(study.instrument.items)} questions"
            f" each, {len(study.raters)} raters"
        ),
        (
            "conditions    "
            f" {', '.join(f'{name} {count}' for name, count in sorted(conditions.items()))} (raters"
            " are not told)"
        ),
        f"key            {out / 'key.json'} (keep it from the raters)",
        *([NOTE] if again else []),
    ]


def state_lines(out: Path) -> list[str]:
    """Each rater's progress and page to send out, and what to do next. Links are given by what
    serves them. StudyError where study or key are not as they were written.
    """
    study = open_study(out)
    if (out / "key.json").is_file():  # which need not lie where answers are collected
        open_key(out)
    last = last_answers(read_answers(out))
    done = Counter(answer.rater for answer in last.values() if answer.position)
    lines = [
        f"{rater.name}  {done[rater.name]:>3} of {len(rater.order)} rated "
        f" {out / 'offline' / rater.name}.html{_of(study, rater, last)}"
        for rater in study.raters
    ]
    return [
        *lines,
        *damaged_answers(out),
        f"serve links    simcounsel study rate-page --out {out} --serve",
        (
            "or send out    these pages; take back with: simcounsel study rate-page"
            f" --out {out} --import FILE"
        ),
        f"export         simcounsel study rate-page --out {out} --csv ratings.csv",
    ]


def questions_of(out: Path) -> tuple[str, ...]:
    """The ids of a study's questions."""
    return tuple(item.id for item in open_study(out).instrument.items)


def _of(study: Study, rater: Rater, last: Mapping[tuple[str, str], Answer]) -> str:
    """That a rater does not take part, or did not read everywhere."""
    you = last.get((rater.name, YOU))
    if you and you.answers.get(CONSENT) == 0:
        return "  does not take part"
    failed = of_rater(study, rater, last)["checks_failed"]
    return f"  {failed} checks of attention failed" if failed else ""
