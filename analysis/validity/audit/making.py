"""The part of the page on validity that an audit adds, from runs that followed its plan."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from analysis import tables
from analysis.embedding import each_once, embedding
from analysis.errors import ReportError
from analysis.finding import find
from analysis.outcomes import measured_outcomes
from analysis.page import counted, interval, num, percent, plain
from analysis.sample import Sample
from analysis.style import Look, Picture, broken, picture, small_multiples
from analysis.validity.audit.analyses import ANALYSIS
from analysis.validity.audit.changes import LEVELS
from analysis.validity.audit.compliance import CLOSED, compliance, complied
from analysis.validity.audit.pimmur import (
    Guess,
    blind,
    carried,
    guesses,
    minimal_control,
    named_outcome,
)
from analysis.validity.audit.plan import AuditPlan
from analysis.validity.audit.shared_task import SharedStudy
from analysis.validity.audit.verdicts import Becomes, ClaimAudit, Outcome, audited
from analysis.validity.part import (
    Claim,
    ClaimVerdict,
    PartTable,
    ValidityPart,
    shown,
    sources,
    table_of,
)
from analysis.validity.runs import said_of

VERDICTS: Mapping[Becomes, ClaimVerdict] = {
    "holds": "holds",
    "weakens": "does not hold",
    "turns": "does not hold",
    "cannot be told": "undecided",
}


def audits(made: AuditPlan, sample: Sample) -> list[ClaimAudit]:
    """What becomes of each claim. ReportError when nothing was measured."""
    measured = tables.measurements(sample.logs)
    if not len(measured):
        raise ReportError("nothing was measured in these runs; add `measurements` to them")
    outcomes = measured_outcomes(measured, sample)
    warned = set(tables.warnings(sample.logs)["run"].astype(str))
    return [audited(made.variants, made.variant_of, one, outcomes, warned) for one in made.claims]


def make(
    made: AuditPlan, runs: Path, command: str, *, ask: int = 0
) -> tuple[ValidityPart, list[Picture], list[ClaimAudit]]:
    """The part, its figures and the claims. ask: so many clients are asked what is studied."""
    sample = find([runs])
    found = audits(made, sample)
    embed = each_once(embedding(made.variants[0].cells[0].world.model_names()["embed"]))
    named, sentences = named_outcome(made, runs, embed)
    guessed = list(guesses(made, runs, embed, ask)) if ask else []
    usual = {cell.name for cell in made.variants[0].cells}
    eager = compliance(one for one in sample.members if one.name in usual)
    said = said_of([runs])
    pictures = [one for one in map(_picture, found) if one is not None]
    part = ValidityPart(
        id="audit",
        title="Would the claims hold if the study had been made otherwise?",
        lead=tuple(_lead(made, found)),
        claims=(
            *map(_claim, found),
            minimal_control(made),
            named,
            blind(guessed),
            *carried(found),
            complied(eager),
        ),
        tables=(
            *map(_changes_table, found),
            _levels_table(found),
            *_pimmur_tables(sentences, guessed),
            *_compliance_table(eager),
        ),
        figures=shown(pictures),
        notes=(*(f"Not run: {name}: {why}." for name, why in made.left_out.items()), *said.notes),
        labels=said.labels,
        toys=said.toys,
        sources=sources("audit"),
        command=command,
    )
    return part, pictures, found


def make_shared(
    study: SharedStudy, found: Sequence[ClaimAudit], outcome: str, command: str
) -> tuple[ValidityPart, list[Picture]]:
    """The part of a study of somebody else, whose runs were only read."""
    pictures = [one for one in map(_picture, found) if one is not None]
    title = str(study.design.get("title") or study.folder.name)
    part = ValidityPart(
        id="audit",
        title="Would the claims hold if the study had been made otherwise?",
        lead=(
            f"{title}: runs of the shared task, read from {study.folder.name}. Outcome: {outcome}."
            " Seeds are the unit. Intervals hold for all changes of a claim together.",
            *(f"{plain(one.hypothesis.id)}: {one.becomes} ({one.because})." for one in found),
        ),
        claims=tuple(map(_claim, found)),
        tables=(*(_changes_table(one, "seeds") for one in found), _levels_table(found)),
        figures=shown(pictures),
        notes=("The organizers' measures are not published: the outcome is the auditor's.",),
        sources=sources("audit"),
        command=command,
    )
    return part, pictures


def _lead(made: AuditPlan, found: Sequence[ClaimAudit]) -> Iterator[str]:
    changes = len(made.variants) - 1
    yield (
        f"{made.experiment.name} was run as it is and with {counted(changes, 'change')}: one thing"
        " at a time, then the largest together. Intervals hold for all changes of a claim together."
    )
    for one in found:
        yield f"{plain(one.hypothesis.id)}: {one.becomes} ({one.because})."


def _claim(audit: ClaimAudit) -> Claim:
    base = audit.outcomes[0].effect
    says = audit.hypothesis.says or " against ".join(audit.hypothesis.contrast)
    return Claim(
        statement=f"{audit.hypothesis.id}: {says}",
        verdict=VERDICTS[audit.becomes],
        because=f"{audit.becomes}: {audit.because}; as it is {num(base.difference)}"
        f" {interval(base.low, base.high)}",
    )


def _changes_table(audit: ClaimAudit, unit: str = "clients") -> PartTable:
    rows = [
        {
            "change": one.variant,
            "level": one.level,
            "the claim": "(ablation)" if one.ablation else one.becomes,
            "effect": one.effect.difference,
            "low": one.effect.low,
            "high": one.effect.high,
            "shift": one.shift.difference if one.shift else None,
            "shift low": one.shift.low if one.shift else None,
            "shift high": one.shift.high if one.shift else None,
            unit: one.effect.n.get("clients", sum(one.effect.n.values())),
            "reason": one.effect.reason,
        }
        for one in audit.outcomes
    ]
    return table_of(
        f"audit_{audit.hypothesis.id}",
        f"{plain(audit.hypothesis.id)}, with each change",
        pd.DataFrame(rows),
        note="Effect: the first condition minus the second. Shift: how far the change moves it."
        " The claim turns where the effect is beyond doubt on the other side. It weakens where the"
        " shift is beyond doubt and half of the effect or less is left.",
        aside=("reason",),
    )


def _levels_table(found: Sequence[ClaimAudit]) -> PartTable:
    """How much of all shifts beyond noise comes from each level."""
    rows = []
    for audit in found:
        singles = [one for one in audit.outcomes[1:] if not one.ablation and "+" not in one.level]
        whole = sum(one.beyond_noise for one in singles)
        for level in (*LEVELS, ANALYSIS):
            own = [one for one in singles if one.level == level]
            moved = max(own, key=lambda one: one.beyond_noise, default=None)
            part = sum(one.beyond_noise for one in own)
            rows.append(
                {
                    "claim": audit.hypothesis.id,
                    "level": level,
                    "changes": len(own),
                    "share": part / whole if whole and own else None,
                    "largest": moved.variant if moved and moved.beyond_noise else None,
                }
            )
    return table_of(
        "audit_levels",
        "Which level moves the effects",
        pd.DataFrame(rows),
        note="Of the squared shifts of single changes, less what noise alone gives them. Ways of"
        " analysis in every combination: simcounsel study validity multiverse.",
    )


def _pimmur_tables(
    sentences: Sequence[Mapping[str, str]], guessed: Sequence[Guess]
) -> Iterator[PartTable]:
    if sentences:
        yield table_of(
            "audit_named",
            "Prompts that say what is measured",
            pd.DataFrame(sentences),
            note="Sentences of people's prompts beside the nearest item.",
            most=10,
        )
    if guessed:
        yield table_of(
            "audit_guesses",
            "What clients think is studied",
            pd.DataFrame([vars(one) for one in guessed]),
            note="Asked once at the end of a run, in an interview that changes nothing.",
            most=10,
        )


def _compliance_table(eager: pd.DataFrame) -> Iterator[PartTable]:
    if len(eager):
        yield table_of(
            "audit_compliance",
            "How readily clients open up and agree",
            eager,
            note="Shares of a client's lines in the experiment as it is. Too far: the reply was"
            " more open than a line lets a client be. Closed, open: lines that agree or take"
            f" something up at an openness to {CLOSED:g}, and above.",
            most=12,
        )


def _picture(audit: ClaimAudit) -> Picture | None:
    """The effect as it is and with each change, by level."""
    known = [one for one in audit.outcomes if one.effect.difference is not None]
    if not known:
        return None
    base, *others = known
    ordered = [base, *sorted(others, key=lambda one: (_order(one), -one.beyond_noise))]
    alt = "; ".join(
        f"{one.variant} {num(one.effect.difference)} {interval(one.effect.low, one.effect.high)}"
        for one in ordered
    )

    def draw(look: Look) -> Figure:
        figure, (axes,) = small_multiples(look, 1, 1, 0.8 + 0.3 * len(ordered))
        axes.axvline(base.effect.difference or 0.0, color=look.color(0), linewidth=1, alpha=0.4)
        axes.axvline(0, color=look.faint, linewidth=1)
        for row, one in enumerate(reversed(ordered)):
            color = look.color(0 if one is base or one.becomes == "holds" else 1)
            if one.effect.low is not None and one.effect.high is not None:
                axes.plot([one.effect.low, one.effect.high], [row, row], color=color, linewidth=2)
            marker = "D" if one is base else "x" if one.ablation else "o"
            axes.plot([one.effect.difference or 0.0], [row], marker, color=color, markersize=5)
        names = [broken(one.variant, 40 if look.wide else 20) for one in reversed(ordered)]
        axes.set_yticks(range(len(ordered)), names)
        axes.set_ylim(-0.6, len(ordered) - 0.4)
        axes.set_xlabel("effect; crosses: the talk taken out")
        return figure

    title = f"{plain(audit.hypothesis.id)}: the effect as it is, and with each change"
    return picture(f"audit_{audit.hypothesis.id}", title, alt, draw)


def _order(one: Outcome) -> tuple[bool, bool, int]:
    """Single changes by level, then pairs, then what is no change but an ablation."""
    level = one.level.partition(" + ")[0]
    return one.ablation, "+" in one.level, [*LEVELS, ANALYSIS, ""].index(level)


def verdict_lines(found: Sequence[ClaimAudit]) -> Iterator[str]:
    """The claims with their verdicts, for the terminal."""
    for one in found:
        base = one.outcomes[0].effect
        yield f"{one.hypothesis.id}: {one.becomes.upper()} ({one.because})"
        yield f"  as it is {num(base.difference)} {interval(base.low, base.high)}"
        for other in sorted(one.outcomes[1:], key=lambda each: -each.beyond_noise)[:3]:
            if other.shift is not None and other.beyond_noise:
                left = (other.effect.difference or 0.0) / (base.difference or 1.0) + 0.0
                yield f"  {other.variant}: {num(other.effect.difference)} ({percent(left)} is left)"
