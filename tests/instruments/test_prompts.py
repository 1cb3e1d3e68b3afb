"""Every prompt of an instrument as it is sent; reversed items are not to be told from others."""

from typing import Any

from simcounsel.agents.person import Person
from simcounsel.instruments.from_transcript import from_transcript
from simcounsel.instruments.measuring import self_report
from simcounsel.instruments.observing import observe
from simcounsel.llm.question import Ask, Question, Reply
from simcounsel.specs.scale import Scale
from tests.each import each
from tests.instruments.stage import scale, seen, shipped
from tests.prompts.test_golden import compare, shown
from tests.stage import Alone, scene, vectors


def asked(asking: Ask[Any], *replies: Reply) -> list[Question]:
    """All requests of an Ask that gets these replies."""
    requests, given, reply = [], list(replies), None
    try:
        while True:
            wanted = asking.send(reply)  # type: ignore[arg-type]
            many = (wanted,) if isinstance(wanted, Question) else wanted
            requests += many
            answered = tuple(given.pop(0) for _ in many)
            reply = answered[0] if isinstance(wanted, Question) else answered
    except (StopIteration, IndexError):
        return requests


def text(request: Question) -> str:
    return shown(request.system, request.prompt)


def test_of_an_observer() -> None:
    nothing, told = Reply(value=4.0), Reply(value=4.0, weights={"4": 1.0})
    probe, first, *_ = asked(observe(shipped("working_alliance"), "Ines", seen(), 1), told)
    compare("judge_probe", text(probe))
    compare("judge_item", text(first))
    may_be_null = [
        one
        for one in asked(observe(shipped("helping_skills"), "Ines", seen(), 1), told)
        if "null" in one.prompt
    ]
    assert [one.facts.item.id for one in may_be_null] == ["a7", "i6", "i9", "i10"]
    assert all(one.may_be_null for one in may_be_null)
    _, block, again = asked(
        observe(scale(), "Ines", seen(), 1), nothing, Reply(value=_answers(a=9, b=2, c=1))
    )
    compare("judge_block", text(block))
    compare("judge_again", text(again))
    _, rated, codes = asked(
        observe(shipped("motivational_interviewing"), "Ines", seen(), 1),
        nothing,
        Reply(value=_answers(change_talk=3, sustain_talk=3, partnership=3, empathy=3)),
    )
    assert "[1] Counselor: " not in rated.prompt
    compare("judge_codes", text(codes))


def test_of_an_observer_who_reads_more() -> None:
    consistent, told = shipped("persona_consistency"), Reply(value=4.0, weights={"4": 1.0})
    compare(
        "judge_profile",
        text(
            asked(
                observe(consistent, "Ines", seen(profile="44 years old.\nBackground: a port."), 1),
                told,
            )[1]
        ),
    )
    compare("judge_transcript", text(asked(observe(consistent, "Ines", seen(), 1), told)[1]))
    pair = seen(
        lines=(), before="Tense and quiet.\nTired of late.", after="Calmer.\nHopeful of late."
    )
    compare(
        "judge_personas", text(asked(observe(shipped("persona_change"), "Ines", pair, 1), told)[1])
    )


def test_of_an_observer_who_answers_for_the_client() -> None:
    seen_by_observer, told = from_transcript(shipped("gad7")), Reply(value=1.0)
    for language, name in (("en", "judge_for_client"), ("zh", "zh_judge_for_client")):
        _, block = asked(observe(seen_by_observer, "Ines", seen(language=language)), told)
        compare(name, text(block))


def test_of_a_self_report() -> None:
    person = Person(alone().resident)
    _, request = asked(self_report(person, scene(), shipped("phq9")), Reply(value=vectors((1, 0))))
    assert request.tier == "reason"
    compare("self_report", text(request))


def alone() -> Alone:
    from tests.stage import memory

    one = Alone()
    one.have_version()
    one.remember(memory(0, "Ines lay awake until four."))
    return one


@each("name", ["real_relationship", "state_anxiety", "solution_talk", "self_acceptance"])
def test_reversed_items_are_not_marked(name: str) -> None:
    """The prompt of a scale is the same, byte for byte, as that of one in which nothing is reversed."""
    given = shipped(name)
    plain: Scale = given.model_copy(
        update={"items": tuple(item.model_copy(update={"reverse": False}) for item in given.items)}
    )
    assert given != plain

    def prompts(one: Scale) -> list[str]:
        if one.respondent == "self":
            replies = [Reply(value=vectors((1, 0)))]
            return [
                text(request)
                for request in asked(self_report(Person(alone().resident), scene(), one), *replies)
                if request.verb != "embed"
            ]
        return [
            text(request)
            for request in asked(
                observe(one, "Ines", seen(), 1),
                Reply(value=1.0),
                Reply(value=_answers()),
                Reply(value=_answers()),
            )
        ]

    assert prompts(given) == prompts(plain)
    assert all("revers" not in prompt.lower() for prompt in prompts(given))


def _answers(**given: Any) -> Any:
    class Given:
        def model_dump(self) -> dict[str, Any]:
            return given

    return Given()
