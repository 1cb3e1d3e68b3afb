"""Consent in Farsi, as people write it: in its own script and in Latin letters."""

from pathlib import Path

import pytest
import yaml

from simcounsel.packaged import packaged
from simcounsel.therapies.staged.intents import intent_in

ANSWERS = {
    "yes": "بله|آره حتما|bale|baleh|باشه|چشم|چرا که نه؟|begoo|با کمال میل|موافقم، شروع کنیم|areh|می‌خوام امتحان کنم|مشکلی نیست|خوبه ممنون",
    "no": "نه|نه ممنون|نخیر|الان نه|نه، مرسی|nakheyr|بعداً|نمی‌خوام|حوصله ندارم|na mersi|اصلا|نيازي نيست|آره ولی نه",
    "another": "یکی دیگه|یه تمرین دیگه لطفا",
    "explain": "یعنی چی؟|متوجه نشدم",
    "done": "انجام دادم|تموم شد",
    "tell_more": "می‌خوام حرف بزنم",
}
UNDECIDED = "شاید|نمی‌دونم|بله؟|امروز باران آمد|دیشب با خواهرم حرف زدم"


@pytest.mark.parametrize(
    ("wanted", "text"), [(kind, one) for kind, some in ANSWERS.items() for one in some.split("|")]
)
def test_what_is_clear_is_read(wanted: str, text: str) -> None:
    assert intent_in(text, "en") == wanted


@pytest.mark.parametrize("text", UNDECIDED.split("|"))
def test_what_is_not_clear_is_asked_of_a_model(text: str) -> None:
    assert intent_in(text, "en") is None


def test_there_are_as_many_patterns_as_the_paper_has() -> None:
    data = packaged("simcounsel.therapies", "intents", "fa.yaml")
    words = {kind: sum(one.count("|") + 1 for one in data[kind]) for kind in ("yes", "no")}
    assert words["yes"] >= 40 and words["no"] >= 13


def test_a_frozen_list_of_answers_is_read_as_it_was() -> None:
    """57 answers, polite refusals among them; none may be taken for something else."""
    file = Path(__file__).parent / "farsi_answers.yaml"
    answers = yaml.safe_load(file.read_text(encoding="utf-8"))
    rows = [(kind, text) for kind, texts in answers.items() for text in texts]
    found = [(kind, text, intent_in(text, "en")) for kind, text in rows]
    assert [one for one in found if one[2] not in (one[0], None)] == []
    assert len([one for one in found if one[2] == one[0] or one[0] == "unclear"]) >= 52


@pytest.mark.parametrize(
    ("one", "other"),
    [("می‌خوام", "ميخوام"), ("باشه، شروع کنیم", "باشه؛ شروع كنيم"), ("بعداً", "بعدا")],
)
def test_spelling_does_not_matter(one: str, other: str) -> None:
    assert intent_in(one, "en") == intent_in(other, "en") is not None


def test_english_is_read_as_before() -> None:
    assert intent_in("yes please", "en") == "yes"
    assert intent_in("I saw my sister", "en") is None
    assert intent_in("bale", "zh") is None
