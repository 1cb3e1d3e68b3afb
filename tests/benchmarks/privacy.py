"""What privacy costs and what it buys: one corpus, one split, the embedded model tuned with and without, and both attacked.

    python -m tests.benchmarks.privacy [--out FOLDER] [--quick]

The samples are cut into excerpts of about 125 words that end with the counselor; an excerpt is a record, and four in five are learned from,
drawn without regard to whose they are, so that members and others differ in nothing else. Without privacy: the adapter and optimizer that
a user gets by default (rank 16 on q and v, AdamW), eight excerpts a step. With it: DP-SGD at a total epsilon of 8 for one excerpt, on fewer
weights (rank 4 on v, A frozen) by plain SGD, whose noise is not scaled up where gradients are small. Both take five passes over the same
excerpts. It takes more than an hour on two cores; with --out it goes on where it was stopped.

The step size, the targets and the excerpts' length were chosen on these very samples, which are public: the epsilon does not cover that.
"""

import argparse
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.corpus.reading import read_dialogues
from tests.benchmarks.engine import verdict
from tests.training.learning.small import small_model
from training.audit.findings import AttackReport
from training.audit.running import Options, audit_training
from training.learning.tune import Progress, tune
from training.recipe_file import load_recipe

LONG_ENOUGH, LEAST, A_TURN = 130, 60, 4
"""An excerpt's words, and as many more for each turn: where it ends, and the least of a dialogue's last one."""
EPSILON = 8
SHARED = "corpus: excerpts.jsonl\nbase: {base}\nheld_out: 0.2\nlocal_epochs: {epochs}\nseed: 1\n"
RECIPES = {
    "without": SHARED + "batch_size: 8\nlearning: {{max_tokens: {tokens}}}\nprivacy: none\n",
    "private": SHARED + "batch_size: {lot}\nlora: {{rank: 4, train: b, targets: [v_proj]}}\n"
    "learning: {{optimizer: sgd, learning_rate: 0.3, max_tokens: {tokens}}}\n"
    f"privacy: {{{{unit: session, clip: 1, delta: 1e-3, budget_epsilon: {EPSILON}}}}}\n",
}


def excerpts(dialogues: Iterator[Dialogue]) -> Iterator[Dialogue]:
    """Pieces of dialogues, each of its own unit of privacy."""
    for one in dialogues:
        piece: list[Turn] = []
        words, number = 0, 0
        for turn in one.turns:
            piece.append(turn)
            words += len(turn.text.split()) + A_TURN
            if words >= LONG_ENOUGH and turn.speaker == "counselor":
                yield _excerpt(one, piece, number)
                piece, words, number = [], 0, number + 1
        if words >= LEAST:
            yield _excerpt(one, piece, number)


def _excerpt(of: Dialogue, turns: list[Turn], number: int) -> Dialogue:
    return of.model_copy(
        update={"id": f"{of.id}-{number}", "client": f"{of.client}-{number}", "turns": tuple(turns)}
    )


def measured(folder: Path, quick: bool) -> Iterator[str]:
    """Trains, attacks, and says what came of it."""
    folder.mkdir(parents=True, exist_ok=True)
    some = list(excerpts(iter(read_dialogues("samples"))))[:: 12 if quick else 1]
    (folder / "excerpts.jsonl").write_text(
        "".join(f"{one.model_dump_json()}\n" for one in some), encoding="utf-8"
    )
    held_out, attacked = {}, {}
    said = (line for one in some for line in one.lines())
    base = small_model(folder / "base", said) if quick else "embedded"
    for name, text in RECIPES.items():
        file = folder / f"{name}.yaml"
        file.write_text(
            text.format(
                base=base,
                epochs=1 if quick else 5,
                tokens=1000 if quick else 320,
                lot=6 if quick else 49,
            ),
            encoding="utf-8",
        )
        recipe, lines = load_recipe(file)
        done = tune(recipe, file, lines, folder / name, on_progress=partial(_show, name))
        report = audit_training(
            folder / name, Options(attacks=("reference",), bootstrap=100 if quick else 1000)
        )
        attacked[name], held_out[name] = report.attacks[0], done
        print(
            f"{name}: held-out loss {done.before:.3f} before, {done.after:.3f} after; reference attack {_auc(attacked[name])}",
            flush=True,
        )
    plain, private = held_out["without"].after or 0.0, held_out["private"].after or 0.0
    yield verdict(
        private - plain <= 0.1,
        f"epsilon {EPSILON} within 0.1 nats of training without privacy: {private - plain:+.3f}",
    )
    above = (attacked["without"].trained.low or 0) > (attacked["private"].trained.high or 1)
    yield verdict(
        above,
        "the attack on the training without privacy clearly above that on the private one (intervals apart)",
    )


def _auc(one: AttackReport) -> str:
    told = one.trained
    return f"AUC {told.roc_auc:.3f} [{told.low:.3f}, {told.high:.3f}], {told.members} members, {told.others} others"


def _show(name: str, now: Progress) -> None:
    if now.held_out is not None:
        print(f"{name}: step {now.at} of {now.steps}, held-out loss {now.held_out:.3f}", flush=True)


def main(words: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="where the trainings are kept, and gone on with; else they are thrown away",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a few excerpts and a small model, to see that it works",
    )
    told = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as thrown_away:
        print("\n".join(measured(told.out or Path(thrown_away), told.quick)))


if __name__ == "__main__":
    main()
