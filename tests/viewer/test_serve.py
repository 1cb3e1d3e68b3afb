"""The site over HTTP: what it answers, what it refuses."""

import json
import logging
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from simcounsel.engine.forking import fork
from simcounsel.errors import SimcounselError
from simcounsel.events import ConversationStarted, Said
from simcounsel.runs.run import Run
from simcounsel.viewer import guard
from simcounsel.viewer.pages import static_files
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from simcounsel.viewer.serve import listen, serving
from tests.each import each
from tests.stage import go_on, happened, live, tiny

HERE = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def client(lived: Run) -> TestClient:
    return TestClient(make_app(RunList(lived.folder)), base_url=HERE)


@pytest.fixture(scope="module")
def ask(client: TestClient, lived: Run) -> Callable[[str], Any]:
    def get(path: str) -> Any:
        answer = client.get(f"/api/runs/{lived.name}/{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    return get


def test_one_run_is_home(client: TestClient, lived: Run) -> None:
    assert client.get("/", follow_redirects=False).headers["location"] == f"/run/{lived.name}"
    assert client.get(f"/run/{lived.name}").status_code == 200
    assert [run["name"] for run in client.get("/api/runs").json()] == [lived.name]


def test_everything_about_a_run(ask: Callable[[str], Any], lived: Run) -> None:
    found = ask("overview")
    assert (found["run"], found["ticks"], found["problems"]) == (lived.name, 12, [])
    assert ask("size") == {"size": found["size"], "ticks": 12}
    assert ask("person/Ines")["versions"][0]["version"] == 0
    assert {memory["id"] for memory in ask("memories/Ines")} >= {"Ines:0"}
    assert len(ask("recalls/Ines")[0]["hits"]) <= 10
    assert "stood_back" in ask("recalls/Ines")[0]
    chat = happened(lived, ConversationStarted)[0].chat
    talk = ask(f"conversation/{quote(chat)}")
    assert [line["text"] for line in talk["lines"]] == [
        e.text for e in happened(lived, Said) if e.chat == chat
    ]
    assert talk["text"].startswith("Miriam and Ines, Monday 2 March, 09:00, Counseling Center\n")
    behind = ask(f"behind/{talk['lines'][1]['seq']}?tick={talk['tick']}")
    assert behind["event"]["text"] == talk["lines"][1]["text"]
    calls = {call["key"]: call for call in ask(f"calls/{talk['tick']}")}
    for key in behind["keys"]:
        assert calls[key]["messages"][-1]["role"] == "user"
    assert ask("warnings") == []


@each(
    "path",
    [
        "/run/other",
        "/api/runs/other/overview",
        "/api/runs/..%2f..%2fetc/overview",
        "/static/..%2fserve.py",
        "/static/nothing.js",
        "/api/runs/%00/size",
        "/api/compare?a=x&b=y",
        "/nowhere",
    ],
)
def test_not_found(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@each(
    "path",
    [
        "conversation/nothing",
        "conversation/99999999999999:A+B",
        "conversation/1:No+Body",
        "behind/999999?tick=1",
        "behind/1?tick=x",
    ],
)
def test_no_such_part(client: TestClient, lived: Run, path: str) -> None:
    assert client.get(f"/api/runs/{lived.name}/{path}").status_code == 404


@each(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example:8765"}, 403),
        ({"host": ""}, 403),
        ({"host": "[::1"}, 403),
        ({"host": "localhost:1"}, 200),
        ({"host": "[::1]:8765"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": HERE}, 200),
    ],
)
def test_foreign_hosts_and_origins(
    client: TestClient, headers: dict[str, str], status: int
) -> None:
    assert client.get("/api/runs", headers=headers).status_code == status


def test_headers(client: TestClient, lived: Run) -> None:
    for path in ("/api/runs", f"/run/{lived.name}", "/static/run.js", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_no_inline_scripts_or_handlers_in_any_page() -> None:
    files = static_files().values()
    for page in (file for file in files if file.suffix == ".html"):
        html = page.read_text(encoding="utf-8")
        assert "onclick" not in html
        assert "<script>" not in html
        assert "style=" not in html
    published = {
        "d3.min.js",
        "plot.min.js",
    }  # the policy holds for them as well; ours call nothing of theirs that takes HTML
    ours = (file for file in files if file.name not in published)
    for script in (file for file in ours if file.suffix == ".js"):
        source = script.read_text(encoding="utf-8")
        for danger in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            ".html(",
            "csvParse",
        ):
            assert danger not in source, f"{script.name} uses {danger}"


def test_token_on_other_addresses(lived: Run) -> None:
    client = TestClient(
        make_app(RunList(lived.folder), token="s3cret"), base_url="http://lab.example:8765"
    )
    assert client.get("/api/runs").status_code == 401
    assert client.get("/api/runs?token=wrong").status_code == 401
    entered = client.get("/api/runs?x=1&token=s3cret", follow_redirects=False)
    assert (entered.status_code, entered.headers["location"]) == (303, "/api/runs?x=1")
    assert "HttpOnly" in entered.headers["set-cookie"]
    assert "SameSite=lax" in entered.headers["set-cookie"]
    assert client.get("/api/runs").status_code == 200
    assert client.get("/api/runs", headers={"origin": "http://evil.example"}).status_code == 403


def test_length_and_rate_of_posts(lived: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    client = TestClient(make_app(RunList(lived.folder)), base_url=HERE)
    assert client.post("/api/runs", content=b"x" * (guard.BODY_BYTES + 1)).status_code == 413
    assert client.put("/api/runs").status_code == 405
    monkeypatch.setattr(guard, "POSTS", 5)
    assert [client.post("/api/runs", content=b"x").status_code for _ in range(7)][-1] == 429


def test_compare(lived: Run, tmp_path: Path) -> None:
    shutil.copytree(lived.folder, tmp_path / lived.name)
    new = go_on(fork(Run.open(tmp_path / lived.name), 4, {"condition": "client_only"}, tmp_path))
    client = TestClient(make_app(RunList(tmp_path)), base_url=HERE)
    found = client.get(f"/api/compare?a={lived.name}&b={new.name}").json()
    assert found["forked"] == 4
    assert found["parted"] >= 4
    lines = [
        [
            (entry.tick, entry.event.who, entry.event.text)
            for entry in run.entries()
            if isinstance(entry.event, Said) and entry.tick < found["ticks"]
        ]
        for run in (lived, new)
    ]
    assert (found["said"]["a"], found["said"]["b"]) == tuple(map(len, lines))
    assert found["said"]["same"] == len(set(lines[0]) & set(lines[1])) == len(lines[1])
    later = [tick for tick, _, _ in lines[0] if tick >= 4]
    assert found["said"]["parted"] == min(later, default=None)
    assert [one["name"] for one in found["people"]] == ["Ines", "Miriam"]
    together = f"run={lived.name}&run={new.name}"
    several = client.get(f"/api/several?{together}")
    assert several.status_code == 200 and lived.name in several.text
    for page in ("/", f"/compare?a={lived.name}&b={new.name}", f"/several?{together}"):
        assert "<main" in client.get(page).text
    assert {run["parent"] for run in client.get("/api/runs").json()} == {None, lived.name}


def test_one_bad_run_does_not_break_the_list(lived: Run, tmp_path: Path) -> None:
    for name, manifest in (
        ("good", None),
        ("bad", '{"schema_version": 1, "world": {}, "models": null, "versions": null}'),
    ):
        shutil.copytree(lived.folder, tmp_path / name)
        if manifest:
            (tmp_path / name / "manifest.json").write_text(manifest, encoding="utf-8")
    listed = TestClient(make_app(RunList(tmp_path)), base_url=HERE).get("/api/runs")
    assert listed.status_code == 200
    assert {run["name"] for run in listed.json()} == {"good", "bad"}


def test_an_unreadable_version_says_so_and_does_not_break(lived: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(lived.folder, tmp_path / "odd"))
    data = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(
        json.dumps(data | {"schema_version": 0}), encoding="utf-8"
    )
    text = (folder / "events.jsonl").read_text(encoding="utf-8")
    (folder / "events.jsonl").write_text(text.replace('"activity":', '"does":'), encoding="utf-8")
    answer = TestClient(make_app(RunList(folder)), base_url=HERE).get("/api/runs/odd/overview")
    assert answer.status_code == 422
    assert "written with log version 0, this simcounsel reads" in answer.text


@pytest.mark.parametrize(
    "path", [f"calls/{'9' * 5000}", f"behind/1?tick={'9' * 5000}", f"behind/{'9' * 5000}?tick=1"]
)
def test_endless_numbers(client: TestClient, lived: Run, path: str) -> None:
    assert client.get(f"/api/runs/{lived.name}/{path}").status_code == 404


def test_an_origin_that_is_none(client: TestClient) -> None:
    assert client.get("/api/runs", headers={"origin": "http://[x"}).status_code == 403


def test_a_site_leaves_the_process_logging_alone(lived: Run) -> None:
    """uvicorn's own setting up of logging closes all handlers, and some of them close the stream that they write to."""
    closed: list[bool] = []

    class Watched(logging.StreamHandler[Any]):
        def close(self) -> None:
            closed.append(True)
            super().close()

    handler = Watched()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SimcounselError, match="choose another --port"):
            listen(
                make_app(RunList(lived.folder)),
                host="127.0.0.1",
                port=taken.getsockname()[1],
                opened=print,
            )
    with serving(make_app(RunList(lived.folder)), host="127.0.0.1", port=0):
        pass
    assert not closed
    handler.close()


def test_runs_of_sweeps_below_are_listed_and_opened(tmp_path: Path) -> None:
    run = live(tmp_path / "sweeps" / "sleep", tiny(), ticks=2)
    live(tmp_path / "sweeps", tiny(seed=9), ticks=1)
    (tmp_path / "sweeps" / "loop").symlink_to(tmp_path)
    client = TestClient(make_app(RunList(tmp_path / "sweeps")), base_url=HERE)
    listed = {one["name"] for one in client.get("/api/runs").json()}
    deep = f"sleep:{run.name}"
    assert deep in listed and len(listed) == 2
    assert client.get(f"/run/{deep}").status_code == 200
    assert client.get(f"/api/runs/{deep}/overview").json()["ticks"] == 2
    assert client.get(f"/api/runs/{run.name}/overview").status_code == 404
    assert client.get("/api/runs/..:x/overview").status_code == 404
