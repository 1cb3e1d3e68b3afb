"""The same past, another future."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from simcounsel.engine.forking import fork
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import RunError, SpecError
from simcounsel.events import (
    Acted,
    ConversationEnded,
    Forked,
    Joined,
    Left,
    Planned,
    Recalled,
    RelationChanged,
    Remembered,
    Said,
    TickEnded,
)
from simcounsel.runs.run import Run
from tests.each import each
from tests.stage import (
    ROOT,
    by_the_papers_weights,
    changed,
    go_on,
    happened,
    live,
    log,
    three,
    without_hashes,
)
from tests.without import needs


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Everybody in the tiny world, all of it."""
    return live(tmp_path_factory.mktemp("past"), three())


def bytes_before(run: Run, tick: int) -> bytes:
    """The log of the ticks before that one."""
    return b"".join(
        line for line in log(run).splitlines(keepends=True) if json.loads(line)["tick"] < tick
    )


def forked(run: Run, at: int, out: Path, **changes: Any) -> Run:
    return go_on(
        fork(run, at, {key.replace("__", "."): value for key, value in changes.items()}, out)
    )


@each("at", [1, 2, 3, 7, 12])
def test_past_is_shared_byte_for_byte(tmp_path: Path, past: Run, at: int) -> None:
    new = fork(past, at, {"conversation.max_turns": 4}, tmp_path)
    shared = bytes_before(past, at)
    ended = shared[shared[:-1].rfind(b"\n") + 1 :]
    assert log(new).startswith(shared.removesuffix(ended))
    *_, mark, end = new.entries()
    assert isinstance(mark.event, Forked) and isinstance(end.event, TickEnded)
    assert mark.event.changes == (("conversation.max_turns", "4"),)
    assert (mark.tick, end.tick, end.seq) == (at - 1, at - 1, mark.seq + 1)
    assert [e.seq for e in new.entries()] == list(range(end.seq + 1))
    assert new.ticks_done() == at


def test_nothing_changed_nothing_differs(tmp_path: Path, past: Run) -> None:
    new = forked(past, 5, tmp_path)
    assert without_hashes(new) == without_hashes(past)
    assert len(list(new.calls())) == len(list(past.calls())), (
        "replies of the parent were asked for again"
    )


def test_condition_makes_people_leave(tmp_path: Path, past: Run) -> None:
    new = forked(past, 6, tmp_path, condition="client_only")
    gone = {(e.tick, e.event.who) for e in new.entries() if isinstance(e.event, Left)}
    assert gone == {(6, "Miriam"), (6, "Omar")}
    assert {
        e.event.who
        for e in new.entries()
        if e.tick >= 6
        and isinstance(getattr(e.event, "who", None), str)
        and not isinstance(e.event, Left)
    } == {"Ines"}
    assert new.ticks_done() == 12


def test_condition_makes_people_join(tmp_path: Path) -> None:
    alone = live(tmp_path / "alone", three(), 1, condition="client_only")
    new = forked(alone, 1, tmp_path, condition="everyone")
    came = {(e.tick, e.event.who) for e in new.entries() if isinstance(e.event, Joined)}
    assert came == {(0, "Ines"), (1, "Miriam"), (1, "Omar")}
    assert {said.who for said in happened(new, Said)} == {"Ines", "Miriam", "Omar"}


def test_who_comes_or_goes_changes_what_was_agreed(tmp_path: Path) -> None:
    """Slots were planned for hours: who had an appointment with somebody who is gone does not go
    there, and who has a new one does.
    """

    def plans(run: Run) -> list[tuple[int, str]]:
        return [
            (e.tick, e.event.why)
            for e in run.entries()
            if isinstance(e.event, Planned) and e.event.who == "Ines"
        ]

    def meets(run: Run) -> set[str]:
        return {
            e.activity for e in happened(run, Acted) if e.who == "Ines" and "meets" in e.activity
        }

    world = changed(three(), plan_slots=12, without=("replan", "reflect"))
    both = live(tmp_path / "both", world, 1)
    alone = forked(both, 1, tmp_path, condition="client_only")
    assert plans(alone)[:2] == [(0, "a new day"), (1, "what was agreed for today has changed")]
    assert not meets(alone)
    again = forked(live(tmp_path / "alone", world, 1, condition="client_only"), 1, tmp_path)
    assert not meets(again)
    back = forked(
        live(tmp_path / "only", world, 1, condition="client_only"),
        1,
        tmp_path,
        condition="everyone",
    )
    assert meets(back) == {"meets Miriam as agreed", "meets Omar as agreed"}


def test_who_comes_back_remembers(tmp_path: Path, past: Run) -> None:
    left = fork(past, 6, {"condition": "client_only"}, tmp_path)
    go_on(left, 2)
    back = forked(left, 8, tmp_path, condition="everyone")
    assert {
        (e.tick, e.event.who) for e in back.entries() if isinstance(e.event, Joined) and e.tick
    } == {(8, "Miriam"), (8, "Omar")}
    ids = [event.memory.id for event in happened(back, Remembered)]
    assert len(ids) == len(set(ids)), "a memory's number was given twice"
    with Simulation(back.world, run=Run.open(back.folder)) as again:
        for resident in again.residents():
            assert {
                m.id for m in (*resident.memory.short.memories, *resident.memory.long.memories)
            } == {
                event.memory.id
                for event in happened(back, Remembered)
                if event.who == resident.name
            }
    closeness = [
        e.event
        for e in back.entries()
        if e.tick == 8
        and isinstance(e.event, RelationChanged)
        and e.event.why == "as the world begins"
    ]
    assert not closeness, "what they had become to each other was forgotten"


def test_change_holds_from_there_on(tmp_path: Path, past: Run) -> None:
    new = forked(
        past, 2, tmp_path, appointments__1__max_turns=2, memory__recall="generative_agents"
    )
    assert new.world.appointments[1].max_turns == 2
    assert happened(new, ConversationEnded)[0].messages == 2
    hits = [
        h
        for e in new.entries()
        if e.tick >= 2 and isinstance(e.event, Recalled)
        for h in e.event.hits
    ]
    assert hits and not any(by_the_papers_weights(hit) for hit in hits)


@needs("therapies")
def test_a_manual_from_here(tmp_path: Path, past: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a new run, `policy` may be a manual's file; what cannot be read is named by what was typed."""
    shutil.copy(
        ROOT / "simcounsel" / "therapies" / "manuals" / "en" / "motivational.yaml",
        tmp_path / "mine.yaml",
    )
    monkeypatch.chdir(tmp_path)
    new = fork(past, 2, {"residents.Miriam.policy": "mine.yaml"}, tmp_path / "forks")
    policy = next(one.policy for one in new.world.residents if one.name == "Miriam")
    assert (
        policy is not None
        and policy.name == "staged"
        and getattr(policy.manual, "name", None) == "motivational"
    )
    with pytest.raises(
        SpecError,
        match=r"--set residents.1.policy: mein.yaml: no such file; did you mean mine.yaml\?",
    ):
        fork(past, 2, {"residents.Miriam.policy": "mein.yaml"}, tmp_path / "forks")


def test_new_seed_makes_another_future(tmp_path: Path, past: Run) -> None:
    one, other = (forked(past, 2, tmp_path, seed=seed) for seed in (5, 6))
    assert log(one) != log(other)


def test_parent_is_named(tmp_path: Path, past: Run) -> None:
    new = fork(past, 3, {"seed": 5}, tmp_path)
    parent = Run.open(new.folder).manifest.parent
    assert parent is not None
    assert (parent.run, parent.at_tick, parent.changes) == (past.name, 3, (("seed", "5"),))


def test_fork_of_a_fork_and_resume(tmp_path: Path, past: Run) -> None:
    first = fork(past, 3, {"seed": 5}, tmp_path)
    go_on(first, 3)
    second = forked(first, 5, tmp_path, seed=6)
    assert second.ticks_done() == 12
    assert [e.seq for e in second.entries()] == list(range(sum(1 for _ in second.entries())))
    assert len(happened(second, Forked)) == 2


def test_fork_of_a_recording_goes_on_without_it(tmp_path: Path, past: Run) -> None:
    replayed = Simulation(three(), model=f"recorded:{past.folder}", out=tmp_path / "replayed").run(
        5
    )
    changes = {"models.reason": "scripted", "models.embed": "scripted"}
    new = go_on(fork(replayed, 5, changes, tmp_path / "forks"))
    assert without_hashes(new) == without_hashes(past)


def test_parent_stays_as_it_was(tmp_path: Path, past: Run) -> None:
    before = {file.name: file.read_bytes() for file in past.folder.glob("*.json*")}
    forked(past, 4, tmp_path, condition="client_only")
    assert {file.name: file.read_bytes() for file in past.folder.glob("*.json*")} == before


@pytest.mark.parametrize("tick", [0, -1, 13])
def test_ticks_that_were_not_lived(tmp_path: Path, past: Run, tick: int) -> None:
    with pytest.raises(
        RunError, match=f"--at {tick} is not between 1 and 12, the ticks that were run"
    ):
        fork(past, tick, {}, tmp_path)


@each("at", [1, 3, 50, 98])
def test_between_two_ticks_that_were_lived(tmp_path: Path, at: int) -> None:
    """Where days are skipped, any tick before the next that would be run may be the one from which
    it is another future.
    """
    visits = three().appointments[1].model_copy(update={"days": (0, 2)})
    skipping = changed(three(), days="skipped", appointments=(visits,), ticks=99)
    begun = live(tmp_path, skipping, 3)
    assert [e.tick for e in begun.entries() if isinstance(e.event, TickEnded)] == [0, 2]
    done = forked(begun, at, tmp_path / "forks", seed=9)
    assert [e.tick for e in done.entries() if isinstance(e.event, TickEnded)] == [0, 2, 98]
    with pytest.raises(RunError, match="--at 99 is not between 1 and 98"):
        fork(begun, 99, {}, tmp_path / "forks")


@pytest.mark.parametrize("change", [{"days": "lived"}, {"appointments.1.days": [0, 1, 2]}])
def test_nothing_is_lived_between_the_past_and_the_fork(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    visits = three().appointments[1].model_copy(update={"days": (0, 2)})
    skipping = changed(
        three(), days="skipped", appointments=(three().appointments[0], visits), ticks=99
    )
    begun = live(tmp_path, skipping, 5)
    first = 5 if change == {"days": "lived"} else 50
    with pytest.raises(
        RunError,
        match=f"as it is changed, tick {first} would be run before --at 70; fork --at {first}",
    ):
        fork(begun, 70, change, tmp_path / "forks")
    done = [
        e.tick
        for e in forked(
            begun,
            first,
            tmp_path / "forks",
            **{key.replace(".", "__"): value for key, value in change.items()},
        ).entries()
        if isinstance(e.event, TickEnded)
    ]
    assert done[:4] == [0, 2, 4, first]


def test_a_past_in_another_language_even_where_the_world_is_made(tmp_path: Path, past: Run) -> None:
    with pytest.raises(SpecError, match="the past was run with another 'language'"):
        fork(past, 2, {"language": "zh"}, tmp_path, world=changed(three(), language="zh"))


@each(
    ("changes", "what"),
    [
        (
            {"start": "2026-03-03 08:00"},
            "--set start: the past was run with another 'start'; begin a new run instead",
        ),
        ({"tick_minutes": 15}, "--set tick_minutes: the past was run with another 'tick_minutes'"),
        (
            {"places.Market.kind": "park"},
            "--set places.Market.kind: the past was run with another 'places'",
        ),
        ({"sede": 3}, "--set sede: unknown key; did you mean 'seed'?"),
        ({"residents.Inez.home": "x"}, 'did you mean "Ines"?'),
        ({"condition": "nobody"}, "--set condition: 'nobody' is not one of client_only"),
        (
            {"appointments.0.place": "Paris"},
            "--set appointments.0.place: no place 'Paris' in this world",
        ),
        (
            {"conversation.max_turns": 1},
            "--set conversation.max_turns: 1: input should be greater than or equal to 2",
        ),
    ],
)
def test_changes_that_do_not_fit(
    tmp_path: Path, past: Run, changes: dict[str, Any], what: str
) -> None:
    with pytest.raises(SpecError) as caught:
        fork(past, 3, changes, tmp_path)
    assert what in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_somebody_who_lived_here_cannot_be_renamed(tmp_path: Path, past: Run) -> None:
    with pytest.raises((SpecError, RunError)):
        go_on(fork(past, 3, {"residents.Omar.name": "Otto"}, tmp_path))


def test_other_ticks_can_be_lived_beyond_the_end(tmp_path: Path, past: Run) -> None:
    new = fork(past, 12, {"ticks": 14}, tmp_path)
    with Simulation(new.world, run=new) as simulation:
        simulation.run()
    assert new.ticks_done() == 14


def test_calls_of_the_parent_are_marked(tmp_path: Path, past: Run) -> None:
    """What a fork took over costs it nothing, and the parent's future is not its own; also in a fork of the fork."""
    first = forked(past, 4, tmp_path, condition="client_only")
    calls = list(first.calls())
    before = {call["key"]: call["tick"] for call in past.calls()}
    assert {call["key"] for call in calls if call.get("copied")} == set(before)
    assert {call["key"] for call in calls if call.get("spare")} == {
        key for key, tick in before.items() if tick >= 4
    }
    assert any(not call.get("copied") for call in calls)
    second = fork(Run.open(first.folder), 8, {}, tmp_path)
    spare = {call["key"] for call in second.calls() if call.get("spare")}
    assert spare == {call["key"] for call in calls if call.get("spare") or call["tick"] >= 8}
