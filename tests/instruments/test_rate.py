"""Measuring afterwards, by the command line and in Python."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from simcounsel.errors import ModelUnreachable, RunError
from simcounsel.llm.ledger import FILE as LEDGER
from simcounsel.llm.ledger import Ledger
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question
from simcounsel.measuring.rate import Rating
from simcounsel.measuring.rate import rate as measure
from simcounsel.runs.history import History
from simcounsel.runs.measurements import is_trial, measurements_in
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from simcounsel.specs.measurement import MeasurementSpec
from tests.commands import Command
from tests.each import each
from tests.instruments.stage import measured_world
from tests.instruments.test_scales import FOLDER
from tests.stage import Listening, changed, live, switchboard, tiny


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(tmp_path_factory.mktemp("rated"), measured_world())


@pytest.fixture
def run(once: Run, tmp_path: Path) -> Run:
    """A copy of a measured run."""
    return Run.open(shutil.copytree(once.folder, tmp_path / once.name))


def bytes_of(run: Run) -> dict[str, str]:
    return {
        str(file.relative_to(run.folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(run.folder.rglob("*"))
        if file.is_file() and "measurements" not in file.parts
    }


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def files(run: Run) -> list[Path]:
    return sorted((run.folder / "measurements").glob("*.jsonl"))


@pytest.mark.parametrize(
    ("instrument", "points"),
    [
        ("phq9", ["end"]),
        ("empathy", ["after session 1", "after conversation 2"]),
        ("persona_change", ["end"]),
        ("persona_consistency", ["after session 1", "after conversation 2"]),
        ("talk_measures", ["after session 1", "after conversation 2"]),
    ],
)
def test_command(simcounsel: Command, run: Run, instrument: str, points: list[str]) -> None:
    before = bytes_of(run)
    ended = simcounsel("rate", run.folder, "--instrument", instrument)
    assert ended.code == 0
    assert bytes_of(run) == before
    (file,) = files(run)
    assert f"kept in {file}" in ended.out
    assert ("for trying the software only" in ended.err) == (instrument != "talk_measures")
    head, *rest = lines(file)
    assert (head["kind"], head["run"], head["instrument"], head["judge"]) == (
        "measurement",
        run.name,
        instrument,
        "" if instrument == "talk_measures" else "scripted",
    )
    assert [one["point"] for one in rest if one["kind"] == "measured"] == points
    for point in points:
        assert f"Ines: {instrument}, {point} (" in ended.out
    calls = [one for one in rest if one["kind"] == "call"]
    assert all(call["messages"] and call["reply"] for call in calls if call["verb"] != "embed")
    found = list(History.of(run).measurements())
    assert [one.source for one in found] == ["log"] * 9 + [file.name] * len(points)
    assert [one.measured.point for one in found[9:]] == points
    assert {one.hash for one in found[9:]} == {head["hash"]}


def test_again_is_finished_and_a_retest_is_asked_for(simcounsel: Command, run: Run) -> None:
    given = ("rate", run.folder, "--instrument", "empathy", "--samples", 2, "--chat", 1)
    assert simcounsel(*given).code == 0
    kept = [(file, file.read_bytes()) for file in files(run)]
    again = simcounsel(*given)
    assert (again.code, [(file, file.read_bytes()) for file in files(run)]) == (0, kept)
    assert f"this is measured already: kept in {kept[0][0]}; nothing is asked" in again.out
    assert "--rounds 2 measures it once more, as a retest" in again.out
    assert "1 are rated already" in simcounsel(*given, "--dry-run").out
    before = simcounsel(*given, "--rounds", 3, "--dry-run").out
    assert "the questions for 2 measurements" in before
    retest = simcounsel(*given, "--rounds", 2)
    assert (retest.code, retest.out.count("Ines: empathy, after session 1")) == (0, 1)
    assert "measured already 2 times: " in simcounsel(*given, "--rounds", 2).out
    first, second = files(run)
    assert [lines(file)[0]["round"] for file in (first, second)] == [0, 1]
    one, two = (next(measurements_in(file)) for file in (first, second))
    assert one.samples == 2
    assert one.measured.items != two.measured.items
    seeds = [
        {
            call["parameters"]["seed"]
            for call in lines(file)
            if call["kind"] == "call" and call["purpose"] != "judge_probe"
        }
        for file in (first, second)
    ]
    assert not seeds[0] & seeds[1]
    found = [one.source for one in History.of(run).measurements()][9:]
    assert found == [first.name, second.name]


def test_a_retest_is_asked_at_the_temperature_of_samples(simcounsel: Command, run: Run) -> None:
    simcounsel("rate", run.folder, "--instrument", "helping_skills", "--chat", 1, "--rounds", 2)
    asked = [
        {
            call["parameters"]["temperature"]
            for call in lines(file)
            if call["kind"] == "call" and call["purpose"] == "judge_block"
        }
        for file in files(run)
        if "helping_skills" in file.name
    ]
    assert asked == [{0.0}, {0.7}]


def test_one_conversation_or_one_moment(simcounsel: Command, run: Run) -> None:
    assert (
        "Ines: gad7, after session 1 ("
        in simcounsel("rate", run.folder, "--instrument", "gad7", "--chat", 1).out
    )
    assert (
        "Ines: gad7, tick 3 ("
        in simcounsel("rate", run.folder, "--instrument", "gad7", "--at", 3).out
    )
    assert (
        "Omar: affect, end ("
        in simcounsel("rate", run.folder, "--instrument", "affect", "--who", "Omar").out
    )
    assert (
        simcounsel("rate", run.folder, "--instrument", "depth", "--chat", "4:Ines+Omar").out.count(
            "rated by a judge"
        )
        == 1
    )


@pytest.mark.slow
def test_who_reports_of_oneself_is_asked_by_the_own_model(
    simcounsel: Command, tmp_path: Path
) -> None:
    own = "scripted:planted=2"
    world = changed(
        tiny(residents__Ines__models__reason=own),
        measurements=(MeasurementSpec(instrument="phq9", when="end"),),
        ticks=3,
    )
    lived = live(tmp_path / "first", world)
    for run in (lived, live(tmp_path / "again", world, model=f"recorded:{lived.folder}")):
        for name in ("phq9", "empathy"):
            who = own if name == "phq9" else "scripted"
            ended = simcounsel("rate", run.folder, "--instrument", name)
            assert f"answered by {who}" in ended.out
            assert f"{who} model: for trying the software only" in ended.err
            (file,) = (run.folder / "measurements").glob(f"{name}-*.jsonl")
            asked = {one["model"] for one in lines(file) if one.get("verb", "embed") != "embed"}
            assert asked == {who}
        simcounsel("rate", run.folder, "--instrument", "phq9", "--model", "scripted")
        judges = [(one.measured.instrument, one.judge) for one in History.of(run).measurements()]
        assert judges[1:] == [("phq9", own), ("empathy", "scripted"), ("phq9", "scripted")]
    assert next(History.of(lived).measurements()).judge == own


def test_self_report_is_as_of_then(run: Run) -> None:
    spy = Listening()
    for at in (1, 11):
        models = switchboard(spy)
        Rating.plan(run, "phq9", at=at).measure(models)
        models.close()
    early, late = (request for request in spy.requests if request.verb == "fill")
    assert "Monday 2 March, 09:00" in early.prompt
    assert "Monday 2 March, 14:00" in late.prompt
    assert early.system != late.system  # the persona was rewritten in between


def test_own_scale(simcounsel: Command, run: Run, tmp_path: Path) -> None:
    own = tmp_path / "mine.yaml"
    own.write_text(
        (FOLDER / "depth.yaml").read_text(encoding="utf-8").replace("id: depth", "id: mine"),
        encoding="utf-8",
    )
    assert "Ines: mine, after session 1" in simcounsel("rate", run.folder, "--instrument", own).out
    assert files(run)[0].name.startswith("mine-")


@each(
    ("arguments", "what"),
    [
        (("--instrument", "emapthy"), "no instrument 'emapthy'; did you mean 'empathy'?"),
        (("--instrument", "empathy", "--chat", "7"), "no conversation '7'; there are 1 to 2"),
        (
            ("--instrument", "empathy", "--who", "Inez"),
            "no resident 'Inez'; did you mean \"Ines\"?",
        ),
        (("--instrument", "phq9", "--at", "40"), "tick 40 was not run; choose one from 0 to 11"),
        (("--instrument", "phq9", "--model", "gpt"), "no model 'gpt'"),
        (("--instrument", "nowhere.yaml"), "nowhere.yaml: no such file"),
    ],
)
def test_what_can_go_wrong(
    simcounsel: Command, run: Run, arguments: tuple[str, ...], what: str
) -> None:
    ended = simcounsel("rate", run.folder, *arguments)
    assert ended.code == 1
    assert what in ended.err


def test_a_judge_that_nobody_reaches(run: Run) -> None:
    class Away(Scripted):
        async def complete(self, request: Question, complaint: str | None) -> Completion:
            raise Failure("connection refused", transport=True)

    models = switchboard(Away())
    with pytest.raises(
        ModelUnreachable,
        match=r"no answer from scripted \(connection refused\).*what was measured and answered is kept in",
    ):
        Rating.plan(run, "empathy").measure(models)
    models.close()


def test_run_without_a_conversation(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=1)
    with pytest.raises(
        RunError, match="nothing to measure with empathy: no conversation of a client"
    ):
        Rating.plan(run, "empathy")


def test_stopped_in_the_middle(run: Run) -> None:
    """What was told is on disk, also what others of the same round still measured; half a line is not read."""
    rating = Rating.plan(run, "empathy")
    models = switchboard(Scripted())
    done: list[str] = []

    def pull_the_plug(measured: Any) -> None:
        done.append(measured.point)
        raise RuntimeError("pulled the plug")

    with pytest.raises(RuntimeError):
        rating.measure(models, pull_the_plug)
    models.close()
    (file,) = files(run)
    with file.open("ab") as half:
        half.write(b'{"tick": 3, "kind": "meas')
    assert [one.measured.point for one in measurements_in(file)] == done != []
    assert len(list(History.of(run).measurements())) == 9 + len(done)


def test_a_file_without_a_head_is_left_out(run: Run) -> None:
    (run.folder / "measurements").mkdir()
    (run.folder / "measurements" / "x.jsonl").write_text(
        '{"kind": "measured"}\nnonsense\n[]\n', encoding="utf-8"
    )
    with pytest.raises(RunError, match=r"x\.jsonl:1: .*what was measured, is not there; 1 meas"):
        list(History.of(run).measurements())
    assert len(list(History.of(Run.open(run.folder, damaged=True)).measurements())) == 9


def test_in_python_too_only_a_retest_is_made_once_more(run: Run) -> None:
    first = measure(run, "empathy", model="scripted")
    assert measure(run, "empathy", model="scripted") == first and len(files(run)) == 1
    second = measure(run.folder, "empathy", model="scripted", rounds=2)
    assert len(first) == len(second) == 2 and first != second
    assert measure(run, "empathy", model="scripted", rounds=2) == second and len(files(run)) == 2


def test_a_budget_is_lifted_where_nothing_is_left(simcounsel: Command, run: Run) -> None:
    """As `rate` of many runs says that one may."""
    given = ("rate", run.folder, "--instrument", "empathy", "--model", "scripted")
    assert simcounsel(*given, "--budget-calls", 100).code == 0
    assert simcounsel(*given, "--budget-calls", "none").code == 0
    ledger = Ledger(run.folder / "measurements" / LEDGER)
    assert ledger.limits() == {}
    ledger.end()


def test_trial() -> None:
    assert [
        is_trial(name)
        for name in (
            "embedded",
            "embedded+adapter=x",
            "scripted",
            "scripted:planted",
            "openai:gpt-4o",
            "",
        )
    ] == [True, True, True, True, False, False]
