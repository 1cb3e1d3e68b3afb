"""Languages without words: told from English, in doubt, asked about."""

import json
from pathlib import Path

import simcounsel.safety
from simcounsel.danger.hearing.assessing import assess
from simcounsel.danger.hearing.detector import hear
from simcounsel.danger.hearing.judging import LineContext
from simcounsel.danger.hearing.tongues import partly_in_other, whole_in_other
from simcounsel.events import Assessed
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted
from simcounsel.specs.vocabulary import RiskLevel
from tests.danger.planted import risk
from tests.each import each
from tests.stage import switchboard

LINES = Path(simcounsel.danger.hearing.__file__).parent / "learning" / "lines"
OTHERS = {
    "pt": ("Quero morrer, tenho os comprimidos aqui", "Não aguento mais, quero acabar com tudo"),
    "es": ("Quiero morir", "No quiero vivir más, tengo las pastillas en la mano"),
    "fr": ("Je veux mourir", "J'ai envie d'en finir ce soir", "Il me frappe tous les soirs"),
    "de": ("Ich will sterben", "Ich will nicht mehr leben", "Er schlägt mich"),
    "it": ("Voglio morire", "Non ce la faccio più, voglio farla finita"),
    "nl": ("Ik wil dood", "Ik wil niet meer leven"),
    "tr": ("Ölmek istiyorum", "Kendimi öldüreceğim"),
    "pl": ("Chcę umrzeć", "Nie chcę już żyć"),
    "ro": ("Vreau să mor",),
    "sv": ("Jag vill dö", "Jag orkar inte leva längre"),
    "fi": ("Haluan kuolla",),
    "hu": ("Meg akarok halni",),
    "vi": ("Tôi muốn chết",),
    "ja": ("死にたいです", "もう生きていたくない"),
}
ENGLISH = (
    "A drink in my hand",
    "Fine.", "ok", "Lena", "Thursday, I think", "idk lol", "cant sleep", "yeah no", "brb pizza", "Maybe.",
    "slept 7 hrs!!!", "im gona kil myself tonite", "Not before Thursday.", "My amigo Pedro came by.", "hi",
)  # fmt: skip


@each(("code", "text"), [(code, text) for code, some in OTHERS.items() for text in some])
def test_another_language_is_in_doubt(code: str, text: str) -> None:
    assert whole_in_other(text) == code
    heard = hear(text, "en")
    assert heard.doubt and heard.strange == (code,) and code in heard.why


@each("text", ENGLISH)
def test_short_english_is_english(text: str) -> None:
    assert hear(text, "en").strange == ()


def test_english_lines_are_english() -> None:
    """At most 3 in 1,000 of those from which the gate learns, misspelt ones among them."""
    lines = [
        json.loads(line)["text"]
        for file in LINES.glob("en_*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    strange = [text for text in lines if whole_in_other(text) or partly_in_other(text)]
    assert len(lines) > 2000 and len(strange) <= 0.003 * len(lines), strange


def test_a_sentence_among_english_ones() -> None:
    text = "Thanks for today. Quero morrer, tenho os comprimidos aqui."
    assert whole_in_other(text) is None and partly_in_other(text) == "pt"
    assert hear(text, "en").strange == ("pt",)


def test_english_words_are_heard_all_the_same() -> None:
    heard = hear("Ich will nicht mehr leben, I want to kill myself", "en")
    assert heard.level == "high" and heard.kinds == ("suicide",)


@each("text", ["我很累。", "我今天 very tired", "他打我"])
def test_chinese_is_no_other_language(text: str) -> None:
    assert hear(text, "zh").strange == ()


def assessed(text: str, model: Scripted) -> Assessed:
    ((name, outcome),) = (
        switchboard(model)
        .ask({"x": assess(text, LineContext(who="Ines", key=(1,), language="en"))})
        .items()
    )
    assert name == "x"
    return outcome.value


def test_without_a_model_it_is_asked_about() -> None:
    heard = assessed("Quero morrer, tenho os comprimidos aqui", Scripted())
    assert (heard.level, heard.kinds) == ("low", ("suicide",))
    assert "pt" in heard.why and "so it is asked about" in heard.why


@each("level", ["none", "imminent"])
def test_a_model_that_reads_it_decides(level: RiskLevel) -> None:
    def judge(request: Question, draw: object) -> str:
        return risk(level)

    heard = assessed("Quero morrer, tenho os comprimidos aqui", Scripted({"risk": judge}))
    assert (heard.level, heard.by) == (level, "model")
