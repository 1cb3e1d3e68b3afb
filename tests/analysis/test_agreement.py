"""Agreement against published examples."""

from pathlib import Path

import pandas as pd
import pytest

from analysis.agreement import (
    NEEDED,
    agreements,
    cohen_kappa,
    fleiss_kappa,
    icc,
    krippendorff_alpha,
    read_ratings,
    spearman,
)
from analysis.errors import ReportError
from simcounsel.disk import csv_text
from simcounsel.studies.table import COLUMNS
from tests.each import each


def tidy(table: dict[str, list[float | None]]) -> pd.DataFrame:
    """Raters' values in the order of items."""
    return pd.DataFrame(
        [
            {"rater": rater, "item": f"i{n:02d}", "value": value}
            for rater, values in table.items()
            for n, value in enumerate(values)
        ]
    )


SHROUT = tidy(
    {
        "j1": [9, 6, 8, 7, 10, 6],
        "j2": [2, 1, 4, 1, 5, 2],
        "j3": [5, 3, 6, 2, 6, 4],
        "j4": [8, 2, 8, 6, 9, 7],
    }
)


def test_icc_of_shrout_and_fleiss() -> None:
    """Shrout and Fleiss 1979, table 4: ICC(1,1) .17, ICC(2,1) .29, ICC(3,1) .71, ICC(1,4) .44, ICC(2,4) .62, ICC(3,4) .91."""
    published = {
        "ICC(1,1)": 0.17,
        "ICC(A,1)": 0.29,
        "ICC(C,1)": 0.71,
        "ICC(1,k)": 0.44,
        "ICC(A,k)": 0.62,
        "ICC(C,k)": 0.91,
    }
    for kind, value in published.items():
        found = icc(SHROUT, kind)
        assert found.value == pytest.approx(value, abs=0.006)
    assert found.raters == 4 and found.items == 6
    assert (
        found.low is not None
        and found.high is not None
        and found.value is not None
        and found.low < found.value < found.high
    )


def test_cohens_kappa_by_hand() -> None:
    """20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: 0.7 seen, 0.5 by chance, so 0.4."""
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    found = cohen_kappa(
        tidy({"a": [float(a) for a, _ in pairs], "b": [float(b) for _, b in pairs]})
    )
    assert found.value == pytest.approx(0.4)
    assert "two" in (cohen_kappa(SHROUT).reason or "")


def test_fleiss_kappa_of_fleiss_style_counts() -> None:
    """Ten items by 14 raters: the worked example that textbooks use; kappa is .210."""
    counts = [
        (0, 0, 0, 0, 14),
        (0, 2, 6, 4, 2),
        (0, 0, 3, 5, 6),
        (0, 3, 9, 2, 0),
        (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0),
        (3, 2, 6, 3, 0),
        (2, 5, 3, 2, 2),
        (6, 5, 2, 1, 0),
        (0, 2, 2, 3, 7),
    ]
    rows = [
        [float(category) for category, count in enumerate(row) for _ in range(count)]
        for row in counts
    ]
    found = fleiss_kappa(tidy({f"r{n:02d}": [row[n] for row in rows] for n in range(14)}))
    assert found.value == pytest.approx(0.210, abs=0.0005)


def test_krippendorffs_alpha_with_missing_ratings() -> None:
    """Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C and E: nominal .743, interval .849, ordinal .815."""
    n = None
    data = tidy(
        {
            "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
            "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
            "C": [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
            "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
        }
    )
    assert krippendorff_alpha(data, "nominal").value == pytest.approx(0.743, abs=0.001)
    assert krippendorff_alpha(data, "interval").value == pytest.approx(0.849, abs=0.001)
    assert krippendorff_alpha(data, "ordinal").value == pytest.approx(0.815, abs=0.001)


def test_spearman_by_hand() -> None:
    """Ranks 1 2 3 4 5 against 2 1 4 3 5: 1 - 6 x 4 / (5 x 24) = 0.8. Several people count as their mean."""
    model = pd.Series([1.0, 2, 3, 4, 5], index=list("abcde"))
    people = pd.Series([2.0, 1, 4, 3, 5, 5], index=list("abcdee"))
    found = spearman(model, people)
    assert found.value == pytest.approx(0.8) and found.items == 5
    assert spearman(model[:2], people).reason and spearman(model * 0, people).reason


@each(
    "ratings",
    [
        tidy({"a": [1, 2, 3]}),
        tidy({"a": [3, 3, 3], "b": [3, 3, 3]}),
        tidy({"a": [1, None, None], "b": [None, 2, None]}),
        tidy({"a": [], "b": []}).reindex(columns=["rater", "item", "value"]),
    ],
)
def test_degenerate_ratings_give_none_and_a_reason(ratings: pd.DataFrame) -> None:
    for found in (
        icc(ratings),
        cohen_kappa(ratings),
        fleiss_kappa(ratings),
        krippendorff_alpha(ratings),
    ):
        assert found.value is None and found.reason


def test_the_csv_of_the_rating_pages(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    rows = [",".join(COLUMNS)]
    for rater, values in {
        "r1": (4, 2, 5, 1, 3, 3),
        "r2": (4, 3, 5, 1, 3, ""),
        "r3": (5, 2, 4, 2, 3, 4),
    }.items():
        rows += [
            f"{rater},item-{n},1,run{n},client_only,scripted,Ines,counselor,2:A+B,empathy,{value},5,,,,,"
            for n, value in enumerate(values)
        ]
    file.write_text("\n".join(rows), encoding="utf-8")
    table = read_ratings(file)
    assert table["value"].isna().sum() == 1
    said = ("=1+1", "- no difference", "'tis so", "plain", "'quoted'")
    rows = [["-r1", "item", "empathy", 4, comment] for comment in said]
    (tmp_path / "said.csv").write_text(csv_text([*NEEDED[:3], "value", "comment"], rows), "utf-8")
    read = read_ratings(tmp_path / "said.csv")
    assert tuple(read["comment"]) == said and set(read["rater"]) == {"-r1"}, "as raters wrote it"
    found = agreements(table).set_index("what")
    assert found.loc["ICC(A,1)", "items"] == 5
    assert 0.5 < found.loc["Krippendorff's alpha, ordinal", "value"] <= 1
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ReportError, match="no column rater"):
        read_ratings(tmp_path / "other.csv")
    with pytest.raises(ReportError, match="cannot be read"):
        read_ratings(tmp_path / "none.csv")
