"""A run as a log of Inspect (https://inspect.aisi.org.uk), for its viewer and its data frames: each
conversation is a sample, with its lines and its scores. The client is `user`; the counselor, or the
friend whom it talks with, is `assistant`.
"""

import importlib
import re
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.reading import read_dialogues
from simcounsel.errors import CorpusError
from simcounsel.runs.calls import Call
from simcounsel.runs.conversation import Conversation
from simcounsel.runs.history import History
from simcounsel.runs.manifest import label_of
from simcounsel.runs.record import Record
from simcounsel.runs.run import Run

OURS = "simcounsel"
WORLD_START = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
"""From which a record without a clock counts."""


def write_log(run: Record[Any], folder: Path, *, requests: bool = False) -> Path:
    """Write the log of a run into a folder; its file (RUN.eval). requests: as for `log_of`.
    CorpusError where there is nothing to write, or Inspect is not installed.
    """
    inspect = _inspect("log")
    made = log_of(run, requests=requests)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{re.sub(r'[^A-Za-z0-9._-]', '_', run.name)}.eval"
    inspect.write_eval_log(made, str(file), format="eval")
    return file


def log_of(run: Record[Any], *, requests: bool = False) -> Any:
    """The `inspect_ai.log.EvalLog` of a run. Its times are those of the simulated clock.

    requests: with what was asked of models by those who talked, in that tick, as events. Inspect's
    frame of messages then holds these in place of the lines that were said.
    """
    log = _inspect("log")
    dialogues = read_dialogues(run.folder, damaged=run.damaged)
    history = History.of(run)
    talks = {talk.id: talk for talk in (run.kind.part("talks") or _talks)(run)}
    start = _start_of(run)
    samples = [
        _sample(number, one, talks.get(_chat_of(one)), history, start, requests)
        for number, one in enumerate(dialogues, 1)
    ]
    created = datetime.fromisoformat(run.manifest.created).astimezone().isoformat()
    spec = log.EvalSpec(
        created=created,
        task=f"{OURS}/{run.about.name}",
        task_id=run.name,
        run_id=run.name,
        eval_id=run.name,
        task_version=0,
        model=_model_of(run),
        dataset=log.EvalDataset(
            name=run.about.name, samples=len(samples), sample_ids=[one.id for one in samples]
        ),
        config=log.EvalConfig(),
        packages={OURS: run.manifest.versions.get(OURS, "unknown")},
        metadata={
            "condition": run.about.condition,
            "seed": run.about.seed,
            "models": dict(run.manifest.models),
            "clock": "simulated; see each sample's tick and minute",
            "ticks": run.ticks_done(),
        }
        | ({"label": label} if (label := label_of(run.manifest.models.values())) else {})
        | run.damage_mark(),
    )
    stats = log.EvalStats(started_at=samples[0].started_at, completed_at=samples[-1].completed_at)
    whole = run.ticks_done() >= run.length
    return log.EvalLog(
        status="success" if whole else "cancelled",
        eval=spec,
        results=_results(log, samples),
        stats=stats,
        samples=samples,
    )


def _model_of(run: Record[Any]) -> str:
    """The one that is asked most; a record in which roles write has one for each."""
    named: dict[str, str] = run.manifest.models
    return named.get("reason") or next(name for role, name in named.items() if role != "embed")


def _inspect(part: str) -> Any:
    try:
        return importlib.import_module(f"inspect_ai.{part}")
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("inspect_ai"):
            raise CorpusError(
                "Inspect is not installed; pip install 'simcounsel[inspect]'"
            ) from None
        raise


def _chat_of(one: Dialogue) -> str:
    """The id of its conversation or session in the run."""
    return one.origin.chat if one.origin else ""


def _start_of(run: Record[Any]) -> datetime:
    """The midnight from which minutes count."""
    if not isinstance(run, Run):
        return WORLD_START
    return datetime.combine(run.world.start, time(), WORLD_START.tzinfo)


def _talks(run: Record[Any]) -> Iterator[Conversation]:
    return History.of(run).conversations()


def _sample(
    number: int,
    one: Dialogue,
    talk: Conversation | None,
    history: History,
    start: datetime,
    requests: bool,
) -> Any:
    log, scorer = _inspect("log"), _inspect("scorer")
    at = start + timedelta(minutes=talk.minute if talk else 0)
    calls = [call for who in talk.who for call in history.calls(talk.tick, who)] if talk else []
    told = list(_messages(one, talk))
    scores = {
        f"{instrument}.{name}": scorer.Score(value=value, metadata={"instrument": instrument})
        for instrument, scored in one.ratings.items()
        for name, value in scored.items()
        if value is not None
    }
    return log.EvalSample(
        uuid=f"{history.log.manifest['run']}/{_chat_of(one)}",
        id=f"{number:03d} {_chat_of(one)}",
        epoch=1,
        input=told[0].text,
        target="",
        messages=told,
        scores=scores,
        events=(
            [_event(call, at) for call in calls if call.messages]
            if requests
            else list(_said(told, at))
        ),
        metadata={
            "client": one.client,
            "theme": one.theme,
            "condition": one.condition,
            "who": list(talk.who) if talk else [],
            "tick": talk.tick if talk else None,
            "minute": talk.minute if talk else None,
            "stages": [turn.stage for turn in one.turns],
            "moves": [turn.skill for turn in one.turns],
        },
        started_at=at.isoformat(),
        completed_at=at.isoformat(),
        total_time=sum(call.latency_s or 0.0 for call in calls),
        working_time=sum(call.latency_s or 0.0 for call in calls),
        model_usage=_usage(calls),
    )


def _messages(one: Dialogue, talk: Conversation | None) -> Iterator[Any]:
    """The lines; who said each, what was felt and how it came about are beside it."""
    model = _inspect("model")
    names = [line.who for line in talk.lines] if talk else []
    for at, turn in enumerate(one.turns):
        told = {
            "who": names[at] if at < len(names) else turn.speaker,
            "role": turn.speaker,
            "emotion": turn.emotion,
            "intensity": turn.intensity,
            "source": turn.source,
            "reasoning": turn.reasoning,
        }
        kind = model.ChatMessageUser if turn.speaker == "client" else model.ChatMessageAssistant
        yield kind(
            id=f"{one.id}/{at + 1}",
            content=turn.text,
            metadata={key: value for key, value in told.items() if value is not None},
        )


def _said(told: list[Any], at: datetime) -> Iterator[Any]:
    """The conversation as events, since Inspect's frame of messages reads events alone: each line
    of the assistant's with what was said before it, and what the client said last.
    """
    event, model = _inspect("event"), _inspect("model")
    ends = [number for number, one in enumerate(told) if one.role == "assistant"]
    for end in ends if told[-1].role == "assistant" else [*ends, len(told)]:
        said = [model.ChatCompletionChoice(message=one) for one in told[end : end + 1]]
        yield event.ModelEvent(
            uuid=f"{told[0].id} {end}",
            timestamp=at,
            working_start=0.0,
            model="none",
            input=told[:end],
            tools=[],
            tool_choice="none",
            config=model.GenerateConfig(),
            output=model.ModelOutput(model="none", choices=said),
            metadata={"what": "a line as it was said; --requests shows what was asked of models"},
            completed=at,
        )


def _event(call: Call, at: datetime) -> Any:
    """A request to a model, with what was sent and what came."""
    event, model = _inspect("event"), _inspect("model")
    kinds = {
        "system": model.ChatMessageSystem,
        "user": model.ChatMessageUser,
        "assistant": model.ChatMessageAssistant,
    }
    asked = [
        kinds[one.role](id=f"{call.key}/{number}", content=one.content)
        for number, one in enumerate(call.messages)
        if one.role in kinds
    ]
    sent = call.parameters or {}
    config = {key: sent[key] for key in ("temperature", "max_tokens", "seed") if key in sent}
    output = model.ModelOutput(
        model=call.model,
        choices=[
            model.ChatCompletionChoice(
                message=model.ChatMessageAssistant(
                    id=f"{call.key}/reply", content=call.reply or ""
                ),
                stop_reason="stop",
            )
        ],
        usage=_tokens(call),
        time=call.latency_s,
        error=call.problem,
    )
    return event.ModelEvent(
        uuid=call.key[:22],
        timestamp=at,
        working_start=0.0,
        model=call.model,
        role=call.tier,
        input=asked,
        tools=[],
        tool_choice="none",
        config=model.GenerateConfig(**config),
        output=output,
        metadata={"who": call.who, "purpose": call.purpose, "source": call.source},
        working_time=call.latency_s,
        completed=at,
    )


def _tokens(call: Call) -> Any:
    tokens_in, tokens_out = call.tokens_in or 0, call.tokens_out or 0
    return _inspect("model").ModelUsage(
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        total_tokens=tokens_in + tokens_out,
        total_cost=call.cost_usd,
    )


def _usage(calls: list[Call]) -> dict[str, Any]:
    used: dict[str, Any] = {}
    for call in calls:
        used[call.model] = used[call.model] + _tokens(call) if call.model in used else _tokens(call)
    return used


def _results(log: Any, samples: list[Any]) -> Any:
    """The mean of each score over the conversations that have it."""
    found: dict[str, list[float]] = {}
    for sample in samples:
        for name, score in sample.scores.items():
            found.setdefault(name, []).append(float(score.value))
    return log.EvalResults(
        total_samples=len(samples),
        completed_samples=len(samples),
        scores=[
            log.EvalScore(
                name=name,
                scorer=name,
                scored_samples=len(values),
                metrics={"mean": log.EvalMetric(name="mean", value=fmean(values))},
            )
            for name, values in sorted(found.items())
        ],
    )
