"""Three walls: the counselor knows what was said; the client does not know the agenda; nobody reads it out."""

import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from simcounsel.agents.speech import agenda_problem
from simcounsel.agents.talk import Decision, TalkView, Wording
from simcounsel.events import ClientShifted, MaterialOpened, Reasoned, Said, SessionPlanned, Warned
from simcounsel.llm.question import Question
from simcounsel.policies.client import Client
from simcounsel.prompts import phrase
from simcounsel.runs.run import Run
from simcounsel.texts.overlap import read_out, without
from simcounsel.therapies.course import Course
from simcounsel.therapies.course.material import facts_said, newly_open
from simcounsel.therapies.course.state import CourseState, state_of
from simcounsel.therapies.course.withholding import as_told
from simcounsel.therapies.specs.course import CoursePlan, default_plan
from simcounsel.therapies.specs.therapy import (
    MetaSkill,
    Skill,
    Therapy,
    TherapyStage,
    shipped_therapy,
)
from tests.each import each
from tests.engine.test_secrets import TOLD, leaks, planted, secrets_in, sent
from tests.prompts.test_golden import compare, shown
from tests.stage import Listening, happened, said, view
from tests.therapies.held import by_session, drawn, held, line_counselor, thought, world

AIM = "find out gently what the eleven missed calls have come to mean"


def marked(therapy: Therapy) -> Therapy:
    """The therapy with a word of its own in each text that steers a counselor."""
    count = iter(range(10**6))

    def mark(text: str) -> str:
        return f"{text} xagenda{next(count)}x"

    def skill(one: Skill) -> Skill:
        return one.model_copy(
            update={key: mark(getattr(one, key)) for key in ("name", "description", "when", "cue")}
        )

    def meta(one: MetaSkill) -> MetaSkill:
        return one.model_copy(
            update={
                **{key: mark(getattr(one, key)) for key in ("name", "description", "when", "cue")},
                "skills": tuple(map(skill, one.skills)),
            }
        )

    def stage(one: TherapyStage) -> TherapyStage:
        return one.model_copy(update={"name": mark(one.name), "goals": tuple(map(mark, one.goals))})

    return therapy.model_copy(
        update={
            "name": mark(therapy.name),
            "about": mark(therapy.about),
            "stages": tuple(map(stage, therapy.stages)),
            "skills": tuple(map(meta, therapy.skills)),
        }
    )


def told(request: Question, draw: Random) -> str:
    return json.dumps(
        {
            "say": f"It is about {TOLD}, number {draw.randrange(10**6)}.",
            "wish": "go on",
            "emotion": "fear",
            "intensity": 6,
            "poignancy": 5,
        }
    )


def objective(request: Question, draw: Random) -> str:
    return json.dumps(
        drawn(request, draw)
        | {
            "objective": [f"{AIM} xagendaobjectivex"],
            "goals": [1],
            "reason": "it is due xagendareasonx",
        }
    )


def thinking(request: Question, draw: Random) -> str:
    """A line whose thought has a word of its own."""
    marked = {
        "assessment": "She is tired xagendathoughtx.",
        "client_state": "wary",
        "strategy": "go slowly",
    }
    return json.dumps(json.loads(line_counselor(request, draw)) | marked)


@pytest.fixture(scope="module")
def walled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Question], Any]:
    base, plant = planted()
    made = world(6, base=base, therapy=marked(shipped_therapy("cbt")))
    scripts = leaks(plant) | {
        "line_client": told,
        "course_objective": objective,
        "line_counselor": thinking,
    }
    return (*held(tmp_path_factory.mktemp("walls"), made, scripts), plant)


def views_of(policy: type, monkeypatch: pytest.MonkeyPatch) -> list[TalkView]:
    """What a policy sees of a conversation, each time that it decides from here on."""
    views: list[TalkView] = []
    decide = policy.decide

    def seen(self: Any, view: TalkView) -> Any:
        views.append(view)
        return decide(self, view)

    monkeypatch.setattr(policy, "decide", seen)
    return views


def agenda_in(text: str) -> set[str]:
    return set(re.findall(r"xagenda\w+x", text))


@pytest.mark.slow
def test_nothing_of_the_client_s_file_reaches_the_counselor(
    walled: tuple[Run, list[Question], Any],
) -> None:
    _, requests, plant = walled
    counselor = [request for request in requests if request.who == "Miriam"]
    purposes = {request.purpose for request in counselor}
    assert {"course_objective", "line_counselor", "course_after", "summarize"} <= purposes
    assert {
        (r.purpose, plant.secrets[word]) for r in counselor for word in secrets_in(sent(r))
    } == set()
    assert any(
        TOLD in request.prompt for request in counselor if request.purpose == "line_counselor"
    )


@pytest.mark.slow
def test_a_plan_s_secrets_stay_in_it_until_they_are_told(tmp_path: Path) -> None:
    data = default_plan(shipped_therapy("cbt"), 5).model_dump(mode="json")
    data["facts"] = [
        {
            "id": "f1",
            "text": "Her father drowned in the quarry.",
            "quote": "my father drowned in the quarry",
            "told": 1,
        }
    ]
    hidden = {
        "theme": "The father drowned in the quarry xthemex",
        "uses": ["f1"],
        "psychoeducation": [
            "That the drowning xteachesx was no fault",
            "That grief has no clock xfreex",
        ],
    }
    for stage in data["stages"]:
        for session in stage["sessions"]:
            session |= hidden | {
                "links": ["xlinkx the quarry"],
                "material": ["xmaterialx"],
                "rationale": "xrationalex",
            }
    made = world(5, plan=CoursePlan.model_validate(data))

    def tells(request: Question, draw: Random) -> str:
        say = "My father drowned." if request.facts.meeting > 2 else "I sleep badly."
        return json.dumps(
            {
                "say": f"{say} In the quarry. Number {draw.randrange(10**6)}."
                if "drowned" in say
                else f"{say} {draw.random()}",
                "wish": "go on",
                "emotion": "fear",
                "intensity": 6,
                "poignancy": 5,
            }
        )

    run, requests = held(tmp_path, made, {"line_client": tells})
    asked = [
        (session, r)
        for session, r in by_session(requests)
        if r.who == "Miriam" and r.purpose != "course_said"
    ]
    objectives = [r for _, r in asked if r.purpose == "course_objective"]
    before = [r for session, r in asked if session <= 2] + objectives[2:3]
    secrets = ("xthemex", "xteachesx", "xlinkx", "xrationalex")
    assert [(r.purpose, word) for r in before for word in secrets if word in sent(r)] == []
    assert all("xfreex" in r.prompt for r in before if r.purpose == "course_objective")
    third = [r for session, r in asked if session == 3 and r.purpose == "line_counselor"]
    assert "xlinkx" not in third[0].prompt
    assert "xlinkx" in third[-1].prompt and "xrationalex" in third[-1].prompt
    assert "xmaterialx" in objectives[0].prompt, "a task that tells nothing of the client"
    assert all(word in sent(objectives[-1]) for word in secrets)
    assert not [r.purpose for r in requests if r.who == "Ines" and "xlinkx" in sent(r)]
    opened = happened(run, MaterialOpened)
    link = next(event for event in opened if event.of == "link")
    assert (link.session, link.text, link.rests_on) == (3, "xlinkx the quarry", ("f1",))
    fact = next(event for event in opened if event.of == "fact")
    assert link.quotes == fact.quotes and fact.quotes[0].startswith("My father drowned")
    lines = [event for event in happened(run, Said) if event.chat == link.chat]
    assert fact.quotes[0] in lines[link.message - 1].text
    lesson = next(event for event in opened if "xteachesx" in event.text)
    assert (lesson.session, lesson.quotes) == (3, fact.quotes)
    task = next(event for event in opened if event.of == "material")
    assert (task.session, task.quotes) == (1, ())
    free = next(event for event in opened if "xfreex" in event.text)
    assert (free.session, free.of) == (1, "lesson")
    assert len(opened) == len({(event.session, event.text) for event in opened})
    assert ["xthemex" in event.theme for event in happened(run, SessionPlanned)] == [False] * 3 + [
        True
    ] * 2


FACTS = (
    {"id": "f1", "text": "One mistake shows what she really is, she thinks.", "told": 1},
    {"id": "f2", "text": "Her brother never paid her back.", "told": 1},
)


def _listened(*said_by_client: str, model: Any = None) -> tuple[list[str], list[Question]]:
    """Which facts of a plan count as told after these lines, with MiniLM's vectors, and what was asked."""
    from simcounsel.llm.catalog import open_embed
    from simcounsel.llm.switchboard import Switchboard

    data = default_plan(shipped_therapy("cbt"), 5).model_dump(mode="json") | {"facts": FACTS}
    seen = view(
        said("Miriam", "What brings you here?"),
        *(said("Ines", line) for line in said_by_client),
        me="Miriam",
        other="Ines",
    )
    heard = Listening({"course_said": model} if model else {})
    models = Switchboard({"judge": heard}, open_embed("embedded"))
    found = models.ask({"x": facts_said(seen, CoursePlan.model_validate(data), state_of(seen))})
    return [event.rests_on[0] for event in found["x"].value], heard.requests


@pytest.mark.slow
def test_what_was_said_goes_by_meaning_and_not_by_words_that_are_shared() -> None:
    shared = "I don't really know where to begin, part of me thinks it is nothing."
    assert _listened("It was a long week.", shared)[0] == []
    assert _listened("My brother never gave me the money back.")[0] == ["f2"]

    def judge(request: Question, draw: Random) -> str:
        assert request.of_world and request.tier == "judge"
        number = 1 + next(at for at, one in enumerate(request.facts.facts) if "mistake" in one)
        quote = "one slip and people see who I am"
        return json.dumps({"said": [{"number": number, "quote": quote}]})

    line = "I thought: one slip and people see who I am, a mistake and it is over."
    told, asked = _listened(line, model=judge)
    assert told == ["f1"] and line in asked[0].prompt
    compare("course_said", shown(asked[0].system, asked[0].prompt))
    invented = json.dumps({"said": [{"number": 1, "quote": "words that nobody said"}]})
    assert _listened(line, model=lambda request, draw: invented)[0] == []


def test_what_did_not_open_waits_until_the_stage_ends() -> None:
    data = default_plan(shipped_therapy("cbt"), 8).model_dump(mode="json") | {"facts": FACTS}
    sessions = data["stages"][1]["sessions"]
    sessions[0]["links"] = [{"text": "money between the two", "rests_on": ["f2"]}]
    sessions[0]["material"] = ["a diary", {"text": "a letter to him", "rests_on": ["f1", "f2"]}]
    sessions[1]["rationale"] = {"text": "He is back.", "rests_on": ["f2"]}
    data["stages"][1]["goals"] = [
        {"text": "She has asked him.", "rests_on": ["f2"]},
        {"text": "Slips are looked at.", "rests_on": []},
    ]
    plan, therapy = CoursePlan.model_validate(data), shipped_therapy("cbt")
    seen = view(me="Miriam", other="Ines")

    def state(spent: int, *told: str, stage: str = "core_intervention") -> CourseState:
        facts = tuple(
            MaterialOpened(
                who="Miriam",
                chat="c0",
                about="Ines",
                session=1,
                of="fact",
                text=one,
                rests_on=(one,),
                quotes=(f"words of {one}",),
            )
            for one in told
        )
        return replace(state_of(seen), stage=stage, spent={stage: spent}, told_before=facts)

    def texts(of: CourseState) -> list[str]:
        return [event.text for event in newly_open(seen, therapy, plan, of)]

    assert texts(state(0)) == ["a diary"]
    assert texts(state(0, "f2")) == ["money between the two", "a diary"]
    later = state(1, "f2")
    assert texts(later) == ["money between the two", "a diary", "He is back."], "carried on"
    used = replace(later, used_up=frozenset({"a diary", "money between the two"}))
    assert texts(used) == ["He is back."]
    assert texts(replace(state(1, "f1", "f2"), used_up=used.used_up)) == [
        "a letter to him",
        "He is back.",
    ]
    assert texts(state(0, "f1", "f2", stage="consolidation")) == [], "with its stage it is over"
    opened = newly_open(seen, therapy, plan, state(0, "f2"))[0]
    assert (opened.rests_on, opened.quotes, opened.message) == (("f2",), ("words of f2",), None)
    assert as_told(plan, therapy, (), "Ines").stages[1].aims == ("Slips are looked at.",)
    assert as_told(plan, therapy, ("f2",), "Ines").stages[1].aims == (
        "She has asked him.",
        "Slips are looked at.",
    )


@pytest.mark.slow
def test_nothing_of_the_agenda_reaches_the_client(walled: tuple[Run, list[Question], Any]) -> None:
    run, requests, _ = walled
    client = [request for request in requests if request.who == "Ines"]
    assert {"line_client", "summarize", "skipped_days"} <= {request.purpose for request in client}
    assert {
        (request.purpose, word) for request in client for word in agenda_in(sent(request))
    } == set()
    assert not agenda_in(" ".join(str(event) for event in happened(run, ClientShifted)))
    counselor = {
        word
        for request in requests
        if request.who == "Miriam"
        for word in agenda_in(request.prompt)
    }
    assert "xagendaobjectivex" in counselor
    assert any("xagendathoughtx" in event.assessment for event in happened(run, Reasoned))
    assert len(counselor) > 100


def test_the_client_s_view_holds_nothing_of_it_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views, mine = views_of(Client, monkeypatch), views_of(Course, monkeypatch)
    held(tmp_path, world(5), {"course_objective": objective, "line_counselor": thinking})
    assert any(view.kept for view in views)
    assert all(
        entry.event.who == "Ines" or entry.event.kind == "assessed"
        for view in views
        for entry in view.kept
    )
    assert mine


# nobody reads it out


def reads_out(request: Question, draw: Random) -> str:
    """A counselor's line with the agenda in it, whatever is said about that."""
    return json.dumps(
        thought(request, draw)
        | {
            "say": f"Today I want to {AIM}, number {draw.randrange(10**6)}.",
            "wish": "go on",
            "emotion": "trust",
            "intensity": 2,
            "poignancy": 2,
        }
    )


def quotes_always(request: Question, draw: Random) -> str:
    quoting = {
        "assessment": f"She looks tired today. I must {AIM}.",
        "client_state": "wary",
        "strategy": f"So {AIM}.",
    }
    return json.dumps(json.loads(line_counselor(request, draw)) | quoting)


def does_as_it_thought(request: Question, draw: Random) -> str:
    """A line in the words of its own strategy, which the prompt asks for."""
    plan = "gently give back how tiring the nights have been for her"
    say = f"Let me {plan}, number {draw.randrange(10**6)}."
    return json.dumps(
        json.loads(line_counselor(request, draw)) | {"strategy": plan.capitalize(), "say": say}
    )


def test_a_line_may_do_as_it_was_thought(tmp_path: Path) -> None:
    run, _ = held(tmp_path, world(5, lines=6), {"line_counselor": does_as_it_thought})
    assert [event for event in happened(run, Warned) if event.purpose == "line_counselor"] == []
    assert all("tiring" in line.text for line in happened(run, Said) if line.who == "Miriam")


def test_a_line_that_reads_it_out_is_not_said(tmp_path: Path) -> None:
    run, requests = held(
        tmp_path, world(5), {"course_objective": objective, "line_counselor": reads_out}
    )
    lines = [line for line in happened(run, Said) if line.who == "Miriam"]
    assert lines
    assert all(
        line.source == "fallback" and "eleven missed calls" not in line.text for line in lines
    )
    warned = [event for event in happened(run, Warned) if event.purpose == "line_counselor"]
    assert len(warned) == len(lines)
    assert "read out what is only thought" in warned[0].cause
    assert any(
        "eleven missed calls" in request.prompt
        for request in requests
        if request.purpose == "line_counselor"
    )


def test_of_a_thought_that_quotes_it_the_quotation_is_cut(tmp_path: Path) -> None:
    run, requests = held(
        tmp_path, world(5), {"course_objective": objective, "line_counselor": quotes_always}
    )
    traces = happened(run, Reasoned)
    asked = [request for request in requests if request.purpose == "line_counselor"]
    assert len(asked) == len(traces) > 0
    for trace in traces:
        assert trace.assessment == "She looks tired today."
        assert trace.strategy == phrase("course_words", "cut")
    for event in happened(run, SessionPlanned):
        for trace in traces:
            assert (
                read_out(
                    f"{trace.assessment} {trace.client_state} {trace.strategy}", event.objective
                )
                is None
            )


@each(
    ("text", "found"),
    [
        (
            "I want to find out gently what the eleven missed calls were.",
            "find out gently what the eleven",
        ),
        ("Find out, gently: what the ELEVEN missed?", "find out gently what the eleven"),
        ("You heard eleven missed calls.", None),
        ("", None),
    ],
)
def test_reading_out(text: str, found: str | None) -> None:
    got = read_out(text, (AIM,))
    assert got == found
    assert read_out(text, (AIM,), (AIM,)) is None


def test_reading_out_in_chinese() -> None:
    agenda = ("慢慢了解那十一个未接来电对她来说意味着什么",)
    assert (
        read_out("我想慢慢了解那十一个未接来电对你意味着什么", agenda) == "慢慢了解那十一个未接来电"
    )
    assert read_out("那十一个未接来电", agenda) is None


def test_what_is_left_without_it() -> None:
    assert without(
        f"She is tired. I will {AIM}. Slowly, then.", (AIM,)
    ) == "She is tired.  Slowly, then.".replace("  ", " ")
    assert without("find out gently. what the eleven missed calls.", (AIM,)) == "find out gently."


def test_what_was_said_may_be_repeated() -> None:
    decision = Decision(
        move="m", options=("m",), reason="r", aim="a", wording=Wording(unsaid=(AIM,))
    )
    said = f"You said: {AIM}?"
    assert agenda_problem(said, decision)
    assert (
        agenda_problem(
            said,
            Decision(
                move="m",
                options=("m",),
                reason="r",
                aim="a",
                wording=Wording(unsaid=(AIM,), free=(f"Could you {AIM}",)),
            ),
        )
        is None
    )
