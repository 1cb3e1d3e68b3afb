"""A staged session with the embedded model: it goes through the states, says nothing twice, and its answers follow the stated rules."""

import re
from pathlib import Path

import pytest
import yaml

from simcounsel import Simulation, load_world
from simcounsel.embedded.clientlines import ExerciseReplies
from simcounsel.embedded.feelings import Feelings
from simcounsel.embedded.guided import Guided
from simcounsel.embedded.similarity import Similarity
from simcounsel.events import Judged, Noted, Retrieved, Said, Transitioned, Warned
from simcounsel.llm.embeddings import MiniLM
from simcounsel.llm.question import Question
from simcounsel.runs.as_text import conversation_lines
from simcounsel.runs.run import Run
from simcounsel.therapies.staged.intents import intent_in
from simcounsel.therapies.staged.questions import IntentFacts, SufficiencyFacts
from tests.each import each
from tests.stage import ROOT, line_facts, said, view

pytestmark = pytest.mark.weights


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Ines's first session of thirty lines with a staged Miriam."""
    world = load_world(
        ROOT / "worlds" / "insomnia.yaml",
        **{
            "residents.Miriam.policy": "staged",
            "conversation.max_turns": 34,
            "start": "2026-03-02 14:45",
            "condition": "client_counselor",
        },
    )
    return Simulation(world, out=tmp_path_factory.mktemp("runs")).run(2)


def events(run: Run, *kinds: type) -> list[object]:
    return [entry.event for entry in run.entries() if isinstance(entry.event, kinds)]


def test_it_goes_through_the_states_to_the_end(run: Run) -> None:
    states = [event.state for event in events(run, Transitioned)]  # type: ignore[attr-defined]
    assert states[:4] == ["greeting", "emotion", "mood", "event"]
    assert states[-1] == "end"
    assert events(run, Noted)
    assert not events(run, Warned)


def test_nothing_is_said_twice_and_no_slot_is_left_open(run: Run) -> None:
    lines = [event.text for event in events(run, Said)]  # type: ignore[attr-defined]
    assert len(lines) == len(set(lines)) >= 14
    assert not re.search(r"[{}\[\]$]", " ".join(lines))
    assert {event.source for event in events(run, Said)} <= {"chosen", "generated"}  # type: ignore[attr-defined]


def test_show_tells_state_verdicts_and_exercise(run: Run) -> None:
    text = "\n".join(conversation_lines(run, 1))
    assert "· greeting (the session begins; day 1 of 8)" in text
    assert "Miriam (emotion; " in text
    assert "in emotion, sufficient: no (by rule: 1 of at least 2 messages)" in text
    assert "Miriam notes, lines 1 to" in text
    assert all(event.reason for event in events(run, Judged))  # type: ignore[attr-defined]
    for event in events(run, Retrieved):
        assert f"· exercise: {event.chosen[0]} (" in text  # type: ignore[attr-defined]
        assert "left out (" in text


@pytest.fixture(scope="module")
def similarity() -> Similarity:
    return Similarity(MiniLM())


def request(purpose: str, **more: object) -> Question:
    fields: dict[str, object] = {
        "verb": "choose",
        "purpose": purpose,
        "who": "Miriam",
        "fallback": None,
    }
    fields |= more
    return Question(**fields)  # type: ignore[arg-type]


@each(
    ("heard", "criteria", "enough"),
    [
        (("Fine.",), ("The client has named a feeling.",), "no"),
        (
            (
                "I feel so heavy in the mornings that I sit on the bed and wait until the kettle has boiled and gone cold again.",
            ),
            ("The client has named a feeling.",),
            "yes",
        ),
        (
            (
                "The cat is grey and the sofa is green and the car is blue and the house is red and the door is open now.",
            ),
            ("The client has named a feeling.",),
            "no",
        ),
        (("Just as it comes.",), ("The client has answered the greeting.",), "yes"),
        (("Hm.",), ("The client has answered the greeting.",), "no"),
    ],
)
def test_sufficiency_is_by_words_and_a_feeling_or_event(
    similarity: Similarity, heard: tuple[str, ...], criteria: tuple[str, ...], enough: str
) -> None:
    said_so = Guided(similarity, Feelings(similarity)).sufficient(
        facts := SufficiencyFacts(heard=heard, criteria=criteria),
        request("sufficient", facts=facts),
    )
    assert said_so.value.sufficient == enough


@pytest.mark.parametrize(
    ("heard", "intent"),
    [
        ("I could imagine giving something like that a go tonight.", "yes"),
        ("My mother rang on Sunday and said nothing about it.", "unclear"),
        ("Honestly, exercises never did anything for me, I'd leave it.", "no"),
    ],
)
def test_intents_are_by_the_nearest_lines(similarity: Similarity, heard: str, intent: str) -> None:
    assert intent_in(heard) is None
    found = Guided(similarity, Feelings(similarity)).intent(
        facts := IntentFacts(heard=heard),
        request("intent", options=("yes", "no", "explain", "unclear"), facts=facts),
    )
    assert found.value == intent
    assert "%" in found.notes["why"]


def test_every_reply_to_an_offer_is_understood_as_it_is_meant() -> None:
    replies = yaml.safe_load(
        (ROOT / "simcounsel" / "embedded" / "labelled" / "exercise_replies.yaml").read_text(
            encoding="utf-8"
        )
    )
    for kind, intent in (("accept", "yes"), ("decline", "no"), ("ask", "explain")):
        assert {intent_in(text) for text in replies[kind]} == {intent}, kind
    for kind, may in (
        ("enough", "no"),
        ("once_more", "another"),
        ("understood", "done"),
        ("going_on", "done"),
    ):
        assert {intent_in(text) for text in replies[kind]} <= {
            may,
            None,
            *(("yes",) if kind == "once_more" else ()),
        }, kind
    assert sum(intent_in(text) == "no" for text in replies["enough"]) >= 2


def test_a_counselors_ordinary_questions_are_no_offers(similarity: Similarity) -> None:
    replies, wrong, asked = ExerciseReplies(similarity), 0, 0
    for path in sorted(Path(ROOT / "personas").glob("*.yaml")):
        persona = yaml.safe_load(path.read_text(encoding="utf-8"))
        for move, forms in (
            persona.get("forms", {}).items() if persona["role"] == "counselor" else ()
        ):
            for form in forms if move not in ("greet", "close", "summarize") else ():
                text = (
                    form["say"]
                    .replace("{name}", "Ines")
                    .replace("{words}", "“the sums”")
                    .replace("{feeling}", "low")
                )
                seen = view(said("Ines", "I lie awake."), said("Miriam", text), role="counselor")
                asked += 1
                wrong += replies.kind(line_facts(seen, role="client", emotion="fear")) is not None
    assert asked > 500
    assert wrong <= 3
