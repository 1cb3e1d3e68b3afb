"""The real embedded model, end to end for a few ticks."""

import json
import re
from pathlib import Path

import pytest

from simcounsel import Simulation, load_world
from simcounsel.events import Decided, Recalled, Reflected, Said, Warned
from simcounsel.runs.run import Run
from simcounsel.specs.persona_file import load_persona
from tests.open.installed import distribution
from tests.pages import blocks

ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.weights, pytest.mark.slow(3)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Seven ticks of the tiny world with a session in them, and an early reflection."""
    world = load_world(ROOT / "worlds" / "tiny.yaml", **{"memory.reflect_after_memories": 6})
    return Simulation(world, out=tmp_path_factory.mktemp("runs")).run(7)


def test_a_session_takes_place_and_nothing_falls_back(run: Run) -> None:
    events = [entry.event for entry in run.entries()]
    said = [event for event in events if isinstance(event, Said)]
    assert not [event for event in events if isinstance(event, Warned)]
    assert len(said) == 6
    assert {event.source for event in said} <= {"chosen", "generated"}
    assert any(isinstance(event, Reflected) and event.insights for event in events)
    assert all(
        0 <= hit.score <= 1 for event in events if isinstance(event, Recalled) for hit in event.hits
    )


def test_the_counselor_asks_one_question_at_most_and_the_client_none(run: Run) -> None:
    said = [entry.event for entry in run.entries() if isinstance(entry.event, Said)]
    counselor = [event.text for event in said if event.who == "Miriam"]
    assert all(text.count("?") <= 1 for text in counselor[1:-1])
    assert any("?" in text for text in counselor)
    assert all("?" not in event.text for event in said if event.who == "Ines")
    assert len({event.text for event in said}) == len(said)
    assert not re.search(r"[{}\[\]*]", " ".join(event.text for event in said))


def test_what_the_counselor_quotes_was_said(run: Run) -> None:
    """Word for word; at the beginning of a line with a capital."""
    said = [entry.event for entry in run.entries() if isinstance(entry.event, Said)]
    heard = ""
    for event in said:
        if event.who == "Miriam":
            quotes = re.findall(r"“([^”]+)”", event.text)
            assert all(quote.casefold() in heard.casefold() for quote in quotes)
        else:
            heard += event.text


def test_activities_come_from_the_hour(run: Run) -> None:
    routines = {r.do: r for r in load_persona(ROOT / "personas" / "ines.yaml").routines}
    for line in (run.folder / "events.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["kind"] == "acted" and event["who"] == "Ines" and event["activity"] in routines:
            assert routines[event["activity"]].covers(event["minute"])


def test_a_replay_needs_no_model_and_gives_the_same_bytes(run: Run, tmp_path: Path) -> None:
    world = load_world(ROOT / "worlds" / "tiny.yaml", **{"memory.reflect_after_memories": 6})
    again = Simulation(world, model=f"recorded:{run.folder}", out=tmp_path).run(7)
    assert (again.folder / "events.jsonl").read_bytes() == (
        run.folder / "events.jsonl"
    ).read_bytes()


def test_a_thought_that_no_stand_in_knows_goes_with_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the page on adding one's own has it: the line is chosen, nothing was thought."""
    texts = [one.text for one in blocks("python") if one.page == "docs/extending.md"][:2]
    points = {"simcounsel.policies": {"weigher": "weighs:WEIGHER"}}
    distribution(tmp_path / "installed", "weighs", points, weighs="\n".join(texts))
    monkeypatch.syspath_prepend(tmp_path / "installed")
    world = load_world(ROOT / "worlds" / "tiny.yaml", **{"residents.Miriam.policy": "weigher"})
    events = [one.event for one in Simulation(world, out=tmp_path).run(4).entries()]
    reasons = {one.reason for one in events if isinstance(one, Decided) and one.who == "Miriam"}
    assert reasons == {"nothing was weighed"}
    said = [one for one in events if isinstance(one, Said) and one.who == "Miriam"]
    assert said and {one.source for one in said} <= {"chosen", "generated"}
    assert not [one for one in events if isinstance(one, Warned)]
