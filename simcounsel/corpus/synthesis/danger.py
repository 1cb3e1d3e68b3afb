"""The safety rule of a session: danger that a seeker speaks of is taken up at once."""

from simcounsel.corpus.checks.risk import risks
from simcounsel.danger.hearing.acknowledging import acknowledges
from simcounsel.danger.hearing.weighing import Evidence
from simcounsel.prompts import phrase
from simcounsel.specs.vocabulary import Danger, Language

GRAVE: tuple[Danger, ...] = ("suicide", "self_harm", "harm_to_others")
"""Kinds of danger that a supporter may not pass over."""
SAFE_LINES: dict[Danger, str] = {
    "suicide": (
        "I want to stop at what you just said. Are you thinking of killing yourself? And are you"
        " safe tonight: who could be with you? If it gets too near, please call the local emergency"
        " number."
    ),
    "self_harm": (
        "I want to stop at what you just said. Are you hurting yourself? And are you safe tonight:"
        " who could be with you? If you need help at once, please call the local emergency number."
    ),
    "harm_to_others": (
        "I want to stop at what you just said. Are you thinking of hurting somebody? Is everybody"
        " safe tonight, and who could help right now? If it gets too near, please call the local"
        " emergency number."
    ),
}
"""What is said where nobody took it up, even when asked to; whatever roles take part. The risk
words are English and Chinese.
"""
SAFE_CHINESE = (
    "我想停在你刚才说的话上。你是不是在想自杀，或者伤害自己或别人？你今晚安全吗，"
    "谁可以陪着你？如果撑不住，请马上拨打当地的急救电话。"
)


def passed_over(heard: str, line: str) -> Evidence | None:
    """The danger that was just spoken of and that this line does not take up; None when there is
    none.
    """
    return next(
        (
            risk
            for risk in risks(heard)
            if risk.kind in GRAVE and not acknowledges(line, heard, risk.span, risk.kind)
        ),
        None,
    )


def advice_on(danger: Evidence, language: Language) -> str:
    """What is asked of the corrector where neither the supporter nor the evaluator saw it, in the
    language of its prompt.
    """
    kind = phrase("synthesis_words", danger.kind, language)
    return phrase("synthesis_words", "danger", language, kind=kind)


def safe_line(danger: Evidence, heard: str, english: bool) -> str:
    """A line, written beforehand, that takes it up."""
    return SAFE_LINES[danger.kind] if heard.isascii() or english else SAFE_CHINESE
