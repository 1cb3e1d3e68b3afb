"""Profiles of simulated clients in five forms: what is kept, what is named as lost, what is refused. The records here are
invented; of the forms they have the names of fields alone.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from simcounsel.borrowed.profiles import FORMS, Translated, personas_from, profile_for
from simcounsel.borrowed.profiles.command import translate
from simcounsel.borrowed.profiles.files import form_of
from simcounsel.borrowed.profiles.forms import leaves
from simcounsel.borrowed.profiles.schema import schema_text
from simcounsel.errors import SpecError
from simcounsel.specs.load import read_yaml
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona, parse_persona
from simcounsel.specs.plain_days import plain_routines
from tests.each import each
from tests.stage import ROOT

OTHERS = ("patientpsi", "eeyore", "cactus", "veramh")
INES = ROOT / "personas" / "ines.yaml"
PROFILE: dict[str, Any] = {
    "name": "Bo Reed",
    "gender": "Female",
    "age": "25~44",
    "marital status": "Widowed",
    "occupation": "Tram driver",
    "situation of the client": "Bo cannot sleep since the tram was sold. It rains.",
    "resistance toward the support": "Medium",
    "symptom severity": {"trouble with sleep, most nights": "Severe", "anger": "Mild"},
    "cognition distortion exhibition": {"personalization": "Exhibited"},
    "depression severity": "N/A",
    "suicidal ideation severity": "Mild",
    "homicidal ideation severity": "none",
    "counseling history": "Not specified",
}
INTAKE = (
    "1. About you\nName:\nTove Berg\nAge:\n51\nGender:\nfemale\nOccupation: Baker\nEducation: School\n\n2. Presenting Problem\n"
    "I worry about bread. It burns.\n\n3. Reason for Seeking Counseling\nThe oven.\n\n5. Academic/occupational functioning"
    " level: Fine.\nDaily life: Flour."
)
FLAT = {
    "thought": "I burn all.",
    "patterns": ["labels"],
    "intake_form": INTAKE,
    "attitude": "negative",
}
SI = (
    "Name",
    "Age",
    "Gender",
    "Short Current Suicide Risk Level",
    "Current Suicidal Thoughts and Behaviors",
)
MORE = ("Primary Communication Style", "Background", "Recent Triggers and Stressors")
ROW = (
    "Ola",
    "Adult: 30-44 yo",
    "Transgender woman",
    "Immediate",
    "Has a plan",
    "Clipped",
    "Drives; lone",
    "Fired",
)


def saved(folder: Path, data: Any, name: str = "in.json") -> Path:
    file = folder / name
    file.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return file


def tsv(folder: Path, *rows: tuple[str, ...]) -> Path:
    return saved(folder, "\n".join("\t".join(row) for row in rows) + "\n", "in.tsv")


@cache
def client(file: Path = INES) -> ClientPersona:
    persona = load_persona(file)
    assert isinstance(persona, ClientPersona)
    return persona


def chinese() -> ClientPersona:
    """Ines in Chinese, as far as it matters here."""
    data = dict(read_yaml(INES)[0])
    data |= {
        "name": "林晓雨",
        "pronouns": "她",
        "gender": "女",
        "culture": "福建人",
        "occupation": "插画师",
    }
    data |= {
        "background": "在海边长大。",
        "history": "十个月前母亲住院。她有时说不想活了。",
        "voice": [],
    }
    data["core_beliefs"] = [{"kind": "helpless", "belief": "我保护不了家人。", "strength": 70}]
    persona = parse_persona(data, Path("lin.yaml"), {})
    assert isinstance(persona, ClientPersona)
    return persona


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def run(*arguments: object) -> Ran:
    app = typer.Typer()
    app.command()(translate)
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if isinstance(result.exception, SpecError):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


def only(folder: Path) -> ClientPersona:
    (file,) = folder.iterdir()
    return client(file)


@each("form", OTHERS)
@each("chinese_one", [False, True])
def test_there_and_back_keeps_who_it_is(tmp_path: Path, form: str, chinese_one: bool) -> None:
    start = chinese() if chinese_one else client()
    file = tmp_path / "ours.yaml"
    file.write_text(yaml.safe_dump(start.model_dump(mode="json"), allow_unicode=True), "utf-8")
    there = tmp_path / f"there.{'tsv' if form == 'veramh' else 'json'}"
    assert run(file, "--to", form, "--out", there).code == 0
    assert form_of(there) == form
    assert run(there, "--to", "ours", "--out", tmp_path / "back").code == 0
    back = only(tmp_path / "back")
    whole = " ".join(json.dumps(back.model_dump(mode="json"), ensure_ascii=False).split())
    assert back.name == start.name and start.history.strip() in whole
    assert chinese_one or back.theme == start.theme
    assert form == "patientpsi" or (back.age, back.gender) == (start.age, start.gender)
    assert back.pronouns == "she/her" or (form, chinese_one) == ("patientpsi", True)
    if form == "patientpsi":
        assert {one.belief for one in back.core_beliefs} == {
            one.belief for one in start.core_beliefs
        }
        assert [one.intensity for one in back.situations] == [
            one.intensity for one in start.situations
        ]


LINES = (
    "Marital status: a; b: c",
    "It rains\nAge: 7",
    "symptom severity: rain: a; b",
    "Background: a",
)
WORDS = st.text("abcdefgh xyz雨.:;\n", min_size=1, max_size=30).filter(lambda text: text.strip())
WORDS |= st.sampled_from(LINES)


@given(st.data(), st.sampled_from(OTHERS))
def test_nothing_is_lost_without_a_name(data: st.DataObject, form: str) -> None:
    fields = client().model_dump(mode="json", exclude={"voice", "thoughts"})
    fields["routines"] = plain_routines("grief")
    for key in ("culture", "occupation", "background", "history", "style"):
        fields[key] = data.draw(WORDS, key)
    fields["habits"] = data.draw(st.lists(WORDS, min_size=1, max_size=3), "habits")
    fields["coping_strategies"] = data.draw(st.lists(WORDS, min_size=1, max_size=3), "coping")
    fields["people"] = [{"name": data.draw(WORDS), "relation": data.draw(WORDS), "note": "kind"}]
    fields["core_beliefs"] = [{"kind": "worthless", "belief": data.draw(WORDS, "belief")}]
    fields["portrait"] = {"characteristic": data.draw(WORDS), "recent_feeling": data.draw(WORDS)}
    persona = parse_persona(fields, Path("drawn.yaml"), {})
    assert isinstance(persona, ClientPersona)
    made = profile_for(persona, form, situation=None)
    assert_named(persona, made)


def assert_named(persona: ClientPersona, made: Translated) -> None:
    said = " ".join(made.lost)
    held = " ".join(flat(text) for record in made.records for text in every(record))
    for key, value in persona.model_dump(mode="json", exclude_unset=True).items():
        parts = [part for _, text in leaves(value) for part in re.split("\n|; |: ", text)]
        there = all(flat(part) in held for part in parts)
        assert there or key == "role" or key.replace("_", " ") in said, key


def flat(text: str) -> str:
    return " ".join(text.casefold().split())


def every(value: Any) -> list[str]:
    if isinstance(value, (dict, list, tuple)):
        inner = [*value, *value.values()] if isinstance(value, dict) else value
        return [text for one in inner for text in every(one)]
    return [] if value is None else [str(value)]


@each("file", sorted((ROOT / "personas").glob("*.yaml"))[::4])
def test_each_client_goes_into_each_form(file: Path) -> None:
    persona = load_persona(file)
    for form in OTHERS if isinstance(persona, ClientPersona) else ():
        assert_named(persona, profile_for(persona, form, situation=None))


def test_what_a_simulator_takes_is_one_record() -> None:
    psi = profile_for(client(), "patientpsi")
    assert psi.data == psi.records[0] and len(psi.records) == len(client().situations)
    assert "situations (situation 6 of 7" in psi.lost[0]
    assert "situations" not in profile_for(client(), "patientpsi", situation=None).lost[0]
    assert (
        profile_for(client(), "patientpsi", situation=2).data["situation"]
        == client().situations[2].situation
    )
    assert set(profile_for(client(), "eeyore").data) == {"profile"}
    assert profile_for(client(), "eeyore").data["profile"].keys() == PROFILE.keys()
    ours = profile_for(client(), "ours")
    assert parse_persona(ours.data, INES, {}) == client() and ours.lost == ours.filled == ()
    with pytest.raises(SpecError, match=r'--to eyore: no such form; did you mean "eeyore"\?'):
        profile_for(client(), "eyore")


def test_eeyore_is_read_with_all_that_it_says(tmp_path: Path) -> None:
    file = saved(tmp_path, [{"profile": PROFILE, "conversation": [{"role": "x"}]}])
    ran = run(file, "--to", "ours", "--out", tmp_path / "out")
    bo = only(tmp_path / "out")
    assert (ran.code, bo.age, bo.pronouns, bo.theme) == (0, 34, "she/her", "insomnia")
    first, danger, *rest = bo.history.splitlines()
    assert first == PROFILE["situation of the client"]
    assert danger == "Suicidal ideation severity: Mild"
    assert "Homicidal ideation severity: none" in rest and "Marital status: Widowed" in rest
    assert "Symptom severity: trouble with sleep, most nights: Severe; anger: Mild" in rest
    assert bo.case[0].text == "Bo cannot sleep since the tram was sold."
    assert "Not taken from Eeyore: conversation." in ran.err
    assert "Filled in plainly: culture, background, style, habits," in ran.err
    assert "Age: 34, out of '25~44'." in ran.err
    assert (
        "In the history, in the profile's words: suicidal ideation severity, homicidal" in ran.err
    )
    (head,) = re.findall(r"\A(?:#.*\n)+", next((tmp_path / "out").iterdir()).read_text("utf-8"))
    assert (
        "Read from in.json" in head and "suicidal ideation severity" in head and "culture" in head
    )
    again = profile_for(bo, "eeyore").data["profile"]
    kept = {key for key, value in PROFILE.items() if again[key] == value}
    assert {*PROFILE} - kept == {"age", "depression severity", "counseling history"}
    assert again["age"] == "34" and again["depression severity"] == "not stated"


def test_ideation_goes_from_one_form_to_another_in_its_words(tmp_path: Path) -> None:
    file = saved(tmp_path, [{"profile": PROFILE}])
    ran = run(file, "--to", "veramh", "--out", tmp_path / "to.tsv")
    head, row = (tmp_path / "to.tsv").read_text("utf-8").splitlines()
    cells = dict(zip(head.split("\t"), row.split("\t"), strict=True))
    told = cells["Current Suicidal Thoughts and Behaviors"]
    assert told == "not stated as a level; the file says: “Suicidal ideation severity: Mild”"
    assert cells["Short Current Suicide Risk Level"] == "not stated"
    assert "own words, without a level: Current Suicidal Thoughts and Behaviors." in ran.err
    assert cells["Diagnoses and Symptoms"] == "not stated"  # the theme is a guess here
    back = run(tmp_path / "to.tsv", "--to", "eeyore", "--out", tmp_path / "back.json")
    (record,) = json.loads((tmp_path / "back.json").read_text("utf-8"))
    assert "Mild" in record["profile"]["suicidal ideation severity"] and back.code == 0


@each(
    ("words", "told"),
    [
        ("She has thought of killing herself.", "“She has thought of killing herself.”"),
        ("Her brother died by suicide.", "“Her brother died by suicide.”"),
        ("She slept badly.", "not stated"),
    ],
)
def test_ideation_is_told_only_in_the_words_of_our_file(words: str, told: str) -> None:
    one = client().model_copy(update={"history": f"It rained. {words}"})
    value = profile_for(one, "eeyore").data["profile"]["suicidal ideation severity"]
    assert value.endswith(told) and value.startswith("not stated")
    zh = profile_for(chinese(), "eeyore").data["profile"]["suicidal ideation severity"]
    assert zh.endswith("“她有时说不想活了。”")


@each(
    "record",
    [
        FLAT,
        {"AI_client": {"intake_form": INTAKE, "attitude": "negative", "thought": "I burn all."}},
    ],
)
def test_an_intake_form_is_read_by_its_headings(tmp_path: Path, record: dict[str, Any]) -> None:
    more = {"cbt_plan": "Ask.", "dialogue": [{"role": "x", "message": "y"}]}
    ran = run(saved(tmp_path, [record | more]), "--to", "ours", "--out", tmp_path / "out")
    tove = only(tmp_path / "out")
    assert (tove.name, tove.age, tove.occupation, tove.theme) == (
        "Tove Berg",
        51,
        "Baker",
        "depression",
    )
    assert tove.history.startswith("I worry about bread. It burns.\n")
    assert "Attitude: negative" in tove.history and "Daily life: Flour." in tove.history
    assert tove.situations[0].thought == "I burn all."
    assert "Not taken from Cactus: cbt_plan, dialogue." in ran.err
    assert "level\nFine." in profile_for(tove, "cactus").data["intake_form"]
    bare = saved(tmp_path, [{"intake_form": "I worry about bread."}], "bare.json")
    run(bare, "--to", "ours", "--theme", "anxiety", "--out", tmp_path / "bare")
    assert (only(tmp_path / "bare").name, only(tmp_path / "bare").theme) == ("Client 1", "anxiety")


def test_three_editions_of_vera_mh_are_read(tmp_path: Path) -> None:
    ran = run(tsv(tmp_path, SI + MORE, ROW), "--to", "ours", "--out", tmp_path / "si")
    ola = only(tmp_path / "si")
    assert (ola.age, ola.style, ola.background) == (37, "Clipped", "Drives; lone")
    assert ola.history.splitlines()[:2] == ["Fired.", "Short Current Suicide Risk Level: Immediate"]
    assert "profile's words: Short Current Suicide Risk Level, Current Suicidal" in ran.err
    row = profile_for(ola, "veramh").data
    assert row["Short Current Suicide Risk Level"] == "Immediate"
    assert row["Current Suicidal Thoughts and Behaviors"] == "Has a plan"
    old = ("Name", "Age", "Pronouns", "Background", "Current Risk Level", "Sample Prompts")
    new = ("9Q", "19", "they/them", "Draws maps", "None", "is anybody there")
    run(tsv(tmp_path, old, new), "--to", "ours", "--out", tmp_path / "old")
    ren = only(tmp_path / "old")
    assert (ren.name, ren.pronouns, ren.gender) == ("Person 9Q", "they/them", "not stated")
    assert ren.history == "Current Risk Level: None"
    assert ren.situations[0].thought == "is anybody there"
    hfo = ("Name", "Age", "Gender", "Harm imminence", "Background", "Barriers to safety")
    run(
        tsv(tmp_path, hfo, ("A1", "60+ yo", "Man", "Imminent", "Bakes", "y" * 4100)),
        "--to",
        "ours",
        "--out",
        tmp_path / "hfo",
    )
    assert only(tmp_path / "hfo").history == "Harm imminence: Imminent"


def test_same_names_and_what_was_written_stay_apart(tmp_path: Path) -> None:
    file = saved(tmp_path, [FLAT, FLAT, FLAT])
    done = personas_from(file, "cactus", tmp_path / "out")
    assert [one.name for one in done.written] == [
        "tove_berg.yaml",
        "tove_berg_2.yaml",
        "tove_berg_3.yaml",
    ]
    again = personas_from(file, "cactus", tmp_path / "out")
    assert not again.written and "exists already; move it away, or choose" in again.refused[0]
    psi = tmp_path / "psi.json"
    assert run(file, "--to", "patientpsi", "--out", psi).code == 0
    assert [one["id"] for one in json.loads(psi.read_text("utf-8"))] == ["1-1", "2-1", "3-1"]
    with pytest.raises(SpecError, match="psi.json: exists already"):
        run(file, "--to", "patientpsi", "--out", psi)


def test_a_record_that_cannot_be_used_is_refused_by_name(tmp_path: Path) -> None:
    records = [
        {"profile": PROFILE},
        {"profile": PROFILE | {"situation of the client": "Unknown"}},
        {"profile": PROFILE | {"age": "12"}},
        {"profile": PROFILE | {"situation of the client": "x" * 3999}},
        {"profile": PROFILE | {"name": "Bo\u0007"}},
    ]
    ran = run(saved(tmp_path, records), "--to", "ours", "--out", tmp_path / "out")
    assert ran.code == 1 and "clients: 1\n" in ran.out
    who = [f"in.json:1: record {number} (Bo Reed): " for number in (2, 3, 4)]
    assert f"{who[0]}the field 'situation of the client' is missing or empty; say what" in ran.err
    assert f"{who[1]}age: 12: input should be greater than or equal to 16" in ran.err
    assert f"{who[2]}history: " in ran.err and "at most 4000 characters" in ran.err
    assert "the field 'name' holds the control character #x07; take it out" in ran.err


@each(
    ("name", "text", "source", "wrong"),
    [
        ("in.json", "[{", None, r"in.json:1: not JSON"),
        (
            "in.json",
            "[]",
            "eeyore",
            r"in.json:1: expected a list of records; is it the right file\?",
        ),
        ("in.json", '[{"profile": {}}, 3]', None, r"record 2: '3' is no record; take it out"),
        (
            "in.json",
            '[{"a": 1}]',
            None,
            r"in.json:1: no known form has the fields a; say --from one of ours,",
        ),
        ("in.json", "[1]", "patientpsi", r"expected a list of records, each with name, id"),
        (
            "in.json",
            '[{"intake_form": "x"}]',
            "cactis",
            r'--from cactis: no such form; did you mean "cactus"',
        ),
        (
            "in.tsv",
            "Name,Age\nOla,3\n",
            None,
            r"in.tsv:1: no columns 'Name' and 'Age'; is it a TSV\?",
        ),
        (
            "in.tsv",
            "Name\tAge\nOla\t3\tx\n",
            None,
            r"in.tsv:2: 3 cells under 2 columns; take the tabs out",
        ),
        ("in.tsv", "Name\tAge\n", None, r"in.tsv:2: no row below the columns"),
        ("in.yaml", "role: client\n", None, r"in.yaml:1: name: missing; add `name: ...`"),
        (
            "in.json",
            json.dumps([FLAT]),
            "cactus",
            r"has the form 'cactus' already; choose another --to",
        ),
    ],
)
def test_a_broken_file_is_told(
    tmp_path: Path, name: str, text: str, source: str | None, wrong: str
) -> None:
    file = saved(tmp_path, text, name)
    options = ["--from", source] if source else []
    with pytest.raises(SpecError, match=wrong):
        run(file, "--to", "cactus", "--out", tmp_path / "out", *options)


def test_only_clients_and_known_themes_are_taken(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="only a client is translated"):
        run(ROOT / "personas" / "omar.yaml", "--to", "eeyore", "--out", tmp_path / "out")
    with pytest.raises(SpecError, match="--theme grieff: no such theme"):
        run(saved(tmp_path, [FLAT]), "--to", "ours", "--theme", "grieff", "--out", tmp_path)


def test_patient_psi_is_read_by_its_importer(tmp_path: Path) -> None:
    made = profile_for(client(), "patientpsi", situation=None)
    broken = [*made.records, {"name": "Al", "id": "2-1", "mood": "x"}]
    ran = run(saved(tmp_path, broken), "--to", "eeyore", "--out", tmp_path / "to.json")
    assert (
        ran.code == 1 and "in.json: record 8 (Al, 2-1): the field 'situation' is missing" in ran.err
    )
    assert "Style: plain, since the records name none." in ran.err and "--style" not in ran.err
    (record,) = json.loads((tmp_path / "to.json").read_text("utf-8"))
    assert record["profile"]["age"] == record["profile"]["gender"] == "not stated"


def test_the_published_schema_is_of_the_code() -> None:
    file = ROOT / "docs" / "client.schema.json"
    assert file.read_text(encoding="utf-8") == schema_text(), (
        "write simcounsel.borrowed.profiles.schema.schema_text() into it"
    )
    Draft202012Validator.check_schema(json.loads(schema_text()))


SCHEMA = Draft202012Validator(json.loads(schema_text()))


def test_the_schema_takes_each_client_of_ours() -> None:
    taken = 0
    for file in sorted((ROOT / "personas").glob("**/*.yaml")):
        data = yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
        if isinstance(data, dict) and data.get("role") == "client":
            assert not [error.message for error in SCHEMA.iter_errors(data)], file
            taken += 1
    assert taken >= 37
    assert SCHEMA.is_valid(json.loads(json.dumps(chinese().model_dump(mode="json"))))


@each(
    "change",
    [
        {"theme": "rain"},
        {"age": "34"},
        {"core_beliefs": []},
        {"days": [[{"at": "07:00", "do": "wakes"}]]},
        {"days": [[{"at": "25:00", "do": "wakes"}] * 5]},
        {"name": "7 Ines"},
        {"pronouns": "she"},
        {"weather": "rain"},
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(change: dict[str, Any]) -> None:
    data = dict(read_yaml(INES)[0]) | change
    assert not SCHEMA.is_valid(data)
    with pytest.raises(SpecError):
        parse_persona(data, INES, {})


def test_all_forms_are_known() -> None:
    assert tuple(FORMS) == ("ours", *OTHERS)
