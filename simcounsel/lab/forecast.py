"""What a run would ask of its models: counted in earlier runs of the same world, or by a rule that
was itself counted.

A share is what one model role takes: `reason`, `quick`, `reason:Ines` where she has her own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from simcounsel.errors import SimcounselError
from simcounsel.llm.prices import Prices
from simcounsel.runs.calls import Call
from simcounsel.runs.run import Run
from simcounsel.specs.synthesis import Synthesis
from simcounsel.specs.world import World

BYTES_A_TOKEN = (5.0, 3.0)
"""UTF-8 bytes for a token, few tokens and many: English has four to five, Chinese three."""
REPLY_TOKENS = (40.0, 90.0)
"""Of an answer, most of which are short JSON."""
EARLIER_RUNS = 5
"""So many of the latest runs are counted."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one model role takes."""

    requests: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def __add__(self, other: "Share") -> "Share":
        return Share(
            requests=self.requests + other.requests,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
        )

    def times(self, factor: float) -> "Share":
        """So often."""
        return Share(
            requests=self.requests * factor,
            tokens_in=self.tokens_in * factor,
            tokens_out=self.tokens_out * factor,
        )


Shares = Mapping[str, Share]


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """From `low` to `high`, by role. basis: what it rests on, in words."""

    low: Shares
    high: Shares
    basis: str

    def total(self) -> tuple[Share, Share]:
        """Of all roles."""
        return _sum(self.low.values()), _sum(self.high.values())

    def cost_usd(self, models: Mapping[str, str], prices: Prices) -> tuple[float, float] | None:
        """None when a price is unknown."""
        low, high = (
            [
                prices.cost_usd(_model(models, role), round(one.tokens_in), round(one.tokens_out))
                for role, one in shares.items()
            ]
            for shares in (self.low, self.high)
        )
        known = [[cost for cost in costs if cost is not None] for costs in (low, high)]
        if None in low or None in high:
            return None
        return sum(known[0]), sum(known[1])

    def lines(self, models: Mapping[str, str], prices: Prices) -> Iterator[str]:
        """In words."""
        yield from forecast_lines(*self.total(), self.cost_usd(models, prices), self.basis)


def forecast_lines(
    low: Share, high: Share, cost_usd: tuple[float, float] | None, basis: str
) -> Iterator[str]:
    """What is expected, and why. cost_usd: None when a price is unknown."""
    yield f"requests     {_range(low.requests, high.requests)}"
    yield (
        f"tokens       {_range(low.tokens_in, high.tokens_in)} in,"
        f" {_range(low.tokens_out, high.tokens_out)} out"
    )
    yield "cost         " + (
        "price unknown; give it with --prices"
        if cost_usd is None
        else f"{cost_usd[0]:.2f} to {cost_usd[1]:.2f} USD"
        if cost_usd[1]
        else "0 USD"
    )
    yield f"counted      {basis}"


def _model(models: Mapping[str, str], role: str) -> str:
    """Of a role; `judge` and the like are the world's where nobody has one of their own."""
    return models.get(role) or models[role.split(":")[0]]


def _sum(shares: Iterable[Share]) -> Share:
    return sum(shares, Share())


def _range(low: float, high: float) -> str:
    return f"{_rounded(low)} to {_rounded(high)}"


def _rounded(count: float) -> str:
    """Two digits are all that it is worth."""
    return f"{float(f'{count:.2g}'):,.0f}"


# counted


def forecast(about: World | Synthesis, ticks: int, runs: Path) -> Forecast:
    """For so many ticks (or waves). runs: the folder in which earlier ones are looked for."""
    earlier = list(_earlier(about, runs))
    if not earlier:
        return by_rule(about, ticks)
    counted = [_counted(run, about, lived, ticks) for run, lived in earlier]
    names = ", ".join(run.name for run, _ in earlier)
    what = "syntheses" if isinstance(about, Synthesis) else "runs"
    short = min(lived for _, lived in earlier)
    scaled = f", of {short} ticks and more, in proportion" if short < ticks else ""
    return Forecast(
        low=_bound(counted, min, 0.8 if len(counted) == 1 else 1.0),
        high=_bound(counted, max, 1.25 if len(counted) == 1 else 1.0),
        basis=f"in {len(earlier)} earlier {what} of {about.name!r} in {runs}{scaled}: {names}",
    )


def _earlier(about: World | Synthesis, runs: Path) -> Iterator[tuple[Run, int]]:
    """The latest runs of the same name and condition that were begun from the beginning, with how
    many of their ticks are complete; those of the same models, if there are some.
    """
    found = []
    for manifest in sorted(runs.glob("*/manifest.json"), key=lambda one: -one.stat().st_mtime):
        try:
            run = Run.open(manifest.parent)
            lived = run.ticks_done()
        except (SimcounselError, OSError):
            continue
        same = (type(run.about), run.about.name, run.about.condition) == (
            type(about),
            about.name,
            about.condition,
        )
        if same and run.manifest.parent is None and lived and _kind(run.about) == _kind(about):
            found.append((run, lived))
    names = about.model_names()
    alike = [one for one in found if one[0].about.model_names() == names]
    yield from (alike or found)[:EARLIER_RUNS]


def _kind(about: World | Synthesis) -> object:
    """What decides how much is asked in a tick."""
    if isinstance(about, Synthesis):
        return about.without, about.turns, about.fewest_turns
    return about.days, about.tick_minutes, len(about.present()), about.conversation.max_turns


def _counted(run: Run, about: World | Synthesis, lived: int, ticks: int) -> Shares:
    """What a run took in its first ticks; in proportion where it has lived fewer."""
    shares: dict[str, Share] = {}
    own = about.model_names()
    for fields in run.calls():
        call = Call.read(fields)
        if call is None or (call.tick or 0) >= ticks:
            continue
        role = call.tier or ("embed" if call.embeds else "reason")
        if role == "embed" and not sends_texts(about):
            continue
        role = f"{role}:{call.who}" if f"{role}:{call.who}" in own else role
        shares[role] = shares.get(role, Share()) + share_of(call, fields)
    factor = 1.0
    if isinstance(about, Synthesis):
        factor = about.count / min(run.synthesis.count, lived * run.synthesis.wave)
    elif lived < ticks:
        factor = ticks / lived
    return {role: share.times(factor) for role, share in shares.items()}


def share_of(call: Call, fields: Mapping[str, object]) -> Share:
    """Of one call. A model in the process counts words, so its tokens are told by length."""
    texts = fields.get("texts") or [one.content for one in call.messages]
    assert isinstance(texts, list)
    sent = sum(len(str(text).encode("utf-8", "replace")) for text in texts)
    came = len((call.reply or "").encode("utf-8", "replace"))
    told = call.tokens_in and not Prices({}).in_process(call.model)
    middle = sum(BYTES_A_TOKEN) / 2
    return Share(
        requests=max(call.tries or 1, 1),
        tokens_in=call.tokens_in if told and call.tokens_in else sent / middle,
        tokens_out=(call.tokens_out or 0) if told else came / middle,
    )


def _bound(
    counted: list[Shares], which: Callable[[Iterable[float]], float], factor: float
) -> Shares:
    """By role the least or the most of several runs. factor: what one run alone may differ by."""
    roles = {role for one in counted for role in one}
    nothing = Share()
    return {
        role: Share(
            requests=which(one.get(role, nothing).requests for one in counted),
            tokens_in=which(one.get(role, nothing).tokens_in for one in counted),
            tokens_out=which(one.get(role, nothing).tokens_out for one in counted),
        ).times(factor)
        for role in sorted(roles)
    }


# by rule


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a unit takes of a role, from few to many. requests; sent_bytes: of their texts."""

    requests: tuple[float, float]
    sent_bytes: tuple[float, float]

    def share(self, high: bool, units: float, embeds: bool = False) -> Share:
        """Of so many units, at the lower or the upper end."""
        requests = self.requests[high] * units
        return Share(
            requests=requests,
            tokens_in=self.sent_bytes[high] * units / BYTES_A_TOKEN[high],
            tokens_out=0 if embeds else requests * REPLY_TOKENS[high],
        )


A_DAY = {
    "reason": Rule(requests=(24, 48), sent_bytes=(90_000, 210_000)),
    "quick": Rule(requests=(55, 94), sent_bytes=(157_000, 360_000)),
    "embed": Rule(requests=(51, 106), sent_bytes=(12_500, 16_000)),
}
"""Of a resident and simulated day with all phases. The lower end is what tests/benchmarks/engine.py
counts in a town of ten (W3: 79 requests, 247,000 characters), the upper one the most in
worlds/insomnia.yaml under four conditions and two seeds.
"""
A_LINE = {
    "reason": Rule(requests=(1.3, 2.3), sent_bytes=(5_000, 11_000)),
    "quick": Rule(requests=(0.3, 0.8), sent_bytes=(600, 1_500)),
    "embed": Rule(requests=(0.5, 1.3), sent_bytes=(100, 250)),
}
"""Of a line of a talk, where only the meetings are lived, of both people: policies took 1.3 to 2.2
(docs/counselors.md); a clinic of five sessions was counted for the rest.
"""
A_QUESTION = Rule(requests=(1, 1), sent_bytes=(2_600, 4_000))
"""Of a question in a synthesis: 2,200 as tests/benchmarks/synthesis.py counts, and the schema."""
REVISED = (0.02, 0.22)
"""The share of lines that are revised (MindCorpus, Table V)."""


def by_rule(about: World | Synthesis, ticks: int, since: int = 0) -> Forecast:
    """What the ticks from `since` on would take."""
    if isinstance(about, Synthesis):
        low, high = (_of_synthesis(about, end) for end in (False, True))
        return Forecast(low=low, high=high, basis="by a rule, from earlier syntheses of ours")
    units, rules, what = (
        (resident_days(about, ticks, since), A_DAY, "resident-days")
        if about.days == "lived"
        else (float(lines_of(about, ticks, since)), A_LINE, "lines of talk at most")
    )
    low, high = (
        {
            role: rule.share(end, units, role == "embed")
            for role, rule in rules.items()
            if role != "embed" or sends_texts(about)
        }
        for end in (False, True)
    )
    return Forecast(low=low, high=high, basis=f"by a rule for {units:.1f} {what}")


def sends_texts(about: World | Synthesis) -> bool:
    """Whether vectors come from a server; where they are made in this process nobody is asked."""
    return not Prices({}).in_process(about.model_names()["embed"])


def resident_days(world: World, ticks: int, since: int = 0) -> float:
    """Days of residents that are lived in the ticks from `since` on."""
    return len(world.present()) * max(0, ticks - since) * world.tick_minutes / 1440


def lines_of(world: World, ticks: int, since: int = 0) -> int:
    """Lines that appointments may have, where only they are lived."""
    here = {one.name for one in world.present()}
    start = world.start.hour * 60 + world.start.minute
    return sum(
        one.max_turns or world.conversation.max_turns
        for one in world.appointments
        if here.issuperset(one.who)
        for minute in one.minutes()
        if since <= (minute - start) // world.tick_minutes < ticks and minute >= start
    )


def _of_synthesis(settings: Synthesis, high: bool) -> Shares:
    """Each turn asks seeker, supporter and evaluator, and some the corrector; a session begins with
    the extractor and ends with the manager.
    """
    turns = settings.count * (settings.turns if high else settings.fewest_turns)
    asked = {"seeker": turns, "supporter": turns, "extractor": settings.count}
    if "evaluator" not in settings.without:
        asked["evaluator"] = turns
        if "corrector" not in settings.without:
            asked["corrector"] = round(turns * REVISED[high])
        if "manager" not in settings.without:
            asked["manager"] = settings.count
    return {role: A_QUESTION.share(high, count) for role, count in asked.items()}
