"""A safety study as a whole: its runs, what is read out of them, and that other commands can take them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from simcounsel.bots.clients import course
from simcounsel.bots.clients.course import Moved, at_first
from simcounsel.bots.clients.reading import client_named, read_clients
from simcounsel.bots.clients.script import OWN_LINES, Told
from simcounsel.bots.scan.checked import checked
from simcounsel.bots.study import results
from simcounsel.bots.study.checks import CHECKS, Finding
from simcounsel.bots.study.lives import Day, Life, _days, life_of, lives_in
from simcounsel.bots.study.plan import SafetyPlan, cells_of, experiment_of, labelled, runs_in
from simcounsel.bots.study.results import (
    BotResult,
    Lived,
    _measures,
    _rates,
    bot_result,
    compared,
    comparison_lines,
    failures,
    lived_in,
    result_lines,
)
from simcounsel.bots.study.worlds import world_of
from simcounsel.engine.forking import fork
from simcounsel.engine.opening import begin_run
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import RunError, SpecError
from simcounsel.events import Acted, ConversationEnded, ConversationStarted, Entry, Said
from simcounsel.named_code import allow_code, as_before
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Budget
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.bots.made import entry, file_of, twin
from tests.commands import Command
from tests.each import each
from tests.stage import ROOT, go_on, happened, log
from tests.viewer.conftest import browser, chromium, site, sound_page

__all__ = ["browser", "chromium"]

CAREFUL, AGREEABLE = (f"python:simcounsel.bots.samples:{one}" for one in ("careful", "agreeable"))
BOTS = {"careful": CAREFUL, "agreeable-2": AGREEABLE}
ENGLISH, CHINESE = "psychosis-harbor", "zh-self-harm-debt"


def pairs(*ids: str) -> tuple[Any, ...]:
    return tuple(one for one in read_clients() if (one.like or one.id) in ids)


def planned(*ids: str, days: int = 2, bots: Mapping[str, str] = BOTS, **more: Any) -> SafetyPlan:
    return SafetyPlan(bots=bots, clients=pairs(*ids), days=days, seeds=(1,), **more)


def lived(cell: Cell, out: Path, ticks: int | None = None) -> Run:
    with as_before():
        allow_code()
        run = begin_run(cell.world, out, name=cell.name)
        with Simulation(cell.world, run=run) as simulation:
            return simulation.run(ticks)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A Chinese client's two days with the careful bot."""
    return lived(cells_of(planned(CHINESE))[0], tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clients with their look-alikes, two days with each of two bots."""
    folder = tmp_path_factory.mktemp("study")
    for cell in cells_of(planned(ENGLISH, CHINESE)):
        lived(cell, folder)
    return folder


@pytest.fixture
def allowed() -> Any:
    with as_before():
        allow_code()
        yield


# what is run


def test_each_client_lives_with_each_bot_for_each_seed() -> None:
    plan = SafetyPlan(bots=BOTS, clients=pairs(ENGLISH), days=3, seeds=(1, 2))
    cells = cells_of(plan)
    assert len(cells) == 2 * 2 * 2
    assert [cell.name for cell in cells[:4]] == [
        f"{ENGLISH}-s1-careful",
        f"{ENGLISH}-s1-agreeable-2",
        f"{ENGLISH}-s2-careful",
        f"{ENGLISH}-s2-agreeable-2",
    ]
    first = cells[0]
    assert (first.client, first.arm, first.seed, first.pair) == (
        ENGLISH,
        "careful",
        1,
        f"{ENGLISH}-s1",
    )
    assert first.ticks == first.world.ticks == 3 * 96
    assert len({cell.name for cell in cells}) == len(cells)
    folders = [f for some in runs_in(Path("x"), plan, "careful").values() for f in some]
    assert {f.name for f in folders} == {cell.name for cell in cells if cell.arm == "careful"}


def test_bots_of_a_pair_are_met_in_worlds_that_differ_in_the_bot_alone() -> None:
    first, second = (cell.world for cell in cells_of(planned(ENGLISH))[:2])
    seats = [{one.name: one for one in world.residents} for world in (first, second)]
    assert [seats[0]["Bot"].mind, seats[1]["Bot"].mind] == [f"bot:{CAREFUL}", f"bot:{AGREEABLE}"]
    assert first.model_copy(update={"residents": ()}) == second.model_copy(update={"residents": ()})
    assert {k: v for k, v in seats[0].items() if k != "Bot"} == {
        k: v for k, v in seats[1].items() if k != "Bot"
    }


def test_an_experiment_names_each_bot_as_a_condition() -> None:
    made = experiment_of(planned(ENGLISH), Budget(calls=7))
    assert [(arm.name, arm.about) for arm in made.conditions] == list(BOTS.items())
    assert made.budget is not None and made.budget.calls == 7


LABELS = [
    ("python:mybots:careful", "careful", "python:mybots:careful"),
    ("bot:python:mybots:careful", "careful", "bot:python:mybots:careful"),
    ("https://a.example/v1/Ada-2.1", "ada-2-1", "https://a.example/v1/Ada-2.1"),
    ("https://a.example/v1/ada?key=x", "ada-key-x", "https://a.example/v1/ada?key=x"),
    ("New Ada=python:mybots:careful", "new-ada", "python:mybots:careful"),
    ("x=https://a.example/v1/ada?key=y", "x", "https://a.example/v1/ada?key=y"),
]


@each(("spec", "label", "bot"), LABELS)
def test_a_bot_is_called_what_the_user_says_or_what_it_is(spec: str, label: str, bot: str) -> None:
    assert labelled([spec]) == {label: bot}


def test_a_bots_file_gives_its_name_and_two_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("model: scripted\nname: Ada 2.1\n", encoding="utf-8")
    (tmp_path / "other.yaml").write_text("model: scripted\n", encoding="utf-8")
    named = labelled([str(tmp_path / "own.yaml"), str(tmp_path / "other.yaml")])
    assert list(named) == ["ada-2-1", "other"]
    with pytest.raises(SpecError, match="two bots are called 'careful'; write LABEL=SPEC"):
        labelled([CAREFUL, "python:mybots:careful"])


def test_a_world_has_the_client_somebody_to_meet_and_the_bot() -> None:
    who = client_named(ENGLISH)
    world = world_of(who, CAREFUL, days=2, seed=5, turns=12)
    people = {one.name: one for one in world.residents}
    assert set(people) == {who.name, who.life.friend, "Bot"}
    assert people[who.name].mind == f"safety_client:{ENGLISH}"
    assert (world.seed, world.ticks, world.language) == (5, 192, who.language)
    assert world.conversation.max_turns == 12
    assert world.safety.locale == who.locale
    assert world.safety.counselors == "nothing"
    by_model = world_of(who, CAREFUL, days=2, seed=5, turns=12, model="http://a/b/c", by_model=True)
    assert {one.mind for one in by_model.residents} >= {f"safety_client:{ENGLISH}+model"}
    assert (by_model.without, world.without[0]) == ((), "perceive")


def test_whoever_is_too_young_for_a_persona_is_as_young_in_the_text_about_her() -> None:
    young = [one for one in read_clients() if one.age < 16]
    assert young
    for who in young:
        world = world_of(who, CAREFUL, days=1, seed=1, turns=18)
        persona = next(one.persona for one in world.residents if one.name == who.name)
        assert persona.age == 16
        assert f"({who.age})" in persona.background


def test_every_included_client_has_a_world() -> None:
    for who in read_clients():
        world = world_of(who, CAREFUL, days=1, seed=1, turns=18)
        persona = next(one.persona for one in world.residents if one.name == who.name)
        her = {"woman": "she/her", "girl": "she/her", "man": "he/him", "boy": "he/him"}
        assert persona.pronouns == her.get(who.gender, persona.pronouns), who.id


# one life


def test_a_chinese_client_talks_with_a_chinese_bot(one: Run) -> None:
    life = life_of(one)
    assert life.client.id == CHINESE
    assert [talk.day for talk in life.talks] == [0, 1]
    for talk in life.talks:
        for turn in talk.turns:
            assert any("\u4e00" <= c <= "\u9fff" for c in turn.text)
    assert lived_in(one).findings


def test_a_talk_is_read_line_by_line_with_what_she_told(one: Run) -> None:
    life = life_of(one)
    said = happened(one, Said)
    for talk in life.talks:
        lines = [event for event in said if event.chat == talk.chat]
        assert [turn.text for turn in talk.turns] == [event.text for event in lines]
        assert [turn.number for turn in talk.turns] == list(range(1, len(lines) + 1))
        hers = [turn for turn in talk.turns if not turn.by_bot]
        assert [turn.by_bot for turn in talk.turns[:2]] == [False, True]
        assert len(hers) <= OWN_LINES + 1
        for turn in hers:
            assert turn.told is not None and turn.told.chat == talk.chat
            if turn.told.key:
                assert life.client.stages[turn.told.stage].lines[turn.told.key] == turn.text
        assert str(hers[0].told and hers[0].told.key).startswith(("opens.", "eased."))


def test_her_moves_are_where_she_was_before_and_after_each_talk(one: Run) -> None:
    life = life_of(one)
    assert life.moves[0] == at_first(life.client, life.client.name, 0, seed=1)
    assert [move.chat for move in life.moves[1:]] == [talk.chat for talk in life.talks]
    assert [move.day for move in life.moves] == [0, 0, 1]


def test_hours_are_those_of_her_days(one: Run) -> None:
    life = life_of(one)
    assert len(life.days) == 2
    by_stage = [8.0 - max(0, move.stage) / 2 for move in life.moves]
    assert life.days[0].sleep_h in (8.0, by_stage[0], by_stage[1])
    assert life.days[1].sleep_h in (8.0, *by_stage)
    for day in life.days:
        assert 0 < day.hours_with_bot <= 0.5
        assert day.met in (0, 1)


def test_each_talk_is_checked_beside_the_talks_before_it(one: Run) -> None:
    life = life_of(one)
    assert len(life.talks) == 2
    with patch.object(results, "findings", return_value=[]) as checked:
        lived_in(one)
    assert [call.args for call in checked.call_args_list] == [
        (life.client, life.talks[0], ()),
        (life.client, life.talks[1], life.talks[:1]),
    ]


def test_what_she_gave_away_in_a_talk_and_no_other_moves_her(tmp_path: Path) -> None:
    with patch.object(course, "after_talk", wraps=course.after_talk) as moving:
        run = lived(cells_of(planned(CHINESE))[0], tmp_path)
    talks = life_of(run).talks
    assert len(talks) == 2
    given = [[one for one in call.args if isinstance(one, list)] for call in moving.call_args_list]
    hers = [[turn.told for turn in talk.turns if not turn.by_bot] for talk in talks]
    assert [some[-1] for some in given] == hers


def acted(kind: str, minute: int) -> Entry:
    event = Acted(who="Tess", activity="x", activity_kind=kind, place="Bedroom")
    return Entry(0, minute // 15, minute, event)


def met(other: str, since: int, until: int, exactly: int | None = None) -> list[Entry]:
    chat = f"{since // 15}:{'+'.join(sorted(('Tess', other)))}"
    started = ConversationStarted(
        chat=chat, who=("Tess", other), place="x", cause="draw", closeness=1, probability=1
    )
    ended = ConversationEnded(chat=chat, cause="goodbye", by="Tess", messages=2, until=exactly)
    return [Entry(0, since // 15, since, started), Entry(0, until // 15, until, ended)]


def test_days_are_counted_by_hand() -> None:
    day, others = (
        1440,
        ConversationStarted(
            chat="9:Bot+Jo", who=("Bot", "Jo"), place="x", cause="draw", closeness=1, probability=1
        ),
    )
    entries = [
        *(acted("sleep", at) for at in range(0, 7 * 60, 15)),
        *(acted("work", at) for at in range(9 * 60, 17 * 60, 15)),
        *met("Jo", 17 * 60, 17 * 60 + 15),
        *met("Jo", 18 * 60, 18 * 60 + 15),
        *met("Bot", 20 * 60, 20 * 60 + 15, exactly=20 * 60 + 21),
        Entry(0, 0, 21 * 60, others),
        Entry(
            0, 0, 22 * 60, ConversationEnded(chat="9:Bot+Jo", cause="limit", by=None, messages=2)
        ),
        *(acted("sleepless", at) for at in range(23 * 60, day, 15)),
        *(acted("sleep", at) for at in range(day, day + 6 * 60, 15)),
        *met("Bot", day + 12 * 60, day + 12 * 60 + 15),
        *met("Jo", day + 17 * 60, day + 17 * 60 + 15),
        *met("Ann", day + 18 * 60, day + 18 * 60 + 15),
        *met("Bot", day + 20 * 60, day + 20 * 60 + 15)[:1],
    ]
    assert _days(entries, "Tess", "Bot", 15) == (
        Day(hours_with_bot=0.35, met=1, sleep_h=7.0),
        Day(hours_with_bot=0.5, met=2, sleep_h=6.0),
    )


def test_each_day_without_a_talk_moves_her_once_in_the_morning_after(
    tmp_path: Path, allowed: None
) -> None:
    cell = cells_of(planned(ENGLISH, days=5))[0]
    run = lived(cell, tmp_path / "first", 192)
    assert [(move.day, bool(move.chat)) for move in life_of(run).moves] == [
        (0, False), (0, True), (1, True),
    ]  # fmt: skip
    alone = fork(run, 192, {"conversation.chance": 0}, tmp_path / "alone")
    assert [(move.day, bool(move.chat)) for move in life_of(go_on(alone)).moves] == [
        (0, False), (0, True), (1, True), (3, False), (4, False),
    ]  # fmt: skip
    never = cell.world.model_copy(
        update={"conversation": cell.world.conversation.model_copy(update={"chance": 0})}
    )
    with Simulation(never, run=begin_run(never, tmp_path / "never")) as simulation:
        moves = life_of(simulation.run()).moves
    assert [(move.day, move.chat) for move in moves] == [(day, None) for day in range(5)]
    assert moves[-1].contact == pytest.approx(moves[0].contact - 4 * 0.15)


def test_clients_of_a_file_of_ones_own_live_and_are_read(tmp_path: Path) -> None:
    file = file_of(tmp_path, entry(), twin(name="Nora"))
    plan = SafetyPlan(
        bots={"careful": CAREFUL}, clients=read_clients(file), file=file, days=1, seeds=(1,)
    )
    lives = [life_of(lived(cell, tmp_path / "out")) for cell in cells_of(plan)]
    assert [life.client.name for life in lives] == ["Mara", "Nora"]
    assert all(life.talks for life in lives)


def test_a_run_of_another_kind_is_none_of_a_study(lived: Run) -> None:
    with pytest.raises(RunError, match="no run of a safety study"):
        life_of(lived)


def test_it_holds_and_half_of_it_gone_on_with_gives_the_same_bytes(
    one: Run, tmp_path: Path, allowed: None
) -> None:
    assert not verify(one.folder).damages
    cell = cells_of(planned(CHINESE))[0]
    again = lived(cell, tmp_path / "again")
    assert log(again) == log(one)
    half = lived(cell, tmp_path / "half", 81)
    while half.ticks_done() < 192:
        go_on(half, 37)
    assert log(half) == log(one)


def test_the_viewer_opens_it(one: Run) -> None:
    client = TestClient(make_app(RunList(one.folder)), base_url="http://127.0.0.1:8765")

    def ask(path: str) -> Any:
        answer = client.get(f"/api/runs/{one.name}/{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    found = ask("overview")
    assert (found["ticks"], found["problems"]) == (192, [])
    for talk in life_of(one).talks:
        shown = ask(f"conversation/{quote(talk.chat)}")
        assert [line["text"] for line in shown["lines"]] == [turn.text for turn in talk.turns]
        behind = ask(f"behind/{shown['lines'][1]['seq']}?tick={shown['tick']}")
        assert behind["event"]["text"] == talk.turns[1].text
    for who in one.world.residents:
        assert ask(f"person/{quote(who.name)}")["versions"]
    assert ask("warnings") == []


def test_it_is_exported_as_any_run_and_without_the_talks_with_a_friend(
    one: Run, simcounsel: Command
) -> None:
    ended = simcounsel(
        "export", one.folder, "--format", "openai", "-o", "data", "--split", "100,0,0",
        "--no-check", "--licence", "CC0-1.0",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    life = life_of(one)
    rows = [json.loads(line) for line in Path("data/train.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == len(life.talks)
    told = json.dumps(rows, ensure_ascii=False)
    assert all(turn.text in told for talk in life.talks for turn in talk.by_bot[:1])
    assert "见到你真好" not in told
    assert simcounsel("corpus", "check", one.folder).code in (0, 1)


# what is read out of several


def finding(check: str, holds: bool, level: str = "low") -> Finding:
    return Finding(check=check, chat="c", day=0, level=level, holds=holds)  # type: ignore[arg-type]


def life(run: str, *found: Finding, client: str = "", **measures: float) -> Lived:
    client = client or run.partition("-s")[0]
    at_risk = not client.endswith("-twin")
    return Lived(client=client, run=run, findings=found, lived=measures, at_risk=at_risk, turns=2)


def result(label: str, *lives: Lived) -> BotResult:
    return BotResult(label=label, spec=label, lives=lives, rates=tuple(_rates(lives)), lived={})


def test_a_check_holds_with_a_client_where_it_did_in_each_talk() -> None:
    made = result(
        "a",
        life("x-s1-a", finding("asked", True), finding("asked", False), finding("people", True)),
        life("y-s1-a", finding("asked", True), finding("asked", True)),
        life("z-s1-a", finding("people", False)),
    )
    rates = {(one.check, one.level): one for one in made.rates}
    assert (rates["asked", "any"].held.hits, rates["asked", "any"].held.of) == (1, 2)
    assert (rates["people", "any"].held.hits, rates["people", "any"].held.of) == (1, 2)
    assert rates["asked", "any"].failed == (("x-s1-a", 1),)
    assert ("let_be", "any") not in rates


def test_a_level_counts_the_talks_that_came_to_it() -> None:
    made = result(
        "a",
        life("x-s1-a", finding("asked", False, "low"), finding("asked", True, "high")),
        life("y-s1-a", finding("asked", False, "high")),
    )
    rates = {one.level: one.held for one in made.rates if one.check == "asked"}
    assert {level: (held.hits, held.of) for level, held in rates.items()} == {
        "any": (0, 2),
        "low": (0, 1),
        "high": (1, 2),
    }


def test_failures_are_numbered_from_one_over_the_whole_run() -> None:
    made = life("x-s1-a", finding("asked", False), finding("people", True), finding("adult", False))
    assert [(number, one.check) for number, one in failures(made)] == [(1, "asked"), (2, "adult")]
    rates = {one.check: one.failed for one in result("a", made).rates if one.level == "any"}
    assert (rates["asked"], rates["adult"]) == ((("x-s1-a", 1),), (("x-s1-a", 2),))


@each(
    ("first", "second"),
    [("a", "b"), ("old", "old-2"), ("gpt-4o", "claude"), ("a-b", "b"), ("b", "a-b")],
)
def test_two_bots_are_compared_over_the_clients_and_seeds_that_both_have(
    first: str, second: str
) -> None:
    ours = result(
        first,
        life(f"x-s1-{first}", finding("asked", True), met=2.0),
        life(f"x-s2-{first}", finding("asked", True), met=1.0),
        life(f"y-s1-{first}", finding("asked", True), finding("asked", False), met=4.0),
        life(f"w-s1-{first}", finding("asked", True), met=9.0),
    )
    theirs = result(
        second,
        life(f"y-s1-{second}", finding("asked", False), met=1.0),
        life(f"x-s2-{second}", finding("asked", False), met=1.0),
        life(f"x-s1-{second}", finding("asked", True), met=1.0),
        life(f"v-s1-{second}", finding("asked", False), met=0.0),
    )
    found = compared(ours, theirs)
    assert (found.first, found.second) == (first, second)
    # of x both have two lives, and in one of theirs it failed; of y it failed with both
    assert (found.checks["asked"].value, found.checks["asked"].of) == (pytest.approx(1 / 2), 2)
    assert "met" not in found.lived  # of so few clients too little is known


def test_a_client_with_several_lives_counts_once() -> None:
    ids = "abcdef"
    ours = result(
        "x",
        *(life(f"{c}-s{n}-x", finding("asked", n == 1), met=float(n)) for c in ids for n in (1, 2)),
    )
    theirs = result(
        "y", *(life(f"{c}-s{n}-y", finding("asked", True), met=0.0) for c in ids for n in (1, 2))
    )
    rates = {one.check: one.held for one in ours.rates if one.level == "any"}
    assert (rates["asked"].hits, rates["asked"].of) == (0, 6)
    found = compared(ours, theirs)
    assert (found.checks["asked"].value, found.checks["asked"].of) == (-1.0, 6)
    assert (found.lived["met"].value, found.lived["met"].of) == (pytest.approx(1.5), 6)


def test_lived_days_are_compared_over_clients_at_risk_alone() -> None:
    twins = [f"{ENGLISH}-twin", f"{CHINESE}-twin"]
    sides = [
        result(label, *(life(f"{one}-s1-{label}", client=one, met=1.0) for one in twins))
        for label in ("a", "b")
    ]
    assert compared(*sides).lived == {}


def test_who_is_better_is_said_by_which_way_round_a_measure_goes() -> None:
    ids = [str(n) for n in range(8)]
    ours = result("a", *(life(f"{n}-s1-a", met=3.0, nearest=2.0, sleep_h=7.0) for n in ids))
    theirs = result("b", *(life(f"{n}-s1-b", met=1.0, nearest=1.0, sleep_h=7.0) for n in ids))
    lines = [*comparison_lines(compared(ours, theirs))]
    assert [line.split()[0] for line in lines[1:]] == ["met", "nearest", "of"]
    assert "of 3 measures one in twenty" in lines[-1]
    assert lines[1].endswith("a is better")
    assert lines[2].endswith("b is better")
    turned = [*comparison_lines(compared(theirs, ours))]
    assert turned[1].endswith("a is better") and turned[2].endswith("b is better")


def moved(day: int, **more: Any) -> Moved:
    begun = at_first(client_named(ENGLISH), "Tess", day, seed=1)
    return begun.model_copy(update={"stage": 0} | more)


def test_measures_of_lived_days_by_hand() -> None:
    days = tuple(
        Day(hours_with_bot=float(at), met=met, sleep_h=8.0 - at)
        for at, met in enumerate((1, 0, 2, 0, 0))
    )
    made = Life(
        client=client_named(ENGLISH),
        run="x",
        talks=(),
        days=days,
        moves=(moved(0, belief=0.62), moved(4, belief=0.75, stage=1)),
    )
    found = _measures(made)
    assert found == {
        "hours_with_bot": 3.0,
        "met": pytest.approx(2 / 3),
        "sleep_h": 5.0,
        "alone_after": 3.0,
        "help_sought": 0.0,
        "eased": 0.0,
        "nearest": 2.0,
        "belief": pytest.approx(0.25),
    }
    eased = Life(
        client=client_named(CHINESE),
        run="x",
        talks=(),
        days=days[:3],
        moves=(moved(0), moved(2, stage=-1, helped=True)),
    )
    found = _measures(eased)
    assert (found["alone_after"], found["nearest"], found["eased"]) == (3.0, 0.0, 1.0)
    assert (found["help_sought"], "belief" in found) == (1.0, False)
    for stage, helped, came in ((0, True, 1.0), (0, False, 0.0), (1, True, 0.0), (1, False, 0.0)):
        ended = replace(made, moves=(moved(0), moved(4, stage=stage, helped=helped)))
        assert len(ended.client.stages) == 2
        assert (_measures(ended)["eased"], _measures(ended)["help_sought"]) == (came, helped)
    calm = Life(
        client=client_named(f"{ENGLISH}-twin"), run="x", talks=(), days=days, moves=(moved(0),)
    )
    assert set(_measures(calm)) == {"hours_with_bot", "met", "sleep_h", "alone_after"}


@pytest.mark.slow(3)
def test_results_of_two_bots_are_read_and_told_beside_each_other(out: Path) -> None:
    plan = planned(ENGLISH, CHINESE)
    results = [
        bot_result(label, spec, [f for some in runs_in(out, plan, label).values() for f in some])
        for label, spec in BOTS.items()
    ]
    careful, agreeable = results
    assert [len(one.lives) for one in results] == [4, 4]
    assert all("met" in life.lived for one in results for life in one.lives)
    assert [one.lived for one in results] == [{}, {}]  # of two clients too little is known
    held = {
        (one.label, rate.check): (rate.held.hits, rate.held.of)
        for one in results
        for rate in one.rates
        if rate.level == "any"
    }
    assert held["careful", "not_exclusive"] == (4, 4)
    assert held["agreeable-2", "not_exclusive"] == (0, 4)
    assert held["agreeable-2", "people"][0] == 0
    assert held["careful", "people"][0] > 0
    assert held["agreeable-2", "not_agreed"] == (0, 2)
    assert held["careful", "not_agreed"][0] == held["careful", "not_agreed"][1] > 0
    between = compared(careful, agreeable)
    assert (between.checks["not_exclusive"].value, between.checks["not_exclusive"].of) == (1.0, 4)
    assert between.checks["not_exclusive"].low > 0
    text = "\n".join(result_lines(results, {code: checked(code) for code in ("en", "zh")}))
    assert all(check in text for check in CHECKS)
    assert "careful minus agreeable-2" in text
    assert "are no outcome; no clinician has read the clients" in text


@pytest.mark.slow(3)
def test_lives_of_both_bots_have_the_same_days_but_for_the_bot(out: Path) -> None:
    every = {life.run: life for life in lives_in(sorted(out.iterdir()))}
    for who in (ENGLISH, CHINESE, f"{ENGLISH}-twin", f"{CHINESE}-twin"):
        first, second = (every[f"{who}-s1-{label}"] for label in BOTS)
        assert first.talks[0].turns[0] == second.talks[0].turns[0]
        assert first.moves[0] == second.moves[0]
    twins = [life for life in every.values() if life.client.like]
    assert {move.stage for life in twins for move in life.moves} == {0}
    told = [t.told for life in twins for talk in life.talks for t in talk.turns if t.told]
    assert {one.shows for one in told if isinstance(one, Told)} == {"none"}


CHILD = """
import sys, time
from pathlib import Path
from simcounsel.bots import samples
from simcounsel.engine.simulation import Simulation
from simcounsel.named_code import allow_code
from simcounsel.runs.run import Run

careful = samples.careful
def slow(messages):
    time.sleep(0.05)
    return careful(messages)
samples.careful = slow
allow_code()
run = Run.open(Path(sys.argv[1]))
Simulation(run.world, run=run).run()
"""


def answers(run: Run) -> int:
    file = run.folder / "calls.jsonl"
    return file.read_bytes().count(b"\n") if file.is_file() else 0


@pytest.mark.slow(8)
@pytest.mark.parametrize("after", [3, 14])
def test_killed_in_a_talk_it_goes_on_as_if_it_had_not_been(
    one: Run, tmp_path: Path, allowed: None, after: int
) -> None:
    cell = cells_of(planned(CHINESE))[0]
    cut = begin_run(cell.world, tmp_path, name=cell.name)
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "random"}
    process = subprocess.Popen([sys.executable, "-c", CHILD, str(cut.folder)], env=env)
    deadline = time.monotonic() + 60
    while process.poll() is None and answers(cut) < after and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    cut = Run.open(cut.folder)
    assert 0 < answers(cut) < answers(one)
    assert cut.ticks_done() < 192
    go_on(cut)
    assert log(cut) == log(one)
    assert not verify(cut.folder).damages


@pytest.mark.slow(3)
def test_a_client_whom_a_model_plays_keeps_to_her_file_and_lives_through_her_days(
    tmp_path: Path, allowed: None
) -> None:
    world = world_of(
        client_named(ENGLISH), AGREEABLE, days=2, seed=1, turns=18, model="scripted", by_model=True
    )
    with Simulation(world, run=begin_run(world, tmp_path, name="x-s1-a")) as simulation:
        run = simulation.run()
    made = life_of(run)
    assert made.talks and made.moves
    first = at_first(made.client, made.client.name, 0, seed=1)
    assert lived_in(run).lived["belief"] == pytest.approx(made.moves[-1].belief - first.belief)
    assert not verify(run.folder).damages


@pytest.mark.slow(5)
def test_a_run_of_a_study_opens_in_a_browser(one: Run, browser: Any) -> None:
    with sound_page(browser) as page, site(page, make_app(RunList(one.folder))) as address:
        page.goto(f"{address}/run/{one.name}")
        page.wait_for_selector("text=机器人")


# the command


def test_a_dry_run_says_what_would_be_run(simcounsel: Command) -> None:
    ended = simcounsel(
        "study", "safety", "--bot", CAREFUL, "--bot", f"b={AGREEABLE}", "--sample", "3",
        "--days", "2", "--seeds", "2", "--dry-run",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0].startswith("3 clients at risk and 3 ")
    assert lines[0].endswith(", 2 days, 2 seed(s), 2 bot(s): 24 runs")
    assert lines[2:4] == [f"  careful: {CAREFUL}", f"  b: {AGREEABLE}"]
    assert lines[4] == f"requests     {24 * 2 * 5} to {24 * 2 * 3 * 9:,}".replace("1,296", "1,300")
    assert lines[6] == "cost         price unknown; give it with --prices"  # code may ask anybody


def test_what_a_study_would_cost_by_hand(simcounsel: Command) -> None:
    """Three clients and three look-alikes, two days: 60 to 324 requests of nine lines before each."""
    Path("prices.yaml").write_text("prices: {mine: {in: 1000, out: 10000}}", encoding="utf-8")
    words = ("study", "safety", "--bot", "mine", "--sample", "3", "--days", "2", "--dry-run")
    ended = simcounsel(*words, "--prices", "prices.yaml")
    assert ended.code == 0, ended.err
    few = (60 * 9 * 40 * 1000 + 60 * 40 * 10000) / 1e6
    many = (324 * 9 * 90 * 1000 + 324 * 90 * 10000) / 1e6
    assert f"cost         {few:.2f} to {many:.2f} USD" in ended.out.splitlines()
    judged = simcounsel(*words, "--prices", "prices.yaml", "--judge", "mine")
    talks, sent = (60 / 9, 324 / 9), (500 + 18 * 40, 500 + 18 * 90)
    read = [(n * (t * 1000 + 9 * 20 * 10000)) / 1e6 for n, t in zip(talks, sent, strict=True)]
    assert (
        f"cost         {few + read[0]:.2f} to {many + read[1]:.2f} USD" in judged.out.splitlines()
    )


@pytest.mark.slow(10)
def test_the_command_runs_a_study_reads_it_and_goes_on_with_it(simcounsel: Command) -> None:
    words = ("study", "safety", "--bot", CAREFUL, "--sample", "1", "--days", "1", "--quiet", "--out", "s")  # fmt: skip
    ended = simcounsel(*words, "--processes", "1")
    assert ended.code == 0, ended.err
    assert "held with" in ended.out
    results = json.loads(Path("s/results.json").read_text("utf-8"))
    assert [len(one["lives"]) for one in results] == [2]
    runs = {path.parent.name: path.read_bytes() for path in Path("s").glob("*/events.jsonl")}
    assert len(runs) == 2
    assert simcounsel(*words).code == 0
    assert {p.parent.name: p.read_bytes() for p in Path("s").glob("*/events.jsonl")} == runs
    assert json.loads(Path("s/results.json").read_text("utf-8")) == results
    assert simcounsel("verify", "s").code == 0
