"""A free-text case report, parted by its sessions.

A report tells its sessions under headings such as `## Session 3`, `# Session: 3`, `## Session #3`
or `## 第三次会谈`. A heading below a session's own belongs to the session. What is above the
first session is known of the client from before; what is under another heading of the sessions'
depth or higher is hindsight.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from simcounsel.errors import SpecError
from simcounsel.texts.quotes import content, is_chinese, stands_in, units

COVERED = 0.5
"""So much of what a fact is about is in the report by the session in which it was told."""
_HEADING = re.compile(r"^(#{1,6})[ \t]*(.*?)[ \t#]*$", re.MULTILINE)
_NUMBER = r"\d{1,2}|[一二三四五六七八九十]{1,3}|one|two|three|four|five|six|seven|eight|nine|ten"
_SESSION = re.compile(
    rf"(?:session|sitzung)[\s:：#№.\-–]*(?:(?:no|nr|number|nummer)\b[.:]?)?\s*#?\s*({_NUMBER})(?![^\W_])"
    rf"|第\s*({_NUMBER})\s*(?:[次回节場场期]|[:：]|$)|(?:会谈|咨询)[\s:：#]*({_NUMBER})(?![^\W_])",
    re.IGNORECASE,
)
_WORDS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS = "一二三四五六七八九"


@dataclass(frozen=True, kw_only=True)
class CaseReport:
    """A case report."""

    path: Path
    text: str
    parts: tuple[tuple[int | None, str], ...]
    """Of each, the session that it tells, and its text. 0 is what is above the first, None
    hindsight.
    """

    def told_in(self, quote: str) -> int | None:
        """The session in whose part the words are first, 1 for what is known from before; None
        when they are in none.
        """
        found = next(
            (
                number
                for number, part in self.parts
                if number is not None and stands_in(quote, part)
            ),
            None,
        )
        return None if found is None else max(1, found)

    def covers(self, text: str, session: int) -> bool:
        """Whether what a text is about is in the report by that session. A text in another
        script cannot be compared, and passes.
        """
        before = self.until(session)
        wanted = content(text)
        if not wanted or is_chinese(units(text)) != is_chinese(units(before)):
            return True
        return len(wanted & content(before)) >= COVERED * len(wanted)

    def until(self, session: int) -> str:
        """The report as far as that session, and no hindsight."""
        return "\n\n".join(
            part for number, part in self.parts if number is not None and number <= session
        ).strip()

    @property
    def usable(self) -> str:
        """The report without hindsight."""
        return self.until(max(number or 0 for number, _ in self.parts))

    @property
    def hindsight(self) -> tuple[str, ...]:
        """The headings of what is used for nothing."""
        return tuple(part.splitlines()[0] for number, part in self.parts if number is None)


def read_report(path: Path) -> CaseReport:
    """A report from its file. SpecError when it is no text or has no session headings in order."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(
            [f"{path}: cannot be read ({error}); give a case report in Markdown"]
        ) from None
    starts: list[tuple[int, int | None]] = [(0, 0)]
    depth = 0
    for heading in _HEADING.finditer(text):
        number, deep = _session(heading.group(2)), len(heading.group(1))
        if number is not None:
            starts.append((heading.start(), number))
            depth = deep
        elif depth and deep <= depth:
            starts.append((heading.start(), None))
    ends = [*(at for at, _ in starts[1:]), len(text)]
    parts = tuple(
        (number, text[at:end].strip())
        for (at, number), end in zip(starts, ends, strict=True)
        if text[at:end].strip()
    )
    numbers = [one for one, _ in parts if one]
    if not numbers or numbers != sorted(set(numbers)):
        raise SpecError(
            [
                f"{path}: {f'sessions {numbers}' if numbers else 'no heading of a session'}; part"
                " the report by headings such as `## Session 1`, in order, each once"
            ]
        )
    return CaseReport(path=path, text=text, parts=parts)


def _session(heading: str) -> int | None:
    """The number of the session that a heading names; None when it names none."""
    found = _SESSION.match(heading.strip("*_ "))
    if found is None:
        return None
    number = next(one for one in found.groups() if one).lower()
    if number.isdigit():
        return int(number)
    return _WORDS.index(number) if number in _WORDS else _chinese(number)


def _chinese(number: str) -> int:
    """三 is 3, 十 is 10, 十二 is 12."""
    tens, ten, ones = number.rpartition("十")
    return (10 * (_DIGITS.find(tens) + 1 if tens else 1) if ten else 0) + (
        _DIGITS.find(ones) + 1 if ones else 0
    )
