"""The six roles of a synthesis without a capable model: what was typed in is told sentence by
sentence, given back in the second person, and asked on about with questions written by hand; a few
rules judge, and what they ask for is learned.

The loops are real: a draft breaks a rule by chance, the evaluator sees it by the text alone, the
corrector mends it, the manager makes a strategy of it, and a supporter that carries the strategy
keeps the rule.
"""

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from simcounsel.chance import chance
from simcounsel.corpus.synthesis.context import PERSON, Line
from simcounsel.corpus.synthesis.cutting import cut
from simcounsel.corpus.synthesis.events import QUALITIES, Quality, Support
from simcounsel.corpus.synthesis.facts import (
    CorrectFacts,
    DistilFacts,
    EvaluateFacts,
    ExtractFacts,
    SeekFacts,
    SupportFacts,
)
from simcounsel.corpus.synthesis.role_answers import (
    MOST_STRATEGIES,
    Distilled,
    Evaluation,
    Extraction,
    SeekerLine,
    SupporterLine,
)
from simcounsel.embedded.feelings import Feelings
from simcounsel.embedded.secondperson import given_back
from simcounsel.embedded.session_forms import (
    ASKS_ADVICE,
    asks_about_danger,
    asks_leave,
    closes,
    danger_line,
    danger_unasked,
    ended,
    form_of,
    forms,
    fresh,
    given_before,
    is_idea,
    why,
)
from simcounsel.embedded.similarity import Similarity
from simcounsel.llm.question import Question
from simcounsel.scripted.registry import Given, StandIns
from simcounsel.texts import sentences

ORDER: tuple[Support, ...] = ("listening", "identifying", "exploring", "goals", "support")
SLIPS, STILL_SLIPS = 0.45, 0.1
"""The share of drafts that break a rule which the supporter has not learned yet, or has."""
STRONG = frozenset({"fear", "sadness", "anger", "disgust"})
RULES: dict[str, tuple[Quality, str, str]] = {
    "takes up": (
        "listening",
        "Take up what was just said, in the person's own words, before asking anything.",
        "Before you ask, give back in the person's own words the thing that was just said.",
    ),
    "one question": (
        "collaboration",
        "Two questions at once leave nothing to choose; keep the one that matters.",
        "Ask one question at a time, and wait for its answer.",
    ),
    "not so fast": (
        "feasibility",
        "It is too early for a task; the person has not asked for one. Stay with what is there.",
        "Keep ideas and tasks until the person asks for them, and then ask leave first.",
    ),
    "feeling": (
        "sympathy",
        "The feeling was passed over; stay with it for a moment before going on.",
        "When a feeling shows, stay with it for a moment before you go on.",
    ),
}
"""By rule: the quality that suffers, the evaluator's advice, the manager's strategy."""


class Sessions:
    """Answers the questions of the six roles."""

    def __init__(self, similarity: Similarity, feelings: Feelings) -> None:
        self._similarity = similarity
        self._feelings = feelings

    def register(self, standins: StandIns) -> None:
        """Answer the questions of the six roles."""
        standins.add(ExtractFacts, self.extract)
        standins.add(SeekFacts, self.seek)
        standins.add(SupportFacts, self.support)
        standins.add(EvaluateFacts, self.evaluate)
        standins.add(CorrectFacts, self.correct)
        standins.add(DistilFacts, self.distil)

    # the extractor

    def extract(self, facts: ExtractFacts, question: Question[Extraction]) -> Given[Extraction]:
        """The situation cut into sentences."""
        return Given(value=cut(facts.text, facts.theme, facts.english))

    # the seeker

    def seek(self, facts: SeekFacts, question: Question[SeekerLine]) -> Given[SeekerLine]:
        """Facts as they were typed in, one or two, in their order; or a line that tells nothing
        new.
        """
        rng, forms_of = chance(question.seed, "seek"), forms()["seeker"]
        heard = facts.lines[-1][1] if facts.lines else ""
        said = {text for _, text in facts.lines}
        if facts.last:
            return Given(value=SeekerLine(line=fresh(forms_of["leaving"], said, rng)))
        if not facts.offered:
            kind = "safe" if asks_about_danger(heard) else "asked" if asks_leave(heard) else "quiet"
            return Given(value=SeekerLine(line=fresh(forms_of[kind], said, rng)))
        disclosed = facts.offered[:1]
        if (
            len(facts.offered) > 1
            and facts.offered[1].stage == facts.offered[0].stage
            and rng.random() < 0.8
            and len(facts.offered[0].text.split()) < 25
        ):
            disclosed = facts.offered[:2]
        before = [fresh(forms_of["begin"], said, rng)] if not heard and rng.random() < 0.5 else []
        line = " ".join([*before, *(ended(fact.text) for fact in disclosed)])
        return Given(value=SeekerLine(line=line, facts=[fact.id for fact in disclosed]))

    # the supporter

    def support(
        self, facts: SupportFacts, question: Question[SupporterLine]
    ) -> Given[SupporterLine]:
        """Something given back and a question of the stage; by chance a rule is broken that was not
        yet learned.
        """
        rng = chance(question.seed, "support")
        said, heard = [text for _, text in facts.lines], facts.lines[-1][1]
        stage = _stage(facts)
        danger = danger_unasked(facts.lines)
        if danger or facts.last:
            skill, line = danger_line(said) if danger else form_of("closing", said, rng)
            return _supporter_line(why(heard, danger), stage, skill, line)
        known = {
            rule: id
            for rule, (_, _, strategy) in RULES.items()
            if (id := self._carried(strategy, facts.carried))
        }
        slips = [rule for rule in RULES if rng.random() < (STILL_SLIPS if rule in known else SLIPS)]
        skill, line = self._line(stage, said, self._theme(facts.lines), rng, slips)
        used = [id for rule, id in known.items() if rule not in slips]
        return _supporter_line(why(heard, False), stage, skill, line, used[:2])

    def _theme(self, lines: Sequence[Line]) -> str:
        """The theme whose ideas lie nearest to what the person has said so far."""
        spoken = " ".join(text for who, text in lines if who == PERSON)
        nearest: dict[str, float] = {
            theme: self._similarity.nearest(spoken, ideas)
            for theme, ideas in forms()["ideas"].items()
        }
        return max(nearest, key=lambda theme: nearest[theme])

    def _line(
        self, stage: str, said: list[str], theme: str, rng: Random, slips: list[str]
    ) -> tuple[str, str]:
        """A line of a stage that breaks the given rules, and its skill."""
        heard = said[-1] if said else ""
        back = given_back(heard)
        if asks_leave(" ".join(said[-2:-1])) and not re.search(
            r"\bno\b|\bnot\b|too much", heard.lower()
        ):
            return "suggestion", fresh(
                forms()["ideas"].get(theme, forms()["ideas"]["other"]), set(said), rng
            )
        if "not so fast" in slips and stage in ("listening", "identifying"):
            return "suggestion", fresh(
                forms()["ideas"].get(theme, forms()["ideas"]["other"]), set(said), rng
            )
        if is_idea(" ".join(said[-2:-1])):
            return form_of("after an idea", said, rng)
        if stage == "support" and ASKS_ADVICE.search(heard):
            permission = forms()["supporter"]["support"][0]
            return permission[0], (
                f"{back} {permission[1]}"
                if back and not given_before(back, said)
                else permission[1]
            )
        skill, question = form_of(stage, said, rng)
        if "one question" in slips and question.endswith("?"):
            question += " " + form_of(stage, [*said, question], rng)[1]
        if (
            back is None
            or "takes up" in slips
            or ("feeling" in slips and self._strong(heard))
            or given_before(back, said)
        ):
            return skill, question
        return (
            "reflection" if rng.random() < 0.3 else skill,
            back if rng.random() < 0.2 and stage == "listening" else f"{back} {question}",
        )

    # the evaluator, the corrector, the manager

    def evaluate(self, facts: EvaluateFacts, question: Question[Any]) -> Given[Evaluation]:
        """Which rules the draft breaks, seen by the text alone; each costs its quality."""
        broken = self._broken(facts.draft, facts.lines)
        ratings: dict[str, int] = dict.fromkeys(QUALITIES, 7)
        for rule in broken:
            ratings[RULES[rule][0]] = 4
        enough = facts.turn >= facts.turns - 2 or (
            facts.turn >= facts.turns - 3 and chance(question.seed, "enough").random() < 0.3
        )
        done = (
            enough
            and not danger_unasked(facts.lines)
            and not is_idea(facts.draft)
            and not asks_leave(facts.draft)
        )
        return Given(
            value=Evaluation.model_validate(
                {
                    **ratings,
                    "advice": RULES[broken[0]][1] if broken else "",
                    "revise": bool(broken),
                    "go_on": not done,
                }
            )
        )

    def correct(self, facts: CorrectFacts, question: Question[str]) -> Given[str]:
        """The line anew, with no rule broken."""
        rng = chance(question.seed, "correct")
        said = [text for _, text in facts.lines]
        if danger_unasked(facts.lines):
            return Given(value=danger_line(said)[1])
        back, asked = given_back(said[-1]), sentences.questions(facts.draft)
        if facts.advice == RULES["not so fast"][1] or not asked:
            _, wanted = form_of(facts.stage, said, rng)
        else:
            wanted = asked[0].strip()
        begins = bool(back) and facts.draft.startswith(back or "")
        if back and (begins or not given_before(back, said)):
            return Given(value=f"{back} {wanted}")
        return Given(value=wanted if wanted != facts.draft else form_of(facts.stage, said, rng)[1])

    def distil(self, facts: DistilFacts, question: Question[Distilled]) -> Given[Distilled]:
        """The strategy of each rule that was broken, unless it is carried already."""
        wanted = [strategy for _, advice, strategy in RULES.values() if advice in facts.advice]
        new = [text for text in wanted if not self._carried(text, facts.carried)]
        return Given(value=Distilled(strategies=new[:MOST_STRATEGIES]))

    def _broken(self, draft: str, lines: Sequence[Line]) -> list[str]:
        heard = lines[-1][1]
        said = [text for _, text in lines]
        back = given_back(heard)
        found = []
        if not asks_about_danger(draft) and not closes(draft):
            if draft.count("?") > 1:
                found.append("one question")
            if is_idea(draft) and not asks_leave(" ".join(said[-2:-1])):
                found.append("not so fast")
            elif back and back not in draft and not given_before(back, said):
                found.append("feeling" if self._strong(heard) else "takes up")
        return found

    def _strong(self, heard: str) -> bool:
        return self._feelings.feel(heard).emotion in STRONG

    def _carried(self, strategy: str, carried: Mapping[str, str]) -> str | None:
        """The id of a carried strategy that says this one."""
        near = self._similarity.nearness(strategy, list(carried.values()))
        best = max(range(len(carried)), key=lambda index: float(near[index]), default=None)
        return list(carried)[best] if best is not None and near[best] >= 0.8 else None


def _stage(facts: SupportFacts) -> Support:
    """By how far the session has come."""
    if facts.last:
        return "support"
    return ORDER[min(len(ORDER) - 1, (facts.turn - 1) * len(ORDER) // max(1, facts.turns - 2))]


def _supporter_line(
    reasoning: str, stage: Support, skill: str, line: str, strategies: Sequence[str] = ()
) -> Given[SupporterLine]:
    fields = {"reasoning": reasoning, "stage": stage, "skill": skill, "line": line}
    return Given(value=SupporterLine.model_validate(fields | {"strategies": list(strategies)}))
