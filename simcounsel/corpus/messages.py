"""The messages of a dialogue as other people's files have them: who speaks, under many names, and
what was said.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simcounsel.corpus.course_text import is_note_request, without_directions
from simcounsel.corpus.dialogues import Origin, Turn
from simcounsel.corpus.markup import is_opening, parsed
from simcounsel.errors import CorpusError
from simcounsel.specs.vocabulary import Role

Row = Mapping[str, Any]
LISTS = (
    "messages",
    "conversations",
    "conversation",
    "turns",
    "dialog",
    "dialogue",
    "lines",
    "dialogues",
    "content",
)
SPEAKERS: dict[str, Role | None] = {
    "client": "client",
    "patient": "client",
    "seeker": "client",
    "help-seeker": "client",
    "visitor": "client",
    "usr": "client",
    "来访者": "client",
    "求助者": "client",
    "counselor": "counselor",
    "counsellor": "counselor",
    "therapist": "counselor",
    "supporter": "counselor",
    "psychologist": "counselor",
    "sys": "counselor",
    "咨询师": "counselor",
    "心理咨询师": "counselor",
    "心理医生": "counselor",
    "求询者": "client",
    "支持者": "counselor",
    "layperson": "layperson",
    "friend": "layperson",
    "system": None,
    "developer": None,
}
OTHER, LEARNER = ("user", "human"), ("assistant", "gpt", "model", "bot", "chatgpt", "ai")
NAMED = ("role", "from", "speaker", "interlocutor")
"""Under which of these a message says who speaks; and under which of these what."""
SAID = ("content", "value", "text", "utterance")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a row stands."""

    file: str
    line: int
    """From 1."""
    number: int
    """Of the row in its file, from 1."""
    origin: Origin
    learner: Role = "counselor"
    """Whom `assistant` stands for."""

    def wrong(self, what: str) -> CorpusError:
        """An error that names the place."""
        return CorpusError(f"{self.file}:{self.line}: {what}")


def first(row: Row, *keys: str) -> Any:
    """What is under the first of these keys that holds something; None under none."""
    return next((row[key] for key in keys if row.get(key) not in (None, "")), None)


def text_in(row: Row, *keys: str) -> str | None:
    """The same, if it is a text."""
    found = first(row, *keys)
    return found if isinstance(found, str) and is_unicode(found) else None


def messages_in(place: Place, listed: Any, key: str) -> Iterator[Turn]:
    """The turns of a list of messages; key: what the list is called. CorpusError names the one that
    is wrong.
    """
    if isinstance(listed, str):
        raise place.wrong(
            f"{key}: plain text, of which nobody can tell who speaks; expected a list of messages"
            " with role and content"
        )
    if not isinstance(listed, list | tuple):
        raise place.wrong(f"{key}: expected a list of messages, found {type(listed).__name__}")
    begun = note_follows = False
    spread = ((number, said) for number, one in enumerate(listed, 1) for said in _lines(one))
    for number, said in spread:
        who = first(said, *NAMED)
        role = _role(place, who, f"{key} {number}")
        content = _content(place, said, f"{key} {number}")
        if note_follows or is_note_request(content):
            note_follows = not note_follows
            continue
        spoken = without_directions(content)
        directed = not spoken.strip() and spoken != content
        if role and not directed and (begun or not is_opening(content)):
            turn = parsed(spoken).turn(role)
            skill = None if role == "client" or turn.skill else _strategy(said)
            yield turn.model_copy(update={"skill": skill}) if skill else turn
        begun = begun or role is not None


def _lines(message: Any) -> Iterator[Row]:
    """A message; or one for each speaker by name, `{"User": ..., "AI": ...}`."""
    said = message if isinstance(message, Mapping) else {}
    spoken = () if any(key in said for key in NAMED) else _by_name(said)
    yield from (
        {"role": key, "content": said[key], "strategy": said.get(f"{key} Strategy")}
        for key in spoken
    )
    if not spoken:
        yield said


def _by_name(said: Row) -> tuple[str, ...]:
    """The keys of a message that are speakers, with a text each."""
    known = {*OTHER, *LEARNER, *SPEAKERS}
    return tuple(
        key for key, text in said.items() if str(key).lower() in known and isinstance(text, str)
    )


def are_messages(listed: Any) -> bool:
    """Whether a list is the messages of one dialogue, and not a list of dialogues."""
    return isinstance(listed, list) and bool(listed) and all(map(_is_message, listed))


def _is_message(one: Any) -> bool:
    if not isinstance(one, Mapping):
        return False
    if any(isinstance(one.get(key), list | tuple) for key in LISTS if key not in SAID):
        return False
    return any(key in one for key in SAID) if first(one, *NAMED) else bool(_by_name(one))


def _strategy(said: Row) -> str | None:
    """What a corpus says that a supporter's line does (ESConv, ExTES)."""
    noted = said.get("annotation")
    return text_in(said, "strategy") or (
        text_in(noted, "strategy") if isinstance(noted, Mapping) else None
    )


def _role(place: Place, who: Any, where: str) -> Role | None:
    """Who speaks; None for a system message."""
    word = str(who or "").strip().lower()
    if word in LEARNER:
        return place.learner
    if word in OTHER:
        return "counselor" if place.learner == "client" else "client"
    if word in SPEAKERS:
        return SPEAKERS[word]
    raise place.wrong(
        f"{where}: no speaker {who!r}; known are {', '.join((*OTHER, *LEARNER, *SPEAKERS))}"
    )


def _content(place: Place, said: Row, where: str) -> str:
    found = next((said[key] for key in SAID if said.get(key) is not None), None)
    if isinstance(found, list):
        found = "".join(str(part.get("text", "")) for part in found if isinstance(part, Mapping))
    if not isinstance(found, str):
        raise place.wrong(
            f"{where}: no text; expected `content`, `value` or `text` with what was said"
        )
    if not is_unicode(found):
        raise place.wrong(f"{where}: {found[:60]!r} holds half a character; save the file as UTF-8")
    return found


def is_unicode(text: str) -> bool:
    """Whether a text can be written: JSON may hold halves of characters (lone surrogates), which no
    file can.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
