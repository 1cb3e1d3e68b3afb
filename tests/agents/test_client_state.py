"""A client's state: moved by the other's words and by experience, by bounded steps, never drawn."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simcounsel.agents import reflection, speech
from simcounsel.agents.client_state import belief_steps, openness, parts, shifted, strengths
from simcounsel.agents.relations import take_away
from simcounsel.agents.talk import Decision
from simcounsel.agents.tasks import (
    BeliefStepAnswer,
    ClientInsightsAnswer,
    ClientLineAnswer,
    InsightAnswer,
    LineAnswer,
    PortraitAnswer,
    QuestionsAnswer,
    SessionSummaryAnswer,
    SummaryAnswer,
)
from simcounsel.events import BeliefMoved, ClientShifted, Entry, HomeworkAgreed
from simcounsel.llm.driving import play
from simcounsel.llm.question import Question, Reply
from simcounsel.llm.schemas import schema_of
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from simcounsel.specs.world_settings import Openness
from tests.each import each
from tests.stage import (
    Alone,
    changed,
    happened,
    live,
    memory,
    noting,
    said,
    scene,
    switchboard,
    tiny,
    vectors,
    view,
)

HEARD = said("Miriam", "You check the sheet again and again so that nobody can be hurt by it.")
QUOTE = "so that nobody can be hurt"
TELLS = Decision(move="telling", options=("telling",), reason="because", aim="")
NOTHING: dict[str, Any] = {"calls": (), "fallback": False}


def answer(**more: Any) -> ClientLineAnswer:
    fields = {"say": "Hm.", "emotion": "fear", "intensity": 4, "poignancy": 3}
    return ClientLineAnswer(**fields | more)


def shift(seen: Any = None, **more: Any) -> ClientShifted:
    seen = seen or view(HEARD, closeness=3.0)
    return shifted(Alone().resident.persona, seen, answer(**more), NOTHING)


@each(("closeness", "start"), [(0, 1.0), (2, 2.4), (6, 5.2), (10, 8.0)])
def test_openness_begins_with_closeness(closeness: float, start: float) -> None:
    assert openness(view(closeness=closeness)) == start


@each(("claimed", "after"), [(4.0, 4.0), (9.0, 4.1), (0.0, 1.1), (3.1, 3.1)])
def test_a_line_moves_it_up_by_one_and_down_by_two_at_most(claimed: float, after: float) -> None:
    found = shift(quote=QUOTE, touched="D1", openness=claimed)
    assert (found.before, found.openness, found.claimed) == (3.1, after, claimed)
    assert found.quote == QUOTE
    assert (found.touched, found.about) == ("D1", parts(Alone().resident.persona)["D1"])


@each("quote", ["", "hurt me", "words that nobody said", "so"])
def test_without_words_of_the_other_s_last_line_it_stays(quote: str) -> None:
    found = shift(quote=quote, touched="D1", openness=9, held_back=" the calls ")
    assert (found.openness, found.claimed) == (3.1, 9)
    assert (found.quote, found.touched, found.about) == (None, None, None)
    assert found.held_back == "the calls"


def test_what_moved_it_once_does_not_move_it_from_further_back() -> None:
    seen = view(HEARD, said("Ines", "Yes."), said("Miriam", "And the nights?"), closeness=3.0)
    assert shift(seen, quote=QUOTE, openness=5).openness == 3.1


def test_an_unknown_part_is_none() -> None:
    assert shift(quote=QUOTE, touched="Z9", openness=4).touched is None


def test_a_world_says_how_a_client_opens_up() -> None:
    opens = Openness(start=4, per_closeness=0, up=0.5, down=3, fades=0.1)
    earlier = ClientShifted(
        who="Ines",
        chat="c",
        message=1,
        before=4,
        openness=6,
        claimed=6,
        quote=None,
        calls=(),
        fallback=False,
    )
    fresh = replace(view(HEARD, closeness=9.0), opens=opens)
    later = replace(view(HEARD, closeness=9.0, own=(earlier,)), opens=opens)
    assert openness(fresh) == 4
    assert shift(fresh, quote=QUOTE, openness=9).openness == 4.5
    assert shift(fresh, quote=QUOTE, openness=0).openness == 1
    assert shift(later, openness=9).openness == 5.8  # 6 less a tenth of the 2 above where it began
    assert shift(later, quote=QUOTE, openness=9).openness == 6.3


def test_it_goes_on_from_where_it_was() -> None:
    first = shift(quote=QUOTE, openness=4)
    seen = view(HEARD, closeness=9.0, own=(first,))
    later = view(HEARD, closeness=0.0, kept=(Entry(0, 0, 0, first),))
    assert openness(seen) == openness(later) == 4.0
    other = first.model_copy(update={"who": "Ben"})
    assert openness(view(HEARD, closeness=3.0, own=(other,))) == 3.1


def test_parts_and_strengths_of_a_file() -> None:
    persona = Alone().resident.persona
    assert list(parts(persona))[:4] == ["C1", "C2", "C3", "R1"]
    assert parts(persona)["D1"] == persona.coping_strategies[0]  # type: ignore[union-attr]
    assert set(strengths(persona)) == {name for name in parts(persona) if name[0] != "D"}
    assert parts(Alone("Miriam").resident.persona) == {}


def test_what_is_private_is_asked_for_before_the_line() -> None:
    schema = schema_of(ClientLineAnswer)
    names = list(schema["properties"])
    assert names.index("quote") < names.index("openness") < names.index("held_back")
    assert names[-2:] == ["say", "wish"]
    assert schema["required"] == names


def asked(mode: str, *lines: Any) -> Question[Any]:
    ines, seen = Alone(), list[Question[Any]]()
    ines.have_version()
    ines.resident.client_state = mode  # type: ignore[assignment]
    reply = (
        answer()
        if mode == "moves"
        else LineAnswer(**answer().model_dump(include={*LineAnswer.model_fields}))
    )
    play(
        noting(speech.speak(ines.resident, scene(), view(*lines), TELLS), seen),
        vectors([1, 0]),
        reply,
    )
    return seen[-1]


def test_the_prompt_says_one_thing_about_where_it_stands() -> None:
    moves, still, off = (asked(mode, HEARD) for mode in ("moves", "still", "off"))
    for question in (moves, still):
        assert "How open Ines has been with Miriam so far: 2.4 of 10" in question.prompt
    assert "C1 75" in moves.prompt and "C1: " in moves.system
    for question in (still, off):
        assert not re.search(r"\b[CRD]\d", question.system + question.prompt)
    assert "which words of the other's last line touched" in moves.system
    assert "which words" not in still.system + off.system
    assert "How open" not in off.prompt
    assert (moves.schema, still.schema, off.schema) == (ClientLineAnswer, LineAnswer, LineAnswer)
    assert "has said nothing yet" in asked("moves").prompt


def test_beliefs_move_only_by_what_was_lived() -> None:
    ines = Alone()
    told = tuple(
        memory(n, text, origin=origin, poignancy=5).model_copy(update={"id": f"Ines:{n}"})
        for n, (text, origin) in enumerate(
            [("before", "initial"), ("a talk", "talk"), ("a plan", "plan"), ("more", "talk")]
        )
    )

    def moved(*steps: tuple[str, tuple[int, ...], int]) -> tuple[BeliefMoved, ...]:
        given = ClientInsightsAnswer(
            insights=(
                InsightAnswer(
                    text="Ines sees it.", evidence=(1,), emotion="trust", intensity=4, poignancy=4
                ),
            ),
            beliefs=tuple(
                BeliefStepAnswer(belief=name, evidence=cited, why="It was so.", step=step)
                for name, cited, step in steps
            ),
        )
        return belief_steps(ines.resident, Reply(value=given, call="k"), told)

    (one,) = moved(("C1", (1, 2), -7))
    assert (one.belief, one.before, one.after, one.evidence) == ("C1", 75, 68, ("Ines:0", "Ines:1"))
    assert one.text == parts(ines.resident.persona)["C1"] and one.calls == ("k",)
    assert moved(("C1", (1,), -7)) == moved(("C1", (1, 3), -7)) == ()
    assert moved(("D1", (2,), -7)) == moved(("C9", (2,), 5)) == moved(("C1", (2,), 0)) == ()
    assert [one.after for one in moved(("C1", (2,), -7), ("C1", (2,), -7))] == [68]
    ines.observe(one)
    assert moved(("C1", (2,), -7)) == (), "the same talk moves it once"
    assert [other.after for other in moved(("C2", (2,), -7))] == [78], "and other beliefs once, too"
    ines.observe(one.model_copy(update={"after": 3}))
    assert [low.after for low in moved(("C1", (2, 4), -10))] == [0]


def test_reflection_writes_them() -> None:
    ines, seen = Alone(), list[Question[Any]]()
    ines.have_version()
    ines.remember(memory(0, "Miriam did not laugh.", poignancy=9, origin="talk"))
    effects = play(
        noting(reflection.reflect(ines.resident, scene(), "1 new memory"), seen),
        QuestionsAnswer(questions=("Why?",)),
        vectors([1, 0]),
        ClientInsightsAnswer(
            insights=(
                InsightAnswer(
                    text="Ines sees it.", evidence=(1,), emotion="trust", intensity=4, poignancy=4
                ),
            ),
            beliefs=(BeliefStepAnswer(belief="R2", evidence=(1,), why="She listened.", step=-4),),
        ),
        PortraitAnswer(characteristic="a new characteristic", recent_feeling="a new feeling"),
    )
    (moved,) = (event for event in effects.events if isinstance(event, BeliefMoved))
    assert (moved.before, moved.after) == (65, 61)
    ines.resident.client_state = "still"
    plain = list[Question[Any]]()
    play(
        noting(reflection.reflect(ines.resident, scene(), "1 new memory"), plain),
        QuestionsAnswer(questions=("Why?",)),
        vectors([1, 0]),
        None,
    )
    assert "these beliefs" not in plain[-1].prompt


def home(quote: str, **more: Any) -> list[HomeworkAgreed]:
    ines = Alone()
    ines.have_version()
    seen = view(
        said("Miriam", "Would you write down one moment a day?"), said("Ines", "Yes."), **more
    )
    feeling = {"emotion": "trust", "intensity": 3, "poignancy": 3, "closeness": "as before"}
    told = (
        SessionSummaryAnswer(summary="They talked.", agreed="write", agreed_quote=quote, **feeling)
        if more.get("appointment", True)
        else SummaryAnswer(summary="They talked.", **feeling)
    )
    effects = play(take_away(ines.resident, scene(), seen), told)
    return [event for event in effects.events if isinstance(event, HomeworkAgreed)]


def test_what_was_agreed_is_taken_home_with_the_words_for_it() -> None:
    (agreed,) = home("write down one moment")
    assert (agreed.agreed, agreed.quote) == ("write", "write down one moment")
    assert home("call your brother") == home("") == []
    assert home("write down one moment", appointment=False) == []
    seen = view(HEARD, kept=(Entry(0, 0, 0, agreed),))
    ines = Alone()
    ines.have_version()
    questions = list[Question[Any]]()
    play(
        noting(speech.speak(ines.resident, scene(), seen, TELLS), questions),
        vectors([1, 0]),
        answer(),
    )
    assert "Agreed with Miriam last time: write." in questions[-1].prompt


@pytest.fixture(scope="module")
def moving(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(tmp_path_factory.mktemp("moving"), models=switchboard(Scripted()))


def test_every_step_of_a_run_rests_on_the_other_s_last_words(moving: Run) -> None:
    shifts = happened(moving, ClientShifted)
    assert len({one.openness for one in shifts}) > 1
    for held in History.of(moving).conversations():
        for before, line in zip((None, *held.lines), held.lines, strict=False):
            for one in (e for e in line.practice if isinstance(e, ClientShifted)):
                assert abs(one.openness - one.before) <= 2
                if one.openness != one.before:
                    assert before is not None and one.quote in before.text


@pytest.mark.parametrize("mode", ["still", "off"])
def test_held_still_nothing_of_it_is_written(tmp_path: Path, mode: str) -> None:
    run = live(tmp_path, changed(tiny(), client_state=mode), models=switchboard(Scripted()))
    assert not happened(run, ClientShifted) and not happened(run, BeliefMoved)
    lines = [call for call in run.calls() if call["purpose"] == "line_client"]
    assert lines and all("openness" not in json.loads(call["reply"]) for call in lines)
