"""Case reports into a client, a plan and the manner of a talk; nothing is known before it was told."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from simcounsel.agents.tasks import StrokeAnswer
from simcounsel.cli import app
from simcounsel.errors import ModelError, SimcounselError, SpecError
from simcounsel.llm.question import Question
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.specs.world_file import load_world
from simcounsel.therapies.clinic import clinic_world
from simcounsel.therapies.course.case_files import write_case
from simcounsel.therapies.course.case_reading import CaseReading, read_case
from simcounsel.therapies.course.case_report import read_report
from simcounsel.therapies.specs.course import CoursePlan, find_plan
from simcounsel.therapies.specs.therapy import shipped_therapy
from tests.each import each
from tests.prompts.test_golden import compare, shown
from tests.stage import ROOT, TINY, Listening, live, switchboard, tiny

CASES = sorted((ROOT / "personas" / "cases").glob("*.md"))
THERAPY = {"bus_driver": "behavioral", "organist": "psychodynamic", "night_nurse": "postmodern"}
SESSIONS = (
    "# A case\n\nAda, 50, a baker.\n\n## Session 1\n\nShe said that she sleeps badly. “It is the ovens,” she said.\n\n"
    "## Session 2\n\nHer brother had come back in March. “He owes me the shop,” she said.\n\n## Session 3\n\nShe had called him.\n\n## Later\n\nThey opened a cafe.\n"
)


def reading(
    report: Path, scripts: Mapping[str, Any] | None = None, therapy: str = "cbt"
) -> tuple[CaseReading, list[Question]]:
    spy = Listening(scripts)
    models = switchboard(spy)
    try:
        return models.ask({"case": read_case(read_report(report), shipped_therapy(therapy))})[
            "case"
        ].value, spy.requests
    finally:
        models.close()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "case.md").write_text(SESSIONS, encoding="utf-8")
    return tmp_path / "case.md"


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_ours_are_of_a_length_and_become_files(case: Path, tmp_path: Path) -> None:
    assert 800 <= len(case.read_text(encoding="utf-8").split()) <= 1200
    found, _ = reading(case, therapy=THERAPY[case.stem])
    last = case.read_text(encoding="utf-8").rsplit("\n## ", 1)[1].splitlines()[0]
    assert found.notes == (
        f"left out as hindsight, since its heading belongs to no session: ## {last}",
    )
    files = write_case(found, read_report(case), tmp_path)
    assert [file.name for file in files] == ["client.yaml", "plan.yaml", "talk.yaml"]
    assert isinstance(load_persona(files[0]), ClientPersona)
    plan = find_plan(files[1])
    assert plan.therapy == THERAPY[case.stem]
    assert plan.length == len([number for number, _ in read_report(case).parts if number])
    assert max(fact.told for fact in plan.facts) == plan.length
    assert all(plan.sessions[fact.told - 1].uses for fact in plan.facts)
    made = clinic_world(load_world(TINY), therapy=shipped_therapy(plan.therapy), plan=plan)
    assert len(made.appointments[0].days) == plan.length


def test_there_are_three() -> None:
    assert {case.stem for case in CASES} == set(THERAPY)


def test_the_parts_of_a_report(small: Path) -> None:
    report = read_report(small)
    assert [number for number, _ in report.parts] == [0, 1, 2, 3, None]
    assert report.told_in("Ada, 50, a baker") == 1
    assert report.told_in("he owes me the shop") == 2
    assert report.told_in("They opened a cafe") is None
    assert [
        report.told_in(less)
        for less in ("She", "a", "badly", "e sleeps badly", "brother had come ba")
    ] == [None] * 5
    assert report.hindsight == ("## Later",)
    assert report.told_in("She married") is None
    assert "cafe" not in report.usable
    assert "March" not in report.until(1)


@each(
    ("heading", "number"),
    [
        ("## Session 3", 3),
        ("# Session: 3", 3),
        ("### Session #1", 1),
        ("## session no. 4: the bridge", 4),
        ("## **Session 2** (May)", 2),
        ("## Sitzung 5", 5),
        ("## Session Two", 2),
        ("## 第1次会谈", 1),
        ("## 第一次", 1),
        ("# 第十次咨询：告别", 10),
        ("## 第 2 次会谈", 2),
        ("## 会谈三", 3),
        ("## Session notes", None),
        ("## 第三章", None),
        ("## After session 3", None),
        ("Session 3 was hard.", None),
    ],
)
def test_headings(tmp_path: Path, heading: str, number: int | None) -> None:
    (tmp_path / "case.md").write_text(
        f"Ada, 50.\n\n{heading}\n\nShe said so.\n\n# Session 11\n\nAn end.\n", encoding="utf-8"
    )
    report = read_report(tmp_path / "case.md")
    assert [one for one, _ in report.parts] == ([0, 11] if number is None else [0, number, 11])


def test_a_heading_within_a_session_is_the_session_s(tmp_path: Path) -> None:
    text = "# Ada\n\n## Referral\n\nBy mail.\n\n## Session 1\n\nx\n\n### Homework\n\nA diary.\n\n## Session 2\n\ny\n\n# Later\n\n## What came\n\nA cafe.\n"
    (tmp_path / "case.md").write_text(text, encoding="utf-8")
    report = read_report(tmp_path / "case.md")
    assert [(number, part.splitlines()[0]) for number, part in report.parts] == [
        (0, "# Ada"),
        (1, "## Session 1"),
        (2, "## Session 2"),
        (None, "# Later"),
        (None, "## What came"),
    ]
    assert "A diary." in report.until(1)
    assert report.hindsight == ("# Later", "## What came")


@pytest.mark.parametrize(
    "text",
    [
        "No headings at all.",
        "## Session 2\n\na b\n\n## Session 1\n\nc d\n",
        "## Session 1\n\na\n\n## Session 1\n\nb\n",
    ],
)
def test_a_report_without_sessions_in_order(tmp_path: Path, text: str) -> None:
    (tmp_path / "case.md").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="part the report by headings such as `## Session 1`"):
        read_report(tmp_path / "case.md")


def told_too_early(request: Question, draw: Random) -> str:
    return json.dumps(
        {
            "facts": [
                {"text": "She sleeps badly.", "quote": "she sleeps badly", "told": 1},
                {
                    "text": "Her brother is back.",
                    "quote": "Her brother had come back in March",
                    "told": 1,
                },
                {"text": "They have a cafe.", "quote": "They opened a cafe", "told": 3},
                {"text": "She is rich.", "quote": "She is rich", "told": 2},
            ]
        }
    )


def knows_too_much(request: Question, draw: Random) -> str:
    stages = (
        "case_conceptualization",
        "core_intervention",
        "core_intervention",
        "core_intervention",
        "consolidation",
    )
    sessions: list[dict[str, Any]] = [
        {"stage": stage, "theme": f"Theme {number}"} for number, stage in enumerate(stages, 1)
    ]
    sessions[0] |= {
        "uses": ["f1", "f2", "f9"],
        "material": ["her brother had come back in March", "the ovens"],
        "theme": "That her brother had come back in March",
    }
    sessions[1] |= {"uses": ["f2"]}
    return json.dumps({"sessions": sessions})


def test_nothing_is_known_before_it_was_told(small: Path) -> None:
    found, requests = reading(small, {"case_facts": told_too_early, "case_plan": knows_too_much})
    assert [(fact.text, fact.told) for fact in found.plan.facts] == [
        ("She sleeps badly.", 1),
        ("Her brother is back.", 2),
    ]
    first, second = found.plan.sessions[:2]
    assert first.uses == ("f1",)
    assert second.uses == ("f2",)
    assert [part.text for part in first.material] == ["the ovens"]
    assert "brother" not in first.theme
    assert len([note for note in found.notes if note.startswith("left out, since its words")]) == 2
    assert any("told in session 2, not 1" in note for note in found.notes)
    assert any("does not use 'f2'" in note for note in found.notes)
    for request in requests:
        assert "cafe" not in request.prompt
        assert request.purpose != "case_client" or "March" in request.prompt


def test_the_client_knows_all_of_its_life_and_the_plan_opens_it_as_it_was_told(small: Path) -> None:
    """A brother who was told of in session 2 was there before; that he was called was not."""

    def facts(request: Question, draw: Random) -> str:
        told = [
            ("Her brother had come back in March.", "Her brother had come back in March", 2, True),
            ("Her brother owes her the shop.", "He owes me the shop", 2, True),
            ("She had called him.", "She had called him", 3, False),
        ]
        keys = ("text", "quote", "told", "before")
        return json.dumps({"facts": [dict(zip(keys, one, strict=True)) for one in told]})

    def client(request: Question, draw: Random) -> str:
        from simcounsel.therapies.case_answers import client as plain

        known = {
            "history": "Ada's brother owes her the shop that both were to have.",
            "days": (tuple(StrokeAnswer(at=f"0{h}:00", do=f"bakes tray {h}") for h in range(5)),)
            * 2,
        }
        return plain(request.facts).model_copy(update=known).model_dump_json()

    found, requests = reading(small, {"case_facts": facts, "case_client": client})
    history = found.client["history"]
    assert history.startswith("Ada's brother owes her the shop")
    assert history.count("owes her the shop") == 1
    assert history.endswith("Her brother had come back in March.")
    assert "called" not in history
    assert [day[4] for day in found.client["days"]] == [{"at": "04:00", "do": "bakes tray 4"}] * 2
    assert [fact.told for fact in found.plan.facts] == [2, 2, 3]
    asked = next(request for request in requests if request.purpose == "case_client")
    assert "owes me the shop" in asked.prompt
    assert "cafe" not in asked.prompt


def test_a_report_in_chinese_gives_a_client_in_chinese(tmp_path: Path) -> None:
    """A word of one character is a word, and nothing of ours in the style is English."""
    (tmp_path / "case.md").write_text(
        "## 第一次会谈\n\n她说：“我不想回家过年。”\n\n## 第二次会谈\n\n她说：“我回去了。”\n",
        encoding="utf-8",
    )

    def client(request: Question, draw: Random) -> str:
        from simcounsel.therapies.case_answers import client as plain

        known = {"name": "林晓", "gender": "女", "style": "说话直接"}
        return plain(request.facts).model_copy(update=known).model_dump_json()

    def talk(request: Question, draw: Random) -> str:
        turns = [{"who": "client", "text": "我不想回家过年。"}]
        return json.dumps({"features": [{"context": "过年", "turns": turns, "style": "短句"}]})

    found, _ = reading(tmp_path / "case.md", {"case_client": client, "case_talk": talk})
    assert found.client["gender"] == "女"
    assert found.client["style"] == "说话直接。短句。原话：“我不想回家过年。”"


def facts_of(*facts: tuple[str, str, int]) -> Any:
    return lambda request, draw: json.dumps(
        {"facts": [{"text": text, "quote": quote, "told": told} for text, quote, told in facts]}
    )


def test_a_quote_says_what_the_fact_says(small: Path) -> None:
    found, _ = reading(
        small,
        {
            "case_facts": facts_of(
                ("Her brother is back.", "She", 1),
                ("Her brother is back.", "she sleeps badly", 1),
                ("She sleeps badly.", "that she sleeps badly", 1),
            ),
            "case_plan": lambda request, draw: knows_too_much(request, draw).replace("f2", "f1"),
        },
    )
    assert [(fact.text, fact.told) for fact in found.plan.facts] == [("She sleeps badly.", 1)]
    assert [note.split(":")[0] for note in found.notes if "left out, since" in note][:2] == [
        "left out, since its words are told in no session of the report",
        "left out, since the report does not say so by session 1, where its words stand",
    ]


@each(
    ("theme", "kept"),
    [
        ("Her brother", False),
        ("A brother who returned", False),
        ("What March brought", False),
        ("Nights and the ovens", True),
        ("Sleeping badly", True),
        ("Looking back", True),
    ],
)
def test_a_short_text_foretells_as_well(small: Path, theme: str, kept: bool) -> None:
    def plan(request: Question, draw: Random) -> str:
        data = json.loads(knows_too_much(request, draw))
        data["sessions"][0] = {
            "stage": "case_conceptualization",
            "theme": theme,
            "rationale": theme,
            "psychoeducation": [theme],
        }
        return json.dumps(data)

    found, _ = reading(small, {"case_facts": told_too_early, "case_plan": plan})
    first = found.plan.sessions[0]
    assert (
        first.theme == theme,
        first.rationale is not None and first.rationale.text == theme,
        [part.text for part in first.psychoeducation] == [theme],
    ) == (kept,) * 3
    assert sum("session 1, " in note and note.endswith(theme) for note in found.notes) == (
        0 if kept else 3
    )


def test_lines_that_stand_nowhere_are_no_samples(small: Path) -> None:
    def talk(request: Question, draw: Random) -> str:
        turns = [
            {"who": "client", "text": "It is the ovens"},
            {"who": "client", "text": "He owes me the shop"},
            {"who": "counselor", "text": "How sad for you"},
        ]
        return json.dumps(
            {
                "features": [
                    {"context": "the start", "turns": turns, "style": "Short, with a thing in it."}
                ]
            }
        )

    found, _ = reading(small, {"case_talk": talk})
    assert [turn.text for turn in found.talk[0].turns] == ["It is the ovens", "He owes me the shop"]
    assert "Short, with a thing in it." in found.client["style"]
    assert "It is the ovens" in found.client["style"]
    assert "He owes me" not in found.client["style"]


def test_an_answer_that_cannot_be_used_is_said(small: Path) -> None:
    with pytest.raises(
        SpecError, match=r"answer to `case_plan` could not be used .*a more capable model"
    ):
        reading(small, {"case_plan": lambda request, draw: "no idea"})


def test_the_command(small: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    done = run(
        app,
        [
            "library",
            "course",
            "plan",
            str(small),
            "-o",
            str(tmp_path / "out"),
            "--model",
            "scripted",
        ],
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "plan.yaml").is_file()
    for model in ([], ["--model", "embedded"]):
        refused = run(
            app, ["library", "course", "plan", str(small), "-o", str(tmp_path / "no"), *model]
        )
        assert isinstance(refused.exception, ModelError)
        assert "cannot be read by the embedded model" in str(refused.exception)


def test_no_reading_out_of_a_recording(small: Path, tmp_path: Path) -> None:
    for model, words in (
        ("recorded:nosuch", r"nosuch: no run there \(no manifest.json\)"),
        (f"recorded:{live(tmp_path, tiny(), ticks=1).folder}", "holds no reading of a case report"),
    ):
        refused = CliRunner().invoke(
            app,
            ["library", "course", "plan", str(small), "-o", str(tmp_path / "no"), "--model", model],
        )
        assert isinstance(refused.exception, SimcounselError)
        assert re.search(words, str(refused.exception))


def test_goals_of_the_case_and_what_each_part_rests_on(small: Path) -> None:
    def plan(request: Question, draw: Random) -> str:
        data = json.loads(knows_too_much(request, draw))
        data["goals"] = {
            "case_conceptualization": [
                {"text": "She has said what she wants of her shop.", "rests_on": ["f1"]},
                {"text": "Her brother has been spoken of.", "rests_on": ["f2", "f9"]},
            ],
            "core_intervention": [{"text": "She has asked him for it.", "rests_on": ["f2"]}],
        }
        data["sessions"][0]["material"] = [{"text": "a diary of the ovens", "rests_on": []}]
        data["sessions"][0]["objectives"] = [{"text": "the nights, one by one", "rests_on": ["f1"]}]
        data["sessions"][0]["rationale"] = {"text": "He is back.", "rests_on": ["f2"]}
        return json.dumps(data)

    found, _ = reading(small, {"case_facts": told_too_early, "case_plan": plan})
    first, second, third = found.plan.stages
    assert [(goal.text, goal.rests_on) for goal in (*first.goals, *second.goals)] == [
        ("She has said what she wants of her shop.", ("f1",)),
        ("She has asked him for it.", ("f2",)),
    ], "f2 is told in the second stage, so the first knows nothing of a brother"
    assert third.aims == shipped_therapy("cbt").stages[2].goals, "none were given"
    session = found.plan.sessions[0]
    assert [part.rests_on for part in (*session.material, *session.objectives)] == [(), ("f1",)]
    assert session.rationale is None
    again = CoursePlan.model_validate_json(found.plan.model_dump_json())
    assert again == found.plan


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            SESSIONS.replace("sleeps", "sle\x1beps").encode(),
            r"case\.md:7: holds the control character #x1b; take it out",
        ),
        (
            SESSIONS.replace("Ada", "Ad\xe4").encode("latin-1", "replace"),
            r"case\.md:3: not UTF-8 text",
        ),
    ],
)
def test_a_report_that_is_no_plain_text(
    small: Path, tmp_path: Path, data: bytes, words: str
) -> None:
    small.write_bytes(data)
    with pytest.raises(SpecError, match=words):
        CliRunner().invoke(
            app,
            [
                "library",
                "course",
                "plan",
                str(small),
                "-o",
                str(tmp_path / "out"),
                "--model",
                "scripted",
            ],
            catch_exceptions=False,
        )


def test_a_budget(small: Path, tmp_path: Path) -> None:
    """The scripted model told a price of a million dollars a request; without one, a budget cannot be kept."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("prices:\n  scripted: {in: 1000000, out: 1000000}\n", encoding="utf-8")
    command = [
        "library",
        "course",
        "plan",
        str(small),
        "-o",
        str(tmp_path / "out"),
        "--model",
        "scripted",
    ]
    stopped = CliRunner().invoke(app, [*command, "--budget-usd", "1", "--prices", str(prices)])
    assert isinstance(stopped.exception, ModelError)
    assert re.search(
        r"the budget of 1 USD does not reach .*; nothing is written; the same command begins again",
        str(stopped.exception),
    )
    assert "0 requests" in stopped.output
    assert not (tmp_path / "out").exists()
    assert (
        "4 requests, 0.0000 USD" in CliRunner().invoke(app, [*command, "--budget-usd", "1"]).output
    )
    unknown = CliRunner().invoke(
        app, [*command[:-1], "http://example.org/v1/x", "--budget-usd", "1"]
    )
    assert "is not known; give it with --prices" in str(unknown.exception)


@each("kind", ["case_client", "case_facts", "case_plan", "case_talk"])
def test_prompt(small: Path, kind: str) -> None:
    request = next(request for request in reading(small)[1] if request.purpose == kind)
    compare(kind, shown(request.system, request.prompt))


def test_a_chinese_report_is_asked_about_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "case.md").write_text(
        "# 个案\n\n阿达，五十岁，面包师。\n\n## Session 1\n\n她说睡得不好。“是烤炉的缘故，”她说。\n\n"
        "## Session 2\n\n她的弟弟三月里回来了。\n\n## Session 3\n\n她给他打了电话。\n",
        encoding="utf-8",
    )

    def told(request: Question, draw: Random) -> str:
        fact = {"text": "她睡得不好。", "quote": "她说睡得不好", "told": 1, "before": True}
        return json.dumps({"facts": [fact]})

    def planned(request: Question, draw: Random) -> str:
        answer = json.loads(knows_too_much(request, draw))
        return json.dumps({"sessions": [one | {"uses": ["f1"]} for one in answer["sessions"]]})

    _, requests = reading(tmp_path / "case.md", {"case_facts": told, "case_plan": planned})
    assert {one.purpose for one in requests} == {
        "case_client",
        "case_facts",
        "case_plan",
        "case_talk",
    }
    for one in requests:
        assert one.language == "zh"
        text = "\n".join(message["content"] for message in one.messages)
        given = re.sub(r"疗法：.*?\n\n事实", "", text, flags=re.DOTALL)  # a therapy is English data
        assert not re.findall(r"[A-Za-z]{2,}", given.replace("Session", ""))
    plan = next(one for one in requests if one.purpose == "case_plan")
    assert "f1（第 1 次会谈说出）：她睡得不好。" in plan.prompt
