"""What models and files say is shown at a terminal, and never obeyed; streams that are full or closed."""

import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table

from simcounsel import cli, terminal
from simcounsel.runs.run import Run
from tests.commands import Command, only_run
from tests.corpus.made import dialogue
from tests.llm.server import FaultServer, default_answer
from tests.screens import HOSTILE, OBEYED, at_a_terminal, into
from tests.stage import ROOT, TINY


def hostile(body: dict[str, Any]) -> str:
    """A model's answer, each text in it with what a terminal would obey; its slots are as many as
    are asked for, at a place that Ines can reach, so that she does what they say."""
    answer = default_answer(body)
    try:
        given = _with(json.loads(answer))
    except ValueError:
        return answer + HOSTILE
    if isinstance(given, dict) and "slots" in given:
        given["slots"] = [given["slots"][0] | {"place": "Ines's Kitchen"}] * 4
    return json.dumps(given)


def _with(value: Any) -> Any:
    match value:
        case dict():
            return {key: _with(one) for key, one in value.items()}
        case list():
            return [_with(one) for one in value]
        case str() if len(value.split()) > 1 or value == "x":
            return value + HOSTILE
    return value


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A run whose model says such things, and what a terminal saw of it."""
    folder = tmp_path_factory.mktemp("hostile")
    world = folder / "world.yaml"
    text = TINY.read_text(encoding="utf-8").replace("../personas", str(ROOT / "personas"))
    with FaultServer(answer=hostile) as server:
        models = f"models: {{reason: '{server.url}/m', embed: scripted}}\nfallbacks: {{most: 1}}\n"
        world.write_text(text.replace("ticks: 12", "ticks: 4") + models, encoding="utf-8")
        seen = at_a_terminal("run", world, "--out", folder / "runs")
    assert seen.code == 0, seen.screen.decode()
    return only_run(folder / "runs").folder, seen.screen


@pytest.mark.slow(2)
def test_a_model_at_the_live_display(spoken: tuple[Path, bytes]) -> None:
    """rich's own sequences pass (the cursor is hidden and comes back), the model's do not."""
    run, screen = spoken
    assert "OWNED" in (run / "events.jsonl").read_text(encoding="utf-8")
    assert b"\x1b[?25l" in screen and b"\x1b[?25h" in screen
    assert [one for one in OBEYED if one in screen] == []


def test_a_model_in_show(simcounsel: Command, spoken: tuple[Path, bytes]) -> None:
    seen = at_a_terminal("show", spoken[0], "--who", "Ines")
    assert (seen.code, seen.obeyed) == (0, [])
    assert b"\\u001b]0;OWNED\\u0007\\u001b[2J\\u009b31m" in seen.screen
    assert b"\\u202emoc\\u2066" in seen.screen and b"[red]gone[/red][/x]" in seen.screen
    for what in (["--conversation", "1"], ["--recall", "Ines"], []):
        ended = simcounsel("show", spoken[0], *what)
        assert [one for one in OBEYED if one in ended.out.encode()] == []


@pytest.mark.slow
def test_a_model_in_a_talk(spoken: tuple[Path, bytes]) -> None:
    with FaultServer(answer=hostile) as server:
        model = f"{server.url}/m"
        seen = at_a_terminal("talk", spoken[0], "--who", "Ines", "--model", model, typed="Why?\n\n")
    assert (seen.code, seen.obeyed) == (0, []), seen.screen.decode()
    assert b"OWNED" in seen.screen


@pytest.mark.slow(3)
def test_a_model_in_a_report(spoken: tuple[Path, bytes], tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    seen = at_a_terminal("report", spoken[0], "--out", tmp_path / "report")
    assert (seen.code, seen.obeyed) == (0, []), seen.screen.decode()


@pytest.mark.slow(10)
def test_a_corpus_whose_every_text_is_hostile(tmp_path: Path) -> None:
    """In `corpus check` and in what trains on it."""
    talk = [HOSTILE + str(number) for number in range(4)]
    names = dict.fromkeys(("theme", "language", "condition", "note"), HOSTILE)
    file = tmp_path / "corpus.jsonl"
    rows = [
        dialogue(f"{number}{HOSTILE}", *talk, client=f"{number}{HOSTILE}", **names)
        for number in range(6)
    ]
    file.write_text("".join(one.model_dump_json() + "\n" for one in rows), encoding="utf-8")
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(f"corpus: {json.dumps(str(file) + HOSTILE)}\n", encoding="utf-8")
    for module, *command in (
        ("simcounsel", "corpus", "check", file),
        ("simcounsel", "corpus", "check", file, "--json"),
        ("training", "sites", file, "-n", "2", "--by", "theme"),
        ("training", "plant", file, "--out", tmp_path / "planted.jsonl"),
        ("training", "tune", recipe),
    ):
        seen = at_a_terminal(*command, module=module)
        assert seen.obeyed == [] and b"Traceback" not in seen.screen, (command, seen.screen)
        assert b"OWNED" in seen.screen or command[0] in ("plant", "tune"), (command, seen.screen)


@pytest.mark.parametrize("command", ["check", "show"])
def test_the_name_of_a_file(tmp_path: Path, command: str) -> None:
    """A slash and a NUL are all that Linux takes not in a name."""
    name = HOSTILE.replace("/", "").replace("\0", "")
    seen = at_a_terminal(command, name, cwd=tmp_path)
    assert seen.code in (1, 2)
    assert seen.obeyed == [] and b"Traceback" not in seen.screen
    assert b"OWNED" in seen.screen


@pytest.mark.slow
def test_a_file_that_is_checked(simcounsel: Command, tmp_path: Path) -> None:
    """Texts of a persona may turn the direction around; a dialogue's may hold anything."""
    world = TINY.read_text(encoding="utf-8").replace("../personas", str(ROOT / "personas"))
    (tmp_path / "world.yaml").write_text(
        world.replace("name: Tiny", 'name: "Tiny \u202eyniT"').replace(
            "kind: kitchen", "kind: k\u2066"
        ),
        encoding="utf-8",
    )
    ended = simcounsel("check", tmp_path / "world.yaml")
    assert "k\\u2066" in ended.out and "\u2066" not in ended.out
    talk = [{"role": "client", "content": HOSTILE}, {"role": "counselor", "content": "Hello."}]
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"turns": talk}) + "\n", encoding="utf-8")
    seen = at_a_terminal("corpus", "check", tmp_path / "corpus.jsonl")
    assert seen.obeyed == [] and b"Traceback" not in seen.screen


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_other_encodings(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing goes round the guard, and what an encoding lacks is written as its number."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding, write_through=True))
    monkeypatch.setattr(sys, "argv", ["simcounsel", "\u4f60\u202e\udc80"])
    monkeypatch.setattr(cli, "app", lambda: cli.typer.echo(sys.argv[1]))
    cli.main()
    said = raw.getvalue().decode("latin-1" if encoding == "latin-1" else "utf-8")
    assert said == ("\\u4f60" if encoding == "latin-1" else "\u4f60") + "\\u202e\\udc80\n"


def test_what_else_is_printed(
    simcounsel: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Logs, warnings, and the traceback of a fault of ours."""

    def app() -> None:
        logging.getLogger("x").warning("logged %s", HOSTILE)
        raise RuntimeError(f"a fault: {HOSTILE}")

    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(cli, "app", app)
    ended = simcounsel()
    assert ended.code == 1
    assert "logged \\u001b]0;OWNED" in ended.err and "a fault: \\u001b]0;OWNED" in ended.err
    assert [one for one in OBEYED if one in ended.err.encode()] == []


def test_tables_and_bars(capsys: pytest.CaptureFixture[str]) -> None:
    with terminal.guarded():
        screen = terminal.console()
        table = Table("who", title="[red]title[/red]" + HOSTILE)
        table.add_row(HOSTILE)
        screen.print(table)
        screen.print("[bold]x[/bold] :smile:")
    out = capsys.readouterr().out
    assert [one for one in OBEYED if one in out.encode()] == []
    assert "[red]title[/red]" in out and "[bold]x[/bold] :smile:" in out


def test_json_is_the_same_json() -> None:
    told = json.dumps({"text": HOSTILE}, ensure_ascii=False)
    assert terminal.visible(told) != told
    assert json.loads(terminal.visible(told)) == {"text": HOSTILE}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
@pytest.mark.parametrize("arguments", [["show", "RUN"], ["--help"]])
def test_standard_output_that_is_full(lived: Run, arguments: list[object]) -> None:
    arguments = [lived.folder if one == "RUN" else one for one in arguments]
    with open("/dev/full", "wb") as full:
        code, err = into(full, *arguments)
    assert code == 1
    assert (
        err
        == "simcounsel: <stdout>: cannot be written (No space left on device); send it elsewhere, or free some space there\n"
    )


@pytest.mark.parametrize("arguments", [["show", "RUN"], ["--help"]])
def test_standard_output_that_nobody_reads(lived: Run, arguments: list[object]) -> None:
    arguments = [lived.folder if one == "RUN" else one for one in arguments]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert into(writing, *arguments) == (141, "")
    finally:
        os.close(writing)


def test_closed_streams(lived: Run) -> None:
    """`simcounsel show RUN <&- >&-`."""
    command = f"exec {sys.executable} -m simcounsel show {lived.folder} <&- >&-"
    ended = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False)  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, b"")
