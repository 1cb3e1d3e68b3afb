"""Learn from the lines beside this file which turns reflect:

    python -m simcounsel.instruments.reflecting.train

Needs scikit-learn (pip install 'simcounsel[analysis]'), takes a second and writes en.json, the same
each time. Prints how it did on topics that it had not seen.
"""

import json
from pathlib import Path

import numpy as np
import typer
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from simcounsel.disk import write_whole
from simcounsel.instruments.reflecting.features import features

HERE = Path(__file__).parent
STRENGTH = 2.0
"""C of the regression."""
DECIMALS = 3


def read(file: Path) -> tuple[list[tuple[str, str]], list[bool], list[int]]:
    """Turns as (heard, said), whether each reflects, and the number of its topic."""
    turns, reflects, topics = [], [], []
    topic = 0
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            topic += 1
        elif line:
            kind, heard, said = line.split("|")
            turns.append((heard, said))
            reflects.append(kind == "r")
            topics.append(topic)
    return turns, reflects, topics


def learn() -> None:
    """Learn, tell how it did on what it had not seen, and write what was learned."""
    turns, reflects, topics = read(HERE / "lines" / "en.txt")
    rows, labels = [features(*turn) for turn in turns], np.array(reflects)
    odds = np.zeros(len(rows))
    for known, new in GroupKFold(8).split(rows, labels, topics):
        weights, bias = _fitted([rows[at] for at in known], labels[known])
        odds[new] = [bias + _sum(rows[at], weights) for at in new]
    said = odds > 0
    typer.echo(
        f"{len(rows)} turns, {labels.sum()} reflect; on topics not seen: AUC"
        f" {roc_auc_score(labels, odds):.3f}, recall {said[labels].mean():.3f}, precision"
        f" {labels[said].mean():.3f}"
    )
    weights, bias = _fitted(rows, labels)
    learned = {"bias": round(bias, DECIMALS), "weights": weights}
    text = json.dumps(learned, indent=1, sort_keys=True)
    write_whole(HERE / "en.json", text + "\n")


def _fitted(rows: list[dict[str, float]], labels: np.ndarray) -> tuple[dict[str, float], float]:
    names = DictVectorizer()
    values = names.fit_transform(rows)
    model = LogisticRegression(C=STRENGTH, max_iter=5000).fit(values, labels)
    found = zip(names.get_feature_names_out(), model.coef_[0], strict=True)
    weights = {str(name): round(float(weight), DECIMALS) for name, weight in found}
    return {name: weight for name, weight in weights.items() if weight}, float(model.intercept_[0])


def _sum(row: dict[str, float], weights: dict[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in row.items())


if __name__ == "__main__":
    learn()
