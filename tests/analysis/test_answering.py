"""The share of questions that models answered who read their prompts: counted by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.answering import NOBODY, answered, answers_of
from analysis.finding import find
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from tests.analysis.made import CONDITIONS
from tests.benchmarks.served import sensible
from tests.commands import Command
from tests.llm.server import FaultServer
from tests.stage import live, tiny

SERVED = "http://127.0.0.1:1/v1/large"


def call(number: int, model: str, **more: Any) -> dict[str, Any]:
    """A line of calls.jsonl in tick 0."""
    line = {"key": f"{number:032}", "tick": 0, "who": "Ines", "purpose": "p", "verb": "write"}
    return {**line, "model": model, "source": "generated", "reply": "So.", **more}


BY_HAND = [
    call(1, SERVED),
    call(2, "embedded", source="chosen"),
    call(3, "embedded+adapter=/a.gguf", source="generated"),
    call(4, SERVED, source="fallback"),
    call(5, "scripted:planted=4"),
    call(6, "embedded", verb="embed"),  # vectors are no questions
    call(7, SERVED, given_up=True),  # broken off, and asked again
    call(8, SERVED, copied=True, spare=True),  # a future that was not lived
    call(9, SERVED, tick=7),  # of a tick that is not complete
]


def by_hand(folder: Path, lines: list[dict[str, Any]]) -> None:
    """A run's calls, as written here."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "calls.jsonl").write_text(text, encoding="utf-8")


def test_each_question_counts_once_for_who_answered_it(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=1)
    by_hand(run.folder, BY_HAND)
    log = Log(run.folder)
    log.refresh()
    assert dict(answers_of(log)) == {
        SERVED: 1, NOBODY: 1, "embedded": 1, "embedded+adapter=/a.gguf": 1, "scripted:planted=4": 1,
    }  # fmt: skip


def test_the_share_is_said_by_arm(tmp_path: Path) -> None:
    """1 of 5 in one arm and 2 of 3 in the other: 3 of 8."""
    for arm, lines in (
        (CONDITIONS[0], BY_HAND),
        (CONDITIONS[2], [*BY_HAND[:2], call(10, "openai:b")]),
    ):
        by_hand(live(tmp_path / arm, tiny(condition=arm), ticks=1).folder, lines)
    runs = [run for arm in sorted(tmp_path.iterdir()) for run in arm.iterdir()]
    sample = find(runs, damaged=True)
    assert answered(sample) == [
        "Models that read prompts answered 37.5% of 8 questions: client counselor 66.7% of 3,"
        f" client only 20.0% of 5. They are {SERVED} (2), openai:b (1). Stand-ins answered the"
        " rest: embedded (2), embedded+adapter=/a.gguf (1), scripted:planted=4 (1). To 1 no"
        " answer could be used."
    ]
    assert answered(replace(sample, members=())) == [
        "No recorded calls lie beside these runs, so who answered is not known."
    ]


def test_forks_and_replays_count_what_was_asked_for_them(
    tmp_path: Path, simcounsel: Command
) -> None:
    """A fork from the fourth tick on, one tick long, and a replay of as many."""
    run = live(tmp_path / "one", ticks=6)
    fork = ("fork", run.folder, "--at", 3, "--ticks", 1, "-o", tmp_path / "fork", "--quiet")
    assert simcounsel(*fork).code == 0
    live(tmp_path / "replay", ticks=4, model=f"recorded:{run.folder}")
    asked = [one for one in run.calls() if one["verb"] != "embed" and one["tick"] < 4]
    for way in ("fork", "replay"):
        (folder,) = (tmp_path / way).iterdir()
        log = Log(folder)
        log.refresh()
        assert answers_of(log).total() == len(asked) > 0


def test_one_person_of_a_town_is_answered_by_a_model_and_the_crowd_by_a_stand_in(
    tmp_path: Path, simcounsel: Command
) -> None:
    """What a resident's own `models` say is asked of that model alone, and each report says so."""
    with FaultServer(answer=sensible) as served:
        own = f"residents.Grace.models.reason={served.url}/large"
        out = ("--set", own, "--ticks", 10, "-o", tmp_path / "runs", "--quiet")
        assert simcounsel("run", "town", "--model", "scripted", *out).code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    calls = [one for one in Run.open(folder).calls() if one["verb"] != "embed"]
    assert {one["model"] for one in calls if one["who"] == "Grace"} == {f"{served.url}/large"}
    assert {one["model"] for one in calls if one["who"] != "Grace"} == {"scripted"}
    assert simcounsel("report", folder, "--out", tmp_path / "report").code == 0
    share = 100 * sum(one["who"] == "Grace" for one in calls) / len(calls)
    wanted = f"Models that read prompts answered {share:.1f}% of {len(calls)} questions."
    for page in ("report.md", "report.html"):
        assert wanted in (tmp_path / "report" / page).read_text(encoding="utf-8")
