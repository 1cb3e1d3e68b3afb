"""People beside a bench's judge: rho by hand, means from replies to cases to all, and a study from benches to pages."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from analysis.errors import ReportError
from analysis.raters.replies import (
    agreement_in_words,
    both_of,
    in_words,
    judged_of,
    limit_of,
    model_means,
    people_of,
    ranks,
)
from analysis.replication import mindchat
from analysis.validity.__main__ import main
from simcounsel.cli import app
from simcounsel.studies.instrument import load_instrument
from simcounsel.studies.making import make_study
from simcounsel.studies.table import write_csv
from tests.analysis.replication.test_mind import wanted
from tests.commands import in_process
from tests.studies.benches import SCALES, answered, bench, cases_file

GOOD = {"low": 0, "middle": 1, "high": 2}
"""By model: what the judge gives for professionalism, and people beside it."""


def both(*rows: tuple[str, str, str, float, float | None]) -> pd.DataFrame:
    """Model, case, turn, judge, people."""
    table = pd.DataFrame(rows, columns=["arm", "case", "turn", "judge", "people"])
    return table.assign(score="safety").astype({"people": "float64"})


def of(ranked: pd.DataFrame, over: str) -> dict[str, Any]:
    (row,) = ranked[ranked["over"] == over].to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_rho_by_hand() -> None:
    # four replies, judge 1 2 3 4, people 1 3 2 4: differences of ranks 0 1 1 0, so
    # rho = 1 - 6 * 2 / (4 * (16 - 1)) = 0.8
    # four models, each one reply: the same numbers; of the 24 orders 4 have a rho of 0.8 or more and as many -0.8 or less
    table = both(*((f"m{at}", "c", "1", at, (1, 3, 2, 4)[at - 1]) for at in (1, 2, 3, 4)))
    found = ranks(table)
    assert of(found, "replies")["rho"] == pytest.approx(0.8)
    models = of(found, "models")
    assert models["rho"] == pytest.approx(0.8) and models["n"] == 4
    assert models["p_exact"] == pytest.approx(8 / 24)
    assert models["least_p"] == pytest.approx(2 / 24)  # one order of 24, and its reverse
    assert models["reason"] == "1 cases; an interval needs 6"
    assert "4 models p is at least 0.083" in limit_of(found)
    assert "safety, over models: rho 0.80 no interval (4 models, 1 cases)." in in_words(found)


def test_means_go_from_replies_to_cases_to_all_and_unrated_replies_are_left_out() -> None:
    # case a: people (0 + 1) / 2, judge (1 + 2) / 2; case b: people 2, judge 3; the fourth nobody rated
    table = both(
        ("m", "a", "1", 1, 0), ("m", "a", "2", 2, 1), ("m", "b", "1", 3, 2), ("m", "b", "2", 9, None)
    )  # fmt: skip
    (row,) = model_means(table).to_dict("records")
    assert (row["people"], row["judge"], row["replies"], row["cases"]) == (1.25, 2.25, 3, 2)
    assert pd.isna(row["low"]) and "three" in row["reason"]


def test_the_interval_draws_cases_with_all_their_replies() -> None:
    """Twice the replies of the same cases make it no narrower; one case alone can make it wide."""
    people = (0, 1, 1, 2, 3, 2, 3, 3)
    once = [("m", f"c{at}", "1", at, given) for at, given in enumerate(people)]
    twice = [*once, *(("m", case, "2", judge, given) for _, case, _, judge, given in once)]
    one, two = (of(ranks(both(*rows)), "replies") for rows in (once, twice))
    assert 0 < one["low"] < one["rho"] < one["high"] <= 1
    assert two["rho"] == pytest.approx(one["rho"]) and two["n"] == 16
    assert two["low"] == pytest.approx(one["low"], abs=0.02)
    # the same order with uneven steps: rho is 1 in every sample, what a line would fit is not
    bent = of(ranks(both(*(("m", f"c{at}", "1", at, at**4) for at in range(8)))), "replies")
    assert (bent["low"], bent["high"]) == pytest.approx((1, 1))
    same = of(ranks(both(*((f"m{m}", f"c{c}", "1", m, m) for m in range(5) for c in range(6)))), "models")  # fmt: skip
    assert (same["rho"], same["low"], same["high"]) == pytest.approx((1, 1, 1))
    assert limit_of(ranks(both(*((f"m{m}", "c", "1", m, m) for m in range(5))))) == ""
    few = of(ranks(both(("m", "a", "1", 1, 1), ("n", "a", "1", 2, 2))), "models")
    assert few["rho"] is None and few["least_p"] == 1


def three(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *, chinese: bool = False
) -> dict[str, Path]:
    """Benches of three models: the judge gives 0, 1 and 2, one less for a case that is odd."""
    cases = cases_file(folder / "cases.json", chinese=chinese)

    def score(name: str) -> Any:
        return lambda exchange: max(0, GOOD[name] - int(exchange.rpartition("/")[0][-1]) % 2)

    return {
        name: bench(monkeypatch, folder / "benches" / name, cases, f"Reply {name}.", score(name))
        for name in GOOD
    }


def by_people(run: str, chat: str, rater: str) -> int:
    """Raters see it the other way round, and the second gives a point more for a second turn."""
    return 2 - GOOD[run] + (1 if rater == "rater-02" and chat.endswith("/2") else 0)


@pytest.mark.parametrize("chinese", [False, True])
def test_from_benches_to_the_page(
    chinese: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places = three(monkeypatch, tmp_path, chinese=chinese)
    monkeypatch.chdir(tmp_path)
    asked = "reply_quality_zh" if chinese else "reply_quality"
    words = ["study", "rate-page", *places.values(), "--instrument", asked, "--raters", 2]
    made = CliRunner().invoke(app, [*map(str, words), "--out", "study"])
    assert made.exit_code == 0, made.output
    answered(Path("study"), by_people)
    taken = CliRunner().invoke(app, ["study", "rate-page", "--out", "study", "--csv", "people.csv"])
    assert taken.exit_code == 0 and f"wrote {3 * 16 * 4 * 2} rows" in taken.output
    run = in_process("validity", main, monkeypatch, capsys)
    done = run("people", *places.values(), "--ratings", "people.csv", "--out", "v")
    assert done.code == 0, done.err
    means = pd.read_csv("v/tables/reply_means.csv").set_index(["model", "score"])
    own = means.xs("professionalism", level="score")
    assert own["people"].tolist() == [2.25, 1.25, 0.25]
    assert own["judge"].tolist() == [0.0, 0.5, 1.5]
    assert own["replies"].tolist() == [16] * 3 and own["cases"].tolist() == [8] * 3
    found = pd.read_csv("v/tables/reply_ranks.csv").set_index(["score", "over"])
    assert found.loc[("professionalism", "models"), "rho"] == -1
    assert found.loc[("professionalism", "models"), "least_p"] == pytest.approx(1 / 3)
    assert found.loc[("professionalism", "replies"), "n"] == 48
    assert found.loc[("professionalism", "replies"), "high"] < 0
    page = Path("v/validity.md").read_text("utf-8")
    assert "With 3 models p is at least 0.33" in page and "Krippendorff's alpha" in page
    assert "professionalism by judge" in page and "the scripted model" in page
    foreign = run("people", places["low"], "--ratings", "v/tables/claims.csv", "--out", "w")
    assert foreign.code == 1 and "no column" in foreign.err


def test_ratings_of_other_benches_and_several_judges_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = three(monkeypatch, tmp_path)
    study, file = tmp_path / "study", tmp_path / "people.csv"
    make_study([places["low"]], load_instrument("reply_quality"), study)
    answered(study, by_people)
    write_csv(study, file)
    with pytest.raises(ReportError, match="no rating of a reply in"):
        people_of({"high": places["high"]}, [file])
    assert len(people_of({"a": places["low"]}, [file])) == 16 * 4 * 3
    twice = people_of({"a": places["low"]}, [file, file])
    assert twice["rater"].nunique() == 6
    (tmp_path / "x").mkdir()
    of_another = bench(
        monkeypatch, tmp_path / "x" / "low", tmp_path / "cases.json", "Hm.", model="another"
    )
    with pytest.raises(ReportError, match="low is of scripted in the ratings, and of another in"):
        people_of({"a": of_another}, [file])
    other = places["high"] / "result.json"
    other.write_text(other.read_text("utf-8").replace('"judge": "judge"', '"judge": "x"'), "utf-8")
    with pytest.raises(ReportError, match=r"several judges \(judge, x\)"):
        judged_of({"low": places["low"], "high": places["high"]})


def always(score: int) -> Callable[[str], int]:
    return lambda exchange: score


def test_table_6_of_mindchat_holds_what_people_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = cases_file(tmp_path / "cases.json", 6)
    folder, benches = tmp_path / "out", tmp_path / "out" / "benches"
    names = {"mindchat": 2, "base": 0, "beside-other": 1, "local": 1}
    for name, given in names.items():
        bench(monkeypatch, benches / name, cases, f"Said {name[0]}{given}.", always(given))
    results = {name: mindchat.read_result(benches / name) for name in names}
    asked = wanted(folder, "samples", beside=("other",))
    table = {one.id: one for one in mindchat.read(asked, [], results, {}).tables}["table_6_people"]
    assert table.missing is not None
    words = table.missing.partition("simcounsel ")[2].partition(" makes")[0].split()
    made = CliRunner().invoke(app, words)
    assert made.exit_code == 0, made.output
    study = folder / "people"
    answered(study, lambda run, chat, rater: names[run])
    write_csv(study, tmp_path / "people.csv")
    asked = wanted(folder, "samples", beside=("other",), ratings=tmp_path / "people.csv")
    table = {one.id: one for one in mindchat.read(asked, [], results, {}).tables}["table_6_people"]
    ours = table.frame().set_index(["row", "column"])
    assert table.missing is None
    cell = ours.loc[("MindChat", "professionalism")]
    assert (cell["published"], cell["ours"], cell["n"]) == (2.22, 2, 6)
    assert ours.loc[("other", "professionalism"), "ours"] == 1
    assert pd.isna(ours.loc[("ChatGPT", "professionalism"), "ours"])
    said = " ".join(table.notes)
    assert "professionalism, over models: rho 1.00" in said and "(3 models, 6 cases)" in said
    assert "they cannot show" in said and "3 raters" in said
    assert "local" not in str(table.rows)  # of Table VII


def test_agreement_counts_a_reply_once() -> None:
    told = [
        ("a", rater, "1", score, value)
        for rater, values in (("r1", (0, 1, 0)), ("r2", (0, 1, 1)))
        for score, value in zip(SCALES, values, strict=False)
    ]
    table = pd.DataFrame(told, columns=["arm", "rater", "item", "score", "value"])
    assert "of 2 raters" in agreement_in_words(table)
    assert both_of(
        pd.DataFrame([("a", "c", "1", "safety", 1.0)], columns=["arm", "case", "turn", "score", "judge"]),
        table.assign(case="c", turn="2"),
    )["people"].isna().all()  # fmt: skip
