"""A client with a file in a therapy's terms: it is told in them, and moves in them."""

from pathlib import Path
from typing import Any

import pytest

from analysis.courses.design import CLIENTS
from simcounsel.agents.client_state import parts, strengths
from simcounsel.danger.hearing.in_file import dangers_in_file
from simcounsel.events import BeliefMoved, ClientShifted
from simcounsel.instruments.material import sheet
from simcounsel.specs import shipped
from simcounsel.specs.persona import CasePart, ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.therapies.clinic import clinic_world
from simcounsel.therapies.course.case_report import read_report
from simcounsel.therapies.specs.case_folder import cases_that_are_played, read_case_folder
from simcounsel.therapies.specs.client_files import WrittenPart, case_of, in_terms_of, shipped_files
from simcounsel.therapies.specs.therapy import shipped_therapies, shipped_therapy
from simcounsel.therapies.specs.therapy_words import in_language
from tests.each import each
from tests.specs.files import persona_data
from tests.stage import ROOT, Listening, happened, live, switchboard, tiny

DYNAMIC = shipped_therapy("psychodynamic")
WRITTEN = (
    WrittenPart(kind="core_conflict", text="To be held, and to owe nobody.", strength=70),
    WrittenPart(kind="wish", text="That somebody stays up with her."),
    WrittenPart(kind="defenses", text="She jokes when it comes close.", strength=85),
)


def dynamic() -> ClientPersona:
    data: dict[str, Any] = persona_data("ines")
    persona = ClientPersona.model_validate(data)
    return persona.model_copy(update={"case": case_of(WRITTEN, DYNAMIC)})


def test_its_parts_take_the_place_of_beliefs() -> None:
    persona = dynamic()
    assert parts(persona) == {f"P{n}": one.text for n, one in enumerate(WRITTEN, 1)}
    assert strengths(persona) == {"P1": 70, "P3": 85}
    assert persona.inner == tuple(one.text for one in WRITTEN)
    data = persona_data("ines")
    for key in ("core_beliefs", "intermediate_beliefs", "coping_strategies"):
        del data[key]
    with pytest.raises(ValueError, match="or a `case` in another therapy's terms"):
        ClientPersona.model_validate(data)
    data["case"] = [part.model_dump() for part in persona.case]
    alone = ClientPersona.model_validate(data)
    assert alone.core_beliefs == () and parts(alone) == parts(persona)


@each(
    ("part", "words"),
    [
        (WrittenPart(kind="magic", text="x"), "'magic' is none of core_conflict"),
        (WrittenPart(kind="wish", text="x", strength=3), "`strength` has no place there"),
        (WrittenPart(kind="defenses", text="x"), "`strength` is missing"),
    ],
)
def test_what_is_no_part(part: WrittenPart, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        case_of((part,), DYNAMIC)


def test_a_course_is_told_and_moves_in_its_terms(tmp_path: Path) -> None:
    heard = Listening()
    made = clinic_world(tiny(), therapy=DYNAMIC, sessions=5, persona=dynamic(), lines=10)
    run = live(tmp_path, made, models=switchboard(heard))
    asked = [one for one in heard.requests if one.who == "Ines"]
    line = next(one for one in asked if one.purpose == "line_client")
    told = line.system + line.prompt
    assert "P1: Core conflict: To be held, and to owe nobody." in told
    assert "which of the parts P1, P2 and so on" in told and "P1 70; P3 85" in told
    assert "Core beliefs" not in told
    insights = next(one for one in asked if one.purpose == "insights")
    assert "bear on one of these parts" in insights.prompt
    moved = happened(run, BeliefMoved)
    assert moved and {one.belief for one in moved} <= {"P1", "P3"}
    assert {one.touched for one in happened(run, ClientShifted)} - {None} <= {"P1", "P2", "P3"}
    counselor = [one for one in heard.requests if one.who == "Miriam"]
    assert not [one.purpose for one in counselor if "owe nobody" in one.system + one.prompt]


def test_a_client_s_own_case_stays() -> None:
    own = dynamic()
    assert in_terms_of(own, shipped_therapy("behavioral")) is own
    assert in_terms_of(own, shipped_therapy("cbt")) is own


@each("name", shipped_therapies())
def test_fields_of_a_client_s_file(name: str) -> None:
    """Each therapy but CBT and the integrative one has its own, some of which move, in both languages."""
    fields = shipped_therapy(name).client
    assert (len(fields) == 0) == (name in ("cbt", "integrative"))
    assert not fields or any(one.moves for one in fields)
    chinese = in_language(shipped_therapy(name), "zh").client
    assert [one.id for one in chinese] == [one.id for one in fields]
    assert all(one.name != other.name for one, other in zip(chinese, fields, strict=True))


@each("name", [name for name in shipped_therapies() if shipped_files(name)])
def test_what_ships_fits_its_therapy_and_its_clients(name: str) -> None:
    """Twelve clients each, who are really there, and every part is one of the therapy's."""
    therapy, written = shipped_therapy(name), shipped_files(name)
    personas = {
        persona.name: persona
        for persona in map(load_persona, shipped.files("personas"))
        if isinstance(persona, ClientPersona)
    }
    assert len(written) == 12 and set(written) <= set(personas)
    kinds = {field.id for field in therapy.client}
    for who, own in written.items():
        case = case_of(own, therapy)
        assert 7 <= len(case) <= 12 and len({one.kind for one in case} & kinds) >= 6
        assert in_terms_of(personas[who], therapy).case == case


@each("name", cases_that_are_played())
def test_a_case_that_ships_is_read_out_of_its_report(name: str) -> None:
    """Facts by words of the report, none before they were told; lines that tell them; a case in its therapy's terms."""
    place = shipped.folder("personas") / "cases"
    case, report = read_case_folder(place / name), read_report(place / f"{name}.md")
    plan = case.plan
    assert plan is not None and plan.held == () and len(case.client.voice) >= 48
    for fact in plan.facts:
        told = report.told_in(fact.quote)
        assert told is not None and told <= fact.told, fact.id
    kinds = {field.id for field in shipped_therapy(plan.therapy).client}
    assert {part.kind for part in case.client.case} <= kinds
    resting = [part for session in plan.sessions for _, part in session.parts]
    assert all(part.rests_on is not None for part in resting)
    assert any(part.rests_on for part in resting) and any(not part.rests_on for part in resting)
    own = {goal for stage in shipped_therapy(plan.therapy).stages for goal in stage.goals}
    assert not own & {goal for stage in plan.stages for goal in stage.aims}, "the case's own"


def test_a_judge_sees_the_case() -> None:
    lines = dict(sheet(dynamic()))
    assert lines["Core conflict"] == WRITTEN[0].text and "Core beliefs" not in lines
    assert CasePart(kind="wish", name="Wish", text="x").strength is None


def test_a_file_in_other_terms_speaks_of_no_other_danger() -> None:
    """A counselor's protocol begins with what the file speaks of: "I come up short", said of a father, was heard as abuse."""
    for name in CLIENTS:
        persona = load_persona(ROOT / "personas" / f"{name}.yaml")
        assert isinstance(persona, ClientPersona)
        as_written = dangers_in_file(persona, "en")
        for school in ("behavioral", "psychodynamic", "humanistic_existential", "postmodern"):
            in_terms = in_terms_of(persona, shipped_therapy(school))
            assert dangers_in_file(in_terms, "en") == as_written, (name, school)
