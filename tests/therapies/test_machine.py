"""The machine: whatever is judged, it keeps to what the manual allows, and can always come to an end."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from simcounsel.errors import IllegalTransition, SimcounselError
from simcounsel.therapies.specs.manual import Manual
from simcounsel.therapies.staged import machine
from simcounsel.therapies.staged.manuals import names, shipped

SELFCARE = shipped("attachment_selfcare", "en")
ALL = [shipped(name, "en") for name in names("en")]


class Walk(RuleBasedStateMachine):
    """Any verdicts in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.manual = SELFCARE
        self.state = self.manual.start.id
        self.heard = 0

    @rule()
    @precondition(lambda self: not self.manual.states[self.state].ends)
    def hear(self) -> None:
        self.heard += 1

    @rule(data=st.data())
    @precondition(lambda self: not self.manual.states[self.state].ends)
    def judge(self, data: st.DataObject) -> None:
        verdict = data.draw(st.sampled_from(sorted(machine.verdicts(self.manual, self.state))))
        least = machine.least(self.manual.states[self.state])
        try:
            after = machine.step(self.manual, self.state, verdict, self.heard)
        except IllegalTransition:
            assert self.heard < least
            assert verdict not in (machine.STAY, machine.CLOSING)
            return
        assert self.heard >= least or verdict in (machine.STAY, machine.CLOSING)
        if after != self.state:
            assert machine.move(self.manual, self.state, after) == after
            self.state, self.heard = after, 0

    @rule()
    @precondition(lambda self: self.manual.states[self.state].ends)
    def begin_again(self) -> None:
        self.state, self.heard = self.manual.start.id, 0

    @invariant()
    def an_end_is_in_reach(self) -> None:
        at = self.state
        for step in machine.way_out(self.manual, self.state):
            at = machine.move(self.manual, at, step)
        assert self.manual.states[at].ends


TestWalk = Walk.TestCase
TestWalk.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_nothing_but_what_is_allowed_follows(data: st.DataObject) -> None:
    manual = data.draw(st.sampled_from(ALL))
    origin, target = (data.draw(st.sampled_from(sorted(manual.states))) for _ in range(2))
    if target in machine.allowed(manual, origin):
        assert machine.move(manual, origin, target) == target
    else:
        with pytest.raises(IllegalTransition, match="is no transition; allowed are"):
            machine.move(manual, origin, target)


def test_an_illegal_verdict_names_what_is_allowed() -> None:
    with pytest.raises(
        IllegalTransition,
        match="'yes' leads nowhere from 'emotion'; there it takes closing, sufficient, stay",
    ):
        machine.step(SELFCARE, "emotion", "yes", 9)
    with pytest.raises(
        IllegalTransition,
        match="'sufficient' after 1 messages; 'emotion' goes on until 2 were heard",
    ):
        machine.step(SELFCARE, "emotion", "sufficient", 1)
    with pytest.raises(IllegalTransition, match="none: it is the end"):
        machine.move(SELFCARE, "end", "greeting")
    assert issubclass(IllegalTransition, SimcounselError)


@pytest.mark.parametrize("manual", ALL, ids=lambda m: m.name)
def test_the_close_is_open_everywhere_but_in_the_conclusion(manual: Manual) -> None:
    for name, state in manual.states.items():
        concluding = manual.phase_of[name] == "conclusion"
        assert (manual.closing in machine.allowed(manual, name)) is (
            not concluding or manual.closing in state.next
        )
        if not concluding:
            assert machine.step(manual, name, machine.CLOSING, 0) == manual.closing
    assert [
        machine.way_out(manual, state.id) for state in manual.states.values() if state.ends
    ] == [()]
