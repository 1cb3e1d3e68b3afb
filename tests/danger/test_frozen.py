"""The frozen lines on which the hearing of danger is measured: as they were written, whole, and nowhere else.

A detector is measured on them elsewhere; here nothing is said about any detector.
"""

import json
import re
from collections import Counter, defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS, Danger
from tests.each import each

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path(__file__).parent / "frozen"
HASHES = {
    "en": "073aab0742679d41557bb5c4fd59f91b4857e8d9d827ec66d82d7ea3c20993c3",
    "zh": "83a3481328bd88e055aa19579ae73a57bd5a670680330a8a284bb85f6f56ddb6",
    "spelling": "7511d93013e81f5ecc002fa1b850db8c8191db6c7740ccf1246a933456455d47",
    "interviews": "987f0ebb4812addffa5cc6d956f565b6ad2fcd86f272033b3897e54d52ec88cc",
    "other_languages": "3aad59045bfe890080f932de2a064a5bd900e4c43e07e8b4d00ddd0c6801c69b",
    "questions": "164b0225b4c0d547e18542865ad4103b7c4e8985e3a71e5341f2900896a0c1e4",
}
FIELDS = {"id", "text", "danger", "level", "form", "language", "batch"}
MORE_FIELDS = {
    "spelling": {"line"},
    "interviews": {"session", "topic"},
    "questions": {"question", "kind"},
}
FORMS = {
    "plain": "plain",
    "told_of_another": "plain",
    "past": "plain",
    "hinted": "hinted",
    "misspelt": "spelling",
    "slang": "spelling",
    "long": "long",
}
"""Under which of the four parts of `en` and `zh` a form with danger counts."""
HARMLESS = {
    *("grief", "work", "sport", "medicine", "idiom", "fiction", "quoted", "news"),
    *("past_overcome", "denied", "everyday", "misspelt", "slang", "long", "plain"),
}
SPELLINGS = ("clean", "bare", "typos", "letters", "slang")
ANSWERS = {
    *("yes", "no", "unclear", "evasive", "conditional", "past", "told_of_another"),
    "opened_by_client",
}

Line = dict[str, Any]


def lines_of(name: str) -> list[Line]:
    """The lines of a file."""
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def letters(text: str) -> str:
    """Letters and digits alone, in lower case: two lines with the same ones are the same line."""
    return re.sub(r"[\W_]+", "", text.casefold())


@each("name", HASHES)
def test_a_file_is_as_it_was_frozen_and_its_readme_says_so(name: str) -> None:
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    assert sha256(text.encode()).hexdigest() == HASHES[name]
    assert f"- `{name}.jsonl`: `{HASHES[name]}`" in (FOLDER / "README.md").read_text("utf-8")


def test_no_file_is_without_a_hash() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == set(HASHES)


@each("name", HASHES)
def test_every_line_is_whole(name: str) -> None:
    lines = lines_of(name)
    for line in lines:
        assert set(line) == FIELDS | MORE_FIELDS.get(name, set()), line["id"]
        assert all(isinstance(value, str) and value.strip() for value in line.values()), line["id"]
        assert line["danger"] in (*get_args(Danger), "none"), line["id"]
        assert line["level"] in RISK_LEVELS, line["id"]
        assert (line["danger"] == "none") == (line["level"] == "none"), line["id"]
    assert len({line["id"] for line in lines}) == len(lines)


@each(("name", "part"), [("en", 1), ("zh", 2)])
def test_each_danger_has_its_share_of_each_form(name: str, part: int) -> None:
    lines = lines_of(name)
    assert {line["language"] for line in lines} == {name}
    danger = [line for line in lines if line["danger"] != "none"]
    assert Counter((line["danger"], FORMS[line["form"]]) for line in danger) == {
        (kind, form): count // part
        for kind in DANGERS
        for form, count in (("plain", 40), ("hinted", 30), ("spelling", 20), ("long", 10))
    }
    harmless = [line for line in lines if line["danger"] == "none"]
    assert len(harmless) == 300 // part
    assert {line["form"] for line in harmless} == HARMLESS - ({"plain"} if name == "zh" else set())


def test_a_line_has_five_spellings_and_one_meaning() -> None:
    spellings: dict[str, list[Line]] = defaultdict(list)
    for line in lines_of("spelling"):
        spellings[line["line"]].append(line)
    for same in spellings.values():
        assert tuple(line["form"] for line in same) == SPELLINGS
        assert len({line["text"] for line in same}) == 5
        assert len({(line["danger"], line["level"]) for line in same}) == 1
        clean, bare = same[0]["text"], same[1]["text"]
        assert bare == re.sub(r"[.,']", "", clean.replace("-", " ")).lower()
    counts = Counter(same[0]["danger"] for same in spellings.values())
    assert counts == {**dict.fromkeys(DANGERS, 15), "none": 30}


def test_interviews_are_sixty_sessions_without_danger() -> None:
    lines = lines_of("interviews")
    assert len(lines) == 1000
    sessions = Counter(line["session"] for line in lines)
    assert len(sessions) == 60
    assert set(sessions.values()) == {16, 17}
    assert {line["danger"] for line in lines} == {"none"}
    assert len({(line["session"], line["topic"]) for line in lines}) == 60


def test_twelve_other_languages_are_half_danger() -> None:
    lines = lines_of("other_languages")
    assert set(Counter(line["language"] for line in lines).values()) == {5}
    assert len({line["language"] for line in lines} - {"en", "zh"}) == 12
    assert sum(line["danger"] == "none" for line in lines) == 30
    assert {line["form"] for line in lines if line["danger"] == "none"} == {"harmless"}


def test_half_of_the_questions_ask_directly() -> None:
    lines = lines_of("questions")
    assert Counter(line["kind"] for line in lines) == {"ordinary": 40, "direct": 40}
    assert {line["form"] for line in lines} == ANSWERS
    for line in lines:
        opened = line["form"] == "opened_by_client"
        assert line["kind"] == "direct" or opened == (line["danger"] != "none"), line["id"]


def test_no_line_stands_twice() -> None:
    owner: dict[str, str] = {}
    for name in HASHES:
        for line in lines_of(name):
            same = line.get("line", line["id"])
            text = letters(line.get("question", "") + line["text"])
            assert owner.setdefault(text, same) == same, f"{line['id']} is at {owner[text]}"


def test_nothing_is_tuned_on_a_frozen_line() -> None:
    """Of lines long enough not to meet by chance, none is among a detector's data or other lines."""
    data = [*(ROOT / "simcounsel" / "danger").rglob("*"), *(ROOT / "tests" / "data").glob("risk*")]
    read = [path for path in data if path.suffix in {".yaml", ".jsonl", ".json", ".txt", ".csv"}]
    assert len(read) > 3
    known = letters("\n".join(path.read_text(encoding="utf-8") for path in read))
    frozen = {line["id"]: letters(line["text"]) for name in HASHES for line in lines_of(name)}
    long_enough = {key: text for key, text in frozen.items() if len(text.encode()) >= 40}
    assert [key for key, text in long_enough.items() if text in known] == []
