"""Whether a turn reflects, as it was learned (`train`)."""

import json
import math
from functools import cache
from importlib.resources import files

from simcounsel.instruments.reflecting.features import features


def chance_of_reflection(heard: str, said: str) -> float:
    """From 0 to 1, how likely an English turn gives back what the client said. heard: what the
    client said before it, '' at the beginning.
    """
    bias, weights = _learned()
    found = features(heard, said)
    odds = bias + sum(weights.get(name, 0.0) * value for name, value in found.items())
    return 1 / (1 + math.exp(-odds))


def reflects(heard: str, said: str) -> bool:
    """Whether it is likelier than not."""
    return chance_of_reflection(heard, said) > 0.5


@cache
def _learned() -> tuple[float, dict[str, float]]:
    text = files("simcounsel.instruments.reflecting").joinpath("en.json").read_text("utf-8")
    learned = json.loads(text)
    return learned["bias"], learned["weights"]
