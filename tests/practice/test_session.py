"""A session without a page: feedback, lines taken back, reports, runs."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.llm.question import Question
from simcounsel.practice.clients import cast_of, difficulty, levels, setting_of
from simcounsel.practice.exchange import RULES, Shift
from simcounsel.practice.report import counted, debriefed
from simcounsel.practice.session import PracticeSession
from simcounsel.specs.persona import ClientPersona, Drawn
from tests.commands import Command
from tests.practice.stage import model, session, speaking
from tests.stage import changed, switchboard, tiny

GOOD = "You lie there and count the hours, and you are tired."
POOR = "You should go to bed earlier."


def judge(**fields: Any) -> Any:
    """A judge who gives these fields each time."""

    def script(request: Question[Any], draw: Random) -> str:
        return json.dumps(fields)

    return script


TOLD = {
    "noticed": "“count the hours” gives her words back.",
    "skill": "reflection",
    "effect": "She goes on with “The nights are long”.",
    "alternative": "",
    "reason": "She hears that you heard it.",
    "source": "humanistic_existential.reflect_feeling",
}


def test_a_line_is_answered_and_told_what_it_did() -> None:
    with session() as talk:
        first = talk.say("Hello Ines, what brings you here?")
        assert first.answers == ("The nights are long. 0.",)
        assert first.shift == Shift(before=2.4, after=2.4, quote=None, about=None, held_back=None)
        second = talk.say(GOOD)
        assert second.shift is not None and second.feedback is not None
        assert (second.shift.before, second.shift.after) == (2.4, 2.9)
        assert second.shift.quote == "count the hours" and second.shift.about
        assert second.feedback.skill == "reflection" and second.feedback.alternative == ""
        third = talk.say(POOR).feedback
        assert third is not None and third.by == RULES
        assert (third.skill, third.fits) == ("advice", "reflection")
        assert third.example and third.alternative.startswith("You love your sister")
        assert "Hill (2020)" in third.source and "welcome_both_sides" in third.source


def test_a_judge_is_asked_and_its_words_are_kept() -> None:
    with session(scripts={"practice_feedback": judge(**TOLD)}) as talk:
        found = talk.say(GOOD).feedback
        assert found is not None and found.by == "scripted"
        assert found.noticed == TOLD["noticed"] and found.name == "reflection of feeling"
        assert found.source == "Say back the feeling (humanistic_existential.reflect_feeling)"


def test_what_was_called_for_is_the_skill_behind_the_source() -> None:
    other = {"skill": "advice", "alternative": "What is that like?", "source": "open_question"}
    with session(scripts={"practice_feedback": judge(**(TOLD | other))}) as talk:
        found = talk.say(GOOD).feedback
        assert found is not None and (found.skill, found.fits) == ("advice", "open_question")
        assert found.source == "Hill (2020), open questions and probes"
        assert talk.end().missed == {"open_question": 1}


def test_words_that_nobody_said_are_not_taken() -> None:
    invented = TOLD | {"effect": "She says “I trust you now”."}
    with session(scripts={"practice_feedback": judge(**invented)}) as talk:
        found = talk.say(GOOD).feedback
        assert found is not None and found.by == RULES


def test_feedback_comes_when_it_is_asked_for() -> None:
    with session(feedback="request") as talk:
        assert talk.say(GOOD).feedback is None
        assert talk.feedback_on(1).feedback is not None
        assert talk.exchanges[0].feedback is not None


def test_a_line_that_is_taken_back_is_kept_beside_the_other() -> None:
    with session() as talk:
        talk.say("Hello Ines.")
        poor = talk.say(POOR)
        assert talk.undo() == poor and len(talk.exchanges) == 1
        good = talk.say(GOOD)
        assert good.number == poor.number == 2
        assert poor.shift is not None and good.shift is not None
        assert (poor.shift.after, good.shift.after) == (1.4, 2.9)
        assert talk.taken_back == [poor]
        report = talk.end()
        assert report.counts["taken_back"] == 1 and report.openness == (2.4, 2.9)
        assert report.well[0]["quote"] == "count the hours"


def test_the_fork_has_the_same_beginning_without_asking_again() -> None:
    with session() as talk:
        first = talk.say("Hello Ines.")
        asked = talk._models.usage.calls
        talk.say(POOR)
        talk.undo()
        talk.open()
        assert talk.exchanges == [first]
        assert talk._models.usage.replayed > 0 and talk._models.usage.calls < asked + 5


def test_several_sessions_share_a_switchboard() -> None:
    models = switchboard(model())

    def played(seed: int) -> list[str]:
        talk = PracticeSession(setting_of(tiny(), "Ines", seed), models)
        said = [talk.say(line).answers[0] for line in ("Hello.", GOOD, POOR)]
        talk.close()
        return said

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(played, range(6)))
    models.close()
    assert found == [found[0]] * 6


def test_counts_by_hand() -> None:
    lines = (
        (COUNSELOR, "Hello. What brings you here?"),  # 5 words, open
        (CLIENT, "I sleep three hours, and then I lie there."),  # 9 words
        (COUNSELOR, "Do you drink coffee?"),  # 4 words, closed
        (CLIENT, "No."),  # 1 word
        (COUNSELOR, "You should go for a walk."),  # 6 words, advice
    )
    found = counted(lines, taken_back=2)
    assert found == {
        "lines": 3,
        "open": 1,
        "closed": 1,
        "reflections": 0,
        "advice": 1,
        "longest": 6,
        "talk_share": 0.6,  # 15 of 25 words
        "taken_back": 2,
    }
    assert counted(())["talk_share"] is None


def test_danger_has_its_own_debriefing() -> None:
    danger = "Some nights I think about killing myself."
    lines = ((COUNSELOR, "What is it like?"), (CLIENT, danger))
    poor = debriefed((*lines, (COUNSELOR, "Have you tried melatonin?")), "en", "en-US")
    held = {one.name: one.holds for one in poor}
    assert held["taken_up"] is False and held["asked_by_name"] is False
    assert held["help_named"] is False
    asked = "You think about killing yourself. Do you have a plan for how? You can call 988."
    good = debriefed((*lines, (COUNSELOR, asked)), "en", "en-US")
    held = {one.name: one.holds for one in good}
    assert held["taken_up"] and held["help_named"] and held["own_country"]
    assert next(one for one in good if one.name == "help_named").line == 2
    assert debriefed(((CLIENT, "I am tired."),), "en", "en-US") == ()


def test_danger_that_is_passed_over_is_what_feedback_speaks_of() -> None:
    danger = "Some nights I think about killing myself."
    with session(scripts={"line_client": speaking(danger)}) as talk:
        talk.say("What brings you here?")
        found = talk.say("Have you tried melatonin?").feedback
        assert found is not None and found.fits == "risk_question"
        assert "“killing myself”" in found.reason
        report = talk.end()
        assert report.danger and "danger" in report.next


def test_difficulty_by_hand() -> None:
    world = tiny()
    by = {name: cast_of(world, name).client.persona for name in ("Ines", "Callum", "Aisha")}
    found = {
        name: difficulty(one, "en") for name, one in by.items() if isinstance(one, ClientPersona)
    }
    # Ines: mean 74.4, jokes before anybody can worry. Callum: 71.9, none. Aisha: 75.0, jokes.
    assert found == {"Ines": 2, "Callum": 1, "Aisha": 3}
    assert levels(world)["Ines"] == 2 and set(levels(world).values()) == {1, 2, 3}


def test_little_openness_of_a_drawn_client_makes_it_harder() -> None:
    plain = cast_of(tiny(), "Ines").client.persona
    assert isinstance(plain, ClientPersona)
    open_one = plain.model_copy(update={"coping_strategies": ("walks",), "drawn": None})
    much = Drawn(of="Ines", seed=1, number=1, openness="much")
    little = much.model_copy(update={"openness": "little"})
    found = [
        difficulty(open_one.model_copy(update={"drawn": drawn}), "en")
        for drawn in (None, much, little)
    ]
    assert found == [1, 1, 2]


def test_a_chinese_session() -> None:
    with session(changed(tiny(), language="zh")) as talk:
        talk.say("你好，今天想从哪里说起？")
        found = talk.say("你应该早点睡。").feedback
        assert found is not None and found.name == "建议" and "Hill（2020）" in found.source
        assert found.example and "考试" in found.alternative
        assert talk.end().by == RULES


def test_its_run_is_read_as_any_other(tmp_path: Path, simcounsel: Command) -> None:
    with session() as talk:
        for line in ("Hello Ines.", GOOD, POOR):
            talk.say(line)
        talk.end()
        run = talk.export(tmp_path)
    assert GOOD in simcounsel("show", run, "--conversation", "1").out
    assert "holds" in simcounsel("verify", run).out
    rated = simcounsel("rate", run, "--instrument", "helping_skills", "--model", "scripted")
    assert rated.code == 0 and "helping_skills" in rated.out


def test_what_is_over_takes_no_line() -> None:
    with session() as talk:
        talk.say("Hello.")
        talk.end()
        with pytest.raises(ValueError, match="the session is over"):
            talk.say("And?")
