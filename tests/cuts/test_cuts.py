"""One thing is cut in somebody from a tick on: what is withheld, what goes on, and what holds as ever."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcounsel.cuts.cut import Cut, changes, mind_name, read_mind
from simcounsel.cuts.mind import CutMade
from simcounsel.engine.forking import fork
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import SpecError
from simcounsel.events import (
    BeliefMoved,
    ClientShifted,
    ConversationStarted,
    Foreign,
    PersonaChanged,
    Planned,
    Recalled,
    RelationChanged,
    Remembered,
    Said,
    written,
)
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from tests.commands import Command
from tests.each import each
from tests.stage import changed, go_on, live, log, three, tiny

AT = 2
"""In the tiny world Ines meets Miriam at tick 2, and in that of three Omar at tick 4."""


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Run:
    memory = three().memory.model_copy(update={"reflect_after_memories": 4})
    return live(tmp_path_factory.mktemp("parent"), changed(three(), memory=memory))


def forked(parent: Run, out: Path, *do: str, at: int = AT) -> Run:
    made = fork(parent, at, changes(do, parent.world, at), out)
    with Simulation(made.world, run=made) as simulation:
        return simulation.run()


def after(run: Run, kind: type[Any], who: str | None = None, at: int = AT) -> list[Any]:
    events = (entry.event for entry in run.entries() if entry.tick >= at)
    return [one for one in events if isinstance(one, kind) and who in (None, one.who)]


def marks(run: Run) -> list[CutMade]:
    return list(written((e.event for e in run.entries() if isinstance(e.event, Foreign)), CutMade))


@each(
    "do, kind",
    [("freeze:persona=Ines", PersonaChanged), ("freeze:relationships=Ines", RelationChanged)],
)
def test_what_is_frozen_stays_and_is_marked(
    parent: Run, tmp_path: Path, do: str, kind: type[Any]
) -> None:
    assert after(parent, kind, "Ines"), "it moves where nothing is cut"
    run = forked(parent, tmp_path, do)
    assert not after(run, kind, "Ines")
    assert after(run, kind, "Miriam") or kind is PersonaChanged, "others go on"
    own = [one for one in marks(run) if one.cut == do.partition("=")[0]]
    assert sum(one.count for one in own) > 0 and {one.who for one in own} == {"Ines"}


def test_beliefs_that_a_reflection_would_move_stay(parent: Run, tmp_path: Path) -> None:
    from simcounsel.agents.mind import Effects
    from simcounsel.agents.resident import Resident
    from simcounsel.cuts.mind import CutMind
    from tests.stage import scene

    spec = with_mind(tiny(), "Ines", "cut:freeze:beliefs@0")[0]
    mind = CutMind(Resident(spec, tiny(), {}))
    moved = BeliefMoved(
        who="Ines", belief="C1", text="I am careless.", before=70, after=65, evidence=("Ines:1",), why="."
    )  # fmt: skip

    def reflects(scene: Any, trigger: str) -> Any:
        return Effects(events=(moved,))
        yield

    mind._inner.reflect = reflects  # type: ignore[method-assign]
    with pytest.raises(StopIteration) as ended:
        next(mind.reflect(scene(), "much that is new"))
    (made,) = ended.value.value.events
    assert (made.cut, made.count) == ("freeze:beliefs", 1)


def test_openness_that_a_line_would_move_stays(parent: Run, tmp_path: Path) -> None:
    run = forked(parent, tmp_path, "freeze:openness")
    steps = after(run, ClientShifted, "Ines")
    assert steps and all(one.openness == one.before for one in steps)


def test_nobody_talks_with_who_is_muted(parent: Run, tmp_path: Path) -> None:
    assert any("Omar" in one.who for one in after_talks(parent))
    run = forked(parent, tmp_path, "mute:layperson")
    assert not any("Omar" in one.who for one in after_talks(run))
    assert any("Miriam" in one.who for one in after_talks(run)), "others talk"


def after_talks(run: Run) -> list[ConversationStarted]:
    return [e.event for e in run.entries() if e.tick >= AT and isinstance(e.event, ConversationStarted)]  # fmt: skip


def made_at(run: Run) -> dict[str, int]:
    return {
        e.event.memory.id: e.tick
        for e in run.entries()
        if isinstance(e.event, Remembered) and e.event.memory.origin != "initial"
    }


def test_nothing_since_the_cut_comes_to_mind(parent: Run, tmp_path: Path) -> None:
    run = forked(parent, tmp_path, "block:memory=Ines")
    made = made_at(run)
    hits = [hit.id for one in after(run, Recalled, "Ines") for hit in one.hits]
    assert hits and all(made.get(one, -1) < AT for one in hits)
    others = [hit.id for one in after(run, Recalled, "Miriam") for hit in one.hits]
    assert any(made.get(one, -1) >= AT for one in others)
    assert after(run, Remembered, "Ines"), "it is laid down, and does not come to mind"
    assert any(one.cut == "block:memory" and one.count for one in marks(run))


def test_nothing_at_all_comes_to_mind(parent: Run, tmp_path: Path) -> None:
    run = forked(parent, tmp_path, "block:recall")
    recalled = after(run, Recalled, "Ines")
    assert recalled and not any(one.hits for one in recalled)


def test_other_memories_come_to_mind_by_chance_the_same_each_time(
    parent: Run, tmp_path: Path
) -> None:
    one, again = (forked(parent, tmp_path / name, "scramble:recall") for name in "ab")
    assert log(one) == log(again)
    usual = {e.query: e for e in after(parent, Recalled, "Ines")}
    drawn = [e for e in after(one, Recalled, "Ines") if e.query in usual]
    assert any(set(e.hits) != set(usual[e.query].hits) for e in drawn)
    (first, *_) = [e for e in drawn if len(usual[e.query].hits) == len(e.hits)]
    assert [hit.score for hit in first.hits], "with its own terms"


def test_a_frozen_plan_is_not_revised(parent: Run, tmp_path: Path) -> None:
    run = forked(parent, tmp_path, "freeze:plans", at=1)
    revised = [one for one in after(run, Planned, "Ines", at=1) if "stays" in one.why]
    assert all(one.strokes == after(run, Planned, "Ines", at=0)[0].strokes for one in revised)
    assert not [one for one in after(run, Planned, "Ines", at=1) if "stays" not in one.why]


def test_a_line_is_put_in_a_mouth_once(parent: Run, tmp_path: Path) -> None:
    text = "I slept; badly | so: what @ all?"
    run = forked(parent, tmp_path, f'say:Ines="{text}"')
    said = after(run, Said, "Ines")
    assert [one.text for one in said].count(text) == 1 and said[0].text == text
    assert said[0].source == "chosen"
    assert [one.cut for one in marks(run)] == ["say"]


@each("rule, words", [("silent", "…"), ("listens", "Mm. Go on.")])
def test_a_rule_speaks_for_the_counselor(
    parent: Run, tmp_path: Path, rule: str, words: str
) -> None:
    run = forked(parent, tmp_path, f"rule:counselor={rule}")
    assert {one.text for one in after(run, Said, "Miriam")} == {words}
    assert run.world.safety.counselors == "assess"
    assert after(run, Said, "Ines")


def test_a_rule_says_what_was_heard(parent: Run, tmp_path: Path) -> None:
    run = forked(parent, tmp_path, "rule:Miriam=echoes")
    said = [one for one in after(run, Said) if "Miriam" in (one.who, one.to)]
    pairs = zip(said, said[1:], strict=False)
    assert all(b.text == a.text for a, b in pairs if b.who == "Miriam")


def test_a_chinese_rule_speaks_chinese(tmp_path: Path) -> None:
    world = changed(tiny(), language="zh")
    run = live(tmp_path, world.model_copy(update={"residents": with_mind(world, "Miriam", "cut:rule:listens@0")}))  # fmt: skip
    assert {e.event.text for e in run.entries() if isinstance(e.event, Said) and e.event.who == "Miriam"} == {"嗯，你接着说。"}  # fmt: skip


def with_mind(world: Any, who: str, mind: str) -> tuple[Any, ...]:
    return tuple(
        one.model_copy(update={"mind": mind}) if one.name == who else one for one in world.residents
    )


def test_another_model_for_one_or_for_all(parent: Run) -> None:
    one = changes(["swap:model=Ines=scripted:planted=4"], parent.world, AT)
    assert one == {
        "residents.Ines.models.reason": "scripted:planted=4",
        "residents.Ines.models.quick": "scripted:planted=4",
    }
    assert changes(["swap:model=scripted:planted=4"], parent.world, AT) == {
        "models.reason": "scripted:planted=4",
        "models.quick": "scripted:planted=4",
    }


def test_a_cut_run_holds_resumes_and_is_forked_with_its_cuts(parent: Run, tmp_path: Path) -> None:
    do = ("block:memory", "freeze:persona", "mute:Omar")
    whole = forked(parent, tmp_path / "whole", *do)
    made = fork(parent, AT, changes(do, parent.world, AT), tmp_path / "part", name=whole.name)
    with Simulation(made.world, run=made) as simulation:
        simulation.run(2)
    part = go_on(made)
    assert log(part) == log(whole)
    assert not verify(part.folder).damages
    again = forked(part, tmp_path / "again", "freeze:relationships", at=6)
    mind = next(one.mind for one in again.world.residents if one.name == "Ines")
    assert mind == "cut:block:memory@2;freeze:persona@2;freeze:relationships@6"
    assert after(again, RelationChanged, "Ines", at=2) == [
        e for e in after(part, RelationChanged, "Ines", at=2) if e in after(again, RelationChanged, "Ines", at=2)
    ]  # fmt: skip
    assert not after(again, RelationChanged, "Ines", at=6)


def test_a_cut_run_replays_from_its_own_recording(parent: Run, tmp_path: Path) -> None:
    run = forked(parent, tmp_path, "scramble:recall", "say:Ines=Not today.")
    copy = tmp_path / "copy"
    made = fork(parent, AT, changes(("scramble:recall", "say:Ines=Not today."), parent.world, AT) | {"models.reason": f"recorded:{run.folder}", "models.embed": f"recorded:{run.folder}"}, copy)  # fmt: skip
    with Simulation(made.world, run=made) as simulation:
        again = simulation.run()
    assert [e.text for e in after(again, Said)] == [e.text for e in after(run, Said)]


@each(
    "do, says",
    [
        ("freeze:mood", "no 'mood'; there is beliefs, openness"),
        ("melt:beliefs", "no 'melt'; freeze:beliefs"),
        ("rule:Ines=sings", "no rule 'sings'; there are silent"),
        ("rule:silent", "nobody is named"),
        ("mute:Tom", "nobody is named 'Tom'; there are Ines, Miriam, Omar"),
        ("say:Ines=", "say what"),
        ("say:Ines", "say what"),
        ('say:Inez="Hello"', "nobody is named 'Inez'"),
        ("swap:model=Inez=scripted", "nobody is named 'Inez'"),
        ("freeze:openness=Miriam", "only clients have openness"),
        ("swap:model=", "name the model"),
        ("say:" + "x" * 400, "characters too long"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(parent: Run, do: str, says: str) -> None:
    if do == "rule:silent":
        assert changes([do], parent.world, 0), "the client, where nobody is named"
        return
    with pytest.raises(SpecError, match="--do") as told:
        changes([do], parent.world, 0)
    assert says in str(told.value)


def test_a_later_cut_of_a_kind_takes_the_place_of_an_earlier_one(
    parent: Run, tmp_path: Path
) -> None:
    first = forked(parent, tmp_path / "first", "rule:Miriam=silent")
    again = forked(first, tmp_path / "again", "rule:Miriam=listens", at=2)
    assert {one.text for one in after(again, Said, "Miriam")} == {"Mm. Go on."}
    with pytest.raises(SpecError, match="block:memory and scramble:recall exclude each other"):
        changes(["block:memory", "scramble:recall"], parent.world, 0)


def test_what_was_agreed_and_kept_back_is_not_known_where_memory_is_blocked() -> None:
    from dataclasses import replace

    from simcounsel.agents.resident import Resident
    from simcounsel.cuts.mind import CutMind
    from simcounsel.events import Entry, HomeworkAgreed
    from tests.stage import scene, view

    shifted = ClientShifted(
        who="Ines", chat="1:a", before=2, openness=3, claimed=3, quote=None, held_back="the phone"
    )
    agreed = HomeworkAgreed.model_construct(kind="homework_agreed", who="Ines")
    kept = tuple(
        Entry(n, tick, 0, event)
        for n, (tick, event) in enumerate([(1, shifted), (5, shifted), (5, agreed)])
    )
    talk = replace(view(), kept=kept)
    mind = CutMind(Resident(with_mind(tiny(), "Ines", "cut:block:memory@4")[0], tiny(), {}))
    known = mind._known(replace(scene(), tick=6), talk).kept
    assert [getattr(one.event, "held_back", "agreed") for one in known] == ["the phone", None]
    assert mind._known(replace(scene(), tick=3), talk).kept == kept, "before the cut"
    later = with_mind(tiny(), "Ines", "cut:block:memory@4;scramble:recall@5")[0]
    mind = CutMind(Resident(later, tiny(), {}))
    assert mind._known(replace(scene(), tick=6), talk).kept == kept, "another cut is in its place"


def test_a_bot_is_muted_or_ruled_and_nothing_is_cut_in_it(parent: Run) -> None:
    bot = parent.world.model_copy(
        update={"residents": with_mind(parent.world, "Miriam", "bot:sample:careful")}
    )
    assert changes(["mute:Miriam"], bot, 3) == {"residents.Miriam.mind": "cut:mute:@3"}
    with pytest.raises(SpecError, match="is played by bot:sample:careful"):
        changes(["block:memory=Miriam"], bot, 3)


def test_nothing_is_cut_where_a_person_sits(simcounsel: Command) -> None:
    ended = simcounsel("run", "tiny", "--do", "block:memory=Ines", "--human", "Ines")
    assert ended.code == 1 and "--human Ines seats a person there" in ended.err


def test_nothing_is_cut_where_another_option_sets_a_mind(simcounsel: Command) -> None:
    for other in (
        ("--bot", "sample:careful"),
        ("--set", "residents.Miriam.mind=bot:sample:careful"),
    ):
        ended = simcounsel(
            "run", "tiny", "--model", "scripted", *other, "--do", "block:memory=Miriam"
        )
        assert ended.code == 1 and "`residents.Miriam.mind` is set by another option" in ended.err


def test_a_run_is_cut_from_its_first_tick(simcounsel: Command) -> None:
    ended = simcounsel("run", "tiny", "--model", "scripted", "--do", "rule:counselor=silent", "--out", "r", "--quiet")  # fmt: skip
    assert ended.code == 0, ended.out + ended.err
    (run,) = (Run.open(one) for one in Path("r").iterdir())
    assert {one.text for one in after(run, Said, "Miriam", at=0)} == {"…"}


texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=60)


@given(
    st.lists(
        st.builds(
            lambda what, since: Cut(verb="say", what=what, since=since), texts, st.integers(0, 999)
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([None, "person", "bot:https://a/v1/b"]),
)
def test_any_cuts_are_read_as_they_were_named(cuts: list[Cut], inner: str | None) -> None:
    assert read_mind(mind_name(cuts, inner)) == (tuple(cuts), inner)


# in an experiment

EXPERIMENT = """name: Cuts
worlds: [{world}]
models: {{reason: scripted, embed: scripted}}
{paired}
conditions:
  - name: as-ever
  - name: quiet
    do: ["{do}"]
"""


def experiment(folder: Path, do: str, paired: str = "") -> Path:
    from tests.stage import TINY

    file = folder / "cuts.yaml"
    file.write_text(EXPERIMENT.format(world=TINY, do=do, paired=paired), encoding="utf-8")
    return file


@each("paired, at", [("", 0), ("paired_at: 2", 2)])
def test_a_condition_cuts_from_the_fork_on(
    tmp_path: Path, simcounsel: Command, paired: str, at: int
) -> None:
    from simcounsel.specs.experiment_file import load_experiment

    file = experiment(tmp_path, "mute:counselor", paired)
    _, cells = load_experiment(file)
    (quiet,) = [cell for cell in cells if cell.arm == "quiet"]
    minds = {one.name: one.mind for one in quiet.world.residents}
    assert minds == {"Ines": None, "Miriam": f"cut:mute:@{at}"}
    assert quiet.changes == {"residents.Miriam.mind": f"cut:mute:@{at}"}
    ended = simcounsel("sweep", file, "--out", f"s{at}", "--quiet", "--processes", "1")
    assert ended.code == 0, ended.out + ended.err
    runs = {one.name: Run.open(one) for one in Path(f"s{at}").iterdir() if one.is_dir()}
    talks = {name: len(after_talks(run)) for name, run in runs.items()}
    assert talks["client-s1-as-ever"] > talks["client-s1-quiet"] == 0


def test_a_client_who_takes_a_part_is_cut_by_name(tmp_path: Path, simcounsel: Command) -> None:
    from simcounsel.specs.experiment_file import load_experiment
    from tests.stage import ROOT

    clients = f"clients: [{ROOT}/personas/aisha.yaml]\nin_place_of: Ines\npaired_at: 2"
    file = experiment(tmp_path, "block:memory", clients)
    (quiet,) = [cell for cell in load_experiment(file)[1] if cell.arm == "quiet"]
    assert {one.name: one.mind for one in quiet.world.residents} == {
        "Aisha": "cut:block:memory@2", "Miriam": None,
    }  # fmt: skip
    ended = simcounsel("sweep", file, "--out", "s", "--quiet", "--processes", "1")
    assert ended.code == 0, ended.out + ended.err
    lived = Run.open("s/aisha-s1-quiet").world
    assert next(one.mind for one in lived.residents if one.name == "Aisha") == "cut:block:memory@2"


def test_a_wrong_cut_is_said_with_its_line(tmp_path: Path, simcounsel: Command) -> None:
    ended = simcounsel("sweep", experiment(tmp_path, "mute:Tom"), "--dry-run")
    assert ended.code == 1 and "cuts.yaml:8: --do mute:Tom: nobody is named 'Tom'" in ended.err
