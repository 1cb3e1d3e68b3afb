"""The notebooks run from top to bottom, and what they show in a notebook is safe and true."""

import os
import re
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import simcounsel
from analysis.report import make
from simcounsel import Run, Sweep
from simcounsel.viewer.frame import Frame
from tests.stage import ROOT, live, tiny
from tests.viewer.conftest import chromium as starting

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow(15)
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder, with the scripted model, as they are; nothing goes wrong, nothing warns."""
    nbformat = pytest.importorskip("nbformat", reason="pip install -e '.[test-all]'")
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(file, as_version=4)
    assert not [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs], (
        "kept without outputs"
    )
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    outputs = [one for cell in notebook.cells if cell.cell_type == "code" for one in cell.outputs]
    assert not [one for one in outputs if one.output_type == "error"]
    said = [
        one.text for one in outputs if one.get("name") == "stderr" and "TqdmWarning" not in one.text
    ]
    assert not said, "but for tqdm's word on ipywidgets, which need not be there"
    if file.stem == "psychologist":
        html = "".join(one.get("data", {}).get("text/html", "") for one in outputs)
        assert (
            "<iframe src='http://127.0.0.1:" in html and "Thank you. I don't really sleep" in html
        )
        assert [one for one in outputs if "image/png" in one.get("data", {})], "the plot"
        told = [
            one.data.get("text/plain", "") for one in outputs if one.output_type == "display_data"
        ]
        assert any(re.match(r"24 of 24 ticks, \d+ requests", one) for one in told), "how far it is"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(tmp_path_factory.mktemp("shown") / "<script>", tiny())


def test_what_a_notebook_shows_is_escaped(run: Run, tmp_path: Path) -> None:
    for shown in (run, Sweep.of("quick", tmp_path / "<b>", model="scripted"), make([run.folder])):
        html = shown._repr_html_()
        assert "<script" not in html and "<b>" not in html and "<table" in html


def test_a_sweep_of_a_name_shows_its_runs(tmp_path: Path) -> None:
    sweep = Sweep.of("quick", tmp_path, model="scripted")
    html = sweep._repr_html_()
    assert all(name in html for name in sweep.progress) and "waiting" in html


@pytest.fixture
def holding() -> Iterator[tuple[str, list[str]]]:
    """A page of another address of this machine that holds a frame, as a notebook does."""
    frame: list[str] = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<!doctype html><title>notebook</title>{frame[0]}".encode())

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/", frame
        server.shutdown()


@pytest.mark.slow(5)
def test_the_viewer_is_shown_within_another_page_of_this_machine(
    run: Run, holding: tuple[str, list[str]]
) -> None:
    address, held = holding
    with (
        simcounsel.view(run, height=500) as view,
        contextmanager(starting.__wrapped__)() as browser,
    ):  # type: ignore[attr-defined]
        assert isinstance(view, Frame) and view.address in repr(view)
        held.append(view._repr_html_())
        page = browser.new_page()
        page.goto(address)
        inner = page.frame_locator("iframe")
        inner.get_by_role("tab", name="Conversations").wait_for(timeout=20_000)
        policy = urllib.request.urlopen(view.address).headers["content-security-policy"]
        assert (
            "frame-ancestors http://localhost:* http://127.0.0.1:*" in policy and "*;" not in policy
        )
    with pytest.raises(OSError):
        urllib.request.urlopen(view.address, timeout=3)


def test_the_lines_in_r_name_columns_that_are_there(run: Run, tmp_path: Path) -> None:
    """R is not here; what its document reads is held against the tables that it is given."""
    import pandas
    from typer.testing import CliRunner

    from analysis.__main__ import app

    done = CliRunner().invoke(app, ["tables", str(run.folder), "--out", str(tmp_path / "tables")])
    assert done.exit_code == 0, done.output
    text = (ROOT / "docs" / "notebooks" / "r_user.qmd").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```\{r\}\n(.*?)```", text, re.DOTALL))
    read = dict(re.findall(r'(\w+) <- read\.csv\("tables/(\w+)\.csv"\)', code))
    assert set(read.values()) >= {"talk", "activities", "outcomes"}
    for frame, table in read.items():
        there = (
            set(pandas.read_csv(tmp_path / "tables" / f"{table}.csv").columns)
            if os.path.getsize(tmp_path / "tables" / f"{table}.csv") > 2
            else set()
        )
        named = set(re.findall(rf"\b{frame}\$(\w+)", code))
        assert named <= there, f"{table}: {named - there}"
    assert re.search(r"\b\w+\$\w+", code)
