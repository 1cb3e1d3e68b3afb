"""Small benches for tests of rating studies: every model is scripted, with replies and scores of its own."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from simcounsel.cli import app
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted
from simcounsel.studies.answers import Given, answer_of, append
from simcounsel.studies.study import open_key, open_study

SCALES = {"comprehensiveness": 2, "professionalism": 3, "authenticity": 3, "safety": 1}


def cases_file(file: Path, cases: int = 8, *, chinese: bool = False) -> Path:
    """Cases of two turns each, on two topics."""
    said = (
        ("我最近总是睡不着。", "这样多久了？", "大概两个月了。")
        if chinese
        else ("I lie awake at night.", "Since when?", "For two months now.")
    )
    told = [
        {
            "topic": ("睡眠", "家庭")[at % 2] if chinese else ("sleep", "family")[at % 2],
            "case": at,
            "turns": [
                {"role": role, "content": f"{text} {at}"}
                for role, text in zip(("client", "counselor", "client"), said, strict=True)
            ],
        }
        for at in range(cases)
    ]
    file.write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    return file


def bench(
    monkeypatch: pytest.MonkeyPatch,
    out: Path,
    cases: Path,
    reply: str,
    score: Callable[[str], int] = lambda exchange: 1,
    model: str = "scripted",
) -> Path:
    """A finished bench of a model that says `reply` and where it says it. score: by case and turn, of every scale."""

    def answer(request: Question[Any], draw: Random) -> str:
        return f"{reply} {request.who}"

    def judge(request: Question[Any], draw: Random) -> str:
        given = score(request.who)
        return json.dumps({"because": ""} | {name: min(given, top) for name, top in SCALES.items()})

    chat = Scripted({"bench_answer": answer, "bench_judge": judge})
    chat.name = model
    beside = Scripted({"bench_judge": judge})
    beside.name = "judge"
    monkeypatch.setattr(
        "simcounsel.llm.catalog.open_chat", lambda name: chat if name == model else beside
    )
    words = ["study", "bench", "cpsycoune", cases, "--model", model, "--judge", "judge"]
    done = CliRunner().invoke(app, [*map(str, words), "--out", str(out)])
    assert done.exit_code == 0, (done.output, done.exception)
    return out


def answered(study: Path, value: Callable[[str, str, str], int]) -> None:
    """All raters answer all items. value: from 0, of every scale, by run, case and turn, and rater."""
    read, key = open_study(study), open_key(study)
    for rater in read.raters:
        lines = []
        for item in rater.order:
            origin = key.items[item]
            given = value(origin.run, str(origin.chat), rater.name)
            answers = {one.id: min(given + 1, one.points) for one in read.instrument.items}
            answers |= {"attention": rater.checks[item]} if item in rater.checks else {}
            lines.append(answer_of(read, rater, Given(item=item, answers=answers)))
        append(study, lines)
