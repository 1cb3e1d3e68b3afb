"""Search by meaning: the index follows the log, and is made when somebody searches first."""

import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from simcounsel.engine.forking import fork
from simcounsel.errors import RunError
from simcounsel.events import Remembered
from simcounsel.measuring import meaning
from simcounsel.measuring.meaning import FOLDER, MeaningSearch, Nearest
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.commands import Command
from tests.stage import go_on, happened, live


@pytest.fixture
def run(lived: Run, tmp_path: Path) -> Run:
    return Run.open(shutil.copytree(lived.folder, tmp_path / "runs" / lived.name))


def found(run: Run, words: str, **more: object) -> Nearest:
    with MeaningSearch() as search:
        return search.search(run, words, **more)  # type: ignore[arg-type]


def texts(run: Run) -> set[str]:
    return {event.memory.text for event in happened(run, Remembered)}


def indexed(run: Run) -> set[str]:
    return {one.text for one in found(run, "day", most=10_000).found}


def test_a_memory_is_nearest_to_its_own_text(run: Run) -> None:
    said = next(one.memory for one in happened(run, Remembered) if one.memory.type == "chat")
    nearest = found(run, said.text)
    first = nearest.found[0]
    assert (first.text, first.chat, first.message) == (said.text, said.chat, said.message)
    assert first.nearness == pytest.approx(1, abs=1e-2)
    assert first.who == ("Ines", "Miriam"), "both remember it; it is told once"
    assert [one.nearness for one in nearest.found] == sorted(
        (one.nearness for one in nearest.found), reverse=True
    )
    assert nearest.model == "scripted" and "nothing of their meaning" in nearest.note
    assert nearest.memories == len(happened(run, Remembered))
    assert not verify(run.folder).damages
    alone = found(run, said.text, who="Miriam").found
    assert {one.who for one in alone} == {("Miriam",)} and alone[0].text == said.text


def test_it_grows_with_the_run_and_is_left_as_it_is_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = live(tmp_path, ticks=3)
    assert not (run.folder / FOLDER).exists(), "a run does not wait for it"
    before = indexed(run)
    assert before == texts(run)
    go_on(run, 3)
    assert before < indexed(run) == texts(run)
    monkeypatch.setattr(meaning, "_add", None)
    assert indexed(run) == texts(run), "nothing is new, so that nothing is added"


def test_what_is_lived_again_takes_the_place_of_what_was(
    run: Run, simcounsel: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`resume --from` uses the same ids for other memories."""
    whole = indexed(run)
    monkeypatch.setenv("SIMCOUNSEL_FALLBACKS", "never")
    ended = simcounsel("resume", run.folder, "--from", 2, "--ticks", 1, "--quiet")
    assert ended.code == 0, ended.err
    again = Run.open(run.folder)
    assert indexed(again) == texts(again) < whole
    seqs = {one.seq for one in found(again, "day", most=10_000).found}
    assert seqs <= {entry.seq for entry in again.entries()}


def test_a_fork_has_an_index_of_its_own(run: Run, tmp_path: Path) -> None:
    indexed(run)
    forked = go_on(fork(run, 3, {}, tmp_path / "forks"), 1)
    assert not (forked.folder / FOLDER).exists()
    assert indexed(forked) == texts(forked) < texts(run)


def test_an_index_that_cannot_be_read_is_made_again(run: Run) -> None:
    whole = indexed(run)
    (run.folder / FOLDER / "chroma.sqlite3").write_bytes(b"rubbish" * 1000)
    assert indexed(run) == whole


def test_several_searches_at_once(run: Run) -> None:
    with MeaningSearch() as search, ThreadPoolExecutor(4) as pool:
        at_once = [*pool.map(lambda _: search.search(run, "sleep"), range(4))]
    assert len(set(at_once)) == 1


def test_what_keeps_a_search_from_being_made(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (run.folder / FOLDER).write_text("", encoding="utf-8")
    with pytest.raises(RunError, match=r"memory: cannot be written .*; copy the run"):
        found(run, "sleep")
    (run.folder / FOLDER).unlink()
    calls = run.folder / "calls.jsonl"
    lines = calls.read_text(encoding="utf-8").splitlines(keepends=True)
    calls.write_text(
        "".join("{\n" if json.loads(line)["purpose"] == "remember" else line for line in lines),
        encoding="utf-8",
    )
    with pytest.raises(RunError, match=r"the vector of \S+ \(tick 0\) is missing; `simcounsel re"):
        found(Run.open(run.folder, damaged=True), "sleep")


def test_without_chroma_the_extra_is_named(
    run: Run, simcounsel: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "chromadb", None)
    said = "search by meaning needs Chroma: pip install 'simcounsel[search]'"
    ended = simcounsel("show", run.folder, "--search", "sleep")
    assert (ended.code, ended.err.strip()) == (1, f"simcounsel: {said}")
    client = TestClient(make_app(RunList(run.folder)), base_url="http://127.0.0.1")
    answer = client.get(f"/api/runs/{run.name}/search", params={"q": "sleep", "by": "meaning"})
    assert (answer.status_code, answer.text) == (422, said)
    assert simcounsel("show", run.folder).code == 0


def test_show_finds_it_in_one_run_and_in_a_folder(
    run: Run, simcounsel: Command, tmp_path: Path
) -> None:
    one = simcounsel("show", run.folder, "--search", "breakfast").out.splitlines()
    assert one[0].startswith(
        f"nearest among {len(happened(run, Remembered))} memories, by the vectors"
    )
    assert len(one) == 1 + meaning.MOST and " Miriam: " in "".join(one)
    other = live(tmp_path / "runs", ticks=2)
    both = simcounsel("show", tmp_path / "runs", "--search", "breakfast").out.splitlines()
    assert " memories of 2 runs, by the vectors of scripted" in both[0]
    assert {name for name in (run.name, other.name) if name in "".join(both)}
    alone = simcounsel("show", run.folder, "--search", "breakfast", "--who", "Ines").out
    assert " Ines: " in alone and "Miriam: Miriam" not in alone
    wrong = simcounsel("show", run.folder, "--search", "breakfast", "--who", "Nobody")
    assert wrong.code == 1 and "no resident 'Nobody'; there are Ines, Miriam" in wrong.err
    assert "no run of a world there" in simcounsel("show", tmp_path / "none", "--search", "x").err


def test_the_page_finds_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    client = TestClient(make_app(RunList(run.folder)), base_url="http://127.0.0.1")

    def asked(words: str) -> "tuple[int, str]":
        about = {"q": words, "by": "meaning"}
        answer = client.get(f"/api/runs/{run.name}/search", params=about)
        return answer.status_code, answer.text

    status, text = asked("a talk about sleep")
    answer = json.loads(text)
    assert (status, answer["model"]) == (200, "scripted") and len(answer["hits"]) == meaning.MOST
    assert answer["all"] == len(happened(run, Remembered))
    assert all(-1 <= hit["nearness"] <= 1.01 and hit["who"] in hit["all"] for hit in answer["hits"])
    assert json.loads(asked("  ")[1]) == {"hits": [], "all": 0}
    for model, why in (
        (
            "openai:text-embedding-3-small",
            "which may cost money; search in a terminal: `simcounsel",
        ),
        ("embedded", "weights are missing (minilm, minilm-tokenizer); fetch them with `simcounsel"),
    ):
        monkeypatch.setattr("simcounsel.viewer.search.vectors_of", lambda _, model=model: model)
        monkeypatch.setenv("SIMCOUNSEL_CACHE", str(run.folder / "empty"))
        status, text = asked("sleep")
        assert status == 422 and why in text, text
