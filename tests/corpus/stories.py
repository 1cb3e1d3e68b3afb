"""Dialogues by chance, for properties that must hold of all; and a corpus of a dozen for trainers."""

from pathlib import Path

from hypothesis import strategies as st

from simcounsel.corpus.dialogues import Dialogue, Draft, Origin, Turn
from simcounsel.corpus.export import Export, export
from simcounsel.corpus.split import Shares
from simcounsel.corpus.teaching import Teaching
from simcounsel.specs.vocabulary import EMOTIONS

WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=30).filter(
    lambda text: text.strip() != "" and "\r" not in text
)
NAMES = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)
SAID = WORDS.filter(lambda text: not text.lstrip().startswith(("<think>", "[")))
"""What does not look like markup; such a line could not be told from one of ours."""


@st.composite
def turns(draw: st.DrawFn, alternate: bool = True) -> tuple[Turn, ...]:
    """Turns of both, of any kind; strictly by turns if `alternate`."""
    count = draw(st.integers(2, 9))
    first = draw(st.sampled_from(["client", "counselor"]))
    other = "counselor" if first == "client" else "client"
    speakers = [first if number % 2 == 0 else other for number in range(count)]
    if not alternate:
        speakers = draw(
            st.lists(st.sampled_from(["client", "counselor"]), min_size=count, max_size=count)
        )
    return tuple(draw(_turn(speaker)) for speaker in speakers)


def _turn(speaker: str) -> st.SearchStrategy[Turn]:
    draft = st.builds(
        Draft,
        text=SAID,
        reason=st.text(st.characters(exclude_categories=("Cs",)), max_size=9),
        ratings=st.dictionaries(NAMES, st.floats(1, 10), max_size=2),
    )
    return st.builds(
        Turn,
        speaker=st.just(speaker),
        text=SAID,
        stage=st.none() | NAMES,
        skill=st.none() | NAMES,
        reasoning=st.none() | WORDS.map(str.strip),
        emotion=st.none() | st.sampled_from(EMOTIONS),
        intensity=st.none() | st.integers(1, 10),
        portable=st.booleans(),
        answers=st.none() | NAMES,
        source=st.none() | st.sampled_from(["generated", "chosen", "human"]),
        draft=st.none() | draft,
    )


@st.composite
def dialogues(draw: st.DrawFn, alternate: bool = True) -> Dialogue:
    """A dialogue of which anything may be known."""
    some = st.none() | NAMES
    return Dialogue(
        id=draw(NAMES),
        client=draw(NAMES),
        turns=draw(turns(alternate)),
        theme=draw(some),
        language=draw(some),
        situation=draw(some | WORDS),
        condition=draw(some),
        licence=draw(some),
        note=draw(some),
        names=tuple(draw(st.lists(NAMES, max_size=2))),
        undisclosed=tuple(draw(st.lists(WORDS, max_size=2))),
        ratings=draw(
            st.dictionaries(
                NAMES,
                st.dictionaries(NAMES, st.none() | st.floats(0, 7), min_size=1, max_size=2),
                max_size=2,
            )
        ),
        origin=draw(
            st.none()
            | st.builds(
                Origin, file=NAMES, hash=NAMES, models=st.dictionaries(NAMES, NAMES, max_size=2)
            )
        ),
    )


LINES = (
    "I sleep four hours since {n} weeks.",
    "What happened {n} weeks ago?",
    "My shift changed, and the nights got loud at number {n}.",
    "Loud in the street, or in you?",
    "Both, I suppose. Mostly {n} thoughts at once.",
    "Which of them comes first?",
)


def story(number: int) -> Dialogue:
    """A short talk, unlike the others in its numbers only; its fourth line was revised, its second is a fallback in every fifth."""
    said = [
        line.format(n=f"{number} {'abcdefghijklmnopqrstuvwxyz'[number % 26] * 3}") for line in LINES
    ]
    if number % 3 == 0:
        said.insert(0, f"Good morning. Room {number} was free for once.")
    first = "counselor" if number % 3 == 0 else "client"
    other = "client" if first == "counselor" else "counselor"
    made = []
    for at, text in enumerate(said):
        speaker = first if at % 2 == 0 else other
        known = (
            {
                "skill": "open question",
                "reasoning": f"She waits; I ask about {text.split()[0]}.",
                "emotion": "trust",
            }
            if speaker == "counselor"
            else {"stage": "describes", "emotion": "fear"}
        )
        draft = (
            Draft(
                text="You should simply sleep more.",
                reason="advice too early",
                ratings={"listening": 2},
            )
            if text.startswith("Loud")
            else None
        )
        source = "fallback" if number % 5 == 0 and text.startswith("What happened") else "generated"
        made.append(Turn(speaker=speaker, text=text, draft=draft, source=source, **known))
    return Dialogue(
        id=f"story-{number}",
        client=f"client {number // 2}",
        turns=tuple(made),
        theme="sleep",
        condition="client_counselor",
        situation=f"A nurse, {30 + number}, nights.",
    )


def write_native(file: Path, *listed: Dialogue) -> Path:
    """A corpus file."""
    file.write_text("".join(one.model_dump_json() + "\n" for one in listed), encoding="utf-8")
    return file


def exported(
    folder: Path,
    format: str,
    *,
    shares: str = "100,0,0",
    count: int = 12,
    licence: str | None = None,
    **teaching: object,
) -> Path:
    """A dozen stories as training data of a format; the folder."""
    corpus = write_native(
        folder / "corpus.jsonl", *(story(number) for number in range(1, count + 1))
    )
    wanted = Export(
        format=format,
        teaching=Teaching(**teaching),
        shares=Shares.parse(shares),
        checked=False,
        licence=licence,
    )
    export([corpus], folder / "out", wanted)
    return folder / "out"
