"""A complete episode as a file of dialogues, one session a line, which `corpus check`, `corpus
rate` and `export` read.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from simcounsel.corpus.dialogues import Dialogue, Origin, Turn
from simcounsel.corpus.transcripts import situation_of
from simcounsel.disk import writing
from simcounsel.envs.episode import Episode
from simcounsel.envs.past_session import Session
from simcounsel.envs.setting import Setting
from simcounsel.errors import CorpusError
from simcounsel.events import Decided, Measured, Said
from simcounsel.intake import whole_characters
from simcounsel.specs.persona import ClientPersona

AGENT = "agent"
"""Stands in a dialogue's models for whoever played the counselor, of whom the environment knows
nothing.
"""
CONDITION = "environment"


def write_transcript(
    out: Path, episode: Episode, measured: Sequence[Mapping[str, Measured]]
) -> Path:
    """Write an episode into a new file under `out`, named after world, client and a number that is
    free; processes may share the folder. measured: by instrument, for each session. CorpusError
    when it cannot be written.
    """
    setting = episode.setting
    slug = re.sub(r"[^\w]+", "-", f"{setting.world.name} {setting.client.name}".lower()).strip("-")
    try:
        out.mkdir(parents=True, exist_ok=True)
        file = _fresh(out, slug)
        sessions = zip(episode.past, measured, strict=True)
        with writing(file) as put:
            for one, rated in sessions:
                put(_dialogue(setting, one, file.stem, rated).model_dump_json() + "\n")
    except OSError as error:
        raise CorpusError(
            f"{out}: cannot be written ({error.strerror}); choose another folder"
        ) from None
    return file


def _fresh(out: Path, slug: str) -> Path:
    """An empty file with the next number."""
    taken = [
        int(found.group(1))
        for file in out.glob(f"{slug}-*.jsonl")
        if (found := re.search(r"-(\d+)\Z", file.stem))
    ]
    number = max(taken, default=0)
    while True:
        number += 1
        file = out / f"{slug}-{number:06d}.jsonl"
        try:
            file.open("xb").close()
            return file
        except FileExistsError:
            continue


def _dialogue(
    setting: Setting, session: Session, stem: str, measured: Mapping[str, Measured]
) -> Dialogue:
    persona, world = setting.client.persona, setting.world
    assert isinstance(persona, ClientPersona)
    names = [*(one.name for one in world.residents), *(one.name for one in persona.people)]
    return Dialogue(
        id=f"{stem}/session-{session.number}",
        client=persona.name,
        turns=tuple(_turn(setting, *line) for line in session.lines),
        theme=persona.theme,
        language=world.language,
        situation=situation_of(persona),
        condition=CONDITION,
        origin=Origin(
            file=stem,
            chat=session.ended.chat,
            models=world.models.resolved() | {"counselor": AGENT},
        ),
        ratings={
            name: {score.name: score.value for score in one.scores}
            for name, one in measured.items()
        },
        names=tuple(dict.fromkeys(names)),
        places=tuple(place.name for _, place in world.every_place()),
    )


def _turn(setting: Setting, decided: Decided | None, said: Said) -> Turn:
    """A line. Of the agent's only the words are known."""
    text = whole_characters(said.text)
    if said.who != setting.client.name:
        return Turn(speaker="counselor", text=text)
    return Turn(
        speaker="client",
        text=text,
        stage=decided.move if decided else None,
        emotion=said.emotion,
        intensity=said.intensity,
        source=said.source,
    )
