"""The detector measured on labelled lines: counting by hand, both file forms, and what is refused."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simcounsel.bench.risk import Measured, Share, Taken, judged, listened, measured
from simcounsel.bench.risk_lines import MOST_PROBLEMS, Labelled, Split, lines_of
from simcounsel.cli import app
from simcounsel.errors import BenchError
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted
from tests.danger.planted import risk as judgment
from tests.each import each
from tests.stage import switchboard

OWN = """
- {id: a, split: tune, text: "I want to kill myself.", kinds: [suicide], level: high, hard: false, why: "plain"}
- {id: b, split: test, text: "They would be better off without me.", kinds: [suicide], level: high, hard: true, why: "hint"}
- {id: c, split: test, text: "This job is killing me.", kinds: [], level: none, hard: true, why: "idiom"}
- {id: d, split: test, text: "The tram was late.", kinds: [suicide], level: low, hard: true, why: "nobody could hear that"}
"""


def own(folder: Path, text: str = OWN) -> Path:
    path = folder / "lines.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def psyguard(folder: Path) -> Path:
    path = folder / "psyguard.json"
    none, risk = [0.0, 1.0], [1.0, 0.0]
    path.write_text(
        json.dumps(
            [
                {
                    "idx": 2,
                    "text": "我想自杀",
                    "labels": ["主动自杀意念"],
                    "label": risk,
                    "data_source": "x",
                },
                {
                    "idx": 3,
                    "text": "我不想活了",
                    "labels": ["被动自杀意念"],
                    "label": risk,
                    "data_source": "x",
                },
                {
                    "idx": 5,
                    "text": "今天天气很好",
                    "labels": ["无风险"],
                    "label": none,
                    "data_source": "x",
                },
                {
                    "idx": 7,
                    "text": "我想自杀",
                    "labels": ["无风险"],
                    "label": none,
                    "data_source": "x",
                },
            ]
        ),
        encoding="utf-8",
    )
    return path


def measure(path: Path, split: Split | None = None) -> Measured:
    lines = lines_of(path, split)
    return measured(path.name, split or "all", lines, listened(lines))


def test_wilson() -> None:
    """Against the worked values of Newcombe 1998, table I: 81 of 263 and 1 of 29."""
    assert Share(hits=81, of=263).interval == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert Share(hits=1, of=29).interval == pytest.approx((0.0061, 0.1718), abs=5e-5)
    assert Share(hits=0, of=0).interval is None and Share(hits=0, of=0).share is None


def test_own_lines(tmp_path: Path) -> None:
    result = measure(own(tmp_path), "test")
    assert (
        result.precision.hits,
        result.precision.of,
        result.recall.hits,
        result.recall.of,
        result.doubt.hits,
    ) == (1, 1, 1, 2, 1)
    assert result.f1 == pytest.approx(2 / 3)
    assert {level: (share.hits, share.of) for level, share in result.by_level.items()} == {
        "none": (0, 1),
        "low": (0, 1),
        "high": (1, 1),
    }
    assert {(labelled, heard): n for (labelled, heard), n in result.levels.items()} == {
        ("high", "low"): 1,
        ("none", "none"): 1,
        ("low", "none"): 1,
    }
    assert [(share.hits, share.of) for share in result.hard.values()] == [(1, 2), (0, 1)]


def test_psyguard(tmp_path: Path) -> None:
    result = measure(psyguard(tmp_path), "test")
    assert (result.precision.hits, result.precision.of, result.recall.hits, result.recall.of) == (
        1,
        2,
        1,
        1,
    )
    assert list(result.by_label) == ["被动自杀意念"] and result.by_level == {} and result.hard == {}
    assert measure(psyguard(tmp_path)).lines == 4


def test_nothing_flagged_is_no_precision() -> None:
    line = "Hello there."
    result = measured(
        "x",
        "all",
        [Labelled(text=line, risk=False, labels=(), split="test")],
        [Taken(level="none", doubt=False)],
    )
    assert result.precision.share is None and result.recall.share is None and result.f1 is None


def test_a_model_is_asked_in_doubt_or_about_every_line(tmp_path: Path) -> None:
    """The hint about the cats is doubtful, the tram is not; the model calls both high, and the idiom none."""
    asked: list[str] = []

    def risk(request: Question, draw: object) -> str:
        asked.append(request.prompt)
        none = "job" in request.prompt.split("The client's line:")[1].splitlines()[0]
        return judgment("none" if none else "high")

    lines = lines_of(own(tmp_path), "test")
    for every_line, hits, questions in ((False, 1, 1), (True, 2, 3)):
        asked.clear()
        models = switchboard(Scripted({"risk": risk}))
        result = measured(
            "x", "test", lines, judged(lines, models, every_line=every_line), "a model"
        )
        models.close()
        assert (result.recall.hits, result.recall.of, result.precision.of, len(asked)) == (
            hits,
            2,
            hits,
            questions,
        )
        assert result.doubt.hits == 1


@each(
    ("text", "words"),
    [
        ("[]", r"lines.yaml:1: a list of labelled lines"),
        ("", r"lines.yaml:1: the file is empty"),
        ("{", r"lines.yaml:1: not valid YAML"),
        ("- {id: a}", r"lines.yaml:1: entry 1: split: missing; add `split: ...`"),
        ("- 7", r"lines.yaml:1: entry 1: 7: input should be a valid dict"),
        (
            OWN.replace("split: tune", "split: tun"),
            r"lines.yaml:2: entry 1: split: 'tun' is not one of tune, test; did you mean 'tune'\?",
        ),
        (
            OWN.replace("level: low", "level: mild"),
            r"lines.yaml:5: entry 4: level: 'mild' is not one of none, low, high, imminent",
        ),
        (
            OWN.replace("kinds: [],", "kinds: [suicide],"),
            r"lines.yaml:4: entry 3: kinds: \['suicide'\] with level none; give the level",
        ),
        (
            OWN.replace("[suicide], level: low", "[], level: low"),
            r"lines.yaml:5: entry 4: kinds: \[\] with level low; name the kinds",
        ),
        (OWN.replace("id: c", "id: a"), r"lines.yaml:4: entry 3: id: 'a' is that of entry 1 too"),
        (
            OWN.replace("id: c", "id: 7"),
            r"lines.yaml:4: entry 3: id: 7: a number or truth value where text is needed; put it in quotes",
        ),
        (
            OWN.replace('why: "hint"', 'why: "hint", kind: x'),
            r"lines.yaml:3: entry 2: kind: unknown key; did you mean 'kinds'\?",
        ),
        ("- " + "[" * 2000, "nested too deeply"),
    ],
)
def test_a_file_with_a_fault(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=words):
        measure(own(tmp_path, text))


@each(
    ("entry", "words"),
    [
        ('"label": []', "entry 2: label: \\[\\]: tuple should have at least 2 items"),
        ('"label": [0, 3]', "entry 2: label.1: 3: input should be less than or equal to 1"),
        ('"label": [0, NaN]', "entry 2: label.1: nan"),
        ('"label": 1', "entry 2: label: 1: input should be a valid tuple"),
        ('"idx": 1e400', "entry 2: idx: inf: input should be a valid integer"),
        ('"idx": -1', "entry 2: idx: -1: input should be greater"),
        ('"labels": "自杀"', "entry 2: labels: '自杀': input should be a valid tuple"),
        ('"text": " "', "entry 2: text: ' ': string should have at least 1"),
        ('"idx": ' + "9" * 6000, "a number has more digits than can be read"),
        ('"label": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_a_fault_in_psyguards(entry: str, words: str, tmp_path: Path) -> None:
    one = '{"idx": 2, "text": "a", "labels": [], "label": [0, 1], "data_source": "x"}'
    (tmp_path / "psyguard.json").write_text(f"[{one},\n{one[:-1]}, {entry}}}]", encoding="utf-8")
    with pytest.raises(BenchError, match=rf"psyguard\.json(:2)?: {words}"):
        measure(tmp_path / "psyguard.json")


def test_many_faults_are_told_in_part(tmp_path: Path) -> None:
    with pytest.raises(BenchError) as caught:
        measure(own(tmp_path, "- 7\n" * (MOST_PROBLEMS + 5)))
    told = str(caught.value).splitlines()
    assert (len(told), told[-1]) == (MOST_PROBLEMS + 1, "and 5 more like these")


def test_an_empty_split(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="no line in the split test"):
        measure(own(tmp_path, OWN.split("\n- {id: b")[0]), "test")


def test_the_command(tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["study", "bench", "risk", str(own(tmp_path)), "--split", "test"])
    assert run.exit_code == 0 and "0.500" in run.output and "level labelled" in run.output
    told = json.loads(
        CliRunner().invoke(app, ["study", "bench", "risk", str(own(tmp_path)), "--json"]).output
    )
    assert (told["lines"], told["recall"]["hits"], told["recall"]["of"]) == (4, 2, 3)
    assert (
        CliRunner()
        .invoke(app, ["study", "bench", "risk", str(own(tmp_path)), "--split", "train"])
        .exit_code
        == 2
    )
    assert (
        CliRunner()
        .invoke(app, ["study", "bench", "risk", str(own(tmp_path)), "--every-line"])
        .exit_code
        == 2
    )
    asked = CliRunner().invoke(
        app, ["study", "bench", "risk", str(own(tmp_path)), "--model", "scripted", "--every-line"]
    )
    assert asked.exit_code == 0 and "the detector, and scripted where it was asked" in asked.output
