"""Who is let in: links cannot be guessed, posts come from the site's own pages, sessions are bound to it."""

from pathlib import Path

from starlette.testclient import TestClient

from simcounsel.trial.gate import MOST_LOGINS, MOST_MISSES, Often, is_password, password_hash
from simcounsel.trial.sealing import read_secrets
from simcounsel.trial.site import make_site
from tests.trial.stage import Browser, links, running, site, written


def test_a_wrong_link_opens_nothing_and_few_can_be_tried(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        for _ in range(MOST_MISSES):
            answer = client.get("/t/" + "A" * 22, follow_redirects=False)
            assert answer.status_code == 404 and "set-cookie" not in answer.headers
        assert client.get("/t/" + "B" * 22).status_code == 429
        assert client.get(links(tmp_path)[0], follow_redirects=False).status_code == 429


def test_a_post_of_another_site_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one._mine()
        body = {"do": "information"}
        foreign = {"origin": "https://evil.example"}
        assert client.post("/api/do", json=body, headers=foreign).status_code == 403
        assert client.post("/api/do", json=body, headers={"x-simcounsel": ""}).status_code == 403
        form = {"content-type": "application/x-www-form-urlencoded"}
        assert client.post("/api/do", content="do=information", headers=form).status_code == 415
        assert client.get("/api/state", headers={"host": "evil.example"}).status_code == 421
        assert client.put("/api/state").status_code == 405
        long = client.post(
            "/api/do",
            content=b'{"x": "' + b"x" * 70_000 + b'"}',
            headers={"content-type": "application/json"},
        )
        assert long.status_code == 413
        assert found.people["P001"].informed is False


def test_cookies_are_for_the_server_alone(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found:
        kept = read_secrets(tmp_path)
        app = make_site(
            found,
            base="https://trial.example.org",
            code=None,
            password=(kept["salt"], kept["password"]),
        )
        with TestClient(app, base_url="https://trial.example.org") as client:
            answer = client.get(links(tmp_path)[0], follow_redirects=False)
            cookie = answer.headers["set-cookie"].lower()
            assert cookie.startswith("__host-simcounsel_take=")
            for flag in ("httponly", "secure", "samesite=lax", "path=/"):
                assert flag in cookie
            assert answer.headers["location"] == "/take"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "script-src 'self'" in answer.headers["content-security-policy"]
            assert answer.headers["strict-transport-security"]


def test_one_participant_reads_nothing_of_another(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one, two = (Browser(client, link) for link in links(tmp_path)[:2])
        one.enter("Robin")
        two.enter("Sam")
        one.heard()
        one.say("A private matter of mine.")
        one.heard(2)
        assert "private matter" not in str(two.heard()) + str(two.state())
        client.cookies.clear()
        assert client.get("/api/state").status_code == 401
        assert client.get("/api/talk").status_code == 401


def test_few_passwords_can_be_tried(tmp_path: Path, monkeypatch: object) -> None:
    from simcounsel.trial import site as module

    monkeypatch.setattr(module, "WAIT_S", 0.0)  # type: ignore[attr-defined]
    password = written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        for _ in range(MOST_LOGINS):
            assert client.post("/api/watch/login", json={"password": "x"}).status_code == 403
        assert client.post("/api/watch/login", json={"password": password}).status_code == 429


def test_an_open_link_wants_its_code_and_knows_a_panels_people(tmp_path: Path) -> None:
    written(tmp_path, people=2, open_link=True)
    with running(tmp_path) as found, site(found) as client:
        code = read_secrets(tmp_path)["code"]
        assert client.post("/api/join", json={"query": "?code=wrong"}).status_code == 404
        query = f"?code={code}&PROLIFIC_PID=abc&other=x"
        assert client.post("/api/join", json={"query": query}).json() == {"ok": True}
        client.cookies.clear()
        assert client.post("/api/join", json={"query": query}).json() == {"ok": True}
        assert list(found.people) == ["P001"], "the same person again"
        (known,) = found.store.people()
        assert known.panel == {"PROLIFIC_PID": "abc"}


def test_texts_are_in_a_language_of_the_trial(tmp_path: Path) -> None:
    written(tmp_path, languages="languages: [fa]", locale="locale: fa-IR")
    with running(tmp_path) as found, site(found) as client:
        for asked in ("en", "de", ""):
            assert client.get(f"/api/texts?language={asked}").json()["language"] == "fa"


def test_counts_are_of_a_minute() -> None:
    now = [0.0]
    often = Often(2, lambda: now[0])
    assert [often.count("a"), often.count("a"), often.count("a")] == [True, True, False]
    assert often.blocked("a") and not often.blocked("b")
    now[0] = 61
    assert not often.blocked("a") and often.count("a")


def test_passwords_are_kept_as_scrypt() -> None:
    import hashlib

    wanted = hashlib.scrypt(b"word", salt=b"salt", n=16384, r=8, p=1).hex()
    assert password_hash("word", "salt") == wanted
    assert is_password("word", "salt", wanted) and not is_password("other", "salt", wanted)
