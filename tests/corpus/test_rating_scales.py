"""A corpus rated with other scales than the usual: a client's questionnaire answered by an observer,
a scale that compares with the client's file; and Chinese dialogues, asked about in Chinese.
"""

import json
from pathlib import Path
from random import Random

import pytest

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.judging import asked_in, scale_for
from simcounsel.corpus.rated import Rated, read_rated, with_ratings
from simcounsel.corpus.rating import CorpusRating, plan_rating
from simcounsel.errors import CorpusError, SpecError
from simcounsel.instruments.from_transcript import from_transcript
from simcounsel.instruments.scale import find_scale, shipped_names
from simcounsel.instruments.wording import worded
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted
from simcounsel.specs.scale import Scale
from tests.corpus.judges import switchboard
from tests.corpus.made import dialogue
from tests.each import each
from tests.instruments.stage import items_of

CHINESE = dialogue("zh-1", "我晚上睡不着，白天没有精神。", "这样有多久了？", language="zh")
ENGLISH = dialogue("en-1", "I lie awake at night.", "How long has it been so?")


def rated(
    folder: Path,
    dialogues: list[Dialogue],
    instrument: str,
    null: tuple[str, ...] = (),
    model: str = "openai:planted",
) -> tuple[list[Question], tuple[Rated, ...]]:
    """What a judge was asked who says 2 wherever it may, null to the items named; and what is kept."""
    asked: list[Question] = []

    def block(request: Question, draw: Random) -> str:
        asked.append(request)
        given = {one.id: None if one.id in null else 2 for one in items_of(request)}
        return json.dumps({id: {"because": "so", "score": value} for id, value in given.items()})

    models = switchboard(Scripted({"judge_block": block}))
    plan = plan_rating(folder / "c.jsonl", dialogues, model, instrument=instrument)
    CorpusRating(plan).measure(models)
    models.close()
    return asked, read_rated(plan.folder)


def test_an_observer_answers_for_the_client_and_it_is_said_everywhere(tmp_path: Path) -> None:
    asked, (one,) = rated(tmp_path, [ENGLISH], "gad7", null=("g1", "g2"))
    assert "Answer for the client" in asked[0].prompt and "I lie awake" in asked[0].prompt
    assert "Over the last 2 weeks" in asked[0].prompt, "the client's own instruction, word for word"
    assert one.instrument == "gad7_from_transcript" and one.scale is not None
    assert one.scale.respondent == "observer" and "rated from transcript" in one.scale.name
    file = tmp_path / "c.jsonl.ratings" / one.file
    head, *lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert head["rated"] == "rated from transcript by openai:planted"
    assert {line["respondent"] for line in lines if line["kind"] == "measured"} == {"observer"}
    kept = with_ratings([ENGLISH.model_copy(update={"ratings": {"gad7": {"total": 20.0}}})], [one])
    assert kept[0].ratings == {"gad7": {"total": 20.0}, "gad7_from_transcript": {"total": 14.0}}, (
        "what the client said itself stays what it said"
    )


@each("name", shipped_names())
def test_every_shipped_scale_of_a_conversation_or_a_client_rates_a_dialogue(name: str) -> None:
    own = find_scale(name)
    if own.sees == "personas":
        with pytest.raises(CorpusError, match="two versions of a persona"):
            scale_for(name)
        return
    scale = scale_for(name)
    assert (scale.respondent, own.sees or "transcript") == ("observer", scale.sees)
    assert Scale.model_validate(scale.model_dump(mode="json")).hash == scale.hash
    assert (scale.id == name) == (own.respondent == "observer")


@pytest.mark.parametrize(("open_items", "total"), [(3, 14.0), (4, None)])
def test_what_the_talk_says_nothing_of_is_left_open_up_to_half(
    tmp_path: Path, open_items: int, total: float | None
) -> None:
    null = tuple(f"g{number}" for number in range(1, open_items + 1))
    _, (one,) = rated(tmp_path, [ENGLISH], "gad7", null=null)
    assert one.scores == {"total": total}
    assert one.reasons["g1"] == "the conversation gives nothing to go by: so"


def test_a_questionnaire_for_an_observer_is_another_instrument() -> None:
    own = find_scale("phq9")
    seen = scale_for("phq9")
    assert seen == scale_for("phq9_from_transcript") and seen.hash != own.hash
    assert not seen.bands and not seen.flags, "cut-offs are for what people say of themselves"
    kept = Scale.model_validate(seen.model_dump(mode="json", exclude_defaults=True))
    assert kept == seen and kept.hash == seen.hash
    with pytest.raises(SpecError, match="at most 24"):
        from_transcript(own.model_copy(update={"id": "a_very_long_name_of_a_scale"}))


def test_a_chinese_dialogue_is_judged_in_chinese(tmp_path: Path) -> None:
    asked, kept = rated(tmp_path, [CHINESE, ENGLISH], "gad7")
    told = {one.language: one.system + one.prompt for one in asked}
    words = worded(find_scale("gad7"), "zh")
    assert all(item.text in told["zh"] for item in words.items)
    assert words.instruction in told["zh"] and "请替来访者回答" in told["zh"]
    assert "You are" not in told["zh"] and "你是" not in told["en"]
    assert {one.dialogue: one.language for one in kept} == {"zh-1": "zh", "en-1": "en"}
    untold = CHINESE.model_copy(update={"language": None})
    assert asked_in(untold) == "zh", "as can be told from the lines"


def test_what_was_asked_in_english_of_a_chinese_dialogue_is_asked_anew(tmp_path: Path) -> None:
    _, (one,) = rated(tmp_path, [CHINESE], "dialogue_quality")
    file = tmp_path / "c.jsonl.ratings" / one.file
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line.pop("language", None)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    again = plan_rating(tmp_path / "c.jsonl", [CHINESE], "openai:planted")
    assert [one.id for one in again.todo] == ["zh-1"] and again.round == 0


def test_a_scale_that_compares_with_the_file_is_given_it(tmp_path: Path) -> None:
    known = dialogue(
        "k", "I am Marit and I bake.", "Hello.", client="Marit", situation="Marit bakes bread."
    )
    asked, kept = rated(tmp_path, [known, ENGLISH], "persona_consistency")
    assert len(asked) == 1 and "bakes bread" in asked[0].prompt and "Marit" not in asked[0].prompt
    found = {one.dialogue: one for one in kept}
    assert found["k"].answered
    assert set(found["en-1"].reasons.values()) >= {"nothing is known of the client's file"}
