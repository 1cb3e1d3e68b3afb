"""The dialogues of a synthesis, as a corpus holds them."""

from collections.abc import Mapping

from simcounsel.corpus.dialogues import Dialogue, Draft, Origin, Turn, written
from simcounsel.errors import RunError
from simcounsel.events import Disclosed, Extracted, Said
from simcounsel.runs.conversation import Conversation, Line
from simcounsel.runs.history import History
from simcounsel.runs.run import SynthesisRun
from simcounsel.runs.sources import recordings

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


def dialogues_of(run: SynthesisRun) -> tuple[Dialogue, ...]:
    """One dialogue a session, in the order of the sessions; sessions of an unfinished wave are not
    among them.

    The client is the situation's: several sessions of one situation are of one client. What a fork
    took over from its parent is left out: it was written with the parent's settings and is to be
    had there.
    """
    first = run.manifest.parent.at_tick if run.manifest.parent else 0
    history = History.of(run)
    sessions = [one for one in history.conversations() if one.tick >= first]
    models = writers(run)
    return tuple(
        _dialogue(run, one, history.authors(one), models)
        for one in sorted(sessions, key=lambda session: session.id)
    )


def writers(run: SynthesisRun) -> dict[str, str]:
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


def _dialogue(
    run: SynthesisRun, session: Conversation, authors: Mapping[int, str], models: dict[str, str]
) -> Dialogue:
    opened = session.started
    situation = next(
        (
            one
            for one in run.synthesis.situations
            if isinstance(opened, Extracted) and one.id == opened.situation
        ),
        None,
    )
    if situation is None or not isinstance(opened, Extracted):
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
        condition=run.synthesis.condition,
        language=LANGUAGES.get(run.synthesis.language.casefold()),
        situation=situation.text,
        turns=tuple(_turn(line, authors[line.message]) for line in session.lines),
        undisclosed=tuple(fact.text for fact in opened.facts if fact.id not in disclosed),
        origin=Origin(file=run.name, chat=session.id, models=models),
    )


def _turn(line: Line, author: str) -> Turn:
    """A line as it was said, one of the counselor's with its draft if it was revised. What the
    supporter thought and meant to do belongs to the draft; of a revision neither is known.
    """
    event, revised = line.event, line.revised
    assert not isinstance(event, Said), "a session of a synthesis"
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
