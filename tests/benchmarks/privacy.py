"""What privacy costs and what it buys: one corpus, the embedded model tuned in three ways, and each training attacked.

    python -m tests.benchmarks.privacy [--out FOLDER] [--seeds 3] [--control] [--only WAY ...] [--precision bfloat16] [--every 3] [--quick]

The samples are cut into excerpts of about 125 words that end with the counselor; an excerpt is a record, and four in five are learned from,
drawn by the seed without regard to whose they are, so that members and others differ in nothing else.

without   no privacy: the adapter and optimizer that a user gets by default (rank 16 on q and v, AdamW), eight excerpts a step
private   DP-SGD at a total epsilon of 8 for one excerpt, on fewer weights (rank 4 on v, A frozen) by plain SGD, whose noise is not
          scaled up where gradients are small
control   the private way to the letter (clip, Poisson draws, weights, step size), but with a millionth of a clip as noise: what of the
          difference is the recipe's, and what the noise's

All take five passes over the same excerpts; a seed draws split, adapters, order and noise for all three. An AUC's interval is resampled by
excerpt within one training; over seeds, the mean has Student's interval. It takes half an hour for each training on two idle cores; with
--out it goes on where it was stopped, and finished trainings are not attacked again.

The step size, the targets and the excerpts' length were chosen on these very samples, which are public: the epsilon does not cover that.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats

from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.corpus.reading import read_dialogues
from tests.benchmarks.engine import verdict
from tests.training.learning.small import small_model
from training.audit.running import AuditOptions, audit_training
from training.learning.tune import TuneProgress, tune
from training.recipe_file import load_recipe

LONG_ENOUGH, LEAST, A_TURN = 130, 60, 4
"""An excerpt's words, and as many more for each turn: where it ends, and the least of a dialogue's last one."""
EPSILON = 8
SHARED = (
    "corpus: excerpts.jsonl\nbase: {base}\nheld_out: 0.2\nlocal_epochs: {epochs}\nseed: {seed}\n"
)
DP_SGD = (
    "batch_size: {lot}\nlora: {{rank: 4, train: b, targets: [v_proj]}}\n"
    "learning: {{optimizer: sgd, learning_rate: 0.3, max_tokens: {tokens}, precision: {precision}}}\n"
    "privacy: {{unit: session, clip: 1, delta: 1e-3, AMOUNT}}\n"
    "noise: seeded\npublic_data: true\n"
)
RECIPES = {
    "without": SHARED
    + "batch_size: 8\nlearning: {{max_tokens: {tokens}, precision: {precision}}}\nprivacy: none\n",
    "private": SHARED + DP_SGD.replace("AMOUNT", f"budget_epsilon: {EPSILON}"),
    "control": SHARED + DP_SGD.replace("AMOUNT", "noise_multiplier: 1e-6"),
}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One training, attacked."""

    way: str
    seed: int
    before: float
    """Held-out loss, nats a token; `after`: at the end."""
    after: float
    auc: float
    """`auc`, `low`, `high`: of the reference attack."""
    low: float
    high: float
    members: int
    others: int

    def __str__(self) -> str:
        return (
            f"{self.way}, seed {self.seed}: held-out loss {self.before:.3f} before, {self.after:.3f} after; reference attack "
            f"AUC {self.auc:.3f} [{self.low:.3f}, {self.high:.3f}], {self.members} members, {self.others} others"
        )


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


def measured(folder: Path, told: argparse.Namespace) -> Iterator[str]:
    """Trains and attacks, one seed after another, and says what came of it."""
    folder.mkdir(parents=True, exist_ok=True)
    some = list(excerpts(iter(read_dialogues("samples"))))[:: 12 if told.quick else told.every]
    (folder / "excerpts.jsonl").write_text(
        "".join(f"{one.model_dump_json()}\n" for one in some), encoding="utf-8"
    )
    said = (line for one in some for line in one.lines())
    base = small_model(folder / "base", said) if told.quick else "embedded"
    ways = told.only or ["without", "private", *(["control"] if told.control else [])]
    found = []
    for seed in range(1, told.seeds + 1):
        for way in ways:
            found.append(_one(folder, way, seed, base, told))
            print(found[-1], flush=True)
    yield from _over_seeds(found)
    yield from _verdicts(found)


def _one(folder: Path, way: str, seed: int, base: str | Path, told: argparse.Namespace) -> Measured:
    """One training, gone on with or read again if it is there."""
    out = folder / f"{way}-{seed}"
    kept = out / "measured.json"
    if kept.is_file():
        return Measured(**json.loads(kept.read_text(encoding="utf-8")))
    file = folder / f"{out.name}.yaml"
    file.write_text(
        RECIPES[way].format(
            base=base,
            epochs=1 if told.quick else 5,
            tokens=1000 if told.quick else 320,
            lot=6 if told.quick else round(49 / told.every),
            seed=seed,
            precision=told.precision,
        ),
        encoding="utf-8",
    )
    recipe, lines = load_recipe(file)
    done = tune(recipe, file, lines, out, on_progress=partial(_show, out.name))
    options = AuditOptions(attacks=("reference",), bootstrap=100 if told.quick else 1000)
    attack = audit_training(out, options).attacks[0].trained
    made = Measured(
        way=way,
        seed=seed,
        before=done.before or 0.0,
        after=done.after or 0.0,
        auc=attack.roc_auc,
        low=attack.low or 0.0,
        high=attack.high or 1.0,
        members=attack.members,
        others=attack.others,
    )
    kept.write_text(json.dumps(asdict(made), indent=1), encoding="utf-8")
    return made


def _over_seeds(found: Sequence[Measured]) -> Iterator[str]:
    """Means over seeds, and of the differences between ways at the same seed."""
    of = {way: {one.seed: one for one in found if one.way == way} for way in RECIPES}
    for way, here in of.items():
        if here:
            losses, aucs = [one.after for one in here.values()], [one.auc for one in here.values()]
            yield f"{way:<22} over {len(here)} seeds: held-out loss {_mean(losses)}, AUC {_mean(aucs)}"
    for one, other in (("private", "control"), ("control", "without")):
        both = sorted(of[one].keys() & of[other].keys())
        if both:
            losses = [of[one][seed].after - of[other][seed].after for seed in both]
            aucs = [of[one][seed].auc - of[other][seed].auc for seed in both]
            yield f"{one + ' minus ' + other:<22} over {len(both)} seeds: held-out loss {_mean(losses)}, AUC {_mean(aucs)}"


def _mean(values: Sequence[float]) -> str:
    """With Student's interval, 95%, where there are several."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return f"{mean:.3f}"
    half = float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1)) / len(values) ** 0.5
    return f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]"


def _verdicts(found: Sequence[Measured]) -> Iterator[str]:
    """On the first seed, as the figures in the docs are."""
    first = {one.way: one for one in found if one.seed == 1}
    if "without" not in first or "private" not in first:
        return
    plain, private = first["without"], first["private"]
    yield verdict(
        private.after - plain.after <= 0.1,
        f"epsilon {EPSILON} within 0.1 nats of training without privacy: {private.after - plain.after:+.3f}",
    )
    yield verdict(
        plain.low > private.high,
        "the attack on the training without privacy clearly above that on the private one (intervals apart)",
    )


def _show(name: str, now: TuneProgress) -> None:
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
    parser.add_argument("--seeds", type=int, default=1, help="as many, from 1")
    parser.add_argument("--control", action="store_true", help="the private way without noise too")
    parser.add_argument(
        "--every",
        type=int,
        default=1,
        help="take each second, third ... excerpt, in lots as much smaller: less work, and the same"
        " noise weighs as much more",
    )
    parser.add_argument("--only", nargs="+", choices=RECIPES, help="these ways, in this order")
    parser.add_argument(
        "--precision",
        choices=("float32", "bfloat16"),
        default="float32",
        help="of the frozen base; bfloat16 takes half the time on processors that compute in it",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a few excerpts and a small model, to see that it works",
    )
    told = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as thrown_away:
        print("\n".join(measured(told.out or Path(thrown_away), told)))


if __name__ == "__main__":
    main()
