"""Preferences: losses and gradients against the formula of the paper, differentiated by torch; whole trainings."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
import torch
from safetensors.numpy import load_file
from torch.nn.functional import logsigmoid

from simcounsel.corpus.dialogues import Dialogue, Draft
from simcounsel.errors import SimcounselError
from tests.training.learning.conftest import PRIVATE, SEEDED, Recipes, session, with_drawn_adapters
from training.errors import TrainingError
from training.learning.base import AdaptedBase, load_base
from training.learning.examples import ProtectedRecord, records_of
from training.learning.federated import run_federation
from training.learning.folder import TrainingFolder
from training.learning.gradients import ModelReading, clipped_sum, mean_gradient, per_sequence
from training.learning.preferences import measured, steered
from training.learning.site import reading_of
from training.learning.steps import adapter_weights
from training.learning.tune import tune
from training.recipe import Recipe
from training.recipe_file import load_recipe

pytestmark = pytest.mark.slow
BETA = 0.3


def revised(one: Dialogue, every: int = 1) -> Dialogue:
    """Each line of the counselor (or each second) with a draft."""
    draft = Draft(text="You should simply sleep more.", reason="advice")
    turns = [
        turn.model_copy(update={"draft": draft})
        if turn.speaker == "counselor" and at // 2 % every == 0
        else turn
        for at, turn in enumerate(one.turns)
    ]
    return one.model_copy(update={"turns": tuple(turns)})


@pytest.fixture(scope="module")
def base(tiny: Path) -> AdaptedBase:
    return load_base(str(tiny), device="cpu")


@pytest.fixture
def reading(tiny: Path) -> ModelReading:
    return with_drawn_adapters(tiny)


@pytest.fixture(scope="module")
def records(base: AdaptedBase) -> tuple[ProtectedRecord, ...]:
    told = [
        revised(session(1, "a", 1)),
        revised(session(2, "b", 4), 2),
        revised(session(3, "b", 3)),
    ]
    return records_of(told, base.tokenizer, 2048, by_client=True, pairs=True)


def by_formula(reading: ModelReading, record: ProtectedRecord) -> torch.Tensor:
    """Equation 7 of Rafailov et al. 2023, on the model's own scores."""

    def log_probability(at: int) -> torch.Tensor:
        piece = record.examples[at]
        each = reading.model(input_ids=piece.ids[None]).logits[0, :-1].log_softmax(-1)
        said = each.gather(1, piece.ids[1:, None])[:, 0]
        return said[piece.learned[1:]].sum()

    total = torch.zeros(())
    for at in range(0, len(record.examples), 2):
        now = log_probability(at) - log_probability(at + 1)
        with torch.no_grad(), reading.model.disable_adapter():
            then = log_probability(at) - log_probability(at + 1)
        total = total - record.examples[at].weight * logsigmoid(BETA * (now - then))
    return total


def gradients(reading: ModelReading, loss: torch.Tensor) -> list[torch.Tensor]:
    return list(torch.autograd.grad(loss, reading.trained()))


def test_a_pair_is_the_line_and_its_draft_after_the_same_talk(
    base: AdaptedBase, records: tuple[ProtectedRecord, ...]
) -> None:
    """Client b: two of four lines in one session, three of three in the other; each session counts half."""
    assert [len(one.examples) for one in records] == [2, 10]
    weights = [round(piece.weight, 9) for piece in records[1].examples]
    assert weights == [0.25, -0.25] * 2 + [round(1 / 6, 9), round(-1 / 6, 9)] * 3
    line, draft = records[1].examples[2:4]
    said = [base.tokenizer.decode(one.ids[one.learned]) for one in (line, draft)]
    assert said == ["What kept you awake?<|im_end|>", "You should simply sleep more.<|im_end|>"]
    before = [
        base.tokenizer.decode(one.ids[: int(one.learned.nonzero()[0])]) for one in (line, draft)
    ]
    assert before[0] == before[1] and "Night 2.2" in before[0] and "Night 2.3" not in before[0]


def test_losses_and_gradients_are_those_of_the_formula(
    reading: ModelReading, records: tuple[ProtectedRecord, ...]
) -> None:
    wanted = torch.stack([by_formula(reading, one) for one in records])
    assert measured(reading, records, BETA)["loss"] == pytest.approx(
        wanted.detach().mean().item(), rel=1e-5
    )
    aimed, total = steered(reading, records, BETA)
    assert total == pytest.approx(wanted.detach().sum().item(), rel=1e-5)
    for parameter in reading.trained():
        parameter.grad = None
    mean_gradient(reading, aimed, len(records))
    for parameter, one in zip(reading.trained(), gradients(reading, wanted.mean()), strict=True):
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad, one, atol=1e-6)


def test_each_clients_gradient_is_clipped(
    reading: ModelReading, records: tuple[ProtectedRecord, ...]
) -> None:
    clip = 0.05
    wanted = [torch.zeros_like(parameter) for parameter in reading.trained()]
    for record in records:
        found = gradients(reading, by_formula(reading, record))
        norm = torch.stack([one.norm() for one in found]).norm()
        assert norm > clip
        wanted = [sum_ + one * clip / norm for sum_, one in zip(wanted, found, strict=True)]
    with per_sequence(reading):
        aimed, _ = steered(reading, records, BETA)
        total = clipped_sum(reading, aimed, clip)
    assert all(torch.allclose(one, two, atol=1e-6) for one, two in zip(total, wanted, strict=True))


def test_the_untouched_base_prefers_nothing(base: AdaptedBase, records: Any, tiny: Path) -> None:
    fresh = reading_of(load_base(str(tiny), device="cpu"), Recipe(corpus="samples", privacy=None))
    assert measured(fresh, records, BETA) == {
        "loss": pytest.approx(0.693147, abs=1e-5),
        "preferred": 0.0,
    }


def test_a_long_talk_loses_its_beginning(base: AdaptedBase) -> None:
    told = revised(session(1, "a", 12), 12)
    last = told.turns[-1].model_copy(update={"draft": told.turns[1].draft})
    told = told.model_copy(
        update={"turns": (*told.turns[:1], session(1, "a").turns[1], *told.turns[2:-1], last)}
    )
    (record,) = records_of([told], base.tokenizer, 400, pairs=True)
    text = base.tokenizer.decode(record.examples[0].ids)
    assert len(record.examples[0].ids) <= 400
    assert "Night 1.11" in text and "Night 1.0" not in text
    with pytest.raises(TrainingError, match="'s1' has no revised line.*within 40 tokens"):
        records_of([told], base.tokenizer, 40, pairs=True)


def drafted(corpus: Path, keep: int = 12) -> None:
    """Of the corpus' twelve sessions so many have drafts."""
    rows = [Dialogue.model_validate_json(line) for line in corpus.read_text("utf-8").splitlines()]
    made = [revised(one) if at < keep else one for at, one in enumerate(rows)]
    corpus.write_text(
        "".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in made), "utf-8"
    )


LEARNING = {"objective": "dpo", "learning_rate": 0.01, "max_tokens": 256}


@pytest.mark.parametrize("factors", ["both", "b"])
@pytest.mark.parametrize("privacy", ["none", {**PRIVATE, "noise_multiplier": 0.2, "clip": 0.2}])
def test_clinics_learn_preferences_together(
    recipe_file: Recipes, corpus: Path, tmp_path: Path, privacy: Any, factors: str
) -> None:
    drafted(corpus, 10)
    more = SEEDED if privacy != "none" else {}
    more = {**more, "lora": {"rank": 4, "alpha": 8, "train": factors}}
    file = recipe_file(learning=LEARNING, privacy=privacy, deal={"sites": 2}, rounds=4, **more)
    recipe, lines = load_recipe(file)
    done = run_federation(recipe, file, lines, tmp_path / "out")
    assert done.before == pytest.approx(0.693147, abs=1e-5)
    assert done.after is not None and done.after < 0.69
    manifest = done.folder.manifest()
    assert (
        sum(site["sessions"] for site in manifest["sites"]) + len(manifest["data"]["held_out"])
        == 10
    )
    assert done.folder.said("held_out")[-1]["preferred"] > 0.8


def test_tuning_by_preferences_tells_the_loss_of_each_step(
    recipe_file: Recipes, corpus: Path, tmp_path: Path
) -> None:
    drafted(corpus)
    file = recipe_file(learning=LEARNING, rounds=3)
    recipe, lines = load_recipe(file)
    done = tune(recipe, file, lines, tmp_path / "out")
    steps = [one["loss"] for one in TrainingFolder(tmp_path / "out").said("step")]
    assert steps[0] == pytest.approx(0.693147, abs=1e-5) and steps[-1] < 0.6
    assert done.after is not None and done.after < 0.68


@pytest.mark.parametrize("held_out", [0, 0.3])
def test_only_what_was_to_be_trained_is(
    recipe_file: Recipes, corpus: Path, tmp_path: Path, held_out: float
) -> None:
    """Laying the adapters aside, for the untouched base, must not make A trained."""
    drafted(corpus)
    lora = {"rank": 4, "alpha": 8, "train": "b"}
    more = {"privacy": PRIVATE, "held_out": held_out, **SEEDED}
    for name, changed in (("plain", {"held_out": held_out}), ("private", more)):
        file = recipe_file(learning=LEARNING, lora=lora, **changed)
        recipe, lines = load_recipe(file)
        done = tune(recipe, file, lines, tmp_path / name)
        fresh = adapter_weights(reading_of(load_base(recipe.base, device="cpu"), recipe).model)
        assert done.adapter is not None
        found = load_file(done.adapter / "adapter_model.safetensors")
        for key, value in found.items():
            assert (value == fresh[key]).all() == ("lora_A" in key), key


def test_other_drafts_are_other_data(recipe_file: Recipes, corpus: Path, tmp_path: Path) -> None:
    drafted(corpus)
    file = recipe_file(learning=LEARNING)
    recipe, lines = load_recipe(file)
    tune(recipe, file, lines, tmp_path / "out")
    corpus.write_text(corpus.read_text("utf-8").replace("simply", "just"), "utf-8")
    with pytest.raises(TrainingError, match="its data differ"):
        tune(recipe, file, lines, tmp_path / "out")


def test_what_does_not_go_with_preferences_is_refused(recipe_file: Recipes, tmp_path: Path) -> None:
    for changed, said in (
        ({"learning": {**LEARNING, "objective": "sft", "beta": 0.2}}, "beta: belongs to"),
        ({"learning": LEARNING, "lora": {"dropout": 0.1}}, "lora.dropout: would be another model"),
        ({"learning": LEARNING, "averaging": {"rule": "exact"}}, "compares with the untouched"),
    ):
        with pytest.raises(SimcounselError, match=said):
            load_recipe(recipe_file(**changed))
    file = recipe_file(learning=LEARNING)
    recipe, lines = load_recipe(file)
    with pytest.raises(SimcounselError, match="`dpo` needs turns with a `draft`"):
        tune(recipe, file, lines, tmp_path / "out")


def test_the_samples_have_no_drafts_so_that_the_error_names_what_has() -> None:
    file = Path("recipe.yaml")
    from training.sites import find

    recipe = Recipe.model_validate(
        json.loads('{"corpus": "samples", "privacy": "none", "learning": {"objective": "dpo"}}')
    )
    with pytest.raises(SimcounselError, match="simcounsel synthesize"):
        find(recipe, file)
