"""Each rule that a persona file must keep."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simcounsel.errors import SpecError
from simcounsel.specs.persona import Routine
from simcounsel.specs.persona_file import load_persona, parse_persona
from simcounsel.specs.vocabulary import ACTS, QUESTIONS
from simcounsel.specs.voice import Form, Line, VoiceLine, check_slots, fill_slots
from tests.each import each
from tests.specs.files import line_with, persona_data, written

Spoil = Callable[[dict[str, Any]], object]


def put(*way: Any) -> Spoil:
    """Set the last of `way` at the path before it."""
    *path, last, value = way

    def spoil(data: Any) -> None:
        for part in path:
            data = data[part]
        data[last] = value

    return spoil


@each(
    ("who", "spoil", "what"),
    [
        (
            "ines",
            put("role", "customer"),
            "role: 'customer' is not one of client, counselor, layperson; add `role: client`",
        ),
        ("ines", lambda d: d.pop("role"), "role: None is not one of client, counselor, layperson"),
        ("ines", put("age", 15), "age: 15: input should be greater than or equal to 16"),
        ("ines", put("name", "7 of 9"), "name: '7 of 9'"),
        ("ines", put("pronouns", "she"), "'she' is not one of she/her, he/him, they/them"),
        ("ines", put("history", ""), "history: ''"),
        ("ines", put("habits", []), "habits: []"),
        ("ines", put("theme", "insomia"), "did you mean 'insomnia'?"),
        (
            "ines",
            put(
                "routines",
                [
                    {
                        "since": "06:00",
                        "until": "22:00",
                        "place": "kitchen",
                        "kind": "rest",
                        "do": "sits",
                    }
                ],
            ),
            "no routine covers 00:00; every quarter of an hour needs one",
        ),
        ("ines", put("routines", 0, "since", "6:5"), "'6:5' is not a time of day like '07:15'"),
        ("ines", put("routines", 0, "place", "attic"), "'attic' is not one of bedroom, kitchen"),
        ("ines", put("routines", 0, "kind", "slep"), "did you mean 'sleep'?"),
        (
            "ines",
            put("days", 0, 0, "at", "25:00"),
            "'25:00' is not a time of day between 00:00 and 24:00",
        ),
        (
            "ines",
            put("days", [[{"at": "07:00", "do": "gets up"}]]),
            "a day has 5 to 8 broad strokes, this one 1",
        ),
        ("ines", lambda d: d["situations"].__delitem__(slice(0, None)), "at least 1 item"),
        ("ines", put("situations", 0, "intensity", 11), "situations.0.intensity: 11"),
        ("ines", put("situations", 0, "emotion", "worry"), "'worry' is not one of joy, trust"),
        ("ines", put("core_beliefs", 0, "kind", "hopeless"), "did you mean 'helpless'?"),
        (
            "ines",
            put("coping_strategies", []),
            "coping_strategies: missing; a client has some, or a `case`",
        ),
        (
            "ines",
            lambda d: d["voice"].__delitem__(slice(39, None)),
            "39 lines of voice; at least 40",
        ),
        ("ines", put("voice", 0, "say", "I am {words}."), "a client's line has no {slots}"),
        ("ines", put("voice", 0, "say", "[one] and [two]"), "mark at most one [stretch of words]"),
        ("ines", put("voice", 0, "say", "an [open bracket"), "mark at most one [stretch of words]"),
        ("ines", put("voice", 0, "answers", []), "voice.0.answers: []"),
        ("ines", put("voice", 0, "stage", "late"), "'late' is not one of early, telling"),
        (
            "omar",
            put("voice", 0, "say", "Well, {nmae}!"),
            "no slot {nmae}; there are {words}, {feeling}, {name}",
        ),
        ("omar", put("voice", 0, "act", "sympathise"), "did you mean 'sympathize'?"),
        (
            "omar",
            lambda d: d["voice"].__delitem__(slice(29, None)),
            "29 lines of voice; at least 30",
        ),
        (
            "miriam",
            lambda d: d["forms"].__setitem__("advise", d["forms"]["ask"]),
            "no move 'advise'; there are clarify, assumption",
        ),
        (
            "miriam",
            lambda d: d["forms"].pop("evidence"),
            "'evidence' has 0 forms; a counselor needs at least 15",
        ),
        (
            "miriam",
            lambda d: d["forms"]["close"].__delitem__(slice(14, None)),
            "'close' has 14 forms",
        ),
        ("miriam", put("forms", "greet", 0, "say", "Hello {who}"), "no slot {who}"),
        (
            "miriam",
            put("forms", "greet", 0, "when", "never"),
            "'never' is not one of first, later, any",
        ),
        ("miriam", put("theme", "insomnia"), "theme: unknown key"),
    ],
)
def test_rule(who: str, spoil: Spoil, what: str) -> None:
    data = persona_data(who)
    parse_persona(data, Path("p.yaml"), {})
    spoil(data)
    with pytest.raises(SpecError) as caught:
        parse_persona(data, Path("p.yaml"), {})
    (problem,) = caught.value.problems
    assert what in problem
    assert problem.startswith("p.yaml:1: ")


def test_problem_stands_at_its_line(tmp_path: Path) -> None:
    data = persona_data("ines")
    data["voice"][7]["say"] = "ZZZ [one] [two]"
    path = written(tmp_path, data)
    with pytest.raises(SpecError) as caught:
        load_persona(path)
    assert caught.value.problems[0].startswith(f"{path}:{line_with(path, 'ZZZ')}: voice.7.say: ")


@pytest.mark.parametrize("text", ["", "- a\n", "words\n"])
def test_no_persona_at_all(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=r"p\.yaml:1: "):
        load_persona(path)


def test_voice_and_forms_may_be_left_out() -> None:
    for who, key in (("ines", "voice"), ("omar", "voice"), ("miriam", "forms")):
        data = persona_data(who)
        del data[key]
        assert not getattr(parse_persona(data, Path("p.yaml"), {}), key)


@each(
    ("since", "until", "inside", "outside"),
    [
        ("07:00", "09:00", (420, 539, 1440 + 420), (419, 540)),
        ("22:30", "00:30", (1350, 0, 29, 1439), (30, 1349)),
        ("18:00", "24:00", (1080, 1439), (0, 1079)),
        ("00:00", "00:15", (0, 14), (15, 1439)),
    ],
)
def test_routine_covers(
    since: str, until: str, inside: tuple[int, ...], outside: tuple[int, ...]
) -> None:
    routine = Routine(since=since, until=until, place="kitchen", kind="rest", do="sits")
    assert all(routine.covers(minute) for minute in inside)
    assert not any(routine.covers(minute) for minute in outside)


def test_stress_is_heard_and_not_printed() -> None:
    line = Line(say="I count [the hours left] again.")
    assert (line.text, line.emphasis) == ("I count the hours left again.", "the hours left")
    assert (Line(say="Plain.").text, Line(say="Plain.").emphasis) == ("Plain.", None)


def test_slots_are_filled_or_the_form_is_out() -> None:
    form = "{name}, you said {words} and felt {feeling}."
    assert (
        fill_slots(form, words="no sleep", feeling="low", name="Ines")
        == "Ines, you said “no sleep” and felt low."
    )
    assert fill_slots(form, words=None, feeling="low", name="Ines") is None
    assert fill_slots(form, words="no sleep", feeling=None, name="Ines") is None
    assert fill_slots("Hello {name}.", words=None, feeling=None, name="Ines") == "Hello Ines."
    with pytest.raises(ValueError, match=r"no slot \{mood\}"):
        check_slots("{mood}")


@pytest.mark.parametrize("folder", ["simcounsel/policies", "personas"])
def test_no_form_quotes_words_that_are_quoted_when_they_are_filled_in(folder: str) -> None:
    root = Path(__file__).parents[2]
    files = sorted((root / folder).rglob("*.yaml"))
    assert files
    quoted_twice = [f for f in files if "“{words}”" in f.read_text(encoding="utf-8")]
    assert quoted_twice == []


def test_defaults() -> None:
    assert (Form(say="Go on.").when, Form(say="Go on.").theme) == ("any", "any")
    assert VoiceLine(say="Yes.", stage="early", answers=("opening",)).emotion == "neutral"
    assert len(QUESTIONS) == 6
    assert set(ACTS) == {"greet", "reflect", "ask", "summarize", "close"}
