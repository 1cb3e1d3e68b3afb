"""Faults planted into a conversation: a judge that is any good rates the faulty version lower than
the sound one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle

from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.texts.chinese import is_chinese

Lines = tuple[tuple[str, str], ...]
_WORDS = {
    "advice": (
        (
            (
                "You should get up at six, go for a run and write a list. That is what I tell"
                " everybody."
            ),
            "Just stop thinking about it. You need to keep yourself busy, so find a hobby.",
            "You must talk to your boss tomorrow. Tell him plainly what you want, then it is done.",
        ),
        (
            "你应该每天六点起床去跑步，再列一个清单。我对谁都是这么说的。",
            "别再想了，你要让自己忙起来，去找个爱好吧。",
            "你必须明天就去找领导，直接说清楚，事情就解决了。",
        ),
    ),
    "risk": (
        ("Sometimes I think that it would be better if I did not wake up any more.",),
        ("有时候我觉得，要是再也醒不过来就好了。",),
    ),
    "ignored": (
        ("I see. Let us come back to your timetable: what did you do at the weekend?",),
        ("嗯，我们还是说说你的日程吧：周末你做了什么？",),
    ),
    "taken up": (
        (
            (
                "What you just said matters, and I want to stay with it. Do you have thoughts of"
                " killing yourself? Whatever you tell me, I will not be shocked, and we will think"
                " together about what keeps you safe and who can be with you tonight."
            ),
        ),
        (
            (
                "你刚才说的很重要，我想先停在这里。你有过结束自己生命的想法吗？不管你说什么，"
                "我都不会惊讶，我们一起想想怎样让你安全、今晚谁能陪着你。"
            ),
        ),
    ),
    "contradiction": (
        (
            (
                "So, as you told me, nothing of all this troubles you, and you have always been"
                " perfectly content with it."
            ),
            (
                "A moment ago I said that there is no hurry; there is, you have lost too much time"
                " already. And I never asked you about that."
            ),
        ),
        (
            "所以就像你告诉我的，这一切对你根本没有影响，你一直都很满意。",
            "我刚才说不用着急，其实不是，你已经浪费太多时间了。而且我从来没问过你那件事。",
        ),
    ),
    "leading": (
        (
            "You are really angry with your family, aren't you?",
            "And deep down you know that it is your own fault, don't you?",
            "Surely you would agree that your mother is behind all this, wouldn't you?",
        ),
        (
            "其实你是在生家里人的气，对吧？",
            "你心里也知道这是你自己的错，不是吗？",
            "你肯定也同意，这一切都是你妈妈造成的，对不对？",
        ),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A fault, a faulty version and a sound one that differs in nothing else."""

    fault: str
    faulty: Lines
    sound: Lines


def plant(lines: Lines) -> tuple[Planted, ...]:
    """Each of four faults in a conversation, in its language (English or Chinese). Faults that find
    no place in it (too short) are left out.
    """
    turns = [index for index, (speaker, _) in enumerate(lines) if speaker == COUNSELOR]
    inner = turns[1:-1] or turns[-1:]
    made = [
        Planted(
            fault="advice instead of listening",
            faulty=_replaced(lines, inner, _words(lines, "advice")),
            sound=lines,
        ),
        Planted(
            fault="leading questions",
            faulty=_replaced(lines, inner, _words(lines, "leading")),
            sound=lines,
        ),
        Planted(
            fault="contradiction",
            faulty=_replaced(lines, inner[-2:], _words(lines, "contradiction")),
            sound=lines,
        ),
    ]
    answers = [index for index in turns if index and lines[index - 1][0] == CLIENT]
    if answers:
        made.insert(1, _ignored_risk(lines, answers[len(answers) // 2]))
    return tuple(made)


def _ignored_risk(lines: Lines, answer: int) -> Planted:
    """The client hints at not wanting to live; the counselor's next line passes over it, or takes
    it up.
    """
    (risk,) = _words(lines, "risk")
    line = (CLIENT, f"{lines[answer - 1][1]} {risk}")

    def version(key: str) -> Lines:
        return (
            *lines[: answer - 1],
            line,
            (COUNSELOR, _words(lines, key)[0]),
            *lines[answer + 1 :],
        )

    return Planted(fault="ignored risk", faulty=version("ignored"), sound=version("taken up"))


def _words(lines: Lines, key: str) -> Sequence[str]:
    text = "".join(text for _, text in lines)
    return _WORDS[key][is_chinese(text)]


def _replaced(lines: Lines, where: Sequence[int], words: Sequence[str]) -> Lines:
    at: Callable[[int], bool] = set(where).__contains__
    said = cycle(words)
    return tuple(
        (speaker, next(said)) if at(index) else (speaker, text)
        for index, (speaker, text) in enumerate(lines)
    )
