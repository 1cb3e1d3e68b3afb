"""An effect is taken apart by what is cut: the parts, by hand and with another library, and what does not add up."""

from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from analysis.channels import REST, WHOLE, channel_table, channels, parts_picture, sentences
from simcounsel.specs.experiment import Hypothesis
from simcounsel.specs.sweep_plan import PlannedArm, SweepPlan
from tests.commands import Command
from tests.stage import ROOT

ARMS = {
    "alone": [20.0, 18, 22, 19, 21, 17],
    "helped": [14.0, 12, 15, 14, 14, 12],
    "mute": [18.0, 17, 19, 17, 19, 15],
    "blank": [17.0, 13, 17, 16, 18, 14],
}


def rows(arms: dict[str, list[float]], clients: str = "abcdef") -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "instrument": "sleep", "score": "total", "respondent": "self", "judge": "", "kind": "change",
                "run": f"{arm}-{client}", "arm": arm, "client": client, "value": value, "reason": None,
            }
            for arm, values in arms.items()
            for client, value in zip(clients, values, strict=False)
        ]
    )  # fmt: skip


def plan(*arms: PlannedArm, contrast: tuple[str, ...] = ("helped", "alone")) -> SweepPlan:
    own = arms or (
        PlannedArm(name="alone", changes={"condition": "client_only"}),
        PlannedArm(name="helped"),
        PlannedArm(name="mute", do=("mute:Omar",)),
        PlannedArm(name="blank", do=("block:memory", "freeze:plans")),
    )
    test = "anova" if len(contrast) > 2 else "clients"
    hypothesis = Hypothesis(id="h", instrument="sleep", contrast=contrast, test=test)
    return SweepPlan(arms=own, hypotheses=(hypothesis,))


def never(change: object) -> pd.DataFrame:
    raise AssertionError("no other change is asked for")


def test_the_parts_by_hand_and_by_scipy() -> None:
    whole, mute, blank, rest = channels(plan(), rows(ARMS), never)
    assert [one.of for one in (whole, mute, blank, rest)] == [WHOLE, "mute", "blank", REST]
    assert blank.cut == "block:memory, freeze:plans"
    # helped minus alone: -6 -6 -7 -5 -7 -5; minus mute: -4 -5 -4 -3 -5 -3; minus blank: -3 -1 -2 -2 -4 -2
    assert whole.found.difference == pytest.approx(-6.0)
    assert mute.found.difference == pytest.approx(-4.0) and mute.share == pytest.approx(2 / 3)
    assert blank.found.difference == pytest.approx(-14 / 6)
    left = [1.0, 0, -1, 0, 2, 0]
    assert rest.found.difference == pytest.approx(sum(left) / 6)
    interval = stats.ttest_1samp(left, 0).confidence_interval()
    assert (rest.found.low, rest.found.high) == pytest.approx((interval.low, interval.high))
    (said,) = sentences((whole, mute, blank, rest))
    assert said.startswith("h: of −6 [") and "(66.7%) is gone in mute" in said
    assert parts_picture((whole, mute, blank, rest)) is not None
    assert channel_table((whole,))["share"].tolist() == [1.0]


def test_clients_who_are_not_in_all_conditions_are_left_out() -> None:
    some = rows(ARMS)
    some = some[~((some["client"] == "a") & (some["arm"] == "mute"))]
    whole, *_ = channels(plan(), some, never)
    assert whole.found.n == {"clients": 5} and whole.found.p is None
    none = some[some["arm"] != "mute"]
    parts = channels(plan(), none, never)
    assert all(one.found.difference is None for one in parts)
    assert "no client was measured in all" in next(iter(sentences(parts)))
    assert parts_picture(parts) is None


def test_where_nothing_is_cut_there_are_no_parts() -> None:
    other = PlannedArm(name="mute", do=("mute:Omar",), changes={"temperature": 1})
    both = PlannedArm(name="alone"), PlannedArm(name="helped")
    assert channels(plan(*both), rows(ARMS), never) == []
    assert channels(plan(*both, other), rows(ARMS), never) == [], "more than a cut differs"
    assert channels(plan(contrast=("helped", "alone", "mute")), rows(ARMS), never) == []
    own = channels(plan(contrast=("helped", "mute")), rows(ARMS), never)
    assert [one.of for one in own] == [WHOLE, "blank", REST], (
        "what is compared is no channel of itself"
    )


def test_of_an_effect_in_doubt_there_are_no_shares() -> None:
    none = ARMS | {"alone": [14.5, 11, 16, 14, 13, 12]}
    parts = channels(plan(), rows(none), never)
    assert all(one.share is None for one in parts) and parts[0].found.difference is not None
    assert "there is no effect beyond doubt" in next(iter(sentences(parts)))


@pytest.mark.slow(25)
def test_a_planted_effect_of_two_channels_is_taken_apart(
    simcounsel: Command, tmp_path: Path
) -> None:
    """4 points by the counselor and 2 by the friend, each with 1.5 between clients."""
    text = (ROOT / "experiments" / "planted_channels.yaml").read_text("utf-8")
    text = text.replace("../", f"{ROOT}/").replace("repetitions: 2", "repetitions: 1")
    (tmp_path / "planted.yaml").write_text(text, encoding="utf-8")
    ended = simcounsel("sweep", tmp_path / "planted.yaml", "--out", "s", "--quiet")
    assert ended.code == 0, ended.out + ended.err
    assert simcounsel("report", "s", "--out", "r").code == 0
    parts = pd.read_csv("r/tables/channels.csv").set_index("of")
    assert parts.at["no-counselor", "low"] <= -4 <= parts.at["no-counselor", "high"] < 0
    assert parts.at["no-friend", "low"] <= -2 <= parts.at["no-friend", "high"] < 0
    assert abs(parts.at[REST, "estimate"]) < 0.6
    page = Path("r/report.html").read_text("utf-8")
    assert "By channel" in page and "mute:counselor" in page
