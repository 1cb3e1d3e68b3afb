"""Emergency numbers and help lines in what a counselor says: those of the client's country, and
those of others.
"""

from functools import cache

from simcounsel.danger.hearing.phrases import has_number
from simcounsel.safety.help import Help
from simcounsel.specs.practice import locale_names

EVERYWHERE = ("112", "findahelpline.com")
"""Of no country alone: the number reaches help from mobile phones in most of them, the page lists
help lines of many.
"""


def emergency_numbers(locale: str) -> tuple[str, ...]:
    """The emergency numbers of a locale."""
    return Help(locale=locale, language="en").emergency_numbers


def own_numbers(locale: str) -> tuple[str, ...]:
    """All numbers and pages of a locale, the emergency numbers first."""
    return Help(locale=locale, language="en").numbers


@cache
def _foreign(locale: str) -> tuple[str, ...]:
    own = {_digits(number) for number in own_numbers(locale)}
    return tuple(
        dict.fromkeys(
            number
            for other in locale_names()
            if other != locale
            for number in own_numbers(other)
            if _digits(number) not in own and not any(one in number for one in EVERYWHERE)
        )
    )


def own_number_in(text: str, locale: str, *, emergency: bool = False) -> str | None:
    """The first number of the locale in a text; None where there is none. emergency: only
    emergency numbers.
    """
    known = emergency_numbers(locale) if emergency else own_numbers(locale)
    return next((number for number in known if has_number(text, number)), None)


def foreign_number_in(text: str, locale: str) -> str | None:
    """The first number in a text that helps in other countries only; None where there is none."""
    return next((number for number in _foreign(locale) if has_number(text, number)), None)


def _digits(number: str) -> str:
    return "".join(one for one in number if one.isdigit()) or number.casefold()
