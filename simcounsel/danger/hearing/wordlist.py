"""A language's file of words of danger, as people write it in `words/LANGUAGE.yaml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import Field, model_validator

from simcounsel.specs.load import Spec, load_spec
from simcounsel.specs.vocabulary import Danger, RiskLevel

Entries = tuple[str, ...]


class Cue(Spec):
    """Words that speak of danger."""

    kind: Danger
    level: RiskLevel | None = None
    """How near, said openly by the client of its own present life; or hint: 0 a trace, nothing by
    itself, 1 a weak one, which alone raises nothing but doubt, 2 a strong one, which alone raises
    to low; hints add up (see `weighing`).
    """
    hint: Literal[0, 1, 2] | None = None
    what: Annotated[str, Field(min_length=3)]
    """What is heard, in words for people, after "the client speaks of"."""
    whose: Literal["found", "stated"] = "found"
    """`found` from the subject before it; `stated` when the words themselves tell, or it does not
    matter.
    """
    deniable: bool = True
    """False where a "not" before it takes nothing back, or is part of it."""
    say: Annotated[Entries, Field(min_length=1)]

    @model_validator(mode="after")
    def _one_weight(self) -> Self:
        if (self.level is None) == (self.hint is None) or self.level == "none":
            raise ValueError("give either `level` (low, high, imminent) or `hint` (0, 1, 2)")
        return self


class Words(Spec):
    """A file in `words/`."""

    names: Annotated[tuple[str, ...], Field(min_length=1)]
    """How files and people call the language, its ISO 639-1 code first."""
    letters: str
    """A regular expression for a letter that this language is known by where nobody names it."""
    spaced: bool
    """Words stand apart."""
    drops_subject: bool = False
    """A sentence may leave out its subject, so that somebody named in another clause is not it."""
    censored: Entries = ()
    """Words that people write with a digit or a sign in the place of a letter, or with spaces in
    between.
    """
    fillers: Entries = ()
    """Words that may be between any two of a pattern."""
    turning: Entries = ()
    """Words that a gap in a pattern does not pass over."""
    common: Entries = ()
    """Words too common to look a pattern up by."""
    forms: Mapping[str, str] = Field(default_factory=dict)
    """`forms`, `classes`: see `patterns`."""
    classes: Mapping[str, Entries] = Field(default_factory=dict)
    cues: tuple[Cue, ...]
    """See `Cue`."""
    speaking: Entries
    """Ways of speaking; what lies in one is not meant, unless `meant` is in the same sentence.
    """
    meant: Entries
    own: Entries
    """`own`, `another`: subjects."""
    own_within: Entries
    """Within a cue these say that it is the client's own, whatever is told around it."""
    another: Entries
    another_within: Entries = ()
    """Words within a cue by which somebody else is its subject."""
    breaks: Entries
    """Words that end a clause."""
    no: Entries
    """`no`, `carried`: a denial is one of `no` before the cue in its clause, with only `carried`
    words between; `undone`: before the cue these make it none ("I can't promise I won't").
    """
    carried: Entries
    undone: Entries
    no_after: Entries
    """Right after a cue these deny it."""
    open_end: Entries
    """After a denial these leave it open ("not yet")."""
    past: Entries
    """`past`, `present`: the first lowers what its sentence speaks of to what it was once, unless
    the second is there too.
    """
    present: Entries
    told: Entries
    """Film, book, news, work: what is told of in the same sentence and of others is not the
    client's.
    """
    asked: Entries
    """Somebody asked or said it, about the client."""
    now: Entries
    """`now`, `at_hand`: with an open cue they make it nearer (see `weighing`)."""
    at_hand: Entries
    turned: dict[str, str]
    """A counselor's question as the client would say it, word by word."""
    reported: dict[str, str]
    """What is written about a client as the client would say it, word by word."""
    reported_too: dict[str, str] = Field(default_factory=dict)
    """Other meanings of some of these words ("her" is "my" and "me")."""
    yes: Entries
    """`yes`, `nay`, `unsure`: how answers begin."""
    nay: Entries
    unsure: Entries
    accepts: Entries = ()
    """How somebody takes up an offer: a yes that goes on so answers no question about danger."""
    safe: dict[Danger, Entries]
    """Questions by kind to which no means danger."""
    probing: dict[Danger, Entries]
    """Questions by kind to which yes means danger, beside those that name it."""
    acknowledged: Entries
    """`acknowledged`, `violence_acknowledged`, `brushed_off`: how a counselor acknowledges danger,
    or waves it away; see `acknowledging`.
    """
    violence_acknowledged: Entries
    brushed_off: Entries


def read_words(path: Path) -> Words:
    """By the fast reader; by the one that says where a fault lies if there is one."""
    try:
        return Words.model_validate(
            yaml.load(
                path.read_text(encoding="utf-8"),
                Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader),
            )
        )
    except (yaml.YAMLError, ValueError):
        return load_spec(path, Words)[0]
