"""What a run would ask, by rules that were counted in runs: of a day, of a line of talk."""

from collections.abc import Mapping
from dataclasses import dataclass

from simcounsel.lab.shares import BYTES_A_TOKEN, REPLY_TOKENS, Forecast, Share
from simcounsel.llm.prices import Prices
from simcounsel.specs.world import World


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a unit takes of a role, from few to many."""

    requests: tuple[float, float]
    sent_bytes: tuple[float, float]
    """Of their texts."""

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
"""Of a line of a talk, where only the meetings are run, of both people: policies took 1.3 to 2.2
(docs/evidence.md); a clinic of five sessions was counted for the rest.
"""
A_SEAT = {
    "lived": Rule(requests=(3, 20), sent_bytes=(3_000, 48_000)),
    "skipped": Rule(requests=(0.5, 0.5), sent_bytes=(150, 1_200)),
}
"""Of somebody who is played by a bot, which is sent the talk alone: a day with a talk of 6 to 40
lines of some 120 bytes; a line of a talk, where only the meetings are run.
"""
FEWEST_LINES = 6
"""Of a talk that ends early: of the scripted model, who leaves at random, 144 talks that could have
40 lines had 6.4 on average.
"""


def by_rule(world: World, ticks: int, since: int = 0) -> Forecast:
    """What the ticks from `since` on would take."""
    lived = world.days == "lived"
    days = resident_days(world, ticks, since) if lived else 0.0
    units: tuple[float, float]
    seats = [f"{tier}:{one.name}" for one in world.present() if (tier := one.mind_model)]
    each = days / len(world.present())
    if lived:
        own = days - each * len(seats)
        units, rules, basis = (own, own), A_DAY, f"{days:.1f} resident-days"
    else:
        units, rules = lines_of(world, ticks, since), A_LINE
        basis = f"{units[0]:g} to {units[1]:g} lines of talk"
    low, high = (
        {
            role: rule.share(end, units[end], role == "embed")
            for role, rule in rules.items()
            if role != "embed" or sends_texts(world.model_names())
        }
        for end in (False, True)
    )
    for shares, end in ((low, False), (high, True)):
        seat = A_SEAT[world.days].share(end, each if lived else units[end])
        shares |= dict.fromkeys(seats, seat)
    return Forecast(low=low, high=high, basis=f"by a rule for {basis}", resident_days=days)


def sends_texts(models: Mapping[str, str]) -> bool:
    """Whether vectors come from a server; where they are made in this process nobody is asked.
    models: by role.
    """
    return not Prices({}).in_process(models["embed"])


def resident_days(world: World, ticks: int, since: int = 0) -> float:
    """Days of residents that are run in the ticks from `since` on."""
    return len(world.present()) * max(0, ticks - since) * world.tick_minutes / 1440


def lines_of(world: World, ticks: int, since: int = 0) -> tuple[float, float]:
    """The fewest and the most lines of appointments, where only they are run."""
    here = {one.name for one in world.present()}
    start = world.start.hour * 60 + world.start.minute
    most = [
        one.max_turns or world.conversation.max_turns
        for one in world.appointments
        if here.issuperset(one.who)
        for minute in one.begins()
        if since <= (minute - start) // world.tick_minutes < ticks and minute >= start
    ]
    return float(sum(min(lines, FEWEST_LINES) for lines in most)), float(sum(most))
