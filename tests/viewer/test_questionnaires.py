"""A person in a seat answers the questionnaires of the resident that they speak for; no model does."""

from pathlib import Path
from typing import Any

from simcounsel.events import Measured, Warned
from simcounsel.runs.verifying import verify
from simcounsel.specs.measurement import MeasurementSpec
from simcounsel.specs.world import World
from tests.stage import begun, changed, happened, live, log, tiny
from tests.viewer.seated import seated


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
    assert run.ticks_done() == 2 and not happened(run, Warned)
    again = live(tmp_path / "again", run.world, 2, model=f"recorded:{run.folder}")
    assert log(again) == log(run)


def test_the_same_questionnaire_twice_at_one_moment_is_asked_once(tmp_path: Path) -> None:
    run = begun(tmp_path, asking(("phq9", "start"), ("phq9", "tick 0")))
    page = seated(run, 1)
    assert len(page.forms) == 1 and len(happened(run, Measured)) == 2
