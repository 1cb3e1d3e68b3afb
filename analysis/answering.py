"""Who answered the questions of a sample's runs, as recorded calls say: models that read their
prompts, or stand-ins.
"""

from collections import Counter

from analysis.page import counted, percent, plain
from analysis.sample import Sample, stand_in
from simcounsel.runs.log import Log

NOBODY = ""
"""In the place of a model: no answer could be used, and the question's fallback was taken."""


def answers_of(log: Log) -> "Counter[str]":
    """How many questions of a run each model answered, vectors left out. A replay's are those of
    the run that it replays. Of a parent's future a fork counts what its own log names.
    """
    found: Counter[str] = Counter()
    named: set[str] | None = None
    for call in (call for tick in range(log.ticks) for call in log.calls(tick)):
        if call.spare and named is None:
            named = {key for one in log.fields() for key in one.get("calls") or ()}
        if call.embeds or call.given_up or (call.spare and call.key not in (named or ())):
            continue
        found[NOBODY if call.source == "fallback" else call.model] += 1
    return found


def answered(sample: Sample) -> list[str]:
    """By arm, what share of the questions models answered that read their prompts; then who
    answered how many. In one paragraph.
    """
    by_arm = {
        arm: sum((answers_of(member.log) for member in sample.of(arm)), Counter())
        for arm in sample.arms
    }
    every = sum(by_arm.values(), Counter())
    if not every:
        return ["No recorded calls lie beside these runs, so who answered is not known."]
    parts = [f"{plain(arm)} {_share(of)} of {of.total():,}" for arm, of in by_arm.items() if of]
    arms = f": {', '.join(parts)}" if len(by_arm) > 1 else ""
    said = f"Models that read prompts answered {_share(every)} of"
    said += f" {counted(every.total(), 'question')}{arms}."
    for words, which in (("They are", False), ("Stand-ins answered the rest:", True)):
        models = sorted(m for m in every if m != NOBODY and bool(stand_in(m)) is which)
        if models:
            said += f" {words} {', '.join(f'{model} ({every[model]:,})' for model in models)}."
    return [said + (f" To {every[NOBODY]:,} no answer could be used." if every[NOBODY] else "")]


def _share(answers: "Counter[str]") -> str:
    read = sum(n for model, n in answers.items() if model != NOBODY and not stand_in(model))
    return percent(read / answers.total())
