"""Syntheses for tests of the viewer: written by the scripted model, or made by hand event by event."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from simcounsel.corpus.synthesis.events import (
    QUALITIES,
    Disclosed,
    Drafted,
    Evaluated,
    Extracted,
    Fact,
    QualityRating,
    Revised,
    SessionEnded,
    SynthesisEvent,
)
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.settings_file import settings_from
from simcounsel.corpus.synthesis.workshop import Workshop
from simcounsel.events import Entry
from tests.stage import seal

MANIFEST: dict[str, Any] = {
    "synthesis": {
        "name": "by hand",
        "seed": 1,
        "sessions": 4,
        "wave": 2,
        "situations": [{"id": "a-1", "text": "I cannot sleep.", "theme": "sleep"}],
    },
    "models": {"extractor": "scripted"},
}
ADVICE = "Give it back first."


def written(out: Path, waves: int | None = None, **changes: Any) -> SynthesisRecord:
    """Six sessions in waves of two, or as `changes` say; only the first `waves` of them."""
    settings = settings_from([], {"sessions": 6, "wave": 2} | changes, model="scripted")
    return Workshop(settings, out=out).run(waves)


def go_on(run: SynthesisRecord, waves: int | None = None) -> SynthesisRecord:
    """Write on."""
    return Workshop(SynthesisRecord.open(run.folder)).run(waves)


def lines(*events: tuple[int, SynthesisEvent]) -> list[dict[str, Any]]:
    """Events, each with its wave, as the log holds them."""
    return [
        json.loads(Entry(seq, wave, 0, event).line()) for seq, (wave, event) in enumerate(events)
    ]


def talk(
    session: str, *, theme: str = "sleep", revised: int = 1, of: int = 2, wave: int = 0
) -> list[tuple[int, SynthesisEvent]]:
    """A session by hand: in each pair of lines one fact is told; the first `revised` of `of` drafts are revised, the next is only criticized
    (-1: not even that)."""
    facts = tuple(
        Fact(id=f"F{n}", of="plight", stage="describes", text=f"fact {n}", invented=n == 2)
        for n in range(1, of + 2)
    )
    events: list[SynthesisEvent] = [
        Extracted(
            session=session,
            situation="a-1",
            theme=theme,
            facts=facts,
            strategies=("K001",),
            source="generated",
        )
    ]
    for pair in range(of):
        message = 2 * pair + 1
        events.append(
            Disclosed(
                session=session,
                message=message,
                text=f"It is fact {pair + 1}.",
                stage="describes",
                facts=(f"F{pair + 1}",),
                source="generated",
            )
        )
        events += answer(session, message + 1, revised=pair < revised, criticized=pair <= revised)
    return [
        (wave, event)
        for event in [
            *events,
            SessionEnded(session=session, cause="limit", messages=2 * of, revised=max(0, revised)),
        ]
    ]


def answer(
    session: str, message: int, *, revised: bool, criticized: bool
) -> Iterable[SynthesisEvent]:
    """A draft, its judgment (listening 2, all else 8) and, if it is revised, its revision."""
    draft = f"Why did that happen, number {message}?"
    yield Drafted(
        session=session,
        message=message,
        text=draft,
        stage="exploring",
        skill="open_question",
        reasoning="",
        strategies=(),
        source="generated",
    )
    ratings = tuple(
        QualityRating(quality=quality, value=2 if quality == "listening" else 8)
        for quality in QUALITIES
    )
    yield Evaluated(
        session=session,
        message=message,
        ratings=ratings,
        revise=criticized,
        advice=ADVICE if criticized else "",
        go_on=True,
        source="generated",
    )
    if revised:
        yield Revised(
            session=session,
            message=message,
            text=f"You say so. What happened, number {message}?",
            before=draft,
            reason=ADVICE,
            source="generated",
        )


def stored(
    folder: Path, entries: Iterable[dict[str, Any]], manifest: dict[str, Any] | None = None
) -> Path:
    """A run's folder with these entries, numbered again, each wave closed; without a manifest if it
    is {}.
    """
    folder.mkdir(parents=True)
    number, wave, text = 0, None, []
    for entry in [*entries, None]:
        if wave is not None and (entry is None or entry["tick"] != wave):
            text.append({"seq": number, "tick": wave, "minute": 0, "kind": "tick_ended"})
            number += 1
        if entry is not None:
            text.append(entry | {"seq": number})
            wave, number = entry["tick"], number + 1
    (folder / "events.jsonl").write_text(
        "".join(
            json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in text
        ),
        encoding="utf-8",
    )
    (folder / "calls.jsonl").write_text("", encoding="utf-8")
    told = (
        {"schema_version": _version(), "run": folder.name} | MANIFEST
        if manifest is None
        else manifest
    )
    if told:
        name = "manifest.json" if "world" in told else "synthesis.json"
        (folder / name).write_text(json.dumps(told), encoding="utf-8")
    seal(folder)
    return folder


def _version() -> int:
    from simcounsel.events import SCHEMA_VERSION

    return SCHEMA_VERSION
