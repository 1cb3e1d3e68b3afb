"""Every way a YAML file can be wrong is told as file:line with a remedy."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any, Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from simcounsel.errors import SpecError
from simcounsel.specs.file_text import read_json
from simcounsel.specs.load import Spec, line_of, load_spec, read_yaml
from simcounsel.specs.world_file import load_world
from simcounsel.specs.yaml_text import NotYaml, parse_yaml
from tests.each import each
from tests.stage import ROOT
from tests.without import needs


class Room(Spec):
    kind: Literal["kitchen", "bedroom"]
    chairs: int = 0


class House(Spec):
    name: str
    rooms: tuple[Room, ...] = ()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "house.yaml"


@each(
    ("text", "line", "what", "remedy"),
    [
        ("name: A\nroms: []\n", 2, "roms: unknown key", "did you mean 'rooms'?"),
        ("name: A\nzzz: 1\n", 2, "zzz: unknown key", "known here: name, rooms"),
        (
            "name: A\nrooms:\n  - {kind: kitchen}\n  - {kind: kitchen,\n     chars: 3}\n",
            5,
            "rooms.1.chars: unknown key",
            "did you mean 'chairs'?",
        ),
        ("rooms: []\n", 1, "name: missing", "add `name: ...`"),
        ("name: A\nrooms:\n  - chairs: 2\n", 3, "rooms.0.kind: missing", "add `kind: ...`"),
        ("name: A\nrooms: []\nname: B\n", 3, "'name' is here a second time", "remove one"),
        (
            "name: A\nrooms:\n\t- {kind: kitchen}\n",
            3,
            "not valid YAML",
            "indent with spaces, not tabs",
        ),
        ("name: A\nrooms: [\n", 3, "not valid YAML", ""),
        ("name: a: b\n", 1, "not valid YAML", "quote text that contains ': '"),
        ("name: A\n---\nname: B\n", 2, "not valid YAML", "another document"),
        (
            "name: !!python/object:os.system {}\n",
            1,
            "not valid YAML here: the tag 'python/object:os.system'",
            "take it out",
        ),
        ("name: !!int x\n", 1, "the tag 'int' before 'x'", "take it out"),
        ("name: !!binary '*'\n", 1, "the tag 'binary'", "take it out"),
        (
            "name: A\nchairs: " + "9" * 6000,
            2,
            "a whole number has at most 18 digits",
            "shorten it, or quote it",
        ),
        ("name: A\nchairs: 1e400\n", 2, "1e400': a number this large cannot be kept", "quote it"),
        ('name: A\nrooms: "a\\0b"\n', 2, "holds the control character #x00", "take it out"),
        ('name: "\\ud800"\n', 1, "invalid Unicode character escape code", "begins an escape"),
        ('name: "\\U00110000"\n', 1, "not valid YAML", "begins an escape"),
        ("name: A\nrooms: 'x\nfloor: 1\n", 4, "a quoted scalar (line 2)", "close the quotes"),
        ("a: &a 1\nb: &a 2\n", 2, "duplicate anchor 'a'; first occurrence (line 1): second", ""),
        ("name: [A", 1, "while parsing a flow sequence: did not find expected ','", ""),
        (
            "name: A\nrooms:\n" + "".join(f"{' ' * n}-\n" for n in range(2, 90)),
            63,
            "nested too deeply",
            "60 levels are the most",
        ),
        (
            "name: 7\n",
            1,
            "name: 7: a number or truth value where text is needed",
            "put it in quotes",
        ),
        ("{[a]: b}\n", 1, "not valid YAML", "unhashable key"),
        ("", 1, "the file is empty", "simcounsel init"),
        ("# only a remark\n", 1, "the file is empty", "simcounsel init"),
        (
            "name: A\nrooms:\n  - {kind: kichen}\n",
            3,
            "rooms.0.kind: 'kichen' is not one of kitchen, bedroom",
            "did you mean 'kitchen'?",
        ),
        (
            "name: A\nrooms:\n  - {kind: kitchen, chairs: many}\n",
            3,
            "rooms.0.chairs: 'many'",
            "valid integer",
        ),
        ("- name\n", 1, "expected `key: value` lines", "found list"),
        ("just words\n", 1, "expected `key: value` lines", "found str"),
    ],
)
def test_problem_has_line_and_remedy(
    file: Path, text: str, line: int, what: str, remedy: str
) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_spec(file, House)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{file}:{line}: ")
    assert what in problem
    assert remedy in problem


def test_all_problems_at_once(file: Path) -> None:
    file.write_text(
        "rooms:\n  - {kind: attic}\n  - {kind: kitchen, chairs: x}\nroms: 1\n", encoding="utf-8"
    )
    with pytest.raises(SpecError) as caught:
        load_spec(file, House)
    assert sorted(p.split(":")[1] for p in caught.value.problems) == ["1", "2", "3", "4"]
    assert str(caught.value) == "\n".join(caught.value.problems)


def test_missing_file_names_a_near_one(file: Path) -> None:
    file.write_text("name: A\n", encoding="utf-8")
    with pytest.raises(SpecError, match=r"hause\.yaml: no such file; did you mean .*house\.yaml\?"):
        read_yaml(file.with_name("hause.yaml"))
    with pytest.raises(SpecError, match=r"no such file$"):
        read_yaml(file.parent / "nowhere" / "q.yaml")


def test_a_bare_name_points_to_the_yaml_file_and_never_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "housee").mkdir()
    with pytest.raises(
        SpecError, match=r"no such file; give the name of the file, .*housex\.yaml, "
    ):
        read_yaml(tmp_path / "housex")
    with pytest.raises(SpecError, match=r"no such file; did you mean insomnia\?$"):
        read_yaml(tmp_path / "Insomia")
    with pytest.raises(SpecError, match=r"no such file; did you mean tiny\? It is included"):
        read_yaml(tmp_path / "tiny")
    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds" / "tiny.yaml").write_text("name: A\n", encoding="utf-8")
    with pytest.raises(SpecError, match=r"did you mean .*worlds/tiny\.yaml\?"):
        read_yaml(tmp_path / "tiny")


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="a folder, not a file; name one of the files in it"):
        read_yaml(tmp_path)


def test_not_utf8(file: Path) -> None:
    file.write_bytes("name: caf\xe9\n".encode("latin-1"))
    with pytest.raises(SpecError, match=r"not UTF-8 text \(byte 9\); save it as UTF-8"):
        read_yaml(file)


def test_control_characters(file: Path) -> None:
    file.write_bytes(b"kind: b\nname: a\x00b\n")
    with pytest.raises(
        SpecError, match=r"house\.yaml:2: not valid YAML: the control character #x00; take it out"
    ):
        read_yaml(file)


def test_aliases_to_aliases_stand_for_too_much(file: Path) -> None:
    file.write_text(
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in pairwise("abcdefghi")),
        encoding="utf-8",
    )
    began = monotonic()
    with pytest.raises(
        SpecError,
        match=r"house\.yaml:1: aliases \(\*name\) repeat more than 20,000 values; write out what is meant",
    ):
        read_yaml(file)
    assert monotonic() - began < 10


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {k: [1, 2]}\nb: *a\nc: {<<: *a, d: 3}\n",
        "a: &a [" + "1," * 1000 + "]\nb: [*a, *a, *a, *a, *a]\n",
    ],
)
def test_a_few_aliases(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert read_yaml(file)[0] == yaml.safe_load(text)


def test_byte_order_mark(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfname: A\n")
    assert read_yaml(file) == ({"name": "A"}, {(): 1, ("name",): 1})


@each(
    ("text", "line", "what"),
    [
        ("", 1, "the file is empty"),
        ("[1,\n 2,\n", 3, "not JSON: Expecting value"),
        ("[" * 100_000, None, "nested too deeply"),
        ("[" + "9" * 6000 + "]", None, "a number has more digits than"),
    ],
)
def test_json_problems(tmp_path: Path, text: str, line: int | None, what: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_json(tmp_path / "a.json")
    assert str(caught.value).startswith(
        f"{tmp_path / 'a.json'}:{f'{line}:' if line else ''} {what}"
    )


def test_json_lines(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf [\n  1, {"a":\n [2]},\n\n "x"\n]\n')
    assert read_json(tmp_path / "a.json") == (
        [1, {"a": [2]}, "x"],
        {(): 1, (0,): 2, (1,): 2, (2,): 5},
    )


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: &a {b: *a}\n", "a: " + "[" * 900 + "]" * 900])
def test_endless_nesting(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="nested too deeply, or an alias that contains itself"):
        read_yaml(file)


@each(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("07:15", "07:15"),
        ("15:00", "15:00"),
        ("2026-03-02", "2026-03-02"),
        ("true", True),
        ("7", 7),
        ("08", 8),
        ("010", 10),
        ("-3", -3),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("1.5e-3", 0.0015),
        ("null", None),
        ("1_000", "1_000"),
    ],
)
def test_scalars_mean_what_they_look_like(file: Path, text: str, value: object) -> None:
    file.write_text(f"a: {text}\n", encoding="utf-8")
    data, _ = read_yaml(file)
    assert data == {"a": value}
    assert type(data["a"]) is type(value)


def test_lines_of_paths(file: Path) -> None:
    file.write_text("# head\nname: A\nrooms:\n  - kind: kitchen\n    chairs: 2\n", encoding="utf-8")
    _, lines = read_yaml(file)
    assert [
        line_of(lines, at) for at in [("name",), ("rooms",), ("rooms", 0), ("rooms", 0, "chairs")]
    ] == [2, 3, 4, 5]
    assert line_of(lines, ("rooms", 0, "chairs", "deeper")) == 5
    assert line_of(lines, ("nowhere",)) == 2


def test_frozen_and_stripped(file: Path) -> None:
    file.write_text("name: '  A '\n", encoding="utf-8")
    house, _ = load_spec(file, House)
    assert house.name == "A"
    with pytest.raises(ValueError, match="frozen"):
        house.name = "B"


@given(text=st.text(st.sampled_from("ab1 \n:-?[]{},&*|>'\"%@`#.~=!<\t\\\0\ud800é"), max_size=40))
def test_any_text_is_read_or_refused_with_a_line_of_it(text: str) -> None:
    try:
        _, lines = parse_yaml(text)
        found = [*lines.values()]
    except NotYaml as error:
        found = [line for line, _ in error.problems]
    assert all(1 <= line <= len(text.splitlines()) + 1 for line in found)


def test_a_text_of_a_million_brackets_is_refused() -> None:
    for text in ("[" * 1_000_000, "{" * 1_000_000, "- " * 100_000, "? " * 100_000):
        with pytest.raises(NotYaml, match="nested too deeply"):
            parse_yaml(text)


def specs(kind: type[Spec] = Spec) -> Iterator[type[Spec]]:
    for inner in kind.__subclasses__():
        yield inner
        yield from specs(inner)


@needs("corpus")
def test_a_number_is_a_number_in_every_spec() -> None:
    """Wherever a whole number stands, neither `true` nor `3.0` nor '3' is one."""
    import simcounsel.corpus.synthesis.settings
    import simcounsel.specs.experiment
    import simcounsel.specs.world  # noqa: F401
    import training.recipe  # noqa: F401

    found = [
        (kind, name, field.annotation, field.metadata)
        for kind in set(specs())
        for name, field in kind.model_fields.items()
        if field.annotation in (int, float, bool, int | None, float | None, tuple[int, ...])
    ]
    assert len(found) > 60
    for kind, name, annotation, _ in found:
        whole = annotation in (int, int | None)
        wrong: Any = [[True]] if annotation == tuple[int, ...] else ["3", "true"]
        wrong += [3.5, 3.0, True] if whole else [] if annotation is bool else [True]
        for value in wrong:
            with pytest.raises(ValidationError) as caught:
                kind.model_validate({name: value})
            refused = {error["loc"][:1] for error in caught.value.errors()}
            assert {(name,), ()} & refused, (kind, name, value)  # (): by a rule over all fields


@pytest.mark.parametrize("value", ["true", "3.0", "'3'"])
def test_ticks_that_are_no_number(tmp_path: Path, value: str) -> None:
    text = (
        (ROOT / "worlds" / "tiny.yaml")
        .read_text(encoding="utf-8")
        .replace("../personas", str(ROOT / "personas"))
    )
    (tmp_path / "world.yaml").write_text(
        text.replace("ticks: 12", f"ticks: {value}"), encoding="utf-8"
    )
    with pytest.raises(
        SpecError, match=r"world\.yaml:5: ticks: .*: input should be a valid integer"
    ):
        load_world(tmp_path / "world.yaml")
