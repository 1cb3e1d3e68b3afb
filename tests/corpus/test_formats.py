"""Each format says what was said, to whom it should be learned, and can be read again."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simcounsel.corpus.dialogues import Dialogue, Draft, Turn, merge_turns
from simcounsel.corpus.formats import FORMATS
from simcounsel.corpus.markup import Line, marked, parsed, tags_of
from simcounsel.corpus.parquet import write_parquet
from simcounsel.corpus.reading import read_dialogues
from simcounsel.corpus.teaching import Teaching, read_system
from simcounsel.errors import CorpusError
from simcounsel.prompts import render
from tests.corpus.made import dialogue
from tests.corpus.stories import dialogues
from tests.each import each
from tests.prompts.test_golden import EXPORTED, compare

QUICK = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
CHATS = ("openai", "sharegpt", "alpaca", "trl")
TALK = dialogue(
    "t", "I can't sleep.", "open question | Since when?", "Since the move.", "And before?"
)


def rows(format: str, *listed: Dialogue, **teaching: object) -> list[dict[str, object]]:
    return [row for one in listed for row in FORMATS[format].rows(one, Teaching(**teaching))]


def reread(
    folder: Path, format: str, *listed: Dialogue, **teaching: object
) -> tuple[Dialogue, ...]:
    """Written as an export writes it, and read."""
    form = FORMATS[format]
    file = folder / f"rows.{form.suffix}"
    told = Teaching(**teaching)
    (folder / "card.json").write_text(
        json.dumps({"options": {"side": told.side}}), encoding="utf-8"
    )
    if format == "parquet":
        write_parquet(file, [(one, next(form.rows(one, told))["messages"]) for one in listed])
    else:
        file.write_bytes(
            "".join(form.line(row) for one in listed for row in form.rows(one, told)).encode()
        )
    return read_dialogues(file)


def said(one: Dialogue) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in one.turns]


def up_to_last(one: Dialogue, side: str) -> list[tuple[str, str]]:
    """What is said until the learner's last line."""
    told = said(one)
    while told and told[-1][0] != side:
        told.pop()
    return told


@each("prompt", EXPORTED)
def test_what_a_trainer_gets_to_read(prompt: str) -> None:
    slots = {
        "export_client": {"situation": "I can't sleep."},
        "export_opening": {"other": "client"},
    }
    compare(prompt, render(prompt, **slots.get(prompt, {}))[1] + "\n")


def test_our_system_prompt_says_what_it_is_and_names_help() -> None:
    text = Teaching().system_of(TALK)
    for word in (
        "trainee counselor",
        "simulation",
        "language model",
        "ask about it directly",
        "crisis line",
        "local emergency number",
    ):
        assert word in text


def test_openai() -> None:
    messages = rows("openai", TALK, system="S")[0]["messages"]
    assert messages == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "I can't sleep."},
        {"role": "assistant", "content": "Since when?", "weight": 1},
        {"role": "user", "content": "Since the move."},
        {"role": "assistant", "content": "And before?", "weight": 1},
    ]


def test_alpaca_has_one_row_with_what_went_before() -> None:
    assert rows("alpaca", TALK, system="S") == [
        {
            "instruction": "Since the move.",
            "input": "",
            "output": "And before?",
            "system": "S",
            "history": [["I can't sleep.", "Since when?"]],
        }
    ]


def test_trl_has_a_row_for_each_line_that_is_learned() -> None:
    one, two = rows("trl", TALK, system="S")
    assert one == {
        "prompt": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "I can't sleep."},
        ],
        "completion": [{"role": "assistant", "content": "Since when?"}],
    }
    assert [message["content"] for message in two["prompt"]] == [
        "S",
        "I can't sleep.",
        "Since when?",
        "Since the move.",
    ]


def test_where_the_learner_begins_a_stage_direction_stands_first() -> None:
    """Nobody is given words, the greeting is learned, and the user comes first."""
    greeted = dialogue("g", "Good morning.", "Hello.", "What brings you?", first="counselor")
    messages = rows("openai", greeted)[0]["messages"]
    assert [message["role"] for message in messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert messages[1]["content"] == "[The client is here and waits for you to begin.]"
    assert messages[2] == {"role": "assistant", "content": "Good morning.", "weight": 1}


def test_the_client_may_learn() -> None:
    messages = rows("openai", TALK.model_copy(update={"situation": "A baker, 40."}), side="client")[
        0
    ]["messages"]
    assert "A baker, 40." in messages[0]["content"]
    assert [message["content"] for message in messages[1:]] == [
        "[The counselor is here and waits for you to begin.]",
        "I can't sleep.",
        "Since when?",
        "Since the move.",
    ], "what the counselor says last teaches the client nothing"


def test_a_counselor_is_never_told_the_clients_file() -> None:
    known = TALK.model_copy(update={"situation": "The secret is a debt."})
    for format in ("openai", "sharegpt", "alpaca", "trl"):
        assert "debt" not in json.dumps(rows(format, known))


def test_a_fallback_is_not_learned() -> None:
    """It stays where it was said; openai gives it no weight, trl no row."""
    fallback = TALK.model_copy(
        update={"turns": (*TALK.turns[:3], TALK.turns[3].model_copy(update={"source": "fallback"}))}
    )
    assert [message.get("weight") for message in rows("openai", fallback)[0]["messages"]] == [
        None,
        None,
        1,
        None,
        0,
    ]
    assert len(rows("trl", fallback)) == 1
    only = TALK.model_copy(
        update={
            "turns": tuple(turn.model_copy(update={"source": "fallback"}) for turn in TALK.turns)
        }
    )
    assert rows("openai", only) == [] == rows("trl", only)


@pytest.mark.parametrize(
    "sources", [("generated", "fallback"), ("fallback", "generated"), (None, "fallback")]
)
def test_a_fallback_within_a_merged_turn_is_not_learned(sources: tuple[Any, Any]) -> None:
    replies = [
        Turn(speaker="counselor", text=f"Reply {number}.", source=source)
        for number, source in enumerate(sources)
    ]
    (merged,) = merge_turns(
        [Dialogue(id="a", client="c", turns=(Turn(speaker="client", text="Hi."), *replies))]
    ).dialogues
    assert (merged.turns[1].source, merged.turns[1].merged) == ("fallback", 2)
    assert rows("trl", merged) == []


def test_an_empty_turn_makes_no_row() -> None:
    empty = dialogue("e", "I can't sleep.", " ", "Hello?", "Yes.")
    assert all(rows(format, empty) == [] for format in CHATS)


def test_tags_and_reasoning_stand_before_the_learners_lines_only() -> None:
    turns = (
        Turn(speaker="client", text="No.", emotion="fear", reasoning="mine"),
        Turn(
            speaker="counselor",
            text="No?",
            emotion="trust",
            skill="reflection",
            reasoning="She stops.",
        ),
    )
    one = TALK.model_copy(update={"turns": turns})
    messages = rows("openai", one, reasoning=True, tags=tags_of("skill,emotion"))[0]["messages"]
    assert [message["content"] for message in messages[1:]] == [
        "No.",
        "<think>\nShe stops.\n</think>\n\n[skill: reflection] [emotion: trust] No?",
    ]


def test_reasoning_stands_in_what_is_learned_and_not_in_what_went_before() -> None:
    """As reasoning models see their own past."""
    turns = tuple(
        turn.model_copy(update={"reasoning": "hm", "skill": "goal"}) for turn in TALK.turns
    )
    row = rows("trl", TALK.model_copy(update={"turns": turns}), reasoning=True, tags=("skill",))[1]
    assert row["prompt"][2]["content"] == "[skill: goal] Since when?"
    assert row["completion"][0]["content"].startswith("<think>\nhm\n</think>\n\n[skill: goal] ")


def test_pairs_are_made_of_revised_lines() -> None:
    draft = Draft(text="Move back.", reason="advice")
    same = Draft(text="And before? ", reason="none")
    revised = TALK.model_copy(
        update={
            "turns": (
                TALK.turns[0],
                TALK.turns[1].model_copy(update={"draft": draft}),
                TALK.turns[2],
                TALK.turns[3].model_copy(update={"draft": same}),
            )
        }
    )
    assert rows("trl-preference", revised, system="S") == [
        {
            "prompt": [
                {"role": "system", "content": "S"},
                {"role": "user", "content": "I can't sleep."},
            ],
            "chosen": [{"role": "assistant", "content": "Since when?"}],
            "rejected": [{"role": "assistant", "content": "Move back."}],
        }
    ], "a draft that says the same is no pair"
    assert rows("sharegpt-preference", revised)[0]["rejected"] == {
        "from": "gpt",
        "value": "Move back.",
    }
    assert rows("trl-preference", revised, side="client") == []


def test_text_of_several_lines_stays_one_turn(tmp_path: Path) -> None:
    one = dialogue("x", "Well.\n\nClient: that is me.", "  Yes.\n")
    assert (
        rows("text", one)[0]["text"]
        == "Client: Well.\n  \n  Client: that is me.\nCounselor:   Yes.\n  "
    )
    assert said(reread(tmp_path, "text", one)[0]) == said(one)


@pytest.mark.slow
@QUICK
@given(one=dialogues(), side=st.sampled_from(["counselor", "client"]), reasoning=st.booleans())
def test_chats_are_read_again(tmp_path: Path, one: Dialogue, side: str, reasoning: bool) -> None:
    expected = up_to_last(one, side)
    asked = {"side": side, "reasoning": reasoning, "tags": ("emotion", "skill")}
    for format in CHATS:
        if not expected:
            assert rows(format, one, side=side) == [], format
            continue
        again = reread(tmp_path, format, one, **asked)
        assert [said(found) for found in again] == [expected], format
        for before, after in zip(one.turns, again[0].turns, strict=False):
            if before.speaker == side:
                assert (after.emotion, after.skill) == (before.emotion, before.skill), format
                assert after.reasoning == (before.reasoning if reasoning else None), format


@pytest.mark.slow
@QUICK
@given(one=dialogues())
def test_pairs_are_read_again(tmp_path: Path, one: Dialogue) -> None:
    expected = [
        (turn.text, turn.draft.text)
        for turn in one.turns
        if turn.speaker == "counselor"
        and turn.draft
        and turn.draft.text.strip() != turn.text.strip()
    ]
    for format in ("trl-preference", "sharegpt-preference") if expected else ():
        again = reread(tmp_path, format, one)
        assert [
            (turn.text, turn.draft.text) for found in again for turn in found.turns if turn.draft
        ] == expected, format


@pytest.mark.slow
@QUICK
@given(listed=st.lists(dialogues(alternate=False), min_size=1, max_size=3))
def test_nothing_is_lost(tmp_path: Path, listed: list[Dialogue]) -> None:
    """But where they come from, if that was not known: then it is the file."""
    for format, whole in ("native", tuple(listed)), ("parquet", merge_turns(listed).dialogues):
        again = reread(tmp_path, format, *whole)
        assert [
            one.model_copy(update={"origin": two.origin}) if two.origin is None else one
            for one, two in zip(again, whole, strict=True)
        ] == list(whole), format


@pytest.mark.slow(2)
@QUICK
@given(one=dialogues(alternate=False))
def test_transcripts_and_merging_change_no_word(tmp_path: Path, one: Dialogue) -> None:
    assert said(reread(tmp_path, "text", one)[0]) == said(one)
    merged = merge_turns([one])
    (after,) = merged.dialogues
    assert merged.turns == len(one.turns) - len(after.turns)
    assert all(
        first.speaker != second.speaker
        for first, second in zip(after.turns, after.turns[1:], strict=False)
    )
    for speaker in ("client", "counselor"):
        assert "\n".join(after.lines(speaker)) == "\n".join(one.lines(speaker))
    assert sum(turn.merged for turn in after.turns) == len(one.turns)


@given(text=st.text(max_size=40), reasoning=st.none() | st.just("hm\nwell"))
def test_markup_is_taken_off_as_it_was_put_on(text: str, reasoning: str | None) -> None:
    turn = Turn(
        speaker="counselor",
        text=text.encode("utf-8", "ignore").decode(),
        skill="goal",
        emotion="joy",
        reasoning=reasoning,
    )
    if text.startswith(("[", "<think>")):
        return
    line = parsed(marked(turn, reasoning=True, tags=("emotion", "skill")))
    assert line == Line(
        text=turn.text, reasoning=reasoning, tags=(("emotion", "joy"), ("skill", "goal"))
    )


def test_other_peoples_emotions_are_left_out() -> None:
    assert parsed("[emotion: weltschmerz] Yes.").turn("client").emotion is None


def test_tags_that_there_are_not() -> None:
    with pytest.raises(
        CorpusError, match="--tags mood: no such tag; there are emotion, skill, stage"
    ):
        tags_of("emotion,mood")


@pytest.mark.parametrize(
    ("text", "wrong"), [("", "empty"), ("You see $situation.", "would tell the counselor")]
)
def test_a_system_prompt_that_cannot_be(tmp_path: Path, text: str, wrong: str) -> None:
    file = tmp_path / "system.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=wrong):
        read_system(file, "counselor")
    with pytest.raises(CorpusError, match="cannot be read"):
        read_system(tmp_path / "none.txt", "counselor")


@pytest.mark.parametrize(("side", "first"), [("counselor", "counselor"), ("client", "client")])
def test_a_chinese_dialogue_is_taught_in_chinese(tmp_path: Path, side: str, first: Any) -> None:
    lines = ("今天从哪里说起？", "我睡不着，心里很乱。", "是从什么时候开始的？", "搬家以后。")
    one = dialogue("t", *lines, first=first, language="zh")
    (row,) = rows("openai", one, side=side)
    told = [message["content"] for message in row["messages"]]  # type: ignore[attr-defined]
    assert (
        "模拟" in told[0] and told[1].startswith("［") and not re.search("[A-Za-z]", "".join(told))
    )
    (again,) = reread(tmp_path, "openai", one, side=side)
    assert said(again)[0] == (first, lines[0])
    (other,) = rows("openai", one.model_copy(update={"language": "de"}), side=side)
    assert "simulat" in other["messages"][0]["content"]  # type: ignore[index]
