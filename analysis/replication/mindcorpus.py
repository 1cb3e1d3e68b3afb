"""MindChat's corpus done again: arms without some of the roles, groups of models, other corpora, a
judge, and Tables II to V with Figure 5 out of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from analysis.corpora.comparison import CorporaOptions, CorporaReport, Judgments
from analysis.corpora.comparison import make as make_report
from analysis.corpora.writing import write as write_report
from analysis.page import command_line
from analysis.replication.commands import Step, as_options, written
from analysis.replication.mind_page import Made, design_of, own, said_of, write
from analysis.replication.published import published
from analysis.replication.tables import PaperRow, PaperTable, TableCell
from simcounsel.corpus.rated import label_of
from simcounsel.errors import SpecError
from simcounsel.runs.measurements import is_trial
from simcounsel.specs import shipped

SCALE = "dialogue_quality"
WHOLE = "full"
OURS = "MindCorpus"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the command line says."""

    folder: Path
    model: str | None
    judge: str | None
    sessions: int
    sample: int
    groups: Path | None
    """An experiment whose arms are groups of models; None: no Table V."""
    beside: tuple[Path, ...]
    """Other corpora."""
    ratings: Path | None
    """What people said, from rating pages."""
    budget: dict[str, float] = field(default_factory=dict)

    @property
    def judged_by(self) -> str:
        """Who rates."""
        return self.judge or self.model or "embedded"

    @property
    def corpora(self) -> list[Path]:
        """All that is rated, in the order of the tables."""
        groups = [self.folder / "groups"] if self.groups else []
        return [self.folder / "arms", *groups, *self.beside]


def steps(wanted: Wanted, place: Path) -> list[Step]:
    """The commands; the files that they need are written into `place`."""
    _check_names(wanted)
    model = ["--model", wanted.model] if wanted.model else []
    made = []
    for name, file in (
        ("arms", shipped.found("experiments", Path("corpus_ablation"))),
        ("groups", wanted.groups),
    ):
        if file is None:
            continue
        data = _synthesis(file)
        data["synthesis"]["sessions"] = wanted.sessions
        experiment = written(
            place / f"{name}.yaml", data, f"Written from {file.name}.", wanted.budget
        )
        out = ["--out", str(wanted.folder / name)]
        words = ("sweep", str(experiment), *out, *(model if name == "arms" else []))
        made.append(Step(words=words, plans=True))
    made.append(
        Step(
            words=(
                *("corpus", "rate", *map(str, wanted.corpora), "--model", wanted.judged_by),
                *("--sample", str(wanted.sample), *as_options(wanted.budget)),
            )
        )
    )
    return made


def _synthesis(file: Path) -> dict[str, Any]:
    """An experiment with corpora, with paths that hold anywhere. SpecError for another one."""
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or not isinstance(data.get("synthesis"), dict):
        raise SpecError(
            [
                f"{file}: no experiment with corpora: it has no `synthesis:`; take one like"
                " corpus_groups"
            ]
        )
    named = data["synthesis"].get("situations")
    if isinstance(named, str) and named and (file.parent / named).exists():
        data["synthesis"]["situations"] = str((file.parent / named).resolve())
    return data


def _check_names(wanted: Wanted) -> None:
    """SpecError where other corpora are called like a part of this study, or like one another."""
    names = [label_of(one) for one in wanted.beside]
    for at, name in enumerate(names):
        if name in (*names[:at], "arms", "groups", OURS):
            raise SpecError(
                [f"--beside {wanted.beside[at]}: {name!r} is taken; give the file another name"]
            )


def finish(wanted: Wanted) -> Iterator[str]:
    """Read what the commands left, and write the page; in words what was written."""
    report = make_report(
        wanted.corpora, CorporaOptions(ratings=wanted.ratings, judge=wanted.judged_by)
    )
    write_report(report, wanted.folder / "report", command_line())
    made = read(report, wanted)
    yield from write(made, wanted.folder)


def read(report: CorporaReport, wanted: Wanted) -> Made:
    """The tables."""
    judged = next((one for one in report.judged if one.scale.id == SCALE), None)
    pictures = [one for id, one in report.pictures.items() if id == f"{SCALE}_0"]
    models = wanted.model or "embedded"
    facts = {
        "situations": "80 invented ones in English, with ten themes",
        "sessions": str(wanted.sessions),
        "sample": str(wanted.sample) if wanted.sample else "all",
        "model": models,
        "judge": judged.judge if judged else "nobody",
        "knows": "only what the seeker says; in the arm `informed` the same as in the paper",
        "people": "yes" if report.people else "none yet",
    }
    paper = published("mindcorpus")
    trial = sorted({name for name in (models, facts["judge"]) if is_trial(name)})
    return Made(
        paper=paper,
        tables=tuple(_tables(report, judged, wanted)),
        design=design_of(paper, facts),
        pictures={"figure_5": pictures},
        toys=trial,
        counted=sum(len(group.dialogues) for group in report.groups),
        kind="dialogue",
        report_page="report/report.html",
    )


def _tables(
    report: CorporaReport, judged: Judgments | None, wanted: Wanted
) -> Iterator[PaperTable]:
    arms = {str(group.condition): group.name for group in report.groups if group.source == "arms"}
    groups = {
        str(group.condition): group.name for group in report.groups if group.source == "groups"
    }
    others = {
        group.name: group.name for group in report.groups if group.source not in ("arms", "groups")
    }
    corpora = others | ({OURS: arms[WHOLE]} if WHOLE in arms else {})
    if "informed" in arms:
        corpora |= {f"{OURS}, informed": arms["informed"]}
    counts, rated = _counts(report.counted.corpora), _rated(judged)
    by = said_of(judged.judge) if judged else ""
    units = ", ".join(sorted({str(one) for one in report.counted.units.values()}))
    by_hand = f"counted, without a judge; ours in {units}, most of the paper's in characters"
    yield own("mindcorpus", "table_2", corpora, counts, by_hand)
    yield own("mindcorpus", "table_3", corpora, rated, by)
    people, ask = _rated(report.people), _ask(wanted)
    yield own("mindcorpus", "table_3_people", corpora, people, "by people", None if people else ask)
    yield _table_4(judged, None if people else ask)
    none = None if groups else "No groups were asked for: --groups corpus_groups (eleven groups)"
    both = {name: {**counts.get(name, {}), **rated.get(name, {})} for name in counts}
    yield own("mindcorpus", "table_5", groups, both, by, none)
    yield own("mindcorpus", "figure_5", arms, rated, by)


def _ask(wanted: Wanted) -> str:
    places = " ".join(map(str, wanted.corpora))
    return (
        f"People have not rated these yet: simcounsel study rate-page {places} makes the pages,"
        " and --ratings FILE takes what they said"
    )


def _counts(corpora: pd.DataFrame) -> dict[str, dict[str, TableCell]]:
    found: dict[str, dict[str, TableCell]] = {}
    for row in corpora.dropna(subset=["value"]).to_dict("records"):
        cell = TableCell(ours=float(row["value"]))
        found.setdefault(str(row["corpus"]), {})[str(row["measure"])] = cell
    return found


def _rated(judged: Judgments | None) -> dict[str, dict[str, TableCell]]:
    found: dict[str, dict[str, TableCell]] = {}
    rows: list[dict[Any, Any]] = (
        judged.summary.dropna(subset=["value"]).to_dict("records") if judged is not None else []
    )
    for row in rows:
        low, high = _known(row["low"]), _known(row["high"])
        cell = TableCell(ours=float(row["value"]), low=low, high=high, n=int(row["n"]))
        found.setdefault(str(row["corpus"]), {})[str(row["dimension"])] = cell
    return found


def _table_4(judged: Judgments | None, missing: str | None) -> PaperTable:
    """Rank correlations, where people and a judge have rated four corpora."""
    agreed: dict[str, dict[Any, Any]] = {}
    if judged is not None and judged.by_corpus is not None:
        agreed = {str(row["dimension"]): row for row in judged.by_corpus.to_dict("records")}
        reasons: Sequence[str] = [str(row["reason"]) for row in agreed.values() if row["reason"]]
        missing = reasons[0] if reasons else None
    table = own("mindcorpus", "table_4", {}, {}, "Spearman's rho; p over all orders", missing)
    rows = []
    for row, key in zip(table.rows, ("rho", "p_exact"), strict=True):
        cells = [
            TableCell(published=cell.published, ours=_known(agreed.get(column, {}).get(key)))
            for cell, column in zip(row.cells, table.columns, strict=True)
        ]
        rows.append(PaperRow(label=row.label, cells=tuple(cells)))
    return replace(table, rows=tuple(rows))


def _known(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)
