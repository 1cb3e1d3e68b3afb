"""A report written down: one HTML file without scripts, the same as Markdown, figures as SVG,
tables as CSV.

A methods paragraph and a reporting checklist out of the runs' manifests, ready to paste.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import rows
from analysis.completeness import lacking, shown_columns
from analysis.outcomes import FROM_THE_LOG
from analysis.page import any_text, counted, interval, num, p_text, plain, records, write_page
from analysis.report import Report, shown
from analysis.time_plots import shown_steps
from simcounsel.errors import SpecError
from simcounsel.instruments.scale import find_scale
from simcounsel.specs.experiment import LEAST_CLIENTS
from simcounsel.specs.scores import TOTAL

if TYPE_CHECKING:
    from analysis.report import Report


Item = tuple[str, str]


def methods(report: "Report") -> str:
    """What was done, in the past tense, with the numbers of these runs."""
    sample = report.sample
    if not sample.members:
        return "No run could be used."
    clients = sorted({client for member in sample.members for client in member.clients})
    seeds = {member.seed for member in sample.members}
    seated = _seated(report)
    said = [
        f"We simulated {counted(len(clients), 'client')} with simcounsel {_versions(report)} in"
        f" {counted(len(sample.arms), 'condition')} ({', '.join(map(_plain, sample.arms))}),"
        f" {counted(len(seeds), 'seed')} each: {counted(len(sample.members), 'run')} of"
        f" {_length(report)}.",
        _design(report),
        seated,
        _answered_by(report, seated),
        _asked_otherwise(report),
        _instruments(report),
        "The client was the unit of inference; runs of one client with other seeds were its"
        " repeated measurements.",
        _tests(report),
        _left_out(report),
    ]
    return " ".join(one for one in said if one)


def checklist(report: "Report") -> list[Item]:
    """What a reader or reviewer of simulated studies asks for, each with these runs' answer."""
    sample = report.sample
    fallbacks, calls = _fallbacks(report)
    trials = report.tables["measurements"]
    return [
        (
            "Software",
            f"simcounsel {_versions(report)}; analysis: versions at the end of report.html",
        ),
        (
            "Models, by role",
            "; ".join(f"{role}: {names}" for role, names in _models(report)) or "–",
        ),
        (
            "Prompts, instruments, therapies",
            ". ".join(
                filter(
                    None, (f"SHA-256 of all: {prompts_digest(report)}", _asked_otherwise(report))
                )
            ),
        ),
        ("Settings that arms changed", _changes(report)),
        ("Clients", _clients(report)),
        ("Allocation", _allocation(report)),
        ("Seeds", ", ".join(str(one) for one in sorted({m.seed or 0 for m in sample.members}))),
        ("Length of a run", _length(report)),
        ("Instruments, respondents", _respondents(trials)),
        ("People in seats", _seated(report) or "none"),
        ("Planned tests, written before the runs", str(len(report.planned))),
        ("Exploratory outcomes", str(len(report.explored))),
        ("Correction", "Holm within each family of planned tests; within the exploratory ones"),
        (
            "Runs left out, and why",
            "; ".join(f"{one.run}: {one.why}" for one in sample.excluded) or "none",
        ),
        ("Scores missing, and why", _missing(trials)),
        (
            "Answers that could not be used",
            f"{fallbacks:,} of {calls:,} requests were answered by a fallback"
            if calls
            else "not recorded",
        ),
        ("Danger left open", str(len(sample.open_ends))),
        ("Decided by the safety protocol", sample.safety_moves or "no line of a counselor"),
        ("Human raters", "yes" if report.options.ratings else "none"),
        ("Runs' fingerprints", _fingerprints(report)),
        ("Cost", _cost(report)),
    ]


def prompts_digest(report: "Report") -> str:
    """SHA-256 over the names and hashes of everything that was sent to models, and over the texts
    of a set in other words; 'several (N)' where runs differ in it.
    """
    found = set()
    for member in report.sample.members:
        prompts = dict(member.manifest.get("prompts") or {})
        prompts |= (member.manifest["world"].get("prompts") or {}).get("texts", {})
        text = "\n".join(f"{name} {digest}" for name, digest in sorted(prompts.items()))
        found.add(hashlib.sha256(text.encode()).hexdigest())
    return found.pop() if len(found) == 1 else f"several ({len(found)})"


def _asked_otherwise(report: "Report") -> str:
    """Sets of prompts in other words and temperatures that worlds set; '' where none does."""
    worlds = [member.manifest["world"] for member in report.sample.members]
    sets = {str((one.get("prompts") or {}).get("name", "usual")) for one in worlds}
    warmths = {str(one.get("temperature", "usual")) for one in worlds}
    said = [
        f"{what}: {', '.join(sorted(found))}."
        for what, found in (("Sets of prompts", sets), ("Temperatures", warmths))
        if found != {"usual"}
    ]
    return " ".join(said)


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _versions(report: "Report") -> str:
    members = report.sample.members
    found = {str(m.manifest.get("versions", {}).get("simcounsel", "?")) for m in members}
    return ", ".join(sorted(found))


def _models(report: "Report") -> list[tuple[str, str]]:
    used: dict[str, set[str]] = {}
    for member in report.sample.members:
        for role, model in member.models.items():
            used.setdefault(role, set()).add(model)
    return [(role, ", ".join(sorted(names))) for role, names in sorted(used.items())]


TOYS = {
    "embedded": "Lines were chosen from lines that people had written (the embedded model)."
    " Plans and feelings came from rules and small models. Answers to scales were drawn at random"
    " and measure nothing.",
    "scripted": "All words were put together at random (the scripted model), and answers to scales"
    " were drawn{planted}. They measure nothing.",
}
"""How a model that is no capable one answered, for a methods section."""


def _answered_by(report: "Report", seated: str) -> str:
    """Who thought, spoke and answered."""
    others = "other " if seated else ""
    hashed = f"prompts whose hash is {prompts_digest(report)[:16]}"
    toys = report.sample.toys()
    named = [
        (role, names)
        for role, names in _models(report)
        if role != "embed" and not all(_toy(name) for name in names.split(", "))
    ]
    said = []
    if named or not toys:
        models = "; ".join(f"{role}: {names}" for role, names in named or _models(report))
        said.append(
            f"{'Some' if toys else 'All'} {others}thoughts, lines and self-reports were answers of"
            f" language models ({models}) to {hashed}."
        )
    elif toys:
        said.append(f"No capable language model answered the {others}{hashed}.")
    every = {name for _, names in _models(report) for name in names.split(", ")}
    effects = sorted(name.partition("planted=")[2] for name in every if "planted=" in name)
    planted = f" with a planted effect of {', '.join(effects)}" if effects else " at random"
    said += [TOYS[toy].format(planted=planted) for toy in toys]
    return " ".join(said)


def _toy(model: str) -> bool:
    return model.replace(":", "+").split("+")[0] in TOYS


def _length(report: "Report") -> str:
    found = Counter(
        (member.ticks, int((member.manifest.get("world") or {}).get("tick_minutes", 15)))
        for member in report.sample.members
    )
    if len(found) != 1:
        several = [ticks for ticks, _ in found]
        return f"{min(several)} to {max(several)} ticks" if several else "–"
    ((ticks, minutes),) = found
    return f"{counted(ticks, 'tick')} of {counted(minutes, 'minute')} ({ticks * minutes / 60:g} h)"


def _design(report: "Report") -> str:
    plan = report.sample.experiment
    if plan is None:
        return ""
    if plan.design == "parallel":
        return "Each client was in one condition, dealt by chance."
    if plan.paired_at is not None:
        return (
            f"Each client's first {counted(plan.paired_at, 'tick')} were run once and then"
            " continued in every condition."
        )
    return "Each client was in every condition."


def _instruments(report: "Report") -> str:
    said = _respondents(report.tables["measurements"])
    return f"We measured {said}." if said != "none" else ""


def _respondents(measurements: Any) -> str:
    if not len(measurements):
        return "none"
    pairs = {
        (str(i), str(r))
        for i, r in zip(measurements["instrument"], measurements["respondent"], strict=True)
    }
    return ", ".join(f"{_plain(i)} ({r})" for i, r in sorted(pairs))


def _seated(report: "Report") -> str:
    """For whom people spoke and answered; '' where nobody did."""
    lines, scores = report.tables["talk"], report.tables["measurements"]
    lines = lines[lines["source"].astype(str) == "human"]
    scores = scores[scores["respondent"].astype(str) == "human"]
    asked = scores[["run", "client", "instrument", "tick"]].drop_duplicates()
    names = sorted({*map(str, lines["speaker"]), *map(str, scores["client"])})
    return (
        f"People spoke for {', '.join(names)}: {counted(len(lines), 'line')} and"
        f" {counted(len(asked), 'questionnaire')} (respondent: human) were theirs."
        if names
        else ""
    )


def _tests(report: "Report") -> str:
    if not report.planned:
        return "No test was planned; all results are exploratory."
    kinds = sorted({one.hypothesis.test for one in report.planned})
    return (
        f"{counted(len(report.planned), 'test was', 'tests were')} written down before the runs"
        f" ({', '.join(map(_plain, kinds))}), two-sided, and corrected after Holm (1979) within"
        " families."
    )


def _left_out(report: "Report") -> str:
    out = len(report.sample.excluded)
    return f"{counted(out, 'run was', 'runs were')} left out." if out else "No run was left out."


def _changes(report: "Report") -> str:
    plan = report.sample.experiment
    if plan is None:
        return "no plan lies beside the runs"
    return "; ".join(
        f"{_plain(arm.name)}: {', '.join(f'{k} = {v}' for k, v in arm.changes.items()) or 'none'}"
        for arm in plan.arms
    )


def _clients(report: "Report") -> str:
    sample = report.sample
    clients = sorted({client for member in sample.members for client in member.clients})
    drawn = f"; {len(sample.drawn)} drawn from written ones" if sample.drawn else ""
    return f"{len(clients)}: {', '.join(clients)}{drawn}"


def _allocation(report: "Report") -> str:
    return _design(report) or "by the world's condition; no plan"


def _missing(measurements: Any) -> str:
    if not len(measurements):
        return "nothing was measured"
    missing = measurements[measurements["value"].isna()]
    why = Counter(str(reason) for reason in missing["reason"])
    reasons = "; ".join(f"{reason} ({count})" for reason, count in why.most_common(5))
    return f"{len(missing)} of {len(measurements)}" + (f": {reasons}" if reasons else "")


def _fallbacks(report: "Report") -> tuple[int, int]:
    costs = report.tables["costs"]
    if not len(costs):
        return 0, 0
    return int(costs["fallbacks"].fillna(0).sum()), int(costs["calls"].fillna(0).sum())


def _fingerprints(report: "Report") -> str:
    digests: Iterator[str] = (
        str(member.manifest.get("digest", "")) for member in report.sample.members
    )
    whole = hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()
    return f"SHA-256 over {counted(len(report.sample.members), 'manifest')}: {whole}"


def _cost(report: "Report") -> str:
    costs = report.tables["costs"]
    if not len(costs):
        return "not recorded"
    spent = costs["cost_usd"]
    tokens = int(costs["tokens_in"].fillna(0).sum()), int(costs["tokens_out"].fillna(0).sum())
    money = "unknown" if spent.isna().any() else f"{float(spent.sum()):.2f} USD"
    return f"{money}; {tokens[0]:,} tokens in, {tokens[1]:,} out"


MOST_RESULTS = 4
"""Outcomes that the page names at its beginning."""
STABLE = 0.8
"""The adjusted Rand index between groupings of half samples from which on they are drawn."""


@any_text
def write(
    report: Report,
    out: Path,
    command: str,
    *,
    pdf: bool = False,
    word: bool = False,
    notebook: bool = False,
) -> Path:
    """Write all files into `out` and return the page's path. command: as it was typed. pdf: the
    figures at the widths of a journal, too. word, notebook: report.docx, report.ipynb. ReportError
    when it cannot be written.
    """
    from analysis.word import write_notebook, write_word

    context = _context(report, command)
    page = write_page(
        out / "report.html", "report", context, report.pictures, report.tables, pdf=pdf
    )
    if word:
        write_word(page.with_suffix(".docx"), context, report.pictures)
    if notebook:
        write_notebook(page.with_suffix(".ipynb"), context)
    return page


def _context(report: Report, command: str) -> dict[str, Any]:
    sample = report.sample
    sets = rows.RunSets(member.name for member in sample.members)
    drawn = shown(report.explored)
    pairs = rows.pairs_rows(report, drawn, sets)
    return {
        "report": report,
        "sample": sample,
        "experiment": sample.experiment,
        "sets": sets,
        "headline": headline(report),
        "results": results(report),
        "sample_clients": len({who for member in sample.members for who in member.clients}),
        "tested": any(one.permuted.p is not None for one in report.explored),
        "stable": (report.patterns.agreement or 0) >= STABLE,
        "drawn": drawn,
        "undrawn": len(report.explored) - len(drawn),
        "share_changes": rows.share_rows(report, sets),
        "runs": report.tables["runs"].to_dict("records"),
        "completeness": records(report.tables["completeness"]),
        "lacking": lacking(report.tables["completeness"]),
        "lacking_columns": shown_columns(lacking(report.tables["completeness"])),
        "models": rows.models_rows(report),
        "costs": rows.costs_rows(report),
        "warnings": rows.warnings_rows(report),
        "speakers": rows.speakers_rows(report, sets),
        "relations": rows.relations_rows(report, sets),
        "agreement": records(report.tables.get("agreement")),
        "people": records(report.tables.get("model_and_people")),
        "rated": rows.rated_rows(report),
        "command": command,
        "made_by": _made_by(report),
        "direction": direction_of,
        "over_time": [one for one in report.pictures if one.startswith("time_")],
        "steps": _steps(report),
        "methods": methods(report),
        "checklist": checklist(report),
        "from_the_log": FROM_THE_LOG,
        "pairs": pairs,
        "why_not": _why_not(report),
        "reasons": sorted({str(row["reason"]) for row in pairs if row["reason"]}),
        "trials": _trials(report),
        "unmeasured": not len(report.tables["measurements"]),
        "talked": _lines(report),
        "self_reports": _has(report, "self"),
        "judged": _has(report, "observer"),
    }


def _steps(report: Report) -> list[dict[str, Any]]:
    """The changes from step to step that are drawn, as rows of a table."""
    table = report.tables["step_means"]
    drawn = set(shown_steps(table))
    return [
        row
        for row in records(table)
        if (str(row["instrument"]), str(row["score"]), str(row["respondent"])) in drawn
    ]


def headline(report: Report) -> list[str]:
    """What is to be said first, in sentences."""
    said = []
    toys = report.sample.toys()
    if toys:
        models = " and the ".join(toys)
        said.append(
            f"These runs used the {models} model. They show that the software works; what follows"
            " says nothing about counseling."
        )
    if not report.sample.members:
        return [*said, "No run could be used; see what was left out, and why."]
    if not report.planned:
        said.append(
            "No test was planned before the runs were made: all that is here is exploratory."
        )
    for one in report.planned:
        h = one.hypothesis
        words = f"{plain(h.id)} ({plain(h.instrument)}, {' against '.join(map(plain, h.contrast))})"
        if one.p_holm is None:
            said.append(f"{words}: not testable; {_too_few(report) or one.reason or 'no p value'}.")
        elif one.estimate is None:
            said.append(
                f"{words}: {one.verdict}, {one.statistic}, corrected p {p_text(one.p_holm)}."
            )
        else:
            said.append(
                f"{words}: {one.verdict}; {num(one.estimate)} {interval(one.low, one.high)},"
                f" corrected p {p_text(one.p_holm)}."
            )
    return said


def results(report: Report) -> list[str]:
    """What was measured, by arm, in words with an interval, whole scales first; or why nothing can
    be said.
    """
    measured = sorted(
        (one for one in report.explored if one.instrument != "log"), key=lambda o: o.score != TOTAL
    )
    said = []
    if _trials(report):
        said.append(
            "Scores that the embedded or the scripted model gave were drawn: they measure nothing."
        )
    for one in measured[:MOST_RESULTS]:
        arms = [
            f"{num(s.mean)}{f' {interval(s.low, s.high)}' if s.low is not None else ''} in"
            f" {plain(s.name)}"
            for s in one.spreads
            if s.mean is not None
        ]
        if arms:
            said.append(f"{one.title[0].upper()}{one.title[1:]}, {one.kind}: {', '.join(arms)}.")
    if len(measured) > MOST_RESULTS:
        more = counted(len(measured) - MOST_RESULTS, "more outcome is", "more outcomes are")
        said.append(f"{more} below.")
    if not measured:
        said.append("Nobody was measured, so no outcome can be compared.")
    if few := _too_few(report):
        said.append(f"Nothing is tested: {few}.")
    return said


def _too_few(report: Report) -> str:
    """Why so few clients allow no test; '' where there are enough."""
    clients = len({who for member in report.sample.members for who in member.clients})
    here = f"here {'is' if clients == 1 else 'are'} {clients}"
    return f"a test needs {LEAST_CLIENTS} clients, and {here}" if clients < LEAST_CLIENTS else ""


def direction_of(instrument: str, score: str) -> str:
    """'lower is better' or 'higher is better', as the scale says; '' where that is not known."""
    if instrument == "log":
        return FROM_THE_LOG.get(score, "")
    try:
        scale = find_scale(instrument)
    except SpecError:
        return ""
    part = next((one for one in scale.subscales if one.id == score), None)
    return str((part.direction if part and part.direction else scale.direction) or "").replace(
        "_", " "
    )


def _why_not(report: Report) -> list[str]:
    """Why exploratory tests could not be made, each reason once."""
    return sorted(
        {reason for one in report.explored if (reason := one.permuted.reason or one.fisher.reason)}
    )


def _has(report: Report, respondent: str) -> bool:
    return bool((report.tables["measurements"]["respondent"].astype(str) == respondent).any())


def _trials(report: Report) -> bool:
    """Whether any measurement was made by a model that is no judge."""
    return (
        bool(report.tables["measurements"]["trial"].astype(bool).any())
        if len(report.tables["measurements"])
        else False
    )


def _lines(report: Report) -> int:
    return len(report.tables["talk"])


def _made_by(report: Report) -> list[str]:
    """Versions of simcounsel that made the runs."""
    return sorted(
        {
            str(member.manifest.get("versions", {}).get("simcounsel", "unknown"))
            for member in report.sample.members
        }
    )
