"""What holds in every run, and how a simulation is used."""

import gc
import json
import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import mesa
import pytest

from simcounsel.engine.observers import both_of
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.errors import BudgetSpent, RunError, SpecError
from simcounsel.events import (
    Acted,
    Appraised,
    ConversationEnded,
    ConversationStarted,
    Entry,
    Joined,
    Moved,
    Perceived,
    PersonaChanged,
    Planned,
    Recalled,
    Reflected,
    RelationChanged,
    Remembered,
    Said,
    Scheduled,
    TickEnded,
)
from simcounsel.llm.prices import Price, Prices
from simcounsel.llm.question import Question
from simcounsel.runs.run import Run
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.residents import Relationship
from simcounsel.specs.world import World
from simcounsel.specs.world_file import load_world
from tests.each import each
from tests.stage import (
    SCRIPTED,
    TINY,
    Listening,
    begun,
    by_the_papers_weights,
    changed,
    go_on,
    happened,
    live,
    log,
    switchboard,
    three,
    tiny,
)


@pytest.fixture(scope="module", params=["tiny", "three", "insomnia"])
def entries(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[Entry]:
    """The logs in which the properties are looked for."""
    from tests.stage import ROOT

    insomnia = load_world(
        ROOT / "worlds" / "insomnia.yaml", models=SCRIPTED, ticks=50, start="2026-03-02 14:00"
    )
    world = {"tiny": tiny(), "three": three(), "insomnia": insomnia}[request.param]
    return list(live(tmp_path_factory.mktemp("properties"), world).entries())


def ticks(entries: list[Entry]) -> Iterator[list[Entry]]:
    """The entries of each tick."""
    tick: list[Entry] = []
    for entry in entries:
        tick.append(entry)
        if isinstance(entry.event, TickEnded):
            yield tick
            tick = []
    assert not tick, "something stands after the last tick"


class TestLog:
    def test_seq_rises_by_one_and_time_never_falls(self, entries: list[Entry]) -> None:
        assert [entry.seq for entry in entries] == list(range(len(entries)))
        assert all(
            a.tick <= b.tick <= a.tick + 1 and a.minute <= b.minute for a, b in pairwise(entries)
        )

    def test_each_tick_ends(self, entries: list[Entry]) -> None:
        assert [{entry.tick for entry in tick} for tick in ticks(entries)] == [
            {n} for n in range(entries[-1].tick + 1)
        ]

    def test_a_body_is_in_one_place(self, entries: list[Entry]) -> None:
        at: dict[str, str] = {}
        for tick in ticks(entries):
            acted = [entry.event for entry in tick if isinstance(entry.event, Acted)]
            assert len({event.who for event in acted}) == len(acted)
            for entry in tick:
                match entry.event:
                    case Joined():
                        at[entry.event.who] = entry.event.place
                    case Moved():
                        assert at[entry.event.who] == entry.event.origin != entry.event.place
                        at[entry.event.who] = entry.event.place
                    case Acted():
                        assert at[entry.event.who] == entry.event.place

    def test_what_is_seen_is_there(self, entries: list[Entry]) -> None:
        at: dict[str, tuple[str, str]] = {}
        seen = 0
        for entry in entries:
            if isinstance(entry.event, Acted):
                at[entry.event.who] = (entry.event.place, entry.event.seen or entry.event.activity)
            elif isinstance(entry.event, Perceived):
                here = at[entry.event.who][0]
                assert {(s.name, s.activity) for s in entry.event.others} == {
                    (name, activity)
                    for name, (place, activity) in at.items()
                    if place == here and name != entry.event.who
                }
                seen += len(entry.event.others)
        assert seen

    def test_talks_have_two_speakers_who_share_a_place_and_alternate(
        self, entries: list[Entry]
    ) -> None:
        at = {}
        chats: dict[str, list[Said]] = defaultdict(list)
        started: dict[str, ConversationStarted] = {}
        busy: set[tuple[int, str]] = set()
        for entry in entries:
            match entry.event:
                case Acted():
                    at[entry.event.who] = entry.event.place
                case ConversationStarted():
                    started[entry.event.chat] = entry.event
                    for who in entry.event.who:
                        assert at[who] == entry.event.place
                        assert (entry.tick, who) not in busy
                        busy.add((entry.tick, who))
                case Said():
                    chats[entry.event.chat].append(entry.event)
                case ConversationEnded():
                    assert len(chats[entry.event.chat]) == entry.event.messages
        assert chats
        for chat, said in chats.items():
            assert said[0].who == started[chat].who[0]
            assert {s.who for s in said} == set(started[chat].who)
            assert all(a.who == b.to and a.to == b.who for a, b in pairwise(said))

    def test_scores_and_terms_lie_between_0_and_1(self, entries: list[Entry]) -> None:
        hits = [
            hit
            for entry in entries
            if isinstance(entry.event, Recalled)
            for hit in entry.event.hits
        ]
        assert hits
        for hit in hits:
            assert all(0 <= value <= 1 for key, value in hit.model_dump().items() if key != "id")
            sum_of_terms = (
                0.10 * hit.recency
                + 0.40 * hit.poignancy
                + 0.15 * hit.emotion_score
                + 0.10 * hit.emotion_relevance
                + 0.25 * hit.relevance
            )
            assert hit.score == pytest.approx(sum_of_terms, abs=2e-4)

    def test_only_what_was_remembered_is_recalled_or_cited(self, entries: list[Entry]) -> None:
        known: set[str] = set()
        for entry in entries:
            event = entry.event
            if isinstance(event, Remembered):
                assert (
                    event.memory.id
                    == f"{event.who}:{sum(i.startswith(event.who + ':') for i in known)}"
                )
                known.add(event.memory.id)
            elif isinstance(event, Recalled):
                assert {hit.id for hit in event.hits} <= known
                assert all(hit.id.startswith(event.who + ":") for hit in event.hits)
            elif isinstance(event, Reflected):
                assert {i for insight in event.insights for i in insight.evidence} <= known
            elif isinstance(event, PersonaChanged):
                assert set(event.evidence) <= known

    def test_persona_versions_count_up_from_0(self, entries: list[Entry]) -> None:
        versions: dict[str, list[int]] = defaultdict(list)
        for entry in entries:
            if isinstance(entry.event, PersonaChanged):
                versions[entry.event.who].append(entry.event.version)
        assert all(found == list(range(len(found))) for found in versions.values())

    def test_everybody_acts_as_scheduled(self, entries: list[Entry]) -> None:
        slots: dict[str, dict[int, Any]] = defaultdict(dict)
        until: dict[str, int] = {}
        for entry in entries:
            if isinstance(entry.event, ConversationEnded):
                assert entry.event.until is not None
                until |= dict.fromkeys(both_of(entry.event.chat), entry.event.until)
            if isinstance(entry.event, Scheduled):
                slots[entry.event.who] = {
                    m: s
                    for m, s in slots[entry.event.who].items()
                    if m < entry.event.slots[0].minute
                }
                slots[entry.event.who] |= {slot.minute: slot for slot in entry.event.slots}
            elif isinstance(entry.event, Acted):
                if entry.minute < until.get(entry.event.who, 0):
                    assert entry.event.activity.startswith(("is in session", "is with", "goes on"))
                    continue
                assert slots[entry.event.who][entry.minute].activity == entry.event.activity

    def test_relations_stay_in_range_and_go_on_from_where_they_were(
        self, entries: list[Entry]
    ) -> None:
        score: dict[tuple[str, str], float] = {}
        for entry in entries:
            if isinstance(entry.event, RelationChanged):
                pair = (entry.event.who, entry.event.other)
                assert entry.event.before == score.get(pair, 2.0)
                score[pair] = entry.event.after
                assert 0 <= entry.event.after <= 10
        assert score

    def test_feelings_stay_in_range(self, entries: list[Entry]) -> None:
        felt = [entry.event for entry in entries if isinstance(entry.event, Appraised | Said)]
        assert all(1 <= f.intensity <= 10 and 1 <= f.poignancy <= 10 for f in felt)

    def test_a_plan_each_day(self, entries: list[Entry]) -> None:
        days = {
            (entry.event.who, entry.event.day)
            for entry in entries
            if isinstance(entry.event, Planned)
        }
        assert days == {
            (who, day)
            for who in {w for w, _ in days}
            for day in range(entries[-1].minute // 1440 + 1)
        }


@each(
    ("condition", "here"),
    [
        ("everyone", {"Ines", "Miriam", "Omar"}),
        ("client_only", {"Ines"}),
        ("client_counselor", {"Ines", "Miriam"}),
        ("client_layperson", {"Ines", "Omar"}),
    ],
)
def test_condition_says_who_is_there(tmp_path: Path, condition: Any, here: set[str]) -> None:
    run = live(tmp_path, three(), 6, condition=condition)
    assert {event.who for event in happened(run, Joined)} == here
    partners = {frozenset(event.who) for event in happened(run, ConversationStarted)}
    appointed = {frozenset({"Ines", "Miriam"}), frozenset({"Ines", "Omar"})}
    assert partners == {pair for pair in appointed if pair <= here}
    kinds = {
        (frozenset({event.who, event.activity.split()[1]}), event.activity_kind)
        for event in happened(run, Acted)
        if event.activity.endswith("as agreed")
    }
    assert kinds == {
        (pair, "counseling" if "Miriam" in pair else "social") for pair in appointed if pair <= here
    }, "a friend is met, not counseled by"


def test_counselor_opens_the_appointment(lived: Run) -> None:
    (started,) = (
        event for event in happened(lived, ConversationStarted) if event.cause == "appointment"
    )
    assert (started.who, started.place, started.chat, started.probability) == (
        ("Miriam", "Ines"),
        "Counseling Center",
        "2:Ines+Miriam",
        1.0,
    )


def test_relationships_of_the_world_count_both_ways(tmp_path: Path) -> None:
    world = changed(tiny(), relationships=(Relationship(between=("Ines", "Miriam"), score=7.5),))
    with Simulation(world, out=tmp_path) as simulation:
        simulation.step()
        ines, miriam = simulation.residents()
        assert (ines.close_to("Miriam"), miriam.close_to("Ines")) == (7.5, 7.5)


def test_in_three_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    from simcounsel import Simulation, load_world

    world = load_world(TINY, models=SCRIPTED)
    run = Simulation(world).run()
    assert run.folder.parent == Path("runs")
    assert run.ticks_done() == 12
    assert {path.name for path in run.folder.iterdir()} >= {
        "manifest.json",
        "events.jsonl",
        "calls.jsonl",
    }


def test_world_by_its_path_with_other_settings(tmp_path: Path) -> None:
    run = Simulation(
        str(TINY), model="scripted", seed=9, condition="client_only", out=tmp_path
    ).run(2)
    assert (
        run.world.seed,
        run.world.condition,
        run.manifest.models["reason"],
        run.manifest.models["embed"],
    ) == (9, "client_only", "scripted", "scripted")
    assert run.ticks_done() == 2


def test_seed_changes_the_run(tmp_path: Path) -> None:
    one, other = (live(tmp_path, ticks=3, seed=seed) for seed in (1, 2))
    assert log(one) != log(other)


def test_on_event_tells_what_was_written(tmp_path: Path) -> None:
    told: list[Entry] = []
    run = live(tmp_path, ticks=3, on_event=told.append)
    assert [entry.line() for entry in told] == log(run).decode().splitlines(keepends=True)


def test_garbage_is_searched_rarely_while_a_run_lives_and_as_before_after(tmp_path: Path) -> None:
    before, during = gc.get_threshold(), []
    gc.freeze()  # as a program does that runs worlds and has a large heap of its own
    frozen = gc.get_freeze_count()

    def broken_off(entry: Entry) -> None:
        during.append(gc.get_threshold())
        raise RuntimeError("whoever watches breaks it off")

    with pytest.raises(RuntimeError, match="breaks it off"):
        live(tmp_path, ticks=3, on_event=broken_off)
    assert during[0][0] > before[0]
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() > frozen / 2, "what others froze stays, but for what has gone"


def test_state_is_the_fold_over_the_log(tmp_path: Path) -> None:
    simulation = Simulation(tiny(), out=tmp_path)
    run = simulation.run()
    with Simulation(tiny(), run=Run.open(run.folder)) as again:
        for first, second in zip(simulation.residents(), again.residents(), strict=True):
            for name in (
                "place",
                "activity",
                "activity_kind",
                "emotion",
                "intensity",
                "version",
                "strokes",
                "planned_day",
                "slots",
                "sights",
                "closeness",
                "meetings",
                "last_talk",
                "sessions",
                "said",
                "_done",
                "news",
                "replan_why",
            ):
                assert getattr(first, name) == getattr(second, name), name
            assert first.memory.short.memories == second.memory.short.memories
            assert first.memory.long.memories == second.memory.long.memories
            assert (first.memory.new_memories, first.memory.new_poignancy) == (
                second.memory.new_memories,
                second.memory.new_poignancy,
            )


def test_mesa_batch_run(tmp_path: Path) -> None:
    rows = mesa.batch_run(
        Simulation,
        {
            "world": [tiny(ticks=3)],
            "seed": [1, 2],
            "condition": ["everyone", "client_only"],
            "out": [str(tmp_path)],
        },
        number_processes=1,
        data_collection_period=1,
        display_progress=False,
    )
    assert len(list(tmp_path.iterdir())) == 4
    assert {(row["seed"], row["condition"]) for row in rows} == {
        (s, c) for s in (1, 2) for c in ("everyone", "client_only")
    }
    lived = [row for row in rows if row["Step"] > 0]
    assert {row["name"] for row in lived if row["condition"] == "client_only"} == {"Ines"}
    assert {row["name"] for row in lived if row["condition"] == "everyone"} == {"Ines", "Miriam"}
    assert all(row["tick"] == row["Step"] and row["memories"] > 0 for row in lived)


def test_data_collector(tmp_path: Path) -> None:
    simulation = Simulation(tiny(), out=tmp_path)
    simulation.run(4)
    frame = simulation.datacollector.get_agent_vars_dataframe()
    assert len(frame) == 4 * 2
    assert set(frame.columns) == {"name", "place", "activity", "emotion", "intensity", "memories"}
    assert list(simulation.datacollector.get_model_vars_dataframe()["tick"]) == [0, 1, 2, 3, 4]


def test_bodies_stand_in_mesa_cells(tmp_path: Path) -> None:
    with Simulation(tiny(), out=tmp_path) as simulation:
        simulation.step()
        assert {body.name: str(body.cell.coordinate) for body in simulation.agents} == {
            r.name: r.place for r in simulation.residents()
        }


def test_a_budget_of_calls_is_never_exceeded_and_counted_on(tmp_path: Path) -> None:
    whole = log(live(tmp_path / "whole"))
    simulation = Simulation(tiny(), out=tmp_path, limits=Limits(budget_calls=10))
    with pytest.raises(BudgetSpent, match=r"budget of 10 calls is used up \(10 requests sent\)"):
        simulation.run()
    run = simulation.record
    assert sum(call["tries"] for call in run.calls()) == 10
    assert run.ticks_done() < 12
    assert whole.startswith(log(run)), "no tick is written in part"
    with pytest.raises(BudgetSpent, match=r"used up \(10 requests sent\)"):
        go_on(run, limits=Limits(budget_calls=10))
    with pytest.raises(BudgetSpent, match=r"budget of 25 calls is used up \(25 requests sent\)"):
        go_on(run, limits=Limits(budget_calls=25))
    assert sum(call["tries"] for call in run.calls()) == 25
    assert go_on(run, limits=Limits(budget_calls=100_000)).ticks_done() == 12
    assert log(run) == whole


def test_a_budget_of_money(tmp_path: Path) -> None:
    class Dear(Listening):
        name = "dear"

    prices = Prices({"dear": Price.model_validate({"in": 10, "out": 10})})
    models = switchboard(Dear(), prices=prices)
    simulation = Simulation(tiny(), out=tmp_path, models=models, limits=Limits(budget_usd=0.25))
    with pytest.raises(BudgetSpent, match=r"budget of 0.25 USD does not reach .* may cost up to"):
        simulation.run()
    assert 0 < simulation.record.ticks_done() < 12
    cost = models.usage.cost_usd
    assert cost is not None and 0.1 < cost <= 0.25
    assert cost == pytest.approx(sum(call["cost_usd"] for call in simulation.record.calls()))


def test_a_budget_of_nothing_lets_what_is_free_be_asked(tmp_path: Path) -> None:
    run = Simulation(tiny(), out=tmp_path, limits=Limits(budget_usd=0)).run(2)
    assert run.ticks_done() == 2


@each(
    ("phase", "purposes", "kinds"),
    [
        ("plan", {"plan_day", "plan_slots"}, {"planned", "scheduled", "acted", "moved"}),
        ("perceive", set(), {"perceived"}),
        ("appraise", set(), set()),
        (
            "converse",
            {"line_client", "line_counselor", "summarize", "move"},
            {"conversation_started", "said"},
        ),
        ("reflect", {"questions", "insights", "persona"}, {"reflected"}),
    ],
)
def test_without_a_phase(
    tmp_path: Path, lived: Run, phase: Any, purposes: set[str], kinds: set[str]
) -> None:
    run = live(tmp_path, changed(tiny(), without=(phase, "replan")))
    assert run.ticks_done() == 12
    assert purposes <= {call["purpose"] for call in lived.calls()}
    assert not purposes & {call["purpose"] for call in run.calls()}
    assert kinds <= {entry.event.kind for entry in lived.entries()}
    assert not kinds & {entry.event.kind for entry in run.entries()}


def test_without_appraisal_no_act_is_felt(tmp_path: Path, lived: Run) -> None:
    def felt(run: Run) -> set[str]:
        acts = {f"{event.who} {event.activity}." for event in happened(run, Acted)}
        return acts & {event.about for event in happened(run, Appraised)}

    assert felt(lived)
    assert not felt(live(tmp_path, changed(tiny(), without=("appraise",))))


def test_without_replan(tmp_path: Path, lived: Run) -> None:
    run = live(tmp_path, changed(tiny(), without=("replan",)))
    assert {event.why for event in happened(run, Planned)} == {"a new day"}
    assert {event.why for event in happened(lived, Planned)} > {"a new day"}


def test_baseline_recall_leaves_emotion_out(tmp_path: Path) -> None:
    run = live(tmp_path, tiny(memory__recall="generative_agents"), 4)
    hits = [hit for event in happened(run, Recalled) for hit in event.hits]
    assert hits and not any(by_the_papers_weights(hit) for hit in hits)


def test_manifest_says_where_it_comes_from(lived: Run) -> None:
    manifest = json.loads((lived.folder / "manifest.json").read_text(encoding="utf-8"))
    assert World.model_validate(manifest["world"]) == tiny()
    assert {
        "prompts/line_client.txt",
        "prompts/plan_day.txt",
        "policies/moves/en/socratic.yaml",
        "therapies/manuals/en/attachment_selfcare.yaml",
        "prompts/zh/note.txt",
        "therapies/exercises/en.yaml",
        "therapies/intents/zh.yaml",
        "danger/protection/ways/en.yaml",
        "danger/protection/told/zh.yaml",
        "danger/hearing/learning/en.npz",
    } <= set(manifest["prompts"])
    assert {"simcounsel", "python", "mesa", "numpy", "symspellpy"} <= set(manifest["versions"])
    assert manifest["parent"] is None
    assert manifest["models"] == {
        "reason": "scripted",
        "quick": "scripted",
        "judge": "scripted",
        "embed": "scripted",
    }


def test_log_holds_no_clock_and_no_tokens(lived: Run) -> None:
    text = log(lived).decode()
    assert not any(
        word in text for word in ("latency", "tokens", "cost_usd", "created", lived.name)
    )


def test_a_run_belongs_to_one_writer(tmp_path: Path) -> None:
    with Simulation(tiny(), out=tmp_path) as simulation:
        with pytest.raises(
            RunError, match="another process is writing this run; wait for it, or stop it first"
        ):
            Simulation(tiny(), run=Run.open(simulation.record.folder))
        simulation.step()
    assert go_on(simulation.record, 1).ticks_done() == 2


def test_closing_twice_does_no_harm(tmp_path: Path) -> None:
    simulation = Simulation(tiny(), out=tmp_path)
    simulation.run(1)
    simulation.close()
    assert simulation.record.ticks_done() == 1


def test_unknown_policy(tmp_path: Path) -> None:
    ines, miriam = tiny().residents
    world = changed(
        tiny(), residents=(ines, miriam.model_copy(update={"policy": PolicySpec(name="freudian")}))
    )
    with pytest.raises(SpecError, match="no policy 'freudian'; there are .*socratic, "):
        Simulation(world, out=tmp_path).run()


def test_a_tick_that_breaks_is_not_written(tmp_path: Path) -> None:
    def burst(request: Question, draw: Any) -> str:
        raise ZeroDivisionError("burst")

    run = begun(tmp_path)
    with pytest.raises(ZeroDivisionError):
        Simulation(
            run.world,
            run=run,
            models=switchboard(Listening({"move": burst, "line_counselor": burst})),
        ).run()
    kept = log(run)
    assert run.ticks_done() == 2
    assert b'"kind":"tick_ended"' in kept.splitlines()[-1]
    assert log(go_on(run)).startswith(kept)


def test_ten_minds_at_once_are_warned_about_nothing(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = live(tmp_path, three(), 5, limits=Limits(in_flight=2))
    assert run.ticks_done() == 5


def test_told_to_stop_it_stops_after_the_tick(tmp_path: Path) -> None:
    """As a signal does in the middle of a tick: the tick is written whole, the next is not begun."""
    simulation = Simulation(tiny(), out=tmp_path)

    def stop(entry: Entry) -> None:
        if entry.tick == 2:
            simulation.stopped_because = "told to"

    simulation.on_event = stop
    assert simulation.run().ticks_done() == 3
    assert simulation.stopped_because == "told to"
