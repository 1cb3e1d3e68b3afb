"""Which language a text is in, and lines in another one."""

from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from simcounsel.corpus.checks.findings import Finding, quoted
from simcounsel.corpus.checks.rules import Corpus, Limits, of_corpus
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.measures import units

LETTERS, SURE = 60, 0.99
"""A text in a shared script (Latin, Cyrillic, Arabic) is judged from this number of letters on, and
only if the detector is as sure as this (0 to 1).
"""
SCRIPT_LETTERS, SCRIPT_SHARE = 4, 0.6
"""A script decides from this number of letters on, and from this share of the letters on."""
ENGLISH = frozenset(
    "the a an i you he she it we they is was are were be been to of and in that have had not for on"
    " with as do at this but by from so or if me my your".split()
)
ENGLISH_SHARE = 0.25
"""A text with this share of everyday English words is English; this spares the detector most lines,
and most of its slips over short ones.
"""
_SCRIPTS = (
    ("kana", 0x3040, 0x30FF),
    ("han", 0x3400, 0x9FFF),
    ("hangul", 0xAC00, 0xD7AF),
    ("hangul", 0x1100, 0x11FF),
    ("cyrillic", 0x0400, 0x052F),
    ("arabic", 0x0600, 0x06FF),
    ("hebrew", 0x0590, 0x05FF),
    ("greek", 0x0370, 0x03FF),
    ("thai", 0x0E00, 0x0E7F),
    ("devanagari", 0x0900, 0x097F),
)
_ONE_LANGUAGE = {
    "kana": "ja",
    "han": "zh",
    "hangul": "ko",
    "hebrew": "he",
    "greek": "el",
    "thai": "th",
}
_SHARED = {"latin", "cyrillic", "arabic", "devanagari"}


def language_of(text: str) -> str | None:
    """The language as ISO 639-1, or None when the text is too short or too mixed to tell.

    Han without kana counts as Chinese. Latin, Cyrillic, Arabic and Devanagari are shared by
    languages; there py3langid (Lui and Baldwin 2012) decides, and abstains on short texts.
    """
    script = script_of(text)
    if script is None or script not in _SHARED:
        return None if script is None else _ONE_LANGUAGE[script]
    words = units(text)
    if (
        script == "latin"
        and len(words) > 3
        and sum(word in ENGLISH or "'" in word for word in words) >= ENGLISH_SHARE * len(words)
    ):
        return "en"
    return _detected(text) if sum(map(str.isalpha, text)) >= LETTERS else None


def script_of(text: str) -> str | None:
    """The script of most letters; None when there are few letters, or no script has SCRIPT_SHARE of
    them.
    """
    counts = Counter(_script(ord(letter)) for letter in text if letter.isalpha())
    if counts["kana"] and counts["kana"] * 5 >= counts["han"]:
        counts["kana"] += counts.pop("han", 0)
    script, most = max(sorted(counts.items()), key=lambda entry: entry[1], default=(None, 0))
    return (
        script
        if most >= SCRIPT_LETTERS and most >= SCRIPT_SHARE * counts.total() and script != "other"
        else None
    )


@lru_cache(maxsize=4096)
def _script(code: int) -> str:
    if code < 0x0250:
        return "latin"
    return next(
        (name for name, first, last in _SCRIPTS if first <= code <= last),
        "latin" if 0x1E00 <= code <= 0x1EFF else "other",
    )


@cache
def _detector() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _detected(text: str) -> str | None:
    code, probability = _detector().classify(text)
    return str(code) if probability >= SURE else None


@of_corpus("language", looks_for="another language than the dialogue's or the corpus's")
def language(corpus: Corpus, limits: Limits) -> Iterator[Finding]:
    """A dialogue in another language than it declares (error) or than the corpus is in (warning); a
    turn in another than its dialogue (error).

    The language of a corpus is that of nine tenths of its dialogues, if there is one; a mixed
    corpus has none.
    """
    spoken = [language_of("\n".join(dialogue.lines())) for dialogue in corpus]
    main, times = max(
        sorted(Counter(code for code in spoken if code).items()),
        key=lambda entry: entry[1],
        default=(None, 0),
    )
    usual = main if times >= 0.9 * len(corpus) and len(corpus) >= 10 else None
    for dialogue, code in zip(corpus, spoken, strict=True):
        yield from _whole(dialogue, code, usual)
        yield from _turns(dialogue, code)


def _whole(dialogue: Dialogue, code: str | None, usual: str | None) -> Iterator[Finding]:
    declared = dialogue.language.lower().split("-")[0].split("_")[0] if dialogue.language else None
    if code and declared and code != declared:
        yield Finding(
            dialogue=dialogue.id,
            severity="error",
            what=f"it says that it is in '{dialogue.language}' and is in '{code}'",
            remedy="correct `language`, or drop the dialogue",
        )
    elif code and not declared and usual and code != usual:
        yield Finding(
            dialogue=dialogue.id,
            severity="warning",
            what=f"it is in '{code}', the corpus in '{usual}'",
            remedy=(
                "drop it, or give each dialogue its `language` if the corpus is meant to have"
                " several"
            ),
        )


def _turns(dialogue: Dialogue, code: str | None) -> Iterator[Finding]:
    for number, turn in enumerate(dialogue.turns, start=1) if code else ():
        other = language_of(turn.text)
        if other and other != code:
            yield Finding(
                dialogue=dialogue.id,
                turn=number,
                severity="error",
                what=f"a turn in '{other}' in a dialogue in '{code}': {quoted(turn.text)}",
                remedy="translate the turn, or drop the dialogue",
            )
