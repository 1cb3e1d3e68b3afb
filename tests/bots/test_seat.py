"""A bot in a seat: it is sent raw messages, what it sends is kept exactly, and nothing is invented for it."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest
from aiohttp import web

from simcounsel.bots.contract import examined
from simcounsel.bots.file import bot_of, pinned
from simcounsel.bots.opening import open_bot
from simcounsel.bots.option import BOT
from simcounsel.bots.wire import BotFacts, BotReply, BotSaid
from simcounsel.engine.forking import fork
from simcounsel.engine.opening import models_for
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.errors import BudgetSpent, ModelError, ModelUnreachable, PluginError, SpecError
from simcounsel.events import ConversationEnded, Said, written
from simcounsel.hosts import VARIABLE as HOSTS
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.outage import Patience
from simcounsel.llm.question import Question
from simcounsel.named_code import allow_code, as_before
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from tests.bots.vendor import Vendor, bot_file
from tests.each import each
from tests.llm.server import FaultServer
from tests.stage import tiny


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch):
    """The user named all code and the vendor's host, and a key is set."""
    monkeypatch.setenv("ADA_KEY", "sesame-4711")
    monkeypatch.setenv(HOSTS, "127.0.0.1")
    with as_before():
        allow_code()
        yield


def world(spec: object, **more: object):
    return tiny(residents__Miriam__mind=f"bot:{spec}", safety__counselors="assess", **more)


def lived(spec: object, out: Path, **more: object) -> Run:
    with Simulation(world(spec, **more), out=out) as simulation:
        return simulation.run()


def lines(run: Run, who: str = "Miriam") -> list[str]:
    return [e.event.text for e in run.entries() if isinstance(e.event, Said) and e.event.who == who]


def turns(run: Run) -> tuple[BotSaid, ...]:
    return written((entry.event for entry in run.entries()), BotSaid)


def own_bot(folder: Path, code: str) -> str:
    """`python:own_N:reply` of a module with that code."""
    name = f"own_{abs(hash(code))}"
    (folder / f"{name}.py").write_text(code)
    sys.path.insert(0, str(folder)) if str(folder) not in sys.path else None
    return f"python:{name}:reply"


TELLS = "def reply(messages):\n    return ' | '.join(m['role'][0] + ' ' + m['content'] for m in messages)\n"


def test_it_is_sent_what_was_said_and_nothing_of_ours(tmp_path: Path) -> None:
    run = lived(own_bot(tmp_path, TELLS), tmp_path / "runs")
    said = [
        e.event
        for e in run.entries()
        if isinstance(e.event, Said) and e.event.chat == turns(run)[0].chat
    ]
    before = [f"{'u' if one.who == 'Ines' else 'a'} {one.text}" for one in said]
    for at, one in enumerate(said):
        if one.who == "Miriam":
            assert one.text == " | ".join(before[:at])
    assert len(turns(run)) >= 2
    assert said[0].who == "Ines"  # a bot waits until it is written to


def test_what_decided_a_line_is_the_bot(tmp_path: Path) -> None:
    run = lived(own_bot(tmp_path, TELLS), tmp_path / "runs")
    decided = [
        e.event for e in run.entries() if e.event.kind == "decided" and e.event.who == "Miriam"
    ]
    assert {(one.policy, one.move) for one in decided} == {("bot", "says")}


@each(("memory", "knows"), [("session", False), ("conversation", True)])
def test_a_later_talk_knows_of_earlier_ones_as_the_product_does(
    tmp_path: Path, memory: str, knows: bool
) -> None:
    (tmp_path / "bot.yaml").write_text(
        f"python: {own_bot(tmp_path, TELLS).partition(':')[2]}\nmemory: {memory}\n"
    )
    run = lived(tmp_path / "bot.yaml", tmp_path / "runs", ticks=64, appointments__0__days="[0, 1]")
    chats = list(dict.fromkeys(one.chat for one in turns(run)))
    assert len(chats) == 2
    first = next(one for one in turns(run) if one.chat == chats[0])
    second = next(one for one in turns(run) if one.chat == chats[1])
    assert (str(first.heard) in second.messages[0]) is knows


def test_several_messages_and_tool_calls_are_kept_as_they_came(tmp_path: Path) -> None:
    code = "def reply(messages):\n    return {'messages': ['One.  ', 'Two'], 'tools': [{'name': 'look', 'id': 7}]}\n"
    run = lived(own_bot(tmp_path, code), tmp_path / "runs")
    assert turns(run)[0].messages == ("One.  ", "Two")
    assert turns(run)[0].tools == ({"name": "look", "id": 7},)
    assert lines(run)[0] == "One.  \n\nTwo"


@each(
    ("code", "why"),
    [
        ("def reply(messages):\n    return ''\n", None),
        ("def reply(messages):\n    return []\n", None),
        ("def reply(messages):\n    raise ValueError('broken')\n", "ValueError: broken"),
        ("def reply(messages):\n    return 7\n", "a reply has `text` or `messages`"),
        ("def reply(messages):\n    return [7]\n", "a message is a text, and not int"),
        (
            "def reply(messages):\n    return {'messages': 'Hello'}\n",
            "a list of texts, and not str",
        ),
        ("def reply(messages):\n    return {'text': 'x', 'tools': {1}}\n", "tool calls are JSON"),
    ],
)
def test_nothing_is_said_for_a_bot_that_says_nothing(
    tmp_path: Path, code: str, why: str | None
) -> None:
    run = lived(own_bot(tmp_path, code), tmp_path / "runs", fallbacks__most=1)
    assert lines(run) == []
    ended = [e.event for e in run.entries() if isinstance(e.event, ConversationEnded)]
    assert {(one.cause, one.by) for one in ended} == {("left", "Miriam")}
    assert why in turns(run)[0].problem if why else turns(run)[0].problem is None


def test_half_a_character_is_a_question_mark(tmp_path: Path) -> None:
    run = lived(own_bot(tmp_path, "def reply(messages):\n    return '\\ud800 x'\n"), tmp_path / "r")
    assert lines(run)[0] == "? x"


def program(folder: Path, body: str) -> str:
    (folder / "program.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    told = json.loads(line)\n    " + body + "\n"
    )
    return f"command:{sys.executable} {folder / 'program.py'}"


def test_a_program_is_asked_by_json_lines(tmp_path: Path) -> None:
    spec = program(
        tmp_path,
        "print(json.dumps({'text': told['conversation'] + ' ' + str(len(told['messages']))}), flush=True)",
    )
    run = lived(spec, tmp_path / "runs")
    talk = turns(run)[0].conversation
    assert lines(run)[:2] == [f"{talk} 1", f"{talk} 3"]
    assert "Ines" not in str(talk)


@each(("memory", "users"), [("session", 0), ("user", 2)])
def test_a_program_never_takes_one_run_for_another(tmp_path: Path, memory: str, users: int) -> None:
    """Names of talks and users were the client's name, the same in all runs and seeds."""
    spec = own_bot(tmp_path, "def reply(messages, user, conversation):\n    return user\n")
    file = tmp_path / "bot.yaml"
    file.write_text(f"python: {spec.partition(':')[2]}\nmemory: {memory}\n")
    more = {"ticks": 64, "appointments__0__days": "[0, 1]"}
    runs = [lived(file, tmp_path / f"{at}", seed=at, **more) for at in (1, 2)]
    assert len({one.user for run in runs for one in turns(run) if one.user}) == users
    talks = [{(one.chat, one.conversation) for one in turns(run)} for run in runs]
    assert [len(some) for some in talks] == [2, 2]
    assert len({talk for some in talks for _, talk in some}) == 4


@each(
    ("body", "why"),
    [
        ("sys.exit(3)", "ended with exit code 3"),
        ("import time; time.sleep(60)", "gave no line within"),
    ],
)
def test_an_outage_of_a_program_stops_the_run(tmp_path: Path, body: str, why: str) -> None:
    there = world(program(tmp_path, body), models__timeouts="{bot: {connect_s: 1, read_s: 0.5}}")
    with Simulation(there, out=tmp_path / "runs") as simulation:
        simulation.models._outage.patience = Patience(wait_s=0.6)
        with pytest.raises(ModelUnreachable, match=why):
            simulation.run()
    assert lines(simulation.record) == []


@each("extra", ["print('loading', flush=True)", "print(json.dumps({'text': 'more'}), flush=True)"])
def test_what_a_program_writes_for_one_client_never_reaches_another(
    tmp_path: Path, extra: str
) -> None:
    answers = "print(json.dumps({'text': told['messages'][-1]['content']}), flush=True)"
    own = f"if told['messages'][-1]['content'] == 'one': {extra}"
    for body in (f"{own}\n    {answers}", f"{answers}\n    {own}"):
        spec, got = program(tmp_path, body), []

        async def talk(spec: str = spec, got: list[object] = got) -> None:
            model = open_bot(f"bot:{spec}")
            for text in ("one", "two", "three"):
                try:
                    told = await model.complete(question(facts(text)), None)
                    got.append(BotReply.model_validate_json(told.text).messages[0])
                except Failure:
                    got.append(None)
            await model.close()

        asyncio.run(talk())
        assert got[0] in ("one", "more", None) and got[1] in ("two", None) and got[2] == "three"


def test_an_answer_to_a_turn_that_was_given_up_is_no_answer_to_the_next(tmp_path: Path) -> None:
    body = "import time; time.sleep(0.3)\n    print(json.dumps({'text': told['messages'][-1]['content']}), flush=True)"

    async def talk() -> str:
        model = open_bot(f"bot:{program(tmp_path, body)}")
        given_up = asyncio.create_task(model.complete(question(facts("one")), None))
        await asyncio.sleep(0.15)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        told = await model.complete(question(facts("two")), None)
        await model.close()
        return told.text

    assert BotReply.model_validate_json(asyncio.run(talk())).messages == ("two",)


# a server that keeps the talk


def ada(folder: Path, url: str, more: str = "", start: str = "") -> Path:
    file = folder / "ada.yaml"
    file.write_text(bot_file(url, more, start))
    return file


def test_a_server_keeps_the_talk_and_is_told_of_its_end(tmp_path: Path) -> None:
    with Vendor() as vendor:
        run = lived(ada(tmp_path, vendor.url), tmp_path / "runs")
    assert lines(run)[:2] == ["1 heard", "2 heard"]
    assert [one.conversation for one in turns(run)][:2] == ["talk 0", "talk 0"]
    assert vendor.talks["talk 0"] == lines(run, "Ines")[: len(vendor.talks["talk 0"])]
    assert vendor.ended == list(vendor.talks)
    assert vendor.keys == {"sesame-4711"}
    assert "sesame" not in "".join(file.read_text() for file in run.folder.glob("*.json*"))


@each("status", [404, 410])
def test_a_talk_that_the_server_has_closed_itself_stops_no_run(tmp_path: Path, status: int) -> None:
    class Closing(Vendor):
        async def _over(self, request: web.Request) -> web.Response:
            return web.json_response({"error": "gone"}, status=status)

    with Closing() as vendor:
        run = lived(ada(tmp_path, vendor.url), tmp_path / "runs")
    assert lines(run)[:2] == ["1 heard", "2 heard"]


def test_a_server_may_begin_the_talk(tmp_path: Path) -> None:
    with Vendor() as vendor:
        run = lived(ada(tmp_path, vendor.url, start=", replies: hello"), tmp_path / "runs")
    said = [e.event for e in run.entries() if isinstance(e.event, Said)]
    assert (said[0].who, said[0].text) == ("Miriam", "Hi, I am Ada.")
    assert len(vendor.talks) == len({one.chat for one in said})


def test_a_greeting_is_what_the_product_shows(tmp_path: Path) -> None:
    with Vendor() as vendor:
        run = lived(ada(tmp_path, vendor.url, "greeting: Hello, I am Ada."), tmp_path / "runs")
    said = [e.event for e in run.entries() if isinstance(e.event, Said)]
    assert (said[0].who, said[0].text, said[0].source) == ("Miriam", "Hello, I am Ada.", "chosen")


def test_a_run_that_was_killed_in_a_talk_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """The second server answers 503 to the third line and all that come after; then the run is resumed."""
    with Vendor() as vendor:
        whole = lived(ada(tmp_path, vendor.url), tmp_path / "whole")
    with Vendor() as vendor:
        vendor.fails = lambda number: 503 if number >= 2 else 0
        there = world(ada(tmp_path, vendor.url))
        with Simulation(there, out=tmp_path / "cut") as simulation:
            simulation.models._outage.patience = Patience(wait_s=0.2)
            with pytest.raises(ModelUnreachable):
                simulation.run()
        vendor.fails = lambda number: 0
        cut = Run.open(simulation.record.folder)
        with Simulation(cut.world, run=cut) as simulation:
            simulation.run()
        assert lines(cut) == lines(whole)
        assert (
            sum(one.replayed for one in turns(cut)) == 2
        )  # the new process cannot know where the server is
        assert vendor.talks["talk 0"] == vendor.talks["talk 1"][:2]
    assert not verify(cut.folder).damages


def test_a_fork_never_goes_on_in_the_talk_of_its_parent(tmp_path: Path) -> None:
    with Vendor() as vendor:
        run = lived(
            ada(tmp_path, vendor.url, "memory: conversation"),
            tmp_path / "runs",
            ticks=64,
            appointments__0__days="[0, 1]",
        )
        told = dict.fromkeys(one.conversation for one in turns(run))
        assert list(told) == ["talk 0"]
        second = max(e.tick for e in run.entries() if e.event.kind == "bot.said")
        new = fork(run, second, {"appointments.0.max_turns": 12}, tmp_path / "forks")
        with Simulation(new.world, run=new) as simulation:
            simulation.run(2)
        sent = [one.heard for one in turns(new)]
        assert len(sent) > len(turns(run))
        assert vendor.talks["talk 1"] == sent  # all of it again, then what the fork adds
        assert turns(new)[-1].conversation == "talk 1"
        assert [one.replayed for one in turns(new)].count(0) == len(sent) - 1


def test_what_a_client_says_is_no_slot(tmp_path: Path) -> None:
    with Vendor(says=lambda lines: lines[-1:]) as vendor:
        said = "{messages} {user} {conversation} {text} {more}"
        (got,) = ask(ada(tmp_path, vendor.url), facts(said))
    assert got.messages == (said,)


def test_a_path_that_an_answer_does_not_suit_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    with Vendor(says=lambda lines: [7]) as vendor:
        file = ada(tmp_path, vendor.url)
        file.write_text(
            file.read_text().replace('"messages[].text"', "\"join('', messages[].text)\"")
        )
        with pytest.raises(Failure, match="invalid type for value"):
            ask(file, facts())


def test_two_seats_with_one_bot_have_talks_of_their_own(tmp_path: Path) -> None:
    with Vendor(says=lambda lines: list(lines)) as vendor:

        async def talk() -> list[str]:
            model = open_bot(f"bot:{ada(tmp_path, vendor.url)}")
            last: dict[str, BotReply] = {}
            for at, seat in enumerate(("Omar", "Bea", "Omar", "Bea")):
                said = tuple(("user", f"{seat} {n}") for n in range(1 + at // 2))
                known = last[seat].conversation if seat in last else None
                told = BotFacts(client="Ines", seat=seat, sessions=(said,), conversation=known)
                reply = await model.complete(question(told), None)
                last[seat] = BotReply.model_validate_json(reply.text)
            await model.close()
            return [*last["Omar"].messages, *last["Bea"].messages]

        assert asyncio.run(talk()) == ["Omar 0", "Omar 1", "Bea 0", "Bea 1"]
        assert len(vendor.talks) == 2


def test_a_vendors_user_is_new_in_each_run_and_stays_within_it(tmp_path: Path) -> None:
    with Vendor() as vendor:
        file = ada(tmp_path, vendor.url, "memory: user")
        runs = [
            lived(file, tmp_path / name, ticks=64, appointments__0__days="[0, 1]") for name in "ab"
        ]
    users = [dict.fromkeys(one.user for one in turns(run)) for run in runs]
    assert [len(one) for one in users] == [1, 1]
    assert users[0] != users[1]
    assert len(vendor.talks) == 4
    assert all(one.replayed == 0 for run in runs for one in turns(run))


def test_openais_form_is_sent_the_messages_the_system_prompt_and_no_setting_of_ours(
    tmp_path: Path,
) -> None:
    (tmp_path / "prompt.txt").write_text("You are Ada.\n")
    with FaultServer(answer=lambda body: f"heard {len(body['messages'])}") as server:
        (tmp_path / "ada.yaml").write_text(
            f"model: {server.url}/ada\nsystem: prompt.txt\nparameters: {{top_p: 0.5}}\n"
        )
        run = lived(tmp_path / "ada.yaml", tmp_path / "runs")
    body = server.bodies[0]
    assert set(body) == {"model", "messages", "top_p"}
    assert body["messages"][0] == {"role": "system", "content": "You are Ada."}
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert lines(run)[:2] == ["heard 2", "heard 4"]


def test_a_refusal_of_the_server_is_no_word_of_the_bot(tmp_path: Path) -> None:
    with FaultServer(faults=lambda index: "400") as server:
        run = lived(f"{server.url}/ada", tmp_path / "runs", fallbacks__most=1)
    assert lines(run) == []
    assert "HTTP 400" in str(turns(run)[0].problem)


def test_any_other_model_may_be_the_bot(tmp_path: Path) -> None:
    run = lived("byhand:" + str(tmp_path / "hand"), tmp_path / "runs", ticks=1)
    assert run.manifest.models["bot:Miriam"].startswith("bot:byhand:")


def test_a_model_that_runs_here_draws_anew_in_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one seed for all runs, forks that differ in nothing but the seed had the same answers."""
    seen: list[int] = []

    class Drawing:
        async def complete(self, asked: Question[str], complaint: str | None) -> Completion:
            seen.append(asked.seed)
            return Completion(text="x")

        async def close(self) -> None: ...

    monkeypatch.setattr("simcounsel.bots.opening.open_chat", lambda name: Drawing())
    ask(
        "scripted",
        *(BotFacts(client="I", sessions=((("user", "Hi"),),), seed=at) for at in (1, 1, 2)),
    )
    assert seen[0] == seen[1] != seen[2]


def test_a_replay_asks_nobody(tmp_path: Path) -> None:
    with Vendor() as vendor:
        run = lived(ada(tmp_path, vendor.url), tmp_path / "runs")
    shutil.rmtree(tmp_path / "again", ignore_errors=True)
    there = run.world.model_copy(
        update={"models": run.world.models.model_copy(update={"reason": f"recorded:{run.folder}"})}
    )
    with Simulation(there, out=tmp_path / "again", models=models_for(run)) as simulation:
        again = simulation.run()
    assert lines(again) == lines(run)


# who may be asked, how fast, and what is changed


def facts(text: str = "Hello") -> BotFacts:
    return BotFacts(client="Ines", sessions=((("user", text),),))


def ask(spec: object, *told: BotFacts) -> list[BotReply]:
    async def all_of_them() -> list[BotReply]:
        model = open_bot(f"bot:{spec}")
        try:
            got = await asyncio.gather(*(model.complete(question(one), None) for one in told))
        finally:
            await model.close()
        return [BotReply.model_validate_json(one.text) for one in got]

    return asyncio.run(all_of_them())


def question(told: BotFacts) -> Question[BotReply]:
    return Question(
        verb="fill", purpose="bot", who="Ada", schema=BotReply, fallback=BotReply(), facts=told
    )


def test_rates_hold(tmp_path: Path) -> None:
    spec = own_bot(tmp_path, TELLS).partition(":")[2]
    (tmp_path / "bot.yaml").write_text(f"python: {spec}\nrates: {{calls: 2}}\n")
    assert len(ask(tmp_path / "bot.yaml", facts(), facts())) == 2
    with pytest.raises(BudgetSpent, match="rates.calls allows 2"):
        ask(tmp_path / "bot.yaml", *[facts()] * 3)


def test_a_bot_answers_talk_alone() -> None:
    async def plan() -> None:
        await open_bot("bot:byhand:x").complete(
            Question(verb="write", purpose="plan_day", who="Miriam", fallback=""), None
        )

    with pytest.raises(ModelError, match="is no turn of a talk"):
        asyncio.run(plan())


def test_it_is_not_told_what_was_wrong() -> None:
    with pytest.raises(Failure, match="too short"):
        asyncio.run(open_bot("bot:byhand:x").complete(question(facts()), "too short"))


def test_code_that_only_a_file_names_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SIMCOUNSEL_CODE", raising=False)
    with pytest.raises(PluginError, match="runs the program"):
        open_bot("bot:command:python -c pass")
    own = own_bot(tmp_path, TELLS)
    with pytest.raises(PluginError, match="Only a file names it"):
        open_bot(f"bot:{own}")


def test_a_key_goes_to_no_host_that_only_a_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOSTS, "")
    file = ada(tmp_path, "http://elsewhere.example")
    with pytest.raises(ModelError, match="only a file names the host elsewhere.example"):
        open_bot(f"bot:{file}")
    monkeypatch.delenv("ADA_KEY")
    with pytest.raises(ModelError, match="header X-Key needs ADA_KEY"):
        open_bot(f"bot:{file}")


def test_a_bot_that_was_changed_is_another(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Be kind.")
    (tmp_path / "bot.yaml").write_text("model: scripted\nsystem: p.txt\n")
    name = pinned(f"bot:{tmp_path / 'bot.yaml'}")
    assert pinned(name) == name
    (tmp_path / "p.txt").write_text("Be short.")
    with pytest.raises(ModelError, match="was changed since"):
        pinned(name)


@each(
    ("text", "why"),
    [
        ("name: Ada\n", "one of model, endpoint, command, python is needed"),
        ("model: scripted\ncommand: x\n", "here: model, command"),
        ("command: x\nsystem: p.txt\n", "only a `model` is sent a system prompt"),
        ("endpoint: {turn: {url: 'http://a/b'}}\n", "turn.replies"),
        ("endpoint: {turn: {url: 'http://a/b', replies: '[['}}\n", "is no JMESPath"),
        ("endpoint: {turn: {url: 'http://a/b?key=1', replies: r}}\n", "headers or the body"),
        ("model: scripted\nsystem: nowhere.txt\n", "cannot be read"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "bot.yaml").write_text(text)
    with pytest.raises(SpecError, match=why.replace("(", r"\(")):
        bot_of(f"bot:{tmp_path / 'bot.yaml'}")


def test_other_models_of_a_world_do_not_take_the_seat(tmp_path: Path) -> None:
    there = world("byhand:x").with_one_model({"reason": "scripted"})
    assert there.model_names()["bot:Miriam"] == "bot:byhand:x"


def test_a_program_may_take_a_yaml_file(tmp_path: Path) -> None:
    assert bot_of("command:python own.py more.yaml").command == ("python", "own.py", "more.yaml")


@each("said", ["c.yaml", "Omar=c.yaml", "bot:c.yaml"])
def test_doctor_looks_at_a_bot_whose_seat_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMCOUNSEL_CODE", "")
    Path("c.yaml").write_text("python: simcounsel.bots.samples:careful\n")
    found = list(examined(said))
    assert found[0].says == "bot:c.yaml; memory: session"
    assert "problem" not in {one.mark for one in found}


def test_doctor_says_what_is_wrong_with_a_bot() -> None:
    assert [one.mark for one in examined("nowhere.yaml")] == ["problem"]


def test_a_seat_is_a_bots_or_a_persons(tmp_path: Path) -> None:
    (tmp_path / "bot🙂.yaml").write_text("model: scripted\n")
    told = {"world": Path("insomnia"), "human": None}
    (set_, *_) = BOT.sets([f"Miriam={tmp_path / 'bot🙂.yaml'}"], told)
    assert "bot🙂.yaml" in set_
    with pytest.raises(SpecError, match="--human Miriam seats a person there"):
        BOT.sets(["sample:careful"], told | {"human": ["Miriam"]})


def test_a_python_bot_may_be_asynchronous_and_ask_for_names(tmp_path: Path) -> None:
    code = "async def reply(messages, conversation):\n    return conversation\n"
    (got,) = ask(own_bot(tmp_path, code), facts())
    assert got.messages == (got.conversation,)


def test_limits_of_a_run_hold_for_its_bot(tmp_path: Path) -> None:
    with (
        Vendor() as vendor,
        Simulation(
            world(ada(tmp_path, vendor.url)), out=tmp_path / "runs", limits=Limits(budget_calls=3)
        ) as simulation,
    ):
        with pytest.raises(BudgetSpent):
            simulation.run()
        assert vendor.asked <= 3
