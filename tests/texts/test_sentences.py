"""Each way of cutting a text into sentences."""

from hypothesis import given
from hypothesis import strategies as st

from simcounsel.texts import sentences
from tests.each import each


@given(st.text(alphabet="ab .!?。…\n”)"))
def test_spans_are_the_whole_text(text: str) -> None:
    assert "".join(text[start:end] for start, end in sentences.spans(text)) == text


@given(st.text(alphabet="ab .!?。;\n”"))
def test_bare_sentences_are_those_that_have_no_end_in_them(text: str) -> None:
    ends = ".!?。;"
    found = sentences.bare(text, ends)
    assert not any(sign in one for one in found for sign in ends + "\n")
    kept = [sign for sign in text if sign not in ends + "\n"]
    assert "".join(found) == "".join(kept)


@each(
    ("cut", "text", "found"),
    [
        (sentences.bare, "I am. Am I?! So…", ["I am", " Am I", " So"]),
        (sentences.marked, "I am. Am I?! So\nnow.", ["I am.", " Am I?!", " So", "now."]),
        (sentences.joinable, "“I am.” He left. Well", ["“I am.” ", "He left. ", "Well"]),
        (sentences.of_prose, "Dr. Chen came. 我累。真的", ["Dr. Chen came.", "我累。", "真的"]),
        (sentences.before_capitals, "I am. and i! Now. “So.”", ["I am. and i!", "Now.", "“So.”"]),
        (sentences.questions, "I am. Am I? Is it", [" Am I?"]),
        (sentences.questions, "I am.", []),
    ],
)
def test_each_cut(cut, text: str, found: list[str]) -> None:
    assert cut(text) == found


def test_a_sentence_may_go_on_over_the_end_of_a_line() -> None:
    assert sentences.marked("So\nnow. Yes", across_lines=True) == ["So\nnow.", " Yes"]


def test_what_ends_a_sentence_may_be_given() -> None:
    assert sentences.marked("One; two. Three", ";；") == ["One;", " two. Three"]


@each(
    ("text", "first"),
    [
        ("I am.\nNow. ", "I am."),
        ("no  stop", "no stop"),
        ("3.5 hours. Yes", "3.5 hours."),
        ("", ""),
    ],
)
def test_the_first_sentence(text: str, first: str) -> None:
    assert sentences.first(text) == first
