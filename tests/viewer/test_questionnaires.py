"""A person in a seat answers the questionnaires of the resident that they speak for; no model does."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from analysis.tables import measurements
from simcounsel.corpus.reading import read_dialogues
from simcounsel.engine.forking import fork
from simcounsel.errors import NothingToMeasure
from simcounsel.events import Assessed, Measured, Said, Warned
from simcounsel.measuring.interview import Interview, introduction, not_theirs
from simcounsel.measuring.rate import Rating
from simcounsel.runs.history import History
from simcounsel.runs.measured_text import measured_line
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from simcounsel.scripted import Scripted
from simcounsel.specs.measurement import MeasurementSpec
from simcounsel.specs.world import World
from simcounsel.viewer.outcomes import outcomes
from tests.commands import Command
from tests.stage import begun, changed, go_on, happened, live, log, switchboard, three, tiny
from tests.therapies.held import world as course
from tests.viewer.seated import low, seated
from tests.viewer.test_interviews import Site


def asking(*when: tuple[str, str], world: World | None = None) -> World:
    """The tiny world with these instruments, each with when it is asked."""
    return changed(
        world or tiny(),
        measurements=tuple(MeasurementSpec(instrument=name, when=at) for name, at in when),
    )


def survey(form: dict[str, Any]) -> dict[str, Any]:
    """2 to every item, nothing to the last."""
    given = {one["id"]: 2 for one in form["items"]}
    return {"answers": given | {form["items"][-1]["id"]: None}}


def test_the_person_is_asked_and_not_the_model(tmp_path: Path) -> None:
    run = begun(tmp_path, asking(("phq9", "tick 1"), ("chatbot_survey", "tick 1")))
    page = seated(run, 2, form=survey)
    assert [len(one["items"]) for one in page.forms] == [13, 9], "one after the other, each whole"
    (first, second) = happened(run, Measured)
    assert [first.source, second.source] == ["human", "human"]
    assert [one.value for one in second.items] == [2] * 8 + [None]
    assert (second.items[-1].reason, second.items[-1].absent) == (
        "preferred not to answer",
        "missing",
    )
    assert (second.scores[0].value, second.scores[0].made) == (18, "partial")
    assert [one.value for one in first.items] == [2] * 12 + [None]
    asked = [call for call in run.calls() if call["purpose"] == "self_report" and "source" in call]
    assert [call["source"] for call in asked] == ["human"] * 3, "13 items are two blocks"
    assert not happened(run, Warned) and not verify(run.folder).damages
    again = live(tmp_path / "again", run.world, 2, model=f"recorded:{run.folder}")
    assert log(again) == log(run)


def test_what_nobody_answers_is_missing_with_a_reason(tmp_path: Path) -> None:
    run = begun(tmp_path, asking(("phq9", "tick 1"), ("chatbot_survey", "tick 1")))
    seated(run, 2, form=lambda form: None, seconds=0.02)
    for one in happened(run, Measured):
        assert one.source == "human" and not one.fallback
        assert {item.value for item in one.items} == {None}
        assert {item.reason for item in one.items} == {"no answer came within 0.02 s for each item"}
        assert {score.value for score in one.scores} == {None}
        assert "answered by" not in measured_line(one)
    assert run.ticks_done() == 2 and not happened(run, Warned)
    again = live(tmp_path / "again", run.world, 2, model=f"recorded:{run.folder}")
    assert log(again) == log(run)


def test_the_same_questionnaire_twice_at_one_moment_is_asked_once(tmp_path: Path) -> None:
    run = begun(tmp_path, asking(("phq9", "start"), ("phq9", "tick 0")))
    page = seated(run, 1)
    assert len(page.forms) == 1 and len(happened(run, Measured)) == 2


def test_what_was_answered_stays_answered_when_a_run_is_resumed(tmp_path: Path) -> None:
    run = begun(tmp_path, asking(("phq9", "tick 0"), ("gad7", "tick 1")))
    seated(run, 1, form=survey)
    page = seated(Run.open(run.folder), 1, form=survey)
    assert [len(one["items"]) for one in page.forms] == [7]
    assert {one.source for one in happened(run, Measured)} == {"human"}


def test_no_model_goes_on_answering_for_a_person_who_left(tmp_path: Path) -> None:
    """What is asked after they spoke is missing."""
    run = begun(tmp_path, asking(("phq9", "tick 5"), ("gad7", "start")))
    seated(run, 4)
    go_on(run, 2, models=switchboard(Scripted()))
    first, last = happened(run, Measured)
    assert {one.value for one in first.items} == {0}
    assert last.source == "human" and {one.value for one in last.items} == {None}
    assert {one.reason for one in last.items} == {"nobody sat in the seat to answer it"}
    assert last.scores[0].value is None


def test_a_model_answers_for_somebody_for_whom_nobody_spoke(tmp_path: Path) -> None:
    run = begun(tmp_path, asking(("phq9", "tick 3")))
    page = seated(run, 4, who="Miriam")
    assert page.turns and not page.forms
    (measured,) = happened(run, Measured)
    assert measured.source is None and None not in {one.value for one in measured.items}
    assert b'"source":null' not in log(run)


def test_a_fork_keeps_what_was_answered_and_asks_what_is_new(tmp_path: Path) -> None:
    run = begun(tmp_path / "one", asking(("phq9", "tick 1"), ("gad7", "tick 3")))
    seated(run, 4, form=survey)
    same = seated(child := fork(run, 1, {}, tmp_path / "two"), 3, form=low)
    assert not same.forms and not same.turns, "the same questions at the same moment"
    assert happened(child, Measured) == happened(run, Measured)
    alone = {"condition": "client_only"}
    other = seated(child := fork(run, 1, alone, tmp_path / "three"), 3, form=low)
    assert [len(one["items"]) for one in other.forms] == [9, 7], "another life"
    assert [one.items[0].value for one in happened(child, Measured)] == [0, 0]


def test_in_chinese(tmp_path: Path) -> None:
    run = begun(tmp_path, asking(("phq9", "start"), world=tiny(language="zh")))
    page = seated(run, 1)
    (form,) = page.forms
    assert form["language"] == "zh" and "两周" in form["instruction"]
    assert [label for _, label in form["items"][0]["choices"]] == ["完全不会", "几天", "一半以上的日子", "几乎每天"]  # fmt: skip


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Omar, Ines and Miriam; a person speaks for Ines, leaves an item out, and is gone at the end."""
    spec = MeasurementSpec(instrument="phq9", when="tick 3", who=("Ines", "Omar"))
    late = MeasurementSpec(instrument="gad7", when="tick 6", who=("Ines",))
    run = begun(tmp_path_factory.mktemp("answered"), changed(three(), measurements=(spec, late)))
    seated(run, 6, form=survey)
    return go_on(run, 2)


def test_who_answered_is_told_wherever_a_score_is_shown(answered: Run) -> None:
    lines = [measured_line(event) for event in happened(answered, Measured)]
    person, model, gone = lines
    assert "(asked of the person in the seat)" in person
    assert person.endswith("(1 missing): preferred not to answer")
    assert "(simulated self-report)" in model
    assert "total none" in gone and "nobody sat in the seat to answer it" in gone
    history = History.of(answered)
    points = [(one["who"], one["respondent"], one["judge"]) for one in outcomes(history)["points"]]
    assert points == [("Ines", "human", ""), ("Omar", "self", "scripted"), ("Ines", "human", "")]
    assert [one.trial for one in history.measurements()] == [False, True, False]
    table = measurements([answered.folder])
    assert set(table[table["client"] == "Ines"]["respondent"]) == {"human"}
    assert set(table[table["client"] == "Omar"]["respondent"]) == {"self"}
    assert set(answered.measurements()["respondent"]) == {"human", "self"}


def test_no_model_answers_for_the_person_afterwards(answered: Run, simcounsel: Command) -> None:
    with pytest.raises(NothingToMeasure, match="a person spoke for Ines; afterwards no model can"):
        Rating.plan(answered, "gad7", who="Ines")
    before = Rating.plan(answered, "gad7", who="Ines", at=1)
    assert [one.who for one in before.targets] == ["Ines"], "nobody had spoken for her by then"
    observed = Rating.plan(answered, "session_alliance_observed", who="Ines")
    assert observed.targets and not observed.seated
    ended = simcounsel("rate", answered.folder, "--instrument", "gad7")
    assert ended.code == 1 and "a person spoke for Ines" in ended.err
    assert not (answered.folder / "measurements").exists()


def test_in_a_course_the_person_is_asked_after_each_session(tmp_path: Path) -> None:
    made = course(5, lines=8)
    spec = MeasurementSpec(instrument="session_alliance", when="after every session")
    run = begun(tmp_path, changed(made, measurements=(spec,)))
    page = seated(run, made.appointed()[1] + 1, form=low)
    assert [len(one["items"]) for one in page.forms] == [4, 4]
    measured = happened(run, Measured)
    assert [one.point for one in measured] == ["after session 1", "after session 2"]
    assert {one.source for one in measured} == {"human"}
    dialogues = read_dialogues(run.folder)
    assert [one.ratings["session_alliance"] for one in dialogues] == [{"total": 0.0}] * 2
    assert {turn.source for one in dialogues for turn in one.turns if turn.speaker == "client"} == {
        "human"
    }


def test_an_interview_is_not_taken_for_the_person_s_words(answered: Run, tmp_path: Path) -> None:
    told = "a person spoke for Ines; these answers are a model's, not theirs"
    assert told in list(introduction(Interview.begin(answered, "Ines")))
    assert told not in list(introduction(Interview.begin(answered, "Ines", 1)))
    assert not not_theirs(Interview.begin(answered, "Omar").past)
    shutil.copytree(answered.folder, tmp_path / "runs" / "one")
    assert Site(Run.open(tmp_path / "runs" / "one")).ask().json()["not_theirs"] == told


def test_the_report_says_whose_answers_they_are(
    answered: Run, tmp_path: Path, simcounsel: Command
) -> None:
    made = simcounsel("report", answered.folder, "--out", tmp_path / "report")
    assert made.code == 0, made.err
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    lines = sum(one.who == "Ines" for one in happened(answered, Said))
    assert f"People spoke for Ines: {lines} lines and 2 questionnaires" in text
    assert "No capable language model answered the other prompts" in text
    assert "gad7 (human), phq9 (human), phq9 (self)" in text


def test_an_answer_that_tells_danger_is_heard(tmp_path: Path) -> None:
    run = begun(tmp_path, asking(("phq9", "start")))
    seated(run, 1, form=lambda form: {"answers": {one["id"]: 3 for one in form["items"]}})
    (heard,) = happened(run, Assessed)
    assert (heard.who, heard.by, heard.level) == ("Ines", "questionnaire", "high")
