"""What somebody tells about the others: who they are, how close they are, what was said between
them.
"""

import re
from collections.abc import Iterator
from typing import Any

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.standins.asked import Asked
from simcounsel.standins.days import Days
from simcounsel.standins.sheet import FAMILY, Sheet
from simcounsel.texts import sentences


class Company:
    """The others in one person's life."""

    def __init__(self, lived: Any, sheet: Sheet, days: Days) -> None:
        self.lived = lived
        self.sheet = sheet
        self.days = days

    def told(self, name: str, asked: Asked) -> Iterator[str]:
        """What was said, when that is asked; who it is; how one stands to them."""
        sheet = self.sheet.person(name)
        if name in self.lived.others and asked.of_talk:
            yield from self._talk(name, asked)
        if asked.who or (sheet and asked.open):
            yield " ".join(sheet[:2]) or self.role(name)
        if name in self.lived.others and asked.of_liking:
            yield f"{self._closeness(name)} {self._when(name)}".strip()
            yield self._closeness(name)
            yield self.summary(name)

    def last_words(self, name: str) -> Iterator[str]:
        """What there is to say when nothing nearer was found."""
        yield from self.sheet.person(name)
        yield self.role(name)

    def words_for(self, name: str) -> set[str]:
        """By what somebody is spoken of."""
        one = self.sheet.people.get(name)
        return (
            {name, *(word for word in re.findall(r"\w+", one.relation) if FAMILY.fullmatch(word))}
            if one
            else {name}
        )

    def role(self, name: str) -> str:
        """'Miriam is the counselor I talk to.'"""
        role, mine = self.lived.others.get(name), self.lived.resident.spec.role
        if role == "counselor":
            return (
                f"{name} is the counselor I talk to."
                if mine == "client"
                else f"{name} is a counselor here."
            )
        if role == "client" and mine == "counselor":
            return f"{name} comes to talk with me."
        return f"{name} is somebody from around here." if role else ""

    def helped(self) -> list[str]:
        """Whether talking with a counselor, or to clients, does any good; by how close one has
        come.
        """
        mine = self.lived.resident.spec.role
        mets = [
            met
            for met in self.lived.mets
            if mine == "counselor" or self.lived.others.get(met.other) == "counselor"
        ]
        if not mets:
            return ["I haven't had such a talk yet, so I can't say."]
        other = mets[-1].other
        close = self.lived.resident.close_to(other)
        how = (
            "It does me good, I think."
            if close >= 5
            else "It's too early to say."
            if close >= 2.5
            else "I'm not sure of it."
        )
        return [f"{how} {self.summary(other)}".strip(), how]

    def _closeness(self, name: str) -> str:
        close = self.lived.resident.close_to(name)
        return (
            f"I'm very close to {name}."
            if close >= 8
            else (
                f"{name} and I are close."
                if close >= 6
                else (
                    f"I'm at ease with {name}."
                    if close >= 4.5
                    else f"I'm getting used to {name}."
                    if close >= 3
                    else f"I hardly know {name}."
                )
            )
        )

    def _when(self, name: str) -> str:
        mets = [met for met in self.lived.mets if met.other == name]
        return f"We talked {self.days.when(mets[-1].minute)}." if mets else ""

    def summary(self, name: str) -> str:
        """What one took away from the last talk with somebody, if it can be told."""
        for memory in reversed(self.lived.resident.memory.long.memories):
            if (
                memory.origin == "summary"
                and memory.chat
                and name in memory.chat.split(":", 1)[1].split("+")
            ):
                return self.sheet.told(memory.text) or ""
        return ""

    def _talk(self, name: str, asked: Asked) -> Iterator[str]:
        """Lines of the last talk with somebody: theirs if it is asked what they said, else one's
        own.
        """
        mets = [met for met in self.lived.mets if met.other == name]
        if not mets:
            yield f"I haven't talked with {name} in these days."
            return
        whose, last = asked.speaker(name), mets[-1]
        if asked.for_feelings:
            felt = dict.fromkeys(
                ADJECTIVE[emotion] for emotion in last.felt if emotion != "neutral"
            )
            yield (
                f"I was {' and then '.join(list(felt)[-2:])}."
                if felt
                else "Nothing much, to be honest."
            )
        if whose is None:
            yield f"{self._when(name)} {self.summary(name)}".strip()
        speaker = name if whose == "theirs" else self.lived.resident.name
        lines = [text for who, text in last.lines[2:-2] or last.lines if who == speaker]
        if asked.for_questions and whose:
            questions = [
                found[-1].strip() for text in lines if (found := sentences.questions(text))
            ]
            lead = f"{name} asked me" if whose == "theirs" else f"I asked {name}"
            yield from (f"{lead}: “{text}”" for text in questions)
            if not questions:
                yield f"{name if whose == 'theirs' else 'I'} didn't ask much."
        yield from (
            f"{f'{name} said' if whose == 'theirs' else 'I said'}: “{text}”" for text in lines
        )
