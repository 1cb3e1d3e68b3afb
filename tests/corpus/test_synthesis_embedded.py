"""The six roles without a capable model: coherent, safe, and learning."""

from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcounsel.corpus.disclosure import DISCLOSURES
from simcounsel.corpus.synthesis.events import (
    QUALITIES,
    Disclosed,
    Drafted,
    Evaluated,
    Extracted,
    Revised,
    StrategyLearned,
    Support,
)
from simcounsel.corpus.synthesis.facts import DistilFacts, EvaluateFacts
from simcounsel.corpus.synthesis.reading import dialogues_of
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.role_answers import Distilled, Evaluation
from simcounsel.corpus.synthesis.settings import STRATEGY_WORDS, Synthesis
from simcounsel.corpus.synthesis.situations import Situation, read_situations
from simcounsel.corpus.synthesis.workshop import Workshop
from simcounsel.embedded.feelings import Feelings
from simcounsel.embedded.secondperson import given_back
from simcounsel.embedded.session_forms import forms
from simcounsel.embedded.sessions import RULES, Sessions
from simcounsel.embedded.similarity import Similarity
from simcounsel.events import Warned
from simcounsel.llm.embeddings import MiniLM
from simcounsel.llm.question import Question
from simcounsel.specs.vocabulary import THEMES
from tests.corpus.bench import happened
from tests.each import each

# given back


@each(
    ("line", "back"),
    [
        ("At five o'clock I get up. I still warm his soup.", "You still warm his soup."),
        ("I am so angry with my brother.", "You are so angry with your brother."),
        ("My mother left me, and I was alone.", "Your mother left you, and you were alone."),
        (
            "I'm afraid, I've lost my way, and I'd rather not say it.",
            "You're afraid, you've lost your way, and you'd rather not say it.",
        ),
        ("We quarrel, and I sleep in the kitchen.", "You sleep in the kitchen."),
        ("She was tired and I was tired.", None),
        ("I am a nurse.", None),
        ("I'm 41 and I fly.", None),
        ("Why am I like this?", None),
        ("You never listen to me.", None),
        ("I suppose I should say something about me.", None),
        ("It rains.", None),
        ("", None),
    ],
)
def test_what_is_given_back(line: str, back: str | None) -> None:
    assert given_back(line) == back


@given(st.text(max_size=200))
def test_whatever_is_said_nothing_of_the_first_person_is_left(line: str) -> None:
    back = given_back(line)
    words = (back or "").lower().replace("’", "'").split()
    assert not {"i", "me", "my", "mine", "myself", "i'm", "i've"} & set(words)


# forms


def test_there_is_something_to_say_at_every_stage_and_an_idea_for_every_theme() -> None:
    found = forms()
    assert set(get_args(Support)) < set(found["supporter"])
    assert set(THEMES) | {"other"} == set(found["ideas"])
    assert all(len(strategy.split()) <= STRATEGY_WORDS for _, _, strategy in RULES.values())
    assert {quality for quality, _, _ in RULES.values()} < set(QUALITIES)
    for stage, lines in found["supporter"].items():
        for skill, text in lines:
            assert text.count("?") <= (
                2 if stage == "danger" else 1 if "Am I" not in text else 2
            ), text
            assert (stage == "closing") == (skill == "closing")


# rules


@pytest.fixture(scope="module")
def sessions() -> Sessions:
    similarity = Similarity(MiniLM())
    return Sessions(similarity, Feelings(similarity))


def judged(sessions: Sessions, heard: str, draft: str, *before: tuple[str, str]) -> Evaluation:
    facts = EvaluateFacts(lines=(*before, ("Person", heard)), draft=draft, turn=2, turns=10)
    question = Question[Evaluation | None](
        verb="fill", purpose="evaluate", who="S0001", seed=1, facts=facts, fallback=None
    )
    return sessions.evaluate(facts, question).value


@pytest.mark.weights
@each(
    ("draft", "quality"),
    [
        ("Which part of it weighs the most?", "listening"),
        (
            "You take the first boat every day. What is the worst hour of the day? And then?",
            "collaboration",
        ),
        (
            "You could choose one evening this week on which work is over at a fixed hour, whatever is left. Which would be the easiest?",
            "feasibility",
        ),
        ("You take the first boat every day. Which part of it weighs the most?", None),
        ("Let's leave it there for today, and not tie a bow on it.", None),
    ],
)
def test_a_broken_rule_costs_its_quality(
    draft: str, quality: str | None, sessions: Sessions
) -> None:
    found = judged(sessions, "I take the first boat every day.", draft)
    assert [name for name in QUALITIES if found.ratings()[name] < 7] == (
        [quality] if quality else []
    )
    assert found.revise == bool(quality)
    assert bool(found.advice) == bool(quality)


@pytest.mark.weights
def test_a_strategy_that_is_carried_is_not_taught_again(sessions: Sessions) -> None:
    _, advice, strategy = RULES["one question"]

    def taught(carried: dict[str, str]) -> list[str]:
        facts = DistilFacts(advice=(advice,), carried=carried)
        question = Question[Distilled](
            verb="fill", purpose="distil", who="S0001", facts=facts, fallback=Distilled()
        )
        return sessions.distil(facts, question).value.strategies

    assert taught({}) == [strategy]
    assert taught({"K001": "Ask just one question at a time and wait for its answer."}) == []


# whole sessions


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SynthesisRecord:
    """Ten sessions over ten themes, in two waves."""
    with Workshop(
        Synthesis(situations=read_situations(["shipped"]), sessions=10, wave=5),
        out=tmp_path_factory.mktemp("embedded"),
    ) as workshop:
        return workshop.run()


@pytest.mark.weights
def test_sessions_hold_together(run: SynthesisRecord) -> None:
    assert not happened(run, Warned)
    texts = {one.id: " ".join(one.text.split()) for one in run.settings.situations}
    for event in happened(run, Extracted):
        assert all(fact.text in texts[event.situation] for fact in event.facts if not fact.invented)
    for dialogue in dialogues_of(run):
        assert [turn.speaker for turn in dialogue.turns] == ["client", "counselor"] * (
            len(dialogue.turns) // 2
        )
        assert len({turn.text for turn in dialogue.turns}) == len(dialogue.turns), (
            "nothing is said twice"
        )
        assert dialogue.turns[-1].skill == "closing"
        assert all(
            turn.text.count("?") <= 2 for turn in dialogue.turns if turn.speaker == "counselor"
        )


@pytest.mark.weights
def test_seekers_open_up_by_stages(run: SynthesisRecord) -> None:
    for name in {event.session for event in happened(run, Extracted)}:
        reached = [
            DISCLOSURES.index(event.stage)
            for event in happened(run, Disclosed)
            if event.session == name and event.facts
        ]
        assert reached[0] == 0, "first who they are"
        steps = [later - earlier for earlier, later in pairwise(reached)]
        assert max(steps) <= 2, reached
        assert max(reached) >= 3, "it comes further than to feeling"


@pytest.mark.weights
def test_lines_are_judged_revised_and_learned_from(run: SynthesisRecord) -> None:
    drafts = {(event.session, event.message): event for event in happened(run, Drafted)}
    for event in happened(run, Evaluated):
        if not event.revise:
            assert min(rating.value or 0 for rating in event.ratings) == 7
    revised = happened(run, Revised)
    assert revised
    assert all(event.text != drafts[event.session, event.message].text for event in revised)
    learned = happened(run, StrategyLearned)
    assert {event.text for event in learned} <= {strategy for _, _, strategy in RULES.values()}
    first = sum(1 for event in revised if event.session <= "S0005") / 5
    later = sum(1 for event in revised if event.session > "S0005") / 5
    assert later < first, "what was learned in the first wave is kept in the later ones"


@pytest.mark.weights
@pytest.mark.parametrize(
    "said",
    [
        "I don't see the point of living.",
        "Sometimes I think they would be better off without me.",
        "I want to die.",
    ],
)
def test_danger_is_asked_about_at_once(said: str, tmp_path: Path) -> None:
    text = f"I am a ferryman of fifty. My wife died in May. {said} I feel hollow. I would like to rest."
    with Workshop(
        Synthesis(situations=(Situation(id="a", text=text, theme="grief"),)), out=tmp_path
    ) as workshop:
        dialogue = dialogues_of(workshop.run())[0]
    at = next(number for number, turn in enumerate(dialogue.turns) if said in turn.text)
    after = [turn for turn in dialogue.turns[at + 1 :] if turn.speaker == "counselor"]
    assert [turn.skill for turn in after[:3]] == ["risk inquiry"] * 3
    assert "ending your life" in after[0].text
    assert "emergency number" in after[2].text
