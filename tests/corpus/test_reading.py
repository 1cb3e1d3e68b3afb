"""Other people's files, the samples, and what is said when a file is none."""

import json
from pathlib import Path
from typing import Any

import pytest

from simcounsel.corpus.checks import check_dialogues
from simcounsel.corpus.export import Export, export
from simcounsel.corpus.reading import read_dialogues, read_written
from simcounsel.corpus.split import SPLITS, Shares
from simcounsel.errors import CorpusError
from tests.corpus.stories import story, write_native
from tests.each import each

TALK = [("client", "I can't sleep."), ("counselor", "Since when?")]
CHAT = [
    {"role": "user", "content": "I can't sleep."},
    {"role": "assistant", "content": "Since when?"},
]


def put(folder: Path, name: str, *rows: Any, text: str | None = None) -> Path:
    file = folder / name
    file.write_text(
        text
        if text is not None
        else "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        encoding="utf-8",
    )
    return file


def said(file: Path) -> list[list[tuple[str, str]]]:
    return [[(turn.speaker, turn.text) for turn in one.turns] for one in read_dialogues(file)]


@each(
    "row",
    [
        {"messages": CHAT},
        {"messages": [{"role": "developer", "content": "Be kind."}, *CHAT]},
        {
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "I can't sleep."}]},
                CHAT[1],
            ]
        },
        {
            "conversations": [
                {"from": "human", "value": "I can't sleep."},
                {"from": "gpt", "value": "Since when?"},
            ]
        },
        {
            "turns": [
                {"role": "client", "content": "I can't sleep."},
                {"role": "counselor", "content": "Since when?"},
            ]
        },
        {
            "dialog": [
                {"speaker": "seeker", "content": "I can't sleep."},
                {"speaker": "supporter", "content": "Since when?"},
            ],
            "problem_type": "sleep",
        },
        {
            "lines": [
                {"speaker": "来访者", "text": "I can't sleep."},
                {"speaker": "咨询师", "text": "Since when?"},
            ]
        },
        {"instruction": "I can't sleep.", "input": "", "output": "Since when?", "history": []},
        {"instruction": "I can't sleep.", "output": "Since when?"},
        {"prompt": CHAT[:1], "completion": CHAT[1:]},
    ],
)
def test_shapes_of_others(tmp_path: Path, row: dict[str, Any]) -> None:
    assert said(put(tmp_path, "others.jsonl", row)) == [TALK]
    assert said(put(tmp_path, "list.json", text=json.dumps([row, row], indent=1))) == [TALK, TALK]


def test_what_is_known_beside(tmp_path: Path) -> None:
    row = {
        "turns": CHAT,
        "id": 7,
        "topic": "sleep",
        "client": "Marit",
        "language": "en",
        "situation": "A baker.",
        "licence": "CC0-1.0",
    }
    (one,) = read_dialogues(put(tmp_path, "x.jsonl", row))
    assert (one.id, one.client, one.theme, one.language, one.situation, one.licence) == (
        "7",
        "Marit",
        "sleep",
        "en",
        "A baker.",
        "CC0-1.0",
    )
    assert one.origin is not None
    assert (one.origin.file, one.origin.chat, len(one.origin.hash)) == ("x.jsonl", "7", 64)


def test_who_is_unknown_is_a_client_of_its_own(tmp_path: Path) -> None:
    rows = [{"topic": "Career", "case": "1", "turns": CHAT}, {"turns": CHAT}]
    assert [(one.id, one.client) for one in read_dialogues(put(tmp_path, "x.jsonl", *rows))] == [
        ("Career-1", "x.jsonl:Career-1"),
        ("x:2", "x.jsonl:2"),
    ]


@each("format", ["openai", "sharegpt", "trl", "text", "parquet", "native"])
def test_files_of_an_export_checked_one_by_one(tmp_path: Path, format: str) -> None:
    """Each dialogue has an id of its own and the split of its file, so that what is in two of them
    is seen as a leak.
    """
    corpus = write_native(tmp_path / "corpus.jsonl", *(story(number) for number in range(1, 41)))
    export(
        [corpus],
        tmp_path / "out",
        Export(format=format, shares=Shares(train=50, validation=25, test=25), checked=False),
    )
    files = sorted(file for file in (tmp_path / "out").iterdir() if file.stem in SPLITS)
    found = [one for file in files for one in read_dialogues(file)]
    assert len({one.id for one in found}) == len(found) == 40
    assert [one.split for one in found] == [
        file.stem for file in files for _ in read_dialogues(file)
    ]
    assert {one.split for one in found} == set(SPLITS)


def test_a_leak_between_files_named_after_their_splits_is_seen(tmp_path: Path) -> None:
    long = [
        {
            "role": "user",
            "content": "I sleep four hours a night since my brother moved out of our house last winter.",
        },
        *CHAT[1:],
    ]
    train, test = (
        put(tmp_path, "train.jsonl", {"messages": long}),
        put(tmp_path, "test.json", text=json.dumps([{"messages": long}])),
    )
    leaks = check_dialogues(
        [*read_dialogues(train), *read_dialogues(test)], rules=["repeated_id", "split_leak"]
    ).findings
    assert [(one.dialogue, one.rule) for one in leaks] == [("train:1", "split_leak")]


def test_pairs(tmp_path: Path) -> None:
    rows = [
        {
            "prompt": CHAT[:1],
            "chosen": CHAT[1:],
            "rejected": [{"role": "assistant", "content": "Sleep more."}],
        },
        {
            "conversations": [{"from": "human", "value": "Hi."}],
            "chosen": {"from": "gpt", "value": "Hello."},
            "rejected": {"from": "gpt", "value": "Yes?"},
        },
    ]
    one, two = read_dialogues(put(tmp_path, "pairs.jsonl", *rows))
    assert one.turns[1].draft is not None and one.turns[1].draft.text == "Sleep more."
    assert two.turns[1].text == "Hello." and two.turns[1].draft is not None


def test_rows_that_go_on_are_one_dialogue(tmp_path: Path) -> None:
    more = [*CHAT, {"role": "user", "content": "For weeks."}]
    rows = [
        {"prompt": CHAT[:1], "completion": CHAT[1:]},
        {"prompt": more, "completion": [{"role": "assistant", "content": "Weeks."}]},
        {"prompt": CHAT[:1], "completion": CHAT[1:]},
    ]
    assert [len(one) for one in said(put(tmp_path, "trl.jsonl", *rows))] == [4, 2]


def test_a_transcript(tmp_path: Path) -> None:
    text = "Client: I can't sleep.\nTherapist: Since when?\n  Take your time.\n\n来访者：我睡不着。\n咨询师：多久了？\n"
    assert said(put(tmp_path, "talk.txt", text=text)) == [
        [("client", "I can't sleep."), ("counselor", "Since when?\nTake your time.")],
        [("client", "我睡不着。"), ("counselor", "多久了？")],
    ]


def test_json_lines_under_another_name_and_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(
        b"\xef\xbb\xbf"
        + b"".join(json.dumps({"messages": CHAT}).encode() + b"\r\n" for _ in range(2))
    )
    assert said(file) == [TALK, TALK]


@each(
    ("name", "text", "told"),
    [
        ("x.jsonl", '{"messages": []}\nnonsense\n', "x.jsonl:2: not JSON"),
        ("x.jsonl", '{"messages": []}\n[1]\n', "x.jsonl:2: expected a dialogue as a JSON object"),
        ("x.jsonl", '\n{"text": "a"}\n', "x.jsonl:2: no dialogue in it: expected `messages`"),
        (
            "x.jsonl",
            '{"messages": [{"role": "tool", "content": "a"}]}\n',
            "x.jsonl:1: messages 1: no speaker 'tool'; known are user, human",
        ),
        (
            "x.jsonl",
            '{"messages": [{"role": "user", "content": null}]}\n',
            "x.jsonl:1: messages 1: no text",
        ),
        (
            "x.jsonl",
            '{"messages": [{"role": "user", "content": "\\ud83d"}]}\n',
            "x.jsonl:1: messages 1: .* holds half a character",
        ),
        (
            "x.jsonl",
            '{"prompt": "Hi.", "completion": "Hello."}\n',
            "x.jsonl:1: prompt: plain text, of which nobody can tell who speaks",
        ),
        (
            "x.jsonl",
            '{"instruction": "a", "output": "b", "history": [["a"]]}\n',
            "x.jsonl:1: history: expected pairs",
        ),
        (
            "x.jsonl",
            '{"id": "a", "client": "b", "turns": [{"speaker": "doctor", "text": "x"}]}\n',
            "x.jsonl:1: turns.0.speaker: 'doctor' is not one of client, counselor",
        ),
        (
            "x.jsonl",
            '{"id": "a", "client": "b", "turns": [], "mood": 1}\n',
            "x.jsonl:1: mood: unknown key",
        ),
        (
            "x.json",
            '[{"messages": []},\n {"messages": [{"role": "user"}]}]',
            "x.json:2: messages 1: no text",
        ),
        ("x.json", '[{"messages": []},\n\n nonsense]', "x.json:3: not JSON"),
        ("x.json", '"a"', "x.json:1: expected a list of dialogues, found str"),
        ("x.txt", "Client: Hi.\nHello.\n", "x.txt:2: 'Hello.' names no speaker"),
        ("x.jsonl", "", "x.jsonl: no dialogue in it"),
        ("x.csv", "a,b", "x.csv: no corpus that can be read; there are .jsonl"),
        ("x.parquet", "nonsense", "x.parquet: not a Parquet file"),
        (
            "x.yaml",
            "theme: sleep\ndialogues:\n- id: a\n  client: b\n  turns:\n  - client: Hi.\n    thought: x\n",
            "x.yaml:7: dialogues.0.turns.0.thought: unknown key",
        ),
        (
            "x.yaml",
            "theme: sleep\ndialogues:\n- id: a\n  client: b\n  turns:\n  - client: Hi.\n    counselor: x\n",
            "x.yaml:6: .* one line of one speaker",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    with pytest.raises(CorpusError, match=told):
        read_dialogues(put(tmp_path, name, text=text))


def test_what_is_not_text_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b'{}\n{"messages": "\xe9"}\n')
    with pytest.raises(
        CorpusError, match="latin.jsonl:1: no dialogue in it|latin.jsonl:2: not UTF-8"
    ):
        read_dialogues(tmp_path / "latin.jsonl")
    with pytest.raises(
        CorpusError,
        match="no such file or folder; name a corpus file, a run's folder, or the word `samples`",
    ):
        read_dialogues(tmp_path / "none")
    with pytest.raises(CorpusError, match="no run, no runs and no corpus.jsonl in it"):
        read_dialogues(tmp_path)


def test_hostile_files(tmp_path: Path) -> None:
    """Deep nesting and one line of 20 MB end in words or are read; NUL bytes stay."""
    with pytest.raises(CorpusError, match="not JSON|nested too deeply"):
        read_dialogues(put(tmp_path, "deep.json", text="[" * 100_000))
    with pytest.raises(CorpusError, match="not JSON"):
        read_dialogues(put(tmp_path, "deep.jsonl", text="[" * 100_000))
    long = [{"role": "user", "content": "a\0b" * 7_000_000}, CHAT[1]]
    assert len(said(put(tmp_path, "long.jsonl", {"messages": long}))[0][0][1]) == 21_000_000


def test_a_folder_with_a_corpus(tmp_path: Path) -> None:
    write_native(tmp_path / "corpus.jsonl", story(1), story(2))
    assert [one.id for one in read_dialogues(tmp_path)] == ["story-1", "story-2"]


def test_the_samples() -> None:
    """Sixty over ten themes, a dozen with faults; each as people read it."""
    samples, faulted = read_dialogues("samples"), read_dialogues("samples:faulted")
    assert (len(samples), len({one.theme for one in samples}), len(faulted)) == (60, 10, 12)
    assert all(one.faults for one in faulted) and not any(one.faults for one in samples)
    assert all(
        one.language == "en" and one.licence == "Apache-2.0" and one.situation for one in samples
    )
    assert all(
        turn.reasoning for one in samples for turn in one.turns if turn.speaker == "counselor"
    )
    assert len({one.id for one in (*samples, *faulted)}) == 72
    assert all(
        one.origin is not None and "not by its embedded model" in one.origin.models["writer"]
        for one in samples
    )


def test_a_file_written_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "theme: schlaf\nlanguage: de\nlicence: CC0-1.0\ndialogues:\n- id: a\n  client: Marit\n  turns:\n  - client: Ich schlafe nicht.\n    emotion: fear\n"
        "  - counselor: Seit wann?\n    reasoning: Erst die Dauer.\n",
        encoding="utf-8",
    )
    (one,) = read_written(file)
    assert (one.theme, one.language, one.licence, one.turns[0].emotion, one.turns[1].reasoning) == (
        "schlaf",
        "de",
        "CC0-1.0",
        "fear",
        "Erst die Dauer.",
    )


def test_nobody_may_think_that_a_clinician_looked_at_the_samples() -> None:
    assert all(
        "reviewed by no clinician" in one.origin.models["writer"]
        for one in read_dialogues("samples")
        if one.origin
    )
