"""A world's parts are checked against each other, and `--set` reaches all of them."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from simcounsel.cli.check import check_file
from simcounsel.errors import SpecError
from simcounsel.policies import POLICIES
from simcounsel.specs import world_file as world_module
from simcounsel.specs.load import read_yaml
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.world import World
from simcounsel.specs.world_file import load_world
from simcounsel.specs.world_settings import MemorySettings
from tests.each import each
from tests.specs.files import line_with, persona_data, world_file, written
from tests.stage import ROOT, TINY, tiny
from tests.without import needs

INES = 'home: "Ines\'s House", starts_in: "Ines\'s Bedroom"'


@pytest.fixture(autouse=True)
def personas_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own persona files are read once; it is the worlds that are tried here."""
    monkeypatch.setattr(
        world_module,
        "read_yaml",
        lambda path: once(path) if path.parent.name == "personas" else read_yaml(path),
    )


once = cache(read_yaml)


def persona_path(name: str) -> str:
    return str(ROOT / "personas" / f"{name}.yaml")


def problem_of(path: Path, **changes: Any) -> str:
    with pytest.raises(SpecError) as caught:
        load_world(path, **changes)
    first, *more = caught.value.problems
    assert not more
    return first


@each(
    ("old", "new", "what"),
    [
        (
            '"Miriam\'s Kitchen", kind',
            '"Ines\'s Kitchen", kind',
            'a second place is named "Ines\'s Kitchen"; names must differ',
        ),
        (
            INES,
            INES.replace("Ines's House", "Ines's Hose"),
            'no place "Ines\'s Hose" in this world; did you mean "Ines\'s House"?',
        ),
        (
            INES,
            INES.replace("Ines's House", "Qqq"),
            "no place 'Qqq' in this world; there are Counseling Center, ",
        ),
        (
            INES,
            INES.replace("Ines's Bedroom", "Ines's Bedrom"),
            'no place "Ines\'s Bedrom" in this world; did you mean "Ines\'s Bedroom"?',
        ),
        (
            INES,
            INES.replace("Ines's Bedroom", "Ines's House"),
            "holds other places; name one of them: Ines's Bedroom, Ines's Kitchen",
        ),
        (
            "who: [Ines, Miriam]",
            "who: [Ines, Miram]",
            "no resident 'Miram' in this world; did you mean \"Miriam\"?",
        ),
        (
            "who: [Ines, Miriam]",
            "who: [Ines, Ines]",
            "an appointment is between two different people",
        ),
        (
            "place: Counseling Center, max",
            "place: Counselling Centre, max",
            'did you mean "Counseling Center"?',
        ),
        (
            "place: Counseling Center, max",
            'place: "Ines\'s House", max',
            'no place "Ines\'s House"',
        ),
        (
            'at: "09:00"',
            'at: "09:10"',
            "'09:10' falls between two ticks of 30 minutes; move it to one",
        ),
        ('at: "09:00"', 'at: "9 am"', "is not a time of day like '07:15'"),
        ('at: "09:00"', 'at: "24:30"', "is not a time of day between 00:00 and 24:00"),
        (
            "appointments:\n",
            'appointments:\n  - {who: [Miriam, Ines], days: [0], at: "09:00", place: Counseling Center}\n',
            "Ines has another appointment then",
        ),
        (
            "memory:",
            "relationships:\n  - {between: [Ines, Bob], score: 3}\nmemory:",
            "no resident 'Bob' in this world; there are Ines, Miriam",
        ),
        (
            "memory:",
            "relationships:\n  - {between: [Ines, Ines], score: 3}\nmemory:",
            "a relationship is between two different people",
        ),
        (
            "memory:",
            "relationships:\n  - {between: [Ines, Miriam], score: 11}\nmemory:",
            "less than or equal to 10",
        ),
        ("seed: 1", "seed: -1", "greater than or equal to 0"),
        ("ticks: 12", "ticks: 0", "greater than or equal to 1"),
        (
            "start: 2026-03-02 08:00",
            "start: 2026-03-02T08:00:00Z",
            "simulated time has no time zone",
        ),
        (
            "seed: 1",
            "seed: 1\ncondition: client",
            "'client' is not one of client_only, client_layperson",
        ),
        ("seed: 1", "seed: 1\nwithout: [dream]", "'dream' is not one of plan, act, perceive"),
        ("kind: bedroom", "kind: bedrom", "did you mean 'bedroom'?"),
        (INES, f'name: "a/b", {INES}', "a name is one line of text without"),
        (INES, f'name: "a+b", {INES}', "a name is one line of text without"),
        ("memory: {", "memory: {weights: {recency: 0.5}, ", "the five weights add up to 1.4"),
        ("memory: {", "memory: {decay_per_hour: 0, ", "greater than 0"),
        (
            "plan_slots: 4",
            "plan_slots: 4\nconversation: {max_turn: 6}",
            "did you mean 'max_turns'?",
        ),
    ],
)
def test_problem_stands_at_its_line(tmp_path: Path, old: str, new: str, what: str) -> None:
    path = world_file(tmp_path, old, new)
    with pytest.raises(SpecError) as caught:
        load_world(path)
    problem = next(p for p in caught.value.problems if what in p)
    there = path.read_text(encoding="utf-8").splitlines()[
        int(problem.removeprefix(f"{path}:").split(":")[0]) - 1
    ]
    blamed = (
        ["who: [Ines, Miriam]"]
        if "another appointment" in what
        else [line for line in new.splitlines() if line not in old.splitlines()]
    )
    assert any(line in there for line in blamed)


def test_second_resident_of_a_name(tmp_path: Path) -> None:
    path = world_file(
        tmp_path, "appointments:", f"  - {{persona: {persona_path('ines')}, {INES}}}\nappointments:"
    )
    assert "a second resident is named 'Ines'; give one another `name:`" in problem_of(path)


def test_pair_named_twice(tmp_path: Path) -> None:
    pairs = "relationships:\n  - {between: [Ines, Miriam], score: 3}\n  - {between: [Miriam, Ines], score: 4}\n"
    path = world_file(tmp_path, "memory:", pairs + "memory:")
    problem = problem_of(path)
    assert problem.startswith(
        f"{path}:{line_with(path, '[Miriam, Ines], score: 4')}: relationships.1.between: "
    )
    assert "Ines and Miriam are here a second time; remove one" in problem


def test_condition_that_leaves_nobody(tmp_path: Path) -> None:
    text = world_file(tmp_path).read_text(encoding="utf-8")
    start, end = (
        text.index("  - {persona: "),
        text.index("  - {persona: ", text.index("  - {persona: ") + 1),
    )
    text = (
        text[:start]
        + text[end : text.index("appointments:")]
        + text[text.index("memory:") :]
        + "\ncondition: client_only\n"
    )
    path = tmp_path / "world.yaml"
    path.write_text(text, encoding="utf-8")
    assert (
        "'client_only' leaves nobody in this world; add a client, or use condition: everyone"
        in problem_of(path)
    )


def test_persona_problems_keep_their_own_lines(tmp_path: Path) -> None:
    data = persona_data("ines")
    data["aage"] = data.pop("age")
    persona = written(tmp_path, data)
    path = world_file(tmp_path, persona_path("ines"), "persona.yaml")
    with pytest.raises(SpecError) as caught:
        load_world(path)
    assert caught.value.problems == [
        f"{persona}:1: age: missing; add `age: ...`",
        f"{persona}:{line_with(persona, 'aage')}: aage: unknown key; did you mean 'age'?",
    ]


def test_one_problem_hides_no_other(tmp_path: Path) -> None:
    """What is wrong in a persona, in the world's keys, and what its parts say against each other."""
    data = persona_data("ines")
    data["aage"] = data.pop("age")
    data["core_beliefs"][0]["strength"] = 175
    persona = written(tmp_path, data)
    path = world_file(tmp_path, persona_path("ines"), "persona.yaml")
    text = path.read_text("utf-8").replace("seed: 1", "seeed: 1")
    text += "measurements: [{instrument: gone.yaml, when: end}]\n"
    text += "relationships: [{between: [Ines, Miram], score: 3}]\n"
    path.write_text(text, "utf-8")
    with pytest.raises(SpecError) as caught:
        load_world(path)
    found = caught.value.problems
    wanted = (
        (persona, "age: missing"),
        (persona, "core_beliefs.0.strength: 175"),
        (persona, "aage: unknown key"),
        (path, "measurements.0.instrument: "),
        (path, "seeed: unknown key; did you mean 'seed'?"),
        (path, "relationships.0.between: no resident 'Miram' in this world; did you mean"),
    )
    assert len(found) == len(wanted)
    for file, what in wanted:
        assert [one for one in found if one.startswith(f"{file}:") and f": {what}" in one], what


def test_missing_persona_file(tmp_path: Path) -> None:
    path = world_file(tmp_path, persona_path("ines"), "inez.yaml")
    problem = problem_of(path)
    assert f"{path}:{line_with(path, 'inez.yaml')}: residents.0.persona: " in problem
    assert "inez.yaml: no such file" in problem


def test_not_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "world.yaml"
    path.write_text("- a\n", encoding="utf-8")
    assert "expected `key: value` lines, found list" in problem_of(path)


@each(
    ("key", "value", "read"),
    [
        ("seed", 7, lambda w: w.seed == 7),
        ("seed", "7", lambda w: w.seed == 7),
        ("conversation.max_turns", "6", lambda w: w.conversation.max_turns == 6),
        (
            "memory.weights",
            "{recency: 1, poignancy: 0, emotion_score: 0, emotion_relevance: 0, relevance: 0}",
            lambda w: w.memory.weights.recency == 1,
        ),
        (
            "residents.Ines.home",
            "Counseling Center",
            lambda w: w.residents[0].home == "Counseling Center",
        ),
        (
            "residents.ines.starts_in",
            "Ines's Kitchen",
            lambda w: w.residents[0].starts_in == "Ines's Kitchen",
        ),
        (
            "residents.1.policy",
            "supportive",
            lambda w: w.residents[1].policy == PolicySpec(name="supportive"),
        ),
        ("places.Counseling Center.kind", "office", lambda w: w.places[2].kind == "office"),
        ("appointments.0.at", "12:00", lambda w: w.appointments[0].at == "12:00"),
        ("appointments", "[]", lambda w: w.appointments == ()),
        ("without", "[reflect, replan]", lambda w: w.without == ("reflect", "replan")),
        ("start", "2026-03-03 09:00", lambda w: (w.start.day, w.start.hour) == (3, 9)),
    ],
)
def test_set_reaches_every_part(key: str, value: object, read: Any) -> None:
    assert not read(tiny())
    assert read(load_world(TINY, **{key: value}))


@each(
    ("key", "value", "what"),
    [
        ("sed", 7, "sed: unknown key; did you mean 'seed'?"),
        (
            "residents.Inez.home",
            "x",
            "--set residents.Inez.home: nothing named 'Inez' there; did you mean \"ines\"?",
        ),
        (
            "appointments.9.at",
            "10:00",
            "--set appointments.9.at: nothing named '9' there; number its items from 0 to 0",
        ),
        ("seed.deep", 1, "--set seed.deep: seed holds 1, which has no parts"),
        ("seed.deep.er", 1, "--set seed.deep.er: nothing named 'deep' there"),
        ("about", "[", "--set about: '[' is not valid YAML"),
        ("seed", "many", "seed: 'many'"),
        ("conversation.max_turn", 4, "did you mean 'max_turns'?"),
        ("appointments.0.at", "08:20", "falls between two ticks"),
    ],
)
def test_set_that_leads_nowhere(key: str, value: object, what: str) -> None:
    assert what in problem_of(TINY, **{key: value})


def manual_called(file: Path, name: str) -> Path:
    shipped = (
        ROOT / "simcounsel" / "therapies" / "manuals" / "en" / "motivational.yaml"
    ).read_text(encoding="utf-8")
    file.parent.mkdir(exist_ok=True)
    file.write_text(shipped.replace("name: motivational", f"name: {name}", 1), encoding="utf-8")
    return file


@needs("therapies")
@pytest.mark.parametrize(
    ("there", "read"), [(("here", "world"), "here"), (("here",), "here"), (("world",), "world")]
)
@pytest.mark.parametrize(
    "change",
    [
        {"residents.Miriam.policy": "mine.yaml"},
        {"residents.Miriam.policy": "{name: single, manual: mine.yaml}"},
        {"residents.Miriam.policy": {"name": "staged", "manual": "mine.yaml"}},
    ],
)
def test_a_file_that_a_change_names_is_looked_for_here_then_beside_the_world(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: tuple[str, ...],
    read: str,
    change: dict[str, Any],
) -> None:
    for name in ("here", "world"):
        (tmp_path / name).mkdir()
        if name in there:
            manual_called(tmp_path / name / "mine.yaml", name)
    world = tmp_path / "world" / "tiny.yaml"
    world.write_text(
        TINY.read_text(encoding="utf-8").replace("../personas", str(ROOT / "personas")),
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path / "here")
    policy = load_world("../world/tiny.yaml", **change).residents[1].policy
    assert policy is not None and policy.manual is not None and not isinstance(policy.manual, str)
    assert policy.manual.name == read


@pytest.mark.parametrize("name", ["x" * 300 + ".yaml", "a\nb.yaml"])
def test_a_name_that_no_file_can_have(name: str) -> None:
    with pytest.raises(SpecError, match="residents.1.policy"):
        load_world(TINY, **{"residents.Miriam.policy": {"name": "staged", "manual": name}})


def test_present_follows_the_condition() -> None:
    names = {
        c: [r.name for r in tiny().model_copy(update={"condition": c}).present()]
        for c in ("client_only", "client_layperson", "everyone")
    }
    assert names == {
        "client_only": ["Ines"],
        "client_layperson": ["Ines"],
        "everyone": ["Ines", "Miriam"],
    }


def test_round_trip_through_json() -> None:
    assert World.model_validate_json(tiny().model_dump_json()) == tiny()


def test_the_weights_are_the_papers() -> None:
    paper = MemorySettings().weights
    assert (
        paper.recency,
        paper.poignancy,
        paper.emotion_score,
        paper.emotion_relevance,
        paper.relevance,
    ) == (0.10, 0.40, 0.15, 0.10, 0.25)


@needs("corpus", "therapies")
def test_check_file_tells_what_a_file_is(tmp_path: Path) -> None:
    assert check_file(TINY) == []
    assert check_file(Path(persona_path("miriam"))) == []
    other = tmp_path / "x.yaml"
    other.write_text("a: 1\n", encoding="utf-8")
    assert check_file(other) == [
        f"{other}:1: neither a world (it has no `places:`) nor a persona (no `role:`) nor an experiment (no `conditions:`) "
        "nor a synthesis (no `situations:`) nor a manual (no `phases:`) nor a plan (no `therapy:` and `stages:`) nor a therapy (no `conceptualization:`)"
    ]
    odd = world_file(tmp_path, "miriam.yaml,", "miriam.yaml, policy: freudian,")
    assert check_file(odd) == [
        f"{odd}:{line_with(odd, 'freudian')}: no policy 'freudian'; there are {POLICIES.known()}"
    ]
    bad = world_file(tmp_path, "seed: 1", "seeed: 1")
    assert check_file(bad) == [
        f"{bad}:{line_with(bad, 'seeed')}: seeed: unknown key; did you mean 'seed'?"
    ]


def test_a_locale_without_help_lines_is_refused_where_it_stands(tmp_path: Path) -> None:
    odd = world_file(tmp_path, "seed: 1", "seed: 1\nsafety: {locale: en-UK}")
    (problem,) = check_file(odd)
    assert (
        problem.startswith(
            f"{odd}:{line_with(odd, 'en-UK')}: safety.locale: no help lines for 'en-UK'; known for en: "
        )
        and "en-GB" in problem
    )
    with pytest.raises(SpecError, match="en-UK"):
        load_world(odd)
    with pytest.raises(SpecError, match=r"no help lines for 'xx-XX'; known: .*zh-CN"):
        load_world(TINY, **{"safety.locale": "xx-XX"})
    assert load_world(TINY, **{"safety.locale": "en-GB"}).safety.locale == "en-GB"


def test_somebody_else_takes_a_part() -> None:
    world = load_world(
        TINY,
        cast={"Ines": ROOT / "personas" / "walter.yaml"},
        **{"residents.Ines.policy": "client"},
    )
    assert [
        (r.name, r.home, r.policy and r.policy.name) for r in world.residents if r.role == "client"
    ] == [("Walter", "Walter's House", "client")]
    assert {who for a in world.appointments for who in a.who} == {"Walter", "Miriam"}
    assert "Ines" not in world.model_dump_json(exclude={"residents": {"__all__": {"persona"}}})
    assert (
        world.residents[0].persona
        == load_world(TINY, cast={"Ines": ROOT / "personas" / "walter.yaml"}).residents[0].persona
    )


def test_a_part_that_cannot_be_taken() -> None:
    with pytest.raises(
        SpecError, match="no resident 'Inez' in this world whose part could be taken"
    ):
        load_world(TINY, cast={"Inez": ROOT / "personas" / "walter.yaml"})
    with pytest.raises(
        SpecError, match="Miriam lives in this world already and cannot take the part of Ines"
    ):
        load_world(TINY, cast={"Ines": ROOT / "personas" / "miriam.yaml"})
