"""Each rule about the shape of a dialogue: what it must find, and what only looks like it."""

import pytest

from simcounsel.corpus.checks import RULES, Limits, check_dialogues
from simcounsel.corpus.checks.shape import length
from simcounsel.errors import CorpusError
from tests.corpus.talks import FILLER, found, talk
from tests.each import each


def test_a_sound_dialogue_has_no_finding() -> None:
    assert check_dialogues([talk(*FILLER)]).findings == ()


def test_empty_corpus() -> None:
    (finding,) = check_dialogues([]).findings
    assert (finding.rule, finding.severity, finding.dialogue) == ("empty_corpus", "error", None)


def test_repeated_id() -> None:
    (finding,) = found("repeated_id", talk(*FILLER), talk(*FILLER), talk(*FILLER, id="two"))
    assert "2 dialogues have the id “one”" in finding.what


def test_single_speaker() -> None:
    (finding,) = found("single_speaker", talk("C: One.", "C: Two."))
    assert finding.severity == "error" and "only the client speaks, in 2 turns" in finding.what
    assert "nobody speaks" in found("single_speaker", talk())[0].what
    assert found("single_speaker", talk("C: One.", "L: Two.")) == ()


def test_repeated_speaker_is_said_once_for_each_stretch() -> None:
    findings = found(
        "repeated_speaker", talk("C: a", "C: b", "C: c", "T: d", "C: e", "T: f", "T: g")
    )
    assert [(f.turn, f.severity) for f in findings] == [(2, "warning"), (7, "warning")]
    assert (
        "3 times in a row, in turns 1 to 3" in findings[0].what
        and "turns 6 to 7" in findings[1].what
    )
    assert found("repeated_speaker", talk(*FILLER)) == ()
    assert found("repeated_speaker", talk("C: a", "C: b")) == (), "that is a single speaker"


def test_ends_on_client() -> None:
    assert [f.turn for f in found("ends_on_client", talk(*FILLER, "C: Bye."))] == [5]
    assert found("ends_on_client", talk(*FILLER)) == ()


@each("text", ["", "   ", "\n\t", "\u200b", "\u3000"])
def test_empty_turn(text: str) -> None:
    assert [f.turn for f in found("empty_turn", talk("C: Hello.", f"T: {text}"))] == [2]


@each("text", ["...", "…", "?", "嗯", "🙂"])
def test_a_silence_is_not_empty(text: str) -> None:
    assert found("empty_turn", talk("C: Hello.", f"T: {text}")) == ()


def test_overlong_turn() -> None:
    assert [f.severity for f in found("overlong_turn", talk("T: " + "word " * 251))] == ["warning"]
    assert [f.severity for f in found("overlong_turn", talk("T: " + "字" * 1251))] == ["error"]
    assert found("overlong_turn", talk("T: " + "word " * 250, "C: " + "字" * 800)) == ()
    assert (
        len(found("overlong_turn", talk("T: one two three"), limits=Limits(max_counselor=2))) == 1
    )


def test_too_short() -> None:
    assert found("too_short", talk("C: Hello.", "T: Hello."))[0].severity == "error"
    assert found("too_short", talk(*FILLER)) == ()


@each(
    ("text", "words"),
    [
        ("", 0),
        ("I don't know.", 3),
        ("我不知道", 4),
        ("我用 iPhone 打字", 5),
        ("well-being, 3.5 hours", 4),
        ("안녕 하세요", 2),
    ],
)
def test_length(text: str, words: int) -> None:
    assert length(text) == words


def test_rules_are_chosen_by_name() -> None:
    bad = talk("C: Hello.")
    assert check_dialogues([bad], rules=["too_short"]).rules == ("too_short",)
    assert "too_short" not in check_dialogues([bad], skip=["too_short"]).counts()
    with pytest.raises(CorpusError, match=r"no rule 'too_shrt'; did you mean 'too_short'\?"):
        check_dialogues([bad], rules=["too_shrt"])


def test_counts_and_kept() -> None:
    good, bad = talk(*FILLER, "C: Bye.", id="good"), talk("C: a", "C: ", id="bad")
    done = check_dialogues([good, bad], rules=["single_speaker", "ends_on_client", "empty_turn"])
    assert done.kept([good, bad]) == (good,)
    counts = done.counts()
    assert list(counts) == [name for name in RULES if name in counts]
    assert (
        counts["ends_on_client"].errors,
        counts["ends_on_client"].warnings,
        counts["ends_on_client"].dialogues,
    ) == (0, 2, 2)
    assert done.dropped() == {"single_speaker": 1, "empty_turn": 1}
