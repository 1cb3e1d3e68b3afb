"""Feelings by the nearest labelled sentences, and a client's own situations among them."""

from typing import NamedTuple

from simcounsel.agents.facts import AppraisalFacts
from simcounsel.agents.tasks import FeelingAnswer, FeelingsAnswer
from simcounsel.embedded.labelled import labelled
from simcounsel.embedded.similarity import Probe, Similarity
from simcounsel.llm.question import Question
from simcounsel.scripted.registry import Given
from simcounsel.specs.vocabulary import Emotion

IN_PASSING = 3
"""What others are seen to do moves one no more than this, 1 to 10."""
Label = tuple[Emotion, int, int]


class Feeling(NamedTuple):
    """An emotion with its intensity and poignancy, 1 to 10."""

    emotion: Emotion
    intensity: int
    poignancy: int


class Feelings:
    """Names what a text feels like."""

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity
        self._common: list[tuple[str, Label]] = [
            (text, _label(label)) for text, label in labelled("feelings")
        ]

    def appraised(
        self, facts: AppraisalFacts, question: Question[FeelingsAnswer]
    ) -> Given[FeelingsAnswer]:
        """One feeling for each piece of news."""

        def felt(text: str) -> Feeling:
            feeling = self.feel(text)
            return feeling._replace(
                intensity=min(IN_PASSING, feeling.intensity),
                poignancy=min(IN_PASSING, feeling.poignancy),
            )

        return Given(
            value=FeelingsAnswer(
                feelings=tuple(FeelingAnswer(**felt(text)._asdict()) for text in facts.news)
            )
        )

    def feel(self, text: str) -> Feeling:
        """The emotion with the largest share among the neighbours, its mean intensity and
        poignancy.
        """
        shares = Probe(self._similarity, self._common).weights(text)
        by_emotion: dict[Emotion, float] = {}
        for (emotion, _, _), share in shares.items():
            by_emotion[emotion] = by_emotion.get(emotion, 0.0) + share
        best = max(sorted(by_emotion), key=lambda emotion: by_emotion[emotion])
        same = [(label, share) for label, share in shares.items() if label[0] == best]
        total = sum(share for _, share in same)
        intensity = sum(label[1] * share for label, share in same) / total
        poignancy = sum(label[2] * share for label, share in same) / total
        return Feeling(
            emotion=best, intensity=max(1, round(intensity)), poignancy=max(1, round(poignancy))
        )


def _label(text: str) -> Label:
    emotion, intensity, poignancy = text.split("/")
    return emotion, int(intensity), int(poignancy)  # type: ignore[return-value]
