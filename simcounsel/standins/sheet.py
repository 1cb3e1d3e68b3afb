"""What a persona file says of somebody, in that person's own words."""

import re
from collections.abc import Iterator
from typing import Any

from simcounsel.standins.firstperson import (
    ADVERBS,
    IRREGULAR,
    KIN,
    OBJECT,
    PRONOUNS,
    VERBS,
    base_of,
    retell,
)
from simcounsel.texts import sentences

FAMILY = re.compile(
    r"\b(mother|father|parents?|brother|sister|son|daughter|child|children|wife|husband|partner|girlfriend|boyfriend|fianc\w+|spouse|aunt|uncle|"
    r"cousin|niece|nephew|grand\w+|goddaughter|godson|twins?)\b",
    re.IGNORECASE,
)
NO_KIN = re.compile(
    r"(?<!former)(?<!life)(?<!ex) partner\b|(?:brother|sister|mother|father|parent) of\b|'s\b",
    re.IGNORECASE,
)
"""A chess partner, a child's mother and the like are no family."""


GONE = re.compile(r"\b(died|dead|late|passed away)\b", re.IGNORECASE)
OF_ONESELF = re.compile(r"\b(I|I'm|I've|my|me)\b")
FELT = {
    "helpless": "fear",
    "unlovable": "sadness",
    "worthless": "disgust",
    "rule": "neutral",
    "attitude": "disgust",
    "assumption": "fear",
}


class Sheet:
    """One persona, and how the person is called in its world."""

    def __init__(self, persona: Any, name: str) -> None:
        self.persona = persona
        self.name = name
        self.first = persona.name.split()[0]
        self.people = {one.name.split()[0]: one for one in persona.people}

    def told(self, text: str, *, phrase: bool = False, linked: bool = True) -> str | None:
        """A text about this person in the first person; None where that is not safe."""
        for called in (self.persona.name, self.name):
            text = text.replace(called, self.first)
        told = retell(
            text,
            self.first,
            self.persona.pronouns,
            phrase=phrase,
            others=self._rivals(),
            linked=linked,
        )
        return contracted(told) if told else None

    def _rivals(self) -> list[str]:
        """People who may be meant by the same pronouns: all but those whom the sheet shows to be of
        another gender.
        """
        return [
            name
            for name, one in self.people.items()
            if self._gender(one) in (None, self.persona.pronouns)
        ]

    def _gender(self, one: Any) -> str | None:
        words = set(re.findall(r"[a-z]+", one.relation.lower()))
        for pronouns, (subject, *_) in PRONOUNS.items():
            if words & set(KIN[subject]):
                return pronouns
        return None

    def tales(self) -> list[str]:
        """Background and history, sentence by sentence, as far as they speak of oneself."""
        told = (
            self.told(text)
            for text in sentences.after_stops(f"{self.persona.background} {self.persona.history}")
        )
        return [
            text
            for text in told
            if text
            and OF_ONESELF.search(text)
            and not re.match(r"(Their|They|It|This|That|Then|He|She)\b", text)
        ]

    def habits(self) -> list[str]:
        """'I water the cabbages.'"""
        return [
            f"I {told}."
            for told in (self.told(_lower(habit), phrase=True) for habit in self.persona.habits)
            if told
        ]

    def coping(self) -> list[str]:
        """Ways of coping; '' for who is no client."""
        ways = (
            self.told(_lower(way), phrase=True)
            for way in getattr(self.persona, "coping_strategies", ())
        )
        return [f"I {told}." for told in ways if told]

    def beliefs(self) -> list[tuple[str, str]]:
        """A client's core beliefs, then its rules, each with the emotion that goes with it."""
        held = (
            *getattr(self.persona, "core_beliefs", ()),
            *getattr(self.persona, "intermediate_beliefs", ()),
        )
        lead = (
            "Somewhere I believe this: {}",
            "It comes down to this, I suppose: {}",
            "If I'm honest: {}",
        )
        return [
            (lead[n % 3].format(_lower(one.belief)), FELT[one.kind]) for n, one in enumerate(held)
        ]

    def situations(self) -> Iterator[tuple[str, str, str]]:
        """A client's situations as (what to compare a question with, the words, the emotion)."""
        for one in getattr(self.persona, "situations", ()):
            behavior = self.told(one.behavior)
            if behavior:
                yield (
                    f"{one.situation} {one.thought}",
                    f"What goes through my mind then is “{one.thought}” {behavior}",
                    one.emotion,
                )

    def names_of_kin(self) -> list[tuple[str, str]]:
        """(name, relation) of the family."""
        return [
            (name, one.relation)
            for name, one in self.people.items()
            if FAMILY.search(one.relation) and not NO_KIN.search(one.relation)
        ]

    def family(self) -> str:
        """'There's my mother Lurdes and my older brother Rui.'"""
        kin = {
            name: f"my {_lower(relation.split(',')[0])} {name}"
            for name, relation in self.names_of_kin()
        }
        gone = [
            called
            for name, called in kin.items()
            if GONE.search(f"{self.people[name].relation} {self.people[name].note}")
        ]
        here = [called for called in kin.values() if called not in gone]
        told = f"There's {joined(here)}." if here else ""
        return f"{told} {_upper(joined(gone))} died.".strip() if gone else told

    def friends(self) -> str:
        """Everybody else who matters."""
        kin = {name for name, _ in self.names_of_kin()}
        rest = [
            f"{name}, my {_lower(one.relation)}"
            for name, one in self.people.items()
            if name not in kin
        ]
        return f"There's {joined(rest[:3], '; ')}." if rest else ""

    def home(self) -> str:
        """Where and with whom."""
        return next(
            (
                tale
                for tale in self.tales()
                if re.search(r"\bI live\b|\bI share\b|\bI rent\b", tale)
            ),
            "",
        )

    def job(self) -> str:
        """'I'm a baker.'"""
        occupation = self.told(self.persona.occupation, phrase=False) or self.persona.occupation
        occupation = _lower(occupation)
        if re.match(r"(the|a|an|on|in|between|un\w+|self-employed|retired$)\b", occupation):
            return f"I'm {occupation}."
        return f"I'm {'an' if occupation[0] in 'aeiou' else 'a'} {occupation}."

    def origin(self) -> str:
        """'Portuguese, from a small town.' and where one grew up."""
        grown = next(
            (
                tale
                for tale in self.tales()
                if re.search(r"\b(grew up|was born|come from|were born)\b", tale)
            ),
            "",
        )
        return f"{_upper(self.persona.culture.split(';')[0])}. {grown}".strip()

    def person(self, name: str) -> list[str]:
        """Who somebody is to this person, sentence by sentence; empty when the sheet does not know
        them.
        """
        one = self.people.get(name)
        if one is None:
            return []
        gender = self._gender(one)
        subject = {"she/her": "She", "he/him": "He"}.get(gender or "", name)
        parts: list[str] = []
        relation = f"{name} is my {_lower(one.relation)}"
        for number, clause in enumerate(
            part.strip().rstrip(".") for part in one.note.split(";") if part.strip()
        ):
            told = self._clause(clause, subject, linked=gender != self.persona.pronouns)
            if told is None:
                continue
            if number == 0 and told[0] != "I" and not told.startswith(f"{subject} "):
                relation += f", {told}"
            else:
                parts.append(f"{_upper(told)}.")
        return [f"{relation}.", *parts]

    def _clause(self, clause: str, subject: str, *, linked: bool) -> str | None:
        """One part of a note about somebody: its subject is that somebody, unless it names this
        person.
        """
        first = re.split(r"[\s,]", clause, maxsplit=1)[0].lower()
        verbal = (
            (first.endswith("s") and base_of(first) in VERBS | {"be", "have"})
            or first in PAST | ADVERBS
            or first.endswith("ed")
        )
        mine, _, _, _ = PRONOUNS[self.persona.pronouns]
        if not linked and (
            set(re.findall(r"[a-z]+", clause.lower()))
            & {PRONOUNS[self.persona.pronouns][1], OBJECT[mine]} - {first}
        ):
            return None
        told = retell(
            clause.replace(self.persona.name, self.first),
            self.first,
            self.persona.pronouns,
            linked=linked,
        )
        if told is None:
            return None
        told = contracted(told)
        if first == mine and linked:
            return told
        return f"{subject} {_lower(told)}" if verbal else _lower(told)


AM = re.compile(r"\bI am\b(?! (?:more|less) than)")
HAVE = re.compile(
    r"\bI have"
    r" (been|had|always|never|lately|begun|felt|learned|come|known|lived|taught|carried|seen|waited|thought|kept|tried|grown)\b"
)
PAST = frozenset(IRREGULAR.values())


def contracted(text: str) -> str:
    """As one speaks: 'I'm', 'I've been'. What is quoted stays as it was said."""
    parts = re.split(r"(“[^”]*”)", text)
    return "".join(
        part if part.startswith("“") else HAVE.sub(r"I've \1", AM.sub("I'm", part))
        for part in parts
    )


def joined(parts: list[str], comma: str = ", ") -> str:
    """'a, b and c'."""
    return (
        parts[0]
        if len(parts) == 1
        else f"{comma.join(parts[:-1])}{',' if comma == '; ' else ''} and {parts[-1]}"
    )


def _lower(text: str) -> str:
    """Small first letter, but for 'I' and names of nations and people, which cannot be told from
    the text alone.
    """
    return text if re.match(r"(I\b|I'|[A-Z]{2})", text) else text[:1].lower() + text[1:]


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
