"""What a dry run says: counted in earlier runs, or by rule, or by asking the very questions of nobody."""

import re
import shutil
from pathlib import Path

import pytest

from simcounsel.corpus.synthesis.kind import SYNTHESIS
from simcounsel.corpus.synthesis.settings_file import settings_from
from simcounsel.lab.forecast import forecast
from simcounsel.lab.rehearsal import rehearse
from simcounsel.llm.catalog import open_chat
from simcounsel.measuring.rate import Rating
from simcounsel.runs.run import Run
from tests.commands import Command
from tests.corpus.written import written
from tests.stage import TINY, switchboard, tiny


def test_an_earlier_run_is_counted_as_far_as_the_new_one_goes(lived: Run, tmp_path: Path) -> None:
    shutil.copytree(lived.folder, tmp_path / "earlier")
    calls = [call for call in lived.calls() if call["verb"] != "embed"]
    for ticks in (3, 12):
        asked = sum(call["tries"] for call in calls if call["tick"] < ticks)
        found = forecast(tiny(), ticks, tmp_path)
        assert "in 1 earlier run of" in found.basis
        low, high = found.total()
        assert (low.requests, high.requests) == pytest.approx((0.8 * asked, 1.25 * asked))


def test_a_synthesis_is_counted_by_sessions_however_they_are_dealt_into_waves(
    tmp_path: Path,
) -> None:
    asked = [call for call in written(tmp_path).calls() if call["verb"] != "embed"]
    settings = settings_from([], {"sessions": 60, "wave": 60}, model="scripted")
    found = forecast(settings, settings.waves, tmp_path, SYNTHESIS)
    assert "in 1 earlier synthesis of" in found.basis
    first = sum(call["tries"] for call in asked if call["tick"] == 0)
    assert found.total()[1].requests == pytest.approx(1.25 * first * 60 / 2), "two in its wave"


def test_without_an_earlier_run_a_rule_is_used(tmp_path: Path) -> None:
    found = forecast(tiny(), 12, tmp_path)
    assert found.basis == "by a rule for 0.5 resident-days"
    assert found.total()[0].requests == pytest.approx(0.5 * 79)


def test_a_bot_in_a_seat_is_counted_by_its_talks_and_costs(simcounsel: Command) -> None:
    """A quarter of a day of each of two: nobody asks the bot for its own."""
    Path("prices.yaml").write_text("prices: {mine: {in: 1000, out: 0}}", encoding="utf-8")
    words = ("run", "tiny", "--model", "scripted", "--dry-run", "--prices", "prices.yaml")
    ended = simcounsel(*words, "--bot", "mine", "--ticks", "96")
    assert ended.code == 0, ended.err
    few, many = (n * 1000 / 4e6 for n in (3_000 / 5, 48_000 / 3))
    assert f"cost         {few:.2f} to {many:.2f} USD" in ended.out
    assert "requests     20 to 40" in ended.out, "a quarter of 79 + 3 and 142 + 20"


@pytest.mark.parametrize("instrument", ["helping_skills", "insomnia_severity"])
def test_a_rating_is_rehearsed_to_the_request(lived: Run, tmp_path: Path, instrument: str) -> None:
    run = Run.open(shutil.copytree(lived.folder, tmp_path / "run"))
    before = sorted(path.name for path in run.folder.rglob("*"))
    rating = Rating.plan(run, instrument, model="scripted")
    found, _ = rehearse(rating)
    assert sorted(path.name for path in run.folder.rglob("*")) == before, "something was written"
    models = switchboard(open_chat("scripted"))
    rating.measure(models)
    models.close()
    assert found.total()[0].requests == found.total()[1].requests == models.usage.calls


@pytest.mark.parametrize(
    "command",
    [
        ("run", TINY, "--model", "openai:gpt-4o"),
        ("clinic", TINY, "--model", "openai:gpt-4o", "--sessions", 5),
        ("synthesize", "--sessions", 2, "--model", "openai:gpt-4o"),
    ],
    ids=["run", "clinic", "synthesize"],
)
def test_a_dry_run_needs_no_key_and_writes_nothing(
    simcounsel: Command, tmp_path: Path, command: tuple[object, ...]
) -> None:
    ended = simcounsel(*command, "--dry-run")
    assert ended.code == 0, ended.err
    assert re.search(r"cost +\d+\.\d\d to \d+\.\d\d USD\ncounted +by a rule", ended.out)
    assert not list(tmp_path.iterdir())
