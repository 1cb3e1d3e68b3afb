"""The documentation shows a course in each format, as it is written."""

import json

from docs.generating.course_formats import COURSE, exported, shown
from simcounsel.corpus.formats import FORMATS


def test_every_format_is_shown_as_it_is_written() -> None:
    found = shown()
    paired = {name for name, form in FORMATS.items() if form.paired}
    assert {*found, *paired, "parquet"} == {*FORMATS}
    openai = json.loads(found["openai"])
    said = [one["content"] for one in openai["messages"]]
    assert said[-1] == "Your note: They read one night."
    assert "<strategy>Take it.</strategy>" in said[2] and said[2].endswith("What stands there?")
    assert "Earlier sessions:\nSession 1\nYour note: He agreed to a diary." in said[0]
    native = json.loads(found["native"])
    assert native["turns"][1]["skills"] == ["value what was done"]
    assert found["trl"].count('"completion"') == 2
    assert "System: Your note: They read one night." in found["text"]


def test_one_long_conversation_of_a_course() -> None:
    (row,) = map(json.loads, exported("openai", course="whole").splitlines())
    between = [one["content"] for one in row["messages"] if "Between sessions" in one["content"]]
    (first,) = json.loads(COURSE.read_text("utf-8"))["sessions"][1]["session_dialogue"][:1]
    assert len(between) == 1 and between[0].endswith(first["text"])
