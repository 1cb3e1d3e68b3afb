"""Reflection: questions, insights that cite memories, a persona whose versions are counted."""

from typing import Any

from simcounsel.agents import reflection
from simcounsel.agents.mind import Effects
from simcounsel.agents.tasks import InsightAnswer, InsightsAnswer, PortraitAnswer, QuestionsAnswer
from simcounsel.events import Hit, Insight, PersonaChanged, Recalled, Reflected, as_event
from simcounsel.llm.driving import play
from simcounsel.llm.question import Question
from simcounsel.specs.persona import ClientPersona
from tests.stage import Alone, memory, noting, scene, vectors

QUESTIONS = QuestionsAnswer(questions=("Why does Ines count?", "Whom does she trust?"))
NEW = PortraitAnswer(characteristic="a new characteristic", recent_feeling="a new recent feeling")


def insight(*evidence: int, text: str = "Ines counts to feel safe.") -> InsightAnswer:
    return InsightAnswer(text=text, evidence=evidence, emotion="fear", intensity=5, poignancy=7)


def thoughtful() -> Alone:
    ines = Alone()
    ines.have_version()
    ines.remember(
        memory(0, "plan", type="slot", origin="plan", poignancy=None),
        memory(1, "graver", poignancy=9),
        memory(2, "grave", poignancy=8),
        memory(3, "light", poignancy=1),
    )
    return ines


def reflect(ines: Alone, *replies: Any, requests: list[Question] | None = None) -> Effects:
    seen = [] if requests is None else requests
    return play(
        noting(reflection.reflect(ines.resident, scene(), "3 new memories"), seen),
        QUESTIONS,
        vectors([1, 0], [0, 1]),
        *replies,
    )


def test_evidence_numbers_become_ids() -> None:
    seen: list[Question] = []
    effects = reflect(
        thoughtful(),
        InsightsAnswer(insights=(insight(2, 1, 2), insight(3, text="Ines laughs too."))),
        NEW,
        requests=seen,
    )
    first, second, reflected, changed = effects.events
    assert isinstance(first, Recalled)
    assert isinstance(second, Recalled)
    assert (first.query, second.query) == QUESTIONS.questions
    assert reflected == Reflected(
        who="Ines",
        trigger="3 new memories",
        questions=QUESTIONS.questions,
        insights=(
            Insight(text="Ines counts to feel safe.", evidence=("Ines:2", "Ines:1")),
            Insight(text="Ines laughs too.", evidence=("Ines:3",)),
        ),
        calls=(seen[0].key, seen[2].key),
    )
    assert [draft.calls for draft in effects.drafts] == [(seen[2].key,)] * 2
    assert [(d.type, d.origin, d.evidence, d.poignancy) for d in effects.drafts] == [
        ("thought", "insight", ("Ines:2", "Ines:1"), 7),
        ("thought", "insight", ("Ines:3",), 7),
    ]
    assert isinstance(changed, PersonaChanged)
    assert (changed.version, changed.characteristic, changed.recent_feeling) == (
        1,
        NEW.characteristic,
        NEW.recent_feeling,
    )
    assert changed.evidence == ("Ines:2", "Ines:1", "Ines:3")
    assert [(r.verb, r.purpose) for r in seen] == [
        ("fill", "questions"),
        ("embed", "reflect"),
        ("fill", "insights"),
        ("fill", "persona"),
    ]
    assert (
        "1. Today, 08:00: graver\n2. Today, 08:00: grave\n3. Today, 08:00: light" in seen[2].prompt
    )
    assert "plan" not in seen[2].facts.evidence


def test_number_of_no_memory_is_complained_about() -> None:
    seen: list[Question] = []
    reflect(thoughtful(), InsightsAnswer(insights=(insight(1),)), NEW, requests=seen)
    check = seen[2].check
    assert check is not None
    assert check(InsightsAnswer(insights=(insight(1, 3),))) is None
    assert check(InsightsAnswer(insights=(insight(1), insight(4)))) == "there is no memory number 4"
    assert check(InsightsAnswer(insights=(insight(0),))) == "there is no memory number 0"


def test_versions_count_up() -> None:
    ines = thoughtful()
    for version in (1, 2, 3):
        text = PortraitAnswer(
            characteristic=f"characteristic {version}", recent_feeling="the same feeling"
        )
        effects = reflect(ines, InsightsAnswer(insights=(insight(1),)), text)
        changed = effects.events[-1]
        assert isinstance(changed, PersonaChanged)
        assert changed.version == version
        for event in effects.events:
            ines.observe(as_event(event))
    assert ines.resident.version == changed
    assert ines.resident.replan_why == ("Ines has come to see this: Ines counts to feel safe")


def test_a_portrait_that_holds_for_its_day_only_is_asked_for_again() -> None:
    seen: list[Question] = []
    reflect(thoughtful(), InsightsAnswer(insights=(insight(1),)), NEW, requests=seen)
    check = seen[-1].check
    assert check is not None
    assert check(NEW) is None
    tonight = NEW.model_copy(update={"recent_feeling": "She dreads Tonight."})
    assert "“Tonight” holds for one day only" in str(check(tonight))


def test_same_text_is_no_new_version() -> None:
    ines = thoughtful()
    assert ines.resident.version is not None
    same = PortraitAnswer(
        characteristic=ines.resident.version.characteristic,
        recent_feeling=ines.resident.version.recent_feeling,
    )
    effects = reflect(ines, InsightsAnswer(insights=(insight(1),)), same)
    assert [event.kind for event in effects.events] == ["recalled", "recalled", "reflected"]


def test_no_insights_no_rewrite() -> None:
    seen: list[Question] = []
    effects = reflect(thoughtful(), None, requests=seen)
    assert [event.kind for event in effects.events] == ["recalled", "recalled", "reflected"]
    assert effects.drafts == ()
    assert [r.purpose for r in seen][-1] == "insights"


def test_nothing_to_reflect_on() -> None:
    ines = Alone()
    ines.have_version()
    effects = reflect(ines)
    assert [event.kind for event in effects.events] == ["recalled", "recalled", "reflected"]


def test_evidence_says_nothing_twice() -> None:
    ines = Alone()
    ines.have_version()
    ines.remember(
        memory(0, "same", poignancy=9),
        memory(1, "same", poignancy=8),
        memory(2, "other", poignancy=2),
    )
    seen: list[Question] = []
    effects = reflect(ines, InsightsAnswer(insights=(insight(1),)), NEW, requests=seen)
    assert seen[2].facts.evidence == ("same", "other")
    assert isinstance(effects.events[2], Reflected)
    assert effects.events[2].insights[0].evidence == ("Ines:0",)


def test_arriving_brings_situations_along() -> None:
    """And the portrait of its file, as it is: no model writes another for each run."""
    ines = Alone()
    effects = reflection.arrive(ines.resident)
    persona = ines.resident.persona
    assert isinstance(persona, ClientPersona)
    assert [(d.emotion, d.intensity, d.poignancy, d.origin) for d in effects.drafts] == [
        (s.emotion, s.intensity, s.intensity, "initial") for s in persona.situations
    ]
    assert all(
        s.thought in d.text and s.behavior in d.text
        for s, d in zip(persona.situations, effects.drafts, strict=True)
    )
    (version,) = effects.events
    assert isinstance(version, PersonaChanged)
    assert (version.version, version.characteristic, version.background) == (
        0,
        persona.portrait.characteristic,
        persona.background,
    )
    ines.observe(version)
    assert ines.resident.replan_why is None


def test_of_one_conversation_few_lines_are_evidence() -> None:
    ines = Alone()
    ines.have_version()
    lines = [
        memory(n, f"line {n}", type="chat", origin="talk", chat="1:Ines+Miriam") for n in range(8)
    ]
    summary = memory(8, "the talk", type="thought", origin="summary", chat="1:Ines+Miriam")
    others = [memory(9 + n, f"walk {n}") for n in range(3)]
    ines.remember(*lines, summary, *others)
    terms = dict.fromkeys(
        ("recency", "poignancy", "emotion_score", "emotion_relevance", "relevance"), 0.5
    )
    hits = tuple(Hit(id=f"Ines:{n}", score=0.9 - n / 100, **terms) for n in range(12))
    recalled = Recalled(who="Ines", purpose="reflect", query="?", emotion="neutral", hits=hits)
    found = reflection._evidence(ines.resident, (recalled,))
    assert sum(one.type == "chat" for one in found) == reflection.OF_ONE_TALK
    assert {"the talk", "walk 0", "walk 1", "walk 2"} <= {one.text for one in found}
