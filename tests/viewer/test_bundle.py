"""One file that holds a run."""

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from simcounsel.errors import RunError
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.viewer import bundle
from simcounsel.viewer.pages import STATIC
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.stage import seal


@pytest.fixture(scope="module")
def page(lived: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("bundle") / "day.html"
    assert bundle.write_bundle(Log(lived.folder), file) == []
    return file.read_text(encoding="utf-8")


def held(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return dict(json.loads(found.group(1)))


def test_it_holds_what_the_site_would_answer(page: str, lived: Run) -> None:
    client = TestClient(make_app(RunList(lived.folder)), base_url="http://127.0.0.1")
    data = held(page)
    assert {
        "overview",
        "warnings",
        "person/Ines",
        "memories/Miriam",
        "recalls/Ines",
        "calls/3",
    } <= set(data)
    for path, value in data.items():
        if path.startswith("calls/"):
            continue
        head, question, query = path.partition("?")
        asked = "/".join(quote(part, safe="") for part in head.split("/")) + question + query
        assert client.get(f"/api/runs/{lived.name}/{asked}").json() == value, path


def test_nothing_from_outside(page: str) -> None:
    assert "src=" not in re.sub(r"<script type=\"module\">.*", "", page, flags=re.DOTALL).replace(
        "default-src", ""
    ).replace("script-src", "").replace("style-src", "").replace("img-src", "")
    assert "import {" not in page
    assert 'http-equiv="Content-Security-Policy"' in page
    assert "unsafe" not in page.split("<style>")[0]


def test_hostile_text_cannot_leave_its_element(lived: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(lived.folder, tmp_path / "run"))
    log = (folder / "events.jsonl").read_text(encoding="utf-8")
    said = json.loads(next(line for line in log.splitlines() if '"kind":"said"' in line))
    nasty = (
        "</script><script>alert(1)</script><!-- \u2028 \u202e \x00 <img src=x onerror=alert(1)>"
        + "x" * 100_000
    )
    file = tmp_path / "out.html"
    (folder / "events.jsonl").write_text(
        log.replace(json.dumps(said["text"], ensure_ascii=False), json.dumps(nasty)),
        encoding="utf-8",
    )
    (folder / "manifest.json").write_text(
        (folder / "manifest.json")
        .read_text(encoding="utf-8")
        .replace('"name": "Tiny"', '"name": "<b>&\\"Tiny\\u202e"'),
        encoding="utf-8",
    )
    seal(folder)
    bundle.write_bundle(Log(folder), file)
    page = file.read_text(encoding="utf-8")
    assert page.count("</script>") == 2
    assert page.count("<script") == 2
    assert "<!--" not in page
    assert "Tiny\\u202e: simcounsel</title>" in page
    assert "<b>" not in page.split("<style>")[0]
    talk: Any = held(page)[f"conversation/{said['chat']}"]
    assert nasty in [line["text"] for line in talk["lines"]]


def test_too_many_prompts_are_left_out_and_said(
    lived: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "PROMPTS_MOST", 1000)
    assert bundle.write_bundle(Log(lived.folder), tmp_path / "x.html") == [
        "the prompts and replies, which are too many for one file"
    ]
    assert not any(
        path.startswith("calls/")
        for path in held((tmp_path / "x.html").read_text(encoding="utf-8"))
    )


def test_a_place_that_cannot_be_written(lived: Run, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be written"):
        bundle.write_bundle(Log(lived.folder), tmp_path / "nowhere" / "x.html")


def test_the_chart_library_is_as_it_was_published() -> None:
    """D3 7.9.2 and Observable Plot 0.6.17, as npm gives them."""
    published = {
        "d3.min.js": "912111098ea99503a6f4967361d2bbdc9dbf58cf9c678c8e27e5b02d1a07f0c1",
        "plot.min.js": "4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb",
    }
    for name, digest in published.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest
