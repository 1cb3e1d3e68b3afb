"""A synthesis as a run: waves, strategies, the same bytes whatever the timing, resume, forks, budgets, ablations."""

import asyncio
import json
import random
from pathlib import Path

import pytest
import yaml

from simcounsel.corpus.synthesis.account import account, account_lines, dialogues_of, session_lines
from simcounsel.corpus.synthesis.events import (
    Evaluated,
    Extracted,
    Revised,
    SessionEnded,
    StrategyDropped,
    StrategyKnown,
    StrategyLearned,
    own,
)
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.settings import Synthesis
from simcounsel.corpus.synthesis.situations import Situation
from simcounsel.corpus.synthesis.strategies import (
    CARRIED,
    Proposal,
    Strategies,
    sorted_in,
    strategies_at,
    strategies_yaml,
    strategy_lines,
)
from simcounsel.corpus.synthesis.workshop import Workshop, fork
from simcounsel.errors import BudgetSpent, ModelUnreachable, RunError, SpecError
from simcounsel.events import Warned
from simcounsel.llm.driving import AT_ONCE
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from tests.corpus.bench import board, happened, judges, roles, settings, teaches, written
from tests.each import each
from tests.stage import Listening, log, vectors

# strategies


def test_a_near_duplicate_is_found_again_and_a_new_one_is_learned() -> None:
    known = Strategies()
    known.observe(0, StrategyLearned(id="K001", text="a", session="S0001", advice=()))
    meaning = {
        "a": vectors((1, 0))[0],
        "b": vectors((0.8, 0.6))[0],
        "c": vectors((0, 1))[0],
        "d": vectors((0.6, 0.8))[0],
    }
    proposals = [Proposal(session="S0002", text=text, advice=("x",), call="said") for text in "bcd"]
    calls = ("said", "meant")
    made = list(sorted_in(known, proposals, meaning, "meant"))
    assert made == [
        StrategyKnown(id="K001", text="b", session="S0002", cosine=0.8, calls=calls),
        StrategyLearned(id="K002", text="c", session="S0002", advice=("x",), calls=calls),
        StrategyKnown(id="K002", text="d", session="S0002", cosine=0.8, calls=calls),
    ], "0.8 is near enough; what came just before counts too"


def test_only_those_learned_or_found_last_are_carried() -> None:
    known = Strategies()
    for number in range(1, CARRIED + 3):
        known.observe(
            number,
            StrategyLearned(id=f"K{number:03d}", text=f"t{number}", session="S0001", advice=()),
        )
    assert known.carried()[0].id == "K003"
    known.observe(99, StrategyKnown(id="K001", text="t", session="S0009", cosine=0.9))
    assert [one.id for one in known.carried()][:2] == ["K001", "K004"], (
        "found again counts as learned again"
    )
    known.observe(100, StrategyDropped(id="K001"))
    assert "K001" not in [one.id for one in known.carried()]
    assert len(known.all()) == CARRIED + 2, "nothing is forgotten"


def test_the_strategies_of_a_wave_serve_the_next(tmp_path: Path) -> None:
    script = roles(
        evaluate=judges(revise=True),
        distil=lambda request, draw: json.dumps({"strategies": [f"Strategy of {request.who}."]}),
    )
    run, listening = written(tmp_path, settings(4), Listening(script))
    carried = {event.session: event.strategies for event in happened(run, Extracted)}
    assert carried == {
        "S0001": (),
        "S0002": (),
        "S0003": ("K001", "K002"),
        "S0004": ("K001", "K002"),
    }
    prompts = {
        request.who: request.system
        for request in listening.requests
        if request.purpose == "support"
    }
    assert "Strategy of S0001." not in prompts["S0002"]
    assert "K001: Strategy of S0001.\nK002: Strategy of S0002." in prompts["S0004"]
    learned = [entry for entry in run.entries() if isinstance(own(entry.event), StrategyLearned)]
    assert [(entry.tick, own(entry.event).session) for entry in learned] == [
        (0, "S0001"),
        (0, "S0002"),
        (1, "S0003"),
        (1, "S0004"),
    ]


def test_waves_of_one_learn_from_every_session(tmp_path: Path) -> None:
    script = roles(
        evaluate=judges(revise=True),
        distil=lambda request, draw: json.dumps({"strategies": [f"Strategy of {request.who}."]}),
    )
    run, _ = written(tmp_path, settings(3, wave=1), Listening(script))
    assert [event.strategies for event in happened(run, Extracted)] == [
        (),
        ("K001",),
        ("K001", "K002"),
    ]


def test_given_strategies_are_carried_from_the_beginning(tmp_path: Path) -> None:
    run, listening = written(tmp_path, settings(2, strategies=("Ask one thing at a time.",)))
    assert "K001: Ask one thing at a time." in next(
        r.system for r in listening.requests if r.purpose == "support"
    )
    assert strategies_at(run).all()[0].session == ""


# the same bytes


class Jittery(Scripted):
    """Answers out of order."""

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        await asyncio.sleep(random.random() * 0.004)
        return await super().complete(request, complaint)


def test_timing_changes_nothing(tmp_path: Path) -> None:
    about = settings(6, wave=3)
    logs = {
        log(written(tmp_path / str(n), about, model, in_flight=in_flight)[0])
        for n, (model, in_flight) in enumerate(
            ((Scripted(), 1), (Jittery(), 64), (Jittery(), 2), (Jittery(), 64))
        )
    }
    assert len(logs) == 1


def test_another_seed_is_another_synthesis(tmp_path: Path) -> None:
    logs = {
        log(written(tmp_path / str(seed), settings(2, seed=seed), Scripted())[0]) for seed in (1, 2)
    }
    assert len(logs) == 2


def test_a_recording_is_replayed_to_the_byte(tmp_path: Path) -> None:
    run, _ = written(tmp_path / "a", settings(4), Scripted())
    about = run.settings.model_copy(
        update={
            "models": run.settings.models.model_copy(update={"default": f"recorded:{run.folder}"})
        }
    )
    with Workshop(about, out=tmp_path / "b") as workshop:
        assert log(workshop.run()) == log(run)
        assert workshop.models.usage.calls == 0


# stopping and going on


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole, _ = written(tmp_path / "whole", settings(6), Scripted())
    part, _ = written(tmp_path / "part", settings(6), Scripted(), waves=1)
    assert part.ticks_done() == 1
    again, _ = written(tmp_path, SynthesisRecord.open(part.folder), Scripted())
    assert log(again) == log(whole)


class Dying(Scripted):
    """Breaks off after so many answers, as a killed process does."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.left = after

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        self.left -= 1
        if self.left < 0:
            raise MemoryError("broken off")
        return await super().complete(request, complaint)


def test_a_wave_that_is_broken_off_is_written_again_from_the_replies_that_came(
    tmp_path: Path,
) -> None:
    whole, _ = written(tmp_path / "whole", settings(4), Scripted())
    run = SynthesisRecord.open(_broken(tmp_path / "part", after=30))
    assert run.ticks_done() == 0
    had = sum(
        call["source"] != "fallback"
        for call in run.calls()
        if call["verb"] != "embed" and not call.get("given_up")
    )
    with Workshop(run) as workshop:
        assert log(workshop.run()) == log(whole)
        asked = workshop.models.usage.calls
    assert had >= 30 - AT_ONCE
    assert had + asked == sum(1 for call in whole.calls() if call["verb"] != "embed"), (
        "nothing that was answered is asked twice"
    )


def _broken(out: Path, after: int) -> Path:
    workshop = Workshop(settings(4), out=out, models=board(Dying(after), in_flight=1))
    with pytest.raises(MemoryError):
        workshop.run()
    return workshop.record.folder


class Dead(Scripted):
    async def complete(self, request: Question, complaint: str | None) -> Completion:
        raise Failure("connection refused", transport=True)


def test_a_dead_server_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ModelUnreachable, match="connection refused"):
        written(tmp_path, settings(2), Dead())
    run = SynthesisRecord.open(next(tmp_path.iterdir()))
    assert run.ticks_done() == 0
    assert log(written(tmp_path, run, Scripted())[0]) == log(
        written(tmp_path / "b", settings(2), Scripted())[0]
    )


def test_a_budget_gives_up_the_wave_that_it_does_not_reach_for(tmp_path: Path) -> None:
    whole, _ = written(tmp_path / "whole", settings(6))

    def models() -> Switchboard:
        return board(Listening(roles()))

    with Workshop(settings(6), out=tmp_path, models=models(), budget_calls=60) as workshop:
        with pytest.raises(BudgetSpent, match="budget of 60 calls is used up"):
            workshop.run()
        run = workshop.record
    assert 0 < run.ticks_done() < 3
    assert sum(call["tries"] for call in run.calls()) == 60
    with pytest.raises(BudgetSpent):
        Workshop(SynthesisRecord.open(run.folder), models=models(), budget_calls=60).run()
    assert sum(call["tries"] for call in run.calls()) == 60
    again = Workshop(SynthesisRecord.open(run.folder), models=models(), budget_calls=1000)
    assert log(again.run()) == log(whole)


def test_a_second_process_is_turned_away(tmp_path: Path) -> None:
    with (
        Workshop(settings(2), out=tmp_path, models=board(Scripted())) as workshop,
        pytest.raises(RunError, match="another process"),
    ):
        Workshop(SynthesisRecord.open(workshop.record.folder), models=board(Scripted()))


# forks


def test_a_fork_lives_on_without_a_strategy(tmp_path: Path) -> None:
    script = roles(evaluate=judges(revise=True), distil=teaches("Stay with it."))
    run, _ = written(tmp_path, settings(6), Listening(script))
    new = fork(run, 1, {"dropped": ["K001"]}, tmp_path / "forks")
    forked, _ = written(tmp_path, new, Listening(script))
    assert [event.strategies for event in happened(run, Extracted)][2:] == [("K001",)] * 4
    assert [event.strategies for event in happened(forked, Extracted)] == [()] * 6, (
        "found again, it stays dropped"
    )
    assert log(forked).splitlines()[:20] == log(run).splitlines()[:20]
    assert len(happened(forked, StrategyDropped)) == 1
    again, _ = written(
        tmp_path, fork(forked, 2, {"dropped": []}, tmp_path / "again"), Listening(script)
    )
    assert [event.strategies for event in happened(again, Extracted)] == [()] * 4 + [
        ("K001",)
    ] * 2, "and comes back when it is no longer dropped"
    with pytest.raises(
        RunError, match="K009: no strategy of that id before wave 1; there are K001"
    ):
        written(
            tmp_path, fork(run, 1, {"dropped": ["K009"]}, tmp_path / "forks"), Listening(script)
        )
    for key in ("strategies", "language", "situations"):
        with pytest.raises(SpecError, match=f"another '{key}'"):
            fork(run, 1, {key: "x"}, tmp_path / "forks")
    with pytest.raises(SpecError, match="another 'wave'"):
        fork(run, 1, {"wave": 3}, tmp_path / "forks")
    with pytest.raises(RunError, match="waves that were written"):
        fork(run, 9, {}, tmp_path / "forks")


def test_strategies_of_a_day_can_be_taken_out_and_given_again(tmp_path: Path) -> None:
    script = roles(
        evaluate=judges(revise=True),
        distil=lambda request, draw: json.dumps({"strategies": [f"Strategy of {request.who}."]}),
    )
    run, _ = written(tmp_path, settings(4), Listening(script))
    assert yaml.safe_load(strategies_yaml(run, 1)) == {
        "strategies": ["Strategy of S0001.", "Strategy of S0002."]
    }
    assert len(yaml.safe_load(strategies_yaml(run))["strategies"]) == 4
    assert list(strategy_lines(run, 0)) == ["no strategies before wave 0"]
    given, _ = written(tmp_path / "given", settings(2, strategies=("Go slowly.",)))
    assert [one.text for one in strategies_at(given, 0).carried()] == ["Go slowly."], (
        "the first wave began with it"
    )
    forked, _ = written(
        tmp_path, fork(run, 1, {"dropped": ["K001"]}, tmp_path / "forks"), Listening(script)
    )
    for wave in (0, 1):
        session = happened(forked, Extracted)[2 * wave]
        assert tuple(one.id for one in strategies_at(forked, wave).carried()) == session.strategies
    assert list(strategy_lines(run))[2].startswith(
        "K003  Strategy of S0003.  (wave 1, S0003; found once)"
    )
    with pytest.raises(RunError, match="choose one from 0 to 2"):
        strategies_at(run, 3)


def test_a_fork_with_another_model_asks_that_model(tmp_path: Path) -> None:
    run = Workshop(settings(4), out=tmp_path).run()
    with Workshop(
        fork(run, 1, {"models.default": "scripted:planted=0"}, tmp_path / "forks")
    ) as workshop:
        forked = workshop.run()
        assert workshop.models.usage.calls > 0
    own = [call for call in forked.calls() if not call.get("copied") and call["verb"] != "embed"]
    assert {call["model"] for call in own} == {"scripted:planted=0"}
    with Workshop(fork(run, 1, {}, tmp_path / "same")) as workshop:
        workshop.run()
        assert workshop.models.usage.calls == 0, "the same model has answered already"


def test_the_dialogues_of_a_fork_are_its_own(tmp_path: Path) -> None:
    run, _ = written(tmp_path, settings(6), Scripted())
    forked, _ = written(
        tmp_path, fork(run, 1, {"without": ["manager"]}, tmp_path / "forks"), Scripted()
    )
    assert [(one.origin.chat, one.condition) for one in dialogues_of(forked)] == [
        (f"S000{n}", "no_manager") for n in (3, 4, 5, 6)
    ]
    assert "manager" not in dialogues_of(forked)[0].origin.models
    assert account(forked).sessions == 6


def test_who_took_no_part_wrote_nothing(tmp_path: Path) -> None:
    alone, _ = written(tmp_path / "a", settings(2, without=("evaluator",)), Scripted())
    assert set(dialogues_of(alone)[0].origin.models) == {"extractor", "seeker", "supporter"}
    assert account(alone).modified is None
    run = Workshop(settings(2), out=tmp_path / "b").run()
    about = run.settings.model_copy(
        update={
            "models": run.settings.models.model_copy(update={"default": f"recorded:{run.folder}"})
        }
    )
    replayed = Workshop(about, out=tmp_path / "c").run()
    assert set(dialogues_of(replayed)[0].origin.models.values()) == {"scripted"}, (
        "not `recorded`, which writes nothing"
    )


def test_whoever_watches_can_stop_everything(tmp_path: Path) -> None:
    """A pipe that is closed makes the display raise SystemExit, in the thread of the models' loop."""

    def stop(event: object) -> None:
        raise SystemExit(141)

    with (
        pytest.raises(SystemExit),
        Workshop(settings(2), out=tmp_path, models=board(Scripted()), on_line=stop) as workshop,
    ):
        workshop.run()
    assert SynthesisRecord.open(workshop.record.folder).ticks_done() == 0


def test_after_a_broken_wave_the_run_must_be_opened_anew(tmp_path: Path) -> None:
    workshop = Workshop(
        settings(4), out=tmp_path, models=board(Listening(roles(evaluate=judges(revise=True))))
    )
    embed, workshop.models.embed = workshop.models.embed, None
    with pytest.raises(AttributeError):
        workshop.step()
    workshop.models.embed = embed
    with pytest.raises(RunError, match="open it again"):
        workshop.step()
    workshop.close()


# ablations


@each(
    ("without", "judged", "revised", "learned", "name"),
    [
        ((), 24, 24, 1, "full"),
        (("manager",), 24, 24, 0, "no_manager"),
        (("corrector",), 24, 0, 1, "no_corrector"),
        (("corrector", "manager"), 24, 0, 0, "no_corrector_no_manager"),
        (("evaluator",), 0, 0, 0, "no_evaluator"),
    ],
)
def test_roles_can_be_left_out(
    without: tuple[str, ...], judged: int, revised: int, learned: int, name: str, tmp_path: Path
) -> None:
    run, _ = written(
        tmp_path, settings(4, without=without), Listening(roles(evaluate=judges(revise=True)))
    )
    assert (
        len(happened(run, Evaluated)),
        len(happened(run, Revised)),
        len(happened(run, StrategyLearned)),
    ) == (judged, revised, learned)
    assert {dialogue.condition for dialogue in dialogues_of(run)} == {name}


def test_without_an_evaluator_a_session_ends_when_all_is_told(tmp_path: Path) -> None:
    run, _ = written(tmp_path, settings(1, without=("evaluator",), turns=20))
    assert [event.cause for event in happened(run, SessionEnded)] == ["disclosed"]
    assert dialogues_of(run)[0].undisclosed == ()


def test_arms_share_their_luck(tmp_path: Path) -> None:
    """What does not depend on the feedback is the same in every arm."""
    full, _ = written(tmp_path / "a", settings(2), Scripted())
    alone, _ = written(tmp_path / "b", settings(2, without=("evaluator",)), Scripted())
    first = [next(turn.text for turn in dialogues_of(run)[0].turns) for run in (full, alone)]
    assert first[0] == first[1]


def test_each_role_can_have_its_own_model(tmp_path: Path) -> None:
    about = settings(1).model_copy(
        update={"models": settings().models.model_copy(update={"evaluator": "scripted:planted=0"})}
    )
    run = Workshop(about, out=tmp_path).run()
    asked = {(call["purpose"], call["model"]) for call in run.calls() if call["verb"] != "embed"}
    assert {model for purpose, model in asked if purpose != "evaluate"} == {"scripted"}
    assert {model for purpose, model in asked if purpose == "evaluate"} == {"scripted:planted=0"}
    assert "evaluator scripted:planted=0" in "\n".join(account_lines(run))
    assert dialogues_of(run)[0].origin.models["evaluator"] == "scripted:planted=0"


# the account


def test_the_account_counts_what_happened(tmp_path: Path) -> None:
    run, _ = written(tmp_path, settings(2), Listening(roles(evaluate=judges(revise=True))))
    told = account(run)
    dialogues = dialogues_of(run)
    assert (told.sessions, told.utterances, told.drafts, told.revised, told.modified) == (
        2,
        12.0,
        12,
        12,
        1.0,
    )
    words = [len(turn.text.split()) for dialogue in dialogues for turn in dialogue.turns]
    assert told.length == pytest.approx(sum(words) / len(words))
    spent = [
        sum(call["latency_s"] for call in run.calls() if call["who"] == name)
        for name in ("S0001", "S0002")
    ]
    assert told.seconds_per_session == pytest.approx(sum(spent) / 2)
    assert told.spending.calls == sum(1 for call in run.calls() if call["verb"] != "embed")
    assert (told.strategies, told.found_again) == (1, 1)


def test_a_session_is_told_whole(tmp_path: Path) -> None:
    run, _ = written(tmp_path, settings(1), Listening(roles(evaluate=judges(revise=True))))
    lines = list(session_lines(run, "1"))
    assert lines == list(session_lines(run, "S0001"))
    for word in (
        "S0001, on sleep",
        "character, introduces",
        "draft (listening",
        "to revise: Stay with the feeling",
        "counselor, revised",
        "learned K001",
    ):
        assert any(word in line for line in lines), word
    with pytest.raises(RunError, match="there are 1 to 1"):
        list(session_lines(run, "7"))


def test_no_life_in_a_synthesis(tmp_path: Path) -> None:
    run, _ = written(tmp_path)
    with pytest.raises(RunError, match=r"nobody lives.*simcounsel view"):
        Run.open(run.folder)
    assert not happened(run, Warned)


# settings


def test_sessions_are_dealt_over_the_themes_by_turns() -> None:
    situations = tuple(
        Situation(id=f"{theme}{n}", text="word " * 8, theme=theme)
        for theme in "ab"
        for n in (1, 2, 3)
        if (theme, n) != ("b", 3)
    )
    about = Synthesis(situations=situations)
    assert [one.id for one in about.dealt()] == ["a1", "b1", "a2", "b2", "a3"]
    assert [one.id for one in about.model_copy(update={"sessions": 7}).dealt()][5:] == [
        "a1",
        "b1",
    ], "and over again"
    assert (about.model_copy(update={"sessions": 7, "wave": 3}).waves, about.waves) == (3, 1)


def test_a_second_session_of_a_situation_is_of_the_same_client_with_other_luck(
    tmp_path: Path,
) -> None:
    run, _ = written(tmp_path, settings(1, sessions=2), Scripted())
    first, second = dialogues_of(run)
    assert first.client == second.client == "seed-1"
    assert first.lines() != second.lines()


def test_a_fork_at_the_end_has_nothing_to_write(tmp_path: Path) -> None:
    run, _ = written(tmp_path, settings(4), Scripted())
    with pytest.raises(RunError, match="all 2 waves are before --at 2"):
        fork(run, 2, {}, tmp_path / "forks")
    assert fork(run, 2, {"sessions": 6}, tmp_path / "forks").settings.waves == 3
