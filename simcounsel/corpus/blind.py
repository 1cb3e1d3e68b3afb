"""A dialogue without what would tell a rater, human or model, where it comes from."""

import re
from collections.abc import Iterable, Iterator

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.intake import whole_characters
from simcounsel.texts.blinding import Blinding
from simcounsel.texts.chinese_names import is_chinese_name

_NAME = re.compile(r"[^\W\d_]+(?:[ '’.-]+[^\W\d_]+)*")
_ROLES = frozenset(
    (
        "client",
        "patient",
        "seeker",
        "user",
        "counselor",
        "counsellor",
        "supporter",
        "therapist",
        "assistant",
        "来访者",
        "求助者",
        "咨询师",
        "支持者",
    )
)


def blinding_of(dialogue: Dialogue, client: str, mask: Iterable[str] = ()) -> Blinding:
    """Takes the names and places that the dialogue knows of out of its texts, and the words that
    name its condition and models.

    client: the label that stands for the client. A name that nobody noted in the dialogue stays:
    `corpus check` finds some of these.
    """
    speakers = {dialogue.client: f"[{client.lower()}]"} if _is_named(dialogue) else {}
    return Blinding(
        speakers, others=dialogue.names, places=dialogue.places, words=(*mask, *_telling(dialogue))
    )


def hides_names(dialogue: Dialogue) -> bool:
    """Whether any name or place is known of the dialogue, so that it can be said to be out."""
    return _is_named(dialogue) or any(dialogue.names) or any(dialogue.places)


def blind_lines(
    dialogue: Dialogue, client: str, counselor: str, mask: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """The lines as (label, text). Whoever listens is called counselor, a layperson as well."""
    blinding = blinding_of(dialogue, client, mask)
    return tuple(
        (client if turn.speaker == "client" else counselor, _whole(blinding.text(turn.text)))
        for turn in dialogue.turns
    )


def _is_named(dialogue: Dialogue) -> bool:
    """Whether the client's id is a name and might be spoken; an id such as `sleep-01` is not, nor
    is one that says what the dialogue is about.
    """
    client = dialogue.client
    if client.lower() in _ROLES:
        return False
    if is_chinese_name(client):
        return client != dialogue.theme
    return bool(_NAME.fullmatch(client)) and client[:1] != client[:1].lower()


def _telling(dialogue: Dialogue) -> Iterator[str]:
    """Names of conditions and models that no ordinary talk holds: of more than three characters,
    with a digit or a sign in them.
    """
    models = list(dialogue.origin.models.values()) if dialogue.origin else []
    for word in [
        dialogue.condition or "",
        *models,
        *(part for model in models for part in re.split(r"[/:+]", model)),
    ]:
        if (
            len(word) > 3
            and re.search(r"[^\W\d_]", word)
            and re.search(r"\w[\W_\d]", word)
            and re.match(r"\w", word)
        ):
            yield word


def _whole(text: str) -> str:
    """On one line, without half characters, which no file could hold."""
    return " ".join(whole_characters(text).split())
