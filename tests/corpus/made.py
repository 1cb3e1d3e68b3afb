"""Small dialogues for tests."""

from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.specs.vocabulary import Role


def dialogue(id: str, *lines: str, first: Role = "client", **more: object) -> Dialogue:
    """A dialogue whose speakers alternate; a line may be 'skill or stage | text'."""
    other: Role = "counselor" if first == "client" else "client"
    turns = []
    for number, line in enumerate(lines):
        speaker = other if number % 2 else first
        label, _, text = line.rpartition(" | ")
        named = {} if not label else {"stage": label} if speaker == "client" else {"skill": label}
        turns.append(Turn(speaker=speaker, text=text, **named))
    return Dialogue.model_validate(
        {"id": id, "client": f"client-{id}", "turns": tuple(turns)} | more
    )
