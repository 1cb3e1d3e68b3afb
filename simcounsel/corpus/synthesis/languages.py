"""Whether situations are in the language that a synthesis is to write."""

from collections import Counter

from simcounsel.corpus.checks.language import language_of
from simcounsel.corpus.synthesis.reading import LANGUAGES
from simcounsel.specs.synthesis import Synthesis


def language_doubt(settings: Synthesis) -> str | None:
    """What does not fit, in words with the remedy; None when nothing is in doubt."""
    wanted = LANGUAGES.get(settings.language.casefold())
    if wanted != "en" and "embedded" in settings.models.resolved().values():
        return (
            f"language {settings.language}: the embedded model writes English only; name another"
            " model, or expect a mixture"
        )
    seen = Counter(
        found for found in (language_of(one.text) for one in settings.situations) if found
    )
    if not seen or wanted is None:
        return None
    most, count = seen.most_common(1)[0]
    if most == wanted or count * 2 < len(settings.situations):
        return None
    names = {code: name.capitalize() for name, code in LANGUAGES.items()}
    return (
        f"{count} of {len(settings.situations)} situations look {names.get(most, most)}, and the"
        f" language is {settings.language}: the dialogues will be a mixture; --language"
        f" {names.get(most, most)}, with a model that writes it, avoids that"
    )
