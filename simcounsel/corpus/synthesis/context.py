"""What all questions of one session have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from simcounsel.chance import seed_of
from simcounsel.corpus.dialogues import LANGUAGES
from simcounsel.corpus.synthesis.settings import Synthesis
from simcounsel.prompts import OWN_NAME, phrase, prompt_text
from simcounsel.specs.vocabulary import Language

PERSON, COUNSELOR = "Person", "Counselor"
Line = tuple[str, str]
"""Who (`Person` or `Counselor`) and what."""


@dataclass(frozen=True, kw_only=True)
class SessionContext:
    """A session as its questions need it."""

    settings: Synthesis
    """Of the whole synthesis."""
    session: str
    """The session's name in the log: `S0001`."""
    key: tuple[object, ...]
    """What its random draws depend on."""

    @property
    def english(self) -> bool:
        """Whether lines can be checked as English."""
        return self.settings.language.casefold() == "english"

    @property
    def prompts(self) -> Language:
        """The language of the prompts: that of the lines, where there are prompts in it; else
        English, and they ask for lines in that language.
        """
        code = LANGUAGES.get(self.settings.language.casefold())
        return next((one for one in get_args(Language) if one == code), "en")

    @property
    def language(self) -> str:
        """The language of the lines, as a prompt names it."""
        return (
            self.settings.language if self.prompts == "en" else prompt_text(OWN_NAME, self.prompts)
        )

    def words(self, key: str, /, **slots: object) -> str:
        """A short text of a prompt, in the language of the prompts."""
        return phrase("synthesis_words", key, self.prompts, **slots)

    def talk(self, lines: Sequence[Line]) -> str:
        """What was said, a line each."""
        keys = {PERSON: "person", COUNSELOR: "counselor"}
        said = (self.words(keys[who], text=text) for who, text in lines)
        return "\n".join(said) or self.words("not_begun")

    def seed(self, role: str, message: int) -> int:
        """The seed of one question."""
        return seed_of(*self.key, role, message)
