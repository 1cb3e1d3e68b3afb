"""The next line of a conversation, chosen out of hand-written ones by what was just said.

A layperson's next line: it fits the act and what was heard.
"""

import re

import numpy as np

from simcounsel.agents.emotion import emotion_relevance
from simcounsel.agents.facts import LineFacts
from simcounsel.agents.tasks import LineAnswer
from simcounsel.chance import chance
from simcounsel.embedded.clientlines import ClientLines, Generate
from simcounsel.embedded.clientstates import ClientStates
from simcounsel.embedded.counselorlines import CounselorLines, Speak
from simcounsel.embedded.feelings import Feelings
from simcounsel.embedded.picks import Pick, filled_in, used_before
from simcounsel.embedded.similarity import Similarity
from simcounsel.llm.question import Question
from simcounsel.scripted.registry import Given
from simcounsel.specs.vocabulary import Emotion

TROUBLED = frozenset({"fear", "sadness", "anger", "disgust"})


class LaypersonLines:
    """Chooses lines of the persona's file."""

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    def line(self, facts: LineFacts, question: Question[LineAnswer]) -> Pick:
        """The line for the act; nobody leaves a troubled friend without a kind word first."""
        move = facts.move
        pick = self._chat(facts, question, move)
        if move == "close" and facts.heard is not None and facts.heard.emotion in TROUBLED:
            kind = self._chat(facts, question, "sympathize")
            return Pick(
                text=f"{kind.text} {pick.text}",
                emphasis=None,
                emotion=pick.emotion,
                source="chosen",
                leaves=True,
            )
        return pick

    def _chat(self, facts: LineFacts, question: Question[LineAnswer], move: str) -> Pick:
        leaving = move == "close"
        said = facts.said
        heard = facts.heard
        pool = [e for e in question.examples if e.tags.move == move] or list(question.examples)
        if move == "sympathize" and heard is not None:
            pool = [
                e
                for e in pool
                if e.tags.emotion == "neutral"
                or emotion_relevance(e.tags.emotion, heard.emotion) > 0.8
            ] or pool
        filled = [(e, text) for e in pool if (text := filled_in(e.tags.form, facts)) is not None]
        if not filled:
            return Pick(
                text=question.fallback.say,
                emphasis=None,
                emotion="neutral",
                source="chosen",
                leaves=leaving,
            )
        texts = [re.sub(r"\[([^\]]+)\]", r"\1", text) for _, text in filled]
        near = self._similarity.nearness(heard.text, texts) if heard else np.zeros(len(texts))
        theme = self._theme_nearness(facts, question, heard.text if heard else "")
        uses = np.array([used_before(e.tags.form, said) for e, _ in filled])
        rng = chance(question.seed, "chat")
        scores = [
            0.8 * near[i]
            + (0.0 if e.tags.theme == "any" else 1.2 * (theme.get(e.tags.theme, 0.0) - 0.3))
            - 1.5 * uses[i]
            + rng.gauss(0, 0.05)
            for i, (e, _) in enumerate(filled)
        ]
        best = int(np.argmax(scores))
        emotion: Emotion = (
            filled[best][0].tags.emotion if move in ("greet", "share", "close") else "trust"
        )
        return Pick(
            text=texts[best], emphasis=None, emotion=emotion, source="chosen", leaves=leaving
        )

    def _theme_nearness(
        self, facts: LineFacts, question: Question[LineAnswer], heard: str
    ) -> dict[str, float]:
        """How near what was heard is to each theme of one's own lines: the mean of the two nearest
        lines.
        """
        by_theme: dict[str, list[str]] = {}
        for e in question.examples:
            if e.tags.theme != "any":
                by_theme.setdefault(e.tags.theme, [f"It is about {e.tags.theme}."]).append(e.text)
        if not heard:
            return {}
        return {
            theme: float(np.sort(self._similarity.nearness(heard, texts))[-2:].mean())
            for theme, texts in by_theme.items()
        }


class Lines:
    """Lines of all roles, with the feeling in them."""

    def __init__(
        self,
        similarity: Similarity,
        feelings: Feelings,
        generate: Generate,
        tuned: Speak | None = None,
    ) -> None:
        self._feelings = feelings
        self._states = ClientStates(similarity)
        self._client = ClientLines(similarity, feelings, generate)
        self._counselor = CounselorLines(similarity, tuned)
        self._layperson = LaypersonLines(similarity)

    def line(self, facts: LineFacts, question: Question[LineAnswer]) -> Given[LineAnswer]:
        """The line, and in the notes the words that it leans on."""
        pick = self._pick(facts, question)
        feeling = self._feelings.feel(pick.text)
        same = pick.emotion == feeling.emotion
        quiet = facts.role != "client"
        line = LineAnswer(
            say=pick.text,
            emotion=pick.emotion,
            intensity=2 if quiet else feeling.intensity if same else 5,
            poignancy=2 if quiet else feeling.poignancy if same else 4,
            wish="say goodbye" if pick.leaves else "go on",
        )
        if facts.thought:
            line = question.fallback.model_copy(update=line.model_dump())
        return Given(
            value=self._states.with_line(facts, line),
            source=pick.source,
            notes={"emphasis": pick.emphasis} if pick.emphasis else {},
        )

    def _pick(self, facts: LineFacts, question: Question[LineAnswer]) -> Pick:
        match facts.role:
            case "client":
                return self._client.line(facts, question)
            case "counselor":
                return self._counselor.line(facts, question)
            case "layperson":
                return self._layperson.line(facts, question)
