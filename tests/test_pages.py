"""Every command in README.md and docs/ runs, every command is in them, and they build as a site."""

import configparser
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis.validity.multiverse.universes import plan
from analysis.validity.truth.studies import read_studies
from docs.generating.commands import all_commands
from simcounsel.bots.file import bot_of
from simcounsel.bots.study.gate import read_gate
from simcounsel.envs import CounselingEnv, EnvSettings
from simcounsel.events import Decided, Foreign, Remembered
from simcounsel.llm.catalog import open_chat
from simcounsel.llm.schemas import schema_of
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.world_file import load_world
from simcounsel.therapies.specs.exercises import load_exercises
from tests.commands import Command
from tests.each import each
from tests.llm.server import FaultServer
from tests.open.installed import distribution
from tests.pages import PAGES, Block, blocks, commands, mentioned
from tests.stage import ROOT, Listening, go_on, happened, live, switchboard, tiny
from tests.viewer.conftest import chromium

NOT_RUN = {
    # and why
    "simcounsel sweep counseling_effect --ray auto": "wants a cluster",
    "simcounsel study privacy trainings/privacy --out report": "wants twelve trainings",
    "simcounsel study replicate simcounsel --model scripted --clients 2 --ticks 8 --out try": (
        "tests/analysis/replication does it"
    ),
    "simcounsel study replicate mindcorpus --model scripted --sessions 3 --sample 3 --out try-corpus": (
        "tests/analysis/replication does it"
    ),
    "simcounsel study replicate mindchat --sessions 1 --rounds 2 --local-epochs 1 --dry-run": (
        "tests/analysis/replication does it"
    ),
    "simcounsel study audit planted_effect --out audit": "tests/analysis/validity does it",
    "simcounsel study audit my.yaml --model openai:gpt-4o-mini --ask 20 --budget-usd 10": (
        "asks a paid model"
    ),
    "simcounsel study validity talk runs --real annomi.csv --out validity": "wants real sessions",
    "simcounsel study validity persona runs --judge openai:gpt-4o-mini": "asks a paid model",
    "simcounsel study validity people ratings.csv --out validity": "wants ratings by people",
    "simcounsel study validity people runs --ratings people.csv": "wants ratings by people",
    "simcounsel study validity people benches/cpsycoune-scripted benches/cpsycoune-staged-insomnia_cbt-scripted --ratings replies.csv": (
        "wants ratings by people"
    ),
    "simcounsel run insomnia --ticks 24 --set residents.Ines.mind=patienthub:patientPsi": "wants PatientHub",
    "simcounsel study simulators sweeps/simulators --real my-sessions.json --out validity": (
        "tests/analysis/validity does it"
    ),
    "simcounsel study fit annomi.csv --beside runs --beside prompt-only=runs-off --out validity": (
        "wants real sessions"
    ),
    "simcounsel study validity page --out validity": "tests/analysis/validity does it",
    "simcounsel study why safety/RUN": "tests/bots does it",
    "simcounsel study why safety/RUN --failure 1 --bot other.yaml --seeds 20": "tests/bots does it",
    "simcounsel models --pull --model local:qwen2.5-1.5b": "fetches 1,117 MB",
    "simcounsel run insomnia --ticks 24 --model local:qwen2.5-1.5b": "tests/local does it",
}
INSTEAD = {
    # what is typed: what is run; for what costs hours, and for models that are not what a page is about
    r"embedded\+adapter=trainings/smoke": "scripted",
    r"=embedded": "=scripted",
    r"--human Miriam": "--human Miriam --port 0",
    r" --serve$": "",
    r"^(clinic .*)--sessions 8": r"\1--sessions 5",
    r"--ticks 24": "--ticks 10",
    r"^(run|sweep) (my-study/.*)": r"\1 \2 --model scripted",
    r"^(run|clinic) ([a-z_0-9]+)(?= |$)": r"\1 worlds/\2.yaml",
    r"^sweep ([a-z_0-9]+)(?= |$)": r"sweep experiments/\1.yaml",
    r"^((run|resume|fork|clinic) (?!.*--ticks).*)": r"\1 --ticks 2",
    r"^(synthesize (?!.*--model).*)": r"\1 --model scripted",
}
QUICK = {
    # in all worlds and experiments
    "embedded": "scripted",
    "ticks: 72": "ticks: 10",
    "seeds: [1, 2]": "seeds: [1]",
    "sessions: 50": "sessions: 4",
}
OLLAMA = "http://localhost:11434/v1"
SLOW = (
    "docs/bots.md",
    "docs/danger.md",
    "docs/synthesis.md",
    "docs/sweeps.md",
    "docs/viewer.md",
    "docs/tutorials/first-study.md",
    "docs/models.md",
)
"""Pages whose commands take seconds, load weights, or want more than [test]."""
ELSEWHERE = ("docs/tutorials/town.md",)
"""Pages that a test of their own runs whole, from top to bottom (tests/test_town.py)."""
NAMED = (
    r"(?<![\w/.-])(?:simcounsel|analysis|training|tests|worlds|personas|experiments)/[\w./*-]*\w"
)
"""A path from the top."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like a checkout whose worlds name the scripted model, with a run and an episode."""
    folder = tmp_path_factory.mktemp("pages")
    for name in ("personas", "tests", "training"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("worlds", "experiments"):
        shutil.copytree(ROOT / name, folder / name)
        for file in (folder / name).glob("*.yaml"):
            text = file.read_text(encoding="utf-8")
            for slow, quick in QUICK.items():
                text = text.replace(slow, quick)
            if name == "worlds" and "\nmodels:" not in text:
                text += "\nmodels: {reason: scripted, embed: scripted}\n"  # none named: embedded
            file.write_text(text, encoding="utf-8")
    for file in (folder / "worlds").glob("*.yaml"):
        assert set(load_world(file).model_names().values()) == {"scripted"}
    live(folder / "runs", load_world(folder / "worlds" / "insomnia.yaml"), 40)
    episode(folder)
    shutil.copy(ROOT / "simcounsel/therapies/manuals/en/motivational.yaml", folder / "mine.yaml")
    (folder / "seeds.txt").write_text(
        "I drive a bus at night and I cannot sleep by day.\nMy brother left and I am angry with everyone.\n",
        encoding="utf-8",
    )
    return folder


def episode(folder: Path) -> None:
    """One session of an agent with the tiny world's client, in episodes/."""
    world = folder / "worlds" / "tiny.yaml"
    env = CounselingEnv(
        EnvSettings(world=world, model="scripted", max_turns=4, out=folder / "episodes")
    )
    env.reset(seed=1)
    while not env.step("What was that like?")[2]:
        pass
    env.close()


@pytest.fixture(scope="module")
def served() -> Iterator[FaultServer]:
    """What stands for a server of one's own, and for a cloud."""
    with FaultServer() as server:
        yield server


@pytest.fixture
def place(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it for one test, which is where we are."""
    shutil.copytree(checkout, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow(4)] if page in SLOW else [])
        for page in commands()
        if page not in ELSEWHERE
    ],
)
def test_what_a_page_types_runs(
    page: str,
    place: Path,
    simcounsel: Command,
    served: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As written and in that order, with few ticks, and the scripted model where none is named; a server and a cloud
    are a server of this machine.
    """
    (run,) = (place / "runs").iterdir()
    if page == "docs/tutorials/own-policy.md":  # its first block is the file that it says to save
        (place / "pausing.py").write_text(blocks_of(page)[0], encoding="utf-8")
        monkeypatch.syspath_prepend(str(place))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "config"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-tests")
    monkeypatch.setenv("OPENAI_BASE_URL", served.url)
    before = len(served.bodies)
    for command in commands()[page]:
        if command in NOT_RUN:
            continue
        words = [
            one
            for word in shlex.split(
                as_run(command).replace("RUN", str(run)).replace(OLLAMA, served.url)
            )
            for one in (sorted(map(str, place.glob(word))) if "*" in word else [word])
        ]
        monkeypatch.setattr(sys, "stdin", io.StringIO("How did you sleep?\n"))
        if words[0] in ("view", "demo") and "--html" not in words:
            look([*words, *(["--no-browser"] if words[0] == "demo" else [])])
            continue
        done = simcounsel(*words)
        assert done.code == 0, f"{page}: {command}\n{done.out}\n{done.err}"
    asking = [one for one in commands()[page] if "--model http" in one or "--model openai" in one]
    assert (len(served.bodies) > before) is bool(set(asking) - NOT_RUN.keys())


def blocks_of(page: str) -> list[str]:
    """The Python of a page."""
    return [block.text for block in blocks("python") if block.page == page]


def as_run(command: str) -> str:
    """The words of a command, in the form that a test can afford."""
    words = command.removeprefix("simcounsel ")
    for typed, instead in INSTEAD.items():
        words = re.sub(typed, instead, words)
    return words


def look(words: list[str]) -> None:
    """The site answers at the address that is printed, until it is stopped; so it is a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-m", "simcounsel", *words, "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    ) as site:
        assert site.stdout is not None
        try:
            address = site.stdout.readline().split()[1]
            with urllib.request.urlopen(address, timeout=20) as answer:
                assert b"simcounsel" in answer.read()
        finally:
            site.terminate()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.weights] if page == "README.md" else [])
        for page in dict.fromkeys(block.page for block in blocks("python"))
        if page not in ELSEWHERE
    ],
)
def test_the_python_of_a_page_runs(page: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the page's beginning, with few ticks."""
    (folder,) = (place / "runs").iterdir()
    found: dict[str, Any] = {}
    for block in [block for block in blocks("python") if block.page == page]:
        text = block.text.replace("ticks=24", "ticks=2")
        if saved := re.search(r"Save this as `(\w+\.py)`", PAGES[page]):
            Path(saved[1]).write_text(blocks_of(page)[0], encoding="utf-8")
            monkeypatch.syspath_prepend(str(place))
        text = text.replace('"RUN"', repr(str(folder)))
        exec(compile(text, page, "exec"), found)
    if "run" in found:
        assert (found["run"].folder / "events.jsonl").stat().st_size > 0


def test_the_package_of_a_page_is_found_and_its_events_stay(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "docs/extending.md"
    (project,) = [tomllib.loads(block.text) for block in blocks("toml") if block.page == page]
    module = next(block.text for block in blocks("python") if block.page == page)
    name, points = project["project"]["name"], project["project"]["entry-points"]
    distribution(place / "installed", name, points, mirroring=module)
    monkeypatch.syspath_prepend(place / "installed")
    world = tiny(residents__Miriam__policy="mirroring", residents__Ines__mind="tired")
    run = go_on(live(place, world, ticks=world.ticks - 2))
    reasons = [one.reason for one in happened(run, Decided) if one.policy == "mirroring"]
    assert reasons == [f"mirrored {count} times before" for count in range(len(reasons))]
    assert len(reasons) == len(happened(run, Foreign)) > 1
    felt = [one.memory for one in happened(run, Remembered) if one.who == "Ines"]
    assert {one.intensity for one in felt if one.type == "event"} == {1}
    assert open_chat("echo:any").name == "echo:any"


def test_what_a_page_thinks_before_a_line_comes_first_and_settles_the_decision(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = [one.text for one in blocks("python") if one.page == "docs/extending.md"][:2]
    points = {"simcounsel.policies": {"weigher": "weighing:WEIGHER"}}
    distribution(place / "installed", "weighing", points, weighing=f"{first}\n{second}")
    monkeypatch.syspath_prepend(place / "installed")
    world = tiny(residents__Miriam__policy="weigher")
    spy = Listening()
    run = live(place, world, models=switchboard(spy))
    asked = [one for one in spy.requests if one.purpose == "line_counselor"]
    fields = list(schema_of(asked[-1].schema)["properties"])
    assert fields == ["emotion", "intensity", "poignancy", "weighed", "say", "wish"]
    told = "Miriam gives no advice that Ines did not ask for."
    assert all(one.prompt.index(told) < one.prompt.rindex("Answer what was asked") for one in asked)
    reasons = [one.reason for one in happened(run, Decided) if one.policy == "weigher"]
    thought = [
        json.loads(one["reply"])["weighed"]
        for one in run.calls()
        if one["purpose"] == "line_counselor"
    ]
    assert reasons == thought and reasons


@each("block", [block for block in blocks("yaml") if block.page not in ELSEWHERE])
def test_the_yaml_of_a_page_fits_into_a_world(block: Block, place: Path) -> None:
    file = place / "worlds" / "from_a_page.yaml"
    if "exercises" in yaml.safe_load(block.text):
        file.write_text(block.text, encoding="utf-8")
        assert load_exercises(file).exercises
        return
    if "conditions" in yaml.safe_load(block.text):
        experiment = place / "experiments" / "planted_effect.yaml"
        whole = yaml.safe_load(experiment.read_text(encoding="utf-8"))
        experiment.write_text(yaml.safe_dump(whole | yaml.safe_load(block.text)), encoding="utf-8")
        assert len(load_experiment(experiment)[1]) == 48
        return
    if "studies" in yaml.safe_load(block.text):
        file.write_text(block.text, encoding="utf-8")
        assert len(read_studies(file)) == 2
        return
    if "multiverse" in yaml.safe_load(block.text):
        shutil.copytree(ROOT / "simcounsel" / "prompts" / "sets" / "reworded", place / "my-prompts")
        experiment = place / "experiments" / "planted_effect.yaml"
        experiment.write_text(experiment.read_text(encoding="utf-8") + block.text, encoding="utf-8")
        assert len(plan(experiment).ways) == 27
        return
    if "limits" in yaml.safe_load(block.text):
        file.write_text(block.text, encoding="utf-8")
        assert read_gate(file).limits
        return
    if {"endpoint", "model"} & set(yaml.safe_load(block.text)):
        (file.parent / "prompt.txt").write_text("You are Ada.")
        file.write_text(block.text, encoding="utf-8")
        assert bot_of(str(file)).name
        return
    whole = yaml.safe_load((file.parent / "tiny.yaml").read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump(whole | yaml.safe_load(block.text)), encoding="utf-8")
    load_world(file)


def test_the_files_that_a_page_names_are_there() -> None:
    named = {
        (page, path)
        for page, text in PAGES.items()
        for code in re.findall(r"`([^`\n]+)`", text)
        for path in re.findall(NAMED, code)
    }
    assert named
    assert not [f"{page}: {path}" for page, path in sorted(named) if not list(ROOT.glob(path))]


def test_what_prose_types_are_commands_with_such_options() -> None:
    """What stands between backticks is not run: it names RUN, FILE and the like."""
    known = dict(all_commands())
    wrong = []
    for page, typed in mentioned():
        words = typed.split()
        name = next(
            (" ".join(words[:n]) for n in range(len(words), 0, -1) if " ".join(words[:n]) in known),
            None,
        )
        if name is None:
            groups = {" ".join(one.split()[:2]) for one in known}
            if " ".join(words[:2]) not in groups and words[1] not in ("COMMAND",):
                wrong.append(f"{page}: {typed}")
            continue
        options = {opt for one in known[name].params for opt in (*one.opts, *one.secondary_opts)}
        wrong += [
            f"{page}: {typed}: {word}"
            for word in words
            if word.startswith("-") and word.split("=")[0] not in options | {"--help"}
        ]
    assert not wrong


def test_the_readme_is_short() -> None:
    lines = PAGES["README.md"].splitlines()
    assert len(lines) <= 150 and max(map(len, lines)) <= 120


def test_the_picture_of_the_rooms_shows_them_as_they_may_import() -> None:
    rules = configparser.ConfigParser()
    rules.read(ROOT / ".importlinter")
    layers = re.findall(r"\w+", rules["importlinter:contract:layers"]["layers"])
    (picture,) = [block.text for block in blocks("mermaid") if block.page == "ARCHITECTURE.md"]
    shown = [
        name
        for label in re.findall(r'"(.+?)"', picture)
        for name in re.findall(r"\w+", label.replace("<br>", " "))
        if name in layers
    ]
    assert shown == [name for name in layers if name in shown] and len(shown) > 15


@pytest.mark.slow
def test_the_pages_build_as_a_site(tmp_path: Path) -> None:
    """Strictly: links between pages and to files, anchors, pictures, and what is drawn by Mermaid.

    On a phone axe finds nothing serious, and no page scrolls sideways.
    """
    from axe_playwright_python.sync_playwright import Axe

    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for page in [file for file in PAGES if file.startswith("docs/")]:
        assert (tmp_path / page.removeprefix("docs/")).with_suffix(".html").is_file()
    assert "https://" not in "".join(
        re.findall(
            r"<(?:script|link|img|object)[^>]*>", (tmp_path / "index.html").read_text("utf-8")
        )
    ), "a page that is read without a network"
    with contextmanager(chromium.__wrapped__)() as browser:  # type: ignore[attr-defined]
        site = browser.new_page(viewport={"width": 390, "height": 844})
        for name in ("index", "architecture", "evidence", "hearing-danger", "privacy"):
            site.goto((tmp_path / f"{name}.html").as_uri())
            assert site.evaluate("document.documentElement.scrollWidth") <= 390, name
            found = Axe().run(site).response["violations"]
            assert not [v for v in found if v["impact"] in ("serious", "critical")], name
