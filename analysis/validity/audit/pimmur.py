"""What PIMMUR asks of a study of simulated people, as far as runs and prompts can tell.

Is the control minimal, do prompts name the outcome, does an agent guess what is studied, is the
talk what carries the effect? Whether people know more than they could is held by tests of ours
(`tests/prompts`), and no measure of a run.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from statsmodels.stats.proportion import proportion_confint

from analysis.page import counted, num
from analysis.patterns import Embed
from analysis.validity.audit.plan import AuditPlan
from analysis.validity.audit.verdicts import Becomes, ClaimAudit
from analysis.validity.part import Claim, ClaimVerdict
from simcounsel.instruments.scale import find_scale
from simcounsel.measuring.interview import Interview
from simcounsel.measuring.interview_files import interview_files, read_interview
from simcounsel.measuring.models import open_models
from simcounsel.packaged import packaged
from simcounsel.runs.run import Run
from simcounsel.specs.differences import differences

NOT_ASKED = re.compile(r"self_report|judge|risk|remember|interview")
"""Purposes of questions that are no part of people's lives: measures, and what hears danger."""
ALIKE = 0.8
"""Cosine from which on a sentence of a prompt says what an item of the outcome says."""
MOST_SENTENCES = 4000
"""Of more every so many are looked at, so that all runs count."""
QUESTION = (
    "One thing apart from your days: somebody may be studying how you live. What do you think they"
    " want to find out? Say it in one sentence."
)


@dataclass(frozen=True, kw_only=True)
class Guess:
    """What somebody thinks is studied."""

    run: str
    who: str
    said: str
    nearest: str
    """Of the true question and others, the one whose meaning is nearest."""
    right: bool


def minimal_control(made: AuditPlan) -> Claim:
    """Nothing differs between the two conditions but what the claim is about."""
    found = {
        one.id: differences(
            tuple(cell for cell in made.variants[0].cells if cell.arm in one.contrast)
        )
        for one in made.claims
    }
    more = {id: lines for id, lines in found.items() if len(lines) != 1}
    said = "; ".join(f"{id}: {' and '.join(lines[:3])}" for id, lines in (more or found).items())
    return Claim(
        statement="The control is minimal: the conditions differ in one thing",
        verdict="does not hold" if more else "holds",
        because=f"they differ in {said}",
    )


def named_outcome(made: AuditPlan, runs: Path, embed: Embed) -> tuple[Claim, list[dict[str, str]]]:
    """No prompt of people's lives says what is measured. With the sentences that do."""
    items = list(dict.fromkeys(text for one in made.claims for text in _items(one.instrument)))
    every = list(_sentences(made, runs))
    sentences = every[:: max(1, -(-len(every) // MOST_SENTENCES))]
    if not items or not sentences:
        why = "the instrument has no items" if not items else "nothing was asked"
        return Claim(statement=_UNNAMED, verdict="undecided", because=why), []
    own, theirs = embed(items), embed(sentences)
    near = np.asarray(theirs, dtype=float) @ np.asarray(own, dtype=float).T
    hits = [
        {"sentence": sentences[at], "item": items[int(near[at].argmax())]}
        for at in np.argsort(-near.max(axis=1))
        if near[at].max() >= ALIKE
    ]
    least = (
        f"{counted(len(sentences), 'sentence')} of prompts, the nearest {num(float(near.max()))}"
    )
    because = f"“{hits[0]['sentence']}” says “{hits[0]['item']}”; {least}" if hits else least
    words = made.variants[0].cells[0].world.model_names()["embed"] == "scripted"
    if words and not hits:
        because += "; hashed vectors see words, not meaning"
    verdict: ClaimVerdict = "does not hold" if hits else "undecided" if words else "holds"
    return Claim(statement=_UNNAMED, verdict=verdict, because=because), hits


_UNNAMED = "No prompt of people's lives names what is measured"


def _items(instrument: str) -> Iterator[str]:
    scale = find_scale(instrument)
    yield from (item.text for item in getattr(scale, "items", ()))


def _sentences(made: AuditPlan, runs: Path) -> Iterator[str]:
    """Of prompts that people's minds were sent in the experiment as it is, each once."""
    seen: set[str] = set()
    for cell in made.variants[0].cells:
        for call in Run.open(runs / cell.name).calls():
            if call.get("verb") == "embed" or NOT_ASKED.search(str(call.get("purpose"))):
                continue
            for message in call.get("messages") or ():
                if message["role"] == "assistant":
                    continue
                for one in re.split(r"(?<=[.!?。！？])\s*|\n", message["content"]):
                    text = one.strip()
                    if 15 < len(text) < 400 and text not in seen:
                        seen.add(text)
                        yield text


def guesses(made: AuditPlan, runs: Path, embed: Embed, most: int) -> Iterator[Guess]:
    """What clients of the first condition think is studied, asked once each in an interview; so
    many clients at most. The nearest in meaning of the claim and eight other questions.
    """
    claim = made.claims[0]
    true = claim.says or f"{claim.instrument}: {' against '.join(claim.contrast)}"
    others: list[str] = packaged("analysis.validity.audit", "questions.yaml")
    listed = [true, *others]
    meant = np.asarray(embed(listed), dtype=float)
    asked: set[str] = set()
    for cell in made.variants[0].cells:
        if cell.arm != claim.contrast[0] or cell.client in asked or len(asked) >= most:
            continue
        asked.add(cell.client)
        said = _asked(Run.open(runs / cell.name), cell.client)
        near = int((meant @ np.asarray(embed([said]), dtype=float)[0]).argmax())
        yield Guess(
            run=cell.name, who=cell.client, said=said, nearest=listed[near], right=near == 0
        )


def _asked(run: Run, who: str) -> str:
    """What somebody answers at the end of a run; what they answered before is used again."""
    for file in interview_files(run.folder):
        head, answers = read_interview(file)
        earlier = [one["answer"] for one in answers if one["question"] == QUESTION]
        if earlier and head.get("who") == who:
            return str(earlier[0])
    sitting = Interview.begin(run, who)
    models = open_models(run, sitting.head["model"])
    try:
        return str(sitting.ask(QUESTION, models)["answer"])
    finally:
        models.close()


def blind(found: Sequence[Guess]) -> Claim:
    """Nobody guesses what is studied more often than chance would."""
    statement = "Clients do not guess what is studied"
    if not found:
        return Claim(
            statement=statement, verdict="not measured", because="ask them with --ask CLIENTS"
        )
    right, of = sum(one.right for one in found), len(found)
    low, high = proportion_confint(right, of, method="wilson")
    chance = 1 / (1 + len(packaged("analysis.validity.audit", "questions.yaml")))
    return Claim(
        statement=statement,
        verdict="does not hold" if low > chance else "holds" if high < 2 * chance else "undecided",
        because=f"{right} of {of} [{num(low)}, {num(high)}] come nearest to it; chance is"
        f" {num(chance)}",
    )


_GONE: dict[Becomes, ClaimVerdict] = {
    "weakens": "holds",
    "turns": "does not hold",
    "holds": "does not hold",
    "cannot be told": "undecided",
}


def carried(audits: Iterable[ClaimAudit]) -> Iterator[Claim]:
    """The effect goes where what is to carry it is taken out: the interaction is real."""
    for audit in audits:
        for one in (each for each in audit.outcomes if each.ablation):
            now, base = one.effect.difference, audit.outcomes[0].effect.difference
            yield Claim(
                statement=f"{audit.hypothesis.id}: the effect goes with “{one.variant}”",
                verdict=_GONE[one.becomes],
                because=f"{num(now)} is left of {num(base)}",
            )
