"""What an observer never sees: names, conditions, models, runs, what the client keeps to itself."""

import pytest

from simcounsel.instruments.material import Talk, blinding_for, material_for
from simcounsel.instruments.scale import shipped_names
from simcounsel.llm.question import Question
from simcounsel.measuring.rate import Rating
from simcounsel.prompts import phrase
from simcounsel.specs.world import World
from simcounsel.texts.blinding import Blinding
from tests.engine.test_secrets import Planted, leaks, planted, secrets_in, sent
from tests.instruments.stage import EVERYTHING, seen, shipped
from tests.stage import Listening, changed, live, switchboard

CONDITION = "xconditionx"
OBSERVERS = [name for name in shipped_names() if shipped(name).respondent == "observer"]

OF_THE_FILE = ("persona_change", "persona_consistency", "persona_fidelity")
"""Their observers read the client's file."""


@pytest.fixture(scope="module")
def spied(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, list[Question], Planted]:
    """A world with secrets in the client's file and a telling word in its name and model, measured
    while it is run and afterwards.
    """
    from simcounsel.specs.measurement import MeasurementSpec

    world, plant = planted()
    wanted = [dict(one) for one in EVERYTHING if one["instrument"] not in OF_THE_FILE]
    world = changed(
        world,
        name=f"World {CONDITION}",
        about=CONDITION,
        measurements=tuple(MeasurementSpec(**one) for one in wanted),
    )
    spy = Listening(leaks(plant))
    spy.name = f"scripted-{CONDITION}"
    run = live(tmp_path_factory.mktemp(CONDITION), world, models=switchboard(spy))
    for name in OBSERVERS:
        if name not in OF_THE_FILE:
            models = switchboard(spy)
            Rating.plan(run, name, model=f"scripted-{CONDITION}").measure(models)
            models.close()
    return (
        world,
        [request for request in spy.requests if request.purpose.startswith("judge_")],
        plant,
    )


def test_no_secret_and_no_condition_reaches_an_observer(
    spied: tuple[World, list[Question], Planted],
) -> None:
    _, requests, plant = spied
    assert len(requests) > 50
    assert {
        (request.facts.instrument, plant.secrets[word])
        for request in requests
        for word in secrets_in(sent(request))
    } == set()
    assert not any(CONDITION in sent(request) for request in requests)


def test_no_name_and_no_place_reaches_an_observer(
    spied: tuple[World, list[Question], Planted],
) -> None:
    world, requests, _ = spied
    names = [resident.name for resident in world.residents] + [
        place.name for _, place in world.every_place()
    ]
    for request in requests:
        assert not any(name in request.system + request.prompt for name in names)
        assert "Client: " in request.prompt or request.purpose == "judge_probe"


def test_client_and_layperson_look_alike(spied: tuple[World, list[Question], Planted]) -> None:
    """Whoever the other one is, the prompt around the lines is the same."""
    _, requests, _ = spied
    frames = {
        "\n".join(
            line
            for line in (request.system + request.prompt).splitlines()
            if not line.startswith(("Client: ", "Counselor: "))
        )
        for request in requests
        if request.purpose == "judge_block" and request.facts.instrument == "empathy"
    }
    assert len(frames) == 1


def test_the_file_is_seen_where_it_is_the_point(
    spied: tuple[World, list[Question], Planted],
) -> None:
    world, _, _ = spied
    talk = Talk(
        chat="1:Ines+Miriam",
        tick=1,
        minute=0,
        who=("Miriam", "Ines"),
        cause="appointment",
        lines=(("Ines", "Omar told me, Miriam."), ("Miriam", "Ines?")),
    )
    material = material_for(shipped("persona_consistency"), world, "Ines", talk, ())
    assert secrets_in(material.text())
    assert material.lines == (
        ("Client", "[person 1] told me, [counselor]."),
        ("Counselor", "[client]?"),
    )
    assert all(name not in material.text() for name in ("Ines", "Miriam", "Omar"))
    assert secrets_in(material_for(shipped("empathy"), world, "Ines", talk, ()).text()) == set()


def test_names_inside_a_persona_text(spied: tuple[World, list[Question], Planted]) -> None:
    world, _, _ = spied
    assert (
        blinding_for(world, "Ines", None)
        .text("Ines trusts Omar and Miriam Adler.")
        .startswith("[client] trusts [person 1]")
    )


def test_chinese_names_in_all_that_they_are_called_by() -> None:
    blinding = Blinding({"林晓雯": "[client]", "沈静": "[counselor]"}, others=["欧阳大伟"])
    assert blinding.text("晓雯，谢谢沈老师") == "[client]，谢谢[counselor]"
    assert blinding.text("小雯来了，林小姐、小林也是她，沈静医生在。") == (
        "[client]来了，[client]、[client]也是她，[counselor]医生在。"
    )
    assert blinding.text("大伟和欧阳总吵架了") == "[person 1]和[person 1]吵架了"
    ordinary = "老师和医生都说，大家小心一点，静下心来，林子里很安静。"
    assert blinding.text(ordinary) == ordinary
    assert (
        Blinding({"时静静": "[client]"}).text("睡了八小时，静静地躺着") == "睡了八小时，静静地躺着"
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_names_are_out_is_said_only_where_they_are(language: str) -> None:
    said = phrase("scale_words", "blinded", language)
    blind, open_ = (seen(language=language, blinded=one).text() for one in (True, False))
    assert said in blind and said not in open_
    assert blind.replace(said, "").replace(" \n", "\n") == open_
