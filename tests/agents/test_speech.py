"""The next line: what is spoken, what is wrong with it, and what stands in for it."""

from typing import Any

import pytest

from simcounsel.agents import speech
from simcounsel.agents.handwritten import SILENCE, examples_for
from simcounsel.agents.mind import Spoken
from simcounsel.agents.talk import Decision, OwnTurn, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.chance import seed_of
from simcounsel.events import Recalled, Said
from simcounsel.llm.driving import play
from simcounsel.llm.question import Question, Reply
from simcounsel.policies.manual import aims
from simcounsel.specs.persona import ClientPersona, CounselorPersona
from simcounsel.specs.voice import fill_slots
from tests.each import each
from tests.stage import Alone, changed, memory, noting, said, scene, tiny, vectors, view

HEARD = said("Miriam", "What keeps you awake?")
TOLD = said("Ines", "I lie awake and count the hours.", emotion="fear", emphasis="count the hours")
BACK = view(HEARD, TOLD, me="Miriam", other="Ines", role="client")


def line(say: str, **more: Any) -> LineAnswer:
    return LineAnswer(**({"say": say, "emotion": "fear", "intensity": 6, "poignancy": 5} | more))


def decision(move: str) -> Decision:
    return Decision(move=move, options=(move,), reason="r", aim=f"aim of {move}")


def speak(
    who: Alone,
    seen: TalkView,
    move: str,
    answer: LineAnswer,
    requests: list[Question] | None = None,
) -> Spoken:
    asking = speech.speak(who.resident, scene(), seen, decision(move))
    return play(noting(asking, [] if requests is None else requests), vectors([1, 0]), answer)


def test_it_recalls_in_the_feeling_of_the_talk_and_not_its_own_lines() -> None:
    ines = Alone()
    own = [memory(n, type="chat", origin="talk", chat=c) for n, c in ((0, "1:I+M"), (1, BACK.chat))]
    ines.remember(*own, memory(2), memory(3))
    before = OwnTurn(move="telling", came_to_mind=frozenset({"Ines:2"}))
    seen = view(HEARD, TOLD, HEARD, turns=(before,))
    (recalled, *_) = speak(ines, seen, "disclose", line("It is loud in my head.")).events
    assert isinstance(recalled, Recalled)
    assert (ines.resident.emotion, recalled.emotion) == ("neutral", "fear")
    assert [hit.id for hit in recalled.hits] == ["Ines:0", "Ines:2", "Ines:3"]


@each(
    ("raw", "words"),
    [
        ("I sleep badly.", "I sleep badly."),
        ("Ines: I sleep badly.", "I sleep badly."),
        ("Ines (quietly): I sleep.", "I sleep."),
        ('"I sleep badly."', "I sleep badly."),
        ("“I sleep badly.”", "I sleep badly."),
        ("'I sleep.'", "I sleep."),
        ('Ines: "I sleep."', "I sleep."),
        ("  I sleep\n\nbadly. ", "I sleep badly."),
        ('He said "no" and "yes"', 'He said "no" and "yes"'),
        ("Ines is my name.", "Ines is my name."),
        ('"No," I said, "never."', '"No," I said, "never."'),
        ("", ""),
    ],
)
def test_spoken(raw: str, words: str) -> None:
    assert speech.spoken(raw, view()) == words


@each(
    ("say", "problem"),
    [
        ("I don't sleep any more.", None),
        ("Ines: I don't sleep any more.", None),
        ("What do you mean, keep me awake?", None),
        ('""', "the line was empty"),
        ("Ines:", "the line was empty"),
        ("...", "the line has no words"),
        ("I'm sorry, but I can't roleplay this.", "refusal"),
        ("As an AI, I do not sleep.", "refusal"),
        ("Я не сплю уже неделю.", "not in English"),
        (
            "Ich kann seit vielen Wochen einfach gar keine ganze Nacht mehr durchschlafen.",
            "not in plain English",
        ),
        ("- I count\n- I wait", "a list"),
        ("1. I count", "a list"),
        ("*sighs* I don't know.", "stage direction"),
        ("[long pause] I don't know.", "stage direction"),
        ("(sighs) I don't know.", "stage direction"),
        ("word and the " * 200, "far too long"),
        ("I count. Miriam: And then? Ines: I wait.", "held more than Ines's next line"),
        ("I count.\nMiriam: And then?", "held more than Ines's next line"),
        ("I'll tell you, Miriam: I count.", None),
        ("What keeps you awake?", "said before in this conversation"),
        ("WHAT KEEPS YOU AWAKE?", "said before in this conversation"),
    ],
)
def test_line_problem(say: str, problem: str | None) -> None:
    found = speech.line_problem(line(say), view(HEARD))
    assert found is None if problem is None else problem in (found or "")


def test_line_in_its_prompt() -> None:
    ines, seen = Alone(), list[Question]()
    ines.have_version()
    spoken = speak(ines, view(HEARD), "telling", line("Ines: The sums do."), seen)
    embed, ask = seen
    assert embed.texts == ("What keeps you awake?",)
    assert (ask.purpose, ask.verb, ask.who, ask.tier) == ("line_client", "fill", "Ines", "reason")
    assert "Miriam: What keeps you awake?" in ask.prompt
    assert "aim of telling" in ask.prompt
    assert spoken.line.say == "The sums do."
    assert [event.kind for event in spoken.events] == ["recalled"]
    assert spoken.source == "generated"


def test_first_words_recall_whom_one_meets() -> None:
    seen: list[Question] = []
    speak(Alone(), view(), "early", line("Hello there."), seen)
    assert seen[0].texts == ("Miriam at Counseling Center",)


@pytest.mark.parametrize(
    ("before", "wish"), [((), "go on"), ((HEARD,), "go on"), ((HEARD, TOLD), "say goodbye")]
)
def test_nobody_leaves_with_the_first_words(before: Any, wish: str) -> None:
    spoken = speak(Alone(), view(*before), "ending", line("I should go.", wish="say goodbye"))
    assert spoken.line.wish == wish


def test_stress_must_be_in_the_line() -> None:
    for emphasis, kept in (
        ("the hours", "the hours"),
        ("the minutes", None),
        ("7", None),
        (None, None),
    ):
        asking = speech.speak(Alone().resident, scene(), view(HEARD), decision("telling"))
        next(asking)
        asking.send(Reply(value=vectors([1, 0])))
        try:
            asking.send(Reply(value=line("I count the hours."), notes={"emphasis": emphasis}))
        except StopIteration as end:
            assert end.value.emphasis == kept
        else:
            pytest.fail("one line, one request")


def test_fallback_is_a_form_with_the_clients_words() -> None:
    miriam, seen = Alone("Miriam"), list[Question]()
    speak(miriam, BACK, "clarify", line("What do you mean?"), seen)
    fallback = seen[1].fallback
    persona = miriam.resident.persona
    assert isinstance(persona, CounselorPersona)
    filled = {
        fill_slots(f.text, words="count the hours", feeling="afraid", name="Ines")
        for f in persona.forms["clarify"]
    }
    assert fallback.say in filled
    assert "{" not in fallback.say
    assert fallback.wish == "go on"


def test_fallback_never_repeats_itself() -> None:
    ines = Alone()
    persona = ines.resident.persona
    assert isinstance(persona, ClientPersona)
    lines = [v.text for v in persona.voice if v.stage == "early"]
    for _ in lines:
        seen: list[Question] = []
        speak(ines, view(HEARD), "early", line("Hm, well."), seen)
        assert seen[1].fallback.say in lines
        ines.observe(
            Said(
                chat="c",
                message=1,
                who="Ines",
                to="Miriam",
                text=seen[1].fallback.say,
                emphasis=None,
                emotion="neutral",
                intensity=1,
                poignancy=1,
                source="fallback",
            )
        )
    assert len(set(ines.resident.said)) == len(lines)
    seen = []
    speak(ines, view(HEARD), "early", line("Hm, well."), seen)
    assert seen[1].fallback.say == SILENCE["en"]["client"]


@pytest.mark.parametrize(("who", "move"), [("Ines", "ending"), ("Miriam", "close")])
def test_fallback_at_the_end_takes_leave(who: str, move: str) -> None:
    seen: list[Question] = []
    speak(
        Alone(who), view(HEARD, TOLD) if who == "Ines" else BACK, move, line("Goodbye then."), seen
    )
    assert seen[1].fallback.wish == "say goodbye"


def test_mute_persona_still_has_words() -> None:
    world = tiny()
    ines = next(r for r in world.residents if r.name == "Ines")
    mute = ines.model_copy(update={"persona": ines.persona.model_copy(update={"voice": ()})})
    seen: list[Question] = []
    speak(
        Alone(world=changed(world, residents=(mute,))),
        view(HEARD),
        "telling",
        line("Hm, well."),
        seen,
    )
    assert seen[1].examples == ()
    assert seen[1].fallback.say == SILENCE["en"]["client"]


def test_examples_of_the_move_come_first() -> None:
    ines, miriam = Alone().resident, Alone("Miriam").resident
    examples = examples_for(ines, view(HEARD), decision("hopeful"))
    stages = [e.tags.move == "hopeful" for e in examples]
    assert stages == sorted(stages, reverse=True)
    assert any(stages)
    assert isinstance(ines.persona, ClientPersona)
    assert len(examples) == len(ines.persona.voice)
    moves = [e.tags.move == "evidence" for e in examples_for(miriam, BACK, decision("evidence"))]
    assert moves == sorted(moves, reverse=True)


def test_examples_change_from_turn_to_turn() -> None:
    ines = Alone().resident
    first, again, second = (
        examples_for(ines, v, decision("telling"))[:6]
        for v in (view(HEARD), view(HEARD), view(HEARD, TOLD))
    )
    assert first == again
    assert first != second


def test_aims_reach_the_prompt() -> None:
    assert all(aim for name in ("client", "socratic", "supportive") for aim in aims(name).values())


def test_a_question_s_seed_is_that_of_who_asks_what_when() -> None:
    """Two purposes never share a draw, nor two people, nor two moments."""
    here, talk = scene(), view()
    asked = here.asks("Ines", "plan_day", 2)
    assert asked["seed"] == seed_of(here.seed, here.tick, "Ines", "plan_day", 2)
    assert (asked["who"], asked["purpose"], asked["language"]) == ("Ines", "plan_day", "en")
    turn = talk.asks("move", 3)
    assert turn["seed"] == seed_of(*talk.key, "move", 3)
    assert (turn["who"], turn["purpose"], turn["language"]) == (talk.me, "move", talk.language)
