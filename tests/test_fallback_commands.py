"""Commands whose model answers with what is unusable: stopped, marked, exit code 3, and gone on
with.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from simcounsel.bench.folder import read_manifest
from simcounsel.bench.result import read_result
from simcounsel.corpus.rated import read_rated
from tests.bench.test_cases import CASES
from tests.commands import Command
from tests.corpus.made import dialogue
from tests.llm.server import FaultServer, default_answer
from tests.stage import ROOT, TINY


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as serving:
        yield serving


def corpus(folder: Path, count: int = 3) -> Path:
    file = folder / "c.jsonl"
    made = [
        dialogue(f"d{n}", f"I feel low {n}.", "What is it like?", "Heavy.", "Where?", theme="low")
        for n in range(count)
    ]
    file.write_text("\n".join(one.model_dump_json() for one in made) + "\n", encoding="utf-8")
    return file


def marks(file: Path) -> list[str]:
    return [
        line["why"]
        for line in map(json.loads, file.read_text("utf-8").splitlines())
        if line["kind"] == "stopped"
    ]


def test_a_benchmark(simcounsel: Command, tmp_path: Path, server: FaultServer) -> None:
    folder = tmp_path / "bench"
    given = ("study", "bench", "cpsycoune", CASES, "--model", f"{server.url}/m", "--out", folder)
    server.answer = lambda body: ""
    ended = simcounsel(*given, "--fallbacks", "0.2,3")
    assert ended.code == 3
    assert "4 of 4 answers were unusable, more than the 0.2 that are allowed" in ended.err
    assert f"what was answered is kept in {folder}; the same command goes on" in ended.err
    (stop,) = read_manifest(folder).stops
    assert stop.why in ended.err
    server.answer = default_answer
    ended = simcounsel(*given, "--fallbacks", "0.2,3")
    assert ended.code == 0 and f"given up at {stop.at}: 4 of 4 answers" in ended.out
    assert read_result(folder).stops == (stop,)
    assert read_result(folder).no_reply == 0


def test_a_benchmark_that_never_stops(
    simcounsel: Command, tmp_path: Path, server: FaultServer
) -> None:
    server.answer = lambda body: ""
    given = (
        "study",
        "bench",
        "cpsycoune",
        CASES,
        "--model",
        f"{server.url}/m",
        "--out",
        tmp_path / "b",
    )
    assert simcounsel(*given, "--fallbacks", "1").code == 0
    assert read_result(tmp_path / "b").no_reply == 10


def test_the_detector_of_danger(simcounsel: Command, server: FaultServer) -> None:
    server.answer = lambda body: ""
    lines = ROOT / "tests/data/risk_lines_tune.yaml"
    given = ("study", "bench", "risk", lines, "--model", f"{server.url}/m", "--every-line")
    ended = simcounsel(*given)
    assert ended.code == 3 and "51 of 51 answers were unusable" in ended.err


def test_ratings_of_a_corpus(simcounsel: Command, tmp_path: Path, server: FaultServer) -> None:
    file = corpus(tmp_path)
    given = ("corpus", "rate", file, "--model", f"{server.url}/m", "--fallbacks", "0.2,1")
    server.answer = lambda body: "no idea"
    ended = simcounsel(*given)
    assert ended.code == 3 and "the same command goes on" in ended.err
    (kept,) = Path(f"{file}.ratings").glob("*.jsonl")
    (why,) = marks(kept)
    assert why in ended.err
    server.answer = default_answer
    assert simcounsel(*given).code == 0
    assert all(one.answered for one in read_rated(kept.parent))


def test_ratings_of_a_corpus_of_which_the_judge_dies(
    simcounsel: Command, tmp_path: Path, server: FaultServer
) -> None:
    given = ("--model", f"{server.url}/m", "--in-flight", 1, "--wait-for-model", 0, "--samples", 2)
    whole = corpus(tmp_path)
    assert simcounsel("corpus", "rate", whole, *given).code == 0
    every = len(server.bodies)
    expected = {one.dialogue: one.items for one in read_rated(Path(f"{whole}.ratings"))}
    for call in (0, 1, every // 2, every - 1):
        out = tmp_path / str(call)
        server.bodies.clear()
        server.faults = lambda index, at=call: "503" if index >= at else None
        assert simcounsel("corpus", "rate", whole, *given, "--out", out).code == 3
        lost = len(server.bodies) - call
        server.faults = lambda index: None
        assert simcounsel("corpus", "rate", whole, *given, "--out", out).code == 0
        assert {one.dialogue: one.items for one in read_rated(out)} == expected
        assert len(server.bodies) - lost == every, "nothing is asked twice"


@pytest.mark.parametrize("kind", ["worlds", "synthesis"])
def test_a_sweep_gives_up_such_a_run(
    simcounsel: Command, tmp_path: Path, server: FaultServer, kind: str
) -> None:
    server.answer = lambda body: ""
    experiment, bad = tmp_path / "e.yaml", f"{server.url}/m"
    if kind == "worlds":
        experiment.write_text(
            f"name: Bad\nworlds: [{TINY}]\nseeds: [1]\nconditions:\n"
            f"  - {{name: bad, set: {{models.reason: {bad}, models.embed: scripted}}}}\n",
            encoding="utf-8",
        )
    else:
        experiment.write_text(
            "name: Bad\nsynthesis: {sessions: 1}\nseeds: [1]\nconditions:\n"
            f"  - {{name: bad, set: {{models.default: '{bad}', models.embed: scripted}}}}\n",
            encoding="utf-8",
        )
    ended = simcounsel("sweep", experiment, "--out", tmp_path / "out", "-q")
    assert ended.code == 3, ended.err + ended.out
    assert "given up " in ended.out and "fallbacks" in ended.out


def test_a_course_is_given_up(simcounsel: Command, tmp_path: Path, server: FaultServer) -> None:
    server.answer = lambda body: ""
    ended = simcounsel(
        "clinic", TINY, "--sessions", 5, "--model", f"{server.url}/m", "--out", tmp_path, "-q"
    )
    assert ended.code == 3, ended.err
    assert "asks again" in ended.err and "given up       tick " in ended.out
