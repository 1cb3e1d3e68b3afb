"""Which weights are kept, and when a training ends: by losses written by hand, and whole trainings."""

import json
import math
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.learning.choice import best_at, enough


def rows(*losses: float) -> list[dict[str, Any]]:
    """The base's loss first, then after 2, 4, 6 ... steps."""
    return [{"at": 2 * number, "loss": loss} for number, loss in enumerate(losses)]


def test_the_least_loss_of_something_trained_is_kept() -> None:
    assert best_at(rows(3.0, 2.5, 2.4, 2.4, 2.9)) == 4, "the earliest of equals"
    assert best_at(rows(1.0, 2.5, 2.0)) == 4, "the untouched base is no adapter"
    assert best_at(rows(3.0, math.nan, 9.0)) == 4
    assert best_at(rows(3.0)) is None and best_at([]) is None


def test_patience_counts_measurements_since_the_least() -> None:
    assert not enough(rows(3.0, 2.0, 2.5), 2)
    assert enough(rows(3.0, 2.0, 2.5, 2.0), 2), "an equal is no new least"
    assert not enough(rows(3.0, 2.0, 2.5, 1.9), 2)
    assert not enough(rows(3.0, 2.0, 2.5, 2.6), None) and not enough(rows(3.0), 1)


@given(st.lists(st.floats(0, 9), min_size=1, max_size=12), st.integers(1, 4))
def test_whoever_stops_never_goes_on(losses: list[float], patience: int) -> None:
    """Going by the log alone, so that a training that was cut off ends at the same place."""
    ended = [at for at in range(len(losses) + 1) if enough(rows(*losses[:at]), patience)]
    if ended:
        first = rows(*losses[: ended[0]])
        assert len(first) - 1 - [one["at"] for one in first].index(best_at(first)) == patience


ROUGH = {"learning_rate": 0.5, "optimizer": "sgd", "max_tokens": 256, "keep": "best", "patience": 2}
"""Overshoots after a few steps."""


@pytest.mark.slow
def test_the_best_of_a_tuning_is_kept_over_a_stop(
    recipe_file: Any, tmp_path: Path, tiny: Path
) -> None:
    pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
    from tests.training.learning.conftest import adapted
    from tests.training.learning.test_training import same, tuned
    from training.learning.base import load_base
    from training.learning.examples import records_of
    from training.learning.gradients import mean_loss
    from training.recipe_file import load_recipe
    from training.sites import find

    file = recipe_file(learning=ROUGH | {"learning_rate": 12.0}, rounds=30)
    whole = tuned(file, tmp_path / "whole")
    losses = {one["at"]: one["loss"] for one in whole.folder.said("held_out")}
    card = whole.folder.card()
    assert card is not None and whole.folder.finished()
    best, last = card["measured"]["kept_after_step"], card["measured"]["stopped_after_step"]
    assert (
        best
        == best_at(whole.folder.said("held_out"))
        < last
        == max(losses)
        < card["measured"]["steps"]
    )
    base = load_base(str(tiny), device="cpu")
    held_out = records_of(find(load_recipe(file)[0], file).held_out, base.tokenizer, 256)
    assert whole.adapter is not None and whole.after == losses[best]
    assert mean_loss(adapted(base, whole.adapter), held_out)[0] == pytest.approx(
        whole.after, rel=1e-4
    )
    tuned(file, tmp_path / "cut", stop_after=best + 1)
    tuned(file, tmp_path / "cut")
    assert same(tmp_path / "whole", tmp_path / "cut")
    again = tuned(file, tmp_path / "cut")
    assert again.folder.said("step")[-1]["at"] == last, "it does not go on after its end"


@pytest.mark.slow
@pytest.mark.parametrize("private", [False, True])
def test_a_federation_that_ends_early_is_charged_its_plan(
    recipe_file: Any, tmp_path: Path, private: bool
) -> None:
    pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
    from safetensors.numpy import load_file

    from tests.training.learning.conftest import PRIVATE, SEEDED
    from tests.training.learning.test_training import federated
    from training.federation import state as on_disk

    more = {"privacy": PRIVATE, **SEEDED} if private else {}
    learning = ROUGH | {"learning_rate": 40.0}
    file = recipe_file(learning=learning, rounds=9, deal={"sites": 2}, **more)
    done = federated(file, tmp_path / "out")
    assert done.stopped is None and done.folder.finished()
    card = done.folder.card()
    assert card is not None
    ended, best = (card["measured"][key] for key in ("stopped_after_round", "kept_after_round"))
    assert best < ended < 9 and card["measured"]["rounds"] == ended == best + 2
    kept, _ = on_disk.from_folder(tmp_path / "out" / "rounds" / f"{best:04d}")
    written = load_file(tmp_path / "out" / "adapter" / "adapter_model.safetensors")
    assert all((kept.weights[name] == value).all() for name, value in written.items())
    if private:
        assert card["privacy"]["rounds_charged"] == 9
        assert card["privacy"]["epsilon"] == done.folder.manifest()["account"]["epsilon"]
        said = [line for line in card["not_covered"] if "held-out" in line]
        assert said[0].endswith("chosen by them: the weights and when it ended")
        ledger = json.loads((tmp_path / "out" / "ledger.json").read_text(encoding="utf-8"))
        assert ledger["rounds_charged"] == 9
    before = (tmp_path / "out" / "log.jsonl").read_bytes()
    federated(file, tmp_path / "out")
    assert (tmp_path / "out" / "log.jsonl").read_bytes() == before


@pytest.mark.slow
def test_stops_in_between_do_not_end_a_federation_sooner(recipe_file: Any, tmp_path: Path) -> None:
    """After a stop the loss is told, too; what is measured every second round alone decides."""
    pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
    from tests.training.learning.test_training import federated, same
    from training.federation import all_rounds

    learning = ROUGH | {"learning_rate": 12.0, "patience": 3}
    file = recipe_file(learning=learning, rounds=14, deal={"sites": 2})
    whole = federated(file, tmp_path / "whole")
    for _ in range(14):  # Ctrl-C after each round
        with pytest.MonkeyPatch.context() as patch:
            asked = iter([False, *[True] * 20]).__next__
            patch.setattr(all_rounds, "stoppable", lambda asked=asked: nullcontext(asked))
            cut = federated(file, tmp_path / "cut")
        if cut.stopped is None:
            break
    assert same(tmp_path / "whole", tmp_path / "cut")
    cards = [one.folder.card() or {} for one in (whole, cut)]
    assert cards[0]["measured"] == cards[1]["measured"]


@pytest.mark.slow
def test_the_best_is_kept_when_a_training_diverges(recipe_file: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
    import numpy as np
    from safetensors.numpy import load_file

    from tests.training.learning.test_training import tuned

    file = recipe_file(learning=ROUGH | {"learning_rate": 1e18, "patience": 2}, rounds=9)
    with pytest.MonkeyPatch.context() as patch:
        from training.learning.steps import Local

        step = Local.step

        def wild(self: Any, number: int, optimizer: Any, anchor: Any = ()) -> Any:
            for group in optimizer.param_groups:
                assert group["lr"]
            learning = self.learning.model_copy(
                update={"learning_rate": 0.01 if number < self.steps_per_epoch else 1e30}
            )
            object.__setattr__(self, "learning", learning)
            return step(self, number, optimizer, anchor)

        patch.setattr(Local, "step", wild)
        done = tuned(file, tmp_path / "out")
    assert done.adapter is not None and done.after is not None and math.isfinite(done.after)
    found = load_file(done.adapter / "adapter_model.safetensors")
    assert all(np.isfinite(value).all() for value in found.values())


@pytest.mark.slow
def test_without_held_out_clients_nothing_can_be_chosen(recipe_file: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
    from simcounsel.errors import SimcounselError
    from tests.training.learning.test_training import tuned
    from training.errors import TrainingError
    from training.recipe_file import load_recipe

    file = recipe_file(learning={"max_tokens": 256, "keep": "best"}, held_out=0)
    with pytest.raises(TrainingError, match="learning.keep: best goes by .*nobody is held out"):
        tuned(file, tmp_path / "out")
    told = {"sites": [{"name": "a", "sessions": 9}], "corpus": None}
    with pytest.raises(SimcounselError, match="learning.patience: .*between machines"):
        load_recipe(recipe_file(learning={"patience": 2}, **told))
