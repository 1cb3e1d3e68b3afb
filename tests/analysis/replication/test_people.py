"""What people said of a replication: page and report say the same, and every arm counts."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from analysis.raters.comparing import by_arm, compared
from analysis.replication import simcounsel_people
from analysis.replication.published import published
from analysis.replication.tables import PaperRow, PaperTable, TableCell
from simcounsel.studies.instrument import load_instrument

ARMS = ("alone", "friend", "counselor")
CLIENTS = ("Ines", "Kofi", "Mei")
CHANGE, REALISM = (load_instrument(name).title for name in ("persona_change", "change_realism"))


def sample() -> Any:
    members = [
        SimpleNamespace(name=f"{client}-{arm}", arm=arm, clients=(client,))
        for client in CLIENTS
        for arm in ARMS
    ]
    return SimpleNamespace(members=members, arms=ARMS)


def planted() -> pd.DataFrame:
    """Three raters. Ines is the same in all arms, Kofi with the friend as alone; Mei never is."""
    rows = []
    texts = {
        "P1": ("Ines", "alone", "Ines-friend Ines-counselor", 4),
        "P2": ("Kofi", "alone", "Kofi-friend", 2),
        "P3": ("Kofi", "counselor", "", 5),
        "P4": ("Mei", "alone", "", 1),
        "P5": ("Mei", "friend", "", 2),
        "P6": ("Mei", "counselor", "", 3),
    }
    for rater in ("r1", "r2", "r3"):
        for item, (client, arm, also, value) in texts.items():
            common = {
                "rater": rater, "item": item, "person": client, "run": f"{client}-{arm}",
                "also_in": also, "points": 5, "chat": None,
            }  # fmt: skip
            rows.append(common | {"study": REALISM, "question": "realistic", "value": value})
            if client != "Ines":  # whose text did not change is not in the hidden study
                rows += [
                    common
                    | {"study": CHANGE, "question": one, "value": 6 - value, "toward_later": value}
                    for one in ("at_ease", "hopeful", "insight", "others")
                ]
    return pd.DataFrame(rows)


def test_another_study_stands_beside_by_row_and_column() -> None:
    rows = [("a", (1.0, 2.0)), ("b", (3.0, 4.0))]
    table = PaperTable(
        id="table_1",
        title="",
        columns=("x", "y"),
        rows=tuple(
            PaperRow(label=label, cells=tuple(TableCell(ours=one) for one in cells))
            for label, cells in rows
        ),
        source="",
    )
    other = pd.DataFrame({"row": ["b", "a", "c"], "column": ["x", "y", "x"], "ours": [7, None, 9]})
    found = [[cell.beside for cell in row.cells] for row in table.set_beside(other).rows]
    assert found == [[None, None], [7.0, None]]


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    """By id, the page's; under `people_means` what the report has."""
    rated, _ = by_arm(planted(), sample())
    report: Any = SimpleNamespace(tables={"people_ratings": rated}, sample=sample())
    made = simcounsel_people.tables(report, published("simcounsel"))
    return {one.id: one.frame() for one in made} | compared(rated, ARMS)


def test_an_unchanged_client_counts_in_every_arm(tables: dict[str, pd.DataFrame]) -> None:
    page = tables["table_7_people"].set_index(["row", "column"])
    found = {arm: page.loc[("Could a real person change so", arm), ["ours", "n"]] for arm in ARMS}
    assert found["alone"].tolist() == [pytest.approx((4 + 2 + 1) / 3), 3]
    assert found["friend"].tolist() == [pytest.approx((4 + 2 + 2) / 3), 3]
    assert found["counselor"].tolist() == [pytest.approx((4 + 5 + 3) / 3), 3]


def test_page_and_report_say_the_same(tables: dict[str, pd.DataFrame]) -> None:
    means = tables["people_means"]
    whole = means[means["of"] == "all clients"]
    page = tables["table_7_people"].set_index(["row", "column"])
    for arm in ARMS:
        report = whole[(whole["question"] == "realistic") & (whole["arm"] == arm)].iloc[0]
        cell = page.loc[("Could a real person change so", arm)]
        assert (cell["ours"], cell["n"]) == (pytest.approx(report["mean"]), report["units"])
        assert cell["low"] == pytest.approx(report["low"])
        changed = whole[(whole["study"] == CHANGE) & (whole["arm"] == arm)]
        cell = page.loc[("Change of the persona", arm)]
        assert cell["ours"] == pytest.approx(changed["mean"].mean()), "turned toward the later"


def test_pairs_have_a_table_of_their_own(tables: dict[str, pd.DataFrame]) -> None:
    pairs = tables["table_7_people_pairs"].set_index(["row", "column"])
    assert set(pairs.index.get_level_values("column")) == {"difference", "q"}
    cell = pairs.loc[("counselor − alone", "difference")]
    assert (cell["published"], cell["ours"]) == (1.13, pytest.approx(4 - 1.5))
    assert pairs.loc[("counselor − alone", "q"), "published"] == 8.88
    assert pairs.loc[("counselor − alone", "q"), "ours"] > 0


def test_table_7_by_client(tables: dict[str, pd.DataFrame]) -> None:
    each = tables["table_7_clients"].set_index(["row", "column"])
    assert each.loc[("paper, client 2: counselor − alone", "q"), "published"] == 4.94
    assert each.loc[("here, Mei: counselor − friend", "difference"), "ours"] == 1
    assert each.loc[("here, Kofi: friend − alone", "difference"), "ours"] == 0, "an equal text"
    assert "F(2, 27) = 4.65" in each.loc[("paper, client 1: friend − alone", "q"), "published_test"]


def test_without_ratings_the_page_says_what_to_do() -> None:
    report: Any = SimpleNamespace(tables={}, sample=sample())
    made = list(simcounsel_people.tables(report, published("simcounsel")))
    assert any("nobody has rated yet" in (one.missing or "") for one in made)
    assert all(one.rows for one in made), "the published numbers are there"


def test_the_published_q_follow_from_f_but_where_a_note_says_not() -> None:
    """Of raters in equal groups q = difference / sqrt(MSE / n), and MSE follows from F."""
    table = published("simcounsel").tables["table_7"]
    raters = {"client 1": 10, "client 2": 10, "client 3": 10}
    for client in table.clients:
        by = {(one.first, one.second): one for one in client.pairs}
        friend, counselor = (by[arm, "alone"].difference for arm in ("friend", "counselor"))
        means = pd.Series([0.0, friend, counselor])
        between = raters[client.name] * ((means - means.mean()) ** 2).sum() / 2
        f = float(client.test.split("= ")[1].split(",")[0])
        error = (between / f / raters[client.name]) ** 0.5
        off = [abs(one.difference / error - one.q) > 0.15 for one in client.pairs]
        assert any(off) == (client.name == "client 3"), (client.name, off)
    assert any("q of client 3 are copies" in note for note in table.notes)


def test_the_survey_is_of_the_people_that_its_means_fit() -> None:
    """A mean of whole numbers times its n is a whole number, up to the third decimal."""
    table = published("structure_matters").tables["table_2"]
    assert sum(table.n.values()) == 64

    def fits(arm: str, n: int) -> bool:
        means = [row[arm] for row in table.rows.values()]
        sums = [mean[0] * n for mean in means if isinstance(mean, tuple)]
        return all(abs(one - round(one)) <= 0.0005 * n + 1e-9 for one in sums)

    assert all(fits(arm, n) for arm, n in table.n.items())
    assert not fits("unguided", 21), "which is what the paper names"


def test_the_length_that_fits_the_ratio_is_the_one_given() -> None:
    rows = published("structure_matters").tables["table_3"].rows
    for arm, ratio in rows["ratio"].items():
        ours = rows["counselor_characters"][arm] / rows["client_characters"][arm]
        assert round(ours, 1) == ratio, arm
