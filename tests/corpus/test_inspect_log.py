"""A run as a log of Inspect, read back by Inspect itself."""

import json
import zipfile
from pathlib import Path
from statistics import fmean

import pytest

pytest.importorskip("inspect_ai", reason="pip install -e '.[test-all]'")
from inspect_ai.analysis import evals_df, messages_df, samples_df
from inspect_ai.log import read_eval_log

from simcounsel.corpus.inspect_log import log_of
from simcounsel.corpus.transcripts import dialogues_of_run
from simcounsel.errors import CorpusError
from simcounsel.runs.run import Run
from tests.commands import Command
from tests.stage import live, tiny

pytestmark = [
    pytest.mark.slow(4),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # within Inspect and its packages
]


def test_inspect_reads_what_was_said_and_scored(simcounsel: Command, tmp_path: Path) -> None:
    ended = simcounsel(
        "export", "gallery:first-days", "gallery:synthesis", "--format", "inspect", "-o", "logs"
    )
    assert (ended.code, ended.out.count("wrote logs/")) == (0, 2)
    run = Run.open("gallery:first-days")
    dialogues = dialogues_of_run(run)
    log = read_eval_log(str(tmp_path / "logs" / f"{run.name}.eval"))
    assert (log.eval.task, log.eval.task_id, log.eval.model) == (
        "simcounsel/Insomnia",
        run.name,
        "byhand:answers",
    )
    assert log.status == ("success" if run.ticks_done() >= run.length else "cancelled")
    assert log.samples and len(log.samples) == len(dialogues) == 4
    for sample, one in zip(log.samples, dialogues, strict=True):
        said = [turn.text for turn in one.turns]
        assert [message.text for message in sample.messages] == said
        roles = {"client": "user", "counselor": "assistant", "layperson": "assistant"}
        assert [message.role for message in sample.messages] == [
            roles[turn.speaker] for turn in one.turns
        ]
        assert {event.model for event in sample.events} == {"none"} and sample.target == ""
        given = {
            f"{name}.{score}": value
            for name, scores in one.ratings.items()
            for score, value in scores.items()
        }
        assert sample.scores is not None
        assert {name: score.value for name, score in sample.scores.items()} == {
            name: value for name, value in given.items() if value is not None
        }
    assert log.results
    name = "session_alliance_observed.total"
    (mean,) = [score.metrics["mean"].value for score in log.results.scores if score.name == name]
    assert mean == fmean(
        float(sample.scores[name].value)
        for sample in log.samples
        if sample.scores and name in sample.scores
    )  # type: ignore[arg-type]
    start = log.samples[0].started_at
    assert start and start.startswith("2026-03-02T15:00"), "the simulated clock"

    lines = messages_df(str(tmp_path / "logs"))
    assert len(evals_df(str(tmp_path / "logs"))) == 2
    assert len(samples_df(str(tmp_path / "logs"))) == 4 + len(
        read_eval_log(str(next((tmp_path / "logs").glob("seeds*")))).samples or ()
    )
    ours = lines[lines["log"].str.contains(run.name)]
    assert list(ours["content"]) == [turn.text for one in dialogues for turn in one.turns]


def test_requests_come_along_when_they_are_asked_for(tmp_path: Path) -> None:
    run = live(tmp_path, tiny())
    log = log_of(run, requests=True)
    sent = [event for sample in log.samples for event in sample.events]
    asked = {call["key"]: call for call in run.calls() if call.get("messages")}
    assert sent and {event.uuid for event in sent} <= {key[:22] for key in asked}
    by_key = {key[:22]: call for key, call in asked.items()}
    for event in sent:
        call = by_key[event.uuid]
        assert [one.text for one in event.input] == [one["content"] for one in call["messages"]]
        assert event.output.completion == (call["reply"] or "")
        assert event.config.seed == call["parameters"]["seed"]
    marked = log_of(Run.open("gallery:first-days")).eval.metadata
    assert "by hand" in marked["label"]


def test_the_same_run_gives_the_same_log(simcounsel: Command, tmp_path: Path) -> None:
    def held(folder: str) -> dict[str, object]:
        assert simcounsel("export", "gallery:staged", "--format", "inspect", "-o", folder).code == 0
        (file,) = (tmp_path / folder).glob("*.eval")
        with zipfile.ZipFile(file) as packed:
            return {
                name: json.loads(packed.read(name))
                for name in packed.namelist()
                if name.startswith("samples/")
            }

    assert held("a") == held("b")


def test_a_run_without_talk_has_no_log(tmp_path: Path) -> None:
    run = live(tmp_path, tiny(), ticks=1)
    with pytest.raises(CorpusError, match="no dialogue in it"):
        log_of(run)
