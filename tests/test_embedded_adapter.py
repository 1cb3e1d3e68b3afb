"""A run whose counselor speaks through an adapter: it works, is the same every time, resumes, and notices another adapter."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from simcounsel import Simulation, load_world
from simcounsel.embedded.thoughts import Thoughts
from simcounsel.errors import ModelError
from simcounsel.events import Said, Warned
from simcounsel.runs.run import Run
from simcounsel.specs.world import World

np = pytest.importorskip("numpy")
gguf = pytest.importorskip("gguf")
ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.weights, pytest.mark.slow(3)]


@pytest.fixture(scope="module", autouse=True)
def _no_written_summaries() -> Iterator[None]:
    """Half of the time would go into what the adapter does not touch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Thoughts, "_written_summaries", lambda self, facts, seed: [])
        yield


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random and weak, on q and v of every block."""
    rng = np.random.default_rng(1)
    file = tmp_path_factory.mktemp("adapter") / "adapter.gguf"
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 8.0)
    for block in range(30):
        for name, out in (("attn_q", 576), ("attn_v", 192)):
            writer.add_tensor(
                f"blk.{block}.{name}.weight.lora_a",
                (rng.normal(size=(4, 576)) / 24).astype(np.float32),
            )
            writer.add_tensor(
                f"blk.{block}.{name}.weight.lora_b",
                (rng.normal(size=(out, 4)) * 0.03).astype(np.float32),
            )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.fixture(scope="module")
def world(adapter: Path) -> World:
    """The quarter of an hour before Ines sees Miriam, and the one in which she does."""
    return load_world(
        ROOT / "worlds" / "insomnia.yaml",
        **{
            "models": {"reason": f"embedded+adapter={adapter}"},
            "start": "2026-03-02 14:45",
            "condition": "client_counselor",
            "without": ["appraise", "reflect", "replan"],
            "conversation.max_turns": 6,
            "ticks": 3,
        },
    )


@pytest.fixture(scope="module")
def run(world: World, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Simulation(world, out=tmp_path_factory.mktemp("runs")).run(2)


def test_the_counselor_speaks_through_it_and_the_log_says_so(run: Run) -> None:
    events = [entry.event for entry in run.entries()]
    said = [event for event in events if isinstance(event, Said)]
    assert not [event for event in events if isinstance(event, Warned)]
    assert len(said) == 6
    middle = [event for event in said if event.who == "Miriam"][1]
    assert middle.source == "generated"
    assert [event.source for event in said if event != middle] == ["chosen"] * 5


def test_names_carry_its_digest(run: Run, adapter: Path) -> None:
    import hashlib

    digest = hashlib.sha256(adapter.read_bytes()).hexdigest()[:16]
    assert (
        run.manifest.models["reason"]
        == f"embedded+adapter={adapter}#{digest}"
        == run.world.models.reason
    )
    calls = [json.loads(line) for line in (run.folder / "calls.jsonl").read_text().splitlines()]
    assert {call["model"] for call in calls if call["verb"] != "embed"} == {
        f"embedded+adapter@{digest}"
    }


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(
    run: Run, world: World, tmp_path: Path
) -> None:
    """Which is also a second run of the same world."""
    half = Simulation(world, out=tmp_path).run(1)
    opened = Run.open(half.folder)
    Simulation(opened.world, run=opened).run(1)
    assert (half.folder / "events.jsonl").read_bytes() == (run.folder / "events.jsonl").read_bytes()


def test_it_does_not_go_on_with_another_adapter(run: Run, adapter: Path) -> None:
    before = adapter.read_bytes()
    try:
        adapter.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        opened = Run.open(run.folder)
        with pytest.raises(ModelError, match="another adapter .* put that one back"):
            Simulation(opened.world, run=opened)
    finally:
        adapter.write_bytes(before)
