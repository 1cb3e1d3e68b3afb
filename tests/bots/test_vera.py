"""VERA-MH's personas, transcripts and rubric: their forms, in small files with words of our own."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

from simcounsel.bots.clients.personas import read_personas
from simcounsel.bots.clients.reading import client_named, drawn, named_in, read_clients
from simcounsel.bots.rubric import Answered, RubricQuestion, RubricVerdict, judged, read_rubric
from simcounsel.bots.study.lives import Turn, life_of
from simcounsel.bots.study.plan import SafetyPlan, cells_of
from simcounsel.bots.study.results import bot_result
from simcounsel.bots.vera import transcript, write_conversations
from simcounsel.engine.opening import begin_run
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import RunError, SpecError
from simcounsel.llm.question import Question, Reply
from simcounsel.named_code import allow_code, as_before
from simcounsel.runs.run import Run
from simcounsel.specs.cells import Cell
from simcounsel.specs.world import World
from tests.bots.test_seat import own_bot
from tests.each import each
from tests.prompts.test_golden import compare, shown
from tests.stage import tiny

SI = (
    "Name\tAge\tGender\tCurrent Suicide Risk Level\tShort Current Suicide Risk Level\tBackground\tFinal Seed Phrase",
    "Ola\tAdult: 30-44yo\tTransgender woman\tImmediate (a plan)\tImmediate\tDrives a tram\tnot sure I'm here tomorrow",
    'Sam\tOlder: 60+ yo\tMan (cisgender)\tNone (nothing)\tNone\t"Keeps ""bees""\nand hens"\thello there',
)
OLD = (
    "Name\tAge\tPronouns\tBackground\tCurrent Risk Level\tSample Prompts",
    "Ren\t19\tthey/them\tStudies maps\tLow\tis anybody there",
)
HFO = (
    "Name\tAge\tGender\tHarm imminence\tBackground",
    "4XK\tEmerging: 18-29 yo\tWoman (cisgender)\tNon-imminent: not in the next day\tSells shoes",
    "7QQ\tEmerging: 18-29 yo\tMan (cisgender)\tImminent: tonight\tFixes lifts",
    "9AB\tEmerging: 18-29 yo\tMan (cisgender)\tN/A: no harm\tBakes bread",
)
RUBRIC = (
    "Label\tQuestion ID\tDimension\tSeverity\tRisk Type\tQuestion\tExamples\tAnswer\tGOTO\t\tAuto Answer",
    "a\t1\tHears\t\t\tIs rain named?\tAlso drizzle\tYes\t2\t\t",
    "\t\t\t\t\t\t\tNo\t3b\t\t",
    "\t\t\t\t\t\t\tNot readable\tEND\t\t",
    "b\t2\tHears\tRed\t\tIs it passed over?\t\t\t\t\t",
    "c\t3b\tHears\tYellow\t\tIs snow made of it?\t\tYes\tASSIGN_END\t\t",
    "\t\t\t\t\t\t\tNo\tNOT_RELEVANT>>5\t\t",
    "d\t4\tAsks\t\t\tThe umbrella.\t\tGo on\t\t\ttrue",
    "e\t5\tAsks\tYellow\t\tIs it asked twice?\t\t\t\t\t",
)
TALK = (
    Turn(number=1, by_bot=False, text="It rains."),
    Turn(number=2, by_bot=True, text="Bring a coat.\nAnd go."),
)


def tsv(folder: Path, rows: tuple[str, ...], name: str = "personas.tsv") -> Path:
    file = folder / name
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def walked(
    rubric: tuple[RubricQuestion, ...], answers: Mapping[str, str]
) -> tuple[tuple[Answered, ...], list[Question[str]]]:
    """The way with these answers by a question's words, and what was asked."""
    asked, way = [], judged(rubric, TALK, "ola")
    try:
        question = next(way)
        while True:
            question = cast("Question[str]", question)
            asked.append(question)
            text = next(v for k, v in answers.items() if k in question.prompt)
            question = way.send(
                Reply(
                    value=RubricVerdict(because="so", answer=text) if text else None,
                    call=question.key,
                )
            )
    except StopIteration as done:
        return done.value, asked


def test_each_form_of_the_personas_is_read(tmp_path: Path) -> None:
    ola, sam = read_personas(tsv(tmp_path, SI))
    assert (ola.id, ola.name, ola.age, ola.gender) == ("vera-ola", "Ola", 37, "woman")
    assert (ola.risks, ola.helps) == (("suicide",), ("emergency", "line", "doctor"))
    assert "Background: Drives a tram" in ola.persona and "Transgender woman" in ola.persona
    assert "not to be repeated): not sure I'm here tomorrow" in ola.persona
    assert (sam.risks, sam.helps, sam.like, sam.age) == ((), (), None, 60)
    assert sam.life.friend != sam.name and 'Keeps "bees"\nand hens' in sam.persona
    (ren,) = read_personas(tsv(tmp_path, OLD))
    assert (ren.age, ren.gender, ren.risks, ren.helps) == (
        19,
        "not told",
        ("suicide",),
        ("line", "doctor"),
    )
    first, second, third = read_personas(tsv(tmp_path, HFO))
    assert (first.listed, first.name, first.id) == ("4XK", "Person 4XK", "vera-4xk")
    assert [one.risks for one in (first, second, third)] == [("abuse",), ("abuse",), ()]
    assert [one.helps for one in (first, second)] == [("line",), ("emergency", "line")]
    assert all(shows == "none" for one in (ola, first) for shows in one.stages[0].shows.values())


def test_a_tsv_is_a_file_of_clients(tmp_path: Path) -> None:
    file = tsv(tmp_path, SI)
    clients = read_clients(file)
    assert [one.id for one in clients] == ["vera-ola", "vera-sam"]
    assert drawn(clients, 2, 1) == clients and drawn(clients, 1, 1) == clients[:1]
    assert client_named(named_in(file, "vera-sam")) == clients[1]
    with pytest.raises(SpecError, match=r"no \+ in its path; rename"):
        named_in(tmp_path / "a+b.tsv", "vera-sam")


@each(
    ("rows", "said"),
    [
        (("Name,Age", "Ola,30"), r":1: no column 'Name'; is it a TSV\? There is: Name,Age"),
        (("Name\tAge", "Ola\t30"), r":1: no column says how near the danger is; known: Short"),
        (SI[:1], r":2: no row below the columns"),
        (
            (SI[0], SI[1].replace("\tImmediate\t", "\tVery\t")),
            r":2: Ola: Short .*'Very'; it begins",
        ),
        ((*SI, SI[1].replace("Adult: 30-44yo", "grown")), r":5: entry 3: age.*'grown'"),
        ((SI[0], SI[1] + "\tmore"), r":2: 8 cells under 7 columns; take the tabs out"),
    ],
)
def test_what_is_wrong_with_personas_is_told(
    tmp_path: Path, rows: tuple[str, ...], said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        tuple(read_personas(tsv(tmp_path, rows)))


def test_without_a_model_a_description_is_not_played(tmp_path: Path) -> None:
    file = tsv(tmp_path, SI)
    plan = SafetyPlan(bots={"a": "echo"}, clients=read_clients(file), file=file, days=1, seeds=(1,))
    refused = r"vera-ola: 'Ola' is a description without lines.*--client-model MODEL"
    with pytest.raises(SpecError, match=refused):
        cells_of(plan)
    mind = f"safety_client:{named_in(file, 'vera-ola')}"
    world = tiny(residents__Ines__mind=mind)
    with pytest.raises(SpecError, match=refused), Simulation(world, out=tmp_path / "run") as live:
        live.run()


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, ...]]:
    """A day of each of two personas with a bot."""
    folder = tmp_path_factory.mktemp("vera")
    file = tsv(folder, SI)
    bot = own_bot(folder, "def reply(messages):\n    return f'{len(messages)} heard.\\nGo on.'\n")
    plan = SafetyPlan(
        bots={"my-bot": bot},
        clients=read_clients(file),
        file=file,
        days=1,
        seeds=(1,),
        turns=6,
        client_model="scripted",
    )
    with as_before():
        allow_code()
        yield tuple(_run(one, folder) for one in cells_of(plan))


def _run(cell: Cell, out: Path) -> Run:
    assert isinstance(cell.about, World)
    run = begin_run(cell.about, out, name=cell.name)
    with Simulation(run.world, run=run) as simulation:
        return simulation.run()


def test_a_model_plays_it_from_its_description(lived: tuple[Run, ...]) -> None:
    life = life_of(lived[0])
    assert life.client.id == "vera-ola" and life.talks
    hers = [turn for talk in life.talks for turn in talk.turns if not turn.by_bot]
    assert all(turn.told is not None and turn.told.key is None for turn in hers)
    assert not {turn.text for turn in hers} & set(life.client.said())
    result = bot_result("my-bot", "spec", [run.folder for run in lived])
    assert [one.at_risk for one in result.lives] == [True, False]
    assert {"asked", "help_named", "at_once"}.isdisjoint(one.check for one in result.rates)


def test_the_talks_are_written_as_transcripts(lived: tuple[Run, ...], tmp_path: Path) -> None:
    count = write_conversations(lived, tmp_path)
    (folder,) = tmp_path.iterdir()
    assert folder.name.startswith("p_scripted__a_my_bot__t6__r1__2026")
    files = sorted((folder / "conversations").iterdir())
    assert len(files) == count == sum(len(life_of(run).talks) for run in lived)
    assert {one.name.split("_")[1] for one in files} == {"Ola", "Sam"}
    assert all(one.name.split("_")[2] == "scripted" for one in files)
    assert "run1.txt" in {one.name.split("_")[3] for one in files}
    text = next(one for one in files if "_Ola_" in one.name).read_text(encoding="utf-8")
    assert text.startswith("user: ") and "\n\nchatbot: 1 heard.\nGo on.\n\nuser: " in text
    before = {one: one.read_bytes() for one in files}
    assert write_conversations(lived, tmp_path) == count
    assert {one: one.read_bytes() for one in (folder / "conversations").iterdir()} == before


def test_a_run_of_another_kind_is_refused(tmp_path: Path) -> None:
    with Simulation(tiny(ticks=1), out=tmp_path / "run") as simulation:
        run = simulation.run()
    with pytest.raises(RunError, match="no run of a safety study"):
        write_conversations([run], tmp_path / "out")


def test_a_transcript_has_an_empty_line_between() -> None:
    assert transcript(TALK) == "user: It rains.\n\nchatbot: Bring a coat.\nAnd go.\n"


def test_a_rubric_is_read(tmp_path: Path) -> None:
    rubric = read_rubric(tsv(tmp_path, RUBRIC, "rubric.tsv"))
    assert [one.id for one in rubric] == ["1", "2", "3b", "4", "5"]
    leads = {one.id: {a.option: a.next for a in one.answers} for one in rubric}
    assert leads == {
        "1": {"Yes": "2", "No": "3b", "Not readable": None},
        "2": {"Yes": "4", "No": "3b"},
        "3b": {"Yes": None, "No": "5"},
        "4": {"Go on": "5"},
        "5": {"Yes": None, "No": None},
    }
    assert [one.severity for one in rubric] == ["", "Red", "Yellow", "", "Yellow"]
    assert [one.auto for one in rubric] == [False, False, False, True, False]
    assert rubric[0].examples == "Also drizzle"


def test_a_talk_goes_its_way_through_a_rubric(tmp_path: Path) -> None:
    rubric = read_rubric(tsv(tmp_path, RUBRIC, "rubric.tsv"))
    way, asked = walked(rubric, {"rain": "Yes", "passed over": "Yes", "twice": "No"})
    assert [(one.id, one.option, one.severity) for one in way] == [
        ("1", "Yes", ""),
        ("2", "Yes", "Red"),
        ("4", "Go on", ""),
        ("5", "No", ""),
    ]
    assert [bool(one.call) for one in way] == [True, True, False, True]
    assert {one.verb for one in asked} == {"fill"} and {one.tier for one in asked} == {"judge"}
    assert "The answers there are: Yes; No; Not readable" in asked[0].prompt
    assert asked[0].check is not None
    strange = RubricVerdict(because="so", answer="Perhaps")
    assert "'Perhaps' is none of the answers" in str(asked[0].check(cast("str", strange)))
    assert len({one.system for one in asked}) == 1
    compare("judge_rubric", shown(asked[0].system, asked[0].prompt))
    way, _ = walked(rubric, {"rain": "No", "snow": "Yes"})
    assert [(one.id, one.goto, one.severity) for one in way][-1] == ("3b", "ASSIGN_END", "Yellow")
    way, _ = walked(rubric, {"rain": "No", "snow": "No", "twice": "Yes"})
    assert [one.goto for one in way] == ["3b", "NOT_RELEVANT>>5", ""]
    way, _ = walked(rubric, {"rain": ""})
    assert [(one.id, one.option) for one in way] == [("1", "")]


@each(
    ("old", "new", "said"),
    [
        ("\tYes\t2\t", "\tYes\t9\t", r":2: GOTO: '9' is no question; write END, ASSIGN_END"),
        ("NOT_RELEVANT>>5", "NOT_RELEVANT>>1", r"3b > 1 .*lead in a circle|1 > 3b .*in a circle"),
        ("e\t5\t", "e\t4\t", r":9: question '4' comes twice"),
        ("a\t1\tHears", "a\t\tHears", r":2: a question needs a Question ID and a Dimension"),
        ("b\t2\tHears", "b\t2\t", r":5: a question needs"),
        ("Go on", "", r":8: Auto Answer: 0 answers"),
        ("\tGOTO\t", "\tNext\t", r":1: no column 'GOTO'"),
    ],
)
def test_what_is_wrong_with_a_rubric_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    rows = tuple(row.replace(old, new) for row in RUBRIC)
    with pytest.raises(SpecError, match=said):
        read_rubric(tsv(tmp_path, rows, "rubric.tsv"))
