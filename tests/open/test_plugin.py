"""tests/example_plugin, installed as any package is: found, lived with, gone on with, looked at, measured."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simcounsel import load_run, written
from simcounsel.instruments.scale import INSTRUMENTS
from simcounsel.llm.catalog import PROVIDERS
from simcounsel.policies import POLICIES
from simcounsel.testing import check_instrument, check_policy, check_provider
from tests.commands import Command, only_run
from tests.stage import ROOT, TINY

PLUGIN = Path(__file__).parents[1] / "example_plugin"
SET = (
    "--seed",
    "3",
    "--set",
    "appointments.0.max_turns=16",
    "--set",
    "residents.Miriam.policy={name: mirroring, settings: {longest: 9}}",
    "--set",
    "residents.Ines.mind=counting_hours",
    "--set",
    "residents.Ines.models.reason=parrot:ines",
    "--set",
    "measurements=[{instrument: being_heard, when: end}, {instrument: words_mirrored, when: end}]",
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the package, without a network."""
    folder = tmp_path_factory.mktemp("installed")
    source = tmp_path_factory.mktemp("source") / "plugin"
    subprocess.run(["cp", "-r", str(PLUGIN), str(source)], check=True)
    command = (
        f"{sys.executable} -m pip install -q --no-deps --no-index --no-build-isolation --target"
    )
    subprocess.run([*command.split(), str(folder), str(source)], check=True)
    return folder


@pytest.fixture(autouse=True)
def on_the_path(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(installed)
    forget()
    yield
    forget()


def forget() -> None:
    """For good: a page of the documentation brings one of the same name."""
    for name in [name for name in sys.modules if name.split(".")[0] == "mirroring"]:
        del sys.modules[name]


def test_it_keeps_to_the_contracts() -> None:
    policy, provider = POLICIES.get("mirroring"), PROVIDERS.get("parrot")
    assert policy is not None and provider is not None
    check_policy("mirroring", policy)
    check_policy("mirroring", policy, settings={"longest": 5})
    check_provider(provider, chat="parrot:a", embed="parrot:b")
    for name in ("words_mirrored", "being_heard"):
        check_instrument(name, INSTRUMENTS.get(name))  # type: ignore[arg-type]


def test_it_is_listed(simcounsel: Command) -> None:
    assert "mirrored" in (shown := simcounsel("--help").out) and "from mirroring-counselor" in shown
    (parrot,) = (line for line in simcounsel("models").out.splitlines() if "parrot:NAME" in line)
    assert "nothing is needed" in parrot and "from mirroring-counselor" in parrot


@pytest.mark.slow
def test_from_run_to_rate(simcounsel: Command, tmp_path: Path) -> None:
    def ran(*arguments: object) -> str:
        ended = simcounsel(*arguments)
        assert ended.code == 0, ended.err
        return ended.out

    mirroring = importlib.import_module("mirroring.policy")
    hours = importlib.import_module("mirroring.mind")
    ran("run", TINY, "--model", "scripted", *SET, "--out", "whole")
    whole = only_run(tmp_path / "whole")
    assert whole.manifest.models["reason:Ines"] == "parrot:ines"
    events = [entry.event for entry in whole.entries()]
    told = written(events, mirroring.Mirrored)
    assert len(told) > 1 and [one.nth for one in told] == list(range(1, len(told) + 1))
    assert len({one.word for one in told}) == len(told)
    counted = written(events, hours.HoursCounted)
    assert [one.times for one in counted] == list(range(1, len(counted) + 1)) and len(counted) > 3

    # stopped after the conversation and gone on with; and another future from there
    at = 3
    ran("run", TINY, "--model", "scripted", *SET, "--out", "parts", "--ticks", at)
    parts = only_run(tmp_path / "parts")
    ran("resume", parts.folder)
    log = (whole.folder / "events.jsonl").read_bytes()
    assert (parts.folder / "events.jsonl").read_bytes() == log
    ran("fork", whole.folder, "--at", at, "--set", "residents.Miriam.policy.settings.longest=5")
    forked = only_run(tmp_path / "runs")
    before = [entry.event for entry in forked.entries() if entry.tick < at]
    assert written(before, mirroring.Mirrored) == told
    ours = written((entry.event for entry in forked.entries()), hours.HoursCounted)
    assert [one.times for one in ours] == list(range(1, len(ours) + 1))

    # looked at, exported, measured
    spoken = ran("show", whole.folder, "--conversation", 1)
    assert (
        "Miriam" in spoken and f"nth {told[0].nth}" in spoken and "mirroring.mirrored: " in spoken
    )
    counting = [one.kind for one in counted if one.who == "Ines"]
    day = ran("show", whole.folder, "--who", "Ines")
    assert all(f"{kind}: " in day for kind in counting)
    ran("view", whole.folder, "--html", "day.html")
    assert "mirroring.mirrored" in (tmp_path / "day.html").read_text(encoding="utf-8")
    ran("export", whole.folder, "--format", "native", "--no-check", "--out", "corpus")
    ran("rate", whole.folder, "--instrument", "words_mirrored")
    ran("rate", whole.folder, "--instrument", "being_heard", "--model", "parrot:judge")
    measured = [file.name for file in (whole.folder / "measurements").glob("*.jsonl")]
    assert sorted(name.split("-")[0] for name in measured) == ["being_heard", "words_mirrored"]
    lines = ran("mirrored", whole.folder).splitlines()
    assert lines == [f"{one.nth}. Miriam: {one.word}" for one in told]


def test_without_the_package_the_run_still_opens(
    simcounsel: Command, installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert simcounsel("run", TINY, "--model", "scripted", *SET, "--out", "whole").code == 0
    whole = only_run(tmp_path / "whole")
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one != str(installed)])
    kinds = {
        json.loads(line)["kind"]
        for line in (whole.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    }
    assert {"mirroring.mirrored", "mirroring.hours_counted"} <= kinds
    assert simcounsel("show", whole.folder, "--conversation", 1).code == 0
    assert load_run(whole.folder).lines().shape[0] > 2
    again = simcounsel("fork", whole.folder, "--at", 3)
    assert again.code == 1 and "no mind 'counting_hours'; there are" in again.err
    assert str(ROOT) not in again.err
