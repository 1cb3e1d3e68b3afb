"""What a run would ask: counted in earlier runs of the same world, or by rule."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simcounsel.errors import SimcounselError
from simcounsel.lab.rules import sends_texts
from simcounsel.lab.shares import BYTES_A_TOKEN, Forecast, Share, Shares
from simcounsel.llm.prices import Prices
from simcounsel.record_kinds import WORLD, About, RecordKind, records_in
from simcounsel.runs.calls import Call
from simcounsel.runs.record import Record, open_record

EARLIER_RUNS = 5
"""So many of the latest runs are counted."""


def forecast(about: About, ticks: int, runs: Path, kind: RecordKind = WORLD) -> Forecast:
    """For so many ticks. runs: the folder in which earlier ones are looked for. kind: of the
    record.
    """
    earlier = list(_earlier(about, runs, kind))
    if not earlier:
        ruled: Forecast = kind.part("by_rule")(about, ticks)
        return ruled
    counted = []
    for run, lived in earlier:
        factor = about.amount(ticks) / run.about.amount(min(lived, ticks))
        counted.append(_counted(run, about.model_names(), ticks, factor))
    names = ", ".join(run.name for run, _ in earlier)
    what = kind.noun if len(earlier) == 1 else kind.nouns
    short = min(lived for _, lived in earlier)
    scaled = f", of {short} ticks and more, in proportion" if short < ticks else ""
    return Forecast(
        low=_bound(counted, min, 0.8 if len(counted) == 1 else 1.0),
        high=_bound(counted, max, 1.25 if len(counted) == 1 else 1.0),
        basis=f"in {len(earlier)} earlier {what} of {about.name!r} in {runs}{scaled}: {names}",
    )


def _earlier(about: About, runs: Path, kind: RecordKind) -> Iterator[tuple[Record[Any], int]]:
    """The latest runs of the same name and condition that were begun from the beginning, with how
    many of their ticks are complete; those of the same models, if there are some.
    """
    found = []
    manifests = [kind.manifest_in(one) for one in records_in(runs) if kind.keeps(one)]
    for manifest in sorted(manifests, key=lambda one: -one.stat().st_mtime):
        try:
            run = open_record(manifest.parent)
            lived = run.ticks_done()
        except (SimcounselError, OSError):
            continue
        if run.manifest.parent is None and lived and _alike(run.about) == _alike(about):
            found.append((run, lived))
    names = about.model_names()
    alike = [one for one in found if one[0].about.model_names() == names]
    yield from (alike or found)[:EARLIER_RUNS]


def _alike(about: About) -> tuple[object, ...]:
    """Equal for two of which one tells what the other takes."""
    return about.name, about.condition, about.pace()


def _counted(run: Record[Any], own: Mapping[str, str], ticks: int, factor: float) -> Shares:
    """What a run took in its first ticks, so many times, since less may have been done in them.
    own: the models of what is forecast.
    """
    shares: dict[str, Share] = {}
    for fields in run.calls():
        call = Call.read(fields)
        if call is None or (call.tick or 0) >= ticks or fields.get("given_up"):
            continue
        role = call.tier or ("embed" if call.embeds else "reason")
        if role == "embed" and not sends_texts(own):
            continue
        role = f"{role}:{call.who}" if f"{role}:{call.who}" in own else role
        shares[role] = shares.get(role, Share()) + share_of(call, fields)
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
