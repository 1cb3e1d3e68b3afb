"""A judge rates a corpus: what is asked, kept, and not asked twice."""

import json
import re
from pathlib import Path
from random import Random

import pytest

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.rated import (
    Rated,
    calls_in,
    damaged_ratings,
    folder_of,
    read_rated,
    text_hash,
    with_ratings,
)
from simcounsel.corpus.rating import CorpusRating, Plan, plan_rating, result_lines
from simcounsel.errors import BudgetSpent, CorpusError, ModelUnreachable
from simcounsel.instruments.scale import find_scale
from simcounsel.llm.asking import Asking, asked
from simcounsel.llm.budget import Budget
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted
from tests.commands import Command
from tests.corpus.judges import BAD, preferring, switchboard
from tests.corpus.made import dialogue
from tests.instruments.stage import items_of

DIMENSIONS = ["professionalism", "helpfulness", "guidance", "emotion", "trust"]


def corpus() -> list[Dialogue]:
    good = [
        dialogue(
            f"good-{n}",
            f"I feel low {n}.",
            "What is it like?",
            "Heavy.",
            "Where do you feel it?",
            theme="low",
        )
        for n in range(4)
    ]
    bad = [
        dialogue(f"bad-{n}", f"I feel low {n}.", f"{BAD}.", "Hm.", "Is that all?", theme="sleep")
        for n in range(4)
    ]
    return [*good, *bad]


def plan(tmp_path: Path, **how: object) -> Plan:
    return plan_rating(tmp_path / "c.jsonl", corpus(), "scripted:test", **how)  # type: ignore[arg-type]


def rate(
    one: Plan, chat: Scripted | None = None, budget: Budget | None = None, **how: object
) -> CorpusRating:
    models = switchboard(chat or preferring())
    models.limit(budget or Budget(), calls_in(one.folder))
    rating = CorpusRating(one)
    try:
        rating.measure(models, **how)  # type: ignore[arg-type]
    finally:
        models.close()
    return rating


def test_a_judge_that_prefers_is_heard(tmp_path: Path) -> None:
    first = plan(tmp_path)
    rate(first)
    found = {one.dialogue: one for one in read_rated(folder_of(tmp_path / "c.jsonl"))}
    assert set(found) == {one.id for one in corpus()}
    for name in DIMENSIONS:
        good, bad = (
            [
                value
                for id, one in found.items()
                if id.startswith(kind) and (value := one.scores[name]) is not None
            ]
            for kind in ("good", "bad")
        )
        assert min(good) > max(bad)
        assert min(good) >= 7 and max(bad) <= 4
    one = found["good-0"]
    p1, p2 = one.items["p1"], one.items["p2"]
    assert p1 is not None and p2 is not None
    assert one.scores["professionalism"] == (p1 + p2) / 2
    assert one.trial and one.round == 0 and one.text == text_hash(corpus()[0])


def test_what_the_judge_reads_is_blind_and_at_temperature_0(tmp_path: Path) -> None:
    asked: list[Question] = []

    def block(request: Question, draw: Random) -> str:
        asked.append(request)
        return json.dumps({question.id: 5 for question in items_of(request)})

    one = dialogue(
        "secret-id",
        "Marit here.",
        "Hello.",
        client="Marit",
        condition="no_evaluator",
        theme="grief",
    )
    rate(plan_rating(tmp_path / "c.jsonl", [one], "scripted"), Scripted({"judge_block": block}))
    assert len(asked) == 1
    assert asked[0].temperature == 0.0
    assert all(
        word not in asked[0].system + asked[0].prompt
        for word in ("Marit", "secret-id", "no_evaluator", "grief")
    )
    assert all(item.text in asked[0].prompt for item in find_scale("dialogue_quality").items)


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    class Interrupted(Exception):
        pass

    calls = 0

    def stops(request: Question, draw: Random) -> str:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise Interrupted
        return json.dumps({question.id: 5 for question in items_of(request)})

    models = switchboard(Scripted({"judge_block": stops}), in_flight=1)
    with pytest.raises(Interrupted):
        CorpusRating(plan(tmp_path)).measure(models)
    models.close()
    kept = len(read_rated(folder_of(tmp_path / "c.jsonl")))
    assert 0 < kept < 8
    rest = plan(tmp_path)
    assert len(rest.todo) == 8 - kept and rest.round == 0
    rate(rest)
    assert plan(tmp_path).todo == ()
    assert len(read_rated(rest.folder)) == 8


class Counting(Scripted):
    """Fails when it was asked so often."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.left = last

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        """Drawn, as always."""
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("the plug is pulled")
        return await super().complete(request, complaint)


def test_answers_of_a_dialogue_that_was_stopped_half_way_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from simcounsel.cli import app

    monkeypatch.chdir(tmp_path)
    Path("c.jsonl").write_text(
        "\n".join(one.model_dump_json() for one in corpus()[:2]) + "\n", encoding="utf-8"
    )
    words = ["corpus", "rate", "c.jsonl", "--model", "embedded", "--quiet"]
    monkeypatch.setattr("simcounsel.corpus.rate_command.fetch_weights", lambda *given: None)
    monkeypatch.setattr("simcounsel.llm.catalog.open_chat", lambda name: judge)
    judge = Counting(last=1000)
    assert CliRunner().invoke(app, [*words, "--out", "whole"]).exit_code == 0
    each, rest = divmod(1000 - judge.left - 1, 2)
    assert each and rest == 0, "once whether it tells probabilities, and the same of each dialogue"
    judge = Counting(last=1 + each)
    stopped = CliRunner().invoke(app, [*words, "--in-flight", "1"])
    assert str(stopped.exception) == "the plug is pulled"
    assert len(read_rated(Path("c.jsonl.ratings"))) == 1, "one dialogue was whole"
    judge = Counting(last=each)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0 and judge.left == 0, "the first dialogue is not asked about again"
    again, whole = read_rated(Path("c.jsonl.ratings")), read_rated(Path("whole"))
    assert [one.scores for one in again] == [one.scores for one in whole]


def test_a_larger_sample_asks_only_for_what_is_new(tmp_path: Path) -> None:
    rate(plan(tmp_path, size=3))
    larger = plan(tmp_path, size=6)
    assert len(larger.todo) == 3
    assert len(larger.drawn.dialogues) == 6


def test_again_is_a_retest(tmp_path: Path) -> None:
    rate(plan(tmp_path))
    assert plan(tmp_path).todo == ()
    assert plan(tmp_path, size=8, again=True).round == 1
    rate(plan(tmp_path, again=True))
    found = read_rated(folder_of(tmp_path / "c.jsonl"))
    assert sorted(one.round for one in found) == [0] * 8 + [1] * 8
    asked = [
        {
            call["parameters"]["temperature"]
            for call in map(json.loads, file.read_text(encoding="utf-8").splitlines())
            if call.get("purpose") == "judge_block"
        }
        for file in sorted(folder_of(tmp_path / "c.jsonl").glob("*.jsonl"))
    ]
    assert asked == [{0.0}, {0.7}], "at 0 it would say the same again"
    assert plan(tmp_path, again=True).round == 2
    other = plan_rating(tmp_path / "c.jsonl", corpus(), "scripted:other")
    assert other.round == 0 and len(other.todo) == 8


def test_a_changed_text_is_rated_anew(tmp_path: Path) -> None:
    rate(plan(tmp_path))
    changed = [dialogue("good-0", "Something else.", "Yes?", theme="low"), *corpus()[1:]]
    new = plan_rating(tmp_path / "c.jsonl", changed, "scripted:test")
    assert [one.id for one in new.todo] == ["good-0"]


def test_no_answer_is_none_with_a_reason_and_asked_again(tmp_path: Path) -> None:
    def nonsense(request: Question, draw: Random) -> str:
        return (
            "I would rather not."
            if BAD in request.prompt
            else json.dumps({question.id: 5 for question in items_of(request)})
        )

    one = plan(tmp_path)
    rate(one, Scripted({"judge_block": nonsense}))
    found = {rated.dialogue: rated for rated in read_rated(one.folder)}
    assert found["bad-0"].scores["trust"] is None
    assert "not answered: t1, t2" in found["bad-0"].reasons["trust"]
    assert {dialogue.id for dialogue in plan(tmp_path).todo} == {f"bad-{n}" for n in range(4)}
    told = "\n".join(result_lines(one, read_rated(one.folder)))
    assert "n=4, 4 missing" in told and "not answered" in told


def test_one_bad_item_costs_only_its_dimension(tmp_path: Path) -> None:
    def block(request: Question, draw: Random) -> str:
        return json.dumps(
            {question.id: 11 if question.id == "e1" else 6 for question in items_of(request)}
        )

    one = plan(tmp_path, size=2)
    rate(one, Scripted({"judge_block": block}))
    found = read_rated(one.folder)[0]
    assert found.scores["emotion"] is None
    assert found.reasons["e1"] == "'11' is not a whole number from 1 to 10"
    assert found.scores["trust"] == 6


class Priced(Scripted):
    """Tells tokens for which somebody has to pay."""

    name = "openai:gpt-4o"

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        """A drawn answer, at the price of 2,000 tokens."""
        done = await super().complete(request, complaint)
        return Completion(text=done.text, tokens_in=2_000, tokens_out=0)


def test_a_budget_is_kept_and_counted_on(tmp_path: Path) -> None:
    one = plan(tmp_path)
    for usd in (0.05, 0.05):
        with pytest.raises(BudgetSpent, match="budget of 0.05 USD does not reach .* goes on"):
            rate(one, Priced(), budget=Budget(usd=usd), wave=2)
        spent = sum(call["cost_usd"] for call in calls_in(one.folder))
        assert 0.02 < spent <= 0.05
        one = plan(tmp_path)
    assert 0 < len(one.todo) < 8


class Gone(Scripted):
    """Nobody answers."""

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        """Never."""
        raise Failure("connection refused", transport=True)


def test_nobody_answers(tmp_path: Path) -> None:
    gone = pytest.raises(ModelUnreachable, match=r"refused.*the same command goes on")
    with asked(Asking(wait_s=0)), gone:
        rate(plan(tmp_path), Gone())
    assert len(plan(tmp_path).todo) == 8


def test_what_cannot_be_rated_is_said(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"c.jsonl: no dialogue"):
        plan_rating(tmp_path / "c.jsonl", [], "scripted")
    with pytest.raises(CorpusError, match="two dialogues have the id '1'"):
        plan_rating(tmp_path / "c.jsonl", [dialogue("1", "a", "b")] * 2, "scripted")
    with pytest.raises(CorpusError, match="compares two versions of a persona"):
        plan(tmp_path, instrument="persona_change")
    with pytest.raises(CorpusError, match="an observer's scale already; name empathy"):
        plan(tmp_path, instrument="empathy_from_transcript")
    (tmp_path / "c.jsonl.ratings").write_text("a file")
    with pytest.raises(CorpusError, match="name another folder"):
        rate(plan(tmp_path))


def test_ratings_go_back_into_the_dialogues(tmp_path: Path) -> None:
    one = plan(tmp_path)
    rate(one)
    found = read_rated(one.folder)
    assert with_ratings(corpus(), found) == tuple(corpus()), "a trial measures nothing"
    from dataclasses import replace

    real = [replace(rated, judge="openai:gpt-4o") for rated in found if rated.dialogue != "bad-3"]
    rated = with_ratings(corpus(), real)
    assert rated[0].ratings["dialogue_quality"] == next(
        one.scores for one in real if one.dialogue == "good-0"
    )
    assert rated[-1].ratings == {}


def test_which_of_several_ratings_counts() -> None:
    """An answered one before one without an answer, the current version before an old one, the fuller before the earlier, then the first."""
    (one, *_), current = corpus(), find_scale("dialogue_quality").hash

    def rated(
        round: int,
        score: float | None,
        hash: str = current,
        other: float | None = 1.0,
        instrument: str = "dialogue_quality",
        at: str = "1",
    ) -> Rated:
        return Rated(
            dialogue=one.id,
            text=text_hash(one),
            round=round,
            instrument=instrument,
            hash=hash,
            judge="openai:gpt-4o",
            samples=1,
            reasons={},
            items={"q": score},
            scores={"trust": score, "emotion": None if score is None else other},
            file=f"{instrument}-2026010{at}T000000.000000Z.jsonl",
        )

    def counts(*listed: Rated) -> object:
        found = [
            with_ratings([one], order)[0].ratings[listed[0].instrument]["trust"]
            for order in (listed, listed[::-1])
        ]
        assert found[0] == found[1], "whatever the order"
        return found[0]

    assert counts(rated(0, None), rated(1, 3.0)) == 3.0
    assert counts(rated(0, 2.0, hash="old"), rated(1, 4.0)) == 4.0
    assert counts(rated(0, 2.0, hash="old"), rated(0, None)) == 2.0
    assert counts(rated(0, 2.0, other=None), rated(1, 4.0)) == 4.0
    assert counts(rated(0, 2.0), rated(1, 4.0)) == 2.0
    assert counts(rated(0, None)) is None
    own = [
        rated(0, 2.0, hash="a", instrument="own", at="1"),
        rated(0, 5.0, hash="b", instrument="own", at="2"),
    ]
    assert counts(*own) == 5.0, (
        "of an instrument of one's own the version that was used last is the current one"
    )


def test_damaged_lines_are_left_out(tmp_path: Path) -> None:
    one = plan(tmp_path)
    file = rate(one).file
    assert file is not None
    *lines, last, _ = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines) + last[:-40] + b"\n{not json}\n[]\n")
    assert len(read_rated(one.folder)) == 7
    (one.folder / "dialogue_quality-headless.jsonl").write_text('{"kind": "measured"}\n')
    assert len(read_rated(one.folder)) == 7
    cut, headless = damaged_ratings(one.folder)
    assert f"{file.name}:{len(lines) + 3}: the end of this file is missing (1 of 8 " in cut
    assert "which says what was measured, is not there; 1 measurements are left out" in headless


def test_what_was_done_to_ratings_is_named_and_measured_again(
    tmp_path: Path, simcounsel: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written = "".join(f"{one.model_dump_json()}\n" for one in corpus())
    Path("c.jsonl").write_text(written, encoding="utf-8")
    given = ("corpus", "rate", "c.jsonl", "--model", "scripted", "--quiet")
    assert simcounsel(*given).code == 0
    (file,) = folder_of(Path("c.jsonl")).glob("*.jsonl")
    assert simcounsel("verify", "c.jsonl.ratings").out == (
        "c.jsonl.ratings  holds: 8 measurements in 1 files\n"
    )
    lines = file.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b'"kind":"measured"' in line)
    lines[at] = re.sub(rb'"value":[\d.]+', b'"value":1.25', lines[at])
    file.write_bytes(b"".join(lines))
    what = f"{file}:{at + 1}: this line is not as it was written (1 of 8 measurements are missing)"
    found = simcounsel("verify", "c.jsonl.ratings")
    assert (found.code, what in found.out, "remedy: put the file back" in found.out) == (
        1,
        True,
        True,
    )
    parts = ("--format", "native", "--no-check", "-o", "out")
    refused = simcounsel("export", "c.jsonl", *parts)
    assert (refused.code, what in refused.err) == (1, True)
    assert what in simcounsel("export", "c.jsonl", *parts, "--damaged").err
    again = simcounsel(*given)
    assert what in again.err and "8 dialogues drawn, 1 to rate" in again.out
    assert len(read_rated(folder_of(Path("c.jsonl")))) == 8
    pytest.importorskip("pandas")
    from analysis.corpora.sources import read_sources

    assert what in read_sources([Path("c.jsonl")]).notes[0]


def test_an_export_can_ask_for_a_rating(tmp_path: Path) -> None:
    """What a judge said beside a corpus counts for `--min-rating`."""
    from typer.testing import CliRunner

    from simcounsel.cli import app
    from simcounsel.corpus.reading import read_dialogues
    from tests.corpus.planted import corpus as planted
    from tests.corpus.planted import rated

    file = planted(tmp_path / "mixed.jsonl", 5.0)
    rated([file])
    wanted = {
        one.dialogue for one in read_rated(folder_of(file)) if (one.scores["trust"] or 0) >= 5
    }
    assert 0 < len(wanted) < 18
    words = [
        "export",
        str(file),
        "--format",
        "native",
        "--no-check",
        "--min-rating",
        "dialogue_quality.trust=5",
        "-o",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    kept = read_dialogues(tmp_path / "out")
    assert {one.id for one in kept} == wanted
    assert all((one.ratings["dialogue_quality"]["trust"] or 0) >= 5 for one in kept)
