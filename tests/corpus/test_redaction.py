"""After redaction nothing that was known identifies anybody, and nothing else has changed."""

import re

from hypothesis import given
from hypothesis import strategies as st

from simcounsel.corpus.dialogues import Dialogue, Draft, Origin, Turn
from simcounsel.corpus.redaction import corpus_lines, redact
from tests.corpus.talks import found, talk

NAMES = ("Marit Solheim", "Anna-Lena", "José", "Weiß", "小明", "O'Brien")
PLACES = ("Port Ellis", "青岛")
CONTACTS = (
    "anna@mail.example.org",
    "https://example.org/me",
    "+49 30 901820",
    "020 7946 0018",
    "13812345678",
    "078-05-1120",
    "12 Willow Park Road",
    "@sad_panda",
)
PLAIN = (
    "I slept badly",
    "my back hurts",
    "我很累",
    "at 7:30 p.m.",
    "it was 2019",
    "will you",
    "...",
    "rose bushes",
    "because of that",
    "don't",
    "[sic]",
    "🙂",
)
PIECES = st.sampled_from(
    [
        *NAMES,
        *(name.upper() for name in NAMES),
        *(name.lower() for name in NAMES),
        *PLACES,
        *CONTACTS,
        *PLAIN,
    ]
)
LINES = st.lists(st.lists(PIECES, min_size=1, max_size=6).map(", ".join), min_size=1, max_size=6)
LABEL = re.compile(r"\[(?:person|place|mail|url|phone|account|number|digits|address) \d+\]")


def dialogue_of(lines: list[str], **fields: object) -> Dialogue:
    turns = tuple(
        Turn(speaker="counselor" if number % 2 else "client", text=line, stage="feels")
        for number, line in enumerate(lines)
    )
    return Dialogue.model_validate(
        {
            "id": "d1",
            "client": "Marit Solheim",
            "turns": turns,
            "names": NAMES,
            "places": PLACES,
            "theme": "sleep",
        }
        | fields
    )


@given(LINES)
def test_nothing_is_found_afterwards(lines: list[str]) -> None:
    (after,) = redact([dialogue_of(lines)]).dialogues
    assert found("identifying", after.model_copy(update={"names": NAMES, "places": PLACES})) == ()
    assert redact([after]).dialogues == (after,), "redacting twice changes nothing more"


@given(LINES)
def test_all_else_is_unchanged(lines: list[str]) -> None:
    before = dialogue_of(lines)
    (after,) = redact([before]).dialogues
    assert (after.id, after.theme, after.client, after.names, after.places) == (
        "d1",
        "sleep",
        "client 1",
        (),
        (),
    )
    for old, new in zip(before.turns, after.turns, strict=True):
        assert new.model_copy(update={"text": old.text}) == old
        kept = [piece for piece in LABEL.split(new.text) if piece]
        at = 0
        for piece in kept:
            at = old.text.index(piece, at) + len(piece)
        assert all(plain in new.text for plain in PLAIN if f", {plain}," in f", {old.text},")


def test_one_name_has_one_number_in_all_its_spellings() -> None:
    lines = [
        "José rang, and JOSÉ's mother.",
        "Jose\u0301 again? And Anna-Lena?",
        "小明说青岛很好，小明走了。",
    ]
    assert redact([dialogue_of(lines)]).dialogues[0].lines() == [
        "[person 1] rang, and [person 1]'s mother.",
        "[person 1] again? And [person 2]?",
        "[person 3]说[place 1]很好，[person 3]走了。",
    ]


def test_a_name_that_a_phrase_introduces_is_hidden_everywhere() -> None:
    after = redact(
        [
            talk(
                "C: My sister Anna came. Then Anna left.",
                "T: And Bailey?",
                "C: Mr. Bailey rose, like a rose.",
                "T: Hm.",
            )
        ]
    ).dialogues[0]
    assert after.lines() == [
        "My sister [person 1] came. Then [person 1] left.",
        "And [person 2]?",
        "Mr. [person 2] rose, like a rose.",
        "Hm.",
    ]


def test_contacts_are_numbered_by_what_they_are() -> None:
    after = redact(
        [
            talk(
                "C: a@b.example.org or c@d.example.org, A@B.example.org.",
                "T: 020 7946 0018 or 02079460018?",
            )
        ]
    ).dialogues[0]
    assert after.lines() == ["[mail 1] or [mail 2], [mail 1].", "[phone 1] or [phone 1]?"]


def test_every_text_is_redacted() -> None:
    turn = Turn(
        speaker="counselor",
        text="Hello.",
        reasoning="Marit hides.",
        draft=Draft(text="Hello, Marit.", reason="Marit is shy"),
    )
    before = Dialogue(
        id="sleep-Marit-1",
        client="Marit",
        turns=(turn,),
        situation="I am Marit.",
        note="Marit leaves.",
        undisclosed=("Marit drinks",),
    )
    other = Dialogue(
        id="sleep-2", client="Marit", turns=(Turn(speaker="client", text="Marit here."),)
    )
    done = redact([before, other])
    assert "arit" not in corpus_lines(done.dialogues)
    assert [(one.id, one.client) for one in done.dialogues] == [
        ("dialogue 1", "client 1"),
        ("sleep-2", "client 1"),
    ]
    assert done.replaced == {"person": 1}, "what was said is counted, not the files"


def test_numbers_begin_anew_in_each_dialogue_and_clients_without_a_name_keep_their_id() -> None:
    done = redact([talk("C: My friend Zoe.", id="a"), talk("C: My friend Ann.", id="b")])
    assert [one.lines() for one in done.dialogues] == [
        ["My friend [person 1]."],
        ["My friend [person 1]."],
    ]
    assert {one.client for one in done.dialogues} == {"c1"}


def test_origins_hold_no_names() -> None:
    origin = Origin(file="insomnia-marit-solheim-s1", chat="3:Marit Solheim+Miriam", hash="ab")
    (kept,) = redact([dialogue_of(["Hm."], origin=origin)]).dialogues
    assert kept.origin == Origin(file="redacted", chat="redacted", hash="ab")
    plain = Origin(file="insomnia-s1", chat="3")
    assert redact([dialogue_of(["Hm."], origin=plain)]).dialogues[0].origin == plain


def test_a_client_is_renamed_alike_in_all_dialogues() -> None:
    first, second, taken = (
        talk("C: My name is Maria.", id="a", client="maria"),
        talk("C: I came back.", id="b", client="maria"),
        talk("C: Hm.", id="c", client="client 1"),
    )
    assert [dialogue.client for dialogue in redact([first, second, taken]).dialogues] == [
        "client 2",
        "client 2",
        "client 1",
    ]
