"""What the rules make of a line, by hand."""

from simcounsel.practice.group import begin_folder  # noqa: F401  (the guest as a whole is there)
from simcounsel.practice.skills import examples_of, helping_skills, library_skill, skill_of
from tests.each import each

SLEEP = "I sleep three hours, and then I lie there and count."
ENGLISH = {
    "You're exhausted, and a bit ashamed of it.": "reflection",
    "You lie there counting, and it wears you out.": "paraphrase",
    "So you sleep three hours a night.": "paraphrase",
    "Let me put it together: you sleep little, and at night it all comes back.": "summary",
    "What goes through your mind while you count?": "open_question",
    "Do you drink coffee?": "closed_question",
    "How long? Since when? And do you take pills?": "several_questions",
    "You went to work after three hours of sleep. That took strength.": "affirmation",
    "Have you tried melatonin?": "advice",
    "You should go to bed earlier.": "advice",
    "Don't worry, it will be all right.": "reassurance",
    "I know exactly how you feel.": "self_disclosure",
    "You're overreacting.": "judgment",
    "Most adults need seven to nine hours, studies show.": "information",
    "Mm-hm.": "minimal",
    "Our time is nearly up. Goodbye, take care.": "closing",
    "Are you thinking of killing yourself?": "risk_question",
    "": "silence",
}
CHINESE = {
    "你躺着数时间，心里很焦虑。": "reflection",
    "躺着的时候你在想什么？": "open_question",
    "你喝咖啡吗？": "closed_question",
    "你应该早点睡。": "advice",
    "别担心，会好的。": "reassurance",
    "你是在想自杀吗？": "risk_question",
}


@each(("said", "skill"), list(ENGLISH.items()))
def test_english(said: str, skill: str) -> None:
    assert skill_of(SLEEP, said, "en") == skill


@each(("said", "skill"), list(CHINESE.items()))
def test_chinese(said: str, skill: str) -> None:
    assert skill_of("我每天只睡三个小时，躺着数时间。", said, "zh") == skill


def test_whoever_breaks_off_and_is_not_taken_up_is_interrupted() -> None:
    assert skill_of("I wanted to tell him, but —", "Let's talk about your job.", "en") == (
        "interruption"
    )
    assert skill_of("I wanted to tell him, but —", "You wanted to tell him.", "en") != (
        "interruption"
    )
    assert skill_of("", "Hello Ines, I am glad that you came.", "en") == "opening"


@each("language", ["en", "zh"])
def test_each_skill_has_its_words_and_its_places_in_the_library(language: str) -> None:
    for one in helping_skills(language).values():
        assert one.name and one.why and one.source
        assert one.instead is None or helping_skills(language)[one.instead].library
        for named in one.library:
            assert library_skill(named, language).name


def test_the_example_is_of_the_skill_whose_cue_is_nearest() -> None:
    skill = helping_skills("en")["open_question"]
    named, lines = examples_of(skill, "It is always like that, in general, people like me.", "en")
    assert named == "humanistic_existential.ask_for_one_moment" and lines
    assert examples_of(helping_skills("en")["statement"], "x", "en") == ("", ())
