"""What is new gets a feeling, one for each piece of news."""

from simcounsel.agents import appraisal
from simcounsel.agents.tasks import FeelingAnswer, FeelingsAnswer
from simcounsel.events import Acted, Appraised, Perceived, Sight
from simcounsel.llm.driving import play
from simcounsel.llm.question import Question
from tests.stage import Alone, noting, scene

SAD = FeelingAnswer(emotion="sadness", intensity=6, poignancy=4)
GLAD = FeelingAnswer(emotion="joy", intensity=3, poignancy=2)


def with_news() -> Alone:
    ines = Alone()
    ines.observe(
        Acted(who="Ines", activity="makes coffee", activity_kind="meal", place="Ines's Kitchen")
    )
    ines.observe(Perceived(who="Ines", others=(Sight(name="Miriam", activity="waits"),)))
    return ines


def test_one_batch_for_all_news() -> None:
    ines, seen = with_news(), list[Question]()
    assert ines.resident.news == ("Ines makes coffee.", "Miriam is here and waits.")
    lived = play(
        noting(appraisal.appraise(ines.resident, scene()), seen),
        FeelingsAnswer(feelings=(SAD, GLAD)),
    )
    assert len(seen) == 1
    assert "1. Ines makes coffee.\n2. Miriam is here and waits." in seen[0].prompt
    assert lived.events == (
        Appraised(
            who="Ines",
            about="Ines makes coffee.",
            emotion="sadness",
            intensity=6,
            poignancy=4,
            calls=(seen[0].key,),
        ),
        Appraised(
            who="Ines",
            about="Miriam is here and waits.",
            emotion="joy",
            intensity=3,
            poignancy=2,
            calls=(seen[0].key,),
        ),
    )
    assert [draft.calls for draft in lived.drafts] == [(seen[0].key,)] * 2
    assert [
        (d.type, d.origin, d.place, d.present, d.emotion, d.intensity, d.poignancy)
        for d in lived.drafts
    ] == [
        ("event", "own act", "Ines's Kitchen", ("Miriam",), "sadness", 6, 4),
        ("event", "sight", "Ines's Kitchen", ("Miriam",), "joy", 3, 2),
    ]


def test_somebody_whose_name_begins_alike_is_a_sight() -> None:
    ines = with_news()
    ines.observe(
        Perceived(
            who="Ines",
            others=(
                Sight(name="Ines Maria", activity="waits"),
                Sight(name="Miriam", activity="waits"),
            ),
        )
    )
    lived = play(
        appraisal.appraise(ines.resident, scene()), FeelingsAnswer(feelings=(SAD, GLAD, GLAD))
    )
    assert [(d.text, d.origin) for d in lived.drafts] == [
        ("Ines makes coffee.", "own act"),
        ("Miriam is here and waits.", "sight"),
        ("Ines Maria is here and waits.", "sight"),
    ]


def test_too_few_feelings_are_complained_about() -> None:
    seen: list[Question] = []
    play(
        noting(appraisal.appraise(with_news().resident, scene()), seen),
        FeelingsAnswer(feelings=(SAD, GLAD)),
    )
    check = seen[0].check
    assert check is not None
    assert check(FeelingsAnswer(feelings=(SAD,))) == "1 feelings came, 2 were asked for"
    assert check(FeelingsAnswer(feelings=(SAD, GLAD))) is None
    assert check(seen[0].fallback) is None


def test_what_was_appraised_is_no_news_any_more() -> None:
    ines = with_news()
    for event in play(
        appraisal.appraise(ines.resident, scene()), FeelingsAnswer(feelings=(SAD, GLAD))
    ).events:
        ines.observe(event)
    assert ines.resident.news == ()
    assert (ines.resident.emotion, ines.resident.intensity) == ("sadness", 6), "the strongest stays"
    ines.observe(
        Acted(who="Ines", activity="makes coffee", activity_kind="meal", place="Ines's Kitchen")
    )
    ines.observe(Perceived(who="Ines", others=(Sight(name="Miriam", activity="reads"),)))
    assert ines.resident.news == ()


def test_known_feelings_of_a_client_hold_its_situations() -> None:
    ines, miriam = Alone().resident, Alone("Miriam").resident
    assert len(appraisal.known_feelings(ines)) > len(ines.persona.routines)
    assert len(appraisal.known_feelings(miriam)) == len(miriam.persona.routines)
