"""Help lines and notices: whole, dialable as far as numbering plans tell, in words with one slot.

That a number is answered, and by whom, no test can say: that is what `checked` is for.
"""

import re
from datetime import date
from importlib.resources import files
from string import Template
from typing import Any

import phonenumbers
import yaml
from phonenumbers import shortnumberinfo

from simcounsel.specs.vocabulary import DANGERS
from tests.each import each

Entry = dict[str, Any]
LINE = {"name", "phone", "text", "send", "web", "hours", "whom", "where"}
# Numbers in use that the numbering plans in phonenumbers 9.0 do not know; a newer release may.
NEW_TO_PLANS = {
    ("de-DE", "116 016"),
    ("en-IN", "14416"),
    ("ko-KR", "109"),
    ("nl-NL", "113"),
    ("pt-BR", "188"),
    ("zh-HK", "18111"),
    ("zh-TW", "1925"),
}


def read(name: str) -> dict[str, Any]:
    """A file of simcounsel.safety."""
    data = yaml.safe_load(files("simcounsel.safety").joinpath(name).read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    return data


HELP: dict[str, Entry] = read("help_lines.yaml")
NOTICE: dict[str, dict[str, str]] = read("notice.yaml")
COUNTRIES = sorted(set(HELP) - {"default"})


def lines(entry: Entry) -> list[Entry]:
    """Every line of a locale, whatever it is for."""
    return [*entry["crisis"], *entry.get("abuse", [])]


def dialable(number: str, country: str) -> bool:
    """Whether the country's numbering plan knows the number, short or long."""
    parsed = phonenumbers.parse(number, country)
    return bool(
        shortnumberinfo.is_valid_short_number_for_region(parsed, country)
        or phonenumbers.is_valid_number_for_region(parsed, country)
    )


def test_locales_name_a_country_and_stand_in_order() -> None:
    assert next(iter(HELP)) == "default" and list(HELP)[1:] == COUNTRIES
    for tag in COUNTRIES:
        assert (
            re.fullmatch(r"[a-z]{2}-[A-Z]{2}", tag) and tag[3:] in phonenumbers.SUPPORTED_REGIONS
        ), tag


@each("tag", HELP)
def test_an_entry_is_whole(tag: str) -> None:
    entry = HELP[tag]
    assert (
        {"country", "emergency", "crisis", "checked"}
        <= set(entry)
        <= {"country", "emergency", "crisis", "abuse", "checked"}
    )
    assert set(entry["emergency"]) <= {"any", "ambulance", "police"}
    assert "any" in entry["emergency"] or {"ambulance", "police"} <= set(entry["emergency"])
    assert entry["checked"] == "unverified" or isinstance(entry["checked"], date)
    for_all = [line for line in entry["crisis"] if line.get("whom") != "children"]
    assert 1 <= len(for_all) <= 2 and len(entry["crisis"]) - len(for_all) <= 1
    assert 0 <= len(entry.get("abuse", [])) <= 2
    for line in lines(entry):
        assert "name" in line and set(line) & {"phone", "text", "web"} and set(line) <= LINE, line
        assert all(isinstance(value, str) and value.strip() for value in line.values()), line
        assert re.fullmatch(r"24/7|\d{1,2}:\d\d-\d{1,2}:\d\d", line.get("hours", "24/7")), line
        assert line.get("whom", "women") in ("women", "children"), line
        assert "text" in line or "send" not in line, line
        assert line.get("web", "https://").startswith("https://"), line


@each("tag", COUNTRIES)
def test_emergency_numbers_are_those_of_the_country(tag: str) -> None:
    for number in HELP[tag]["emergency"].values():
        assert isinstance(number, str) and phonenumbers.is_emergency_number(number, tag[3:]), (
            tag,
            number,
        )


@each("tag", COUNTRIES)
def test_the_numbering_plan_of_the_country_knows_each_phone(tag: str) -> None:
    for line in lines(HELP[tag]):
        if "phone" in line and (tag, line["phone"]) not in NEW_TO_PLANS:
            assert dialable(line["phone"], tag[3:]), (tag, line)


def test_default_points_to_a_list_of_the_world() -> None:
    assert HELP["default"]["emergency"] == {"any": "112"}
    assert [line["web"] for line in lines(HELP["default"])] == ["https://findahelpline.com"]


@each("language", NOTICE)
def test_a_notice_has_all_texts_with_their_slots(language: str) -> None:
    texts = {name: text for name, text in NOTICE[language].items() if name != "dangers"}
    assert set(texts) == {"before", "danger", "open", "before_open"}
    for name, text in texts.items():
        slots = {"lines"} | ({"other", "danger"} if "open" in name else set())
        assert Template(text).is_valid() and set(Template(text).get_identifiers()) == slots
        assert text.count("$lines") == 1
    assert set(NOTICE[language]["dangers"]) == set(DANGERS)


def test_notices_are_there_in_english_and_chinese() -> None:
    assert set(NOTICE) == {"en", "zh"}
