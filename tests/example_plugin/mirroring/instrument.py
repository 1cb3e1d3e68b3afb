"""What is counted in a conversation, and a scale in a file of the package's own."""

from collections.abc import Sequence

from simcounsel import Counted, ItemAnswer, ScaleFile


def _measure(lines: Sequence[tuple[str, str]]) -> tuple[ItemAnswer, ...]:
    heard: set[str] = set()
    said = mirrored = 0
    for speaker, text in lines:
        words = [word.strip(".,;:?!“”").lower() for word in text.split()]
        if speaker == "Client":
            heard.update(words)
        else:
            said += len(words)
            mirrored += sum(word in heard for word in words)
    if not said:
        return (ItemAnswer(id="share", value=None, reason="the counselor said nothing"),)
    return (ItemAnswer(id="share", value=round(mirrored / said, 4)),)


WORDS_MIRRORED = Counted(id="words_mirrored", version="1", scores=("share",), measure=_measure)
BEING_HEARD = ScaleFile(package="mirroring", file="being_heard.yaml")
