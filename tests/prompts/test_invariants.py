"""What holds of every prompt, of every policy, role and condition, in both languages: of recorded runs."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from math import ceil
from typing import Any

import pytest
import yaml

from simcounsel.agents.facts import LineFacts, SummaryFacts
from simcounsel.clock import minute_of_tick
from simcounsel.llm.question import Question
from simcounsel.prompts import phrases, prompt_text, replaced
from simcounsel.prompts.sets import FOR_SMALL_MODELS
from tests.prompts.recorded import CONDITIONS, POLICIES, Recorded, marks_in, recorded, sent
from tests.stage import ROOT

COMPACT = [
    (policy, "everyone", language, "moves", FOR_SMALL_MODELS)
    for policy in ("socratic", "course")
    for language in ("en", "zh")
]
RUNS = [
    *((policy, "everyone", language, "moves") for policy in POLICIES for language in ("en", "zh")),
    *(("socratic", condition, "en", "moves") for condition in CONDITIONS),
    *(("socratic", "client_counselor", "en", state) for state in ("still", "off")),
    *(("danger", "everyone", language, "moves") for language in ("en", "zh")),
    *COMPACT,
]
EMPTY = re.compile(
    r"nothing in particular|nothing yet|\bnone yet|\bNone\b|[{}$]|\(\)|（）"
    r"|[:：][ \t]*\n[ \t]*\n|[:：][ \t]*-?\n-?\n|^-$|[:：]\s*[:：.。,，;；]|[^\n] {2,}\S",
    re.MULTILINE,
)
"""Placeholders, slots, and labels of nothing."""
OUTCOME = re.compile(r"thoughts|forms|voice\.(doubting|hopeful|ending)")
"""Fields of a persona that somebody wrote as the outcome of help."""
MOST_TOKENS = {
    "appraise": 1750,
    "course_after": 2450,
    "course_objective": 4300,
    "course_skills": 2350,
    "insights": 2050,
    "intent": 400,
    "interview": 2150,
    "judge_audit": 1300,
    "judge_block": 1100,
    "judge_probe": 75,
    "line_client": 2900,
    "line_counselor": 3500,
    "line_layperson": 1600,
    "move": 1050,
    "note": 300,
    "persona": 1900,
    "plan_day": 1900,
    "plan_slots": 2050,
    "questions": 1000,
    "risk": 620,
    "safety_answer": 460,
    "self_report": 2050,
    "skipped_days": 1900,
    "sufficient": 600,
    "summarize": 2200,
    "valence": 300,
}
"""By purpose: a quarter over the longest of these runs, at 4 characters a token in English."""
COMPACT_TOKENS = {
    "appraise": 700,
    "course_after": 1500,
    "course_objective": 2500,
    "course_skills": 1500,
    "insights": 1050,
    "line_client": 1500,
    "line_counselor": 1050,
    "line_counselor of a course": 1500,
    "line_layperson": 850,
    "persona": 800,
    "plan_day": 850,
    "plan_slots": 1000,
    "questions": 750,
    "skipped_days": 800,
    "summarize": 1200,
}
"""The same of the set for small models, in both languages: a tenth over the longest."""
CHARACTERS = {"en": 4, "zh": 1.5}
"""Of a token of Qwen2.5, by language; these runs are full of numbers, which cost more."""
SHARED = 0.6
"""How much of a line's input is in front of its speaker's last prompt in the same talk, on the
average.
"""


@pytest.fixture(scope="module", params=RUNS, ids="-".join)
def run(request: pytest.FixtureRequest) -> Iterator[Recorded]:
    """A run, its own set of prompts in use."""
    done = recorded(*request.param)
    words = done.run.world.prompts
    with replaced(words.texts if words else None):
        yield done


def asked(run: Recorded) -> Iterator[tuple[Question[Any], str]]:
    """Every question that a model reads, with its text."""
    return ((one, sent(one)) for one in run.questions if one.verb != "embed")


def test_every_kind_of_question_is_there() -> None:
    runs = (*POLICIES, "danger")
    purposes = {one.purpose for policy in runs for one in recorded(policy).questions}
    assert set(MOST_TOKENS) <= purposes
    assert {"self_report", "judge_probe", "judge_block", "judge_audit", "interview"} <= purposes


def test_the_safety_protocol_runs_in_a_run_of_danger() -> None:
    steps = {
        move
        for one, text in asked(recorded("danger"))
        for move in re.findall(r"does now \((\w+)\)", text)
        if prompt_text("manner_safety") in text
    }
    assert "plan" in steps and len(steps) >= 3


def test_nothing_is_empty(run: Recorded) -> None:
    found = {
        (one.purpose, text[max(0, hit.start() - 60) : hit.end() + 20])
        for one, text in asked(run)
        for hit in EMPTY.finditer(text)
    }
    assert not found


def test_what_belongs_to_one_reaches_nobody_else(run: Recorded) -> None:
    leaked = {
        (one.who, one.purpose, *run.secrets[mark])
        for one, text in asked(run)
        for mark in marks_in(text)
        if run.secrets[mark][0] != one.who
    }
    own = {mark for one, text in asked(run) for mark in marks_in(text)}
    assert not leaked
    assert len(own) > 20


def test_nobody_is_told_the_outcome_of_help(run: Recorded) -> None:
    texts = [(one.purpose, text) for one, text in asked(run)]
    fields = {(purpose, run.secrets[m][1]) for purpose, text in texts for m in marks_in(text)}
    assert not {(purpose, field) for purpose, field in fields if OUTCOME.match(field)}
    aloud = "\n".join(run.said)
    written = {line for line in written_lines() if line not in aloud}
    assert len(written) > 500
    assert not {(purpose, line) for purpose, text in texts for line in written if line in text}


def written_lines() -> set[str]:
    """What stand-ins choose from: the lines of moves, manuals and safety steps, up to their first slot."""
    files = [
        file
        for folder in ("policies/moves", "therapies/manuals", "danger/protection/words")
        for file in (ROOT / "simcounsel" / folder).rglob("*.yaml")
    ]
    found = {line for file in files for line in _lines(yaml.safe_load(file.read_text("utf-8")))}
    parts = {max(re.split(r"\{\w+\}", line), key=len).strip() for line in found}
    return {part for part in parts if len(part) >= (20 if part.isascii() else 12)}


def _lines(data: Any, within: bool = False) -> Iterator[str]:
    if isinstance(data, dict):
        for key, inner in data.items():
            yield from _lines(inner, within or key in ("lines", "special"))
    elif isinstance(data, list):
        for inner in data:
            yield from _lines(inner, within)
    elif within and isinstance(data, str):
        yield data


def test_blocks_come_in_their_order(run: Recorded) -> None:
    language = run.run.world.language
    words = phrases("moment", language)
    for one, text in asked(run):
        if one.purpose.startswith("line_"):
            keys = ("voice", "talk", "mind")
            labels = [words[key].replace("$name", one.who) for key in keys]
            at = [text.index(label) for label in labels if label in text]
            assert at == sorted(at), one.purpose
            intro = phrases("person", language)["intro"].replace("$name", one.who)
            assert text.startswith(intro)


def test_one_feeling_and_one_moment(run: Recorded) -> None:
    world = run.run.world
    zh = world.language == "zh"
    moods = "|".join(
        re.escape(phrases("moment", world.language)[key].replace("$feeling", ""))
        for key in ("slightly", "rather", "very", "neutral")
    )
    for one, text in asked(run):
        felt = re.findall(
            rf"{one.who} (?:现在|此刻)?(?:feels|觉得|感到|的感受：|心里)[ ]?(?:{moods})", text
        )
        assert len(felt) <= 1, (one.purpose, felt)
        now = re.findall(
            r"现在是 ?(\d+月\d+日\S+ [\d:]+)" if zh else r"It is (\w+day [^.\n]*\d\d:\d\d)", text
        )
        assert len(now) <= 1, (one.purpose, now)
        if isinstance(one.facts, LineFacts):
            assert bool(felt) == (one.facts.role != "counselor" and one.facts.emotion != "neutral")
            minute = int(one.facts.chat.split(":")[0])
            date = world.start + timedelta(
                minutes=minute_of_tick(minute, world.start, world.tick_minutes)
                - minute_of_tick(0, world.start, world.tick_minutes)
            )
            day = f"{date.month}月{date.day}日" if zh else f"{date:%A} {date.day} {date:%B}"
            assert now and now[0].startswith(day) and now[0].endswith(f"{date:%H:%M}"), now


def test_meetings_are_counted(run: Recorded) -> None:
    words = phrases("moment", run.run.world.language)
    met: Counter[frozenset[str]] = Counter()
    talk: dict[frozenset[str], str] = {}
    first = [words["first_session"], words["strangers"].split("$other")[-1].strip()]
    again = [words[key].split("$")[0] for key in ("session",)]
    for one, text in asked(run):
        if not isinstance(one.facts, LineFacts):
            continue
        two = frozenset((one.who, one.facts.other))
        if talk.get(two) != one.facts.chat:
            talk[two] = one.facts.chat
            met[two] += 1
        told = [label for label in (first if met[two] > 1 else again) if label in text]
        assert not told, (one.purpose, met[two], told)
        if one.facts.role != "layperson" and "Omar" not in two and met[two] > 1:
            number = words["session"].split("$number")[0].split("$last")[0]
            assert f"{number}{met[two]}" in text, (one.purpose, met[two])


def test_a_summary_counts_meetings_as_the_lines_did(run: Recorded) -> None:
    """And speaks of the talk as of one that is over."""
    words = phrases("moment", run.run.world.language)
    now = [words[key].split("$")[0] for key in ("first_session", "session", "again", "talk")]
    now.append(words["strangers"].split("$other")[-1].strip())
    met: Counter[tuple[str, str]] = Counter()
    for one, text in asked(run):
        if not isinstance(one.facts, SummaryFacts):
            continue
        two = one.facts.name, one.facts.other
        met[two] += 1
        count = met[two]
        said = text.split("\n---\n")[-1]
        assert not [label for label in now if label in said], (count, said[:400])
        if "Omar" not in two:
            number = words["session_then"].split("$number")[0]
            wanted = words["first_session_then"] if count == 1 else f"{number}{count}"
            assert wanted in said, (count, said[:400])


def test_nobody_is_named_to_who_does_not_know_them(run: Recorded) -> None:
    """Miriam and Omar have no appointment; they see each other at the center before they ever talk."""
    places = [place.name for _, place in run.run.world.every_place() if "'" in place.name]
    talked: set[str] = set()
    for one, text in asked(run):
        other = {"Miriam": "Omar", "Omar": "Miriam"}.get(one.who)
        if isinstance(one.facts, LineFacts) and one.facts.other == other:
            talked |= {"Miriam", "Omar"}
        if other is None or one.who in talked or one.purpose.startswith(("judge", "safety")):
            continue
        for place in places:
            text = text.replace(place, "")
        assert other not in text, (one.purpose, text[max(0, text.index(other) - 80) :][:160])


def test_strangers_are_told_by_what_is_seen() -> None:
    words = phrases("lived")["stranger_man"].replace("$me", "Miriam")
    texts = [sent(one) for one in recorded("socratic").questions if one.who == "Miriam"]
    assert any(words in text for text in texts)


def test_counselors_close_in_the_runs() -> None:
    """So that what holds of their last lines is not said of nothing."""
    for policy in POLICIES:
        facts = (one.facts for one in recorded(policy).questions)
        lines = [one for one in facts if isinstance(one, LineFacts) and one.role == "counselor"]
        assert [one for one in lines if one.leaves or one.turns_left <= 2], policy


def test_a_counselor_s_last_line_knows_the_date_or_that_there_is_none(run: Recorded) -> None:
    words = phrases("moment", run.run.world.language)
    date, none = (words[key].split("$other")[-1].split("$")[0] for key in ("next", "no_next_end"))
    last = [
        text
        for one, text in asked(run)
        if isinstance(one.facts, LineFacts)
        and one.facts.role == "counselor"
        and (one.facts.leaves or one.facts.turns_left <= 2)
        and prompt_text("manner_safety", run.run.world.language) not in text
    ]
    assert not [text[-1500:] for text in last if (date in text) == (none in text)]
    until = "下次见面前" if run.run.world.language == "zh" else "until you meet again"
    assert not [one.purpose for one, text in asked(run) if until in text]


def test_no_prompt_is_longer_than_its_budget(run: Recorded) -> None:
    language, compact = run.run.world.language, run.run.world.prompts is not None
    if language == "en" or compact:
        longest: Counter[str] = Counter()
        for one, text in asked(run):
            of_course = isinstance(one.facts, LineFacts) and one.facts.thought is not None
            kind = f"{one.purpose} of a course" if compact and of_course else one.purpose
            longest[kind] = max(longest[kind], ceil(len(text) / CHARACTERS[language]))
        budget = MOST_TOKENS | (COMPACT_TOKENS if compact else {})
        assert not {kind: most for kind, most in longest.items() if most > budget.get(kind, 0)}


def test_a_line_shares_its_beginning_with_the_one_before(run: Recorded) -> None:
    shares: dict[tuple[str, str], list[float]] = {}
    before: dict[tuple[str, str], str] = {}
    for one, text in asked(run):
        if isinstance(one.facts, LineFacts):
            talk = one.who, one.facts.chat
            if talk in before:
                shared = shared_start(before[talk], text) / len(text)
                shares.setdefault(talk, []).append(shared)
            before[talk] = text
    low = {talk: round(sum(each) / len(each), 2) for talk, each in shares.items()}
    assert not {talk: share for talk, share in low.items() if share < SHARED}


def shared_start(one: str, other: str) -> int:
    """How many characters are at the beginning of both."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )


def test_the_invariants_find_what_they_look_for() -> None:
    for text in ("Notes:\nnone yet", "Left open:\n-\n\nWrite", "Known: .", "a $slot", "{name}"):
        assert EMPTY.search(text), text
    assert not EMPTY.search("Left open: tea.\n\nWrite Ines's next line: plain.")
    assert OUTCOME.match("voice.hopeful.say") and not OUTCOME.match("voice.early.say")
