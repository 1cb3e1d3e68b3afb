"""Cases with their plans, people whom a seed draws, and several episodes at once."""

import json
from pathlib import Path
from random import Random

import gymnasium
import numpy as np
import pytest

from simcounsel.envs import ID, CounselingEnv, CounselingVectorEnv, EnvSettings, find_reward
from simcounsel.envs.casting import person
from simcounsel.envs.reward import Reward
from simcounsel.errors import SpecError
from simcounsel.events import MaterialOpened
from simcounsel.llm.question import Question
from simcounsel.runs.run import Run
from simcounsel.therapies.specs.case_folder import read_case_folder
from simcounsel.therapies.specs.psycheval_course import import_courses
from tests.envs.stage import played, speaking, to_the_end
from tests.stage import Listening, happened, switchboard, tiny
from tests.therapies.test_psycheval_cases import FACT, chinese

CASE = read_case_folder(Path("organist"))
TOLD, *UNTOLD = CASE.plan.facts if CASE.plan else ()


def all_said(request: Question, draw: Random) -> str:
    """The observer who finds the fact that the client voices, word for word, and no other."""
    said, facts = request.facts.said, request.facts.facts
    found = [
        {"number": number, "quote": TOLD.text}
        for number, fact in enumerate(facts, 1)
        if fact == TOLD.text and TOLD.text in " ".join(said)
    ]
    return json.dumps({"said": found})


def case_env(**settings: object) -> CounselingEnv:
    models = switchboard(Listening({"course_said": all_said, "line_client": speaking(TOLD.text)}))
    return CounselingEnv(
        EnvSettings(world=tiny(), cases="organist", max_turns=6, **settings),  # type: ignore[arg-type]
        models=models,
    )


def test_a_case_opens_its_plan_as_it_is_told(tmp_path: Path) -> None:
    assert CASE.plan is not None
    env = case_env(sessions=2, out=tmp_path, reward=Reward(told=0.25))
    begun, _ = env.reset(seed=1)
    assert env.setting.sessions == 2 and env.setting.client.persona.name == CASE.client.name
    assert "session 1 of" in begun["known"]
    first, second, *_, last = to_the_end(env, *["What brings you here?"] * 12)
    for seen in (begun, first[0], last[0]):
        for fact in UNTOLD:
            assert fact.text not in seen["known"], "what was not told is never known"
    run = Run.open(Path(last[4]["run"]))
    opened = happened(run, MaterialOpened)
    facts = [one for one in opened if one.of == "fact"]
    assert [one.rests_on for one in facts] == [(TOLD.id,)] and facts[0].quotes == (TOLD.text,)
    later = [one for one in opened if TOLD.id in one.rests_on and one.of != "fact"]
    assert later, "something rests on it"
    assert all(one.text not in begun["known"] and one.text in second[0]["known"] for one in later)
    before = [one.text for one in opened if one.of != "fact" and one.session == 1]
    assert len(CASE.plan.stages[0].sessions) >= 2 and before
    assert all(text in last[0]["known"] for text in before), "it stays open in its stage"
    every = [one.text for one in opened if one.of != "fact"]
    assert len(every) == len(set(every)), "and opens once"
    ends = [step for step in (first, second, last) if step[4]["ended"]]
    assert ends[-1][4]["reward"].told == 0, "it was told in the first session"


def test_what_a_told_fact_is_worth() -> None:
    env = case_env(sessions=1, reward=Reward(told=0.25))
    env.reset(seed=1)
    steps = to_the_end(env, *["What brings you here?"] * 6)
    assert [step[1] for step in steps] == [0, 0, 0.25]
    assert steps[-1][4]["reward"].told == 0.25


def test_people_are_the_same_everywhere_and_all_different() -> None:
    some = [person(number) for number in range(0, 400, 5)]
    texts = {one.model_dump_json(exclude={"drawn"}) for one in some}
    assert len(texts) == len(some)
    assert all(one.drawn is not None and one.drawn.seed == 1 for one in some)
    person.cache_clear()
    assert person(395) == some[-1]
    env = CounselingEnv(EnvSettings(world=tiny(), model="scripted", people=2000, max_turns=4))
    met = set()
    for seed in range(8):
        seen, _ = env.reset(seed=seed)
        met.add((seen["client"], env.setting.client.persona.age))
        assert seen == env.reset(seed=seed)[0]
    assert len(met) >= 7
    env.reset(options={"client": 17})
    assert env.setting.client.persona == person(17)
    with pytest.raises(SpecError, match="a number from 0 to 1999"):
        env.reset(options={"client": 2000})
    env.close()
    with pytest.raises(SpecError, match="one of the three"):
        CounselingEnv(EnvSettings(world=tiny(), model="scripted", people=3, cases="organist"))


def test_a_chinese_case_is_played_in_chinese(tmp_path: Path) -> None:
    file = tmp_path / "7.json"
    file.write_text(json.dumps(chinese(), ensure_ascii=False), encoding="utf-8")
    import_courses(file, tmp_path / "cases")
    spy = Listening({})
    env = CounselingEnv(
        EnvSettings(world=tiny(), cases=str(tmp_path / "cases" / "pdt_7"), max_turns=4, sessions=1),
        models=switchboard(spy),
    )
    begun, _ = env.reset(seed=1)
    assert begun["client"] == "陈川" and "第1次的主题" in begun["known"]
    assert FACT not in begun["known"]
    played(env, "你好，今天想谈什么？", "嗯。")
    lines = [one for one in spy.requests if one.purpose == "line_client"]
    assert lines and all(one.language == "zh" for one in lines)


def test_a_battery_is_a_reward() -> None:
    reward = find_reward("cbt")
    assert "cognitive_therapy_competence" in reward.instruments and reward.penalties
    assert "affect" not in reward.instruments, "it has no total"
    assert {term.weight for term in reward.instruments.values()} == {1.0}
    with pytest.raises(SpecError, match="no reward 'cbt2'"):
        find_reward("cbt2")


def test_several_at_once_are_what_each_is_alone() -> None:
    settings = EnvSettings(world=tiny(), model="scripted", max_turns=4, people=50)
    several = CounselingVectorEnv(settings, 3)
    seen, _ = several.reset(seed=5)
    alone = []
    for seed in (5, 6, 7):
        env = CounselingEnv(settings)
        begun, _ = env.reset(seed=seed)
        alone.append((begun, played(env, "Hello.", "And then?")))
        env.close()
    assert tuple(seen["known"]) == tuple(begun["known"] for begun, _ in alone)
    for at in range(2):
        seen, rewards, ends, cuts, _infos = several.step(["Hello.", "And then?"][at : at + 1] * 3)
        assert tuple(seen["heard"]) == tuple(steps[at][0]["heard"] for _, steps in alone)
        assert rewards.tolist() == [steps[at][1] for _, steps in alone]
        assert ends.tolist() == [steps[at][2] for _, steps in alone] and not cuts.any()
    assert ends.all()
    seen, rewards, ends, _, _ = several.step(["It is over, and this is not looked at."] * 3)
    assert not rewards.any() and not ends.any() and set(seen["turn"].tolist()) == {0}
    assert len({id(env.models) for env in several.envs}) == 1, "one switchboard"
    several.close()
    made = gymnasium.make_vec(ID, num_envs=2, world=tiny(), model="scripted")
    assert isinstance(made.unwrapped, CounselingVectorEnv)
    assert isinstance(made.reset(seed=1)[0]["turn"], np.ndarray)
    made.close()
