"""Can a program tell simulated clients from real ones? Logistic regression, cross-validated by
client, on stretches of equally many lines.

Three kinds of features, from what is hard to fake to what is easy to see: the measures of
`counting`, small words (which carry no topic), and all words (an upper bound: real and simulated
sessions that are about different things are told apart by their topics alone).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from analysis.areas import auc, auc_interval
from analysis.validity.talk.counting import TalkMeasure
from analysis.validity.talk.distances import FEWEST_CLIENTS
from analysis.validity.talk.sessions import TalkSession
from simcounsel.corpus.measures import units
from simcounsel.texts.stopwords import EMPTY

STRETCH = 10
"""Client lines that are judged at once, so that the length of a session tells nothing."""
FOLDS = 5
CONTRACTED = frozenset(
    "don't can't i'm it's that's you're he's she's i'd i'll i've won't didn't doesn't isn't there's"
    " they're we're wouldn't couldn't yeah okay ok well like just really maybe um uh".split()
)
CHINESE = frozenset(
    "的了是我你您他她它们在也都就还不没很会这那有和跟把被着过吗呢吧啊嗯哦得地但因为所以如果又再才只能要可"
)
"""Characters that carry no topic by themselves."""
FEATURES = ("measures", "small words", "all words")


@dataclass(frozen=True, kw_only=True)
class Detected:
    """How well one kind of features tells."""

    features: str
    auc: float | None
    """1: always right, 0.5: guessing; None with too few clients."""
    low: float | None
    """`low`, `high`: 95%, clients drawn with replacement."""
    high: float | None
    telling: tuple[tuple[str, float], ...] = ()
    """What tells most, with its weight: above 0 of the simulated, below of the real; of measures a
    weight is for a standard deviation.
    """


def stretches(sessions: Sequence[TalkSession]) -> list[TalkSession]:
    """Sessions cut into stretches of ten client lines; a rest of fewer goes, unless it is all."""
    found = []
    for one in sessions:
        count = len(one.client_lines)
        for start in range(0, max(count - STRETCH + 1, 1), STRETCH):
            lines = one.client_lines[start : start + STRETCH]
            found.append(
                replace(
                    one, client_lines=lines, counselor_lines=tuple(line.before for line in lines)
                )
            )
    return found


def detect(
    real: Sequence[TalkSession], simulated: Sequence[TalkSession], counted: Sequence[TalkMeasure]
) -> list[Detected]:
    """Of each kind of features how well it tells. counted: measures that rest on the client's
    lines alone.
    """
    pieces = [*stretches(real), *stretches(simulated)]
    border = len(stretches(real))
    label = np.array([0] * border + [1] * (len(pieces) - border))
    group = np.array(
        [f"{'real' if at < border else 'simulated'} {one.client}" for at, one in enumerate(pieces)]
    )
    clients = [len(set(group[label == side])) for side in (0, 1)]
    if min(clients) < FEWEST_CLIENTS:
        return [Detected(features=name, auc=None, low=None, high=None) for name in FEATURES]
    texts = [" ".join(line.said for line in one.client_lines) for one in pieces]
    numbers = np.array(
        [[_number(measure.of(one)) for measure in counted] for one in pieces], dtype=float
    )
    return [
        _told("measures", _of_measures(), numbers, label, group, [one.name for one in counted]),
        _told("small words", _of_words(small=True), np.array(texts), label, group),
        _told("all words", _of_words(small=False), np.array(texts), label, group),
    ]


def _told(
    name: str,
    model: Any,
    features: NDArray[Any],
    label: NDArray[Any],
    group: NDArray[Any],
    names: Sequence[str] | None = None,
) -> Detected:
    score = np.zeros(len(label))
    folds = StratifiedGroupKFold(n_splits=FOLDS, shuffle=True, random_state=0)
    try:
        for learn, test in folds.split(features, label, group):
            score[test] = model.fit(features[learn], label[learn]).decision_function(features[test])
    except ValueError as error:
        if "vocabulary" not in str(error) and "no terms remain" not in str(error):
            raise
        return Detected(features=name, auc=None, low=None, high=None)  # there are no such words
    low, high = auc_interval(label, score, group, name)
    fitted = model.fit(features, label)
    weights = fitted[-1].coef_[0]
    known = list(names or fitted[0].get_feature_names_out())
    order = np.argsort(-np.abs(weights), kind="stable")[:8]
    return Detected(
        features=name,
        auc=auc(score[label == 1], score[label == 0]),
        low=low,
        high=high,
        telling=tuple((known[at], float(weights[at])) for at in order),
    )


def _of_measures() -> Any:
    return make_pipeline(
        SimpleImputer(keep_empty_features=True), StandardScaler(), _regression(0.1)
    )


def _of_words(*, small: bool) -> Any:
    words = TfidfVectorizer(
        analyzer=_small_words if small else units, sublinear_tf=True, use_idf=not small, min_df=2
    )
    return make_pipeline(words, _regression(10.0))


def _regression(c: float) -> LogisticRegression:
    return LogisticRegression(C=c, class_weight="balanced", max_iter=2000)


def _small_words(text: str) -> list[str]:
    return [one for one in units(text) if one in EMPTY or one in CONTRACTED or one in CHINESE]


def _number(value: float | None) -> float:
    return np.nan if value is None else value
