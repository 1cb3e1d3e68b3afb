"""`byhand:FOLDER`: requests as files, answers as files, by whoever writes them."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simcounsel.agents.tasks import FeelingAnswer
from simcounsel.errors import ModelError
from simcounsel.llm import byhand
from simcounsel.llm.byhand import LOOK_EVERY_S, ByHand, check_inherited
from simcounsel.llm.catalog import open_chat
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from tests.stage import TINY

FEEL = Question(
    verb="fill",
    purpose="appraise",
    who="Ines",
    tier="quick",
    system="You are Ines.",
    prompt="The phone rings. What do you feel?",
    schema=FeelingAnswer,
    fallback=None,
)
PICK = Question(
    verb="choose", purpose="move", who="Miriam", prompt="Which?", options=("a", "b"), fallback=None
)
FITS = json.dumps({"emotion": "fear", "intensity": 4, "poignancy": 2})


@contextmanager
def somebody(folder: Path, answers: Callable[[dict], str]) -> Iterator[list[dict]]:
    """Answers what waits, by the files alone, until the block ends; the requests that were seen."""
    over, seen = threading.Event(), []

    def work() -> None:
        while not over.wait(0.05):
            for file in sorted((folder / "waiting").glob("*.json")):
                answer = file.with_name(f"{file.stem}.answer.txt")
                if not answer.exists():
                    said = file.with_name(f"{file.stem}.problem.txt")
                    problem = {"problem": said.read_text()} if said.exists() else {}
                    try:
                        text = file.read_text()
                    except FileNotFoundError:  # the last answer was taken meanwhile
                        continue
                    seen.append(json.loads(text) | problem)
                    answer.write_text(answers(seen[-1]))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def answered(model: ByHand, *questions: Question) -> list[Completion]:
    async def ask() -> list[Completion]:
        return list(await asyncio.gather(*(model.complete(one, None) for one in questions)))

    return asyncio.run(asyncio.wait_for(ask(), 30))


def test_the_request_shows_all_that_is_sent_and_the_answer_is_taken(tmp_path: Path) -> None:
    model = ByHand(tmp_path, name="byhand:here")
    with somebody(tmp_path, lambda seen: FITS) as seen:
        (got,) = answered(model, FEEL)
    assert (got.text, got.source, dict(got.notes)) == (FITS, "generated", {"by": "hand"})
    (request,) = seen
    assert [one["content"] for one in request["messages"]] == [
        one["content"] for one in FEEL.messages
    ]
    assert (request["who"], request["purpose"], request["role"]) == ("Ines", "appraise", "quick")
    assert request["schema"]["properties"].keys() == FeelingAnswer.model_fields.keys()
    (page,) = (tmp_path / "answered").glob("*.md")
    text = page.read_text()
    for told in ("# Ines: appraise", "The phone rings.", '"intensity"', f"{page.stem}.answer.txt"):
        assert told in text
    assert not list((tmp_path / "waiting").iterdir())


@pytest.mark.slow
def test_what_is_wrong_is_said_at_once_and_the_answer_kept(tmp_path: Path) -> None:
    model = ByHand(tmp_path, name="byhand:here")
    tries = iter(['{"emotion": "fear"}', "no idea", FITS])
    with somebody(tmp_path, lambda seen: next(tries)) as seen:
        (got,) = answered(model, FEEL)
    assert got.text == FITS and len(seen) == 3
    assert all("the JSON did not fit" in one["problem"] for one in seen[1:])
    kept = sorted(f.read_text() for f in (tmp_path / "waiting").glob("*.refused-*.txt"))
    assert kept == ["no idea", '{"emotion": "fear"}']


def test_the_same_request_is_not_asked_twice(tmp_path: Path) -> None:
    with somebody(tmp_path, lambda seen: "2") as seen:
        both = answered(ByHand(tmp_path, name="byhand:here"), PICK, PICK)
    assert [one.text for one in both] == ["2", "2"] and len(seen) == 1
    again = answered(ByHand(tmp_path, name="byhand:here"), PICK)
    assert again[0].text == "2"


@pytest.mark.slow
def test_an_answer_that_is_still_being_written_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(byhand, "SETTLED_S", 3600)
    model = ByHand(tmp_path, name="byhand:here")

    async def slowly() -> Completion:
        asked = asyncio.create_task(model.complete(PICK, None))
        while not (waiting := list((tmp_path / "waiting").glob("*.md"))):
            await asyncio.sleep(0.01)
        assert model.waiting == 1
        file = waiting[0].with_name(f"{waiting[0].stem}.answer.txt")
        for part in ("option ", "b, ", "surely"):
            with file.open("a") as out:
                out.write(part)
            await asyncio.sleep(2 * LOOK_EVERY_S)
            assert not asked.done()
        os.utime(file, (0, 0))
        return await asked

    assert asyncio.run(asyncio.wait_for(slowly(), 30)).text == "option b, surely"


def test_a_name_without_a_folder_or_with_a_bad_one(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="byhand:questions"):
        open_chat("byhand:")
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="no folder can be made"):
        open_chat(f"byhand:{tmp_path / 'file'}")


def test_a_model_that_is_asked_nothing_leaves_no_folder(tmp_path: Path) -> None:
    open_chat(f"byhand:{tmp_path / 'a' / 'questions'}")
    assert not list(tmp_path.iterdir())


def test_what_is_waited_for_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(byhand, "SAY_AFTER_S", 0.0)
    with somebody(tmp_path, lambda seen: "2"):
        answered(ByHand(tmp_path, name="byhand:here"), PICK)
    (line,) = caplog.messages
    (answer,) = (tmp_path / "answered").glob("*.answer.txt")
    assert line == f"byhand:here waits for an answer in {tmp_path / 'waiting' / answer.name}"


def test_a_run_goes_on_by_hand_only_where_its_folder_is(tmp_path: Path) -> None:
    check_inherited(["scripted", f"byhand:{tmp_path}"])
    with pytest.raises(ModelError, match="answered by hand, and .* has no folder 'nowhere'.*fork"):
        check_inherited(["scripted", "byhand:nowhere"])


@pytest.mark.slow
def test_a_run_by_hand_is_lived_stopped_and_replayed(tmp_path: Path) -> None:
    """As somebody does it: a run in a process of its own, answered through its files, killed in the
    middle, resumed; its recording replays to the same bytes."""
    folder = tmp_path / "questions"

    def simcounsel(*told: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "simcounsel", *map(str, told), "--quiet"]
        return subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE)

    def first_that_fits(request: dict) -> str:
        if request["answer"] == "fill":
            asked_for = re.search(r"(\d+) were asked for", request.get("problem", ""))
            example = example_of(request["schema"], many=int(asked_for[1]) if asked_for else 1)
            return json.dumps(example).replace("SOMEWHERE", f"{request['who']}'s Kitchen")
        return {"choose": "1", "rate": str(request.get("scale", [1])[0])}.get(
            request["answer"], "The kettle is on and the street is quiet."
        )

    settings = ("--set", f"models.reason=byhand:{folder}", "--set", "models.embed=scripted")
    with somebody(folder, first_that_fits):
        process = simcounsel("run", TINY, "--ticks", 2, "--out", "runs", *settings)
        while not list(tmp_path.glob("questions/answered/*.answer.txt")):
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.communicate()
        (run,) = (tmp_path / "runs").iterdir()
        process = simcounsel("resume", run, "--ticks", 2)
        process.communicate(timeout=90)
        assert process.returncode == 0
    replay = simcounsel("run", TINY, "--ticks", 2, "--out", "again", "--model", f"recorded:{run}")
    replay.communicate(timeout=90)
    (other,) = (tmp_path / "again").iterdir()
    assert (other / "events.jsonl").read_bytes() == (run / "events.jsonl").read_bytes()


def example_of(schema: dict, whole: dict | None = None, many: int = 1) -> object:
    """Something that fits a JSON schema."""
    whole = whole or schema
    if "$ref" in schema:
        return example_of(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole, many)
    if "pattern" in schema:
        return "08:00"
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0], whole, many)
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            found = {name: example_of(field, whole, many) for name, field in fields.items()}
            return found | ({"place": "SOMEWHERE"} if "place" in fields else {})
        case "array":
            count = max(many, schema.get("minItems", 1))
            return [example_of(schema["items"], whole, many) for _ in range(count)]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return "walks slowly through the room and looks out"
