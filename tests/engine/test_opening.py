"""What is said before a run's folder is made, and when a price is unknown."""

from pathlib import Path

import pytest

from simcounsel.engine.opening import begin_run, check_models
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.errors import ModelError, SpecError
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.switchboard import Switchboard
from simcounsel.scripted import Scripted
from simcounsel.specs.measurement import MeasurementSpec
from tests.stage import switchboard, tiny


def test_an_unknown_policy_is_named() -> None:
    world = tiny()
    first = world.residents[0].model_copy(update={"policy": "magic"})
    with pytest.raises(SpecError, match="no policy 'magic'; there are .*socratic, "):
        check_models(world.model_copy(update={"residents": (first, *world.residents[1:])}))


def test_a_locale_without_help_lines_is_named(tmp_path: Path) -> None:
    world = tiny()
    world = world.model_copy(update={"safety": world.safety.model_copy(update={"locale": "en-UK"})})
    for refused in (lambda: check_models(world), lambda: begin_run(world, tmp_path)):
        with pytest.raises(SpecError, match=r"safety.locale: no help lines for 'en-UK'.*en-GB"):
            refused()


def test_an_instrument_that_there_is_not_is_named_before_a_folder_is_made(tmp_path: Path) -> None:
    measured = MeasurementSpec(instrument="nothing", when="end")
    world = tiny().model_copy(update={"measurements": (measured,)})
    models = switchboard(Scripted())
    for refused in (
        lambda: begin_run(world, tmp_path),
        lambda: Simulation(world, models=models, out=tmp_path),
    ):
        with pytest.raises(SpecError, match="nothing"):
            refused()
    models.close()
    assert not list(tmp_path.iterdir())


def test_a_missing_key_is_named() -> None:
    world = tiny()
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        check_models(
            world.model_copy(
                update={"models": world.models.model_copy(update={"reason": "openai:gpt-4o"})}
            )
        )


def test_a_budget_in_money_needs_a_price(tmp_path: Path) -> None:
    model = Scripted()
    model.name = "openai:no-such-model"
    models = Switchboard({"reason": model, "quick": model, "judge": model}, HashEmbeddings())
    run = begin_run(tiny(), tmp_path)
    with pytest.raises(ModelError, match=r"price of openai:no-such-model is not known; .*--prices"):
        Simulation(tiny(), run=run, models=models, limits=Limits(budget_usd=1.0))
    models.close()
    assert models.usage.calls == 0
