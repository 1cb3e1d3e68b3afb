"""Corpora with a planted quality, a judge who sees it, and people who see it too.

Each counselor line carries a mark (`~7`) that stands for the dialogue's quality, so that a scripted judge can read it. Nothing else is planted.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

from simcounsel.chance import chance
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.rating import CorpusRating, plan_rating
from simcounsel.corpus.reading import read_dialogues
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted
from simcounsel.studies.answers import Given, answer_of, append
from simcounsel.studies.entry import ATTENTION
from simcounsel.studies.instrument import load_instrument
from simcounsel.studies.items import Choice
from simcounsel.studies.making import make_study
from simcounsel.studies.table import write_csv
from tests.corpus.judges import switchboard
from tests.corpus.made import dialogue
from tests.instruments.stage import items_of

MARK = re.compile(r"~(\d)")
THEMES = ("sleep", "work", "grief")


def corpus(file: Path, quality: float, count: int = 18, condition: str | None = None) -> Path:
    """A corpus of which each dialogue has a quality near the given one. Clients bear the same ids in every corpus."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        _dialogue(file.stem, number, quality, condition).model_dump_json()
        for number in range(count)
    ]
    with file.open("a", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    return file


def _dialogue(name: str, number: int, quality: float, condition: str | None) -> Dialogue:
    client = chance("client", number).gauss(0, 0.8)
    mark = max(2, min(9, round(quality + client + chance(name, condition, number).gauss(0, 0.7))))
    said = [
        f"I bake bread at night, number {number}.",
        f"What is that like? ~{mark}",
        "My daughter moved.",
        f"Tell me of {name}{number}. ~{mark}",
    ]
    return dialogue(
        f"{condition or name}-{number:02d}",
        *said,
        client=f"situation-{number:02d}",
        theme=THEMES[number % 3],
        condition=condition,
        situation="I bake bread at night. My daughter moved to Norway. The house is silent.",
    )


def judge() -> Scripted:
    """Reads the mark, with a point of noise by item."""

    def block(request: Question, draw: Random) -> str:
        found = MARK.search(request.prompt)
        assert found is not None
        return json.dumps(
            {
                question.id: max(1, min(10, int(found.group(1)) + draw.choice((-1, 0, 1))))
                for question in items_of(request)
            }
        )

    return Scripted({"judge_block": block})


def rated(files: Sequence[Path], name: str = "openai:planted", **how: object) -> None:
    """Rate corpora. The judge's name is that of a real model, so that what is said of real ones is tested."""
    models = switchboard(judge())
    for file in files:
        CorpusRating(plan_rating(file, read_dialogues(file), name, **how)).measure(models)  # type: ignore[arg-type]
    models.close()


def people(files: Sequence[Path], out: Path, raters: int = 3, most: int | None = None) -> Path:
    """A study of the corpora, answered by people who read the mark with two points of noise; its CSV."""
    study = make_study(
        list(files),
        load_instrument("dialogue_quality"),
        out,
        raters=raters,
        choice=Choice(most=most),
    )
    shown = {item.id: item for item in study.items}
    for rater in study.raters:
        given = []
        for item in rater.order:
            found = MARK.search(shown[item].lines[1].text)
            assert found is not None
            draw = chance(rater.name, item)
            answers = {
                one.id: max(1, min(10, int(found.group(1)) + draw.choice((-2, -1, 0, 1, 2))))
                for one in study.instrument.items
            }
            if item in rater.checks:  # passed
                answers[ATTENTION] = rater.checks[item]
            given.append(answer_of(study, rater, Given(item=item, answers=answers)))
        append(out, given)
    write_csv(out, out / "ratings.csv")
    return out / "ratings.csv"
