"""What a simulated client goes through is known after each line, not only at the end."""

from simcounsel.envs import CounselingEnv
from simcounsel.envs.episode import Episode
from simcounsel.events import ClientShifted
from tests.envs.stage import environment, to_the_end


def episode_of(env: CounselingEnv) -> Episode:
    assert env._episode is not None
    return env._episode


def test_each_line_shows_where_the_client_is_and_the_log_says_the_same() -> None:
    with environment() as (env, _):
        env.reset(seed=1)
        episode = episode_of(env)
        assert episode.shown == []
        env.step("Hello. What brings you here?")
        (first,) = (one for one in episode.shown if isinstance(one, ClientShifted))
        assert first.message == 2
        to_the_end(env)
        shown = [one for one in episode.shown if isinstance(one, ClientShifted)]
        logged = [one.event for one in episode.entries if isinstance(one.event, ClientShifted)]
        assert shown == logged
