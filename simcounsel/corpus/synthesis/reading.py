"""The dialogues of a synthesis, as a corpus holds them."""

from collections import defaultdict

from simcounsel.corpus.dialogues import Dialogue, Draft, Origin, Turn
from simcounsel.engine.opening import recordings
from simcounsel.events import Disclosed, Drafted, Evaluated, Extracted, Revised, SessionEnded
from simcounsel.runs.run import Run

LANGUAGES = {
    "english": "en",
    "chinese": "zh",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "japanese": "ja",
}


def dialogues_of(run: Run, own: bool = True) -> tuple[Dialogue, ...]:
    """One dialogue a session, in the order of the sessions; sessions of an unfinished wave are not
    among them.

    The client is the situation's: several sessions of one situation are of one client. own: leave
    out what a fork took over from its parent, which was written with the parent's settings and is
    to be had there.
    """
    parts: defaultdict[str, list[object]] = defaultdict(list)
    first = run.manifest.parent.at_tick if own and run.manifest.parent else 0
    for entry in run.entries(until_tick=run.ticks_done()):
        if entry.tick < first:
            continue
        session = getattr(entry.event, "session", None)
        if session and isinstance(
            entry.event, Extracted | Disclosed | Drafted | Evaluated | Revised | SessionEnded
        ):
            parts[session].append(entry.event)
    models = writers(run)
    return tuple(
        _dialogue(run, session, events, models) for session, events in sorted(parts.items())
    )


def writers(run: Run) -> dict[str, str]:
    """Which model wrote, by role; a role that took no part is not named, and a recording is named
    by what it recorded.
    """
    there = next(recordings(run)).manifest.models
    found = {
        role: there.get(role, name) if name.startswith("recorded:") else name
        for role, name in run.manifest.models.items()
        if role != "embed" and role not in run.synthesis.without
    }
    if "evaluator" in run.synthesis.without:
        found = {role: name for role, name in found.items() if role not in ("corrector", "manager")}
    return found


def _dialogue(run: Run, session: str, events: list[object], models: dict[str, str]) -> Dialogue:
    opened = next(event for event in events if isinstance(event, Extracted))
    situation = next(one for one in run.synthesis.situations if one.id == opened.situation)
    told = {fact for event in events if isinstance(event, Disclosed) for fact in event.facts}
    return Dialogue(
        id=f"{run.name}/{session}",
        client=situation.unit,
        theme=opened.theme,
        condition=run.synthesis.condition,
        language=LANGUAGES.get(run.synthesis.language.casefold()),
        situation=situation.text,
        turns=_turns(events),
        undisclosed=tuple(fact.text for fact in opened.facts if fact.id not in told),
        origin=Origin(file=run.name, chat=session, models=models),
    )


def _turns(events: list[object]) -> tuple[Turn, ...]:
    """The lines as they were said, each of the counselor's with its draft if it was revised. What
    the supporter thought and meant to do belongs to the draft; of a revision neither is known.
    """
    turns: list[Turn] = []
    ratings: dict[str, float] = {}
    for event in events:
        match event:
            case Disclosed():
                turns.append(
                    Turn(speaker="client", text=event.text, stage=event.stage, source=event.source)
                )
            case Drafted():
                turns.append(
                    Turn(
                        speaker="counselor",
                        text=event.text,
                        stage=event.stage,
                        skill=event.skill,
                        reasoning=event.reasoning or None,
                        source=event.source,
                    )
                )
            case Evaluated():
                ratings = {
                    rating.quality: float(rating.value)
                    for rating in event.ratings
                    if rating.value is not None
                }
            case Revised():
                draft = Draft(text=event.before, reason=event.reason, ratings=ratings)
                before = turns[-1].draft or draft
                turns[-1] = turns[-1].model_copy(
                    update={
                        "text": event.text,
                        "source": event.source,
                        "draft": before.model_copy(update={"reason": event.reason}),
                        "skill": None,
                        "reasoning": None,
                    }
                )
    return tuple(turns)
