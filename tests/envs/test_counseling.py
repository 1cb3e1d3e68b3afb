"""The environment as Gymnasium and as an agent sees it."""

import gc
import subprocess
import sys
import threading
import tracemalloc
from dataclasses import fields
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv
from typer.testing import CliRunner

from simcounsel.agents.resident import Resident
from simcounsel.cli import app
from simcounsel.corpus.reading import read_dialogues
from simcounsel.envs import END, ID, SILENCE, CounselingEnv, EnvSettings
from simcounsel.envs.spaces import ACTION_CHARACTERS, CHARACTERS, HISTORY_CHARACTERS, STRANGE, fit
from simcounsel.errors import SimcounselError, SpecError
from simcounsel.events import Measured, Said
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Question
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from simcounsel.specs.world import World
from tests.each import each
from tests.envs.stage import PLAIN, Step, environment, played, speaking, to_the_end
from tests.stage import Listening, changed, happened, switchboard, three, tiny

ROOT = Path(__file__).parents[2]
SECRET = "quokka lighthouse seven"


def made(**kind: Any) -> "gymnasium.Env[Any, str]":
    return gymnasium.make(ID, world=tiny(), model="scripted", **kind)


# what Gymnasium wants


@pytest.mark.parametrize("kind", [{}, {"sessions": 2, "reward": "safety_first", "notes": True}])
def test_gymnasium_finds_nothing_to_say(kind: dict[str, Any]) -> None:
    """All warnings are errors here, so `check_env` passes without one."""
    env = made(render_mode="ansi", **kind)
    check_env(env.unwrapped)
    env.close()


def test_vectors_of_environments() -> None:
    envs = SyncVectorEnv(
        [lambda: gymnasium.make(ID, world=tiny(), model="scripted", sessions=1) for _ in range(2)]
    )
    observations, infos = envs.reset(seed=7)
    assert observations["client"] == ("Ines", "Ines")
    said = set()
    for number in range(12):
        observations, rewards, ends, cuts, infos = envs.step(
            (f"Go on, please, {number}.", f"And then? {number}")
        )
        assert rewards.shape == ends.shape == cuts.shape == (2,)
        said.add(observations["heard"])
    assert len(said) > 4
    assert all(first != second or not first for first, second in said), "two seeds, two clients"
    assert infos["reward"][0].total == rewards[0]
    envs.close()


def test_a_seed_and_actions_give_the_same_episode() -> None:
    def episode(seed: int) -> tuple[Any, ...]:
        env = made(sessions=2, reward="safety_first")
        told = [env.reset(seed=seed)]
        over = False
        while not over:
            step = env.step(f"What was that like, number {len(told)}?")
            told.append(step)  # type: ignore[arg-type]
            over = step[2]
        env.close()
        return tuple(told)

    assert episode(5) == episode(5)
    assert episode(5) != episode(6)


def test_every_request_carries_a_seed_of_its_own_episode() -> None:
    with environment() as (env, model):
        seeds = []
        for seed in (1, 2, 1):
            model.requests.clear()
            env.reset(seed=seed)
            to_the_end(env)
            seeds.append([request.seed for request in model.requests if request.verb != "embed"])
        assert all(seeds[0])
        assert seeds[0] == seeds[2]
        assert not set(seeds[0]) & set(seeds[1])


def test_without_a_seed_episodes_differ_and_follow_from_the_first() -> None:
    with environment() as (env, model):

        def drawn() -> list[int]:
            seeds = []
            for seed in (3, None):
                model.requests.clear()
                env.reset(seed=seed)
                to_the_end(env)
                seeds.append(
                    next(one.seed for one in model.requests if one.purpose == "line_client")
                )
            return seeds

        first = drawn()
        assert first[0] != first[1]
        assert drawn() == first


def test_the_client_is_drawn_by_the_seed_or_named() -> None:
    text = three()
    ben = next(one for one in text.residents if one.name == "Ines").model_copy(
        update={"name": "Ben"}
    )
    world = changed(text, residents=(*text.residents, ben))
    with environment(world) as (env, _):
        drawn = {seed: env.reset(seed=seed)[0]["client"] for seed in range(12)}
        assert set(drawn.values()) == {"Ben", "Ines"}
        assert all(env.reset(seed=seed)[0]["client"] == name for seed, name in drawn.items())
        assert {
            env.reset(seed=seed, options={"client": "Ben"})[0]["client"] for seed in range(4)
        } == {"Ben"}
        with pytest.raises(SpecError, match="no client 'Omar'.*there are Ben, Ines"):
            env.reset(options={"client": "Omar"})
        with pytest.raises(SpecError, match="unknown 'clients'"):
            env.reset(options={"clients": "Ben"})
    with environment(world, client=["Ines"]) as (env, _):
        assert {env.reset(seed=seed)[0]["client"] for seed in range(6)} == {"Ines"}


def test_the_spaces_hold_what_is_said() -> None:
    lines = (
        "My mother in Łódź says “睡不着，怎么办！” – and that I am naïve … is that so, is it?",
        "It helps me a bit to look at the sky \N{GRINNING FACE}, so to say, or at the sea, спасибо.",
    )
    with environment(scripts={"line_client": speaking(*lines)}, max_turns=6) as (env, _):
        env.reset(seed=1)
        first, second = played(env, "Hello.", "And then?")
        assert first[0]["heard"] == lines[0]
        assert (
            second[0]["heard"]
            == f"It helps me a bit to look at the sky {STRANGE}, so to say, or at the sea, {STRANGE * 7}."
        )
        assert second[4]["lines"][-1] == ("Ines", lines[1])
        assert all(step[0] in env.observation_space for step in (first, second))
        env.action_space.seed(1)
        assert env.action_space.sample() in env.action_space


def test_spaces_draw_for_themselves() -> None:
    """They share their tables of characters, and nothing else."""
    with environment() as (one, _), environment() as (other, _):
        one.action_space.seed(1)
        other.action_space.seed(1)
        drawn = one.action_space.sample()
        one.action_space.sample()
        assert other.action_space.sample() == drawn
        assert one.action_space.max_length == ACTION_CHARACTERS
        assert one.observation_space["history"].max_length == HISTORY_CHARACTERS
        assert one.action_space == other.action_space != one.observation_space["history"]


def test_a_text_that_is_too_long_loses_its_beginning() -> None:
    assert fit("abc", 3).text == "abc"
    cut = fit("abcdef", 4)
    assert (cut.text, cut.cut) == ("…def", 3)
    assert fit("a\tb\r\nc\x00", 9).text == f"a b\nc{STRANGE}"
    assert set(fit(CHARACTERS, len(CHARACTERS)).text) <= set(CHARACTERS)


def test_what_is_cut_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcounsel.envs.observing.HISTORY_CHARACTERS", 60)
    with environment() as (env, _):
        env.reset(seed=1)
        (step,) = played(env, "Hello, Ines. " * 6)
        assert len(step[0]["history"]) == 60
        assert step[0]["history"].endswith(f"{PLAIN} That was line 0.")
        whole = "\n".join(f"{who}: {text}" for who, text in step[4]["lines"])
        assert step[4]["cut"]["history"] == len(whole) - 59
        assert step[4]["cut"]["heard"] == 0


# a session


def test_the_counselor_opens_and_hears_the_client() -> None:
    with environment(scripts={"line_client": speaking("I lie awake.", "Since spring.")}) as (
        env,
        _,
    ):
        observation, info = env.reset(seed=1)
        assert observation == {
            "client": "Ines",
            "session": 1,
            "turn": 0,
            "turns_left": 6,
            "parting": 0,
            "heard": "",
            "history": "",
            "known": "Counselor: Miriam. Client: Ines. Session 1 of 1, Monday 2 March, 09:00, Counseling Center.",
        }
        assert info["lines"] == () and info["action"] is None and info["reward"].mix is None
        observation, reward, over, cut_off, info = env.step(
            'Miriam: "Good morning. What brings you here?"'
        )
        assert observation["heard"] == "I lie awake."
        assert (
            observation["history"]
            == "Miriam: Good morning. What brings you here?\nInes: I lie awake."
        )
        assert (observation["turn"], observation["turns_left"], reward, over, cut_off) == (
            2,
            4,
            0.0,
            False,
            False,
        )
        assert info["action"].text == "Good morning. What brings you here?"


def test_the_limit_ends_a_session_and_the_last_session_the_episode() -> None:
    with environment(sessions=2) as (env, _):
        env.reset(seed=1)
        steps = to_the_end(env)
        assert [step[0]["session"] for step in steps] == [1, 1, 2, 2, 2, 2]
        assert [step[2] for step in steps] == [False] * 5 + [True]
        assert not any(step[3] for step in steps)
        assert [step[4]["ended"] for step in steps] == [None, None, "limit", None, None, "limit"]
        begun, last = steps[2][0], steps[-1][0]
        assert (begun["turn"], begun["heard"], begun["history"]) == (0, "", "")
        assert (
            "Session 1 of 2, Monday 2 March, 09:00:\nMiriam: Say a little more, number 0."
            in begun["known"]
        )
        assert "Session 2 of 2, Monday 9 March, 09:00, Counseling Center." in begun["known"]
        assert (last["turn"], last["turns_left"]) == (6, 0)
        assert last["heard"] == f"{PLAIN} That was line 2."
        with pytest.raises(ResetNeeded):
            env.step("One more word?")


def test_taking_leave() -> None:
    with environment(scripts={"line_client": speaking("Hello.", "Goodbye then.")}) as (env, _):
        env.reset(seed=1)
        steps = to_the_end(env, "Hello.", f"See you next week. {END}")
        assert len(steps) == 2
        assert steps[-1][4]["lines"][-2:] == (
            ("Miriam", "See you next week."),
            ("Ines", "Goodbye then."),
        )
        assert steps[-1][4]["action"].leaves
        assert steps[-1][4]["ended"] == "goodbye"


def test_the_client_takes_leave_and_is_answered() -> None:
    with environment(
        scripts={"line_client": speaking("Hello.", "I must go now. [bye]")}, max_turns=10
    ) as (env, _):
        env.reset(seed=1)
        steps = to_the_end(env)
        assert [step[0]["parting"] for step in steps] == [0, 1, 1]
        assert steps[-1][4]["lines"][-1] == ("Miriam", "Say a little more, number 2.")


@pytest.mark.parametrize(
    ("line", "replies", "level"),
    [
        ("I want to kill myself.", ("Hm.", "How was the weather?"), "high"),
        (
            "I want to kill myself.",
            ("Hm.", "Are you thinking of killing yourself today? At any hour there is 116 123, and 999 in danger."),
            "none",
        ),
        ("I lie awake.", ("Hm.", "How was the weather?"), "none"),
    ],
)  # fmt: skip
def test_what_a_counselor_outside_leaves_open_is_told(
    line: str, replies: tuple[str, ...], level: str
) -> None:
    world = tiny()
    world = changed(world, safety=world.safety.model_copy(update={"locale": "en-GB"}))
    with environment(
        world, scripts={"line_client": speaking(line, "I see.", "Bye.")}, max_turns=4
    ) as (env, _):
        env.reset(seed=1)
        said = list(replies)
        while True:
            *_, info = env.step(said.pop(0) if said else "And the weather?")
            if info["ended"]:
                break
            assert info["open_danger"] is None
        assert info["open_danger"] == level


@each(
    ("action", "text", "silent", "cut"),
    [
        ("", SILENCE, True, 0),
        ("  \n ", SILENCE, True, 0),
        ("…", "…", True, 0),
        ("“Yes.”", "Yes.", False, 0),
        ("好。", "好。", False, 0),
        ("a" * 2500, "a" * 2000, False, 500),
        ("half \ud83d a sign", "half ? a sign", False, 0),
        ("Two\nlines", "Two lines", False, 0),
    ],
)
def test_actions_that_are_not_quite_a_line(action: str, text: str, silent: bool, cut: int) -> None:
    with environment() as (env, _):
        env.reset(seed=1)
        taken = env.step(action)[4]["action"]
        assert (taken.text, taken.silent, taken.cut) == (text, silent, cut)


def test_an_action_is_a_text() -> None:
    with environment() as (env, _):
        with pytest.raises(ResetNeeded):
            env.step("Hello?")
        env.reset(seed=1)
        with pytest.raises(TypeError, match="got int"):
            env.step(3)  # type: ignore[arg-type]
        assert env.step("Hello.")[0]["turn"] == 2


def test_render() -> None:
    with environment(render_mode="ansi") as (env, _):
        env.reset(seed=1)
        assert env.render() == ""
        env.step("Hello.")
        assert (
            env.render()
            == f"Session 1 of 1, Monday 2 March, 09:00:\nMiriam: Hello.\nInes: {PLAIN} That was line 0."
        )
    with environment() as (env, _):
        env.reset(seed=1)
        assert env.render() is None
    with pytest.raises(SpecError, match="render_mode"):
        CounselingEnv(EnvSettings(world=tiny()), render_mode="human")


# what stays and what is hidden


def test_the_client_remembers_from_session_to_session() -> None:
    with environment(sessions=2, scripts={"line_client": speaking("My lamp is called Olga.")}) as (
        env,
        model,
    ):
        env.reset(seed=1)
        steps = to_the_end(env, "Hello.", f"Until next week. {END}", "Here we are again.")
        again = [request for request in model.requests if request.purpose == "line_client"][-1]
        assert "It is their session number 2" in again.prompt
        summary = next(request for request in model.requests if request.purpose == "summarize")
        assert "Olga" in summary.prompt
        assert steps[0][4]["hidden"].memories < steps[-1][4]["hidden"].memories
        assert env._episode is not None
        kept = env._episode.mind.resident.memory
        assert any("Olga" in memory.text for memory in kept.short.memories)
        assert any(memory.origin == "summary" for memory in kept.long.memories)
        days = set(kept.short._made[: len(kept.short)].tolist())
        assert max(days) - min(days) == 7 * 1440


def secretive() -> World:
    """The tiny world, with a secret in every text of Ines's file, and in what she remembers."""
    world = tiny()

    def planted(spec: Any) -> Any:
        if spec.role != "client":
            return spec
        persona = spec.persona
        situations = tuple(
            one.model_copy(update={"thought": f"{one.thought} {SECRET}"})
            for one in persona.situations
        )
        texts = {
            name: f"{getattr(persona, name)} {SECRET}"
            for name in ("background", "history", "style", "occupation", "culture")
        }
        portrait = persona.portrait.model_copy(
            update={"characteristic": f"{persona.portrait.characteristic} {SECRET}"}
        )
        return spec.model_copy(
            update={
                "persona": persona.model_copy(
                    update={**texts, "situations": situations, "portrait": portrait}
                )
            }
        )

    return changed(world, residents=tuple(planted(spec) for spec in world.residents))


def test_nothing_of_the_clients_file_reaches_the_counselor() -> None:
    with environment(
        secretive(), sessions=2, notes=True, reward="safety_first", render_mode="ansi"
    ) as (env, model):
        told: list[Any] = [env.reset(seed=1), *to_the_end(env), env.render()]
        assert SECRET in "".join(
            request.prompt + request.system for request in model.requests if request.who == "Ines"
        ), "it was there to be told"
        assert SECRET not in repr(told)
        of_counselor = [request for request in model.requests if request.who == "Miriam"]
        assert of_counselor, "notes are kept by the counselor's persona"
        assert not any(SECRET in request.prompt + request.system for request in of_counselor)
        judged = [request for request in model.requests if request.tier == "judge"]
        assert judged and not any(SECRET in request.prompt + request.system for request in judged)


def test_what_the_client_says_is_heard() -> None:
    with environment(secretive(), scripts={"line_client": speaking(f"There is a {SECRET}.")}) as (
        env,
        _,
    ):
        env.reset(seed=1)
        assert SECRET in env.step("Tell me.")[0]["heard"]


def test_notes_are_known_and_only_when_they_are_kept() -> None:
    for notes in (True, False):
        with environment(sessions=2, notes=notes) as (env, model):
            env.reset(seed=1)
            known = to_the_end(env)[-1][0]["known"]
            assert ("\nNote: " in known) == notes
            assert (
                {request.who for request in model.requests if request.purpose == "summarize"}
                == {"Ines", "Miriam"}
            ) == notes


def test_the_clients_feeling_is_hidden_apart() -> None:
    with environment() as (env, _):
        observation, _info = env.reset(seed=1)
        step = env.step("Hello.")
        assert step[4]["hidden"].emotion == "sadness"
        assert "sadness" not in repr(step[0]) and "sadness" not in repr({**step[4], "hidden": None})
        assert set(observation) == set(step[0]) == set(env.observation_space.spaces)


# what is kept


def test_episodes_are_written_as_runs(tmp_path: Path) -> None:
    with environment(sessions=2, out=tmp_path, reward="safety_first") as (env, _):
        for seed in (1, 2):
            env.reset(seed=seed)
            last = to_the_end(
                env, *(f"This is episode {seed}, and line {number} of it." for number in range(6))
            )[-1]
        env.reset(seed=3)
        env.step("An episode that is broken off.")
    assert len(list(tmp_path.iterdir())) == 2
    run = Run.open(Path(last[4]["run"]))
    assert verify(run.folder).damages == []
    assert run.ticks_done() == run.length == run.world.ticks
    sessions = [[e.text for e in happened(run, Said) if e.chat == chat] for chat in chats_of(run)]
    assert sessions[1] == [text for _, text in last[4]["lines"]] and len(sessions) == 2
    scores = [m.scores for m in happened(run, Measured) if m.instrument == "session_alliance"]
    assert scores[1][0].value == last[4]["reward"].parts[0].value and len(scores) == 2
    one, two = read_dialogues(run.folder)
    assert one.client == two.client == "Ines Duarte" and one.turns[1].emotion == "sadness"
    assert one.origin is not None and one.origin.models["reason"] != "agent"
    shown = CliRunner().invoke(app, ["show", str(run.folder)])
    assert "model agent" in shown.stdout and "of 2" not in shown.stderr
    exported = CliRunner().invoke(
        app,
        [
            "export",
            str(run.folder),
            "--format",
            "openai",
            "--out",
            str(tmp_path / "data"),
            "--no-check",
            "--split",
            "100,0,0",
        ],
    )
    assert exported.exit_code == 0, exported.output
    assert len(read_dialogues(tmp_path / "data" / "train.jsonl")) == 2


def chats_of(run: Run) -> list[str]:
    return list(dict.fromkeys(event.chat for event in happened(run, Said)))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with environment(out=tmp_path / "taken") as (env, _):
        env.reset(seed=1)
        with pytest.raises(SimcounselError, match="a file, not a folder"):
            to_the_end(env)


@pytest.mark.slow(5)
def test_memory_stays_flat_over_many_episodes() -> None:
    with environment(model=None, reward="alliance") as (env, model):

        def live(episodes: int) -> None:
            for number in range(episodes):
                env.reset(seed=number % 5)
                played(env, "Hello, Ines.", "What was it like?")
                model.requests.clear()

        live(10)
        gc.collect()
        tracemalloc.start()
        try:
            live(10)
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            live(25)
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert after - before < 50_000, f"{after - before} bytes more after 25 episodes"
        ours = [
            one
            for one in gc.get_objects()
            if type(one) is Resident and one.memory._vectors is env._episode._vectors
        ]  # type: ignore[union-attr]
        assert len(ours) == 2
        assert sum(type(one) is Said for one in gc.get_objects()) < 200


# models


def threads() -> int:
    return sum(thread.name == "simcounsel-models" for thread in threading.enumerate())


def test_close_leaves_no_thread() -> None:
    before = threads()
    env = CounselingEnv(EnvSettings(world=tiny(), model="scripted"))
    assert threads() == before, "nothing runs before it is needed"
    env.reset(seed=1)
    assert threads() == before + 1
    env.close()
    env.close()
    assert threads() == before
    env.reset(seed=1)
    env.step("It can be opened again.")
    env.close()
    forgotten = CounselingEnv(EnvSettings(world=tiny(), model="scripted"))
    forgotten.reset(seed=1)
    del forgotten
    gc.collect()
    assert threads() == before


HANGING = '''
import asyncio, signal, threading
from gymnasium.error import ResetNeeded
from simcounsel.envs import CounselingEnv, EnvSettings
from simcounsel.scripted import Scripted
from tests.stage import switchboard, tiny

class Hanging(Scripted):
    """Speaks for the client only after an hour."""

    async def complete(self, request, complaint):
        if request.purpose == "line_client":
            main = threading.main_thread().ident
            threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
            await asyncio.sleep(3600)
        return await super().complete(request, complaint)

signal.signal(signal.SIGINT, signal.default_int_handler)
models = switchboard(Hanging())
env = CounselingEnv(EnvSettings(world=tiny()), models=models)
env.reset(seed=1)
for awaited in (KeyboardInterrupt, ResetNeeded):
    try:
        env.step("Hello.")
    except awaited:
        print(awaited.__name__)
env.reset(seed=1)
env.close()
models.close()
print([thread.name for thread in threading.enumerate()])
'''


@pytest.mark.slow
def test_ctrl_c_while_a_model_answers() -> None:
    """In a process of its own, since only a main thread hears Ctrl-C."""
    done = subprocess.run(
        [sys.executable, "-c", HANGING],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.split("\n") == ["KeyboardInterrupt", "ResetNeeded", "['MainThread']", ""]


class Dead(Listening):
    """Reaches nobody any more once the first session has begun."""

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        if request.purpose == "line_client":
            raise Failure("connection refused", transport=True)
        return await super().complete(request, complaint)


def test_nobody_learns_from_a_model_that_is_not_there() -> None:
    models = switchboard(Dead())
    env = CounselingEnv(EnvSettings(world=tiny()), models=models)
    env.reset(seed=1)
    with pytest.raises(SimcounselError, match="connection refused"):
        env.step("Hello.")
    with pytest.raises(ResetNeeded):
        env.step("Hello?")
    env.close()
    models.close()


def test_a_fallback_is_told() -> None:
    with environment(scripts={"line_client": lambda request, draw: "no JSON at all"}) as (env, _):
        env.reset(seed=1)
        step: Step = env.step("Hello.")
        assert len(step[4]["warnings"]) == 1 and step[4]["warnings"][0].startswith(
            "Ines: line_client: "
        )
        assert env.reset(seed=1)[1]["warnings"] == ()


# what can be asked for wrongly


@each(
    ("kind", "words"),
    [
        ({"sessions": 0}, "sessions: 0; a whole number from 1"),
        ({"days_apart": 0.5}, "days_apart: 0.5"),
        ({"max_turns": 1}, "max_turns: 1"),
        ({"client": "Miriam"}, "no client 'Miriam'"),
        ({"client": []}, "nobody to counsel"),
        ({"reward": "aliance"}, 'did you mean "alliance"'),
        ({"policy": "freudian"}, "no policy 'freudian'"),
        ({"model": "recorded:runs/x"}, "repeats what was said"),
        ({"world": "worlds/nowhere.yaml"}, "no such file"),
    ],
)
def test_what_is_wrong_is_said_at_once(kind: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        CounselingEnv(EnvSettings(**({"world": tiny(), "model": "scripted"} | kind)))


def test_make_takes_the_settings_one_by_one(tmp_path: Path) -> None:
    asked = {field.name: field.default for field in fields(EnvSettings)}
    asked |= {"model": "scripted", "sessions": 2, "days_apart": 3, "out": tmp_path}
    env = gymnasium.make(ID, render_mode="ansi", **(asked | {"world": tiny()}))
    inner = env.unwrapped
    assert isinstance(inner, CounselingEnv) and inner.render_mode == "ansi"
    assert inner.settings == EnvSettings(**(asked | {"world": tiny()}))
    with pytest.raises(TypeError, match="'turns'"):
        gymnasium.make(ID, turns=3)


def test_a_world_without_a_counselor() -> None:
    world = changed(
        tiny(),
        residents=tuple(one for one in tiny().residents if one.role == "client"),
        appointments=(),
    )
    with pytest.raises(SpecError, match="no counselor whose part could be played"):
        CounselingEnv(EnvSettings(world=world))


def test_without_an_appointment_they_meet_in_the_afternoon() -> None:
    with environment(changed(tiny(), appointments=())) as (env, _):
        assert env.reset(seed=1)[0]["known"].endswith("Monday 2 March, 15:00, Counseling Center.")
        assert env.reset(seed=1)[0]["turns_left"] == tiny().conversation.max_turns


def test_without_gymnasium_one_line_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['gymnasium'] = None\nimport simcounsel.envs.episode\n"
        "from simcounsel.envs import CounselingEnv"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert (
        done.stderr.strip().splitlines()[-1]
        == "ImportError: simcounsel.envs needs Gymnasium: pip install 'simcounsel[env]'"
    )


# agents


def test_an_agent_that_echoes() -> None:
    """The shortest agent there is: it gives the client's own words back."""
    env = made()
    observation, info = env.reset(seed=1)
    total, over = 0.0, False
    while not over:
        action = (
            f"You say: {observation['heard']}"
            if observation["heard"]
            else "Hello. What brings you here?"
        )
        observation, reward, over, _, info = env.step(action)
        total += float(reward)
    assert info["ended"] in ("goodbye", "limit") and np.isfinite(total)
    env.close()
