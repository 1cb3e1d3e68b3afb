"""Canaries that are realistic, marked, and never exported; exposure by rank and by a fitted distribution."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import skewnorm

from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.corpus.export import Export, export
from simcounsel.corpus.reading import read_dialogues
from simcounsel.errors import CorpusError
from training.audit.canaries import candidates, exposure, exposure_fitted, forms, plant
from training.errors import TrainingError


def _talk(number: int, language: str = "en") -> Dialogue:
    return Dialogue(
        id=f"d{number}",
        client=f"client {number}",
        language=language,
        turns=(
            Turn(speaker="client", text=f"I lost my {number}th job."),
            Turn(speaker="counselor", text="That is a lot to carry."),
        ),
    )


CORPUS = [_talk(number) for number in range(20)]


def test_each_canary_has_its_own_coin_and_its_own_client() -> None:
    planted = plant(CORPUS, 400, seed=3)
    assert 160 < sum(planted.included) < 240
    inside = [one for one in planted.dialogues if one.canary]
    assert {one.id for one in inside} == {one.id for one in planted.canaries if one.included}
    assert (
        len({one.client for one in planted.dialogues})
        == len(planted.dialogues)
        == 20 + sum(planted.included)
    )
    assert [one for one in planted.dialogues if not one.canary] != CORPUS  # mixed in, not behind
    assert len({one.dialogue().lines("counselor")[0] for one in planted.canaries}) == 400
    assert planted == plant(CORPUS, 400, seed=3)
    assert planted.included != plant(CORPUS, 400, seed=4).included


def test_canaries_speak_the_corpus_language() -> None:
    for language in ("en", "zh", "sv"):
        [one, *_] = plant([_talk(1, language)], 4, seed=1).canaries
        assert one.form.language == ("zh" if language == "zh" else "en")
        assert "{" not in one.dialogue().turns[1].text
    for some in forms().values():
        for form in some:
            assert form.counselor.count("{}") == len(form.gaps)
            assert all(len(set(gap)) == len(gap) for gap in form.gaps)
            assert form.size > 400_000
    with pytest.raises(TrainingError, match="0 canaries"):
        plant(CORPUS, 0, seed=1)


def test_a_canary_never_reaches_an_exported_corpus(tmp_path: Path) -> None:
    planted = plant(CORPUS, 10, seed=3)
    file = tmp_path / "planted.jsonl"
    file.write_text("\n".join(one.model_dump_json() for one in planted.dialogues))
    assert sum(one.canary for one in read_dialogues(file)) == sum(planted.included) > 0
    card = export([file], tmp_path / "out", Export(format="native", checked=False))
    assert card.left_out["a canary of an audit"] == sum(planted.included)
    written = "".join(one.read_text() for one in (tmp_path / "out").glob("*.jsonl"))
    assert (
        "client" in written
        and "canary" not in written
        and all(one.dialogue().turns[1].text not in written for one in planted.canaries)
    )
    only = tmp_path / "only.jsonl"
    only.write_text("\n".join(one.model_dump_json() for one in planted.dialogues if one.canary))
    with pytest.raises(CorpusError, match="a canary of an audit"):
        export([only], tmp_path / "none", Export(format="native", checked=False))
    assert json.loads(only.read_text().splitlines()[0])["origin"]["file"] == "canary"


def test_exposure_is_by_rank() -> None:
    others = [float(loss) for loss in range(10, 1033)]  # 1023 others
    assert exposure(1.0, others) == 10.0
    assert exposure(9.5, others) == 10.0
    assert exposure(10.5, others) == 9.0
    assert exposure(5000.0, others) == 0.0
    assert exposure(7.0, [7.0] * 1023) == pytest.approx(
        10 - math.log2(1 + 1023 / 2)
    )  # all alike: no exposure to speak of
    rng = np.random.default_rng(1)
    guessed = [exposure(float(rng.random()), rng.random(500).tolist()) for _ in range(800)]
    assert np.mean(guessed) == pytest.approx(1 / math.log(2), abs=0.15)


def test_a_fitted_exposure_is_that_of_the_whole_space() -> None:
    rng = np.random.default_rng(2)
    space = skewnorm.rvs(4, 60, 8, size=200_000, random_state=rng)
    sample = space[:600].tolist()
    for rank in (20, 200, 20_000):
        canary = float(np.sort(space)[rank])
        assert exposure_fitted(canary, sample, 200_000) == pytest.approx(
            exposure(canary, space.tolist()), abs=1.0 if rank == 20 else 0.5
        )
    assert exposure_fitted(-500.0, sample, 200_000) == math.log2(200_000)
    with pytest.raises(TrainingError, match="30 or more"):
        exposure_fitted(1.0, sample[:5], 100)
    with pytest.raises(TrainingError, match="cost the same"):
        exposure_fitted(1.0, [2.0] * 50, 100)


def test_candidates_are_other_fillings_of_the_same_form() -> None:
    one = plant(CORPUS, 1, seed=1).canaries[0]
    others = candidates(one, 50, seed=2)
    assert len({other.id for other in others}) > 45
    assert all(
        other.turns[0] == one.dialogue().turns[0]
        and other.turns[1] != one.dialogue().turns[1]
        and other.canary
        for other in others
    )
