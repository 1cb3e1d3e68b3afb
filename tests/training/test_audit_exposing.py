"""From a planted corpus to a proof: files, what the training must have seen, exposure and epsilon of a model that keeps canaries."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.corpus.reading import read_dialogues
from training.audit import exposing, planting
from training.audit.canaries import Canary
from training.audit.scored import Scored
from training.errors import TrainingError
from training.recipe import Recipe
from training.sites import find

CORPUS = tuple(
    Dialogue(
        id=f"d{n}",
        client=f"c{n}",
        language="en",
        turns=(
            Turn(speaker="client", text=f"I lost {n} friends."),
            Turn(speaker="counselor", text="Go on."),
        ),
    )
    for n in range(20)
)


def test_a_planted_corpus_is_trained_on_as_the_coins_say(tmp_path: Path) -> None:
    file = tmp_path / "planted.jsonl"
    planted, beside = planting.write(CORPUS, 30, 3, 0.3, file)
    assert planting.read(beside) == planted.canaries
    assert sum(one.canary for one in read_dialogues(file)) == sum(planted.included)
    recipe = Recipe.model_validate(
        {"corpus": str(file), "privacy": "none", "batch_size": 4, "held_out": 0.5}
    )
    sites = find(recipe, tmp_path / "x.yaml", together=True)
    assert len(sites.held_out) == 6 and not any(
        one.canary for one in sites.held_out
    )  # the file's own split, no canary in it
    exposing.check(planted.canaries, sites.sessions["all"])
    with pytest.raises(TrainingError, match="by the file of canaries"):
        exposing.check(planted.canaries, sites.sessions["all"][:10])
    with pytest.raises(TrainingError, match="name a new file"):
        planting.write(CORPUS, 30, 3, 0.3, file)
    with pytest.raises(TrainingError, match="has canaries already"):
        planting.write(planted.dialogues, 30, 3, 0.3, tmp_path / "again.jsonl")
    with pytest.raises(TrainingError, match="holds no canaries"):
        planting.read(file)


def scorer(remembered: Sequence[Canary], gain: float) -> exposing.ScoreBy:
    """A model for which a line costs what its letters say, and less if it was kept."""
    kept = {one.dialogue().turns[1].text for one in remembered}

    def score(dialogues: Sequence[Dialogue]) -> list[Scored]:
        made = []
        for one in dialogues:
            text = one.turns[1].text
            rng = np.random.default_rng([ord(letter) for letter in text])
            logp = rng.normal(-3, 0.5, 20) + (gain if text in kept else 0.0)
            made.append(
                Scored(
                    id=one.id,
                    client=one.client,
                    text=text,
                    logp=logp,
                    mean=np.zeros(20),
                    std=np.ones(20),
                )
            )
        return made

    return score


@pytest.mark.parametrize(("gain", "least", "most"), [(2.0, 2.5, 2.6), (0.0, 0.0, 0.0)])
def test_a_model_that_keeps_canaries_is_convicted_and_another_is_not(
    tmp_path: Path, gain: float, least: float, most: float
) -> None:
    """All of 60 guesses right, one of four numbers tried: q^60 = 0.05 / 4, so q = 0.93 and epsilon = ln(q / (1 - q)) = 2.58, less for delta."""
    canaries = planting.write(CORPUS, 120, 3, 0.3, tmp_path / "planted.jsonl")[0].canaries
    model, base = scorer([one for one in canaries if one.included], gain), scorer([], 0.0)
    run = exposing.one_run(canaries, model, base, 1e-5, seed=0)
    assert least <= run.epsilon <= most
    found = exposing.exposed(canaries, model, seed=0)
    assert found.n_included + found.n_excluded == 120
    assert found.excluded == pytest.approx(1.44, abs=0.5)
    assert found.bits > 18
    if gain:
        assert found.included > 15 and found.interval.low > 0.95
    else:
        assert (
            found.included == pytest.approx(1.44, abs=0.5)
            and found.interval.low < 0.5 < found.interval.high
        )


def test_a_canary_without_a_score_stops_the_audit(tmp_path: Path) -> None:
    canaries = planting.write(CORPUS, 4, 3, 0.3, tmp_path / "planted.jsonl")[0].canaries

    def nothing(dialogues: Sequence[Dialogue]) -> list[Scored]:
        return [
            Scored(
                id=one.id, client="x", text="", logp=np.zeros(0), mean=np.zeros(0), std=np.zeros(0)
            )
            for one in dialogues
        ]

    with pytest.raises(TrainingError, match="4 canaries have no score"):
        exposing.one_run(canaries, nothing, nothing, 1e-5, seed=0)
