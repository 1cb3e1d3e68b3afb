"""Real and simulated sessions compared in every way, and what may be said of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from analysis.validity.part import Claim, ClaimVerdict
from analysis.validity.talk.counting import Codes, TalkMeasure, coded_by_rules, measures, table
from analysis.validity.talk.detector import Detected, detect
from analysis.validity.talk.distances import Distance, distance, side
from analysis.validity.talk.sessions import TalkSessions
from analysis.validity.talk.waiting import Waited, waited

MARGIN = 0.5
"""Standard deviations of the real within which a measure counts as alike."""
TOLD = 0.6
"""An AUC below this is as good as guessing."""
OF_THE_CLIENT = frozenset(
    "client_words client_unevenness client_questions variety hesitations feeling change sustain"
    " resists agrees takes_up improves discloses".split()
)
"""What the detector is given: the counselor's side is the study's own."""


@dataclass(frozen=True, kw_only=True)
class TalkCompared:
    """All that was found."""

    real: TalkSessions
    simulated: TalkSessions
    counted: tuple[TalkMeasure, ...]
    far: Mapping[str, Distance]
    told: Sequence[Detected]
    waits: Sequence[Waited]


def compare(
    real: TalkSessions,
    simulated: TalkSessions,
    margin: float = MARGIN,
    codes: Codes = coded_by_rules,
    tell: Callable[[str], None] = lambda _: None,
) -> TalkCompared:
    """Count, measure distances, detect, and look who yields sooner."""
    every = measures(codes)
    tell(f"counting {len(real.found)} real and {len(simulated.found)} simulated sessions")
    values = [table(one.found, every) for one in (real, simulated)]
    clients = [[session.client for session in one.found] for one in (real, simulated)]
    far = {
        one.id: distance(
            side(values[0][one.id], clients[0]),
            side(values[1][one.id], clients[1]),
            margin,
            one.id,
            among=len(every),
        )
        for one in every
    }
    tell("telling them apart")
    features = [one for one in measures() if one.id in OF_THE_CLIENT]
    return TalkCompared(
        real=real,
        simulated=simulated,
        counted=every,
        far=far,
        told=detect(real.found, simulated.found, features),
        waits=waited(real.found, simulated.found, codes),
    )


def claims_of(done: TalkCompared, margin: float) -> list[Claim]:
    """What may be said."""
    return [_of_measures(done, margin), _of_detector(done.told), *map(_of_wait, done.waits)]


def _of_measures(done: TalkCompared, margin: float) -> Claim:
    found = {
        verdict: [one.name for one in done.counted if done.far[one.id].verdict == verdict]
        for verdict in ("alike", "different", "undecided")
    }
    different = "; ".join(
        f"{one.name}: {done.far[one.id].words()}"
        for one in done.counted
        if done.far[one.id].verdict == "different"
    )
    return Claim(
        statement=f"The sessions are like the real ones in all that was counted (within {margin:g}"
        " SD)",
        verdict="does not hold"
        if found["different"]
        else "undecided"
        if found["undecided"]
        else "holds",
        because=f"{len(found['alike'])} measures alike, {len(found['undecided'])} undecided,"
        f" {len(found['different'])} different" + (f" ({different})" if different else ""),
    )


def _of_detector(told: Sequence[Detected]) -> Claim:
    best = max((one for one in told[:2]), key=lambda one: one.auc or 0.0)
    statement = "A program cannot tell the clients' lines from real ones, leaving topics aside"
    if best.auc is None or best.low is None or best.high is None:
        return Claim(
            statement=statement, verdict="undecided", because="fewer than six clients on a side"
        )
    verdict: ClaimVerdict = (
        "holds" if best.high < TOLD else "does not hold" if best.low > TOLD else "undecided"
    )
    return Claim(
        statement=statement,
        verdict=verdict,
        because=f"by {best.features}: AUC {best.auc:.2f} [{best.low:.2f}, {best.high:.2f}]",
    )


def _of_wait(one: Waited) -> Claim:
    sayings = {
        "agrees": "agree",
        "takes_up": "take up proposals",
        "discloses": "open up",
        "improves": "say that it is better",
    }
    because = f"{one.difference:+.1f} lines".replace("-", "−")
    because += (
        f" [{one.low:.1f}, {one.high:.1f}]".replace("-", "−")
        if one.low is not None and one.high is not None
        else ", fewer than six clients on a side"
    )
    return Claim(
        statement=f"The clients {sayings[one.move]} no sooner than real ones",
        verdict="undecided" if one.sooner is None else "does not hold" if one.sooner else "holds",
        because=f"{because}; after {one.simulated:.1f} of {one.horizon} lines, real ones after"
        f" {one.real:.1f}",
    )
