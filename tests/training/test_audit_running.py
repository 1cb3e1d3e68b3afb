"""A training of a tiny model, audited from its folder as the command does it."""

import json
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import pytest
import typer
from typer.testing import CliRunner

torch = pytest.importorskip("torch", reason="pip install -e '.[test-all]'")

from simcounsel.corpus.dialogues import CANARY, Dialogue, Origin, Turn  # noqa: E402
from tests.pages import PAGES  # noqa: E402
from tests.training.test_audit_scoring import tiny_model, tiny_tokenizer  # noqa: E402
from training.audit.command import chosen, register  # noqa: E402
from training.audit.findings import AuditReport  # noqa: E402
from training.audit.running import AuditOptions, _some, audit_training, sides_of  # noqa: E402
from training.audit.scores import ATTACKS  # noqa: E402
from training.errors import TrainingError  # noqa: E402
from training.learning.examples import TEACHING  # noqa: E402
from training.learning.federated import run_federation  # noqa: E402
from training.learning.tune import tune  # noqa: E402
from training.recipe_file import load_recipe  # noqa: E402
from training.sites import Sites  # noqa: E402

pytestmark = pytest.mark.slow


def test_pages_say_how_many_attacks_there_are() -> None:
    number = {5: "five", 6: "six"}
    told = {
        "docs/privacy.md": f"{number[len(ATTACKS)]} attacks, beside",
        "docs/tutorials/clinics.md": f"{number[len(ATTACKS)].capitalize()} attacks try to tell",
    }
    for page, words in told.items():
        assert words in PAGES[page], page


WORDS = "when what who where river bridge lamp night sister letter horse music apple winter garden stone".split()


def _talk(number: int, client: int) -> Dialogue:
    a, b, c = WORDS[number % 16], WORDS[(number * 7 + 3) % 16], WORDS[(number * 5 + 11) % 16]
    return Dialogue(
        id=f"d{number}",
        client=f"c{client}",
        language="en",
        turns=(
            Turn(speaker="client", text=f"I think of the {a}."),
            Turn(speaker="counselor", text=f"Tell me of the {b} and the {c}, then."),
        ),
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten clients of two sessions each; DP-SGD on sessions."""
    place = tmp_path_factory.mktemp("trained")
    (place / "corpus.jsonl").write_text(
        "\n".join(_talk(n, n // 2).model_dump_json() for n in range(20))
    )
    tokenizer = tiny_tokenizer(*[TEACHING.system_of(_talk(1, 1))] * 9, " ".join(WORDS))
    model = tiny_model(len(tokenizer))
    model.generation_config.pad_token_id, model.generation_config.eos_token_id = (
        tokenizer.pad_token_id,
        tokenizer.eos_token_id,
    )
    model.save_pretrained(place / "base")
    tokenizer.save_pretrained(place / "base")
    (place / "tiny.yaml").write_text(
        f"corpus: corpus.jsonl\nbase: {place / 'base'}\nbatch_size: 4\nrounds: 2\nheld_out: 0.4\nlearning: {{max_tokens: 512, learning_rate: 3e-2}}\n"
        "lora: {rank: 4, alpha: 8}\nprivacy: {unit: session, clip: 1.0, delta: 1e-3, noise_multiplier: 1.0}\n"
    )
    recipe, lines = load_recipe(place / "tiny.yaml")
    with catch_warnings():
        simplefilter("ignore", UserWarning)  # Opacus' hooks, on an embedding that needs no gradient
        assert tune(recipe, place / "tiny.yaml", lines, place / "run").adapter is not None
    return place / "run"


def app() -> Any:
    made = typer.Typer()
    made.callback()(lambda: None)
    register(made)
    return made


def test_the_command_attacks_a_finished_training(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "audit.json"
    done = CliRunner().invoke(
        app(), ["audit", str(trained), "--attacks", "all", "--bootstrap", "50", "--json", str(file)]
    )
    assert done.exit_code == 0, done.output
    report = AuditReport.model_validate_json(file.read_text())
    assert [one.attack for one in report.attacks] == list(ATTACKS)
    counted = json.loads((trained / "manifest.json").read_text())["data"]
    assert report.attacks[0].trained.members == len(counted["members"]["all"])
    assert report.attacks[0].trained.others == len(counted["held_out"])
    assert (
        report.bound is not None and report.bound.sessions == 2 and report.bound.unit == "session"
    )
    assert 0.5 < report.bound.auc < 1
    assert (
        report.attacks[0].base is not None
        and report.attacks[0].base.roc_auc != report.attacks[0].trained.roc_auc
    )
    assert "2 sessions, the most that one client has in the training" in done.output
    assert "Min-K%++" in done.output and str(file) in done.output


def test_each_round_of_a_federation_is_attacked(trained: Path, tmp_path: Path) -> None:
    """The last round is the result; an earlier one is another adapter, of which less was paid."""
    plan = (trained.parent / "tiny.yaml").read_text()
    plan = plan.replace("noise_multiplier: 1.0", "noise_multiplier: 3.0") + "deal: {sites: 2}\n"
    (trained.parent / "two.yaml").write_text(plan)
    recipe, lines = load_recipe(trained.parent / "two.yaml")
    run_federation(recipe, trained.parent / "two.yaml", lines, tmp_path / "run")
    first, last, result = (
        audit_training(tmp_path / "run", AuditOptions(attacks=("loss",), bootstrap=20, round=round))
        for round in (1, 2, None)
    )
    assert last.model_copy(update={"round": None}) == result and first.attacks != last.attacks
    assert first.attacks[0].base == last.attacks[0].base
    assert first.bound and last.bound and 0.5 < first.bound.auc < last.bound.auc
    with pytest.raises(TrainingError, match="no round 3 to audit; there are 1 to 2"):
        audit_training(tmp_path / "run", AuditOptions(round=3))
    with pytest.raises(TrainingError, match="it has no rounds"):
        audit_training(trained, AuditOptions(round=1))


def test_canaries_are_planted_trained_on_and_audited(trained: Path, tmp_path: Path) -> None:
    """With noise that stands for nothing: six steps at a high rate, canaries learned by heart or not, the bound stays a bound."""
    planted = tmp_path / "planted.jsonl"
    done = CliRunner().invoke(
        app(),
        [
            "plant",
            str(trained.parent / "corpus.jsonl"),
            "-n",
            "10",
            "--held-out",
            "0.4",
            "--out",
            str(planted),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "canaries; `simcounsel export` leaves canaries out" in done.output
    (tmp_path / "tiny.yaml").write_text(
        f"corpus: planted.jsonl\nbase: {trained.parent / 'base'}\nbatch_size: 8\nlearning: {{max_tokens: 512, learning_rate: 3e-2}}\n"
        "lora: {rank: 4, alpha: 8}\nprivacy: none\n"
    )
    recipe, lines = load_recipe(tmp_path / "tiny.yaml")
    tune(recipe, tmp_path / "tiny.yaml", lines, tmp_path / "run")
    report = audit_training(
        tmp_path / "run",
        AuditOptions(
            attacks=("loss",),
            bootstrap=20,
            most=4,
            candidates=30,
            canaries=tmp_path / "planted.canaries.json",
        ),
    )
    assert (
        report.one_run is not None
        and report.one_run.canaries == 10
        and report.one_run.below_stated is None
    )
    assert (
        report.exposure is not None
        and report.exposure.n_included + report.exposure.n_excluded == 10
    )
    with pytest.raises(TrainingError, match="by the file of canaries"):
        audit_training(trained, AuditOptions(canaries=tmp_path / "planted.canaries.json"))


def test_memorization_is_told_for_both_models(trained: Path) -> None:
    from simcounsel.llm.embeddings import HashEmbeddings

    report = audit_training(
        trained,
        AuditOptions(
            attacks=("loss",),
            memorization=True,
            bootstrap=20,
            most=2,
            embed=HashEmbeddings().embed_now,
            words="all",
        ),
    )
    assert [(one.model, one.measure) for one in report.memorization] == [
        ("trained", "rouge1_recall"),
        ("trained", "cosine"),
        ("base", "rouge1_recall"),
        ("base", "cosine"),
    ]
    assert report.words == "all" and report.attacks[0].trained.members == 2


def test_a_changed_corpus_is_refused(trained: Path) -> None:
    corpus = trained.parent / "corpus.jsonl"
    before = corpus.read_text()
    corpus.write_text(before.replace("Tell me of", "Tell us of", 1))
    try:
        with pytest.raises(TrainingError, match="its corpus has changed since the training"):
            audit_training(trained, AuditOptions())
    finally:
        corpus.write_text(before)


def test_a_changed_base_is_refused(trained: Path) -> None:
    config = trained.parent / "base" / "config.json"
    before = config.read_text()
    config.write_text(before + "\n")
    try:
        with pytest.raises(
            TrainingError, match="has changed since the training; bring back the one with digest"
        ):
            audit_training(trained, AuditOptions())
    finally:
        config.write_text(before)


def test_what_is_no_finished_training_is_refused(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="no training's folder"):
        audit_training(tmp_path, AuditOptions())
    (tmp_path / "manifest.json").write_text((trained / "manifest.json").read_text())
    with pytest.raises(TrainingError, match="the training has not ended"):
        audit_training(tmp_path, AuditOptions())
    with pytest.raises(TrainingError, match="nobody was held out"):
        sides_of(Sites(sessions={"a": (_talk(1, 1),)}, held_out=()), AuditOptions())


def test_sessions_are_taken_as_whole_clients_and_keep_apart_over_sites() -> None:
    talks = [_talk(n, n // 3) for n in range(12)]
    some = _some(talks, 7, seed=1)
    assert len(some) == 6 and len({one.client for one in some}) == 2
    assert len(_some([_talk(n, 1) for n in range(9)], 5, seed=1)) == 5
    canary = talks[1].model_copy(update={"origin": Origin(file=CANARY)})
    assert (
        len(
            sides_of(
                Sites(sessions={"a": (talks[0], canary)}, held_out=(talks[9],)), AuditOptions()
            ).members
        )
        == 1
    )  # no member to be attacked
    sides = sides_of(
        Sites(sessions={"a": (talks[0], talks[0]), "b": (talks[0],)}, held_out=(talks[9],)),
        AuditOptions(),
    )
    assert [one.id for one in sides.members] == ["a/d0", "a/d0#2", "b/d0"]


def test_attacks_are_named_with_commas() -> None:
    assert chosen("") == chosen("all") == ATTACKS
    assert chosen("reference, loss") == ("loss", "reference")
    with pytest.raises(TrainingError, match="--attacks lose: no such attack; there are loss"):
        chosen("lose")
