"""The page of a pack, its tables and what other pages may cite; nothing in it names a rater."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd

from analysis.clinicians.coefficients import ALPHA, expected
from analysis.clinicians.figures import (
    Answers,
    Difference,
    Row,
    all_rows,
    differences,
    read_pack_answers,
    ties,
    with_rules,
)
from analysis.clinicians.freezing import Pack
from analysis.clinicians.plan import TRUE, counselor_of
from analysis.judge_figures import Figure
from analysis.page import write_page
from simcounsel.disk import write_whole
from simcounsel.instruments.clinicians import NOBODY, Agreed, ByClinicians
from simcounsel.runs.measurements import is_trial
from simcounsel.studies.instrument import load_instrument

PAGE, CITED = "page", "clinicians.json"


def write_pack_page(folder: Path, pack: Pack) -> Iterator[str]:
    """FOLDER/page/ with clinicians.html, figures.json and tables/; clinicians.json where two
    clinicians rated and a judge did. In words what was written.
    """
    answers = read_pack_answers(folder, pack)
    tables, rules = all_rows(pack, answers), with_rules(pack, answers)
    apart = differences(pack, answers)
    context = _context(pack, answers) | {"tables": tables, "rules": rules, "apart": apart}
    frames = {"agreement": _frame(tables), "rules": _frame({"By dimension": rules})}
    frames["counselors"] = _differences_frame(pack, apart)
    page = write_page(folder / PAGE / "clinicians.html", "clinicians", context, {}, frames)
    told = {
        name: frame.replace({np.nan: None}).to_dict("records") for name, frame in frames.items()
    }
    head = {"digest": pack.digest, "frozen": pack.frozen, "plan": pack.plan.model_dump()}
    data = orjson.dumps({**head, **told}, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY)
    write_whole(page.with_name("figures.json"), data.decode() + "\n")
    yield f"page           {page}; may be published, as all in {page.parent}"
    yield from _cited(folder, pack, answers, tables["All together"][0])


def _context(pack: Pack, answers: Answers) -> dict[str, Any]:
    models = [*(counselor_of(one)[1] for one in pack.plan.counselors), *answers.judges]
    questions = {one.id: one.text for one in load_instrument(pack.plan.instrument).items}
    clinicians = sum(one.clinician and one.rated > 0 for one in answers.people)
    return {
        "pack": pack,
        "people": answers.people,
        "clinicians": clinicians,
        "nobody": NOBODY["en"],
        "judges": tuple(answers.judges),
        "questions": questions,
        "toys": sorted({one for one in models if is_trial(one)}),
        "chinese": sum(one.language == "zh" for one in pack.talks),
        "crises": sum(one.kind == "crisis" for one in pack.talks),
        "ties": ties(answers.values),
        "unsaid": int(np.isnan(answers.values).sum()),
        "asked": int(answers.values.size),
        "power": [
            expected(true, talks, pack.plan.raters)
            for true in TRUE
            for talks in sorted({sum(one.kind == "crisis" for one in pack.talks), len(pack.talks)})
            if talks > 1
        ],
    }


def _frame(tables: dict[str, list[Row]]) -> pd.DataFrame:
    """A line for each figure."""
    return pd.DataFrame(
        [
            {"table": title, "part": row.part, "compared": who, **_plain(figure)}
            for title, some in tables.items()
            for row in some
            for who, figures in row.figures.items()
            for figure in figures
        ]
    )


def _plain(figure: Figure) -> dict[str, Any]:
    fields = asdict(figure)
    del fields["of"]
    return fields


def _differences_frame(pack: Pack, apart: list[Difference]) -> pd.DataFrame:
    first, second = pack.plan.counselors
    return pd.DataFrame(
        [
            {
                "part": one.part,
                "first": first,
                "second": second,
                "mean_first": one.means[0] if one.means else None,
                "mean_second": one.means[1] if one.means else None,
                "pairs": one.contrast.n["pairs"],
                "difference": one.contrast.difference,
                "low": one.contrast.low,
                "high": one.contrast.high,
                "p": one.contrast.p,
                "reason": one.contrast.reason,
            }
            for one in apart
        ]
    )


def _cited(folder: Path, pack: Pack, answers: Answers, row: Row) -> Iterator[str]:
    """The file that other pages cite, where clinicians have rated and a judge can be held against
    them.
    """
    raters = sum(one.clinician and one.rated > 0 for one in answers.people)
    judges = {
        name: Agreed(value=one.value, low=one.low, high=one.high, talks=one.n)
        for name, figures in row.figures.items()
        if name != "clinicians"
        for one in figures
        if one.what == ALPHA and one.value is not None and one.low is not None
        if one.high is not None
    }
    file = folder / PAGE / CITED
    if raters < len(answers.people) or raters < 2 or not judges:
        file.unlink(missing_ok=True)
        yield (
            f"cited          nowhere yet: {raters} of {len(answers.people)} raters say that they"
            f" are clinicians, {len(judges)} judges can be held against them"
        )
        return
    told = ByClinicians(
        instrument=pack.plan.instrument, raters=raters, digest=pack.digest, judges=judges
    )
    write_whole(file, told.model_dump_json(indent=1) + "\n")
    yield f"cited          where SIMCOUNSEL_CLINICIANS={file} is set"
