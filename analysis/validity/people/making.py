"""The part of the page on people's ratings beside the models'."""

import itertools

import pandas as pd

from analysis.page import counted, interval, num
from analysis.validity.part import Claim, ClaimVerdict, ValidityPart, sources, table_of
from analysis.validity.people.estimating import ClientEstimate, Three, bias, difference, mean
from analysis.validity.people.reading import units_of
from analysis.validity.runs import SaidOf

MARGIN = 0.5
"""Standard deviations of people's ratings within which a model's bias is none."""


def make(table: pd.DataFrame, command: str, said: SaidOf, margin: float = MARGIN) -> ValidityPart:
    """The part. table: as `reading` gives it."""
    rows: list[dict[str, object]] = []
    gaps: list[dict[str, object]] = []
    claims: list[Claim] = []
    for score, part in table.groupby("score", sort=True):
        name = str(score) or "rating"
        units = units_of(part)
        gap, spread = bias(units), float(part["people"].std(ddof=1))
        gaps.append(_gap(name, gap, part, spread))
        claims.append(_of_bias(name, gap, spread, margin))
        arms = list(dict.fromkeys(part["arm"].astype(str)))
        whole = {arm: units_of(part[part["arm"] == arm]) for arm in arms}
        rows += [_row(name, arm or "all", mean(one)) for arm, one in whole.items()]
        for a, b in itertools.combinations(arms, 2):
            found = difference(whole[b], whole[a])
            rows.append(_row(name, f"{b} − {a}", found))
            claims.append(_of_difference(name, f"{b} and {a}", found))
    known = int(table["people"].notna().sum())
    lead = (
        f"People rated {counted(known, 'unit')} of {len(table)} that a model rated. Together: the"
        " model's ratings of all, set right by people's of some; it holds whatever the model is"
        " worth, if those that people rated were drawn by chance."
    )
    return ValidityPart(
        id="people",
        title="Would people have rated the same?",
        lead=(lead,),
        claims=tuple(claims),
        tables=(
            table_of(
                "people_estimates",
                "By people and model together, by each alone",
                pd.DataFrame(rows),
                note="95% over clients. Worth: how many times as many ratings people would have to"
                " make for the same interval without the model.",
                aside=("people_low", "people_high", "model_low", "model_high", "units"),
            ),
            table_of(
                "people_bias",
                "The model minus people, where both rated",
                pd.DataFrame(gaps),
                note="In points of the scale; 95% over clients; SD of people's ratings.",
            ),
        ),
        notes=said.notes,
        labels=said.labels,
        toys=said.toys,
        sources=sources("people"),
        command=command,
    )


def _row(score: str, what: str, found: Three) -> dict[str, object]:
    return {
        "score": score,
        "of": what,
        "together": found.together.value,
        "low": found.together.low,
        "high": found.together.high,
        "people alone": found.people.value,
        "people_low": found.people.low,
        "people_high": found.people.high,
        "model alone": found.model.value,
        "model_low": found.model.low,
        "model_high": found.model.high,
        "weight of the model": found.together.weight,
        "worth": found.worth,
        "units": found.units,
        "rated by people": found.rated,
        "clients rated": found.clients,
        "reason": found.together.reason,
    }


def _gap(score: str, gap: ClientEstimate, part: pd.DataFrame, spread: float) -> dict[str, object]:
    both = part.dropna(subset=["people"])
    apart = both["model"].nunique() > 1 and both["people"].nunique() > 1
    return {
        "score": score,
        "model minus people": gap.value,
        "low": gap.low,
        "high": gap.high,
        "SD of people": spread,
        "correlation": float(both["model"].corr(both["people"])) if apart else None,
        "rated by people": len(both),
    }


def _of_bias(score: str, gap: ClientEstimate, spread: float, margin: float) -> Claim:
    statement = (
        f"The model's ratings of {score} are on average those of people (within {margin:g} SD)"
    )
    if gap.value is None or gap.low is None or gap.high is None or not spread > 0:
        reason = gap.reason or "people's ratings do not differ"
        return Claim(statement=statement, verdict="undecided", because=reason)
    low, high = gap.low / spread, gap.high / spread
    verdict: ClaimVerdict = "undecided"
    if -margin < low and high < margin:
        verdict = "holds"
    elif low > 0 or high < 0:
        verdict = "does not hold"
    return Claim(
        statement=statement,
        verdict=verdict,
        because=f"model minus people {num(gap.value)} {interval(gap.low, gap.high)}, SD of people"
        f" {num(spread)}",
    )


def _of_difference(score: str, arms: str, found: Three) -> Claim:
    statement = f"{score}: {arms} differ, as the models rated, also with people's ratings"
    one = found.together
    if one.value is None or one.low is None or one.high is None or found.model.value is None:
        return Claim(statement=statement, verdict="undecided", because=str(one.reason))
    same = one.value * found.model.value > 0
    clear = one.low > 0 or one.high < 0
    verdict: ClaimVerdict = "undecided" if not clear else "holds" if same else "does not hold"
    return Claim(
        statement=statement,
        verdict=verdict,
        because=f"together {num(one.value)} {interval(one.low, one.high)}, the model alone"
        f" {num(found.model.value)}",
    )
