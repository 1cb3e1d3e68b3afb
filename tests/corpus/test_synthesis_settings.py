"""Situations and settings as people write them, and what is said when they are wrong."""

from pathlib import Path

import pytest

from simcounsel.corpus.synthesis.commands import language_doubt
from simcounsel.corpus.synthesis.settings import Synthesis, SynthesisModels
from simcounsel.corpus.synthesis.settings_file import changed, load_synthesis, settings_from
from simcounsel.corpus.synthesis.situations import read_situations
from simcounsel.errors import SpecError
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.vocabulary import THEMES
from tests.corpus.bench import settings
from tests.each import each
from tests.stage import ROOT

LONG = "I am a ferryman and I cannot sleep since May."


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_situations_are_many_and_of_ten_themes() -> None:
    found = read_situations(["shipped"])
    assert len(found) >= 60
    assert {one.theme for one in found} == set(THEMES)
    assert len({one.text for one in found}) == len(found)
    assert all(one.unit == one.id and 40 <= len(one.text.split()) <= 130 for one in found)


def test_one_situation_a_line(tmp_path: Path) -> None:
    found = read_situations([write(tmp_path / "grief.txt", f"{LONG}\n\n  {LONG} Really. \n")])
    assert [(one.id, one.theme, one.text) for one in found] == [
        ("grief-01", "grief", LONG),
        ("grief-03", "grief", f"{LONG} Really."),
    ]


def test_a_line_is_a_person_also_without_full_stops(tmp_path: Path) -> None:
    text = "i am a ferryman and i cannot sleep\nmy wife left in may and i am alone\n"
    assert len(read_situations([write(tmp_path / "raw.txt", text)])) == 2


def test_a_text_of_its_own_file_is_one_situation(tmp_path: Path) -> None:
    text = "I am a ferryman and I have\nnot slept well since the spring,\n\nwhen my brother left.\n"
    assert [one.text for one in read_situations([write(tmp_path / "his.md", text)])] == [
        " ".join(text.split())
    ]


def test_a_folder_and_json_lines(tmp_path: Path) -> None:
    write(tmp_path / "b.md", LONG)
    write(
        tmp_path / "a.jsonl",
        f'{{"text": "{LONG}", "client": "ferryman", "theme": "sea"}}\n{{"id": "x", "text": "{LONG}"}}\n',
    )
    write(tmp_path / "c.csv", "not looked at")
    found = read_situations([tmp_path])
    assert [(one.id, one.theme, one.unit) for one in found] == [
        ("a-01", "sea", "ferryman"),
        ("x", None, "x"),
        ("b", None, "b"),
    ]


@each(
    ("name", "text", "said"),
    [
        ("a.txt", "Sad.\n", "a.txt:1: 'Sad.' says too little"),
        ("a.txt", "", "no situation there"),
        ("a.jsonl", "{\n", "a.jsonl:1: not a JSON object"),
        (
            "a.jsonl",
            '{"txt": "I am a ferryman."}',
            "a.jsonl:1: text: field required; known here: text, id, client, theme",
        ),
        (
            "a.jsonl",
            f'{{"id": "x", "text": "{LONG}"}}\n{{"id": "x", "text": "{LONG}"}}',
            "a.jsonl:2: the id 'x' was taken at",
        ),
    ],
)
def test_what_is_no_situation_is_said_with_its_line(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError) as error:
        read_situations([write(tmp_path / name, text)])
    assert said in str(error.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(
        "Ich bin müde und schlafe schlecht seit Mai.".encode("latin-1")
    )
    (tmp_path / "empty").mkdir()
    for source, said in (
        ("none.txt", "no such file"),
        ("latin.txt", "not UTF-8"),
        ("empty", "no .txt, .md or .jsonl in this folder"),
    ):
        with pytest.raises(SpecError, match=said):
            read_situations([source], tmp_path)


def test_a_file_of_settings(tmp_path: Path) -> None:
    write(tmp_path / "mine.txt", f"{LONG}\n{LONG}!\n")
    file = write(
        tmp_path / "s.yaml",
        "name: mine\nsituations: mine.txt\nwave: 1\nwithout: [manager]\nmodels: {default: scripted}\n",
    )
    found = load_synthesis(file, turns="12")
    assert (found.count, found.waves, found.turns, found.condition, found.models.of("seeker")) == (
        2,
        2,
        12,
        "no_manager",
        "scripted",
    )


@each(
    ("text", "said"),
    [
        ("wave: 0\n", ":1: wave: 0: input should be greater than or equal to 1"),
        ("name: a\nsitutations: [x]\n", ":2: situtations: unknown key; did you mean 'situations'?"),
        ("situations: none.txt\n", ":1: situations: "),
        ("without: [evaluater]\n", "did you mean 'evaluator'?"),
        (
            "name: a\nthemes: [sea]\n",
            ":2: themes: no situation on 'sea'; there are anxiety, couple",
        ),
        ("turns: 4\nfewest_turns: 9\n", "fewest_turns: 9 is more than turns: 4"),
        (f"strategies: ['{'word ' * 41}']\n", "a strategy of 41 words"),
        ("- a\n", ":1: expected `key: value` lines"),
    ],
)
def test_wrong_settings_name_file_line_and_remedy(text: str, said: str, tmp_path: Path) -> None:
    file = write(tmp_path / "s.yaml", text)
    with pytest.raises(SpecError) as error:
        load_synthesis(file)
    assert str(error.value).startswith(f"{file}:")
    assert said in str(error.value)


def test_the_command_line_s_settings(tmp_path: Path) -> None:
    group = write(tmp_path / "group.yaml", "default: scripted\nevaluator: embedded\n")
    strategies = write(tmp_path / "k.yaml", "strategies: [Go slowly.]\n")
    found = settings_from(
        [],
        {"sessions": 3},
        models=group,
        roles={"seeker": "embedded"},
        themes=["grief"],
        without=["manager"],
        strategies=strategies,
    )
    assert found.models.resolved() == {
        "extractor": "scripted",
        "seeker": "embedded",
        "supporter": "scripted",
        "evaluator": "embedded",
        "corrector": "scripted",
        "manager": "scripted",
        "embed": "scripted",
    }
    assert {one.theme for one in found.situations} == {"grief"}
    assert (found.count, found.strategies, found.without) == (3, ("Go slowly.",), ("manager",))
    file = write(
        tmp_path / "s.yaml",
        "situations: shipped\nmodels: {default: http://localhost:1/v1/a, seeker: scripted}\n",
    )
    mixed = settings_from(
        [file], {"models.manager": "scripted"}, roles={"evaluator": "embedded"}
    ).models
    assert (
        mixed.of("supporter"),
        mixed.of("seeker"),
        mixed.of("evaluator"),
        mixed.of("manager"),
    ) == ("http://localhost:1/v1/a", "scripted", "embedded", "scripted"), (
        "what is not named stays as the file has it"
    )
    assert set(settings_from([file], {}, model="scripted").models.resolved().values()) == {
        "scripted"
    }
    with pytest.raises(SpecError, match="no such role"):
        settings_from([], {}, roles={"judge": "embedded"})


def test_order_of_what_is_left_out_does_not_matter() -> None:
    assert settings(without=("manager", "corrector")) == settings(
        without=("corrector", "manager", "manager")
    )


def test_changes() -> None:
    assert changed(settings(), {"models.seeker": "embedded"}).models.seeker == "embedded"
    with pytest.raises(SpecError, match="--set turns"):
        changed(settings(), {"turns": "many"})


@pytest.mark.parametrize("name", ["corpus_ablation", "corpus_groups"])
def test_shipped_experiments(name: str) -> None:
    experiment, cells = load_experiment(ROOT / "experiments" / f"{name}.yaml")
    assert [cell.arm for cell in cells] == [arm.name for arm in experiment.conditions]
    situations = {cell.about.situations for cell in cells if isinstance(cell.about, Synthesis)}
    assert len(situations) == 1, "all arms write about the same people"


@each(
    ("more", "said"),
    [
        ("clients: [a.yaml]\nin_place_of: Ines\n", "`clients` is for people who live in worlds"),
        ("worlds: [a.yaml]\n", "`worlds` is for people who live in worlds"),
        ("set: {seed: 3}\n", "write `seeds: [...]` beside `synthesis`"),
        ("set: {wafe: 3}\n", "unknown key; did you mean 'wave'?"),
    ],
)
def test_wrong_experiments(more: str, said: str, tmp_path: Path) -> None:
    file = write(
        tmp_path / "e.yaml",
        f"name: e\nsynthesis: {{situations: shipped}}\nconditions: [{{name: a}}]\n{more}",
    )
    with pytest.raises(SpecError) as error:
        load_experiment(file)
    assert said in str(error.value)


def test_few_turns_need_no_other_setting(tmp_path: Path) -> None:
    assert settings_from([], {"turns": 3}).fewest_turns == 3
    assert settings_from([], {}).fewest_turns == 5


@each(
    ("text", "language", "model", "said"),
    [
        (
            "我最近总是睡不着觉，心里很难过，不知道怎么办才好。",
            "English",
            "scripted",
            "1 of 1 situations look Chinese",
        ),
        (LONG, "English", "embedded", None),
        (LONG, "German", "scripted", "look English, and the language is German"),
        ("我最近总是睡不着觉，心里很难过，不知道怎么办才好。", "Chinese", "scripted", None),
        (
            "我最近总是睡不着觉，心里很难过，不知道怎么办才好。",
            "Chinese",
            "embedded",
            "the embedded model writes English only",
        ),
    ],
)
def test_languages_that_do_not_fit_are_said(
    text: str, language: str, model: str, said: str | None
) -> None:
    about = settings(1, language=language, models=SynthesisModels(default=model))
    doubt = language_doubt(
        about.model_copy(
            update={"situations": (about.situations[0].model_copy(update={"text": text}),)}
        )
    )
    assert (doubt is None) == (said is None)
    assert said is None or said in str(doubt)
