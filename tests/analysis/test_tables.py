"""Tables say what the log says: nothing lost, nothing made up."""

import json
import shutil
from pathlib import Path

import pytest

from analysis import tables
from analysis.errors import ReportError
from analysis.finding import find
from simcounsel.engine.opening import begin_run
from simcounsel.errors import RunError
from simcounsel.events import SCHEMA_VERSION, Acted, RelationChanged, Said, Warned
from simcounsel.runs.call_chain import CallChain
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.specs.world_file import load_world
from tests.analysis.made import measure, plan, rewrite, scale_score
from tests.corpus.written import written
from tests.stage import TINY, go_on, happened, live, tiny


def test_activities_are_those_of_the_client(three_runs: Path) -> None:
    run = Run.open(three_runs / "client_counselor")
    table = tables.activities([run.folder])
    acted = [event for event in happened(run, Acted) if event.who == "Ines"]
    assert table["activity"].tolist() == [event.activity for event in acted]
    assert table["tick"].tolist() == list(range(12))
    assert set(table["client"]) == {"Ines"} and set(table["condition"]) == {"client_counselor"}
    felt = table.dropna(subset=["emotion"])
    assert felt["intensity"].between(1, 10).all()
    assert table[table["emotion"].isna()]["reason"].eq("nothing was felt yet").all()


def test_talk_has_every_line_with_role_and_move(three_runs: Path) -> None:
    run = Run.open(three_runs / "client_counselor")
    table = tables.talk([run.folder])
    said = happened(run, Said)
    assert table["text"].tolist() == [event.text for event in said]
    assert table["characters"].tolist() == [len(event.text) for event in said]
    assert set(table[table["speaker"] == "Miriam"]["role"]) == {"counselor"}
    assert table[table["role"] == "counselor"]["move"].notna().all()


def test_relations_and_warnings(three_runs: Path) -> None:
    folders = [three_runs / name for name in ("client_only", "client_counselor")]
    for name, kind in (("relations", RelationChanged), ("warnings", Warned)):
        expected = sum(len(happened(Run.open(folder), kind)) for folder in folders)
        assert len(getattr(tables, name)(folders)) == expected


def test_measurements_are_those_of_the_reader(planted_study: Path) -> None:
    run = Run.open(planted_study / "client_counselor-daniela")
    table = tables.measurements([run.folder])
    theirs = list(History.of(run).measurements())
    assert len(table) == len(theirs) == 2
    assert table["judge"].tolist() == [one.judge for one in theirs]
    assert table["value"].tolist() == [one.measured.scores[0].value for one in theirs]
    assert table["trial"].tolist() == [one.trial for one in theirs]
    assert table["items_used"].tolist() == [7, 7]


def test_a_missing_measurement_is_missing_with_its_reason(tmp_path: Path) -> None:
    run = live(tmp_path)
    measure(run, 3, scale_score(None, "baseline"))
    row = tables.measurements([run.folder]).iloc[0]
    assert row["value"] is None or row["value"] != row["value"]
    assert row["reason"] == "the answers could not be read"


def test_an_unknown_price_is_not_zero(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=2)
    file = run.folder / "calls.jsonl"
    lines = [*map(json.loads, file.read_text(encoding="utf-8").splitlines())]
    asked = next(at for at, line in enumerate(lines) if line["verb"] != "embed")
    lines[asked]["cost_usd"] = None
    file.write_bytes(b"".join(map(CallChain().line, lines)))
    table = tables.costs([run.folder])
    assert table["cost_usd"].isna().sum() == 1
    assert "price" in table[table["cost_usd"].isna()]["reason"].iloc[0]
    total = [call for call in run.calls() if call["verb"] != "embed"]
    assert table["calls"].sum() == len(total)
    assert table["tokens_in"].sum() == sum(call["tokens_in"] for call in total)


def test_empty_tables_have_their_columns() -> None:
    for name in (
        "activities",
        "talk",
        "measurements",
        "relations",
        "warnings",
        "costs",
        "personas",
    ):
        table = getattr(tables, name)([])
        assert len(table) == 0 and "run" in table


# the sample


def test_damaged_runs_are_refused_or_named(three_runs: Path, tmp_path: Path) -> None:
    for name in ("whole", "copy", "no_manifest", "bad_manifest", "no_events", "bad_line", "newer"):
        shutil.copytree(three_runs / "client_only", tmp_path / name)
    (tmp_path / "no_manifest" / "manifest.json").unlink()
    (tmp_path / "bad_manifest" / "manifest.json").write_text("{", encoding="utf-8")
    (tmp_path / "no_events" / "events.jsonl").unlink()
    events = (tmp_path / "bad_line" / "events.jsonl").read_text(encoding="utf-8")
    (tmp_path / "bad_line" / "events.jsonl").write_text("nonsense\n" + events, encoding="utf-8")
    text = (tmp_path / "newer" / "manifest.json").read_text(encoding="utf-8")
    (tmp_path / "newer" / "manifest.json").write_text(
        text.replace(f'"schema_version": {SCHEMA_VERSION}', '"schema_version": 99'),
        encoding="utf-8",
    )
    with pytest.raises(ReportError, match=r"bad_line/events.jsonl:1: this line .* with --damaged"):
        find([tmp_path])
    sample = find([tmp_path], damaged=True)
    assert [member.name for member in sample.members] == ["bad_line", "copy"]
    [damage] = sample.damages
    assert "bad_line/events.jsonl:1: this line cannot be read as an event" in damage
    why = {one.run: one.why for one in sample.excluded}
    assert set(why) == {"whole", "no_manifest", "bad_manifest", "no_events", "newer"}
    assert (
        "a copy" in why["whole"]
        and "manifest" in why["no_manifest"]
        and "cannot be read" in why["bad_manifest"]
    )
    assert "events.jsonl is missing" in why["no_events"] and "99" in why["newer"]


def test_a_synthesis_among_runs_is_named_as_one(three_runs: Path, tmp_path: Path) -> None:
    shutil.copytree(three_runs / "client_only", tmp_path / "lived")
    corpus = written(tmp_path, 1)
    sample = find([tmp_path])
    assert [member.name for member in sample.members] == ["lived"]
    [left_out] = sample.excluded
    assert left_out.run == corpus.name and "a synthesis: nobody lives in it" in left_out.why


def test_a_run_that_lived_nothing_and_one_cut_short(tmp_path: Path) -> None:
    from simcounsel.engine.opening import begin_run

    begin_run(tiny(), tmp_path, name="empty")
    go_on(begin_run(tiny(), tmp_path, name="short"), 4)
    sample = find([tmp_path])
    assert [(one.run, one.why) for one in sample.excluded if one.run == "empty"]
    assert sample.members[0].note == "ran 4 of 12 ticks"
    assert not find([tmp_path], finished_only=True).members


def test_forks_share_a_pair_and_their_stem_is_left_out(tmp_path: Path) -> None:
    from simcounsel.engine.forking import fork

    stem = live(tmp_path, tiny(condition="client_only"), 4)
    for condition in ("client_only", "client_counselor"):
        go_on(fork(stem, 4, {"condition": condition}, tmp_path))
    sample = find([tmp_path])
    assert [member.arm for member in sample.members] == ["client_counselor", "client_only"]
    assert {member.pair for member in sample.members} == {f"{stem.name}@4"}
    assert all(member.shared_past for member in sample.members)
    assert "common past of 2 forks" in sample.excluded[0].why


def test_a_plan_names_what_is_missing_and_what_is_beside_it(
    tmp_path: Path, three_runs: Path
) -> None:
    shutil.copytree(three_runs, tmp_path / "r")
    runs = [Run.open(tmp_path / "r" / name) for name in ("client_only", "client_counselor")]
    plan(
        tmp_path / "r",
        runs,
        [],
        lost=[
            {"run": "lost", "arm": "client_only", "client": "ines", "seed": 9, "pair": "ines-s9"}
        ],
    )
    sample = find([tmp_path / "r"])
    assert sample.arms == ("client_only", "client_counselor")
    assert {one.run: one.why.split(":")[0] for one in sample.excluded} == {
        "client_layperson": "not a run of the experiment's plan",
        "lost": "planned, but there is no such run",
    }
    assert sample.members[0].pair == "ines-s1" and not sample.members[0].shared_past


def test_an_unreadable_plan_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "experiment.json").write_text('{"hypotheses": [{"id": "x"}]}', encoding="utf-8")
    with pytest.raises(RunError, match=r"experiment\.json: not a sweep's plan \(hypotheses\.0"):
        find([tmp_path])
    with pytest.raises(ReportError, match="no such folder"):
        find([tmp_path / "nowhere"])


def test_nothing_to_report_on(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no run there"):
        find([tmp_path])


def test_odd_texts_go_through(tmp_path: Path) -> None:
    run = live(tmp_path, tiny(condition="client_counselor"))

    def odd(event: dict[str, object]) -> None:
        if event["kind"] == "said":
            event["text"] = "=1+1 <script>alert(1)</script> \x00 ‮ 🙂"

    rewrite(run, odd)
    assert set(tables.talk([run.folder])["text"]) == {"=1+1 <script>alert(1)</script> \x00 ‮ 🙂"}


def test_different_ways_of_counseling_are_arms(tmp_path: Path) -> None:
    """Six therapies are no one arm; with one way for all, the condition is."""
    told = {
        "a": "socratic",
        "b": {"name": "staged", "manual": "motivational"},
        "c": {"name": "staged", "manual": "insomnia_cbt"},
    }
    for name, policy in told.items():
        changes = {"condition": "client_counselor", "residents.Miriam.policy": policy}
        world = load_world(TINY, models=tiny().models.model_dump(), **changes)
        go_on(begin_run(world, tmp_path, name=name), ticks=1)
    arms = {member.name: member.arm for member in find([tmp_path]).members}
    assert arms == {"a": "socratic", "b": "staged, motivational", "c": "staged, insomnia_cbt"}
    alone = tiny(condition="client_only", residents__Miriam__policy="socratic")
    go_on(begin_run(alone, tmp_path, name="d"), ticks=1)
    arms = {member.name: member.arm for member in find([tmp_path]).members}
    assert arms["d"] == "client_only" and arms["a"] == "client_counselor, socratic"
    (only,) = find([tmp_path / "b"]).members
    assert only.arm == "client_counselor"
