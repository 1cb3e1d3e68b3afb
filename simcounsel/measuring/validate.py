"""Is a judge any good? It rates labelled transcripts, twice, with planted faults, and in pairs;
what it said is written down.

    OUT/ratings.jsonl    a head; the labels; a line for each rating, pair and count as it comes
    OUT/calls.jsonl      every request with prompt and reply

The figures (AUC, correlations, alpha, retest, position bias, sensitivity) are made from these by
`analysis.judge_lines`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from simcounsel import __version__
from simcounsel.chance import seed_of
from simcounsel.errors import GivenUp, RunError, TooManyFallbacks
from simcounsel.instruments.facts import PairFacts
from simcounsel.instruments.faults import plant
from simcounsel.instruments.labelled import Labelled
from simcounsel.instruments.material import Material
from simcounsel.instruments.measuring import measure_seen
from simcounsel.instruments.preference import Preference
from simcounsel.instruments.scale import Scale
from simcounsel.instruments.talk import measure
from simcounsel.llm.catalog import open_chat, open_embed
from simcounsel.llm.fallbacks import FallbackShare
from simcounsel.llm.question import Ask, Question, ask
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.validation_plan import Plan, pairs, spread, told
from simcounsel.prompts import render
from simcounsel.runs.jsonl import append_line
from simcounsel.specs.world_settings import FallbackLimits

Fields = dict[str, Any]


def open_judge(model: str, in_flight: int = 64) -> Switchboard:
    """The judge alone; no vectors are needed."""
    chat = open_chat(model)
    return Switchboard(
        {"reason": chat, "quick": chat, "judge": chat}, open_embed("scripted"), in_flight=in_flight
    )


class Validation:
    """One validation in a folder of its own, which must be new or empty."""

    def __init__(self, plan: Plan, judge: str, out: Path) -> None:
        self.plan = plan
        self.judge = judge
        self.out = out
        try:
            out.mkdir(parents=True, exist_ok=True)
            if any(out.iterdir()):
                raise RunError(f"{out}: not empty; choose another --out")
        except OSError as error:
            raise RunError(
                f"{out}: cannot be written ({error.strerror}); choose another --out"
            ) from None

    def collect(self, models: Switchboard, fallbacks: FallbackLimits | None = None) -> Path:
        """Ask everything and write it down. GivenUp when the judge does not answer, or more of its
        answers are unusable than `fallbacks` allows.
        """
        models.fallbacks = FallbackShare(fallbacks or FallbackLimits())
        plan = self.plan
        self._append(
            "ratings.jsonl",
            {
                "kind": "validation",
                "judge": self.judge,
                "simcounsel": __version__,
                "created": f"{datetime.now():%Y-%m-%d %H:%M:%S}",
                "instruments": {scale.id: told(scale) for scale in plan.scales},
                "samples": plan.samples,
                "rounds": plan.rounds,
                "temperature": plan.temperature,
            },
        )
        for one in plan.transcripts:
            self._append(
                "ratings.jsonl",
                {
                    "kind": "transcript",
                    "transcript": one.id,
                    "good": one.good,
                    "ratings": dict(one.ratings),
                },
            )
            self._count(one.id, "original", one)
        models.recorder = self
        asks: dict[str, Ask[None]] = {
            f"{number:06d}": one for number, one in enumerate((*self._rated(), *self._compared()))
        }
        try:
            models.ask(asks)
        except GivenUp as error:
            if isinstance(error, TooManyFallbacks):
                self._append("ratings.jsonl", {"kind": "stopped", "why": str(error)})
            raise error.telling(
                f"what was judged before is kept in {self.out}; begin again with another --out"
            ) from None
        return self.out / "ratings.jsonl"

    def append_call(self, call: Fields) -> None:
        """Keep a call."""
        self._append("calls.jsonl", call)

    def _append(self, name: str, line: Mapping[str, Any]) -> None:
        append_line(self.out / name, line)

    def _rated(self) -> Iterator[Ask[None]]:
        plan = self.plan
        for scale in plan.scales:
            for one in plan.transcripts:
                for number in range(plan.rounds):
                    yield self._rate(scale, one.id, "original", one, number)
        for one in spread(plan.sound, plan.faulty):
            for planted in plant(one.lines):
                faulty, sound = (
                    replace(one, lines=lines) for lines in (planted.faulty, planted.sound)
                )
                self._count(one.id, f"faulty: {planted.fault}", faulty)
                if planted.sound != one.lines:
                    self._count(one.id, f"sound: {planted.fault}", sound)
                for scale in plan.scales:
                    yield self._rate(scale, one.id, f"faulty: {planted.fault}", faulty, 0)
                    if planted.sound != one.lines:
                        yield self._rate(scale, one.id, f"sound: {planted.fault}", sound, 0)

    def _rate(
        self, scale: Scale, transcript: str, variant: str, labelled: Labelled, number: int
    ) -> Ask[None]:
        material = Material(
            lines=labelled.lines, language=labelled.language, blinded=labelled.blinded
        )
        key = (self.plan.seed, transcript, variant, number)
        measured = yield from measure_seen(
            scale,
            transcript,
            material,
            variant,
            *key,
            samples=self.plan.samples,
            temperature=self.plan.temperature,
        )
        directions = {subscale.id: subscale.direction for subscale in scale.subscales} | {
            ratio.id: ratio.direction for ratio in scale.ratios
        }
        lower = [
            score.name
            for score in measured.scores
            if (directions.get(score.name) or scale.direction) == "lower_is_better"
        ]
        self._append(
            "ratings.jsonl",
            {
                "kind": "rated",
                "transcript": transcript,
                "variant": variant,
                "round": number,
                "instrument": scale.id,
                "scores": {score.name: score.value for score in measured.scores},
                "lower_is_better": lower,
                "items": {item.id: item.value for item in measured.items},
                "reasons": {item.id: item.reason for item in measured.items if item.reason},
                "absent": {item.id: item.absent for item in measured.items if item.absent},
            },
        )

    def _count(self, transcript: str, variant: str, labelled: Labelled) -> None:
        self._append(
            "ratings.jsonl",
            {
                "kind": "counted",
                "transcript": transcript,
                "variant": variant,
                "measures": {item.id: item.value for item in measure(labelled.lines)},
            },
        )

    def _compared(self) -> Iterator[Ask[None]]:
        for better, worse, names in pairs(self.plan):
            for better_first in (True, False):
                yield self._compare(better, worse, names, better_first)

    def _compare(
        self, better: Labelled, worse: Labelled, names: tuple[str, str], better_first: bool
    ) -> Ask[None]:
        first, second = (
            (_as_text(one)) for one in ((better, worse) if better_first else (worse, better))
        )
        system, prompt = render("judge_pair", better.language, first=first, second=second)
        reply = yield from ask(
            Question[Preference | None](
                verb="fill",
                purpose="judge_pair",
                who=names[0],
                tier="judge",
                language=better.language,
                system=system,
                prompt=prompt,
                schema=Preference,
                fallback=None,
                temperature=0.0,
                max_tokens=120,
                seed=seed_of(self.plan.seed, *names, better_first),
                facts=PairFacts(),
            )
        )
        self._append(
            "ratings.jsonl",
            {
                "kind": "compared",
                "better": names[0],
                "worse": names[1],
                "better_first": better_first,
                "chosen": reply.value.better if reply.value else None,
                "reason": reply.problem,
            },
        )


def _as_text(one: Labelled) -> str:
    return "\n".join(f"{speaker}: {text}" for speaker, text in one.lines)
