"""Emergency numbers and help lines of a locale, as they are said in a line and as they are listed
in a notice.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Any, Literal

from simcounsel.packaged import packaged
from simcounsel.specs.vocabulary import Danger

POLICE_FIRST: tuple[Danger, ...] = ("harm_to_others", "abuse")


@cache
def _data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = packaged(__package__, name)
    return data


@dataclass(frozen=True, kw_only=True)
class Help:
    """What a locale offers, in a language. One that is not in help_lines.yaml has the default's; a
    language that is not in help_words.yaml has the English words.
    """

    locale: str
    language: str
    child: bool = False
    """Whether it is for somebody under age: lines for children, where the locale has some, go
    first.
    """

    @property
    def _entry(self) -> dict[str, Any]:
        data = _data("help_lines.yaml")
        entry: dict[str, Any] = data.get(self.locale, data["default"])
        return entry

    @property
    def _words(self) -> dict[str, str]:
        data = _data("help_words.yaml")
        words: dict[str, str] = data.get(self.language, data["en"])
        return words

    def number(self, kind: Danger) -> str:
        """The one emergency number that must be named in a danger of that kind."""
        entry = self._entry["emergency"]
        return str(entry.get("any") or entry["police" if kind in POLICE_FIRST else "ambulance"])

    def emergency(self, kind: Danger) -> str:
        """The emergency numbers in words."""
        entry, words = self._entry["emergency"], self._words
        if "any" in entry:
            known = self.locale in _data("help_lines.yaml") and self.locale != "default"
            return str(entry["any"]) if known else words["local"].format(**entry)
        order = ("police", "ambulance") if kind in POLICE_FIRST else ("ambulance", "police")
        return words["or"].join(words[what].format(number=entry[what]) for what in order)

    @property
    def emergency_numbers(self) -> tuple[str, ...]:
        """All of the locale, whichever the danger."""
        return tuple(str(number) for number in self._entry["emergency"].values())

    @property
    def numbers(self) -> tuple[str, ...]:
        """The same, and every number and page of its lines."""
        lines = (*self._entry["crisis"], *self._entry.get("abuse", []))
        own = (line[way] for line in lines for way in ("phone", "text", "web") if way in line)
        return tuple(dict.fromkeys((*self.emergency_numbers, *map(str, own))))

    def lines_for(self, kind: Danger) -> tuple[dict[str, str], ...]:
        """The lines that fit a kind of danger, at most two, lines for everybody first; the general
        ones where there is none of its own. Those for children only for a child, and then first.
        """
        entry = self._entry
        own = entry.get("abuse", []) if kind == "abuse" else []
        every = (*own, *entry["crisis"])
        children = [line for line in every if line.get("whom") == "children"] if self.child else []
        some = [*children, *(line for line in every if line.get("whom") != "children")]
        return tuple(some[:2])

    def first_contact(self, kind: Danger) -> str:
        """Number, text number or page of the first of these lines."""
        line = self.lines_for(kind)[0]
        return str(line.get("phone") or line.get("text") or line["web"])

    def spoken(self, kind: Danger, *also: Danger) -> str:
        """The lines of a kind of danger as they are said within a sentence. also: further kinds, of
        each of which the first line is added.
        """
        some = [*self.lines_for(kind), *(self.lines_for(one)[0] for one in also)]
        return self._words["or"].join(dict.fromkeys(self._line(line, "said") for line in some))

    def listed(self) -> str:
        """Everything of the locale, a line each, for a notice."""
        entry, words = self._entry, self._words
        rows = [words["emergency"].format(numbers=self.emergency("suicide"))]
        rows += [self._line(line, "listed") for line in (*entry["crisis"], *entry.get("abuse", []))]
        return "\n".join(dict.fromkeys(rows))

    def _line(self, line: dict[str, str], way: Literal["said", "listed"]) -> str:
        words = self._words
        ways = [words["phone"].format(**line)] if "phone" in line else []
        if "text" in line and (way == "listed" or "phone" not in line):
            ways.append(words["send" if "send" in line else "text"].format(**line))
        if "web" in line:
            ways.append(words["web"].format(**line))
        notes = [words[line["whom"]]] if "whom" in line else []
        notes += [line["hours"]] if way == "listed" and "hours" in line else []
        notes += [line["where"]] if "where" in line else []
        joined = words["or"].join(ways)
        return words[way].format(name=line["name"], ways=joined) + (
            words["notes"].format(notes=", ".join(notes)) if notes else ""
        )


def notice(
    name: Literal["before", "danger", "open", "before_open"],
    language: str,
    locale: str,
    *,
    other: str = "",
    dangers: Iterable[Danger] = (),
) -> str:
    """What a human who takes part is told, with the help lines of the locale; English where the
    language is not there. other, dangers: the client who spoke of danger, and which.
    """
    data = _data("notice.yaml")
    words = data.get(language, data["en"])
    text = Template(words[name]).substitute(
        lines=Help(locale=locale, language=language).listed(),
        other=other,
        danger=("、" if language == "zh" else ", ").join(words["dangers"][one] for one in dangers),
    )
    return text.strip()
