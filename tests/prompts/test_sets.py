"""Sets of prompts in other words: what they must keep, which texts a run is sent, what it keeps of them."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from analysis.methods import checklist, methods, prompts_digest
from analysis.report import ReportOptions, make
from simcounsel.agents.views import known
from simcounsel.engine.forking import fork
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.errors import SpecError
from simcounsel.lab.first_prompts import first_prompts
from simcounsel.measuring.interview import Interview
from simcounsel.prompts import blocks_of, prompt_text, render, replaced, shortened
from simcounsel.prompts.sets import shipped_set, shipped_sets, unlike
from simcounsel.runs.run import Run
from simcounsel.specs import shipped
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.persona_file import load_persona
from simcounsel.specs.prompt_set import PromptSet, prompts_named
from simcounsel.specs.world_file import load_world
from tests.each import each
from tests.stage import NEVER, SCRIPTED, TINY, Listening, changed, live, switchboard, three, tiny

OURS = [(set_, name) for set_ in shipped_sets() for name in shipped_set(set_)]
WORD = re.compile(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+")
"""A character where it is Chinese."""
MATTER = {"line_client", "line_counselor", "appraise", "summarize", "insights", "plan_day", "move"}


@each(("set_", "name"), OURS)
def test_the_same_slots_and_blocks_in_other_words(set_: str, name: str) -> None:
    text = shipped_set(set_)[name]
    assert list(unlike(name, text)) == []
    assert list(blocks_of(text)) == list(blocks_of(prompt_text(name)))
    ours, theirs = (set(WORD.findall(one.lower())) for one in (text, prompt_text(name)))
    assert len(ours & theirs) < 0.75 * len(ours | theirs)


def test_a_set_has_what_matters_most() -> None:
    assert shipped_sets() == ("compact", "reworded")
    assert set(shipped_set("reworded")) >= MATTER and len(OURS) >= 12


@each(
    ("name", "text", "said"),
    [
        ("questions", "You help.\n---\n$memories\nAbout $nome?", "too many: $nome"),
        ("questions", "$name $memories", "missing: 'above'"),
        ("line_client", "--- rules\nA\n--- person\nB", "in this order"),
        ("moment", "jöy: glad", "too many: 'jöy'"),
        ("no_such_prompt", "Hello.", "would never be sent"),
    ],
)
def test_what_does_not_fit_is_said(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / f"{name}.txt").write_text(text)
    with pytest.raises(SpecError) as error:
        prompts_named("own", tmp_path)
    assert f"own/{name}.txt" in str(error.value) and said in str(error.value)


def test_a_world_says_where_its_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no folder of prompts"):
        load_world(TINY, prompts="rewordt")
    with pytest.raises(SpecError, match="has no prompt in the language of this world, 'zh'"):
        load_world(TINY, prompts="reworded", language="zh")


def asked(folder: Path, **changes: object) -> Listening:
    spy = Listening()
    world = changed(three(), fallbacks=NEVER, **changes)
    live(folder, world, models=switchboard(spy), limits=Limits(in_flight=1))
    return spy


def of(spy: Listening, purpose: str) -> str:
    found = next(one for one in spy.requests if one.purpose == purpose)
    return f"{found.system}\n{found.prompt}"


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Listening, Path, Listening]:
    folder, usual = tmp_path_factory.mktemp("set"), tmp_path_factory.mktemp("usual")
    set_ = prompts_named("reworded", Path())
    return asked(folder, prompts=set_, temperature=0.35), folder, asked(usual)


def test_people_are_sent_the_texts_of_the_set(lived: tuple[Listening, Path, Listening]) -> None:
    spy, folder, usual = lived
    assert "What does" in of(spy, "line_client") and "Take the part of" in of(spy, "line_client")
    assert "Take the part of" not in of(usual, "line_client")
    (manifest,) = folder.glob("*/manifest.json")
    world = json.loads(manifest.read_text())["world"]
    assert world["prompts"]["name"] == "reworded" and world["temperature"] == 0.35
    assert world["prompts"]["texts"] == shipped_set("reworded")
    assert prompt_text("line_client") == prompt_text("line_client")


def test_an_interview_and_a_report_keep_to_the_set(tmp_path: Path) -> None:
    texts = {"interview": prompt_text("interview").replace("--- answer", "--- answer\nPlease:")}
    world = changed(tiny(), prompts=PromptSet(name="please", texts=texts), temperature=0.35)
    run, spy = live(tmp_path, world, 2), Listening()
    with_set = switchboard(spy)
    Interview.begin(run, "Ines").ask("How are you?", with_set)
    with_set.close()
    assert any("Please:" in one.prompt for one in spy.requests)
    found = make([tmp_path], ReportOptions(shuffles=10, stories=0))
    usual = live(tmp_path / "usual", tiny(), 2).folder.parent
    before = prompts_digest(make([usual], ReportOptions(shuffles=10, stories=0)))
    assert prompts_digest(found) != before and "several" not in prompts_digest(found)
    assert "Sets of prompts: please. Temperatures: 0.35." in methods(found)
    assert "Sets of prompts: please." in dict(checklist(found))["Prompts, instruments, therapies"]


def test_what_people_think_and_say_has_the_temperature_and_choices_stay_at_0(
    lived: tuple[Listening, Path, Listening],
) -> None:
    spy, _, usual = lived
    for one in spy.requests:
        before = {other.temperature for other in usual.requests if other.purpose == one.purpose}
        if one.verb != "embed" and one.tier in ("reason", "quick") and before:
            assert one.temperature == (0 if before == {0} else 0.35), one.purpose
    assert {0, 0.35} <= {one.temperature for one in spy.requests}


def test_a_run_goes_on_with_the_texts_it_began_with(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    text = shipped_set("reworded")["plan_slots"]
    (own / "plan_slots.txt").write_text(text)
    world = load_world(TINY, seen_from=tmp_path, prompts="own")
    world = changed(world, models=world.models.model_copy(update=SCRIPTED))
    with Simulation(world, out=tmp_path / "runs") as simulation:
        simulation.run(ticks=1)
        folder = simulation.record.folder
    (own / "plan_slots.txt").write_text("gone")
    run = Run.open(folder)
    assert run.world.prompts is not None and run.world.prompts.texts == {"plan_slots": text}
    again = fork(run, 1, {"prompts": "reworded"}, tmp_path / "forks")
    assert again.world.prompts is not None and again.world.prompts.name == "reworded"


def test_without_a_set_nothing_of_it_stands_in_a_manifest(
    lived: tuple[Listening, Path, Listening],
) -> None:
    dumped = three().model_dump(mode="json")
    assert not {"prompts", "temperature"} & set(dumped)


def test_an_arm_may_have_a_set_and_its_prompts_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "prompts.yaml"
    file.write_text(
        f"name: Prompts\nworlds: [{TINY}]\nseeds: [1]\nticks: 2\n"
        "models: {reason: scripted, embed: scripted}\n"
        "conditions:\n  - {name: usual}\n  - {name: other, set: {prompts: reworded}}\n"
    )
    _, cells = load_experiment(file)
    found = first_prompts(cells)
    usual, other = ({one.purpose: one.text for one in found[arm]} for arm in ("usual", "other"))
    assert usual["plan_slots"] != other["plan_slots"]


def test_a_set_is_in_use_only_within() -> None:
    with replaced({"questions": "Other words."}):
        assert prompt_text("questions") == "Other words."
    assert prompt_text("questions") != "Other words."


def test_a_compact_person_is_short() -> None:
    """About 400 tokens of Qwen2.5, which has 4.5 characters a token in English."""
    with replaced(shipped_set("compact")):
        for file in sorted(shipped.folder("personas").glob("*.yaml")):
            somebody: Any = SimpleNamespace(name="Somebody", persona=load_persona(file))
            assert len(known(somebody)) <= 1_850, file.name


def test_a_compact_person_is_short_in_chinese_too() -> None:
    """About 400 tokens of Qwen2.5, which has 1.4 characters a token in Chinese; a character says
    as much as three letters.
    """
    with replaced(shipped_set("compact")):
        for file in sorted(shipped.folder("personas").glob("*.yaml")):
            somebody: Any = SimpleNamespace(name="何雨", persona=in_chinese(load_persona(file)))
            assert len(known(somebody, "zh")) <= 560, file.name


def in_chinese(value: Any) -> Any:
    """A persona of the same size in Chinese: of each sentence a third of its length."""
    if isinstance(value, BaseModel):
        fields = {key: in_chinese(getattr(value, key)) for key in type(value).model_fields}
        kept = {key: getattr(value, key) for key in ("role", "pronouns") if key in fields}
        return value.model_copy(update=fields | kept)
    if isinstance(value, tuple):
        return tuple(map(in_chinese, value))
    if not isinstance(value, str):
        return value
    return re.sub(r"[^.;]+[.;]?", lambda one: "字" * (len(one[0]) // 3) + "。", value)


def test_a_person_is_worded_by_the_set_in_use() -> None:
    """Also where the same person was worded by another one before."""
    somebody: Any = SimpleNamespace(name="Ines", persona=three().residents[0].persona)
    usual = known(somebody)
    with replaced(shipped_set("compact")):
        assert len(known(somebody)) < len(usual)
    assert known(somebody) == usual


@each(
    ("most", "begins", "ends"),
    [
        (8, "One two.", "Nine."),
        (21, "One two. Three four!", "seven eight.\nNine."),
        (30, "One two. Three four! Five six", "Five six; seven eight.\nNine."),
        (5, "One", "Nine."),
        (2, "On", "e."),
        (60, "One two. Three four! Five six; seven eight.\nNine.", None),
    ],
)
def test_a_slot_is_shortened_at_the_end_of_a_sentence(
    most: int, begins: str, ends: str | None
) -> None:
    text = "One two. Three four! Five six; seven eight.\nNine."
    assert shortened(text, most) == begins and len(begins) <= most
    assert shortened(text, most, last=True) == (ends or text)


@each(
    ("text", "most", "begins"),
    [
        ("\n- One two.\n- Three.", 12, "\n- One two."),
        ("\n- One two three.", 6, "\n- One"),
        ("1. One two.\n2. Three four five.", 16, "1. One two."),
        ("pin_down. Ask.\ntell_more. Ask again.", 26, "pin_down. Ask."),
        ("今天很累，昨晚没有睡，也没有吃", 8, "今天很累"),
        ("他说：“又有一个错。”她去看了，是问字体。", 12, "他说：“又有一个错。”"),
        ("left out", 0, ""),
        ("1. walking to the shop every day", 10, "1. walking"),
        ("I felt bad. 2. walking every day", 16, "I felt bad."),
        ("I feel bad.\nTired.\nVery long and more", 22, "I feel bad.\nTired."),
        ("一二三。四五六", 3, "一二三"),
        ("She came here in 2019. Then nothing.", 24, "She came here in 2019."),
    ],
)
def test_a_list_is_not_cut_behind_its_number(text: str, most: int, begins: str) -> None:
    """Space in front stays, and Chinese is cut at its own signs."""
    assert shortened(text, most) == begins


def test_the_end_of_a_text_is_never_nothing() -> None:
    assert shortened("今天很累，昨晚没有睡。", 8, last=True) == "昨晚没有睡。"
    assert shortened("今天很累。", 0, last=True) == ""


def test_shortened_slots_are_filled() -> None:
    assert shortened("今天很累。昨晚没有睡。", 6) == "今天很累。"
    with replaced({"questions": "You help $name.\n---\n$memories_8 and $memories_last_6"}):
        asked = render("questions", name="Ines", memories="One two. Three four.\nFive.")
    assert asked == ("You help Ines.", "One two. and Five.")
    with replaced({"questions": "$name\n---\n$nobody_8"}), pytest.raises(KeyError):
        render("questions", name="Ines", memories="")
