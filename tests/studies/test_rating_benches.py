"""Studies of models' replies: the same lines for each model, who wrote a reply is hidden, the judge's own scales."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simcounsel.bench.judge import DIMENSIONS
from simcounsel.cli import app
from simcounsel.errors import StudyError
from simcounsel.prompts import prompt_text
from simcounsel.specs.vocabulary import Language
from simcounsel.studies.from_benches import reply_rows
from simcounsel.studies.instrument import load_instrument
from simcounsel.studies.making import make_study
from simcounsel.studies.study import open_key
from simcounsel.texts.blinding import Blinding
from tests.each import each
from tests.studies.benches import bench, cases_file

INTRODUCED = {
    False: "I am ChatGPT, or acme-large-7, made by OpenAI like Qwen2.5-7B. Rest.",
    True: "我是ChatGPT，也叫acme-large-7，由OpenAI和通义千问做的Qwen2.5模型。休息。",
}


@pytest.mark.parametrize("chinese", [False, True])
def test_each_model_is_rated_on_the_same_lines_and_none_is_named(
    chinese: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = cases_file(tmp_path / "cases.json", chinese=chinese)
    for name in ("first-model", "second-model"):
        said = f"{INTRODUCED[chinese]} {name[:2]}"
        bench(monkeypatch, tmp_path / name, cases, said, model="acme:acme-large-7")
    asked = "reply_quality_zh" if chinese else "reply_quality"
    words = ["study", "rate-page", tmp_path / "first-model", tmp_path / "second-model"]
    words += ["--instrument", asked, "--max-per-run", 6, "--seed", 4, "--out", tmp_path / "study"]
    made = CliRunner().invoke(app, [*map(str, words)])
    assert made.exit_code == 0, made.output
    assert "12 transcripts" in made.stdout and "first-model 6, second-model 6" in made.stdout
    key = open_key(tmp_path / "study").items.values()
    first, second = (
        {one.chat for one in key if one.run == run} for run in ("first-model", "second-model")
    )
    assert first == second and len(first) == 6
    assert {one.model for one in key} == {"acme:acme-large-7"}
    pages = [tmp_path / "study" / "study.json", *(tmp_path / "study" / "offline").glob("*.html")]
    assert len(pages) == 1 + 3
    for page in pages:
        text = re.sub(
            r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), page.read_text("utf-8")
        )
        shown = re.sub(r'"mask": \[[^\]]*\]', "", text)  # what is masked is in study.json alone
        told = "first-model|second-model|acme|chatgpt|openai|qwen|千问|scripted"
        assert re.findall(told, shown, re.IGNORECASE) == []
        assert ("休息。" if chinese else "Rest.") in shown


def test_a_line_that_a_model_left_open_is_rated_of_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = cases_file(tmp_path / "cases.json", 2)
    for name in ("a", "b"):
        bench(monkeypatch, tmp_path / name, cases, f"{name} says =1")
    file = tmp_path / "b" / "replies.csv"
    assert reply_rows(tmp_path / "b")[2]["reply"] == "b says =1 family-1/1"
    file.write_text(file.read_text("utf-8").replace("b says =1 family-1/1", ""), encoding="utf-8")
    study = make_study([tmp_path / "a", tmp_path / "b"], load_instrument("reply_quality"), tmp_path)
    assert len(study.items) == 6
    chats = {one.chat for one in open_key(tmp_path).items.values()}
    assert chats == {"sleep-0/1", "sleep-0/2", "family-1/2"}
    long = next(one for one in study.items if one.lines[-1].text == "a says =1 sleep-0/2")
    assert [one.speaker for one in long.lines] == ["Client", "Counselor", "Client", "Counselor"]
    assert long.lines[1].text == "Since when? 0"


def test_the_same_words_of_two_models_are_rated_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = cases_file(tmp_path / "cases.json", 1)
    places = [bench(monkeypatch, tmp_path / name, cases, "I hear you.") for name in ("a", "b")]
    make_study(places, load_instrument("reply_quality"), tmp_path / "study")
    key = open_key(tmp_path / "study").items.values()
    assert [(one.run, one.also_in) for one in key] == [("a", ("b",))] * 2


def test_benches_that_cannot_be_rated_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench(monkeypatch, tmp_path / "one", cases_file(tmp_path / "c.json"), "Yes.")
    chinese = cases_file(tmp_path / "zh.json", chinese=True)
    other = bench(monkeypatch, tmp_path / "other", chinese, "是的。")
    again = bench(monkeypatch, tmp_path / "x" / "one", chinese, "是的。")
    asked = load_instrument("reply_quality")
    for places, told in (
        ([one, other], "no line of a client that all of them answered"),
        ([one, again], "two benches are called one"),
    ):
        with pytest.raises(StudyError, match=told):
            make_study(places, asked, tmp_path / "study")
    with pytest.raises(StudyError, match="a bench holds transcripts"):
        make_study([one], load_instrument("persona_change"), tmp_path / "study")
    (one / "replies.csv").write_text("case,topic\nsleep-0,sleep\n", encoding="utf-8")
    with pytest.raises(StudyError, match=r"replies.csv: damaged \(no column turn\)"):
        make_study([one], asked, tmp_path / "study")


@each(("name", "code"), [("reply_quality", "en"), ("reply_quality_zh", "zh")])
def test_people_are_asked_in_the_judge_s_words_on_its_scales(name: str, code: Language) -> None:
    asked = load_instrument(name)
    judge = prompt_text("bench_judge", code)
    assert {one.id: one.points - 1 for one in asked.items} == DIMENSIONS
    for item in asked.items:
        _, *steps = re.split(r"\s*\d[:：]\s*", item.text)
        assert len(steps) == item.points
        for step in steps:
            assert step.strip(" .。") in judge, step


def test_a_latin_word_is_found_between_chinese_ones_and_no_part_of_a_longer_word() -> None:
    blinding = Blinding({"Ines": "A"}, words=("qwen*", "gpt-4o", "千问"))
    assert blinding.text("我是Qwen2模型，不是GPT-4o。") == "我是[…]模型，不是[…]。"
    assert blinding.text("我叫Ines吗？千问") == "我叫A吗？[…]"
    assert blinding.text("Inesa, xgpt-4o, gpt-4omni") == "Inesa, xgpt-4o, gpt-4omni"
