"""Patient-Psi records become persona files, or it is said what is missing."""

import json
from pathlib import Path
from typing import Any

import pytest

from simcounsel.errors import SpecError
from simcounsel.specs.patient_psi import FIELDS, import_records
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona


def record(number: int = 1, person: str = "1", **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": "Alex",
        "id": f"{person}-{number}",
        "type": ["upset"],
        "history": "Alex grew up by the sea.",
        "helpless_belief": ["I am helpless."],
        "unlovable_belief": [],
        "worthless_belief": "",
        "intermediate_belief": "If I ask, I will be refused.",
        "coping_strategies": "He keeps to himself.",
        "situation": f"situation {number}",
        "auto_thought": f"thought {number}",
        "emotion": ["anxious", "sad"],
        "behavior": f"behavior {number}",
    }
    return fields | more


def saved(folder: Path, records: Any) -> Path:
    path = folder / "records.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def four(person: str = "1", **more: Any) -> list[dict[str, Any]]:
    return [record(number, person, **more) for number in (1, 2, 3, 4)]


def test_four_records_are_one_person(tmp_path: Path) -> None:
    (written,) = import_records(saved(tmp_path, four()), tmp_path / "out")
    assert written == tmp_path / "out" / "alex_1.yaml"
    persona = load_persona(written)
    assert isinstance(persona, ClientPersona)
    assert (persona.name, persona.history) == ("Alex", "Alex grew up by the sea.")
    assert [(s.situation, s.thought, s.emotion, s.behavior) for s in persona.situations] == [
        (f"situation {n}", f"thought {n}", "fear", f"behavior {n}") for n in (1, 2, 3, 4)
    ]
    assert [(b.kind, b.belief) for b in persona.core_beliefs] == [("helpless", "I am helpless.")]
    assert written.read_text(encoding="utf-8").startswith("# Read from records.json.")


def test_two_people(tmp_path: Path) -> None:
    written = import_records(
        saved(tmp_path, four() + four("2", name="Bo", emotion="angry")), tmp_path
    )
    assert [path.name for path in written] == ["alex_1.yaml", "bo_2.yaml"]
    bo = load_persona(written[1])
    assert isinstance(bo, ClientPersona)
    assert bo.situations[0].emotion == "anger"


@pytest.mark.parametrize("field", FIELDS)
def test_missing_field_by_name(tmp_path: Path, field: str) -> None:
    records = four()
    del records[2][field]
    with pytest.raises(SpecError) as caught:
        import_records(saved(tmp_path, records), tmp_path)
    who = "no name" if field == "name" else "Alex"
    assert (
        f"records.json: record 3 ({who}): the field {field!r} is missing; add it"
        in caught.value.problems[0]
    )
    assert not list(tmp_path.glob("*.yaml"))


def test_empty_field(tmp_path: Path) -> None:
    records = four()
    records[0]["auto_thought"] = " "
    with pytest.raises(SpecError, match="the field 'auto_thought' is empty; fill it in"):
        import_records(saved(tmp_path, records), tmp_path)


def test_no_core_belief(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="all three core beliefs are empty"):
        import_records(saved(tmp_path, four(helpless_belief="")), tmp_path)


def test_too_few_situations(tmp_path: Path) -> None:
    with pytest.raises(
        SpecError, match=r"person '1' \(Alex\) has 3 situations; a client needs 4, one record each"
    ):
        import_records(saved(tmp_path, four()[:3]), tmp_path)


def test_nothing_is_written_unless_all_is_good(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"person '2' \(Bo\) has 1 situations"):
        import_records(saved(tmp_path, [*four(), record(1, "2", name="Bo")]), tmp_path)
    assert not list(tmp_path.glob("*.yaml"))


def test_existing_file_stays(tmp_path: Path) -> None:
    mine = tmp_path / "alex_1.yaml"
    mine.write_text("mine", encoding="utf-8")
    with pytest.raises(
        SpecError, match=r"alex_1\.yaml: exists already; move it away, or choose another --out"
    ):
        import_records(saved(tmp_path, four()), tmp_path)
    assert mine.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("records", "what"),
    [
        ([], "expected a list of records"),
        ("text", "expected a list of records"),
        ([1], "expected a list of records"),
        (record(), "has 1 situations"),
    ],
)
def test_not_records(tmp_path: Path, records: Any, what: str) -> None:
    with pytest.raises(SpecError, match=what):
        import_records(saved(tmp_path, records), tmp_path)


def test_deep_nesting_and_control_characters(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(SpecError, match="nested too deeply"):
        import_records(tmp_path / "x.json", tmp_path)
    (tmp_path / "x.json").write_text('[{"name": "\\ud800", "id": "a\\u0007"}]', encoding="utf-8")
    with pytest.raises(
        SpecError, match="the field 'name' holds the control character #xd800"
    ) as caught:
        import_records(tmp_path / "x.json", tmp_path)
    assert "the field 'id' holds the control character #x07; take it out" in str(caught.value)


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
