"""What an observer gets to read: a conversation, a file, two texts; without names, places,
conditions, models.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count

from simcounsel.chance import chance
from simcounsel.events import PersonaChanged
from simcounsel.prompts import phrase, render
from simcounsel.specs.persona import ClientPersona, Persona
from simcounsel.specs.scale import Scale
from simcounsel.specs.world import World
from simcounsel.texts.blinding import Blinding

CLIENT, COUNSELOR = "Client", "Counselor"


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A conversation in the run: its id, the tick and minute of its beginning, the two, how it came
    about, the lines as (who, text).
    """

    chat: str
    tick: int
    minute: int
    who: tuple[str, str]
    cause: str
    lines: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Material:
    """Blinded texts. None or (): the scale does not see it, or there is none."""

    lines: tuple[tuple[str, str], ...] = ()
    """(`Client` or `Counselor`, text)."""
    profile: str | None = None
    """The client's file."""
    before: str | None = None
    """The client's text in an earlier version, where two are compared."""
    after: str | None = None
    """The same in the later one."""
    chats: tuple[str, ...] = ()
    """The conversations that it is about."""
    absent: str | None = None
    """Why there is nothing to judge."""
    blinded: bool = False
    """Whether the names and places that were known have been taken out of the lines."""
    language: str = "en"
    """In which a judge is asked about it; the items stay in the language of their instrument."""

    def text(self, flipped: bool = False, *, numbered: str = "") -> str:
        """As it is in a prompt. flipped: of two versions, the later one first. numbered: whose
        turns bear numbers, from 1 (CLIENT or COUNSELOR).
        """
        if self.before is not None and self.after is not None:
            first, second = (self.after, self.before) if flipped else (self.before, self.after)
            return render("judge_personas", self.language, first=first, second=second)[1]
        numbers = count(1)
        lines = "\n".join(
            f"[{next(numbers)}] {speaker}: {text}" if speaker == numbered else f"{speaker}: {text}"
            for speaker, text in self.lines
        )
        space = "" if self.language == "zh" else " "
        blinded = space + phrase("scale_words", "blinded", self.language) if self.blinded else ""
        transcript = render("judge_transcript", self.language, lines=lines, blinded=blinded)[1]
        return (
            transcript
            if self.profile is None
            else render(
                "judge_profile", self.language, profile=self.profile, transcript=transcript
            )[1]
        )


def later_first(sample: int, *key: object) -> bool:
    """Whether the later of two texts is first: drawn for the first sample, then by turns, so
    that a preference for one place cancels out over two.
    """
    return bool(chance(*key, "order").getrandbits(1)) != bool(sample % 2)


def material_for(
    scale: Scale, world: World, client: str, talk: Talk | None, versions: tuple[PersonaChanged, ...]
) -> Material:
    """What an observer with this scale sees of a client.

    talk: the conversation to judge; versions: the persona's texts so far, oldest first. What is
    missing is said in `absent`.
    """
    if scale.sees == "personas":
        if len(versions) < 1:
            return Material(absent="no version of the persona's text yet")
        blinding = blinding_for(world, client, None)
        return Material(
            before=_version_text(blinding, versions[0]),
            after=_version_text(blinding, versions[-1]),
            language=world.language,
        )
    if talk is None or not talk.lines:
        return Material(absent="no conversation yet")
    other = next(name for name in talk.who if name != client)
    blinding = blinding_for(world, client, other)
    persona = next(resident.persona for resident in world.residents if resident.name == client)
    return Material(
        lines=blind_lines(blinding, client, talk.lines),
        chats=(talk.chat,),
        profile=blinding.text(profile(persona)) if scale.sees == "persona and transcript" else None,
        language=world.language,
        blinded=True,
    )


def blind_lines(
    blinding: Blinding, client: str, lines: Iterable[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Lines with the parts in the conversation in place of names."""
    return tuple(
        (CLIENT if who == client else COUNSELOR, " ".join(blinding.text(text).split()))
        for who, text in lines
    )


def blinding_for(world: World, client: str, other: str | None) -> Blinding:
    """Takes every name of the world out of a text: the client's and the counselor's become their
    parts.
    """
    full: Mapping[str, str] = {resident.name: resident.persona.name for resident in world.residents}
    speakers = {full[client]: "[client]", client: "[client]"}
    if other is not None:
        speakers |= {full.get(other, other): "[counselor]", other: "[counselor]"}
    others = [
        name
        for resident in world.residents
        if resident.name not in (client, other)
        for name in (full[resident.name], resident.name)
    ]
    known = [
        acquaintance.name
        for resident in world.residents
        for acquaintance in resident.persona.people
    ]
    return Blinding(
        speakers, others=[*others, *known], places=[place.name for _, place in world.every_place()]
    )


def profile(persona: Persona) -> str:
    """A client's file in plain lines, for the one instrument that compares it with what was
    said.
    """
    return "\n".join(f"{label}: {text}" if label else text for label, text in sheet(persona))


def sheet(persona: Persona) -> tuple[tuple[str, str], ...]:
    """What is in a persona's file, as (heading, text); who it is has no heading."""
    who = (
        f"{persona.age} years old, {persona.gender}, {persona.pronouns}, {persona.culture},"
        f" {persona.occupation}."
    )
    lines = [
        ("", who),
        ("Background", persona.background),
        ("History", persona.history),
        ("Characteristic", persona.portrait.characteristic),
        ("Way of speaking", persona.style),
    ]
    if isinstance(persona, ClientPersona):
        rules = " ".join(belief.belief for belief in persona.intermediate_beliefs)
        lines += [(one.name, one.text) for one in persona.case] or [
            ("Core beliefs", " ".join(belief.belief for belief in persona.core_beliefs)),
            ("Rules and assumptions", rules),
            ("Ways of coping", "; ".join(persona.coping_strategies) + "."),
        ]
    return tuple(lines)


def _version_text(blinding: Blinding, version: PersonaChanged) -> str:
    return blinding.text(f"{version.characteristic}\n{version.recent_feeling}")
