"""What is written, what is left out, and what is never overwritten."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from simcounsel.corpus import folder as folders
from simcounsel.corpus.card_text import readme
from simcounsel.corpus.checks import check_dialogues
from simcounsel.corpus.dialogues import Dialogue, Fault, Turn
from simcounsel.corpus.export import Export, export, prepare
from simcounsel.corpus.formats import FORMATS, Format
from simcounsel.corpus.reading import read_dialogues
from simcounsel.corpus.selection import Floor, Selection
from simcounsel.corpus.split import Shares, split_of
from simcounsel.corpus.teaching import Teaching
from simcounsel.engine.forking import fork
from simcounsel.errors import CorpusError
from tests.commands import Command
from tests.corpus.made import dialogue
from tests.corpus.stories import exported, story, write_native
from tests.corpus.talks import FILLER, talk
from tests.each import each
from tests.stage import go_on, live, three

ALL = Shares(train=1, validation=0, test=0)


def native(**more: Any) -> Export:
    return Export(format="native", shares=ALL, checked=False, **more)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@each("format", FORMATS)
def test_the_same_sources_give_the_same_bytes(tmp_path: Path, format: str) -> None:
    once = contents(exported(tmp_path, format))
    shutil.rmtree(tmp_path / "out")
    assert contents(exported(tmp_path, format)) == once
    assert ("dataset_info.json" in once) == (FORMATS[format].dataset_info is not None)


def test_the_card_tells_what_is_there(tmp_path: Path) -> None:
    """Counts by hand: twelve stories of six lines, four with a greeting before; clients come in twos."""
    corpus = write_native(tmp_path / "corpus.jsonl", *(story(number) for number in range(1, 13)))
    card = export(
        [corpus],
        tmp_path / "out",
        Export(format="trl", shares=ALL, checked=False, licence="CC-BY-4.0"),
    )
    assert (card.counts.dialogues, card.counts.clients, card.counts.turns) == (12, 7, 12 * 6 + 4)
    assert (card.themes, card.conditions, card.licences, card.languages) == (
        {"sleep": 12},
        {"client_counselor": 12},
        {"CC-BY-4.0": 12},
        {"en": 12},
    )
    assert card.lines == {"fallback": 2, "generated": 74}
    assert card.privacy.unit == "client" and card.simcounsel and card.checks.applied == ()
    assert [(one.file, one.dialogues, len(one.hash)) for one in card.sources] == [
        ("corpus.jsonl", 12, 64)
    ]
    written = json.loads((tmp_path / "out" / "card.json").read_bytes())
    assert written == card.model_dump(mode="json")
    for name, file in written["files"].items():
        data = (tmp_path / "out" / name).read_bytes()
        assert (file["rows"], file["bytes"]) == (data.count(b"\n"), len(data))
    assert written["counts"]["rows"] == 12 * 3 + 4 - 2, (
        "a row for each counselor's line but the two fallbacks"
    )
    told = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "| train | 12 | 7 | 76 |" in told
    assert (
        "tags: [counseling, simulation, simcounsel]" in told and "# 12 counseling dialogues" in told
    )
    friends = readme(card.model_copy(update={"options": {"partner": "layperson"}}))
    assert "# 12 everyday dialogues" in friends and "counseling" not in friends.split("**")[0]


def test_the_splits_are_of_clients_and_are_read_again(tmp_path: Path) -> None:
    corpus = write_native(tmp_path / "corpus.jsonl", *(story(number) for number in range(1, 41)))
    export(
        [corpus],
        tmp_path / "out",
        Export(format="native", shares=Shares(train=50, validation=25, test=25), checked=False),
    )
    again = read_dialogues(tmp_path / "out")
    assert {one.split for one in again} == {"train", "validation", "test"}
    of = {one.client: one.split for one in again}
    assert all(of[one.client] == one.split for one in again)
    assert sorted(one.id for one in again) == sorted(story(number).id for number in range(1, 41))


def test_a_split_without_clients_has_no_file(tmp_path: Path) -> None:
    assert not {"validation.jsonl", "test.jsonl"} & set(contents(exported(tmp_path, "openai")))


def test_no_client_in_train_is_told() -> None:
    lonely = next(
        f"c{n}"
        for n in range(99)
        if prepare(
            [dialogue("a", "x", "y", client=f"c{n}")],
            Export(format="native", shares=Shares(train=0, validation=0, test=1), checked=False),
        )
    )
    with pytest.raises(
        CorpusError,
        match="no client falls to train .there are 1.*another --seed, or --split 100,0,0",
    ):
        prepare(
            [dialogue("a", "x", "y", client=lonely)],
            Export(format="native", shares=Shares(train=1e-9, validation=0, test=1), checked=False),
        )


def test_a_split_that_the_checks_emptied_is_told() -> None:
    """The same words again in two splits: the checks keep those of the test set, so that nothing is left to train on."""
    shares = Shares(train=50, validation=0, test=50)
    listed = [
        story(1).model_copy(update={"id": str(number), "client": f"c{number}"})
        for number in range(20)
    ]
    fell = sum(split_of(one.client, shares, 1) == "train" for one in listed)
    with pytest.raises(
        CorpusError,
        match=rf"{fell} of 20 dialogues fell to train, and none of them is left.* dropped by checks 19: near_duplicate 19; .*--no-check",
    ):
        prepare(listed, Export(format="native", shares=shares))
    assert (
        len(prepare(listed, Export(format="native", shares=shares, checked=False)).dialogues) == 20
    )
    with pytest.raises(
        CorpusError,
        match=r"none of 1 dialogues? is left: dropped by checks 1 .*single_speaker 1, .*--no-check",
    ):
        prepare([dialogue("a", "Hi.")], Export(format="native", shares=ALL))


@each("format", ["openai", "sharegpt", "trl", "text", "native"])
def test_an_export_of_an_export_does_not_mix_its_splits(tmp_path: Path, format: str) -> None:
    """Whoever was in the test set stays there, also where the rows do not say who the client is; and once more, from the copy of the copy."""
    corpus = write_native(tmp_path / "corpus.jsonl", *(story(number) for number in range(1, 41)))
    shares = Shares(train=50, validation=25, test=25)
    export([corpus], tmp_path / "first", Export(format=format, shares=shares, checked=False))
    of = {one.turns[0].text: one.split for one in read_dialogues(tmp_path / "first")}
    assert set(of.values()) == {"train", "validation", "test"}
    seed = 1 if format == "native" else 2
    export(
        [tmp_path / "first"],
        tmp_path / "second",
        Export(format="native", shares=shares, seed=seed, checked=False),
    )
    export(
        [tmp_path / "second"],
        tmp_path / "third",
        Export(format="openai", shares=shares, seed=seed, checked=False),
    )
    for folder in ("second", "third"):
        assert {one.turns[0].text: one.split for one in read_dialogues(tmp_path / folder)} == of


def test_a_test_set_of_unknown_clients_is_not_trained_on(tmp_path: Path) -> None:
    corpus = write_native(tmp_path / "c.jsonl", *(story(n) for n in range(1, 41)))
    export(
        [corpus],
        tmp_path / "out",
        Export(format="openai", shares=Shares(train=50, validation=0, test=50), checked=False),
    )
    test, train = tmp_path / "out" / "test.jsonl", tmp_path / "out" / "train.jsonl"
    with pytest.raises(
        CorpusError,
        match="nothing is in train: these files do not say who the clients are.*name the file for training too",
    ):
        export([test], tmp_path / "again", Export(format="native", checked=False))
    export(
        [train],
        tmp_path / "again",
        Export(
            format="native", shares=Shares(train=50, validation=0, test=50), seed=2, checked=False
        ),
    )
    assert {one.split for one in read_dialogues(tmp_path / "again")} == {"train", "test"}, (
        "what was all in train may be dealt again"
    )


@each(
    ("kept", "selection", "reason"),
    [
        (["a"], Selection(), "with a layperson"),
        (["l"], Selection(partner="layperson"), "with a counselor"),
        (["a", "l"], Selection(partner="both"), None),
        (["a"], Selection(conditions=("warm",)), "another condition"),
        (["a"], Selection(themes=("grief",)), "another theme"),
        (["a"], Selection(floors=(Floor.parse("empathy.total=3"),)), "not rated: empathy.total"),
    ],
)
def test_what_is_left_out_is_counted(
    kept: list[str], selection: Selection, reason: str | None
) -> None:
    asked = dialogue(
        "a", "Hi.", "Hello.", condition="warm", theme="grief", ratings={"empathy": {"total": 3.0}}
    )
    lay = dialogue("l", "Hi.").model_copy(
        update={
            "turns": (
                Turn(speaker="client", text="Hi."),
                Turn(speaker="layperson", text="Oh dear."),
            )
        }
    )
    plain = dialogue("p", "Well.", "Yes?", ratings={"empathy": {"total": None}}, theme="sleep")
    others = [plain] if selection.conditions or selection.themes or selection.floors else []
    found = prepare([asked, lay, *others], native(selection=selection))
    assert [one.id for one in found.dialogues] == kept
    assert reason is None or found.left_out[reason] == 1


def test_below_a_floor() -> None:
    listed = [
        dialogue(str(value), f"Line {value}.", "Yes?", ratings={"empathy": {"total": value}})
        for value in (2.0, 3.0, 4.5)
    ]
    found = prepare(listed, native(selection=Selection(floors=(Floor.parse("empathy.total=3"),))))
    assert [one.id for one in found.dialogues] == ["3.0", "4.5"]
    assert found.left_out == {"rated below empathy.total=3": 1}


@pytest.mark.parametrize(
    ("selection", "told"),
    [
        (
            Selection(themes=("slep",)),
            "--theme slep: no dialogue of these sources has it; there are sleep",
        ),
        (
            Selection(conditions=("warm",)),
            "--condition warm: no dialogue of these sources has it; there are client_counselor",
        ),
        (
            Selection(floors=(Floor.parse("empathy.total=3"),)),
            "--min-rating empathy.total: no dialogue of these sources has it; they have none",
        ),
    ],
)
def test_what_nobody_has_is_a_slip(selection: Selection, told: str) -> None:
    with pytest.raises(CorpusError, match=told):
        prepare([story(1)], native(selection=selection))


@each("words", ["empathy", "empathy.total", "empathy=3", "empathy.total=high", "empathy.total=nan"])
def test_floors_that_are_none(words: str) -> None:
    with pytest.raises(CorpusError, match="expected INSTRUMENT.SCORE=VALUE"):
        Floor.parse(words)


def test_nothing_left_says_why() -> None:
    with pytest.raises(
        CorpusError, match=r"none of 1 dialogues? is left: no line that was revised \(1\)"
    ):
        prepare([dialogue("a", "Hi.", "Hello.")], Export(format="trl-preference", checked=False))


def test_checks_drop_and_are_counted() -> None:
    """One speaker alone is an error of the checks; without them it has nothing to learn from."""
    alone = dialogue("alone", "Is anybody here?").model_copy(
        update={"turns": (Turn(speaker="client", text="Is anybody here?"),)}
    )
    found = prepare([story(1), alone], Export(format="openai", shares=ALL))
    assert [one.id for one in found.dialogues] == ["story-1"]
    assert found.checks.dropped["single_speaker"] == 1 and "single_speaker" in found.checks.applied
    unchecked = prepare([story(1), alone], Export(format="openai", shares=ALL, checked=False))
    assert unchecked.left_out == {"nothing to learn in it": 1}


def test_planted_faults_are_not_learned() -> None:
    fault = Fault(kind="advice", turns=(2,), quality="listening", why="It tells her what to do.")
    faulty = dialogue("f", "Hi.", "Move out.", faults=(fault,))
    assert prepare([story(1), faulty], Export(format="openai", shares=ALL)).left_out == {
        "a planted fault": 1
    }


def test_merging_is_counted(tmp_path: Path) -> None:
    twice = dialogue("t", "Hi.", "Hello.").model_copy(
        update={
            "turns": tuple(
                Turn(speaker=who, text=text)
                for who, text in (("client", "Well."), ("client", "So."), ("counselor", "Yes?"))
            )
        }
    )
    card = export([write_native(tmp_path / "c.jsonl", twice)], tmp_path / "out", native())
    assert card.merged_turns == 1
    assert [turn.text for turn in read_dialogues(tmp_path / "out")[0].turns] == [
        "Well.\nSo.",
        "Yes?",
    ]


def test_a_shared_past_is_learned_once(tmp_path: Path) -> None:
    """A fork repeats what its parent lived; another dialogue of the same id is another dialogue."""
    run = live(tmp_path / "runs", three(), ticks=10)
    go_on(fork(run, 8, {}, tmp_path / "runs"), 1)
    found = prepare(read_dialogues(tmp_path / "runs"), native(selection=Selection(partner="both")))
    assert found.left_out["the same dialogue again"] >= 1
    assert len({tuple(turn.text for turn in one.turns) for one in found.dialogues}) == len(
        found.dialogues
    )
    assert [
        one.id
        for one in prepare(
            [dialogue("a", "Hi.", "Yo."), dialogue("a", "Oh.", "Yo.")], native()
        ).dialogues
    ] == ["a", "a~2"]


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (Export(format="openia"), "no such format; there are openai"),
        (
            Export(format="trl-preference", teaching=Teaching(reasoning=True)),
            "a draft has no reasoning",
        ),
        (Export(format="native", teaching=Teaching(tags=("skill",))), "as fields"),
    ],
)
def test_formats_that_cannot_be(tmp_path: Path, wanted: Export, told: str) -> None:
    with pytest.raises(CorpusError, match=told):
        export(["samples"], tmp_path / "out", wanted)
    assert not list(tmp_path.iterdir())


def test_only_an_earlier_export_is_replaced(tmp_path: Path) -> None:
    out = exported(tmp_path, "openai")
    corpus = tmp_path / "corpus.jsonl"
    export([corpus], out, native())
    assert set(contents(out)) == {"train.jsonl", "card.json", "README.md", "croissant.json"}, (
        "nothing of the earlier one is left"
    )
    (out / "my-notes.txt").write_text("mine")
    with pytest.raises(CorpusError, match="holds 'my-notes.txt', which no export wrote"):
        export([corpus], out, native())
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "card.json").write_text('{"name": "a business card"}')
    with pytest.raises(CorpusError, match="holds 'card.json', which no export wrote"):
        export([corpus], tmp_path / "theirs", native())
    with pytest.raises(CorpusError, match="a file; name a new folder"):
        export([corpus], corpus, native())
    assert (out / "my-notes.txt").read_text() == "mine"


def test_a_source_may_be_what_is_replaced(tmp_path: Path) -> None:
    """It is read before anything is written."""
    out = exported(tmp_path, "native")
    before = read_dialogues(out)
    export([out], out, native())
    assert [one.turns for one in read_dialogues(out)] == [one.turns for one in before]


def test_what_fails_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a folder that looks complete, nor a change in what was there before."""
    out = exported(tmp_path, "openai")
    before = contents(out)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders, "_write", full)
    with pytest.raises(
        CorpusError,
        match=r"out: cannot be written \(No space left on device\); free some space or name another folder",
    ):
        export([tmp_path / "corpus.jsonl"], out, native())
    assert contents(out) == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["corpus.jsonl", "out"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_really_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda path, mode="r", **kind: real(
            Path("/dev/full") if mode == "wb" and path.name == "train.jsonl" else path, mode, **kind
        ),
    )
    corpus = write_native(tmp_path / "c.jsonl", story(1))
    with pytest.raises(CorpusError, match="No space left on device"):
        export([corpus], tmp_path / "out", native())
    assert not (tmp_path / "out").exists()


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    corpus = write_native(tmp_path / "c.jsonl", *(story(number) for number in range(1, 5)))
    export([corpus, corpus], tmp_path / "out", native(), lambda *what: told.append(what))
    assert told == [("reading", 1, 2), ("reading", 2, 2), ("writing train", 4, 4)]


def test_from_a_world_to_training_data(simcounsel: Command, tmp_path: Path) -> None:
    """A small world is run and exported by the command line; the file holds what was said."""
    run = live(tmp_path / "runs", three())
    ended = simcounsel(
        "export",
        tmp_path / "runs",
        "--format",
        "openai",
        "-o",
        "data",
        "--split",
        "100,0,0",
        "--no-check",
        "--licence",
        "CC0-1.0",
    )
    assert (
        ended.code == 0
        and ended.err
        == "OpenAI's fine-tuning wants at least 10 dialogues in train; this is for trying\n"
    )
    assert "1 dialogue of 1 client, " in ended.out and "left out: with a layperson 1" in ended.out
    rows = [
        json.loads(line)
        for line in (tmp_path / "data" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    talk = next(
        one
        for one in read_dialogues(run.folder)
        if "counselor" in {turn.speaker for turn in one.turns}
    )
    contents = [
        message["content"]
        for message in rows[0]["messages"][1:]
        if not message["content"].startswith("[The client")
    ]
    texts = [turn.text for turn in talk.turns]
    assert contents == texts[: len(contents)] and len(contents) >= len(texts) - 1
    card = json.loads((tmp_path / "data" / "card.json").read_bytes())
    assert card["models"]["reason"] == ["scripted"] and card["sources"][0]["file"] == run.name
    assert os.fspath(tmp_path) not in (tmp_path / "data" / "card.json").read_text(encoding="utf-8")


def test_the_command_says_what_is_wrong(simcounsel: Command) -> None:
    ended = simcounsel("export", "samples", "--format", "openai", "-o", "data", "--theme", "slep")
    assert ended.code == 1 and ended.err.startswith(
        "simcounsel: --theme slep: no dialogue of these sources has it; there are anxiety"
    )
    assert simcounsel("export", "nowhere", "--format", "openai", "-o", "data").err.startswith(
        "simcounsel: nowhere: no such file or folder"
    )


def test_a_system_prompt_of_ones_own(simcounsel: Command, tmp_path: Path) -> None:
    (tmp_path / "me.txt").write_text("You are this person: $situation", encoding="utf-8")
    ended = simcounsel(
        "export",
        "samples",
        "--format",
        "sharegpt",
        "-o",
        "data",
        "--side",
        "client",
        "--system",
        "me.txt",
        "--theme",
        "sleep",
        "--split",
        "1,0,0",
    )
    assert ended.code == 0, ended.err
    rows = [
        json.loads(line)
        for line in (tmp_path / "data" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    situations = {one.id: one.situation for one in read_dialogues("samples")}
    assert all(row["system"] == f"You are this person: {situations[row['id']]}" for row in rows)
    assert (
        json.loads((tmp_path / "data" / "card.json").read_bytes())["options"]["system"]
        == "You are this person: $situation"
    )


def test_formats_are_all_on_the_command_line() -> None:
    from typing import get_args

    from simcounsel.corpus.export_command import FormatName

    assert get_args(FormatName) == (*FORMATS, "inspect")
    assert all(isinstance(form, Format) for form in FORMATS.values())


def test_a_dialogue_says_nothing_of_its_split_beforehand() -> None:
    marked: Dialogue = story(1).model_copy(update={"split": "test"})
    assert prepare([marked], native()).dialogues[0].split == "train"


def test_a_dialogue_that_breaks_two_rules_is_dropped_once() -> None:
    checks = prepare(
        [story(0), story(1), talk("C: Hello.", id="bad")], Export(format="native", shares=ALL)
    ).checks
    assert checks.rejected == 1 and sum(checks.dropped.values()) > 1
    assert checks.summary().startswith("1 (a dialogue can break several rules): single_speaker 1, ")


def test_the_checks_see_what_corpus_check_sees() -> None:
    """Turns are merged behind the checks, and not before."""
    listed = [story(number) for number in range(2)] + [
        talk(*FILLER, "C: And so.", "C: Well.", "T: Hm.", id="twice")
    ]
    prepared = prepare(listed, Export(format="native", shares=ALL))
    assert (
        prepared.checks.warned["repeated_speaker"]
        == sum(finding.rule == "repeated_speaker" for finding in check_dialogues(listed).findings)
        == 1
    )
    assert prepared.merged_turns == 1


def test_ratings_by_a_trial_judge_are_said_not_to_count(simcounsel: Command) -> None:
    write_native(Path("some.jsonl"), *(story(number) for number in range(4)))
    assert simcounsel("corpus", "rate", "some.jsonl", "--model", "scripted", "--quiet").code == 0
    ended = simcounsel(
        "export",
        "some.jsonl",
        "--format",
        "native",
        "-o",
        "out",
        "--min-rating",
        "dialogue_quality.helpfulness=1",
    )
    assert (
        ended.code == 1
        and "ratings by scripted do not count, since they only try the software" in ended.err
    )
