"""An audit in words and a table, for whoever has to decide whether the trained counselor may be
given away.
"""

from training.audit.findings import AuditReport, LikenessReport, OneRunReport, Separation
from training.audit.scores import TITLES

MEANS = {
    "shift": "no evidence: the base model, which saw nobody, tells them apart too",
    "told apart": "who was trained on can be told better than by guessing",
    "not told apart": "no better than guessing, as far as this sample shows",
    None: "no interval, so nothing can be said",
}
WHO = (
    "Who was trained on? AUC: 0.5 is guessing, 1 is certainty; the 95% interval behind it. The base"
    " model saw nobody."
)
FEW = (
    "Caught at few false alarms: the share of those trained on whom an attack names while it"
    " wrongly names so few of the held out."
)
HEART = (
    "Does it go on as the session did? Means for trained on and held out; a memory shows as a"
    " difference."
)


def lines(report: AuditReport) -> list[str]:
    """The report, a line each."""
    first = report.attacks[0].trained if report.attacks else None
    rows = [
        *([] if report.round is None else [f"{'adapter':<16}after round {report.round}"]),
        f"{'trained on':<16}{_people(first.members if first else 0, report.member_clients)}",
        f"{'held out':<16}{_people(first.others if first else 0, report.other_clients)}",
        f"{'scored':<16}{'the counselor’s words' if report.words == 'counselor' else 'all words'}",
        f"{'privacy':<16}{_privacy(report)}",
        *([f"{'':<16}{report.bound.said}"] if report.bound and report.bound.said else []),
    ]
    if report.attacks:
        rows += ["", WHO, *_attacks(report), "", FEW, *_rates(report), *_left_out(report)]
    if report.memorization:
        rows += ["", HEART, *_memorization(report.memorization)]
    return rows + (
        ["", *_one_run(report), *_exposure(report)] if report.one_run or report.exposure else []
    )


def _people(sessions: int, clients: int) -> str:
    return f"{sessions} sessions of {clients} clients"


def _privacy(report: AuditReport) -> str:
    if report.bound is None:
        return "none was accounted for, so nothing limits what an attack can do"
    return (
        f"for one {report.bound.unit}, by {report.bound.by}: no attack has an AUC above"
        f" {report.bound.auc:.3f}"
    )


def _attacks(report: AuditReport) -> list[str]:
    rows = [["attack", "trained model", "base model", "at most", "what it says"]]
    for one in report.attacks:
        bound = "-" if one.bound is None else f"{one.bound:.3f}"
        rows.append(
            [
                TITLES[one.attack],
                _auc(one.trained),
                "-" if one.base is None else _auc(one.base),
                bound,
                MEANS[one.verdict],
            ]
        )
    broken = [
        TITLES[one.attack]
        for one in report.attacks
        if one.within_bound is False and one.verdict != "shift"
    ]
    above = (
        f"ABOVE what the account allows: {', '.join(broken)}; the account or the split into members"
        " and others is wrong"
    )
    return [*grid(rows), *([above] if broken else [])]


def _auc(separation: Separation) -> str:
    return f"{separation.roc_auc:.3f}" + (
        ""
        if separation.low is None or separation.high is None
        else f" ({separation.low:.3f} to {separation.high:.3f})"
    )


def _rates(report: AuditReport) -> list[str]:
    wanted = [rate.fpr for rate in report.attacks[0].trained.tpr]
    rows = [["attack", *(f"at {fpr:.1%}" for fpr in wanted), "PR AUC", "by chance"]]
    for one in report.attacks:
        separation = one.trained
        rows.append(
            [
                TITLES[one.attack],
                *(f"{rate.tpr:.1%}" + ("" if rate.resolved else "*") for rate in separation.tpr),
                f"{separation.pr_auc:.3f}",
                f"{separation.chance_pr_auc:.3f}",
            ]
        )
    needed = [
        f"{1 / rate.fpr:.0f} for {rate.fpr:.1%}"
        for rate in report.attacks[0].trained.tpr
        if not rate.resolved
    ]
    too_few = (
        f"* without any false alarm: {report.attacks[0].trained.others} held out are too few"
        f" ({', '.join(needed)} at least)"
    )
    return [*grid(rows), *([too_few] if needed else [])]


def _left_out(report: AuditReport) -> list[str]:
    return [
        f"{TITLES[one.attack]}: {count} sessions left out: {why}"
        for one in report.attacks
        for why, count in one.trained.left_out.items()
    ]


def _memorization(found: tuple[LikenessReport, ...]) -> list[str]:
    names = {"rouge1_recall": "ROUGE-1 recall", "cosine": "cosine"}
    rows = [["measure", "model", "trained on", "held out", "difference"]]
    for one in found:
        interval = (
            "" if one.low is None or one.high is None else f" ({one.low:+.3f} to {one.high:+.3f})"
        )
        rows.append(
            [
                names[one.measure],
                one.model,
                f"{one.members:.3f}",
                f"{one.others:.3f}",
                f"{one.difference:+.3f}{interval}",
            ]
        )
    return grid(rows)


def _one_run(report: AuditReport) -> list[str]:
    run = report.one_run
    if run is None:
        return []
    verdict = {
        True: "below the stated {0:.4g}",
        False: "ABOVE the stated {0:.4g}: the account is wrong",
        None: "none was stated",
    }[run.below_stated]
    return [
        (
            f"{'one-run audit':<16}{run.correct} of {run.guesses} guesses about {run.canaries}"
            " canaries are right"
        ),
        (
            f"{'':<16}epsilon is at least {run.epsilon:.3f} ({run.confidence:.0%} confidence, delta"
            f" {run.delta:g}); {verdict.format(run.stated_epsilon)}"
        ),
        *_most(run),
    ]


def _most(run: OneRunReport) -> list[str]:
    """How much such an audit can show at all: a low number of few canaries is no good news."""
    if run.most is None:
        return []
    return [
        f"{'':<16}even with every guess right, {run.canaries} canaries could show no more than"
        f" {run.most:.3f}"
    ]


def _exposure(report: AuditReport) -> list[str]:
    found = report.exposure
    if found is None:
        return []
    return [
        (
            f"{'exposure':<16}{found.included:.2f} bits for the {found.n_included} canaries that"
            f" were trained on, {found.excluded:.2f} for the {found.n_excluded} others (guessing:"
            f" 1.44; most: {found.bits:.1f})"
        ),
        f"{'':<16}told apart with AUC {found.auc:.3f} ({found.low:.3f} to {found.high:.3f})",
    ]


def grid(rows: list[list[str]]) -> list[str]:
    """A table in text, the heads first."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
