"""No key and no password leaves a run: not by a file, a page, a report or the screen, whoever repeats it."""

import base64
import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from simcounsel import secret
from simcounsel.engine import simulation
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import ModelError, SpecError
from simcounsel.hosts import VARIABLE, hosts_file, place_of
from simcounsel.llm.catalog import open_chat, open_embed
from simcounsel.llm.models import Failure
from simcounsel.llm.openai import OpenAIModel
from simcounsel.llm.question import embedding
from simcounsel.llm.servers import KEY
from simcounsel.runs.chain import fields_digest
from simcounsel.runs.run import Run
from simcounsel.secret import credentials_in, remember, remember_environment, scrub, scrub_data
from simcounsel.specs.world_file import load_world
from tests.commands import Command, only_run
from tests.each import each
from tests.llm.server import FaultServer, default_answer
from tests.llm.test_openai import ask_for, complete
from tests.screens import at_a_terminal
from tests.stage import NEVER, ROOT, TINY, changed, go_on, log, tiny

MINE = "Correct.Horse/Battery+Staple"
"""A key that only its name in the environment gives away."""
THEIRS = "sk-ant-api03-Zx81kLq0pTrW55aa-_Yv"
"""A key of somebody else, which only its form gives away."""
PASSWORD = "hunter2-swordfish"
HELD = (MINE, THEIRS, PASSWORD)


@pytest.fixture(autouse=True)
def own_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """A folder of settings of one's own; what is remembered here is forgotten."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    monkeypatch.setattr(secret, "_known", secret._Known())
    yield


def leaks(*folders: Path) -> list[str]:
    """Where one of the secrets stands, as it is or as an address or JSON would write it."""
    forms = {form for one in HELD for form in (one, json.dumps(one)[1:-1], one.replace("/", "%2F"))}
    return [
        f"{file}: {form}"
        for folder in folders
        for file in (folder.rglob("*") if folder.is_dir() else [folder])
        if file.is_file()
        for form in forms
        if form.encode() in file.read_bytes()
    ]


# what is one

SECRETS = [
    THEIRS,
    "sk-proj-0123456789abcdefABCDEF",
    "sk-or-v1-6a7b8c9d0e1f2a3b4c5d6e7f",
    "gsk_aBcDeFgHiJkLmNoPqRsTuVwX1234",
    "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZabcd",
    "ghp_0123456789abcdefghijABCDEFGHIJ",
    "github_pat_11ABCDEFG0abcdefghij_klmnop",
    "glpat-12345_abcde-67890fg",
    "xoxb-123456789012-abcdefGHIJ",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "sk_live_0123456789abcdefABCD",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
]


@each("one", SECRETS)
@each(
    "around",
    ["{}", "the key {}, he said", "key={}&x=1", '{{"a":"{}"}}', "密钥{}。", "“{}”", "({})"],
)
def test_what_vendors_call_a_key_is_hidden_wherever_it_stands(one: str, around: str) -> None:
    assert scrub(around.format(one)) == around.format("***")


@each(
    ("text", "hidden"),
    [
        (f"Authorization: Bearer {MINE}99", "Authorization: Bearer ***"),
        ("authorization: Basic dXNlcjpwYXNz", "authorization: Basic ***"),
        (f"http://user:{PASSWORD}@host/v1/m", "http://***@host/v1/m"),
        ("https://user:p@ss@host:8000/v1", "https://***@host:8000/v1"),
        ("http://user:pa/ss@host/v1", "http://***@host/v1"),
        ("postgres://me:word@db", "postgres://***@db"),
        ("/v1?a=1&api_key=abc#x", "/v1?a=1&api_key=***#x"),
        ("https://h/v1?api-key=abc&b=2", "https://h/v1?api-key=***&b=2"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----!", "***!"),
    ],
)
def test_what_is_sent_or_written_as_a_secret_is_hidden(text: str, hidden: str) -> None:
    assert scrub(text) == hidden
    assert scrub(hidden) == hidden


@each(
    "text",
    [
        "The bearer of bad news; bearer responsibilities-and-more, a task-based desk-2024-review",
        "http://localhost:11434/v1/llama3.1 and mail to me@example.org, https://medium.com/@me",
        "http://127.0.0.1:8000/users/@me http://[::1]:8000/v1/m",
        "网址http://example.com，请联系me@example.org",
        "open http://127.0.0.1:4000/rate/?token=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5",
        "set SIMCOUNSEL_API_KEY=... or OPENAI_API_KEY; sk-learn-compatible-interface; api_key=",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "我昨晚没睡好，心里总是七上八下的。她说：“慢慢来。”",
        "AKIA is no word; eyJ neither",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert scrub(text) is text


def test_our_own_files_and_logs_stay_as_they_are(lived: Run) -> None:
    folders = ("worlds", "personas", "experiments", "simcounsel", "tests/golden")
    files = [
        file
        for folder in [*(ROOT / name for name in folders), lived.folder]
        for file in folder.rglob("*")
        if file.suffix in (".py", ".yaml", ".md", ".txt", ".json", ".jsonl", ".js", ".html")
    ]
    assert len(files) > 300
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        assert scrub(text) == text, file


def test_vectors_stay_as_they_are() -> None:
    """Also such as would hold a key by chance."""
    draw = random.Random(1)
    for _ in range(200):
        text = base64.b64encode(draw.randbytes(3000)).decode()
        for planted in ("AKIAIOSFODNN7EXAMPLE", "AIzaSyA1234567890abcdefghijklmnopqrstuv"):
            at = draw.randrange(1, 3000)
            inside = text[:at] + planted + text[at:]
            assert scrub(f'{{"vectors":"{inside}"}}') == f'{{"vectors":"{inside}"}}'


def test_what_is_left_out_of_the_search_holds_no_key() -> None:
    """Texts of any length, with hashes as an event has them beside keys and within words."""
    draw = random.Random(2)
    hashes = [f'"{draw.randbytes(16).hex()}"' for _ in range(4)]
    keys = [THEIRS, "AKIAIOSFODNN7EXAMPLE", "hf_" + "a1" * 12, f"sk-{hashes[0][1:-1]}", "gsk_x"]
    words = [*hashes, *keys, hashes[1][:-1], "é", '"', ' "', ",", " and ", "-", "x" * 18, "task-"]
    pattern = secret._known.pattern
    hidden = 0
    for _ in range(5000):
        text = "".join(draw.choices(words, k=draw.randrange(1, 20)))
        wanted = pattern.sub(secret.HIDDEN, text)
        assert scrub(text) == scrub(text) == wanted, text
        hidden += wanted != text
    assert 1000 < hidden < 4000


def test_known_keys_are_hidden_in_every_way_of_writing_them() -> None:
    key = 'quo"ted\\key/1'
    assert scrub(f"a {key} b") == f"a {key} b"
    remember(key)
    for written in (
        key,
        json.dumps(key)[1:-1],
        json.dumps(json.dumps(key))[3:-3],
        "quo%22ted%5Ckey/1",
    ):
        assert scrub(f"a {written} b") == "a *** b"
    remember("short")
    assert scrub("a short word") == "a short word"


def test_the_environment_names_its_keys() -> None:
    remember_environment(
        {
            "OPENAI_API_KEY": "first-of-them",
            "HF_TOKEN": "second-of-them",
            "DB_PASSWORD": "third-of-them",
            "aws_secret_access_key": "fourth-of-them",
            "CHAT_TOKEN": "123456789",
            "SITE_PASSWORD": "counselor",
            "HOME": "/home/somebody",
            "TOKENIZERS_PARALLELISM": "sometimes",
        }
    )
    left = "/home/somebody sometimes 123456789 counselor"
    assert scrub(f"first-of-them second-of-them third-of-them fourth-of-them {left}") == (
        f"*** *** *** *** {left}"
    )


def test_data_keeps_its_form() -> None:
    data = {"a": [THEIRS, 1, None, {"b": ("x", THEIRS)}], "c": "plain"}
    assert scrub_data(data) == {"a": ["***", 1, None, {"b": ("x", "***")}], "c": "plain"}
    plain = {"a": ["x", {"b": "y"}]}
    assert scrub_data(plain) is plain


# addresses

BAD = [
    f"http://user:{PASSWORD}@host:8000/v1/m",
    f"https://{PASSWORD}@host/v1/m",
    f"http://user:{PASSWORD}/more@host/v1/m",
    f"http://user:{PASSWORD}@else@host/v1/m",
    f"HTTP://user:{PASSWORD}@host/v1#m",
    f"https://host/v1?api_key={PASSWORD}#m",
    f"https://host/v1/m?key={PASSWORD}",
    f"recorded:http://user:{PASSWORD}@host/v1/m",
    f"https://host/{THEIRS}/v1/m",
    f"https://host/v1#{THEIRS}",
    f"openai:{THEIRS}",
]


@each("name", BAD)
def test_an_address_with_a_secret_is_refused_and_not_repeated(name: str) -> None:
    for opens in (open_chat, open_embed):
        with pytest.raises(ModelError) as caught:
            opens(name)
        assert KEY in str(caught.value) and "take it out" in str(caught.value)
        assert not [one for one in HELD if one in str(caught.value)]
    if name.startswith("http"):
        with pytest.raises(ModelError, match="take it out"):
            OpenAIModel(name="m", base_url=name, model="m")


@pytest.mark.parametrize(
    "name", ["http://localhost:8000/v1/m", "https://h/v1/@cf/meta/llama", "https://h/a#org/m@2"]
)
def test_other_addresses_are_not(name: str) -> None:
    assert credentials_in(name) is None
    open_chat(name)


def world_with(folder: Path, models: str, ticks: int = 1) -> Path:
    file = folder / "world.yaml"
    text = TINY.read_text(encoding="utf-8").replace("../personas", str(ROOT / "personas"))
    text = text.replace("ticks: 12", f"ticks: {ticks}")
    file.write_text(f"{text}models: {models}\n", encoding="utf-8")
    return file


def experiment_with(folder: Path, models: str) -> Path:
    """An experiment with the world of that folder."""
    file = folder / "experiment.yaml"
    file.write_text(
        f"name: e\nworlds: [world.yaml]\nseeds: [1]\nconditions: [{{name: a}}]\nmodels: {models}\n",
        encoding="utf-8",
    )
    return file


@pytest.mark.parametrize("name", BAD)
def test_wherever_it_is_written(simcounsel: Command, tmp_path: Path, name: str) -> None:
    world = world_with(tmp_path, f"{{reason: '{name}', embed: scripted}}")
    (tmp_path / "good").mkdir()
    good = world_with(tmp_path / "good", "{embed: scripted}")
    experiment = experiment_with(tmp_path / "good", f"{{reason: '{name}'}}")
    patched = tmp_path / "good" / "patched.yaml"
    text = experiment_with(tmp_path / "good", "{embed: scripted}").read_text(encoding="utf-8")
    patched.write_text(
        text.replace("{name: a}", f"{{name: a, set: {{models.reason: '{name}'}}}}"),
        encoding="utf-8",
    )
    experiment_with(tmp_path / "good", f"{{reason: '{name}'}}")
    roles = tmp_path / "roles.yaml"
    roles.write_text(f"default: '{name}'\n", encoding="utf-8")
    for command in (
        ["run", world],
        ["check", world],
        ["run", good, "--model", name],
        ["run", good, "--set", f"models.reason={name}"],
        ["sweep", experiment, "--dry-run"],
        ["sweep", patched, "--dry-run"],
        ["synthesize", "--models", roles],
        ["synthesize", "--model", name],
        ["clinic", good, "--model", name],
    ):
        ended = simcounsel(*command)
        told = ended.out + ended.err
        assert ended.code == 1, (command, told)
        assert KEY in told, (command, told)
        assert not [one for one in HELD if one in told], (command, told)
    for file in (world, experiment):
        assert f"{file}:" in simcounsel("check", file).out
    assert not (tmp_path / "runs").exists()


def test_an_older_run_with_a_password_in_its_manifest_can_be_read_and_does_not_tell_it(
    simcounsel: Command, tmp_path: Path
) -> None:
    run = Simulation(tiny(), out=tmp_path).run(1)
    file = run.folder / "manifest.json"
    written = json.loads(file.read_text(encoding="utf-8"))
    written["models"]["reason"] = f"http://user:{PASSWORD}@host/v1/m"
    written["world"]["models"]["reason"] = f"http://user:{PASSWORD}@host/v1/m"
    file.write_text(json.dumps(written | {"digest": fields_digest(written)}), encoding="utf-8")
    page = tmp_path / "page.html"
    shown = simcounsel("show", run.folder)
    assert shown.code == 0 and "http://***@host/v1/m" in shown.out
    assert simcounsel("view", run.folder, "--html", page).code == 0
    assert not leaks(page) and PASSWORD not in shown.out
    resumed = simcounsel("resume", run.folder)
    assert resumed.code == 1 and KEY in resumed.err and PASSWORD not in resumed.err


def test_an_error_in_a_file_does_not_repeat_what_it_quotes(tmp_path: Path) -> None:
    for models in (
        f"{{reason: ['http://user:{PASSWORD}@h/v1/m']}}",
        f"{{timeouts: {{'http://user:{PASSWORD}@h/v1/m': {{read: 5}}}}}}",
        f"{{'http://user:{PASSWORD}@h/v1/m': scripted}}",
    ):
        with pytest.raises(SpecError) as caught:
            load_world(world_with(tmp_path, models))
        assert PASSWORD not in str(caught.value), models


def test_a_key_in_a_world_is_hidden_when_the_run_begins(tmp_path: Path) -> None:
    file = world_with(tmp_path, "{reason: scripted, embed: scripted}", ticks=4)
    text = file.read_text(encoding="utf-8")
    persona = tmp_path / "ines.yaml"
    ines = (ROOT / "personas" / "ines.yaml").read_text(encoding="utf-8")
    persona.write_text(ines.replace("notebook", f"notebook {THEIRS}"), encoding="utf-8")
    file.write_text(re.sub(r"persona: [^,}]*ines.yaml", "persona: ines.yaml", text))
    whole = Simulation(file, out=tmp_path / "one").run()
    begun = Simulation(file, out=tmp_path / "two").run(2)
    go_on(begun)
    assert log(begun) == log(whole)
    assert "***" in (whole.folder / "manifest.json").read_text(encoding="utf-8")
    assert not leaks(tmp_path / "one", tmp_path / "two")


def test_a_name_that_is_a_password_is_an_error_in_words(
    simcounsel: Command, tmp_path: Path
) -> None:
    """Written as `***` it is no name."""
    remember(PASSWORD)
    out = ("--model", "scripted", "--out", tmp_path / "runs")
    file = world_with(tmp_path, "{reason: scripted, embed: scripted}")
    text = re.sub("name: Tiny", f"name: {PASSWORD}", file.read_text(encoding="utf-8"))
    (tmp_path / "named.yaml").write_text(text, encoding="utf-8")
    for given, code, where in (
        ((file, "--set", f"name={PASSWORD}"), 2, "name: the value is a key or password"),
        ((tmp_path / "named.yaml",), 1, "world.name: it is a key or password"),
    ):
        ended = simcounsel("run", *given, *out)
        told = " ".join(ended.err.replace("│", " ").split())
        assert (ended.code, where in told) == (code, True), ended
        assert "Traceback" not in told and not [one for one in HELD if one in ended.out + told]
        assert not list((tmp_path / "runs").glob("*")), "no folder is left behind"


def test_a_world_is_searched_once_when_a_run_begins_and_once_when_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = tiny()
    text = world.residents[0].persona.background
    searched: list[str] = []

    def counted(one: str) -> str:
        searched.append(one)
        return scrub(one)

    monkeypatch.setattr(secret, "scrub", counted)
    run = Simulation(world, out=tmp_path).run(1)
    assert searched.count(text) == 1, "a large world takes long to search"
    searched.clear()
    go_on(run, 1)
    assert searched.count(text) == 1


def test_a_key_that_is_known_only_when_the_models_are_opened_is_not_lived_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is run is what the manifest says, else a resume would go on with another world."""
    world = tiny()
    first = world.residents[0]
    persona = first.persona.model_copy(update={"background": f"She knows {MINE}."})
    world = changed(
        world, residents=(first.model_copy(update={"persona": persona}), *world.residents[1:])
    )
    monkeypatch.setattr(simulation, "check_models", lambda about: remember(MINE))
    with Simulation(world, out=tmp_path) as begun:
        lived = begun.world.residents[0].persona.background
        assert lived == "She knows ***."
        assert begun.world == begun.record.world
    assert not leaks(tmp_path)


# servers that repeat a key


def echoing(server: "list[FaultServer]", body: dict[str, Any]) -> str:
    """What the key is, in every text that is answered."""
    said = f"{server[0].headers[-1].get('Authorization')} and {THEIRS}"
    answer = default_answer(body)
    try:
        data = json.loads(answer)
    except ValueError:
        return f"{answer} {said}"
    if not isinstance(data, dict):
        return answer
    return json.dumps({key: _told(value, said) for key, value in data.items()})


def _told(value: Any, said: str) -> Any:
    if isinstance(value, dict):
        return {key: _told(one, said) for key, one in value.items()}
    if isinstance(value, list):
        return [_told(one, said) for one in value]
    return f"{value} {said}" if isinstance(value, str) and " " in value else value


@contextmanager
def echo_server(**kind: Any) -> Iterator[FaultServer]:
    held: list[FaultServer] = []

    def amend(answer: dict[str, Any]) -> None:
        told = held[0].headers[-1].get("Authorization")
        answer |= {"echo": told, "id": told, "model": told}
        answer["choices"][0]["finish_reason"] = told

    with FaultServer(answer=lambda body: echoing(held, body), amend=amend, **kind) as server:
        held.append(server)
        yield server


@pytest.mark.slow(8)
@pytest.mark.usefixtures("undrawn")
def test_a_key_that_a_server_repeats_reaches_no_file_no_page_no_report_no_screen(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_with(tmp_path, "{embed: scripted}", ticks=4)
    with echo_server(faults=lambda index: "no choices" if index % 7 == 3 else None) as server:
        model = f"{server.url}/m"
        seen = at_a_terminal(
            "run",
            world,
            "--model",
            model,
            "--out",
            tmp_path / "runs",
            "--set",
            "fallbacks.most=1",
            **{KEY: MINE},
        )
        assert seen.code == 0, seen.screen.decode()
        assert f"Bearer {MINE}" == server.headers[-1]["Authorization"]
        run = only_run(tmp_path / "runs")
        asked = at_a_terminal(
            "talk", run.folder, "--who", "Ines", "--model", model, typed="Why?\n\n", **{KEY: MINE}
        )
        monkeypatch.setenv(KEY, MINE)
        others = [
            simcounsel(*words)
            for words in (
                ("rate", run.folder, "--instrument", "phq9", "--model", model),
                ("view", run.folder, "--html", tmp_path / "page.html"),
                ("show", run.folder, "--who", "Ines", "--day", "0"),
                ("show", run.folder, "--conversation", "1"),
                ("report", run.folder, "--out", tmp_path / "report"),
            )
        ]
    assert b"***" in (run.folder / "events.jsonl").read_bytes()
    assert asked.code == 0 and [one.code for one in others] == [0] * 5, others
    assert (tmp_path / "report" / "report.html").is_file() and not leaks(tmp_path)
    screens = [seen.screen, asked.screen, *((one.out + one.err).encode() for one in others)]
    assert not [held for held in HELD for screen in screens if held.encode() in screen]


def test_log_and_recording_agree_on_what_was_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, MINE)
    with echo_server() as server:
        world = changed(tiny(), fallbacks=NEVER).with_one_model(
            {"reason": f"{server.url}/m", "quick": None, "judge": None}
        )
        monkeypatch.setenv(VARIABLE, place_of(server.url) or "")
        run = Simulation(world, out=tmp_path / "one").run(2)
        go_on(run, 2)
        whole = Simulation(world, out=tmp_path / "two").run(4)
    assert log(run) == log(whole) and b"***" in log(run)
    recorded = f"recorded:{run.folder}"
    again = changed(tiny(), fallbacks=NEVER).with_one_model({"reason": recorded, "embed": recorded})
    monkeypatch.delenv(KEY)
    assert log(Simulation(again, out=tmp_path / "three").run(4)) == log(run)


@pytest.mark.parametrize("status", ["400", "401", "404", "500"])
def test_an_error_that_repeats_the_key(status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.llm import server as served

    monkeypatch.setattr(
        served, "_error",
        lambda code, message, headers=None: served.web.json_response(
            {"error": {"message": f"key {MINE} and {THEIRS} at http://u:{PASSWORD}@h"}}, status=code
        ),
    )  # fmt: skip
    remember(MINE)
    with FaultServer(faults=lambda index: status) as server, pytest.raises(Failure) as caught:
        complete(server.url, ask_for(), api_key=MINE)
    assert caught.value.cause == f"HTTP {status}: key *** and *** at http://***@h"
    assert not [one for one in HELD if one in repr(caught.value) + str(caught.value)]


def test_a_redirect_is_not_followed_and_does_not_tell_the_key() -> None:
    with FaultServer() as other:
        location = f"{other.url}/chat/completions?api_key={PASSWORD}&also={MINE}"
        with (
            FaultServer(faults=lambda index: "307", location=location) as server,
            pytest.raises(Failure) as caught,
        ):
            complete(server.url, ask_for(), api_key=MINE)
        assert other.bodies == []
    assert "moved to" in caught.value.cause and "api_key=***&also=***" in caught.value.cause


def test_vectors_that_do_not_come_tell_no_key() -> None:
    remember(MINE)
    amended = {"error": {"message": f"your key is {MINE}"}}
    with FaultServer() as server:
        server._embedding = lambda body: amended  # type: ignore[method-assign]
        model = open_embed(f"{server.url}/e")

        async def go() -> None:
            try:
                await model.embed(embedding("p", "w", ("a",)).texts)
            finally:
                await model.close()

        import asyncio

        with pytest.raises(Failure, match=r"your key is \*\*\*"):
            asyncio.run(go())


def test_a_traceback_tells_no_key(tmp_path: Path) -> None:
    """A fault of ours that quotes a key, in a package's command."""
    package = tmp_path / "brokenpackage.py"
    package.write_text(
        "import typer\napp = typer.Typer()\n@app.callback(invoke_without_command=True)\n"
        f"def go() -> None:\n    raise ZeroDivisionError('with {THEIRS} and {MINE}')\n",
        encoding="utf-8",
    )
    info = tmp_path / "brokenpackage-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brokenpackage\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[simcounsel.commands]\nbroken = brokenpackage:app\n")
    path = f"{ROOT}:{tmp_path}"
    seen = at_a_terminal("broken", **{KEY: MINE, "PYTHONPATH": path})
    assert seen.code == 1 and b"ZeroDivisionError: with *** and ***" in seen.screen


# hosts


def test_a_key_is_not_sent_to_a_host_that_only_a_file_names(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultServer() as server:
        place = place_of(server.url)
        world = world_with(tmp_path, f"{{reason: '{server.url}/m', embed: scripted}}")
        monkeypatch.setenv(KEY, MINE)
        stopped = simcounsel("run", world)
        assert stopped.code == 1 and server.bodies == []
        assert f"simcounsel models allow {place}" in stopped.err and MINE not in stopped.err
        assert not (tmp_path / "runs").exists()

        allowed = simcounsel("models", "allow", place)
        assert allowed.code == 0 and str(hosts_file()) in allowed.out
        assert hosts_file().read_text(encoding="utf-8") == f"{place}\n"
        assert simcounsel("run", world).code == 0
        assert {one["Authorization"] for one in server.headers} == {f"Bearer {MINE}"}


@pytest.mark.parametrize("how", ["no key", "environment", "command line", "patch"])
def test_where_the_user_names_it_or_there_is_no_key_nothing_changes(
    how: str, simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultServer() as server:
        host = (place_of(server.url) or "").rpartition(":")[0]
        world = world_with(tmp_path, f"{{reason: '{server.url}/m', embed: scripted}}")
        more: list[str] = []
        if how != "no key":
            monkeypatch.setenv(KEY, MINE)
        if how == "environment":
            monkeypatch.setenv(VARIABLE, f"other.example,{host.upper()}")
        if how == "command line":
            more = ["--model", f"{server.url}/m"]
        if how == "patch":
            more = ["--set", f"models.quick={server.url}/n"]
        assert simcounsel("run", world, *more).code == 0
        assert len(server.bodies) > 0
        assert all(("Authorization" in one) == (how != "no key") for one in server.headers)


def test_a_run_that_was_received_gets_no_key_when_it_goes_on(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultServer() as server:
        world = world_with(tmp_path, "{embed: scripted}", ticks=2)
        text = world.read_text(encoding="utf-8").replace("plan_slots: 4", "plan_slots: 1")
        world.write_text(text, encoding="utf-8")
        assert simcounsel("run", world, "--model", f"{server.url}/m", "--ticks", "1").code == 0
        run, before = only_run(tmp_path / "runs").folder, len(server.bodies)
        monkeypatch.setenv(KEY, MINE)
        for command in (["resume", run], ["fork", run, "--at", "1"]):
            stopped = simcounsel(*command)
            assert stopped.code == 1 and "simcounsel models allow" in stopped.err
        assert len(server.bodies) == before
        monkeypatch.setenv(VARIABLE, place_of(server.url) or "")
        assert simcounsel("resume", run).code == 0 and len(server.bodies) > before


@pytest.mark.slow(2)
def test_a_sweep_stops_before_its_first_request(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultServer() as server:
        world_with(tmp_path, "{embed: scripted}")
        experiment = experiment_with(tmp_path, f"{{reason: '{server.url}/m', embed: scripted}}")
        monkeypatch.setenv(KEY, MINE)
        stopped = simcounsel("sweep", experiment, "--out", "s", "--quiet")
        assert stopped.code == 1 and "simcounsel models allow" in stopped.err, stopped
        assert server.bodies == []
        monkeypatch.setenv(VARIABLE, place_of(server.url) or "")
        assert simcounsel("sweep", experiment, "--out", "s", "--quiet").code == 0
        assert server.headers[-1]["Authorization"] == f"Bearer {MINE}"


def test_the_key_of_openai_goes_to_openai_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "openai-key-1")
    monkeypatch.setenv(KEY, MINE)
    from simcounsel.llm.servers import OPENAI_URL, server_of

    assert server_of("openai:gpt-4o") == (OPENAI_URL, "gpt-4o", "openai-key-1")
    with pytest.raises(ModelError, match=f"{KEY} is set, and only a file names the host"):
        server_of("https://api.openai.com/v1/gpt-4o")


@each(
    ("named", "asked", "may"),
    [
        ("host:8000", "http://host:8000/v1/m", True),
        ("host:8000", "http://host:8001/v1/m", False),
        ("host", "http://host:8001/v1/m", True),
        ("HOST", "https://host/v1/m", True),
        ("host:80", "https://host/v1/m", False),
        ("host", "http://host.evil.org/v1/m", False),
        ("host", "http://evil.org/host/v1/m", False),
        ("host", "http://evil.org#host/v1/m", False),
        ("[::1]:8000", "http://[::1]:8000/v1/m", True),
        ("::1", "http://127.0.0.1:8000/v1/m", False),
        ("", "http://127.0.0.1:8000/v1/m", False),
        ("127.0.0.1", "http://localhost:8000/v1/m", False),
    ],
)
def test_which_host_a_name_stands_for(
    named: str, asked: str, may: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, MINE)
    monkeypatch.setenv(VARIABLE, named)
    if may:
        open_chat(asked)
        return
    with pytest.raises(ModelError, match="only a file names"):
        open_chat(asked)


def test_allow_lists_and_refuses(simcounsel: Command) -> None:
    assert simcounsel("models", "allow").out.startswith("no host (")
    assert simcounsel("models", "allow", "https://Models.Example.org/v1/m", "lab:8000").code == 0
    assert simcounsel("models", "allow", "lab:8000").code == 0
    hosts_file().write_text(hosts_file().read_text(encoding="utf-8") + "# mine\n b.org # too\n")
    assert simcounsel("models", "allow").out.startswith("models.example.org:443, lab:8000, b.org (")
    for wrong in ("a b", "x/y", "", f"http://u:{PASSWORD}@h", "h:port"):
        refused = simcounsel("models", "allow", wrong)
        assert refused.code == 1 and PASSWORD not in refused.err, wrong
    assert re.search(r"SIMCOUNSEL_HOSTS", simcounsel("models", "allow", "--help").out)


def test_data_is_cleaned_by_texts_and_names_and_stays_the_same_where_nothing_is_hidden() -> None:
    clean = {"a": [1, None, ("b", {"c": "plain words"})]}
    assert scrub_data(clean) is clean
    key = "sk-proj-" + "a1B2c3D4" * 5
    assert scrub_data({key: [f"it is {key}."]}) == {"***": ["it is ***."]}
