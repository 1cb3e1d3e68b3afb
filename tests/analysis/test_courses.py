"""Counselors over whole courses: the battery on one scale, the paper's tables, and the command a second time."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from analysis.courses.battery import battery, measured, ten
from analysis.courses.design import Courses, counselor_of, parts_of
from analysis.courses.imported import imported
from analysis.courses.leaderboard import Entered, apart, boards, names_of
from analysis.courses.tables import Played, features
from analysis.errors import ReportError
from analysis.finding import find
from analysis.reading import read_tables
from analysis.sample import Sample
from simcounsel.errors import SpecError
from simcounsel.events import MaterialOpened, Reasoned, Said
from simcounsel.instruments.scale import find_scale
from simcounsel.instruments.sets import instruments_of
from simcounsel.runs.run import Run
from simcounsel.therapies.specs.course import find_plan
from tests.commands import Command
from tests.stage import happened
from tests.therapies.test_psycheval_cases import chinese

ASKED = ["--model", "scripted", "--clients", "2", "--sessions", "5", "--lines", "8", "-q"]


def test_scores_on_one_scale() -> None:
    """By hand: helping_skills, a mean of items; general_distress, a sum; affect's positive items alone."""
    scale = find_scale("helping_skills")
    low, high = scale.range.min, scale.range.max
    assert scale.scoring == "mean"
    assert ten("helping_skills", low) == 0 and ten("helping_skills", high) == 10
    assert ten("helping_skills", (low + high) / 2) == pytest.approx(5)
    mood = find_scale("low_mood")
    assert mood.scoring == "sum"
    most = sum(mood.range_of(item).max for item in mood.items)
    least = sum(mood.range_of(item).min for item in mood.items)
    assert ten("low_mood", most) == 10 and ten("low_mood", least) == 0
    assert ten("low_mood", least + (most - least) / 4) == pytest.approx(2.5)
    pleasant = [item for item in find_scale("affect").items if item.subscale == "pleasant"]
    high = sum(find_scale("affect").range_of(item).max for item in pleasant)
    assert ten("affect", high, "pleasant") == 10
    assert ten("affect", high) is None or find_scale("affect").scoring is None


def test_each_therapy_has_its_own_battery() -> None:
    assert len({one.paper for one in (*battery().counselor, *battery().client)}) == 17, (
        "RRO is in both"
    )
    for therapy, own in {
        "cbt": ("cognitive_therapy_competence", "low_mood"),
        "psychodynamic": ("psychodynamic_competence", "personality_organization"),
        "behavioral": ("motivational_interviewing", "state_anxiety"),
        "humanistic_existential": ("empathy", "self_acceptance"),
        "postmodern": ("emotion_focused_work", "solution_talk"),
    }.items():
        scales = battery().scales(therapy)
        assert set(own) <= set(scales)
        assert {one["instrument"] for one in measured(therapy)} == set(scales)
    whole = set(battery().scales("integrative"))
    assert all(set(battery().scales(name)) <= whole for name in battery().statistics)
    for name in whole:
        find_scale(name)


def test_a_counselor_may_have_a_model_of_its_own() -> None:
    assert counselor_of("course") == ("course", "course", None)
    model = "http://localhost:11434/v1/qwen3"
    assert counselor_of(f"unguided@{model}") == (
        "unguided-http-localhost-11434-v1-qwen3",
        "unguided",
        model,
    )


def test_a_battery_is_a_named_set() -> None:
    assert instruments_of("cbt") == battery().scales("cbt")
    assert instruments_of("low_mood, cbt")[0] == "low_mood"
    assert len(instruments_of("low_mood, cbt")) == len(battery().scales("cbt"))
    assert instruments_of("nothing") == ("nothing",), "whoever looks for it says so"


def wanted(**changes: object) -> Courses:
    usual: dict[str, object] = {
        "therapies": ("cbt",),
        "counselors": ("course",),
        "clients": 2,
        "sessions": 5,
        "lines": 8,
        "lived": False,
        "model": None,
        "judge": None,
        "budget_usd": None,
        "budget_calls": None,
    }
    return Courses(**(usual | changes))  # type: ignore[arg-type]


def test_a_case_has_its_own_therapy_and_plan() -> None:
    (organist, nurse) = parts_of(wanted(cases=("organist", "night_nurse")))
    assert organist.case and organist.case.plan
    assert organist.therapy == organist.case.plan.therapy and nurse.name == "night_nurse"
    with pytest.raises(SpecError, match=r"no client\.yaml there"):
        parts_of(wanted(cases=("nobody",)))
    with pytest.raises(SpecError, match="two are named"):
        parts_of(wanted(cases=("organist", "organist")))


def measured_by_hand(levels: dict[str, dict[str, float]]) -> Played:
    """By arm and client one number, which every counselor's scale of CBT has; a client's scale has it at the low end."""
    columns = battery().of("cbt")
    rows = [
        {"arm": arm, "client": who, "instrument": scale, "score": column.score, "tick": tick}
        | {"value": at_ten(scale, column.score, 10 - level if column.lower else level)}
        for arm, own in levels.items()
        for who, level in own.items()
        for column in columns
        for scale in column.scales
        for tick in (10, 20)
    ]
    empty = Sample(members=(), excluded=(), experiment=None)
    return Played(
        therapy="cbt",
        sample=empty,
        arms=tuple(levels),
        measurements=pd.DataFrame(rows),
        sessions=pd.DataFrame(),
    )


def at_ten(scale: str, score: str, level: float) -> float:
    low, at = ten(scale, 0, score), ten(scale, 1, score)
    assert low is not None and at is not None
    return (level - low) / (at - low)


def test_a_leaderboard_by_hand() -> None:
    """Levels 7, 5 and 6, 6, 3: means 6 and 5; the differences of the two clients that both met are -1 and 1."""
    first = Entered(
        name="a",
        card={"settings": {"lines": 8}, "simcounsel": "1"},
        played=(measured_by_hand({"calm": {"Ines": 7, "Walter": 5}}),),
    )
    second = Entered(
        name="b",
        card={"settings": {"lines": 24}, "simcounsel": "1"},
        played=(measured_by_hand({"warm": {"Ines": 6, "Walter": 6, "Elif": 3}}),),
    )
    (board,) = boards([second, first])
    assert [row.label for row in board.rows] == ["a: calm", "b: warm"], "the higher level first"
    calm, warm = (row.cells for row in board.rows)
    assert (calm[0].ours, warm[0].ours) == (pytest.approx(6), pytest.approx(5))
    assert (calm[2].ours, warm[2].ours) == (pytest.approx(6), pytest.approx(5)), (
        "symptoms count from the other end"
    )
    assert calm[1].ours is None and calm[1].n == 0
    assert (warm[1].ours, warm[1].n) == (pytest.approx(0, abs=1e-9), 2)
    low, high = ttest_1samp([-1, 1], 0).confidence_interval()
    assert (warm[1].low, warm[1].high) == (pytest.approx(low), pytest.approx(high))
    assert list(apart([first, second])) == ["lines in a session: a 8, b 24."]


def test_what_courses_have_is_looked_up_in_their_sessions() -> None:
    """Neither an arm that is called `course` nor one that is not decides it."""

    def has(**columns: list[object]) -> dict[str, float | None]:
        played = replace(measured_by_hand({"course": {"Ines": 5}}), sessions=pd.DataFrame(columns))
        return {row.label: row.cells[1].ours for row in features([played]).rows}

    plain = has(thought=[0], session=[1], stage=[None], skilled=[0])
    assert {name for name, there in plain.items() if there} == {"rated by a battery"}
    rich = has(thought=[9, 9], session=[1, 2], stage=["a", "b"], skilled=[0, 1])
    assert {name for name, there in rich.items() if not there} == {
        "several therapies",
        "an integrative therapy",
    }


def test_studies_of_one_name_are_told_apart(tmp_path: Path) -> None:
    one, two, other = tmp_path / "a" / "courses", tmp_path / "b" / "courses", tmp_path / "mine"
    assert names_of((one, other)) == ("courses", "mine")
    assert names_of((one, two, other)) == (str(one), str(two), "mine")


@pytest.mark.slow(20)
def test_an_imported_course_beside_the_case_that_is_made_of_it(
    simcounsel: Command, tmp_path: Path
) -> None:
    file = tmp_path / "7.json"
    file.write_text(json.dumps(chinese(), ensure_ascii=False), encoding="utf-8")
    simcounsel("library", "import", file, "--out", tmp_path / "cases")
    case, out = tmp_path / "cases" / "pdt_7", tmp_path / "study"
    corpus = case / "course.json"
    with pytest.raises(ReportError, match="not rated yet"):
        imported([corpus])
    rated = simcounsel(
        "corpus", "rate", corpus, "--instrument", "psychodynamic", "--sample", 0, "--model", "scripted", "-q"
    )  # fmt: skip
    assert rated.code == 0, rated.err
    asked = (
        "study",
        "courses",
        "--model",
        "scripted",
        "--lines",
        6,
        "-q",
        "--counselors",
        "course",
    )
    played = simcounsel(*asked, "--cases", case, "--corpus", corpus, "--out", out)
    assert played.code == 0, played.err
    levels = pd.read_csv(out / "tables" / "table_4_psychodynamic.csv")
    assert set(levels["column"]) == {"PsychEval, published", "course", "corpus pdt_7/course"}
    ours = levels[levels["column"] == "corpus pdt_7/course"]
    assert ours["ours"].notna().all() and (ours["n"] == 1).all()
    came = pd.read_csv(out / "tables" / "done_psychodynamic.csv").set_index("row")["ours"]
    (manifest,) = (out / "pdt_7" / "runs").glob("*/manifest.json")
    run, plan = Run.open(manifest.parent), find_plan(case / "plan.yaml")
    opened = happened(run, MaterialOpened)
    texts = {one.text for one in opened if one.of != "fact"}
    parts = {part.text for session in plan.sessions for _, part in session.parts}
    told = {one.text for one in opened if one.of == "fact"}
    assert 0 < len(texts) < len(parts), "some opened, and not all"
    assert came["parts of the case's plan that opened, share"] == pytest.approx(
        len(texts) / len(parts)
    )
    assert came["facts of the case that the client told, share"] == len(told) / len(plan.facts)
    calls = [call for call in run.calls() if call.get("verb") != "embed"]
    assert came["questions to models a session"] == pytest.approx(len(calls) / 6)
    said = pd.read_csv(out / "tables" / "said_psychodynamic.csv").set_index(["row", "column"])
    words = said.loc[("the counselor's share of the words", "corpus pdt_7/course"), "ours"]
    assert words == pytest.approx(3 / 13, abs=1e-4), "你好川 and 我一进操场就喘不上气"
    beside = simcounsel(
        "study", "courses", "--counselors", "", "--corpus", corpus, "--beside", out, "--out", tmp_path / "b"
    )  # fmt: skip
    assert beside.code == 0, beside.err
    page = (tmp_path / "b" / "courses.md").read_text("utf-8")
    assert "Leaderboard, psychodynamic" in page and "study: course" in page
    assert "drawn by chance" in page, "the judge of the corpus only tries"
    wrong = simcounsel(
        *asked, "--cases", case, "--beside", tmp_path / "none", "--out", tmp_path / "c"
    )
    assert wrong.code == 1 and "card.json" in wrong.err and not (tmp_path / "c").exists()


def test_the_paper_again_is_planned(simcounsel: Command, tmp_path: Path) -> None:
    out = tmp_path / "psycheval"
    dry = simcounsel(
        "study", "replicate", "psycheval", "--model", "scripted", "--clients", 1, "--dry-run", "--out", out
    )  # fmt: skip
    assert dry.code == 0 and dry.out.count("experiment   Courses of") == 6
    assert not out.exists()
    assert "length       685 ticks" in dry.out, "eight sessions, a day apart"


@pytest.mark.slow(20)
def test_the_benchmark_from_the_command_to_the_tables(simcounsel: Command, tmp_path: Path) -> None:
    out = tmp_path / "study"
    dry = simcounsel("study", "courses", *ASKED, "--out", out, "--dry-run")
    assert dry.code == 0 and "4, in" in dry.out and not out.exists()
    done = simcounsel("study", "courses", *ASKED, "--out", out)
    assert done.code == 0, done.err
    tables = {file.stem: pd.read_csv(file) for file in (out / "tables").iterdir()}
    per = ("table_4", "table_5", "table_7", "pairs", "said", "done")
    assert set(tables) == {
        "table_1",
        "table_2",
        "table_6",
        *(f"{table}_{therapy}" for table in per for therapy in ("cbt", "psychodynamic")),
    }
    page = (out / "courses.html").read_text("utf-8")
    assert "say nothing about counseling" in page or "says nothing about counseling" in page
    assert "7.26" in page and "Table 7" in page

    folders = sorted((out / "cbt" / "runs").glob("*/*/manifest.json")) or sorted(
        (out / "cbt" / "runs").glob("*/manifest.json")
    )
    runs = [Run.open(file.parent) for file in folders]
    assert len(runs) == 4
    said = [event for run in runs for event in happened(run, Said)]
    thought = [event for run in runs for event in happened(run, Reasoned)]
    size = tables["table_1"].set_index(["row", "column"])["ours"]
    assert size["cbt", "samples"] == 4
    assert size["cbt", "lines a session"] == pytest.approx(
        len(said) / len({(run.folder, e.chat) for run in runs for e in happened(run, Said)})
    )
    assert thought and size["cbt", "words a line with thoughts"] > size["cbt", "words a line"] > 5

    planned = tables["table_6"].set_index(["row", "column"])["ours"]
    assert planned["all stages", "sessions"] == 5, "a case of each therapy, though runs share names"

    sample = find([out / "cbt" / "runs"])
    values = read_tables(sample)["measurements"]
    alliance = values[(values["instrument"] == "session_alliance") & (values["score"] == "total")]
    course = alliance[alliance["arm"] == "course"]
    by_client = [
        own.groupby("tick")["value"].mean().map(lambda x: ten("session_alliance", x))
        for _, own in course.groupby("client", observed=True)
    ]
    level = tables["table_7_cbt"].set_index(["row", "column"])
    row = level.loc[("SRS: session alliance", "course")]
    means = [own.mean() for own in by_client]
    assert row["ours"] == pytest.approx(sum(means) / 2)
    low, high = ttest_1samp(means, 0).confidence_interval()
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
    assert level.loc[("SRS: session alliance", "PsychEval, published"), "published"] == 8.29
    change = tables["table_5_cbt"].set_index(["row", "column"])["ours"]
    steps = [(own.iloc[-1] - own.iloc[0]) / (len(own) - 1) for own in by_client]
    assert change["SRS: session alliance", "course"] == pytest.approx(sum(steps) / 2)
    card = json.loads((out / "card.json").read_text("utf-8"))
    assert len(card["runs"]) == 8 and all(one["digest"] for one in card["runs"].values())

    rated = simcounsel("rate", runs[0].folder, "--instrument", "cbt", "--dry-run")
    assert rated.code == 0 and rated.out.count("dry run") == len(battery().scales("cbt"))
    misspelt = simcounsel("rate", runs[0].folder, "--instrument", "low_mood,cbtt", "--dry-run")
    assert misspelt.code == 1 and "no instrument 'cbtt'" in misspelt.err

    before = {file: file.read_bytes() for file in out.glob("*/runs/**/events.jsonl")}
    again = simcounsel("study", "courses", *ASKED, "--out", out)
    assert again.code == 0
    assert {file: file.read_bytes() for file in out.glob("*/runs/**/events.jsonl")} == before
    other = simcounsel("study", "courses", *ASKED, "--out", out, "--sessions", "6")
    assert other.code == 1 and "another study was begun here" in other.err
