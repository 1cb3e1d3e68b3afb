"""Patient-Psi records become persona files, each one or by name why not. The records here are invented, in the shape of the
public file: 25 people with two or three situations each, fields that end in `_current`, a menu of six manners.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from simcounsel.clock import MINUTES_PER_DAY
from simcounsel.errors import SpecError
from simcounsel.specs.patient_psi import CORES, OF_A_PERSON, OF_A_RECORD, import_records
from simcounsel.specs.patient_psi_persona import ImportChoices, sentence, tables
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.specs.world_file import load_world
from tests.commands import Command
from tests.each import each
from tests.stage import TINY, live

MENU = ["plain", "verbose", "go off on tangents", "hostile", "guarded", "ingratiating"]


def record(number: int = 1, person: str = "1", **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": "Alex",
        "id": f"{person}-{number}",
        "type": MENU,
        "history": "Alex grew up by the sea.",
        "helpless_belief_current": ["I am helpless."],
        "unlovable_belief_current": [],
        "worthless_belief_current": "",
        "intermediate_belief": "Helpless: If I ask, I will be refused. \n Unlovable: I must never be a burden.",
        "intermediate_belief_depression": "Helpless: Nothing I do makes a difference. \nUnlovable: It is my own fault.",
        "coping_strategies": "He keeps to himself.",
        "situation": f"situation {number}",
        "auto_thought": f"thought {number}",
        "emotion": ["anxious, worried, fearful, scared, tense"],
        "behavior": f"behavior {number}",
    }
    return {field: value for field, value in (fields | more).items() if value is not ...}


def saved(folder: Path, records: Any) -> Path:
    path = folder / "records.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def four(person: str = "1", **more: Any) -> list[dict[str, Any]]:
    return [record(number, person, **more) for number in (1, 2, 3, 4)]


def client(path: Path) -> ClientPersona:
    persona = load_persona(path)
    assert isinstance(persona, ClientPersona)
    return persona


def only(tmp_path: Path, *records: dict[str, Any], **choices: Any) -> ClientPersona:
    imported = import_records(saved(tmp_path, records), tmp_path / "out", ImportChoices(**choices))
    assert not imported.refused, imported.refused
    (written,) = imported.written
    return client(written)


def test_a_file_in_the_public_shape_is_imported_whole(tmp_path: Path) -> None:
    names = [f"Person {chr(ord('A') + number)}" for number in range(25)]
    records = [
        record(situation, str(person), name=name)
        for person, name in enumerate(names, 1)
        for situation in range(1, 3 + (person <= 8))
    ]
    assert len(records) == 58
    imported = import_records(saved(tmp_path, records), tmp_path / "out")
    assert (len(imported.written), imported.records) == (25, 58)
    assert imported.refused == imported.notes == ()
    people = [client(path) for path in imported.written]
    assert sorted({len(one.situations) for one in people}) == [2, 3]
    styles = {one.style for one in people}
    assert len(styles) > 3 and all(
        style in map(str.strip, tables()["styles"].values()) for style in styles
    )


def test_records_of_one_id_are_one_person_and_all_that_they_hold_is_kept(tmp_path: Path) -> None:
    persona = only(tmp_path, *four(), record(5, emotion=["sad, down, lonely, unhappy", "hurt"]))
    assert (persona.name, persona.history) == ("Alex", "Alex grew up by the sea.")
    assert [(s.situation, s.thought, s.emotion, s.behavior) for s in persona.situations] == [
        *((f"situation {n}", f"thought {n}", "fear", f"behavior {n}.") for n in (1, 2, 3, 4)),
        ("situation 5", "thought 5", "sadness", "behavior 5. Also felt hurt."),
    ]
    assert [s.intensity for s in persona.situations] == [6, 6, 6, 6, 7]
    assert [(b.kind, b.belief) for b in persona.core_beliefs] == [("helpless", "I am helpless.")]
    assert [(b.kind, b.belief) for b in persona.intermediate_beliefs] == [
        ("assumption", "If I ask, I will be refused."),
        ("rule", "I must never be a burden."),
        ("attitude", "Nothing I do makes a difference."),
        ("attitude", "It is my own fault."),
    ]
    head = (tmp_path / "out" / "alex_1.yaml").read_text(encoding="utf-8").replace("\n# ", " ")
    assert head.startswith("# Read from records.json.")
    assert "Beliefs during depression: Nothing I do makes a difference. It is my own" in head
    for words in ("anxious, worried", "sad, down, lonely, unhappy and hurt"):
        assert words in persona.portrait.recent_feeling


def test_the_first_sample_has_other_field_names_and_a_mark_for_depression(tmp_path: Path) -> None:
    plain = record(
        1,
        helpless_belief=["I fail."],
        helpless_belief_current=...,
        unlovable_belief_current=...,
        worthless_belief_current=...,
        intermediate_belief_depression=...,
        intermediate_belief="It is important to work.\n[during depression]\n(1) If I try, I fail. (2) If I ask, they see it.",
        coping_strategies="Avoids what is hard.",
    )
    persona = only(tmp_path, plain)
    assert [b.belief for b in persona.intermediate_beliefs] == [
        "It is important to work.",
        "If I try, I fail.",
        "If I ask, they see it.",
    ]
    assert [b.kind for b in persona.intermediate_beliefs] == ["rule", "assumption", "assumption"]
    assert persona.portrait.characteristic == "How Alex copes: Avoids what is hard."


@each(("text", "whole"), [("a.", "a."), ("a", "a."), ("a?", "a?"), (" a。 ", "a。")])
def test_a_sentence_has_one_stop(text: str, whole: str) -> None:
    assert sentence(text) == whole


def test_each_record_is_refused_by_name_and_the_rest_is_written(tmp_path: Path) -> None:
    records = [
        *four(),
        record(1, "2", name="Bo", emotion=[]),
        record(2, "2", name="Bo"),
        record(1, "3", name="Cy", helpless_belief_current=[]),
        record(1, "4", name="7"),
        record(5, auto_thought="a\u0007"),
    ]
    imported = import_records(saved(tmp_path, records), tmp_path / "out")
    assert [path.name for path in imported.written] == ["alex_1.yaml", "bo_2.yaml"]
    assert imported.records == 5
    refused = "\n".join(imported.refused)
    assert "record 5 (Bo, 2-1): the field 'emotion' is missing or empty; fill it in" in refused
    assert (
        "person '3' (Cy, 1 records): no record holds a core belief; fill in helpless_belief"
        in refused
    )
    assert "person '4' (7, 1 records)" in refused and "name" in refused
    assert (
        "record 9 (Alex, 1-5): the field 'auto_thought' holds the control character #x07" in refused
    )
    assert len(imported.refused) == 4


@each("field", OF_A_RECORD)
def test_a_missing_field_of_a_record_by_name(tmp_path: Path, field: str) -> None:
    records = four()
    del records[2][field]
    imported = import_records(saved(tmp_path, records), tmp_path / "out")
    (refused,) = imported.refused
    assert "records.json: record 3 (" in refused and f"the field {field!r} is missing" in refused
    assert imported.records == 3


@pytest.mark.parametrize("field", OF_A_PERSON)
def test_what_a_person_needs_one_record_must_hold(tmp_path: Path, field: str) -> None:
    assert only(tmp_path, record(1), record(2, **{field: ""}))
    imported = import_records(
        saved(tmp_path, [{key: value for key, value in record(1).items() if key != field}]),
        tmp_path / "none",
    )
    assert not imported.written and f"no record holds {field!r}" in imported.refused[0]


def test_nothing_is_dropped_or_changed_without_a_word(tmp_path: Path) -> None:
    records = [record(1, diagnosis="none", empty=""), record(2, emotion=["numb"])]
    imported = import_records(saved(tmp_path, records), tmp_path / "out")
    (dropped, neutral) = imported.notes
    assert "record 1 (Alex, 1-1): the field 'diagnosis' was not taken" in dropped
    assert "record 1-2: no emotion is known for 'numb', so it is neutral" in neutral
    persona = client(imported.written[0])
    assert persona.situations[1].emotion == "neutral" and "numb" in persona.portrait.recent_feeling
    held = persona.model_dump_json()
    for field, value in record(1).items():
        if field in ("id", "type"):
            continue
        for text in value if isinstance(value, list) else [value]:
            for line in str(text).splitlines():
                assert line.split(": ")[-1].strip() in held, field
    assert {*OF_A_RECORD, *OF_A_PERSON, *CORES} <= {*record(1), *(core for core in CORES)}


def test_one_style_is_drawn_or_chosen(tmp_path: Path) -> None:
    styles = {name: text.strip() for name, text in tables()["styles"].items()}
    drawn = set()
    for seed in range(12):
        (tmp_path / str(seed)).mkdir()
        drawn.add(only(tmp_path / str(seed), record(1), seed=seed).style)
    assert drawn <= set(styles.values()) and len(drawn) > 3
    chosen = only(tmp_path, record(1), style="pleasing")
    assert chosen.style == styles["pleasing"]
    (tmp_path / "b").mkdir()
    assert only(tmp_path / "b", record(1, type=["guarded"])).style == styles["reserved"]
    (tmp_path / "c").mkdir()
    assert only(tmp_path / "c", record(1, type=...)).style == styles["plain"]
    with pytest.raises(SpecError, match="--style reserve: no such style; did you mean .reserved."):
        ImportChoices(style="reserve")
    with pytest.raises(SpecError, match="--theme sleep: no such theme"):
        ImportChoices(theme="sleep")


@each("theme", tables()["themes"])
def test_days_and_nights_follow_the_theme(tmp_path: Path, theme: str) -> None:
    persona = only(tmp_path, *four(), theme=theme)
    assert persona.theme == theme
    night = [
        {routine.kind for routine in persona.routines if routine.covers(minute % MINUTES_PER_DAY)}
        for minute in range(22 * 60 + 30, MINUTES_PER_DAY + 7 * 60, 15)
    ]
    assert all(len(kinds) == 1 for kinds in night), "one routine an hour"
    awake = sum(kinds != {"sleep"} for kinds in night) / 4
    assert (awake >= 4) is (theme == "insomnia"), awake
    assert (awake == 0) is (theme in ("grief", "family conflict", "loneliness"))


@each(
    ("words", "theme"),
    [
        ("He lies awake for hours and cannot sleep.", "insomnia"),
        ("Her husband died; she avoids the funeral.", "grief"),
        ("He has panic attacks.", "anxiety"),
        ("Nothing in particular.", "depression"),
    ],
)
def test_a_theme_is_found_by_the_words_of_the_records(
    tmp_path: Path, words: str, theme: str
) -> None:
    assert only(tmp_path, record(1, history=words)).theme == theme
    head = (tmp_path / "out" / "alex_1.yaml").read_text(encoding="utf-8").replace("\n# ", " ")
    assert f"Theme: {theme}, " in head and "(--theme chooses)" in head


def test_pronouns_are_those_of_the_records(tmp_path: Path) -> None:
    for number, (history, pronouns) in enumerate(
        (
            ("He left. His work is his life.", "he/him"),
            ("She left her town.", "she/her"),
            ("He and she.", "they/them"),
        )
    ):
        (tmp_path / str(number)).mkdir()
        one = record(1, history=history, coping_strategies="Keeps away.", behavior="Went out")
        assert only(tmp_path / str(number), one).pronouns == pronouns


def test_an_intensity_that_a_record_holds_is_taken(tmp_path: Path) -> None:
    persona = only(tmp_path, record(1, intensity=3), record(2, intensity="lots"))
    assert [one.intensity for one in persona.situations] == [3, 6]


def test_an_imported_client_lives(tmp_path: Path) -> None:
    imported = import_records(
        saved(tmp_path, [record(1)]), tmp_path / "out", ImportChoices(theme="insomnia")
    )
    world = load_world(
        TINY, cast={"Ines": imported.written[0]}, models={"reason": "scripted", "embed": "scripted"}
    )
    run = live(tmp_path / "runs", world, ticks=4)
    assert run.ticks_done() == 4


def test_existing_file_stays(tmp_path: Path) -> None:
    mine = tmp_path / "alex_1.yaml"
    mine.write_text("mine", encoding="utf-8")
    imported = import_records(saved(tmp_path, [*four(), record(1, "2", name="Bo")]), tmp_path)
    assert [path.name for path in imported.written] == ["bo_2.yaml"]
    assert (
        "alex_1.yaml: exists already; move it away, or choose another --out" in imported.refused[0]
    )
    assert mine.read_text(encoding="utf-8") == "mine"


def test_two_people_of_one_number_are_two(tmp_path: Path) -> None:
    imported = import_records(saved(tmp_path, [record(1), record(2, name="Bo")]), tmp_path / "out")
    assert [path.name for path in imported.written] == ["alex_1.yaml", "bo_1.yaml"]
    assert client(imported.written[1]).name == "Bo"


@pytest.mark.parametrize("records", [[], "text", [1]])
def test_not_records(tmp_path: Path, records: Any) -> None:
    with pytest.raises(SpecError, match="expected a list of records"):
        import_records(saved(tmp_path, records), tmp_path)


def test_one_record_alone(tmp_path: Path) -> None:
    assert len(import_records(saved(tmp_path, record()), tmp_path / "out").written) == 1


def test_deep_nesting_and_control_characters(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(SpecError, match="nested too deeply"):
        import_records(tmp_path / "x.json", tmp_path)
    (tmp_path / "x.json").write_text('[{"name": "\\ud800", "id": "a\\u0007"}]', encoding="utf-8")
    refused = "\n".join(import_records(tmp_path / "x.json", tmp_path).refused)
    assert "the field 'name' holds the control character #xd800" in refused
    assert "the field 'id' holds the control character #x07; take it out" in refused


def test_no_json(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(SpecError, match="no such file"):
        import_records(path, tmp_path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(SpecError, match=r"x\.json:1: not JSON: .*correct it there"):
        import_records(path, tmp_path)


def test_out_that_cannot_be_written(tmp_path: Path) -> None:
    source = saved(tmp_path, four())
    (tmp_path / "out").write_text("a file", encoding="utf-8")
    with pytest.raises(SpecError, match="cannot be written"):
        import_records(source, tmp_path / "out")


def test_the_command_says_what_came_of_each(simcounsel: Command, tmp_path: Path) -> None:
    records = saved(tmp_path, [*four(), record(1, "2", name="Bo", situation="")])
    ended = simcounsel(
        "library",
        "personas",
        "import",
        records,
        "--out",
        "people",
        "--style",
        "plain",
        "--theme",
        "grief",
    )
    assert ended.code == 1
    assert ended.out == "wrote people/alex_1.yaml\npeople: 1, out of records: 4\n"
    assert "refused: " in ended.err and "record 5 (Bo, 2-1)" in ended.err
    assert "theme: grief" in (tmp_path / "people" / "alex_1.yaml").read_text(encoding="utf-8")
