"""The six roles of a synthesis without a capable model: what was typed in is told sentence by
sentence, given back in the second person, and asked on about with questions written by hand; a few
rules judge, and what they ask for is learned.

The loops are real: a draft breaks a rule by chance, the evaluator sees it by the text alone, the
corrector mends it, the manager makes a strategy of it, and a supporter that carries the strategy
keeps the rule.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

import yaml

from simcounsel.chance import chance
from simcounsel.llm.question import Question
from simcounsel.specs.vocabulary import QUALITIES, Quality
from simcounsel.standins.feelings import Feelings
from simcounsel.standins.secondperson import given_back
from simcounsel.standins.sense import Sense
from simcounsel.texts import sentences

ORDER = ("listening", "identifying", "exploring", "goals", "support")
SLIPS, STILL_SLIPS = 0.45, 0.1
"""So often a draft breaks a rule that the supporter has not learned yet, and one that it has."""
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
Fields = dict[str, Any]


@cache
def forms() -> Mapping[str, Any]:
    """labelled/sessions.yaml."""
    found: Mapping[str, Any] = yaml.safe_load(
        files(__package__).joinpath("labelled", "sessions.yaml").read_text(encoding="utf-8")
    )
    return found


class Sessions:
    """Answers the purposes extract, seek, support, evaluate, correct and distil."""

    def __init__(self, sense: Sense, feelings: Feelings) -> None:
        self._sense = sense
        self._feelings = feelings

    def ways(self) -> dict[str, Callable[[Question[Any]], Fields | str]]:
        """What answers which purpose: the fields of its answer, or a line."""
        return {
            "extract": lambda request: dict(request.declared.model_dump()),
            "seek": self.seek,
            "support": self.support,
            "evaluate": self.evaluate,
            "correct": self.correct,
            "distil": self.distil,
        }

    # the seeker

    def seek(self, request: Question[Any]) -> Fields:
        """Facts as they were typed in, one or two, in their order; or a line that tells nothing
        new.
        """
        hints, draw = request.hints, chance(request.seed, "seek")
        heard = hints["lines"][-1][1] if hints["lines"] else ""
        said = {text for _, text in hints["lines"]}
        if hints["last"]:
            return {"line": _fresh(forms()["seeker"]["leaving"], said, draw), "facts": []}
        if not hints["offered"]:
            kind = "safe" if _asks_about_danger(heard) else "asked" if _offers(heard) else "quiet"
            return {"line": _fresh(forms()["seeker"][kind], said, draw), "facts": []}
        facts = list(hints["offered"])
        told = facts[:1]
        if (
            len(facts) > 1
            and facts[1].stage == facts[0].stage
            and draw.random() < 0.8
            and len(facts[0].text.split()) < 25
        ):
            told = facts[:2]
        before = (
            [_fresh(forms()["seeker"]["begin"], said, draw)]
            if not heard and draw.random() < 0.5
            else []
        )
        return {
            "line": " ".join([*before, *(_ended(fact.text) for fact in told)]),
            "facts": [fact.id for fact in told],
        }

    # the supporter

    def support(self, request: Question[Any]) -> Fields:
        """Something given back and a question of the stage; by chance a rule is broken that was not
        yet learned.
        """
        hints, draw = request.hints, chance(request.seed, "support")
        said, heard = [text for _, text in hints["lines"]], hints["lines"][-1][1]
        known = [
            rule
            for rule, (_, _, strategy) in RULES.items()
            if self._carried(strategy, hints["carried"])
        ]
        ids = [self._carried(RULES[rule][2], hints["carried"]) for rule in known]
        stage = (
            "support"
            if hints["last"]
            else ORDER[
                min(len(ORDER) - 1, (hints["turn"] - 1) * len(ORDER) // max(1, hints["turns"] - 2))
            ]
        )
        danger = _unasked(hints)
        if danger or hints["last"]:
            skill, line = _danger_line(said) if danger else _form("closing", said, draw)
            return {
                "reasoning": _why(heard, danger),
                "stage": stage,
                "skill": skill,
                "strategies": [],
                "line": line,
            }
        slips = [
            rule for rule in RULES if draw.random() < (STILL_SLIPS if rule in known else SLIPS)
        ]
        skill, line = self._line(stage, said, self._theme(hints["lines"]), draw, slips)
        used = [id for rule, id in zip(known, ids, strict=True) if id and rule not in slips]
        return {
            "reasoning": _why(heard, False),
            "stage": stage,
            "skill": skill,
            "strategies": used[:2],
            "line": line,
        }

    def _theme(self, lines: tuple[tuple[str, str], ...]) -> str:
        """The theme whose ideas lie nearest to what the person has said so far."""
        told = " ".join(text for who, text in lines if who == "Person")
        nearest: dict[str, float] = {
            theme: self._sense.nearest(told, ideas) for theme, ideas in forms()["ideas"].items()
        }
        return max(nearest, key=lambda theme: nearest[theme])

    def _line(
        self, stage: str, said: list[str], theme: str, draw: Random, slips: list[str]
    ) -> tuple[str, str]:
        """A line of a stage that breaks the given rules, and its skill."""
        heard = said[-1] if said else ""
        back = given_back(heard)
        if _offers(" ".join(said[-2:-1])) and not re.search(
            r"\bno\b|\bnot\b|too much", heard.lower()
        ):
            return "suggestion", _fresh(
                forms()["ideas"].get(theme, forms()["ideas"]["other"]), set(said), draw
            )
        if "not so fast" in slips and stage in ("listening", "identifying"):
            return "suggestion", _fresh(
                forms()["ideas"].get(theme, forms()["ideas"]["other"]), set(said), draw
            )
        if _is_idea(" ".join(said[-2:-1])):
            return _form("after an idea", said, draw)
        if stage == "support" and _ADVICE.search(heard):
            permission = forms()["supporter"]["support"][0]
            return permission[0], (
                f"{back} {permission[1]}" if back and not _known(back, said) else permission[1]
            )
        skill, question = _form(stage, said, draw)
        if "one question" in slips and question.endswith("?"):
            question += " " + _form(stage, [*said, question], draw)[1]
        if (
            back is None
            or "takes up" in slips
            or ("feeling" in slips and self._strong(heard))
            or _known(back, said)
        ):
            return skill, question
        return (
            "reflection" if draw.random() < 0.3 else skill,
            back if draw.random() < 0.2 and stage == "listening" else f"{back} {question}",
        )

    # the evaluator, the corrector, the manager

    def evaluate(self, request: Question[Any]) -> Fields:
        """Which rules the draft breaks, seen by the text alone; each costs its quality."""
        hints = request.hints
        broken = self._broken(hints["draft"], hints["lines"])
        ratings: Fields = dict.fromkeys(QUALITIES, 7)
        for rule in broken:
            ratings[RULES[rule][0]] = 4
        enough = hints["turn"] >= hints["turns"] - 2 or (
            hints["turn"] >= hints["turns"] - 3 and chance(request.seed, "enough").random() < 0.3
        )
        done = (
            enough
            and not _unasked(hints)
            and not _is_idea(hints["draft"])
            and not _offers(hints["draft"])
        )
        advice = RULES[broken[0]][1] if broken else ""
        return {**ratings, "revise": bool(broken), "advice": advice, "go_on": not done}

    def correct(self, request: Question[Any]) -> str:
        """The line anew, with no rule broken."""
        hints, draw = request.hints, chance(request.seed, "correct")
        said = [text for _, text in hints["lines"]]
        heard, draft = said[-1], hints["draft"]
        if _unasked(hints):
            return _danger_line(said)[1]
        back = given_back(heard)
        questions = sentences.questions(draft)
        if hints["advice"] == RULES["not so fast"][1] or not questions:
            _, question = _form(hints["stage"], said, draw)
        else:
            question = questions[0].strip()
        if back is None or _known(back, said) or draft.startswith(back):
            if back and draft.startswith(back):
                return f"{back} {question}"
            return question if question != draft else _form(hints["stage"], said, draw)[1]
        return f"{back} {question}"

    def distil(self, request: Question[Any]) -> Fields:
        """The strategy of each rule that was broken, unless it is carried already."""
        asked = [text for _, text in request.hints["advice"]]
        wanted = [strategy for _, advice, strategy in RULES.values() if advice in asked]
        return {
            "strategies": [
                strategy
                for strategy in wanted
                if not self._carried(strategy, request.hints["carried"])
            ][:3]
        }

    def _broken(self, draft: str, lines: tuple[tuple[str, str], ...]) -> list[str]:
        heard = lines[-1][1]
        said = [text for _, text in lines]
        back = given_back(heard)
        found = []
        if not _asks_about_danger(draft) and not _closes(draft):
            if draft.count("?") > 1:
                found.append("one question")
            if _is_idea(draft) and not _offers(" ".join(said[-2:-1])):
                found.append("not so fast")
            elif back and back not in draft and not _known(back, said):
                found.append("feeling" if self._strong(heard) else "takes up")
        return found

    def _strong(self, heard: str) -> bool:
        return self._feelings.feel(heard).emotion in STRONG

    def _carried(self, strategy: str, carried: Any) -> str | None:
        """The id of a carried strategy that says this one."""
        near = self._sense.nearness(strategy, [one.text for one in carried])
        best = max(range(len(carried)), key=lambda index: float(near[index]), default=None)
        return carried[best].id if best is not None and near[best] >= 0.8 else None


def _form(stage: str, said: list[str], draw: Random) -> tuple[str, str]:
    """A form of a stage that was not said yet."""
    listed = [(skill, text) for skill, text in forms()["supporter"][stage]]
    fresh = [pair for pair in listed if not any(pair[1] in line for line in said)]
    return draw.choice(fresh or listed)


def _fresh(texts: list[str], said: Any, draw: Random) -> str:
    return draw.choice([text for text in texts if text not in said] or texts)


def _ended(text: str) -> str:
    return text if text.rstrip()[-1:] in ".!?…" else text.rstrip() + "."


def _known(back: str, said: list[str]) -> bool:
    """Whether this was given back before."""
    return any(back in line for line in said)


def _offers(line: str) -> bool:
    return "one small idea" in line


def _is_idea(line: str) -> bool:
    return any(line == idea for ideas in forms()["ideas"].values() for idea in ideas)


def _closes(line: str) -> bool:
    return any(line == text for _, text in forms()["supporter"]["closing"])


_ADVICE = re.compile(
    r"\b(?:what (?:i|can|could|should|do)|how (?:do|can|could|to)|know what|advice|tell me)\b",
    re.IGNORECASE,
)


def _unasked(hints: Mapping[str, Any]) -> bool:
    """Whether the seeker spoke of not wanting to live and the three questions about it were not all
    asked.
    """
    said = {line for _, line in hints["lines"]}
    return bool(hints["danger"]) and any(
        text not in said for _, text in forms()["supporter"]["danger"]
    )


def _danger_line(said: list[str]) -> tuple[str, str]:
    return next((skill, text) for skill, text in forms()["supporter"]["danger"] if text not in said)


def _asks_about_danger(line: str) -> bool:
    return any(line == text for _, text in forms()["supporter"]["danger"])


def _why(heard: str, danger: bool) -> str:
    if danger:
        return "What was said may mean danger; this comes before everything else."
    words = " ".join(heard.split()[:9])
    return f"They said “{words}{'…' if len(heard.split()) > 9 else ''}”; stay close to that."
