"""PatientHub's simulators as minds: their calls are ours, what they remember is in the log, resume and fork go on."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from simcounsel.borrowed.bridge import Abandoned, Unanswered, bridged
from simcounsel.borrowed.patienthub import SimulatorSaid, _parts
from simcounsel.borrowed.state import kept, put_back
from simcounsel.engine.forking import fork
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import PluginError, SpecError
from simcounsel.events import ClientShifted, Said, written
from simcounsel.llm.question import PromptOnly, Question, Reply
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from simcounsel.specs.world import World
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
    first = said[0].state
    assert "Ines Duarte" in first["messages"][0]["content"], "it plays our client"
    assert [len(one.state["messages"]) for one in said[:2]] == [3, 5]
    assert first["messages"][-1]["content"] == lines(run)[0]
    assert not happened(run, ClientShifted), "openness is ours, and not the simulator's"
    assert not verify(run.folder).damages


def test_forms_objects_and_sets_of_its_state_come_back(tmp_path: Path) -> None:
    run = live(tmp_path, world("guarded/1"))
    said = turns(run)
    assert {one.character for one in said} == {"1"}
    levels = [one.state["trust"]["fields"]["level"] for one in said]
    steps = {round(b - a, 1) for a, b in zip([1.0, *levels], levels, strict=False)}
    assert steps <= {0.5, -0.5}, "each line goes on from where the last one left it"
    assert len(said[-1].state["reactions"]) == len(said) >= 2
    assert "lock" not in said[-1].state
    assert "Omid" in said[0].state["messages"][0]["content"]


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
    assert len(turns(whole)[-1].state["reactions"]) == len(turns(whole))


def test_a_fork_knows_what_was_said_before_it(tmp_path: Path) -> None:
    run = live(tmp_path, world("patientPsi"))
    last = turns(run)[-1]
    branch = fork(run, 8, {}, tmp_path / "forks")
    again = Simulation(branch.world, run=branch).run(9)
    assert turns(again)[-1].state == last.state


def test_what_no_log_can_hold_is_an_error_and_not_silence(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="Forgetful keeps 'handle', a function, which no log"):
        live(tmp_path, world("forgetful/0"))


@pytest.mark.parametrize(
    ("simulator", "words"),
    [
        ("nobody", "PatientHub has no 'nobody'; dicing, forgetful, guarded, patientPsi"),
        ("guarded", "write patienthub:guarded/0 for the first of its own characters"),
        ("guarded/7", "could not make guarded: IndexError"),
        ("?", "write patienthub:NAME"),
    ],
)
def test_wrong_names(tmp_path: Path, simulator: str, words: str) -> None:
    with pytest.raises((SpecError, PluginError), match=words):
        live(tmp_path, world(simulator))


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


def test_state_is_written_and_read_back() -> None:
    state = {"a": (1, {2, 3}), "b": {1: "x", "y": [None, True]}, "c": {"!": "odd"}}
    thing, again = SimpleNamespace(**state), SimpleNamespace()
    put_back(again, kept(thing, (), {}, "patienthub"), "patienthub")
    assert vars(again) == state


def test_a_log_cannot_name_code_of_other_packages() -> None:
    with pytest.raises(PluginError, match="not of patienthub"):
        put_back(SimpleNamespace(), {"a": {"!": "subprocess:Popen", "fields": {}}}, "patienthub")
