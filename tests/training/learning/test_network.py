"""The server's and the sites' sides of a federation between machines, each made from the recipe and its own data alone."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
import torch
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from simcounsel.errors import SimcounselError
from tests.training.learning.conftest import PRIVATE, Recipes, session
from training.errors import TrainingError
from training.federation.flower.client import RECORD, answered
from training.federation.rounds import conduct
from training.federation.site import task_bytes
from training.federation.updates import Task, Weights
from training.learning import network
from training.learning.base import load_for, load_shapes, with_adapters
from training.learning.network import server, site
from training.learning.steps import adapter_weights
from training.recipe import Learning, Lora
from training.recipe_file import load_recipe

pytestmark = pytest.mark.slow

SIZES = {"north": 6, "south": 4}


@pytest.fixture
def clinics(tmp_path: Path) -> dict[str, Path]:
    files = {}
    for number, (name, many) in enumerate(SIZES.items()):
        files[name] = tmp_path / f"{name}.jsonl"
        rows = [session(100 * number + n, f"{name} {n}") for n in range(many)]
        files[name].write_text(
            "".join(row.model_dump_json(exclude_defaults=True) + "\n" for row in rows),
            encoding="utf-8",
        )
    return files


def counted(recipe_file: Recipes, **more: object) -> Path:
    return recipe_file(
        **{
            "corpus": None,
            "held_out": 0,
            "batch_size": 2,
            "rounds": 1,
            "privacy": PRIVATE,
            "lora": {"rank": 4, "alpha": 8, "train": "b"},
            "sites": [
                {"name": name, "sessions": many, "clients": many} for name, many in SIZES.items()
            ],
            **more,
        }
    )


def node(file: Path, name: str, corpus: Path) -> SimpleNamespace:
    return SimpleNamespace(
        run_config={}, node_config={"recipe": str(file), "site": name, "corpus": str(corpus)}
    )


def test_sides_that_never_met_agree_and_a_round_of_them_learns(
    recipe_file: Recipes, tmp_path: Path, clinics: dict[str, Path]
) -> None:
    file = counted(recipe_file)
    of_server = server(
        SimpleNamespace(
            run_config={"recipe": str(file), "folder": str(tmp_path / "out")}, node_config={}
        )
    )
    sides = {name: site(node(file, name, corpus)) for name, corpus in clinics.items()}
    assert {side.terms.fingerprint for side in sides.values()} == {of_server.terms.fingerprint}

    class Wire:
        """Bytes only, as over a network."""

        def ask(self, tasks: dict[str, bytes], frozen: Weights) -> dict[str, bytes]:
            return {name: sides[name].answer(data) for name, data in tasks.items()}

    state, report = conduct(of_server.start, Wire(), of_server.terms, of_server.seed)  # type: ignore[arg-type]
    assert report.answered == ("north", "south") and not report.failed
    moved = {
        key
        for key, value in state.weights.items()
        if not np.array_equal(value, of_server.start.weights[key])
    }
    assert moved and all("lora_B" in key for key in moved)
    of_server.on_round(report)
    of_server.on_end(SimpleNamespace(state=state, ledger=None, stopped=None))  # type: ignore[arg-type]
    assert (tmp_path / "out" / "adapter" / "adapter_model.safetensors").is_file()


def test_a_site_whose_numbers_are_others_does_not_begin(
    recipe_file: Recipes, clinics: dict[str, Path]
) -> None:
    file = counted(recipe_file)
    with pytest.raises(
        SimcounselError,
        match="'south' has 6 sessions of 6 clients to train on, and the recipe says 4 of 4",
    ):
        site(node(file, "south", clinics["north"]))
    with pytest.raises(
        SimcounselError, match="no single site 'east' under `sites:`; there are north, south"
    ):
        site(node(file, "east", clinics["north"]))


@pytest.mark.parametrize(
    ("of_server", "of_site"),
    [
        ({}, {}),
        ({"precision": "bfloat16"}, {"precision": "bfloat16"}),
        ({"precision": "bfloat16", "quantize": "4bit"}, {}),
    ],
)
def test_the_server_draws_the_sites_adapters_without_the_base(
    of_server: dict[str, Any], of_site: dict[str, Any], tiny: Path
) -> None:
    """A base of 8 billion numbers, or one that only a GPU can hold packed, is no server's business."""
    shapes = load_shapes(str(tiny), Learning.model_validate(of_server))
    assert all(value.untyped_storage().nbytes() <= 4 for value in shapes.model.parameters())
    whole = load_for(str(tiny), Learning.model_validate(of_site), "cpu")
    drawn, wanted = (
        adapter_weights(with_adapters(base, Lora(rank=4), seed=3)) for base in (shapes, whole)
    )
    assert drawn.keys() == wanted.keys() and shapes.said() == whole.said()
    assert all(np.array_equal(drawn[key], wanted[key]) for key in wanted)
    assert any(value.any() for key, value in drawn.items() if "lora_A" in key)


def test_a_server_without_a_gpu_starts_for_sites_that_pack_their_base(
    recipe_file: Recipes, tmp_path: Path
) -> None:
    file = counted(recipe_file, learning={"quantize": "4bit", "precision": "bfloat16"})
    given = {"recipe": str(file), "folder": str(tmp_path / "out")}
    started = server(SimpleNamespace(run_config=given, node_config={}))
    assert started.start.weights and started.rounds == 1


def test_what_4_bits_need_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, recipe_file: Recipes, tiny: Path
) -> None:
    with pytest.raises(TrainingError, match="4bit needs a GPU; take `quantize: none`"):
        load_for(str(tiny), Learning(quantize="4bit"), "cpu")
    if importlib.util.find_spec("bitsandbytes") is None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        with pytest.raises(TrainingError, match=r"bitsandbytes, which is missing; pip install -e"):
            load_for(str(tiny), Learning(quantize="4bit"), "cuda")
    for rule in ("exact", "stack"):
        file = recipe_file(learning={"quantize": "4bit"}, averaging={"rule": rule})
        with pytest.raises(SimcounselError, match=f"`{rule}` adds to the base's weights"):
            load_recipe(file)


def test_a_sites_ledger_lies_beside_its_corpus_and_outlives_the_process(
    recipe_file: Recipes, clinics: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may begin again, in an empty folder; the site does not."""
    for name in ("_run_id", "_node_id", "_task_id"):  # as in a process that Flower has started
        monkeypatch.setattr(TaskIdentity, name, 1)
    file = counted(recipe_file)
    start = server(
        SimpleNamespace(
            run_config={"recipe": str(file), "folder": str(tmp_path / "one")}, node_config={}
        )
    ).start

    def asked(number: int) -> dict[str, Any]:
        network._site.cache_clear()
        here = site(node(file, "south", clinics["south"]))
        frozen = {key: value for key, value in start.weights.items() if "lora_A" in key}
        moving = {key: value for key, value in start.weights.items() if "lora_B" in key}
        task = Task(round=number, weights=moving, base_shift=None)
        record = {
            "task": task_bytes(task, here.terms, here.seed, frozen),
            "terms": here.terms.fingerprint,
        }
        content = RecordDict({RECORD: ConfigRecord(record)})
        return answered(here, Message(content, dst_node_id=1, message_type="train"))

    assert "answer" in asked(1)
    assert clinics["south"].with_name("south.jsonl.ledger.json").is_file()
    assert "round 1 was answered on" in asked(1)["failed"]
    assert "round 500 was never agreed on" in asked(500)["failed"]


def test_what_is_not_configured_is_named(recipe_file: Recipes) -> None:
    with pytest.raises(TrainingError, match="--run-config lacks folder"):
        server(SimpleNamespace(run_config={"recipe": "x"}, node_config={}))
    with pytest.raises(TrainingError, match="between machines the sites are counted"):
        server(
            SimpleNamespace(
                run_config={"recipe": str(recipe_file()), "folder": "x"}, node_config={}
            )
        )
