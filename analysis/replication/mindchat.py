"""MindChat's model done again: a sweep of trainings with attacks, each adapter on a bench, and out
of them Tables VI to VIII with Figures 8 and 9.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import ReportError
from analysis.page import command_line
from analysis.raters import replies
from analysis.replication.commands import Step, as_options, written
from analysis.replication.mind_page import Made, design_of, own, said_of, write
from analysis.replication.published import published
from analysis.replication.tables import PaperTable, TableCell
from analysis.style import Picture
from analysis.trainings import pictures
from analysis.trainings.comparison import make as make_report
from analysis.trainings.comparison import write as write_report
from analysis.trainings.folders import TrainingRead, read_trainings
from simcounsel.bench.folder import RESULT
from simcounsel.bench.result import Result, read_result
from simcounsel.corpus.reading import read_dialogues
from simcounsel.corpus.split import Shares, split_dialogues

WHOLE, BASE = "mindchat", "base"
EPSILONS = (1, 3, 5, 7)
LOCAL = ("embedded", "local:qwen2.5-0.5b", "local:qwen2.5-1.5b")
"""Bases that speak here with an adapter; another one must be served."""
PAPER = {
    "unit": "site",
    "noise_at": "each_site",
    "weights": "by_size",
    "adjacency": "absent",
    "clip": 1.0,
    "delta": 1e-5,
    "calibration": "paper",
    "stated_epsilon": 1,
}
"""Its privacy: the noise of the formula for one release."""
HELD_OUT = 0.2
SITES = (2, 4, 6)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the command line says."""

    folder: Path
    corpus: str
    base: str
    sessions: int
    """Of a site, at most."""
    rounds: int
    local_epochs: int
    learning_rate: float | None
    cases: str
    judge: str
    """One for all, so that no model rates itself alone."""
    beside: tuple[str, ...]
    """Other models, for Table VI."""
    ratings: Path | None = None
    """What people said of the replies, from rating pages."""
    budget: dict[str, float] = field(default_factory=dict)

    @property
    def speaks(self) -> bool:
        """Whether an adapter of this base can be asked here."""
        return self.base in LOCAL

    @property
    def rate(self) -> float:
        """The learning rate: that of the other recipes for a small base."""
        return self.learning_rate or (2e-3 if self.speaks else 5e-5)


def sweep(wanted: Wanted) -> dict[str, Any]:
    """The file of the trainings. ReportError where the corpus has too few themes."""
    themes = _themes(wanted.corpus)
    if len(themes) < max(SITES):
        raise ReportError(
            f"--corpus {wanted.corpus}: {len(themes)} themes, and the tables want {max(SITES)};"
            " `simcounsel train sites CORPUS` tells them"
        )

    def dealt(sites: int, by: str) -> dict[str, Any]:
        kinds = themes[:sites] if by == "theme" else themes[:1]
        return {"themes": kinds, "deal": {"sites": sites, "by": by, "sessions": wanted.sessions}}

    def cell(name: str, sites: int, by: str, privacy: Any = None) -> dict[str, Any]:
        more = {} if privacy is None else {"privacy": privacy}
        return {"name": name, "set": dealt(sites, by) | more}

    two = [(f"epsilon_{e}", {"stated_epsilon": e}) for e in EPSILONS]
    right = [
        (f"counted_{e}", {"calibration": "exact", "stated_epsilon": None, "budget_epsilon": e})
        for e in EPSILONS
    ]
    return {
        "name": "MindChat",
        "recipe": {
            "corpus": wanted.corpus,
            "base": wanted.base,
            **dealt(len(themes), "theme"),
            "rounds": wanted.rounds,
            "local_epochs": wanted.local_epochs,
            "batch_size": min(16, wanted.sessions),
            "held_out": HELD_OUT,
            "lora": {"rank": 16, "alpha": 32, "train": "b"},
            "learning": {"learning_rate": wanted.rate, "max_tokens": 512},
            "privacy": dict(PAPER),
            "seed": 1,
        },
        "cells": [
            {"name": WHOLE, "about": "All themes, a site each."},
            cell("local", 1, "even"),
            *(cell(f"quantity_{n}", n, "even") for n in SITES),
            *(cell(f"diversity_{n}", n, "theme") for n in SITES),
            *(cell(name, 2, "even", privacy) for name, privacy in (*two, *right)),
            cell("no_privacy", 2, "even", "none"),
        ],
    }


def _themes(corpus: str) -> list[str]:
    """Those with most clients to train on first: the first one is dealt to six sites."""
    shares = Shares(train=1 - HELD_OUT, validation=0, test=HELD_OUT)
    dialogues = read_dialogues(corpus)
    if not all(one.split for one in dialogues):
        dialogues = split_dialogues(dialogues, shares, 1)
    clients = {(one.theme, one.client) for one in dialogues if one.split == "train" and one.theme}
    return [theme for theme, _ in Counter(theme for theme, _ in sorted(clients)).most_common()]


def steps(wanted: Wanted, place: Path) -> list[Step]:
    """The commands; the sweep that they train is written into `place`."""
    data = sweep(wanted)
    file = written(place / "trainings.yaml", data, "The trainings of Tables VI to VIII.", {})
    trained = wanted.folder / "trainings"
    train = ("train", "sweep", str(file), "--out", str(trained))
    cells = [str(one["name"]) for one in data["cells"]]
    attacked = [one for one in cells if one.startswith(("epsilon", "counted", "no_privacy"))]
    only = [word for name in attacked for word in ("--only", name)]
    made = [
        Step(words=train, plans=True),
        Step(words=(*train, "--audit", "--memorization", "--each-round", *only)),
    ]
    asked: list[tuple[str, str]] = []
    if wanted.speaks:
        for name in [WHOLE, *(one for one in published("mindchat").tables["table_7"].rows)]:
            gguf = trained / name / "adapter" / "adapter.gguf"
            made.append(Step(words=("train", "export", str(trained / name), "--gguf"), leaves=gguf))
            asked.append((name, f"{wanted.base}+adapter={trained / name}"))
        asked.append((BASE, wanted.base))
    asked += [(_folder_of(model), model) for model in wanted.beside]
    for name, model in asked:
        out = wanted.folder / "benches" / name
        words = ["study", "bench", "cpsycoune", wanted.cases, "--model", model]
        words += ["--judge", wanted.judge, "--out", str(out), *as_options(wanted.budget)]
        made.append(Step(words=tuple(words)))
    return made


def finish(wanted: Wanted) -> Iterator[str]:
    """Read what the commands left, and write the page; in words what was written."""
    trained = wanted.folder / "trainings"
    write_report(make_report([trained]), wanted.folder / "report", command_line())
    names = [*published("mindchat").tables["table_7"].rows, WHOLE, BASE]
    names += [_folder_of(model) for model in wanted.beside]
    benches = {
        name: read_result(wanted.folder / "benches" / name)
        for name in names
        if (wanted.folder / "benches" / name / RESULT).is_file()
    }
    audits = {
        file.parent.name: json.loads(file.read_bytes())
        for file in sorted(trained.glob("*/audit.json"))
    }
    yield from write(read(wanted, read_trainings([trained]), benches, audits), wanted.folder)


def read(
    wanted: Wanted,
    trainings: Sequence[TrainingRead],
    benches: Mapping[str, Result],
    audits: Mapping[str, Mapping[str, Any]],
) -> Made:
    """The tables and figures."""
    paper = published("mindchat")
    judges = sorted({one.judge for one in benches.values()})
    facts = {
        "base": wanted.base,
        "corpus": wanted.corpus,
        "sessions": str(wanted.sessions),
        "sites": next((str(one.sites) for one in trainings if one.name == WHOLE), "none"),
        "rounds": str(wanted.rounds),
        "epochs": str(wanted.local_epochs),
        "rate": f"{wanted.rate:g}",
        "cases": wanted.cases,
        "judge": ", ".join(judges) or "nobody",
    }
    by_epsilon = [one for one in trainings if one.name.startswith("epsilon") or not one.unit]
    drawn: list[Picture | None] = [pictures.memorization(by_epsilon), pictures.rounds(by_epsilon)]
    return Made(
        paper=paper,
        tables=tuple(_tables(wanted, trainings, benches, audits)),
        design=design_of(paper, facts),
        pictures={"table_8": [one for one in drawn if one]},
        toys=sorted({one.model for one in benches.values() if one.trial}),
        counted=len(trainings),
        kind="training",
        report_page="report/report.html",
    )


def _tables(
    wanted: Wanted,
    trainings: Sequence[TrainingRead],
    benches: Mapping[str, Result],
    audits: Mapping[str, Mapping[str, Any]],
) -> Iterator[PaperTable]:
    scores = {name: _scores(one) for name, one in benches.items()}
    by = "; ".join(sorted({said_of(one.judge) for one in benches.values()}))
    served = (
        None
        if wanted.speaks
        else f"{wanted.base} is not spoken here: serve base and adapter (vLLM, llama.cpp), and name"
        " them with --beside, for Table VI"
    )
    models = {"MindChat": WHOLE, f"{wanted.base}, untrained": BASE}
    models |= {model: _folder_of(model) for model in wanted.beside}
    yield own("mindchat", "table_6", models, scores, by, served)
    yield _by_people(wanted, {row: one for row, one in models.items() if one in benches}, served)
    seven = {name: name for name in published("mindchat").tables["table_7"].rows}
    yield own("mindchat", "table_7", seven, scores, by, served)
    yield _table_8(trainings, audits)


def _by_people(wanted: Wanted, rows: Mapping[str, str], served: str | None) -> PaperTable:
    """Table VI by people. rows: the bench's folder by row, of those that are finished."""
    benches = {one: wanted.folder / "benches" / one for one in rows.values()}
    if not benches or wanted.ratings is None:
        why = _ask(wanted, list(benches.values())) if benches else served or "There are no benches"
        return own("mindchat", "table_6_people", {}, {}, "by people", why)
    people = replies.people_of(benches, [wanted.ratings])
    both = replies.both_of(replies.judged_of(benches), people)
    cells: dict[str, dict[str, TableCell]] = {}
    for mean in replies.model_means(both).to_dict("records"):
        low, high = (None if pd.isna(mean[end]) else float(mean[end]) for end in ("low", "high"))
        cell = TableCell(ours=float(mean["people"]), low=low, high=high, n=int(mean["cases"]))
        cells.setdefault(str(mean["model"]), {})[str(mean["score"])] = cell
    ranked = replies.ranks(both)
    told = [*replies.in_words(ranked), replies.limit_of(ranked), replies.agreement_in_words(people)]
    table = own("mindchat", "table_6_people", rows, cells, "by people; n counts cases")
    notes = ("Spearman's rho of people with the judge, 95% over cases.", *filter(None, told))
    return replace(table, notes=(*table.notes, *notes))


def _ask(wanted: Wanted, benches: Sequence[Path]) -> str:
    chinese = read_result(benches[0]).language == "Chinese"
    words = [*map(str, benches), "--instrument", "reply_quality_zh" if chinese else "reply_quality"]
    words += ["--max-per-run", "40", "--out", str(wanted.folder / "people")]
    return (
        f"People have not rated these yet: simcounsel study rate-page {shlex.join(words)} makes the"
        " pages, and --ratings FILE takes what they said"
    )


def _folder_of(model: str) -> str:
    """Of another model's bench: the same model always has the same."""
    return "beside-" + re.sub(r"[^A-Za-z0-9.]+", "-", model)


def _scores(result: Result) -> dict[str, TableCell]:
    found = {}
    for name, mean in result.overall.items():
        low, high = mean.interval or (None, None)
        found[name] = TableCell(ours=mean.value, low=low, high=high, n=mean.n)
    return found


def _table_8(
    trainings: Sequence[TrainingRead], audits: Mapping[str, Mapping[str, Any]]
) -> PaperTable:
    """Every attack, by epsilon; what an epsilon really is stands beside it."""
    cells: dict[str, dict[str, TableCell]] = {}
    for name, audit in audits.items():
        for one in audit["attacks"]:
            told = one["trained"]
            for part, low, high in (("roc", "low", "high"), ("pr", "pr_low", "pr_high")):
                cells.setdefault(name, {})[f"{one['attack']}_{part}"] = TableCell(
                    ours=told[f"{part}_auc"],
                    low=told[low],
                    high=told[high],
                    n=told["members"] + told["others"],
                )
    counted = {f"epsilon {e} in all": f"counted_{e}" for e in EPSILONS if f"counted_{e}" in cells}
    rows = {name: name for name in published("mindchat").tables["table_8"].rows} | counted
    table = own("mindchat", "table_8", rows, cells, "attacks on the adapters")
    paid = {one.name: one.epsilon for one in trainings}
    told = [
        f"{name.removeprefix('epsilon_')} is {epsilon:.4g} in all"
        for name, epsilon in paid.items()
        if name.startswith("epsilon") and epsilon is not None
    ]
    note = (
        f"Epsilon by the paper's formula is that of one release; over all rounds {', '.join(told)}."
    )
    return replace(table, notes=(note,) if told else ())
