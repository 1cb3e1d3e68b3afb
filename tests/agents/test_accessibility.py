"""What may come to mind at a moment: experiences, what fits, and not the same before every line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simcounsel.agents.accessibility import NOWHERE, Moment
from simcounsel.events import Memory
from simcounsel.runs.as_text import recall_lines
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from simcounsel.specs.world import World
from simcounsel.specs.world_file import load_world
from simcounsel.specs.world_settings import MemorySettings
from tests.each import each
from tests.stage import EIGHT, ROOT, Alone, changed, live, memory, switchboard, tiny

PLAIN = {
    "only_lived": False,
    "habituation_lines": 0,
    "initial_most": None,
    "initial_age_hours": 0,
    "conclusions_replace": False,
}
"""The paper's recall."""
QUERY = np.array([1, 0], dtype=np.float32)


def ines(**settings: Any) -> Alone:
    return Alone(world=changed(tiny(), memory=MemorySettings(**settings)))


def slot(number: int) -> Memory:
    plain: dict[str, Any] = {"emotion": None, "intensity": None, "poignancy": None}
    return memory(number, type="slot", origin="plan", **plain)


def ids(one: Alone, minute: int = EIGHT, moment: Moment = NOWHERE) -> list[str]:
    return [hit.id for hit in one.resident.memory.recall(QUERY, "neutral", minute, moment)]


@pytest.mark.parametrize(
    ("only_lived", "comes"), [(True, ["Ines:0"]), (False, ["Ines:0", "Ines:1"])]
)
def test_the_plan_of_a_day_does_not_come(only_lived: bool, comes: list[str]) -> None:
    one = ines(only_lived=only_lived)
    one.remember(slot(0), memory(1, type="day_plan", origin="plan"))
    assert sorted(ids(one)) == comes


def test_lines_of_the_talk_under_way_stand_in_the_prompt_already() -> None:
    one = ines()
    one.remember(
        *(memory(n, type="chat", origin="talk", chat=c) for n, c in ((0, "1:A+B"), (1, "2:A+B")))
    )
    assert ids(one) == ["Ines:0", "Ines:1"]
    assert ids(one, moment=Moment(chat="2:A+B")) == ["Ines:0"]


@pytest.mark.parametrize(("most", "comes"), [(2, 2), (0, 0), (None, 4)])
def test_of_what_a_client_brings_along_the_nearest_come(most: int | None, comes: int) -> None:
    one = ines(initial_most=most)
    for number, near in enumerate((0.0, 0.9, 0.2, 0.8)):
        brought = memory(number, origin="initial", poignancy=10 - number)
        one.remember(brought, vector=(near, (1 - near**2) ** 0.5))
    one.remember(memory(4, poignancy=1), vector=(0, 1))
    found = ids(one)
    assert len(found) == comes + 1
    assert most != 2 or set(found) == {"Ines:1", "Ines:3", "Ines:4"}


@each(
    ("near", "cites", "replaced"),
    [(0.95, (), True), (0.7, (), False), (0.7, ("Ines:0",), True), (0.5, ("Ines:0",), False)],
)
def test_a_conclusion_takes_the_place_of_one_that_said_the_same(
    near: float, cites: tuple[str, ...], replaced: bool
) -> None:
    for replace in (True, False):
        one = ines(conclusions_replace=replace)
        one.remember(memory(0, "earlier", origin="insight"))
        later = memory(1, "later", origin="insight", evidence=cites)
        one.remember(later, vector=(near, (1 - near**2) ** 0.5))
        gone = {"Ines:0"} if replaced and replace else set()
        assert set(ids(one)) == {"Ines:0", "Ines:1"} - gone


@pytest.mark.parametrize("hours", [0, 720])
def test_what_a_client_brings_along_is_old(hours: int) -> None:
    one = ines(initial_age_hours=hours)
    one.remember(memory(0, origin="initial"), memory(1))
    recency = {h.id: h.recency for h in one.resident.memory.recall(QUERY, "neutral", EIGHT + 60)}
    assert recency == {
        "Ines:0": pytest.approx(0.995 ** (hours + 1), abs=1e-4),
        "Ines:1": pytest.approx(0.995, abs=1e-4),
    }


class TestHabituation:
    def seven(self, **settings: Any) -> Alone:
        """Seven thoughts, each less poignant than the one before it; the fifth is nearest to the query."""
        one = ines(top_k=3, **settings)
        for number in range(7):
            vector = (0.5, 0.75**0.5) if number == 4 else (0.4, 0.84**0.5)
            one.remember(memory(number, poignancy=9 - number), vector=vector)
        return one

    def test_what_came_just_before_stands_back(self) -> None:
        one = self.seven()
        assert ids(one) == ["Ines:0", "Ines:1", "Ines:2"]
        lately = Moment(lately=(frozenset({"Ines:0", "Ines:1", "Ines:2"}),))
        assert ids(one, moment=lately) == ["Ines:3", "Ines:4", "Ines:5"]

    def test_the_nearest_of_all_does_not(self) -> None:
        lately = Moment(lately=(frozenset({"Ines:2", "Ines:3", "Ines:4"}),))
        assert ids(self.seven(), moment=lately) == ["Ines:0", "Ines:1", "Ines:4"]

    def test_where_nothing_else_is_left_it_comes_again(self) -> None:
        lately = Moment(lately=(frozenset(f"Ines:{n}" for n in range(6)),))
        assert ids(self.seven(), moment=lately) == ["Ines:0", "Ines:4", "Ines:6"]

    def test_it_is_forgotten_after_so_many_lines(self) -> None:
        first, none = frozenset({"Ines:0", "Ines:1", "Ines:2"}), frozenset[str]()
        one = self.seven(habituation_lines=2)
        assert "Ines:0" not in ids(one, moment=Moment(lately=(first, none)))
        assert ids(one, moment=Moment(lately=(first, none, none))) == ids(one)

    def test_the_paper_knows_none(self) -> None:
        one = self.seven(habituation_lines=0)
        assert ids(one, moment=Moment(lately=(frozenset({"Ines:0"}),))) == ids(one)


def afternoon(**settings: Any) -> World:
    """The default world up to the talk with the friend after the first session."""
    world = load_world(ROOT / "worlds" / "insomnia.yaml")
    models = world.models.model_copy(update={"reason": "scripted", "embed": "scripted"})
    return changed(world, ticks=24, models=models, memory=MemorySettings(**settings))


def lived(out: Path, **settings: Any) -> Run:
    """Lived with thoughts of the session that weigh less than what Ines brought along."""

    def summarize(request: Any, rng: Any) -> str:
        return (
            '{"summary": "' + request.facts.name + ' talked of the sheet that waits to be sent.",'
            ' "emotion": "trust", "intensity": 3, "poignancy": 3, "closeness": "as before"}'
        )

    return live(out, afternoon(**settings), models=switchboard(Scripted({"summarize": summarize})))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    """As it is by default, and with the paper's recall."""
    out = tmp_path_factory.mktemp("afternoons")
    return lived(out / "default"), lived(out / "plain", **PLAIN)


def own_lines(run: Run) -> list[tuple[frozenset[str], ...]]:
    """What came to Ines's mind before each of her lines with Omar after the session, by talk."""
    history = History.of(run)
    (session,) = [c for c in history.conversations() if set(c.who) == {"Ines", "Miriam"}]
    return [
        tuple(
            frozenset(hit.id for hit in line.recalled.event.hits)
            for line in talk.lines
            if line.who == "Ines" and line.recalled
        )
        for talk in history.conversations()
        if set(talk.who) == {"Ines", "Omar"} and talk.tick > session.tick
    ]


def summaries(run: Run) -> set[str]:
    """Ines's thoughts after sessions."""
    return {
        one.event.memory.id
        for one in History.of(run).memories("Ines")
        if one.event.memory.origin == "summary" and one.event.memory.present == ("Miriam",)
    }


def repeated(talks: list[tuple[frozenset[str], ...]]) -> float:
    """Of what came to mind before a line, the mean share that had come before the last one too."""
    pairs = [
        (one, last) for talk in talks for last, one in zip(talk, talk[1:], strict=False) if one
    ]
    return sum(len(one & last) / len(one) for one, last in pairs) / len(pairs)


def test_the_session_comes_to_mind_with_the_friend(runs: tuple[Run, Run]) -> None:
    default, plain = runs
    talks = own_lines(default)
    assert talks
    assert all(any(one & summaries(default) for one in talk) for talk in talks)
    assert not any(one & summaries(plain) for talk in own_lines(plain) for one in talk)


def test_what_stood_back_is_told(runs: tuple[Run, Run]) -> None:
    default, plain = runs
    recalls = History.of(default).recalls("Ines")
    seen = [one for one in recalls if one.event.stood_back]
    assert seen
    for one in seen:
        assert not set(one.event.stood_back) & {hit.id for hit in one.event.hits}
    shown = "\n".join(recall_lines(default, "Ines", seen[0].tick))
    assert "stood back, since it came to mind just before:" in shown
    assert not any(one.event.stood_back for one in History.of(plain).recalls())


def test_not_the_same_comes_before_every_line(runs: tuple[Run, Run]) -> None:
    default, plain = map(own_lines, runs)
    print(repeated(default), repeated(plain))
    assert repeated(default) <= 0.5 < 0.6 < repeated(plain)


def test_less_of_it_is_what_a_client_brought_along(runs: tuple[Run, Run]) -> None:
    def share(run: Run) -> float:
        origins = {m.event.memory.id: m.event.memory.origin for m in History.of(run).memories()}
        found = [
            origins[hit.id] == "initial"
            for one in History.of(run).recalls("Ines")
            for hit in one.event.hits
        ]
        return sum(found) / len(found)

    default, plain = map(share, runs)
    assert 0 < default < 0.65 * plain


def test_nothing_that_is_to_come_comes_to_mind(tmp_path: Path) -> None:
    def planned(run: Run) -> int:
        memories = {
            one.event.memory.id: one.event.memory
            for name in ("Ines", "Miriam", "Omar")
            for one in History.of(run).memories(name)
        }
        return sum(
            memories[hit.id].type in ("day_plan", "slot")
            for recall in History.of(run).recalls()
            for hit in recall.event.hits
        )

    much = {"top_k": 50}
    default = live(tmp_path / "default", afternoon(**much), ticks=13)
    plain = live(tmp_path / "plain", afternoon(**much, **PLAIN), ticks=13)
    assert planned(default) == 0 < planned(plain)
