"""What is asked of the judge about a line and a session, byte for byte, in both languages."""

import pytest

from simcounsel.llm.question import Question
from simcounsel.practice.clients import setting_of
from simcounsel.practice.session import PracticeSession
from simcounsel.specs.world import World
from tests.practice.stage import speaking
from tests.prompts.test_golden import compare, shown
from tests.stage import Listening, changed, switchboard, tiny

ENGLISH = ("Hello Ines, what brings you here?", "You lie there and count the hours.")
CHINESE = ("你好，今天想从哪里说起？", "你躺在那里数着时间。")
SAID = {
    "en": ("I sleep three hours, and then I count the hours.", "Yes. Till four."),
    "zh": ("我每天睡三个小时，然后就数时间。", "嗯，一直到四点。"),
}


def asked(world: World, *lines: str) -> dict[str, Question]:
    """The last question of each purpose in a session in which the second line was said twice."""
    spy = Listening({"line_client": speaking(*SAID[world.language])})
    models = switchboard(spy)
    talk = PracticeSession(setting_of(world, "Ines", 5), models, focus="open questions")
    talk.say(lines[0])
    talk.say("You should go to bed earlier." if world.language == "en" else "你应该早点睡。")
    talk.undo()
    talk.say(lines[1])
    talk.end()
    models.close()
    return {one.purpose: one for one in spy.requests}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_prompts(language: str) -> None:
    lines = ENGLISH if language == "en" else CHINESE
    found = asked(tiny() if language == "en" else changed(tiny(), language="zh"), *lines)
    for kind in ("practice_feedback", "practice_report"):
        one = found[kind]
        text = shown(one.system, one.prompt)
        compare(kind if language == "en" else f"zh_{kind}", text)
        assert "$" not in text and "None" not in text and "\n\n\n" not in text
        assert len(text) < (8_000 if language == "en" else 4_000)
        assert "ashamed" not in text, "what the client did not say stays with the client"


def test_no_line_of_the_catalogue_reaches_a_model() -> None:
    found = asked(tiny(), *ENGLISH)["practice_feedback"]
    assert "they laughed" not in found.system + found.prompt
