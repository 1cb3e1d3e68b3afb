"""Lines of a persona's own voice that show a model how somebody talks."""

import pytest

from simcounsel.agents import manner
from simcounsel.agents.manner import BEFORE_HELP, NEAR, manner_of_speaking, near_the_moment
from simcounsel.specs.persona import ClientPersona, LaypersonPersona
from tests.stage import Alone, said, three, view


def listed(text: str) -> list[str]:
    return [line.removeprefix("- ") for line in text.splitlines()[1:]]


def test_the_nearest_to_what_was_said_come_and_none_twice() -> None:
    ines = Alone().resident
    assert isinstance(ines.persona, ClientPersona)
    lines = [line for line in ines.persona.voice if line.stage in BEFORE_HELP]
    fixed = listed(manner_of_speaking(ines, view()))
    for line in lines:
        if line.text in fixed:
            continue
        near = listed(near_the_moment(ines, view(said("Miriam", line.text)), "", line.emotion))
        assert near[0] == line.text, "what says the same is nearest"
        assert len(near) <= NEAR and not {*near} & {*fixed}


def test_of_lines_about_the_same_the_one_of_the_same_feeling_is_nearer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(manner, "SHOWN", 0)
    ines = Alone().resident
    assert isinstance(ines.persona, ClientPersona)
    line = next(one for one in ines.persona.voice if one.stage == "early")
    voice = tuple(
        line.model_copy(update={"say": f"The window {word}.", "emotion": emotion, "theme": "any"})
        for word, emotion in (("rattles", "joy"), ("whistles", "sadness"))
    )
    ines.persona = ines.persona.model_copy(update={"voice": voice})
    talk = view(said("Miriam", "And the window?"))
    assert listed(near_the_moment(ines, talk, "", "joy"))[0] == "The window rattles."
    assert listed(near_the_moment(ines, talk, "", "sadness"))[0] == "The window whistles."


def test_of_lines_about_the_same_a_friend_s_that_does_the_same_is_nearer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(manner, "SHOWN", 0)
    omar = Alone("Omar", three()).resident
    assert isinstance(omar.persona, LaypersonPersona)
    line = omar.persona.voice[0]
    voice = tuple(
        line.model_copy(update={"say": f"The window {act}s.", "act": act, "emotion": "neutral"})
        for act in ("ask", "share")
    )
    omar.persona = omar.persona.model_copy(update={"voice": voice})
    talk = view(said("Ines", "And the window?"), me="Omar", other="Ines")
    for act in ("ask", "share"):
        assert listed(near_the_moment(omar, talk, act, "neutral"))[0] == f"The window {act}s."


def test_where_nothing_is_near_nothing_is_shown() -> None:
    ines = Alone().resident
    assert near_the_moment(ines, view(), "", "neutral") == ""
    assert near_the_moment(ines, view(said("Miriam", "Zanzibar?")), "", "neutral") == ""
