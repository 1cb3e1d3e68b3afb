"""A methods paragraph and a reporting checklist out of the runs' manifests, ready to paste."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analysis.page import counted

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
