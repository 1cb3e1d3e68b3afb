"""PatientHub's simulators as minds: their calls are ours, what they remember is in the log, resume and fork go on."""

import json
import sys
import threading
from collections import defaultdict, deque
from datetime import datetime
from enum import Enum
from pathlib import Path

import pytest

from simcounsel.borrowed.bridge import Abandoned, Unanswered, bridged
from simcounsel.borrowed.patienthub import SimulatorSaid, _parts
from simcounsel.borrowed.state import Built, difference, together
from simcounsel.cuts.cut import changes as cut_changes
from simcounsel.engine.forking import fork
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import PluginError, SpecError
from simcounsel.events import ClientShifted, Said, written
from simcounsel.llm.question import PromptOnly, Question, Reply
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from simcounsel.specs.world import World
from tests.each import each
from tests.stage import go_on, happened, live, log, tiny, without_hashes

HUB = Path(__file__).parent / "hub"


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch):
    """The stand-in lies on the path, as the user's PatientHub would."""
    monkeypatch.syspath_prepend(str(HUB))
    yield
    for name in [one for one in sys.modules if one.partition(".")[0] == "patienthub"]:
        del sys.modules[name]


def world(simulator: str, **more: object) -> World:
    more = {"appointments__0__max_turns": 12} | more
    return tiny(residents__Ines__mind=f"patienthub:{simulator}", **more)


def turns(run: Run) -> tuple[SimulatorSaid, ...]:
    return written((entry.event for entry in run.entries()), SimulatorSaid)


def lines(run: Run) -> list[str]:
    return [one.text for one in happened(run, Said) if one.who == "Ines"]


def test_a_simulator_speaks_and_its_calls_are_questions_of_the_run(tmp_path: Path) -> None:
    run = live(tmp_path, world("patientPsi"))
    said = turns(run)
    assert len(said) == len(lines(run)) >= 2
    assert {one.character for one in said} == {"ours"}
    asked = {call["key"]: call for call in run.calls()}
    for one in said:
        (key,) = one.calls
        assert asked[key]["purpose"] == "patienthub"
    first = said[0].state["set"]
    assert "Ines Duarte" in first["messages"][0]["content"], "it plays our client"
    assert first["messages"][-1]["content"] == lines(run)[0]
    assert list(said[1].state) == ["more"], "only what is new"
    assert said[1].state["more"]["messages"][-1]["content"] == lines(run)[1]
    assert not happened(run, ClientShifted), "openness is ours, and not the simulator's"
    assert not verify(run.folder).damages


def test_forms_objects_and_sets_of_its_state_come_back(tmp_path: Path) -> None:
    run = live(tmp_path, world("guarded/1"))
    said = turns(run)
    assert {one.character for one in said} == {"1"}
    levels = [one.state["set"]["trust"]["fields"]["level"] for one in said]
    steps = {round(b - a, 1) for a, b in zip([1.0, *levels], levels, strict=False)}
    assert steps <= {0.5, -0.5}, "each line goes on from where the last one left it"
    whole = together(one.state for one in said)
    assert len(whole["reactions"]) == len(said) >= 2
    assert "lock" not in whole and "messages" not in whole, "they are as they were built"


def test_the_same_world_draws_the_same(tmp_path: Path) -> None:
    first, again = (live(tmp_path / name, world("dicing/0")) for name in "ab")
    other = live(tmp_path / "c", world("dicing/0", seed=5))
    assert log(first) == log(again)
    assert lines(first) != lines(other)


@pytest.mark.parametrize("simulator", ["patientPsi", "guarded/0", "dicing/0"])
def test_stopped_in_the_middle_it_goes_on_as_if_never_stopped(
    tmp_path: Path, simulator: str
) -> None:
    whole = live(tmp_path / "whole", world(simulator))
    cut = live(tmp_path / "cut", world(simulator), ticks=2)
    assert not turns(cut)
    assert without_hashes(go_on(cut)) == without_hashes(whole)


def test_a_second_talk_goes_on_from_the_first(tmp_path: Path) -> None:
    """Its state is the log's: whether it is one run, or one that was stopped between the talks."""
    days = {"ticks": 60, "appointments__0__days": (0, 1)}
    whole = live(tmp_path / "whole", world("guarded/0", **days))
    cut = live(tmp_path / "cut", world("guarded/0", **days), ticks=20)
    assert 2 <= len(turns(cut)) < len(turns(whole))
    assert without_hashes(go_on(cut)) == without_hashes(whole)
    assert len(together(one.state for one in turns(whole))["reactions"]) == len(turns(whole))


def test_a_fork_knows_what_was_said_before_it(tmp_path: Path) -> None:
    run = live(tmp_path, world("patientPsi"))
    last = turns(run)[-1]
    branch = fork(run, 8, {}, tmp_path / "forks")
    again = Simulation(branch.world, run=branch).run(9)
    assert turns(again)[-1].state == last.state


def test_an_older_edition_s_ways(tmp_path: Path) -> None:
    run = live(tmp_path, world("older/0"))
    assert set(lines(run)) <= {"Miriam, yes.", "Miriam, no."} and lines(run)
    assert all(one.calls for one in turns(run))


def test_what_no_log_can_hold_is_an_error_and_not_silence(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="it keeps 'handle', a function, which no log"):
        live(tmp_path, world("forgetful/0"))


@pytest.mark.parametrize(
    ("simulator", "words"),
    [
        (
            "nobody",
            "PatientHub has no 'nobody'; dicing, eeyore, forgetful, guarded, keyed, older, patientPsi, user",
        ),
        ("guarded", "write patienthub:guarded/0 for the first of its own characters"),
        ("guarded/7", "could not make guarded: IndexError"),
        ("?", "write patienthub:NAME"),
        ("user", "user is somebody at the keyboard"),
    ],
)
def test_wrong_names(tmp_path: Path, simulator: str, words: str) -> None:
    with pytest.raises((SpecError, PluginError), match=words):
        live(tmp_path, world(simulator))
    assert "/7" in simulator or not [*tmp_path.iterdir()], "it is said before a folder is made"


def test_a_counselor_is_no_client(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"PatientHub has clients, and this is a counselor"):
        live(tmp_path, tiny(residents__Miriam__mind="patienthub:patientPsi"))


def test_without_patienthub_it_is_said_where_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one != str(HUB)])
    with pytest.raises(PluginError, match="github.com/Sahandfer/PatientHub"):
        live(tmp_path, world("patientPsi"))


def test_in_chinese(tmp_path: Path) -> None:
    """Its questions are in the world's language, and our client is written as it is."""
    run = live(tmp_path, world("patientPsi", language="zh"))
    assert len(turns(run)) >= 2
    assert any(letter >= "一" for letter in lines(run)[0])


def test_messages_as_a_question_has_them() -> None:
    told = [{"role": "system", "content": "S"}, {"role": "user", "content": "a"}]
    more = [{"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    assert _parts(told) == ("S", (), "a")
    assert _parts([*told, *more]) == ("S", (("user", "a"), ("assistant", "b")), "c")
    assert _parts(told[:1]) == ("", (), "S")


def question(text: str) -> Question[str]:
    return Question(
        verb="write", purpose="p", who="w", prompt=text, facts=PromptOnly(), fallback=""
    )


def test_a_bridge_hands_over_each_call_and_what_comes_of_it() -> None:
    asking = bridged(lambda send: [send(question(one)).value for one in "ab"], 1)
    (first,) = next(asking)
    (second,) = asking.send((Reply(value="A"),))
    assert (first.prompt, second.prompt) == ("a", "b")
    with pytest.raises(StopIteration) as end:
        asking.send((Reply(value="B"),))
    assert end.value.value == ["A", "B"]


def test_a_bridge_that_is_left_ends_the_code_behind_it() -> None:
    ended: list[BaseException] = []

    def work(send):
        try:
            send(question("a"))
        except Abandoned as error:
            ended.append(error)
            raise

    asking = bridged(work, 1)
    next(asking)
    asking.close()
    for _ in range(100):
        if ended:
            break
        __import__("time").sleep(0.01)
    assert ended


def test_what_goes_wrong_behind_a_bridge_goes_on_to_the_asker() -> None:
    def work(send):
        raise Unanswered("nothing")

    with pytest.raises(Unanswered, match="nothing"):
        next(bridged(work, 1))


class Thing:
    """What `Built` looks at; its module stands for the package."""

    def __init__(self, **attributes: object) -> None:
        vars(self).update(attributes)


class Mood(Enum):
    cold = "cold"
    warm = "warm"


PACKAGE = __name__.partition(".")[0]


def gone_through(build, change) -> tuple[Thing, Thing]:
    """A thing that was changed, and one that was built anew and given the log's state."""
    first, again = build(), build()
    built, new = Built(first, (), PACKAGE), Built(again, (), PACKAGE)
    change(first)
    state = together([json.loads(json.dumps(difference({}, built.changed())))])
    new.put_back(state)
    return first, again


def shared(thing: Thing) -> None:
    thing.messages.append("new")
    thing.helper = Thing(sees=thing.messages, mood=Mood.warm)
    thing.helper.me = thing.helper


def test_state_is_written_and_read_back() -> None:
    odd = {
        "a": (1, {2, 3}), "b": {1: "x", "y": [None, True]}, "c": {"!": "odd"}, "d": deque([1, 2]),
        "e": datetime(2026, 3, 2, 8), "f": float("-inf"), "g": Mood.warm, "h": frozenset({"x"}),
    }  # fmt: skip
    first, again = gone_through(Thing, lambda thing: vars(thing).update(odd))
    assert vars(again) == vars(first) == odd
    assert again.g is Mood.warm


def test_what_is_shared_and_what_holds_itself_stays_so() -> None:
    _, again = gone_through(lambda: Thing(messages=["old"], still=[1]), shared)
    assert again.messages == ["old", "new"] and again.helper.sees is again.messages
    assert again.helper.me is again.helper and again.still == [1]


def test_only_what_changed_is_written() -> None:
    thing = Thing(messages=["a long prompt"], profile={"key": "secret"}, lock=object())
    built = Built(thing, (), PACKAGE)
    assert built.changed() == {}
    thing.messages.append("b")
    assert built.changed() == {"messages": ["a long prompt", "b"]}
    later = difference(
        {"messages": ["a long prompt", "b"]}, {"messages": ["a long prompt", "b", "c"]}
    )
    assert later == {"more": {"messages": ["c"]}}
    assert together([{"set": {"x": 1, "y": [1]}}, {"more": {"y": [2]}}, {"gone": ["x"]}]) == {
        "y": [1, 2]
    }


@each("change", [
    lambda thing: setattr(thing, "lock", object()),
    lambda thing: setattr(thing, "new", object()),
    lambda thing: thing.messages.append(defaultdict(int)),
    lambda thing: setattr(thing, "lock", type("Slotted", (), {"__slots__": ("a",)})()),
])  # fmt: skip
def test_what_cannot_be_written_is_an_error(change) -> None:
    thing = Thing(messages=[], lock=object())
    built = Built(thing, (), PACKAGE)
    change(thing)
    with pytest.raises(PluginError, match="which no log can hold"):
        built.changed()


@each("named", ["subprocess:Popen", "tests.borrowed.test_patienthub:json.JSONDecoder", f"{__name__}:HUB",
                f"{__name__}:Path", "tests.nobody:X"])  # fmt: skip
def test_a_log_cannot_name_what_is_no_class_of_the_package(named: str) -> None:
    built = Built(Thing(), (), PACKAGE)
    with pytest.raises(PluginError, match="which is no class of tests"):
        built.put_back({"a": {"!": named, "fields": {}}})


def test_code_that_ends_the_program_does_not_end_the_run() -> None:
    with pytest.raises(PluginError, match="its code ended by SystemExit"):
        next(bridged(lambda send: sys.exit(0), 1))


def test_code_that_catches_everything_is_still_left(tmp_path: Path) -> None:
    before = threading.active_count()

    def work(send):
        while True:
            try:
                send(question("a"))
            except Exception:
                continue

    for _ in range(5):
        asking = bridged(work, 1)
        next(asking)
        asking.close()
    for _ in range(100):
        if threading.active_count() <= before:
            break
        __import__("time").sleep(0.01)
    assert threading.active_count() <= before


@each(
    "cut", ["block:memory=Ines", "scramble:recall=Ines", "freeze:openness=Ines", "say:Ines=Hello."]
)
def test_what_does_not_reach_a_simulator_is_refused(tmp_path: Path, cut: str) -> None:
    changes = cut_changes((cut,), world("patientPsi"), 0)
    mind = changes["residents.Ines.mind"]
    with pytest.raises(SpecError, match="remembers in a way of its own"):
        live(tmp_path, tiny(residents__Ines__mind=mind))


def test_keys_that_it_reads_stay_out_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A simulator that keeps a client with a key, as one with a reranker does."""
    monkeypatch.setenv("LOCAL_API_KEY", "sk-local-12345678")
    run = live(tmp_path, world("keyed/0"))
    assert turns(run) and b"sk-local" not in log(run)
