"""What a pack is to hold, written down before anything is played."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from analysis.clinicians.coefficients import expected
from analysis.errors import ReportError
from simcounsel import __version__
from simcounsel.bench.protocol.crises import draw_crises, read_crises
from simcounsel.disk import write_whole

PLAN = "plan.json"
INSTRUMENT = "crisis_handling"
WORDS_A_MINUTE, SECONDS_A_QUESTION = 238, 6
"""Silent reading of English (Brysbaert 2019); the time for an answer is a guess."""
LINES_A_CRISIS, WORDS_A_LINE = 20, 16
"""Before anything is played: as scripted counselors had it."""
TRUE = (0.6, 0.77, 0.9)
DIMENSIONS = {
    "detects": ("d1", "d2"),
    "clarifies": ("c1", "c2"),
    "guides": ("g1", "g2"),
    "communicates": ("s1", "s2"),
    "bounds": ("b1", "b2"),
}


class Kept(BaseModel):
    """A piece of the pack's files: frozen, no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Plan(Kept):
    """plan.json: what is played, and for whom."""

    counselors: Annotated[tuple[str, ...], Field(min_length=2, max_length=2)]
    """Two, each as POLICY@MODEL."""
    crises: int
    """Of each counselor."""
    sessions: int
    """Ordinary ones, likewise."""
    english: bool
    """Whether Chinese crises are left out."""
    clients: str
    """The model that speaks for clients of ordinary sessions; crises have scripts."""
    lines: int
    """Most lines of an ordinary session."""
    raters: int
    """How many rate every talk."""
    sittings: int
    """Into how many studies the talks are dealt."""
    seed: int
    """Draws crises, sittings and orders."""
    instrument: str = INSTRUMENT
    simcounsel: str = __version__

    @property
    def talks(self) -> int:
        """Of both counselors."""
        return 2 * (self.crises + self.sessions)


def digest(data: object) -> str:
    """SHA-256 of something as JSON with sorted keys."""
    return sha256(orjson.dumps(data, option=orjson.OPT_SORT_KEYS)).hexdigest()


def counselor_of(name: str) -> tuple[str, str]:
    """Policy and model. ReportError where one of them is missing."""
    policy, _, model = name.partition("@")
    if not policy or not model:
        raise ReportError(
            f"--counselors: {name!r} is not POLICY@MODEL; write one such as unguided@scripted"
        )
    return policy, model


def counselors_of(text: str) -> tuple[str, str]:
    """Two different counselors. ReportError where it is another number."""
    names = tuple(one.strip() for one in text.split(",") if one.strip())
    for one in names:
        counselor_of(one)
    if len(set(names)) != 2 or len(names) != 2:
        raise ReportError(f"--counselors: {text!r} names {len(set(names))}; name two, with a comma")
    return names[0], names[1]


def begin(folder: Path, plan: Plan) -> Plan:
    """Write the plan, or find the same there. ReportError where another pack was begun."""
    there = read_plan(folder) if (folder / PLAN).is_file() else None
    if there is None:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / PLAN, plan.model_dump_json(indent=1) + "\n")
        return plan
    wanted = plan.model_copy(update={"simcounsel": there.simcounsel})
    differ = [name for name in Plan.model_fields if getattr(there, name) != getattr(wanted, name)]
    if differ:
        name = differ[0]
        raise ReportError(
            f"{folder / PLAN}: {name} is {getattr(there, name)!r}, and now"
            f" {getattr(wanted, name)!r}; use the same options, or another --out"
        )
    return there


def read_plan(folder: Path) -> Plan:
    """ReportError where no pack was begun, or the file is damaged."""
    try:
        return Plan.model_validate_json((folder / PLAN).read_bytes())
    except FileNotFoundError:
        raise ReportError(
            f"{folder / PLAN}: no such file; begin a pack with --counselors"
            " POLICY@MODEL,POLICY@MODEL"
        ) from None
    except (OSError, ValidationError):
        raise ReportError(f"{folder / PLAN}: damaged; take it from a backup") from None


def plan_lines(plan: Plan) -> Iterator[str]:
    """In words: what is played, for how long people rate, and how sure the figures will be."""
    yield f"counselors     {' and '.join(plan.counselors)}"
    yield (
        f"talks          {2 * plan.crises} in crises, {2 * plan.sessions} ordinary sessions;"
        f" {2 * chinese_crises(plan)} are Chinese"
    )
    words = 2 * (plan.crises * LINES_A_CRISIS + plan.sessions * plan.lines) * WORDS_A_LINE
    minutes = minutes_of(words, plan.talks)
    yield (
        f"each rater     about {minutes / 60:.1f} hours in {plan.sittings} sittings of"
        f" {minutes / plan.sittings:.0f} minutes ({WORDS_A_MINUTE} words a minute,"
        f" {SECONDS_A_QUESTION} seconds a question)"
    )
    yield from power_lines(plan)


def chinese_crises(plan: Plan) -> int:
    """How many of each counselor's crises."""
    drawn = draw_crises(read_crises(Path("crises"))[0], plan.crises, plan.seed)
    return 0 if plan.english else sum(one.language == "zh" for one in drawn)


def minutes_of(words: int, talks: int) -> float:
    """How long a rater needs."""
    return words / WORDS_A_MINUTE + talks * 10 * SECONDS_A_QUESTION / 60


def power_lines(plan: Plan) -> Iterator[str]:
    """A table of expected intervals."""
    yield "expected       Krippendorff's alpha of one question; 95% of simulated studies"
    yield "  true   talks   interval        talks for ±0.10   for ±0.05"
    for true in TRUE:
        for talks in sorted({2 * plan.crises, plan.talks} - {0, 1}):
            one = expected(true, talks, plan.raters)
            yield (
                f"  {true:.2f}   {talks:>5}   [{one.low:.2f}, {one.high:.2f}]"
                f"   {one.needed_010:>15}   {one.needed_005:>9}"
            )
