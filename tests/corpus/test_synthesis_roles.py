"""Each role: what it is shown, what it may answer, what becomes of its answer."""

import json
from itertools import pairwise
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from simcounsel.corpus.checks.risk import IN_WORDS, unaddressed_risk
from simcounsel.corpus.checks.rules import Limits
from simcounsel.corpus.disclosure import DISCLOSURES
from simcounsel.corpus.synthesis.account import dialogues_of
from simcounsel.corpus.synthesis.events import (
    QUALITIES,
    Disclosed,
    Drafted,
    Evaluated,
    Extracted,
    Fact,
    Revised,
    SessionEnded,
    StrategyLearned,
)
from simcounsel.corpus.synthesis.facts import CorrectFacts, EvaluateFacts, SeekFacts, SupportFacts
from simcounsel.corpus.synthesis.role_answers import (
    LONGEST,
    Distilled,
    Evaluation,
    Extraction,
    SeekerLine,
    content,
    corrected_problem,
    distilled_problem,
    evaluation_problem,
    extraction_problem,
    facts_of,
    grounded,
    length_of,
    line_problem,
    seeker_problem,
)
from simcounsel.corpus.synthesis.seeker import COMPLETIONS, cut, sentences_of
from simcounsel.corpus.synthesis.session import SAFE_LINES, SeekerFile, one_line
from simcounsel.events import Warned
from simcounsel.llm.question import Question
from tests.corpus.bench import (
    SECRET,
    SITUATION,
    asks,
    file_of,
    happened,
    judges,
    roles,
    settings,
    teaches,
    tells,
    written,
)
from tests.each import each
from tests.stage import NEVER, Listening


def lines_of(question: Question) -> int:
    """How many lines had been said when it was asked."""
    facts = question.facts
    if isinstance(facts, SeekFacts | SupportFacts | EvaluateFacts | CorrectFacts):
        return len(facts.lines)
    return 0


# the extractor


def test_a_situation_is_cut_into_who_what_and_how() -> None:
    found = cut(SITUATION, "sleep")
    told = {fact.stage: fact.text for fact in found.facts if not fact.invented}
    assert told == {
        "introduces": "I am a ferryman of fifty.",
        "describes": "Since May I cannot sleep.",
        "feels": "I feel hollow.",
        "remembers": "As a boy I was left alone on the island.",
        "asks_for_help": "I would like to rest.",
        "asks_for_advice": "What could I try?",
    }
    assert [fact.of for fact in found.facts] == [
        "character",
        "plight",
        "plight",
        "plight",
        "demand",
        "demand",
    ]


def test_what_the_situation_leaves_out_is_completed_and_marked() -> None:
    found = cut("I am a ferryman. I cannot sleep.", None)
    made = {fact.stage: fact.text for fact in found.facts if fact.invented}
    assert set(made) == set(DISCLOSURES) - {"introduces", "describes"}
    assert all(text in COMPLETIONS[stage] for stage, text in made.items())
    assert extraction_problem(found) is None
    assert cut("I am a ferryman. I cannot sleep.", None) == found, (
        "the same text is completed in the same way"
    )


@given(st.text(max_size=600))
def test_any_text_is_cut_into_a_file_that_holds(text: str) -> None:
    found = cut(text, None)
    assert extraction_problem(found) is None
    assert all(fact.text in " ".join(text.split()) or fact.invented for fact in found.facts)


def test_a_file_needs_all_parts_and_all_stages() -> None:
    whole = json.loads(file_of("a a a", "b b b", "c c c", "d d d", "e e e", "f f f"))
    assert extraction_problem(Extraction.model_validate(whole)) is None
    for fact in whole["facts"]:
        fact["of"] = "plight"
    assert "of character, demand" in str(extraction_problem(Extraction.model_validate(whole)))
    for fact, part in zip(
        whole["facts"], ("character", "plight", "plight", "plight", "demand", "demand"), strict=True
    ):
        fact |= {"of": part, "stage": "describes" if fact["stage"] == "feels" else fact["stage"]}
    assert "feels" in str(extraction_problem(Extraction.model_validate(whole)))


def test_an_invention_that_is_not_owned_to_is_marked() -> None:
    told = Extraction.model_validate_json(
        file_of(
            "I am a ferryman of fifty.",
            "I cannot sleep since May.",
            "I owe money to a dentist in the city.",
            "As a boy I was alone on the island.",
            "I want rest.",
            "What could I try?",
        )
    )
    assert [fact.invented for fact in facts_of(told, SITUATION)] == [
        False,
        False,
        True,
        False,
        False,
        False,
    ]


def test_what_is_half_grounded_is_given_and_a_third_is_invented() -> None:
    assert grounded("The ferryman owes a dentist sleep", "ferryman sleep"), (
        "two of four content words"
    )
    assert not grounded("The ferryman owes a dentist money", "ferryman sleep"), "one of four"


def test_long_situations_keep_their_demand() -> None:
    found = cut(
        " ".join(f"It happened again on day {n}." for n in range(12))
        + " What can I do about the debts?",
        "work",
    )
    assert [fact.text for fact in found.facts if fact.stage == "asks_for_advice"] == [
        "What can I do about the debts?"
    ]
    assert not [
        fact for fact in cut("我最近总是睡不着。", None, english=False).facts if fact.invented
    ], "no English in a Chinese file"


def test_grounding_counts_content_words_by_their_beginning() -> None:
    assert content("The ferries and the island") == {"ferri", "islan"}
    assert grounded("My islands", "an island far out")
    assert not grounded("Dentists cost money.", SITUATION)
    assert content("睡不着觉") == {"睡不", "不着", "着觉"}


# the seeker


def facts(*stages: str) -> tuple[Fact, ...]:
    return tuple(
        Fact(id=f"F{n}", of="plight", stage=stage, text=f"fact {n}", invented=False)
        for n, stage in enumerate(stages, 1)
    )


def test_a_seeker_opens_up_by_stages_and_never_all_at_once() -> None:
    opening = SeekerFile(
        facts("introduces", "describes", "describes", "describes", "feels", "asks_for_advice")
    )
    assert [fact.id for fact in opening.offered()] == ["F1", "F2"], (
        "this stage, and one of the next"
    )
    opening.tell(("F1",))
    assert opening.stage == "describes"
    assert [fact.id for fact in opening.offered()] == ["F2", "F3"], "at most so many at once"
    opening.tell(("F2", "F3"))
    assert [fact.id for fact in opening.offered()] == ["F4", "F5"]
    opening.tell(("F4", "F5"))
    assert [fact.id for fact in opening.offered()] == ["F6"]
    assert not opening.complete
    opening.tell(("F6",))
    assert opening.complete
    assert opening.offered() == ()


def test_a_long_story_does_not_take_up_the_whole_session() -> None:
    opening = SeekerFile(
        facts("describes", "describes", "describes", "describes", "feels", "asks_for_help")
    )
    assert [fact.id for fact in opening.offered()] == ["F1", "F2"]
    opening.due = DISCLOSURES.index("feels")
    assert opening.stage == "feels"
    assert [fact.id for fact in opening.offered()] == ["F5", "F6", "F1"], (
        "what is due, what comes next, and what was left behind"
    )


@given(st.lists(st.sampled_from(DISCLOSURES), min_size=1, max_size=14), st.randoms())
def test_whatever_it_tells_a_seeker_comes_to_the_end_and_never_says_a_fact_twice(
    stages: list[str], draw: object
) -> None:
    opening = SeekerFile(facts(*stages))
    for _ in range(3 * len(stages)):
        offered = opening.offered()
        assert len(offered) <= 3
        assert not {fact.id for fact in offered} & {fact.id for fact in opening.disclosed}
        furthest = {DISCLOSURES.index(fact.stage) for fact in offered}
        assert len(furthest) <= 2
        opening.tell((draw.choice(offered).id,) if offered else ())
    assert opening.complete


def test_a_seeker_can_tell_only_what_was_offered() -> None:
    check = seeker_problem(("F1", "F2", "F3"), (), True)
    assert check(SeekerLine(line="I work on a boat.", facts=["F1"])) is None
    assert "F9 cannot be told now" in str(check(SeekerLine(line="I work on a boat.", facts=["F9"])))
    assert "at most 2" in str(check(SeekerLine(line="I work on a boat.", facts=["F1", "F2", "F3"])))


def test_lines_are_speech() -> None:
    assert line_problem("I work on a boat, and I am tired of it.", (), True) is None
    assert line_problem("...", (), True) is None, "a silence is a line"
    assert "name in front" in str(
        line_problem("Counselor: what is it like for you to be on the boat?", (), True)
    )
    assert "said before" in str(
        line_problem("I am tired of it all!", ("I am tired of it all.",), True)
    )
    assert str(LONGEST) in str(line_problem("and so on " * 40, (), True))
    assert "English" in str(line_problem("我觉得很累, 睡不着", (), True))
    assert line_problem("我觉得很累, 睡不着", (), False) is None


def test_lengths_are_words_or_characters() -> None:
    assert length_of("I don't know, really.") == 4
    assert length_of("我很累") == 3
    assert length_of("我很累 and tired") == 5


def test_one_line() -> None:
    assert one_line(" “You were\n alone.” ") == "You were alone."
    assert one_line('He said "no" and "yes"') == 'He said "no" and "yes"'


# the evaluator and the corrector


def test_whoever_wants_a_revision_says_which() -> None:
    fields = {**dict.fromkeys(QUALITIES, 7), "go_on": True}
    assert evaluation_problem(Evaluation(**fields, revise=False)) is None
    assert evaluation_problem(Evaluation(**fields, revise=True, advice="Ask one thing.")) is None
    assert "what to change" in str(evaluation_problem(Evaluation(**fields, revise=True)))


def test_a_revision_is_not_the_draft_again() -> None:
    check = corrected_problem("What was it like?", (), True)
    assert "still the same" in str(check("what was it like"))
    assert check("What was that like for you, out there?") is None


@each("purpose", ["support", "evaluate", "correct", "distil"])
def test_what_the_seeker_has_not_said_is_shown_to_nobody_else(purpose: str, tmp_path: Path) -> None:
    """A planted secret: it is in the situation and in the file, comes last, and is told in line 11."""
    texts = (
        "I am a ferryman.",
        "I cannot sleep.",
        "I feel hollow.",
        "I was left alone.",
        "I want rest.",
        SECRET,
    )
    about = settings(1)
    about = about.model_copy(
        update={
            "situations": (
                about.situations[0].model_copy(update={"text": f"{SITUATION} {SECRET}"}),
            ),
            "turns": 9,
        }
    )
    script = roles(extract=lambda request, draw: file_of(*texts), evaluate=judges(revise=True))
    run, listening = written(tmp_path, about, Listening(script))
    told = next(event for event in happened(run, Disclosed) if "F6" in event.facts)
    assert SECRET in told.text, "it was told in the end"
    asked = [request for request in listening.requests if request.purpose == purpose]
    before = [
        request for request in asked if lines_of(request) < told.message and purpose != "distil"
    ]
    after = [
        request for request in asked if lines_of(request) >= told.message and purpose != "distil"
    ]
    assert all("hid the letters" not in request.system + request.prompt for request in before)
    assert purpose == "distil" or (
        before and after and all(SECRET in request.prompt for request in after)
    ), "it is shown once it was said"
    assert purpose != "distil" or all("hid the letters" not in request.prompt for request in asked)


def test_the_seeker_itself_is_not_shown_what_cannot_be_told_yet(tmp_path: Path) -> None:
    texts = (
        "I am a ferryman.",
        "I cannot sleep.",
        "I feel hollow.",
        "I was left alone.",
        "I want rest.",
        SECRET,
    )
    _, listening = written(
        tmp_path, settings(1), Listening(roles(extract=lambda request, draw: file_of(*texts)))
    )
    seeking = [request.prompt for request in listening.requests if request.purpose == "seek"]
    assert SECRET not in "".join(seeking[:4])
    assert "I cannot sleep." in "".join(seeking[:4])


def test_the_corrector_is_asked_only_when_the_evaluator_says_so(tmp_path: Path) -> None:
    run, listening = written(tmp_path, settings(1), Listening(roles(evaluate=judges(revise=False))))
    assert not [
        request for request in listening.requests if request.purpose in ("correct", "distil")
    ]
    assert not happened(run, Revised)


def test_both_versions_and_the_reason_are_kept(tmp_path: Path) -> None:
    run, _ = written(
        tmp_path, settings(1), Listening(roles(evaluate=judges(revise=True, sympathy=3)))
    )
    drafted, revised = happened(run, Drafted), happened(run, Revised)
    assert len(drafted) == len(revised) == 6
    assert [event.before for event in revised] == [event.text for event in drafted]
    turn = next(turn for turn in dialogues_of(run)[0].turns if turn.speaker == "counselor")
    assert turn.text == revised[0].text
    assert turn.draft is not None
    assert (turn.draft.text, turn.draft.reason) == (
        drafted[0].text,
        "Stay with the feeling a little longer.",
    )
    assert turn.draft.ratings == {**dict.fromkeys(QUALITIES, 7.0), "sympathy": 3.0}
    assert (turn.reasoning, turn.skill) == (None, None), "these belong to the draft"


def test_danger_that_nobody_saw_is_sent_back(tmp_path: Path) -> None:
    """The supporter passes over it, the evaluator finds nothing: a rule asks for it all the same."""

    def extract(request: Question, draw: Random) -> str:
        return file_of(
            "I am a ferryman.",
            "I want to kill myself.",
            "I feel hollow.",
            "I was left alone.",
            "I want rest.",
            "What now?",
        )

    def asks_directly(request: Question, draw: Random) -> str:
        return "Are you thinking of killing yourself? And are you safe tonight?"

    run, listening = written(
        tmp_path,
        settings(1),
        Listening(
            roles(
                extract=extract, evaluate=judges(revise=False, go_on=False), correct=asks_directly
            )
        ),
    )
    at = (
        next(event.message for event in happened(run, Disclosed) if "kill myself" in event.text) + 1
    )
    evaluated = {event.message: event for event in happened(run, Evaluated)}
    assert evaluated[at].revise
    assert evaluated[at].go_on, "with that open nobody goes home"
    assert "spoken of suicide" in evaluated[at].advice
    assert [event.message for event in happened(run, Revised)] == [at]
    (correcting,) = (request for request in listening.requests if request.purpose == "correct")
    assert "ask about it directly" in correcting.prompt
    taken_up = Listening(
        roles(
            extract=extract,
            support=lambda request, draw: json.dumps(
                {
                    "reasoning": "r",
                    "stage": "listening",
                    "skill": "risk inquiry",
                    "strategies": [],
                    "line": f"Are you thinking of suicide, right now? {draw.randrange(10**6)}.",
                }
            ),
        )
    )
    assert not happened(written(tmp_path / "b", settings(1), taken_up)[0], Revised)


@each("without", [(), ("corrector",), ("evaluator",)])
@each(
    ("said", "kind"),
    [
        ("I want to kill myself.", "suicide"),
        ("I cut myself again last night.", "self_harm"),
        ("I want to kill my father.", "harm_to_others"),
    ],
)
def test_danger_is_never_passed_over_whoever_takes_part(
    said: str, kind: str, without: tuple[str, ...], tmp_path: Path
) -> None:
    """The corrector talks of the garden all the same; or there is none."""
    script = roles(
        extract=lambda request, draw: file_of(
            "I am a ferryman.",
            said,
            "I feel hollow.",
            "I was left alone.",
            "I want rest.",
            "What now?",
        ),
        correct=lambda request, draw: f"Tell me about your garden, number {draw.randrange(10**6)}.",
    )
    run, _ = written(tmp_path, settings(1, without=without), Listening(script))
    turns = dialogues_of(run)[0].turns
    at = next(number for number, turn in enumerate(turns) if said in turn.text) + 1
    assert turns[at].text == SAFE_LINES[kind]
    assert turns[at].source == "fallback"
    assert IN_WORDS[kind] in turns[at].draft.reason
    assert not list(unaddressed_risk.find(dialogues_of(run)[:1], Limits()))
    for line in SAFE_LINES.values():
        assert "emergency number" in line


def test_a_seeker_does_not_hold_back_twice_in_a_row(tmp_path: Path) -> None:
    run, listening = written(tmp_path, settings(20, turns=12))
    for name in {event.session for event in happened(run, Disclosed)}:
        offered = [
            request.facts.offered
            for request in listening.requests
            if isinstance(request.facts, SeekFacts) and request.who == name
        ]
        untold = [bool(one) for one in offered[:5]]
        assert not any(not first and not second for first, second in pairwise(untold))
    assert any(
        not one.facts.offered
        for one in listening.requests
        if isinstance(one.facts, SeekFacts) and not one.facts.last
    ), "some hold back"


def test_the_talk_goes_on_with_the_revision(tmp_path: Path) -> None:
    run, listening = written(tmp_path, settings(1), Listening(roles(evaluate=judges(revise=True))))
    first = happened(run, Revised)[0]
    seeking = [request for request in listening.requests if request.purpose == "seek"]
    assert first.text in seeking[1].prompt
    assert first.before not in seeking[1].prompt


def test_a_session_ends_after_one_more_exchange_when_the_evaluator_says_so(tmp_path: Path) -> None:
    run, listening = written(
        tmp_path, settings(1, turns=9), Listening(roles(evaluate=judges(go_on=False)))
    )
    ended = happened(run, SessionEnded)[0]
    assert (ended.cause, ended.messages) == ("resolved", 8), (
        "three turns at least, and then a last one"
    )
    assert (
        "the last: close"
        in [request for request in listening.requests if request.purpose == "support"][-1].prompt
    )


def test_the_turn_limit_ends_a_session_on_the_counselor(tmp_path: Path) -> None:
    run, _ = written(tmp_path, settings(1))
    assert [(event.cause, event.messages) for event in happened(run, SessionEnded)] == [
        ("limit", 12)
    ]
    assert [turn.speaker for turn in dialogues_of(run)[0].turns] == ["client", "counselor"] * 6


# what bad answers come to


def test_an_evaluator_without_an_answer_judges_nothing(tmp_path: Path) -> None:
    run, _ = written(
        tmp_path, settings(1), Listening(roles(evaluate=lambda request, draw: "Looks fine to me."))
    )
    for event in happened(run, Evaluated):
        assert [rating.value for rating in event.ratings] == [None] * 9, (
            "missing is missing, not a middling number"
        )
        assert (event.revise, event.go_on, event.source) == (False, True, "fallback")
    assert len([event for event in happened(run, Warned) if event.purpose == "evaluate"]) == 6


@each("purpose", ["extract", "seek", "support", "correct", "distil"])
def test_nonsense_leads_to_the_fallback_and_a_warning(purpose: str, tmp_path: Path) -> None:
    script = roles(evaluate=judges(revise=True)) | {
        purpose: lambda request, draw: "Counselor: As an AI language model I cannot {"
    }
    run, _ = written(tmp_path, settings(2, fallbacks=NEVER), Listening(script))
    assert {event.purpose for event in happened(run, Warned)} == {purpose}
    for dialogue in dialogues_of(run):
        assert [turn.speaker for turn in dialogue.turns] == ["client", "counselor"] * 6
        assert all("AI" not in turn.text and turn.text.strip() for turn in dialogue.turns)
    lines = [event.source for event in happened(run, Disclosed, Drafted)]
    assert lines.count("fallback") == (12 if purpose in ("seek", "support") else 0)
    assert bool(happened(run, Revised)) == (purpose != "correct")
    assert bool(happened(run, StrategyLearned)) == (purpose != "distil")
    assert all(
        event.source == ("fallback" if purpose == "extract" else "generated")
        for event in happened(run, Extracted)
    )


# the manager


def test_strategies_are_short() -> None:
    assert distilled_problem()(Distilled(strategies=["word " * 40])) is None
    assert "41 words; at most 40" in str(distilled_problem()(Distilled(strategies=["word " * 41])))


def test_strategies_carry_nothing_of_a_person_into_other_sessions() -> None:
    check = distilled_problem(["I warm his soup at five o'clock every day."])
    assert (
        check(Distilled(strategies=["Ask what I would want to know; then ask about the day."]))
        is None
    )
    assert "names somebody" in str(
        check(Distilled(strategies=["When they speak of Fatima, stay with it."]))
    )
    assert "repeats what was said" in str(
        check(Distilled(strategies=["Stay with it: I warm his soup at five o'clock."]))
    )


def test_the_manager_sees_all_suggestions_with_the_quality_that_suffered_most(
    tmp_path: Path,
) -> None:
    _, listening = written(
        tmp_path, settings(1), Listening(roles(evaluate=judges(revise=True, respect=2)))
    )
    prompt = next(request.prompt for request in listening.requests if request.purpose == "distil")
    assert prompt.count("- (respect) Stay with the feeling a little longer.") == 6


def test_sentences() -> None:
    assert sentences_of("One two. Three four?  “Five!” six") == (
        "One two.",
        "Three four?",
        "“Five!”",
        "six",
    )
    assert sentences_of("I saw Dr. Miller. Write to a.b@c.de now, at Lindenstr. 5.") == (
        "I saw Dr. Miller.",
        "Write to a.b@c.de now, at Lindenstr. 5.",
    )
    assert sentences_of("我很累。我睡不着！") == ("我很累。", "我睡不着！")


def test_scripts_of_the_bench_are_well_behaved(tmp_path: Path) -> None:
    run, _ = written(
        tmp_path,
        settings(2),
        Listening(
            roles(
                support=asks, seek=tells, distil=teaches("Go slowly."), evaluate=judges(revise=True)
            )
        ),
    )
    assert not happened(run, Warned)


def test_what_comes_from_a_reply_names_its_call(tmp_path: Path) -> None:
    script = roles(evaluate=judges(revise=True), distil=teaches("Ask one thing at a time."))
    run, _ = written(tmp_path, settings(2), Listening(script))
    purposes = {call["key"]: call["purpose"] for call in run.calls()}
    kinds = (Extracted, Disclosed, Drafted, Evaluated, Revised, StrategyLearned)
    named = {
        kind.__name__: {tuple(purposes[call] for call in event.calls) for event in found}
        for kind in kinds
        if (found := happened(run, kind))
    }
    assert named == {
        "Extracted": {("extract",)},
        "Disclosed": {("seek",)},
        "Drafted": {("support",)},
        "Evaluated": {("evaluate",)},
        "Revised": {("correct",)},
        "StrategyLearned": {("distil", "strategies")},
    }


def test_an_event_says_that_a_fallback_was_taken(tmp_path: Path) -> None:
    script = roles(evaluate=lambda question, draw: "no judgment")
    run, _ = written(tmp_path, settings(1), Listening(script))
    assert all(event.fallback for event in happened(run, Evaluated))
    assert not any(event.fallback for event in happened(run, Disclosed))
