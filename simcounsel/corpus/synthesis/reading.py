"""The dialogues of a synthesis, as a corpus holds them."""

from collections.abc import Mapping

from simcounsel.corpus.dialogues import LANGUAGES, Dialogue, Draft, Origin, Turn, written
from simcounsel.corpus.synthesis.events import Disclosed
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.sessions import SessionLine, Sessions, WrittenSession
from simcounsel.errors import RunError
from simcounsel.runs.sources import recordings


def dialogues_of(run: SynthesisRecord) -> tuple[Dialogue, ...]:
    """One dialogue a session, in the order of the sessions; sessions of an unfinished wave are not
    among them.

    The client is the situation's: several sessions of one situation are of one client. What a fork
    took over from its parent is left out: it was written with the parent's settings and is to be
    had there.
    """
    first = run.manifest.parent.at_tick if run.manifest.parent else 0
    read, models = Sessions.of(run), writers(run)
    held = [one for one in read.all() if one.tick >= first]
    return tuple(
        _dialogue(run, one, read.authors(one), models)
        for one in sorted(held, key=lambda session: session.id)
    )


def writers(run: SynthesisRecord) -> dict[str, str]:
    """Which model wrote, by role; a role that took no part is not named, and a recording is named
    by what it recorded.
    """
    there = next(recordings(run)).manifest.models
    found = {
        role: there.get(role, name) if name.startswith("recorded:") else name
        for role, name in run.manifest.models.items()
        if role != "embed" and role not in run.settings.without
    }
    if "evaluator" in run.settings.without:
        found = {role: name for role, name in found.items() if role not in ("corrector", "manager")}
    return found


def _dialogue(
    run: SynthesisRecord,
    session: WrittenSession,
    authors: Mapping[int, str],
    models: dict[str, str],
) -> Dialogue:
    opened = session.started
    situation = next(
        (one for one in run.settings.situations if opened and one.id == opened.situation), None
    )
    if situation is None or opened is None:
        raise RunError(
            f"{run.folder}: session {session.id} has no beginning, or none of the manifest's"
            f" situations: its log is damaged; `simcounsel verify {run.folder}` says where"
        )
    disclosed = {
        fact
        for line in session.lines
        if isinstance(line.event, Disclosed)
        for fact in line.event.facts
    }
    return Dialogue(
        id=f"{run.name}/{session.id}",
        client=situation.unit,
        theme=opened.theme,
        condition=run.settings.condition,
        language=LANGUAGES.get(run.settings.language.casefold()),
        situation=situation.text,
        turns=tuple(_turn(line, authors[line.message]) for line in session.lines),
        undisclosed=tuple(fact.text for fact in opened.facts if fact.id not in disclosed),
        origin=Origin(file=run.name, chat=session.id, models=models),
    )


def _turn(line: SessionLine, author: str) -> Turn:
    """A line as it was said, one of the counselor's with its draft if it was revised. What the
    supporter thought and meant to do belongs to the draft; of a revision neither is known.
    """
    event, revised = line.event, line.revised
    if isinstance(event, Disclosed):
        how = written(event.source, author)
        return Turn(speaker="client", text=event.text, stage=event.stage, source=how)
    turn = Turn(
        speaker="counselor",
        text=event.text,
        stage=event.stage,
        skill=event.skill,
        reasoning=event.reasoning or None,
        source=written(event.source, author),
    )
    if revised is None:
        return turn
    ratings = line.judged.ratings if line.judged else ()
    draft = Draft(
        text=revised.before,
        reason=revised.reason,
        ratings={one.quality: float(one.value) for one in ratings if one.value is not None},
    )
    return turn.model_copy(
        update={
            "text": revised.text,
            "source": written(revised.source, author),
            "draft": draft,
            "skill": None,
            "reasoning": None,
        }
    )
