"""Dialogues of a corpus, rated by a judge who sees the lines alone. The corpus stays as it is; what
was said is kept beside it (see `rated`).

A dialogue is asked about once for each round, judge and version of the instrument: what is answered
already is not paid for again, whether the rating was stopped, the sample made larger or the command
given twice. `again` begins a new round, a retest.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from simcounsel import __version__
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.judging import asked_in, material_of, scale_for
from simcounsel.corpus.rated import Rated, folder_of, rated_by, read_rated, text_hash
from simcounsel.corpus.sampling import Drawn, draw
from simcounsel.errors import CorpusError, GivenUp, TooManyFallbacks
from simcounsel.events import Measured
from simcounsel.instruments.collecting import of_a_retest
from simcounsel.instruments.measuring import measure_seen
from simcounsel.instruments.scale import Scale
from simcounsel.llm.fallbacks import FallbackShare
from simcounsel.llm.question import Ask
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.rating_lines import RatingLines
from simcounsel.specs.world_settings import FallbackLimits

INSTRUMENT = "dialogue_quality"
BUDGET_WAVE = 8
Fields = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a judge is to be asked of one corpus."""

    name: str
    """As the corpus was named."""
    scale: Scale
    judge: str
    drawn: Drawn
    """The sample."""
    todo: tuple[Dialogue, ...]
    """Those of it that this judge has not rated in this round."""
    round: int
    samples: int
    """Answers to average where the server tells no probabilities."""
    size: int | None
    seed: int
    folder: Path
    """Where it is kept."""


def plan_rating(
    corpus: Path,
    dialogues: Sequence[Dialogue],
    judge: str,
    *,
    instrument: str = INSTRUMENT,
    size: int | None = 50,
    seed: int = 0,
    samples: int = 1,
    again: bool = False,
    folder: Path | None = None,
) -> Plan:
    """Draw the sample and see what of it was rated before. CorpusError, SpecError say what does not
    fit.
    """
    scale = scale_for(instrument)
    _check(corpus, dialogues)
    folder = folder or folder_of(corpus)
    drawn = draw([one for one in dialogues if one.turns], size, seed)
    known = [
        one
        for one in read_rated(folder)
        if (one.instrument, one.hash, one.judge, one.samples)
        == (scale.id, scale.hash, judge, samples)
    ]
    number, todo = _round(drawn.dialogues, known, again)
    return Plan(
        name=str(corpus),
        scale=scale,
        judge=judge,
        drawn=drawn,
        todo=todo,
        round=number,
        samples=samples,
        size=size,
        seed=seed,
        folder=folder,
    )


def _check(corpus: Path, dialogues: Sequence[Dialogue]) -> None:
    if not any(one.turns for one in dialogues):
        raise CorpusError(f"{corpus}: no dialogue in it; name a corpus that holds some")
    twice = next(
        (id for id, times in Counter(one.id for one in dialogues).items() if times > 1), None
    )
    if twice is not None:
        raise CorpusError(
            f"{corpus}: two dialogues have the id {twice!r}, so their ratings could not be told"
            " apart; give each its own"
        )


def _round(
    dialogues: Sequence[Dialogue], known: Sequence[Rated], again: bool
) -> tuple[int, tuple[Dialogue, ...]]:
    """The first round that is not complete, or the last that is begun; a new one if asked for. And
    what is missing in it. What was asked in another language than today counts as missing.
    """
    done: dict[int, set[tuple[str, str, str]]] = {}
    for one in known:
        if one.answered:
            done.setdefault(one.round, set()).add((one.dialogue, one.text, one.language))
    wanted = {one.id: (one.id, text_hash(one), asked_in(one)) for one in dialogues}
    begun = sorted(number for number, pairs in done.items() if pairs & set(wanted.values()))
    number = next(
        (n for n in begun if not set(wanted.values()) <= done[n]), begun[-1] if begun else 0
    )
    if again and begun and set(wanted.values()) <= done[number]:
        number += 1
    return number, tuple(one for one in dialogues if wanted[one.id] not in done.get(number, set()))


class CorpusRating:
    """One rating of one corpus: asks, and writes each answer down as soon as it is complete, so
    what was rated before Ctrl-C stays.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._lines: RatingLines | None = None

    @property
    def file(self) -> Path | None:
        """Where it is kept; None before it is begun."""
        return self._lines.path if self._lines else None

    def measure(
        self,
        models: Switchboard,
        on_measured: Callable[[Measured], None] | None = None,
        *,
        wave: int | None = None,
        fallbacks: FallbackLimits | None = None,
    ) -> tuple[Measured, ...]:
        """Everything that is to do, in the corpus's order. wave: how many dialogues at a time;
        None: all at once, or 8 with a budget, so that what it reaches for is rated whole.

        CorpusError when nothing can be written; GivenUp when the judge does not answer, the budget
        does not reach, or more answers are unusable than `fallbacks` allows.
        """
        plan = self.plan
        if not plan.todo:
            return ()
        self._lines = RatingLines.fresh(plan.folder, plan.scale.id)
        self._append(self._head())
        models.recorder = self
        models.fallbacks = FallbackShare(fallbacks or FallbackLimits())
        size = wave or (len(plan.todo) if not models.budget.limited else BUDGET_WAVE)
        found: list[Measured] = []
        for start in range(0, len(plan.todo), size):
            asks = {
                f"{number:06d}": self._rate(one, on_measured)
                for number, one in enumerate(plan.todo[start : start + size])
            }
            try:
                found += [outcome.value for outcome in models.ask(asks).values()]
            except GivenUp as error:
                if isinstance(error, TooManyFallbacks):
                    now = f"{datetime.now():%Y-%m-%d %H:%M:%S}"
                    self._append({"kind": "stopped", "why": str(error), "at": now})
                raise error.telling(
                    f"what was rated before is kept in {self.file}; the same command goes on"
                ) from None
        with self._writing() as lines:
            lines.finish()
        return tuple(found)

    def append_call(self, call: Fields) -> None:
        """Keep a call with its prompt and reply."""
        self._append({"kind": "call"} | call)

    def _rate(
        self, dialogue: Dialogue, on_measured: Callable[[Measured], None] | None
    ) -> Ask[Measured]:
        plan = self.plan
        material = material_of(dialogue, plan.scale)
        key = (text_hash(dialogue), plan.round)
        measured = yield from measure_seen(
            plan.scale,
            dialogue.client,
            material,
            "dialogue",
            *key,
            samples=plan.samples,
            temperature=of_a_retest(plan.round),
        )
        named = {
            "dialogue": dialogue.id,
            "text": key[0],
            "round": plan.round,
            "theme": dialogue.theme,
            "condition": dialogue.condition,
            "language": material.language,
        }
        self._append(named | measured.model_dump(mode="json"))
        if on_measured:
            on_measured(measured)
        return measured

    def _head(self) -> Fields:
        plan = self.plan
        return {
            "kind": "rating",
            "corpus": plan.name,
            "instrument": plan.scale.id,
            "version": plan.scale.version,
            "hash": plan.scale.hash,
            "scale": plan.scale.model_dump(mode="json", exclude_defaults=True),
            "judge": plan.judge,
            "rated": rated_by(plan.scale.id, plan.judge),
            "samples": plan.samples,
            "round": plan.round,
            "sample": plan.size,
            "seed": plan.seed,
            "drawn": len(plan.drawn.dialogues),
            "targets": [one.id for one in plan.todo],
            "simcounsel": __version__,
            "created": f"{datetime.now():%Y-%m-%d %H:%M:%S}",
        }

    def _append(self, line: Fields) -> None:
        with self._writing() as lines:
            lines.append(line)

    @contextmanager
    def _writing(self) -> Iterator[RatingLines]:
        assert self._lines is not None
        file = self._lines.path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            yield self._lines
        except OSError as error:
            remedy = "free some space" if file.exists() else "name another folder with --out"
            raise CorpusError(f"{file}: cannot be written ({error.strerror}); {remedy}") from None


def result_lines(plan: Plan, rated: Sequence[Rated]) -> Iterator[str]:
    """Means over the sample in this round, by score, each with how many dialogues it rests on; no
    interval: `simcounsel study corpus` has them.
    """
    wanted = {(one.id, text_hash(one)) for one in plan.drawn.dialogues}
    known = (plan.scale.hash, plan.judge, plan.round, plan.samples)
    mine = [
        one
        for one in rated
        if (one.hash, one.judge, one.round, one.samples) == known
        and (one.dialogue, one.text) in wanted
    ]
    names = list(dict.fromkeys(name for one in mine for name in one.scores))
    width = max([18, *(len(name) + 2 for name in names)])
    for name in names:
        values = [value for one in mine if (value := one.scores.get(name)) is not None]
        mean = f"{sum(values) / len(values):5.2f}" if values else " none"
        missing = len(plan.drawn.dialogues) - len(values)
        yield f"{name:{width}}{mean}  n={len(values)}" + (f", {missing} missing" if missing else "")
    reasons = Counter(
        reason for one in mine for name, reason in one.reasons.items() if name in one.items
    )
    for reason, times in reasons.most_common(3):
        yield f"{'not answered':{width}}{times} items: {reason}"
