"""Published studies done again, in small: from the command to the page, and its numbers by hand."""

import json
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import yaml

from analysis.finding import find
from analysis.reading import tidy
from analysis.replication import themes
from analysis.replication.__main__ import main
from analysis.replication.design import chosen, clients
from analysis.replication.published import published
from analysis.replication.simcounsel_tables import alliance, change, change_pairs
from analysis.replication.structure_tables import comments, messages
from analysis.replication.tables import PaperTable, means_of
from simcounsel.errors import SpecError
from simcounsel.events import Acted, ConversationStarted
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.specs.world_file import load_world
from simcounsel.studies.answers import Given, answer_of, append
from simcounsel.studies.study import Rater, open_study
from tests.commands import Command, in_process
from tests.stage import ROOT, SCRIPTED, happened, live


@pytest.fixture
def replicate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    monkeypatch.chdir(tmp_path)
    return in_process("replicate", main, monkeypatch, capsys)


def read(rater: Rater, item: str) -> dict[str, int]:
    """The check of attention that stands with an item, passed."""
    return {"attention": rater.checks[item]} if item in rater.checks else {}


def rate(folder: Path) -> None:
    """Every rater says 4 to everything."""
    study = open_study(folder)
    asked = {item.id: 4 for item in study.instrument.items}
    for rater in study.raters:
        append(
            folder,
            [
                answer_of(study, rater, Given(item=item, answers=asked | read(rater, item)))
                for item in rater.order
            ],
        )


def outcomes(values: dict[str, dict[str, list[float]]], instrument: str) -> pd.DataFrame:
    """By score and arm one value a client."""
    return pd.DataFrame(
        [
            {
                "run": f"{arm}-{at}",
                "arm": arm,
                "client": f"c{at}",
                "instrument": instrument,
                "score": score,
                "value": value,
            }
            for score, by_arm in values.items()
            for arm, several in by_arm.items()
            for at, value in enumerate(several)
        ]
    )


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_simcounsel_from_command_to_page(replicate: Command, tmp_path: Path) -> None:
    done = replicate(
        "simcounsel", "--model", "scripted", "--clients", 2, "--ticks", 12, "--out", "small",
        "--raters", 1, "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.out + done.err
    out = tmp_path / "small"
    page = (out / "replication.html").read_text(encoding="utf-8")
    text = (out / "replication.md").read_text(encoding="utf-8")
    for word in ("Table 5", "Table 6", "Table 7", "Figure 5", "Figure 6", "9.71", "What differs"):
        assert word in page and word in text
    assert "says nothing about counseling" in page and "<script" not in page
    runs = find([out / "runs"])
    assert len(runs.members) == 6 and runs.arms == ("alone", "friend", "counselor")
    table = pd.read_csv(out / "tables" / "table_5.csv").set_index(["row", "column"])
    _, read = tidy([out / "runs"])
    own = means_of(read["outcomes"], "session_alliance_observed", "relationship", ["friend"])
    ours = table.loc[("relationship", "friend"), "ours"]
    assert ours == pytest.approx(sum(own["friend"]) / len(own["friend"]))
    assert (out / "people" / "consistency" / "offline").is_dir()
    for name in ("recall", "consistency", "change", "realism"):
        rate(out / "people" / name)
    again = replicate(
        "simcounsel", "--model", "scripted", "--clients", 2, "--ticks", 12, "--out", "small",
        "--raters", 1, "--quiet",
    )  # fmt: skip
    assert again.code == 0, "started again it goes on"
    taken = pd.read_csv(out / "tables" / "figure_6.csv").set_index("row")["ours"]
    assert taken["Coherence of the client"] == 4, "what people said is taken in"
    recalled = pd.read_csv(out / "tables" / "table_6.csv")
    assert (recalled["ours"] == 4).all()
    realistic = pd.read_csv(out / "tables" / "table_7_people.csv").set_index("row")
    of_arms = realistic.loc["Could a real person change so"]
    assert of_arms["ours"].tolist() == [4, 4, 4] and of_arms["n"].tolist() == [2, 2, 2], (
        "nobody changed in so short a run, so an equal text is in every arm"
    )
    means = pd.read_csv(out / "report" / "tables" / "people_means.csv")
    told = means[(means["question"] == "realistic") & (means["of"] == "all clients")]
    assert told["mean"].tolist() == [4, 4, 4] and told["clients"].tolist() == [2, 2, 2]
    other = replicate("simcounsel", "--clients", 3, "--ticks", 12, "--out", "small", "--quiet")
    assert other.code != 0 and "another study was begun here" in other.err


def test_a_dry_run_writes_nothing(replicate: Command, tmp_path: Path) -> None:
    done = replicate("simcounsel", "--dry-run")
    assert done.code == 0 and "conditions   alone, friend, counselor" in done.out
    assert "power" in done.out and "requests" in done.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_design_meets_as_often_as_the_paper(tmp_path: Path) -> None:
    """55 conversations with the counselor and 66 with the layperson of three clients."""
    from importlib import resources

    text = resources.files("analysis.replication").joinpath("designs", "simcounsel.yaml")
    design = yaml.safe_load(text.read_text(encoding="utf-8"))
    held = {
        arm["name"]: sum(len(one["days"]) for one in arm["set"]["appointments"])
        for arm in design["conditions"]
    }
    assert held == {"alone": 0, "friend": 21, "counselor": 18}
    arm = next(arm for arm in design["conditions"] if arm["name"] == "friend")
    world = load_world(
        ROOT / "worlds" / "insomnia.yaml", models=SCRIPTED, **(arm["set"] | design["set"])
    )
    run = live(tmp_path, world, 200)
    assert len(happened(run, ConversationStarted)) == 21, "lived, not only agreed to"
    kinds = Counter(event.activity_kind for event in happened(run, Acted))
    assert kinds["social"] > 21 and "counseling" not in kinds


def test_table_5_by_hand() -> None:
    paper = published("simcounsel").tables["table_5"]
    values = {
        score: {"counselor": [9, 8, 9, 8, 9, 9, 8], "friend": [5, 5, 6, 4, 5, 6, 5]}
        for score in paper.rows
    }
    table = alliance(outcomes(values, "session_alliance_observed"), paper)
    first = table.rows[0]
    assert first.cells[0].published == 9.71 and first.cells[1].published == 5.87
    assert first.cells[0].ours == pytest.approx(60 / 7) and first.cells[0].n == 7
    assert "difference 3.43 [" in first.test
    assert "p = .062" in first.test, "2 of 2^7 patterns, four times by Holm"


def test_change_of_the_persona_by_hand() -> None:
    paper = published("simcounsel").tables["table_7"]
    values = {
        "total": {
            "alone": [3, 3, 3, 2, 3, 4],
            "friend": [3, 4, 3, 3, 3, 4],
            "counselor": [4, 5, 4, 4, 4, 5],
        }
    }
    table = change(outcomes(values, "persona_change"), paper)
    assert [cell.ours for cell in table.rows[0].cells] == pytest.approx([3, 10 / 3, 26 / 6])
    assert "F(" in table.rows[0].test and "eta²" in table.rows[0].test
    pairs = change_pairs(outcomes(values, "persona_change"), paper)
    assert [row.cells[0].published for row in pairs.rows] == [0.23, 1.13, 0.90]
    assert pairs.rows[1].cells[0].ours == pytest.approx(26 / 6 - 3)


def test_messages_by_hand() -> None:
    speakers = pd.DataFrame(
        [
            {"run": run, "arm": "staged", "role": role, "messages": n, "characters_per_message": c}
            for run, role, n, c in (
                ("a", "counselor", 10, 200.0),
                ("a", "client", 8, 50.0),
                ("b", "counselor", 6, 100.0),
                ("b", "client", 6, 50.0),
            )
        ]
    )
    rows = {
        row.label: row.cells[0]
        for row in messages(speakers, published("structure_matters").tables["table_3"]).rows
    }
    assert rows["Counselor's messages, in all"].ours == 16
    assert rows["Client's messages, in all"].ours == 14
    each = rows["Counselor's messages to each client"]
    assert (each.published, each.ours, each.n) == (20.9, 8, 2)
    assert rows["Characters of a counselor's message"].ours == 150
    assert rows["Length of messages, counselor to client"].ours == pytest.approx((4 + 2) / 2)


def test_themes_count_clients_and_wait_for_people(tmp_path: Path) -> None:
    said = (
        ("It felt like talking with a real person.", "The exercises were useful to me."),
        ("It felt like talking with a friend.", "The exercises were too long."),
        ("It felt like talking with somebody real.", "The exercises helped me sleep."),
        ("It felt like talking to a person, really.", "The exercises were easy."),
    )
    told = pd.DataFrame(
        [
            {"run": f"r{at}", "arm": "ab"[at % 2], "client": f"c{at}", "comment": " ".join(one)}
            for at, one in enumerate(said)
        ]
    )
    found, sentences = themes.find_themes(told, HashEmbeddings().embed_now)
    assert len(sentences) == 8 and sum(sum(t.clients.values()) for t in found) >= 4
    assert all(set(t.clients) <= {"a", "b"} for t in found)
    sheet = tmp_path / "themes.csv"
    themes.write_sheet(sentences, sheet)
    paper = published("structure_matters").tables["table_5"]
    assert "Nobody has checked" in comments(paper, found, sheet).notes[0]
    filled = pd.read_csv(sheet, dtype=str)
    filled["agree"] = ["yes", "no", "yes", *[None] * 5]
    filled.to_csv(sheet, index=False)
    themes.write_sheet(sentences, sheet)
    assert themes.checked(sheet) == (3, 2), "what people filled in stays"


@pytest.mark.parametrize("name", ["simcounsel", "structure_matters"])
def test_published_numbers_are_within_their_scales(name: str) -> None:
    paper = published(name)  # type: ignore[arg-type]
    for table in paper.tables.values():
        found = re.match(r"(\d+) to (\d+)", table.scale)
        for row in table.rows.values():
            for value in row.values():
                mean = value[0] if isinstance(value, tuple) else value
                if found:
                    assert float(found[1]) <= mean <= float(found[2])


def test_clients_are_those_of_the_study(tmp_path: Path) -> None:
    insomnia = chosen("simcounsel", None, [], tmp_path)
    assert len(insomnia) >= 6 and set(insomnia) == set(clients("insomnia"))
    many = chosen("structure_matters", 20, [], tmp_path)
    assert len(many) == 20 and chosen("structure_matters", 20, [], tmp_path) == many
    with pytest.raises(SpecError, match="holds 20 clients of an earlier start"):
        chosen("structure_matters", 21, [], tmp_path)


def test_a_table_as_rows() -> None:
    table = PaperTable(id="t", title="T", columns=("a",), rows=(), source="s")
    assert len(table.frame()) == 0 and json.dumps(table.id)
