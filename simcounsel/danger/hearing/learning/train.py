"""Learn the gate's numbers from the lines beside this file:

    python -m simcounsel.danger.hearing.learning.train

Needs scikit-learn (pip install 'simcounsel[analysis]') and MiniLM's weights, takes two minutes and
writes LANGUAGE.npz, the same each time on one machine. Prints how the gate would have heard batches
that it had not seen: a batch is one writer's manner, so all is split by batch, never by line.
"""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from simcounsel.danger.hearing.detector import as_learned, heard_by_words, said_by
from simcounsel.danger.hearing.features import BUCKETS
from simcounsel.danger.hearing.gate import (
    BLOCKS,
    HEADS,
    LEARNED,
    WITH_VECTORS,
    Kernel,
    seen_together,
)
from simcounsel.danger.hearing.learning.learners import Heads, Lines, Table, heads_of, kernel_of
from simcounsel.llm.embeddings import MiniLM
from simcounsel.specs.vocabulary import DANGERS

HERE = Path(__file__).parent
FOLDS = 8
ASKED, FLAGGED = 0.15, 0.03
"""The shares of harmless everyday lines of which a model is asked, and which count as danger. Many
of them hold words of danger in harmless use, or are twins of hints: of plainer ones it is about
half as many.
"""

Floats = NDArray[np.float64]


def read(language: str) -> Lines:
    """All batches of a language."""
    rows: list[dict[str, str]] = []
    batches: list[int] = []
    for number, file in enumerate(sorted((HERE / "lines").glob(f"{language}_*.jsonl"))):
        some = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        rows += some
        batches += [number] * len(some)
    names = ("none", *DANGERS)
    return Lines(
        texts=[row["text"] for row in rows],
        dangers=np.array([names.index(row["danger"]) for row in rows]),
        everyday=np.array([row["form"] == "everyday" for row in rows]),
        batches=np.array(batches),
    )


def fingerprint(lines: Lines) -> str:
    """SHA-256 of what is learned from: by it a file of numbers is known to belong to the lines."""
    said = json.dumps([lines.texts, lines.dangers.tolist(), lines.everyday.tolist()])
    return hashlib.sha256(said.encode()).hexdigest()


def with_slips(text: str, chance: Random) -> str:
    """A line as somebody types it in haste: small letters, no apostrophes, letters left out,
    swapped, doubled or wrong.
    """
    text = text.lower() if chance.random() < 0.6 else text
    text = text.replace("'", "") if chance.random() < 0.6 else text
    words = (text.rstrip(".") if chance.random() < 0.5 else text).split()
    for place, word in enumerate(words):
        if len(word) > 3 and chance.random() < 0.25:
            at = chance.randrange(1, len(word) - 1)
            words[place] = chance.choice(
                (
                    word[:at] + word[at + 1 :],
                    word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :],
                    word[: at + 1] + word[at:],
                    word[:at] + chance.choice("aeiourstln") + word[at + 1 :],
                )
            )
    return " ".join(words)


def learn(language: str) -> None:
    """Learn, tell how it did on batches that it had not seen, and write what was learned."""
    lines, chance = read(language), Random(5)
    texts = lines.texts + [with_slips(text, chance) for text in lines.texts]
    table = Table([as_learned(text, language) for text in texts])
    heard = [heard_by_words(text, language) for text in lines.texts]
    said = np.stack([said_by(one) for one in heard])
    open_ = np.array([one.floor != "none" for one in heard])
    everything = np.arange(len(lines.texts))
    folds = list(GroupKFold(FOLDS).split(everything, groups=lines.batches))
    with ThreadPoolExecutor() as pool:
        learned = list(
            pool.map(partial(heads_of, table, lines), [*(k for k, _ in folds), everything])
        )
    odds = np.zeros((len(everything), HEADS + 1))
    for (_, new), heads in zip(folds, learned, strict=False):
        odds[new] = heads.log_odds(table, new)
    kept = {"lines": np.array(fingerprint(lines))} | _kept(learned[-1])
    compared: Floats | None = None
    for name in ("alone", "beside")[: 1 + (language in WITH_VECTORS)]:
        if name == "beside":
            vectors = MiniLM().embed_now(lines.texts).astype(np.float64)
            compared = np.zeros(len(everything))
            for known, new in folds:
                compared[new] = kernel_of(vectors[known], lines.dangerous[known]).says(vectors[new])
            kept |= _kept_kernel(kernel_of(vectors, lines.dangerous))
        together, guesses = seen_together(odds, said, compared), np.zeros(len(everything))
        for known, new in folds:
            last = _last(together[known], lines.dangerous[known])
            guesses[new] = expit(last[0] + together[new] @ last[1:])
        kept |= {
            f"{name}_last": _last(together, lines.dangerous),
            f"{name}_limits": told(language, name, guesses, lines, open_),
        }
    kinds = odds[lines.dangerous, 1:HEADS].argmax(axis=1) + 1
    right = (kinds == lines.dangers[lines.dangerous]).mean()
    typer.echo(f"  of lines with danger, the right one is found in {right:.3f}")
    np.savez_compressed(HERE / f"{language}.npz", **kept)


def _last(together: Floats, danger: NDArray[np.bool_]) -> Floats:
    """Bias, then a weight for each column as it is."""
    scaler = StandardScaler().fit(together)
    learned = LogisticRegression(C=1.0, max_iter=2000).fit(scaler.transform(together), danger)
    weights = learned.coef_[0] / scaler.scale_
    return np.concatenate([learned.intercept_ - weights @ scaler.mean_, weights])


def told(
    language: str, name: str, guesses: Floats, lines: Lines, open_: NDArray[np.bool_]
) -> Floats:
    """Print how it did on what it had not seen; the thresholds to ask and to flag.

    open_: what the words alone flag.
    """
    danger, calm = lines.dangerous, lines.everyday & ~lines.dangerous
    typer.echo(
        f"{language}, {name}: {len(danger)} lines, {danger.sum()} with danger, {calm.sum()} of"
        f" everyday; AUC {roc_auc_score(danger, guesses):.3f}"
    )
    highest = np.sort(guesses[calm])[::-1]
    for share in (0.0, 0.002, 0.005, 0.02, FLAGGED, 0.05, ASKED):
        limit = highest[int(len(highest) * share)]
        flagged = (guesses > limit) | open_
        typer.echo(
            f"  above {limit:.3f} {(guesses > limit)[calm].mean():6.1%} of everyday;"
            f" with open words {flagged[calm].mean():6.1%} of everyday,"
            f" recall {flagged[danger].mean():.3f}, precision {danger[flagged].mean():.3f}"
        )
    return np.array([highest[int(len(highest) * share)] for share in (ASKED, FLAGGED)])


def _kept(heads: Heads) -> dict[str, NDArray[np.generic]]:
    kept: dict[str, NDArray[np.generic]] = {"heads_bias": heads.bias}
    for number, block in enumerate(BLOCKS):
        kept |= _rounded(f"rarity_{block}", heads.rarity[number])
        kept |= _rounded(f"ratio_{block}", heads.ratio[number])
        kept |= _rounded(f"heads_{block}", heads.coef[:, number * BUCKETS : (number + 1) * BUCKETS])
    return kept


def _kept_kernel(kernel: Kernel) -> dict[str, NDArray[np.generic]]:
    return {
        **_rounded("kernel_lines", kernel.lines),
        **_rounded("kernel_weights", kernel.weights),
        "kernel_bias": np.array(kernel.bias),
        "kernel_gamma": np.array(kernel.gamma),
    }


def _rounded(key: str, numbers: Floats) -> dict[str, NDArray[np.generic]]:
    """To a byte each."""
    unit = float(np.abs(numbers).max() / 127)
    return {key: np.round(numbers / unit).astype(np.int8), f"{key}_unit": np.array(unit)}


if __name__ == "__main__":
    for code in LEARNED:
        learn(code)
