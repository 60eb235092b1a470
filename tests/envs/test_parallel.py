"""Ours in theirs: systems as PettingZoo environments."""

import time
import warnings
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import envs
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import System, class_map, classes, feature_count
from tests.envs.official import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
    state_test,
)
from tests.examples import Robots
from tests.model.test_testing import Voters

SYSTEMS: dict[str, System] = {
    "Vicsek": swarmdp.Vicsek(n_agents=20),
    "Ising": swarmdp.Ising(shape=(5, 5), reach=1),
    "Robots": Robots(),
}


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> System:
    return SYSTEMS[request.param]


def reward_of(system: System, seed: int = 0) -> swarmdp.Reward:
    count = feature_count(system)
    return swarmdp.Reward(np.random.default_rng(seed).normal(size=count))


@pytest.mark.parametrize("observation", ["class", "physical"])
def test_the_official_tests_pass(system: System, observation: Literal["class", "physical"]) -> None:
    """Warnings are errors, so none of them warns.

    They do remark that a physical observation is a single number, and that it may be zero.
    """
    if observation == "physical" and not system.features.shape:
        remarks = "Observation (is a single number|numpy array is all zeros)"
        warnings.filterwarnings("ignore", remarks, UserWarning)
    reward = reward_of(system)

    def parallel(**more: Any) -> envs.SwarmEnv:
        return envs.parallel_env(system, reward=reward, observation=observation, **more)

    def turns(**more: Any) -> Any:
        return envs.env(system, reward=reward, observation=observation, **more)

    parallel_api_test(parallel(), num_cycles=60)
    api_test(turns(), num_cycles=60)
    parallel_seed_test(parallel, num_cycles=10)
    seed_test(turns, num_cycles=10)
    state_test(turns(), parallel())
    if observation == "class":  # what is told to agents does not change the picture
        render_test(turns)
    max_cycles_test(SimpleNamespace(parallel_env=parallel, env=turns))


def test_a_seed_is_the_run_of_a_rollout(system: System) -> None:
    """To the bit, far beyond the first step, in this run and in the next ones."""
    steps, runs = 40, 3
    table = np.random.default_rng(3).integers(len(system.actions), size=class_map(system).size)

    def policy(observations: NDArray[Any]) -> NDArray[Any]:
        taken: NDArray[Any] = np.asarray(system.actions)[table[classes(system, observations)]]
        return taken

    trajectory = swarmdp.rollout(system, policy, steps=steps, runs=runs, seed=11)
    names = system.initial(Streams.of(0, [0], system.n_agents).at(0, Purpose.INITIAL))
    env = envs.parallel_env(system, max_cycles=steps, observation="physical")
    for run in range(runs):
        observed, _ = env.reset(seed=11 if run == 0 else None)
        for step in range(steps + 1):
            arrays = [
                trajectory[n][run] if trajectory[n].ndim == 2 else trajectory[n][run, step]
                for n in names
            ]
            assert np.array_equal(env.state(), np.concatenate([np.ravel(a) for a in arrays]))
            if step < steps:
                seen = np.stack(list(observed.values())).reshape(-1, *system.features.shape)
                chosen = table[classes(system, seen)]
                observed, *_ = env.step(dict(zip(env.agents, chosen.tolist(), strict=True)))
        assert env.agents == []


def test_rewards_are_the_learned_ones() -> None:
    """Their discounted sum is the value w . mu of the same run."""
    vicsek = swarmdp.Vicsek(n_agents=30)
    reward = reward_of(vicsek)
    env = envs.parallel_env(vicsek, reward=reward, max_cycles=40)
    env.reset(seed=5)
    action = 8
    total = np.zeros(30)
    for cycle in range(40):
        _, rewards, *_ = env.step(dict.fromkeys(env.agents, action))
        total += 0.9**cycle * np.array(list(rewards.values()))
    turn = vicsek.actions[action]
    seen = swarmdp.rollout(
        vicsek,
        lambda observations: np.full(observations.shape, turn),
        steps=40,
        seed=5,
        record="observations",
    )
    of = reward.of(vicsek, seen["observations"][0, :-1], np.zeros(40, np.int64))
    assert total == pytest.approx((0.9 ** np.arange(40)) @ of)


def test_what_agents_are_told() -> None:
    robots = Robots()
    env = envs.parallel_env(robots, observation="class")
    observed, _ = env.reset(seed=1)
    raw = swarmdp.rollout(robots, robots.expert, steps=1, seed=1, record="observations")[
        "observations"
    ][0, 0]
    codes = np.stack(list(observed.values()))
    assert codes.shape == (12, 8 + 4)
    place = robots.features.index(raw)
    assert (8 * 0 + codes[:, :8].argmax(axis=1) * 4 + codes[:, 8:].argmax(axis=1) == place).all()
    assert (codes.sum(axis=1) == 2).all()
    numbers, _ = envs.parallel_env(robots, observation="physical").reset(seed=1)
    assert np.array_equal(np.stack(list(numbers.values())), raw)


def test_pictures_show_the_swarm() -> None:
    vicsek = swarmdp.Vicsek(n_agents=40)
    env = envs.parallel_env(vicsek, render_mode="rgb_array")
    env.reset(seed=1)
    before = env.render()
    env.step(dict.fromkeys(env.agents, 0))
    after = env.render()
    assert before is not None
    assert after is not None
    assert (before != 255).any(axis=2).sum() > 40 * 10
    assert (before != after).any()
    ising = swarmdp.Ising(shape=(6, 6), reach=1)
    grid = envs.parallel_env(ising, render_mode="rgb_array")
    grid.reset(seed=1)
    image = grid.render()
    assert image is not None
    up = (ising.grid(grid._current_state())[0] > 0).reshape(6, 6)
    side = image.shape[0] // 6
    assert ((image[::side, ::side] != 255).any(axis=2) == up).all()


def test_a_step_costs_little_more_than_the_bare_one() -> None:
    """At most four times the processor time, at N = 200."""
    vicsek = swarmdp.Vicsek()
    env = envs.parallel_env(vicsek, reward=reward_of(vicsek), max_cycles=10**6)
    env.reset(seed=1)
    actions = dict.fromkeys(env.agents, 6)
    streams = Streams.of(1, [0], 200)
    state = vicsek.initial(streams.at(0, Purpose.INITIAL))
    turns = np.full((1, 200), vicsek.actions[6])
    ratios = []
    for cycle in range(12):
        begin = time.process_time()
        for _ in range(100):
            env.step(actions)
        middle = time.process_time()
        for step in range(100):
            random = streams.at(step, Purpose.TRANSITION)
            state = vicsek.transition(state, turns, random)
            vicsek.observe(state)
        end = time.process_time()
        if cycle > 1:
            ratios.append((middle - begin) / (end - middle))
    assert np.median(ratios) < 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_cycles": 0}, "max_cycles must be an integer of at least 1, got 0"),
        ({"observation": "raw"}, "observation must be .*'class', 'physical'|\"class\""),
        ({"reward": swarmdp.Reward([1.0, 2.0])}, "the reward has 2 weights, but Robots has 32"),
        ({"reward": swarmdp.Reward(np.ones((2, 32)))}, "an environment has one reward, got 2"),
        ({"render_mode": "ansi"}, "render_mode"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(swarmdp.errors.SwarmdpError, match=message):
        envs.parallel_env(Robots(), **arguments)


def test_what_has_no_picture_is_not_rendered() -> None:
    with pytest.raises(swarmdp.errors.InvalidInput, match="must be None, since it has no picture"):
        envs.parallel_env(Voters(), render_mode="human")


def test_bad_steps_are_named() -> None:
    env = envs.parallel_env(Robots(), max_cycles=1)
    with pytest.raises(swarmdp.errors.InvalidInput, match="call reset"):
        env.step({})
    with pytest.raises(swarmdp.errors.InvalidInput, match="call reset"):
        env.state()
    env.reset(seed=1)
    actions: dict[str, Any] = dict.fromkeys(env.agents, 0)
    for wrong, message in (
        ({**actions, "agent_3": 3}, "from 0 to 2, got 3"),
        ({**actions, "agent_3": -1}, "from 0 to 2, got -1"),
        (dict.fromkeys(env.agents, 0.5), "an action must be an integer"),
        ({"agent_0": 1}, "every agent needs an action, got none for 'agent_1'"),
    ):
        with pytest.raises(swarmdp.errors.InvalidInput, match=message):
            env.step(wrong)
    env.step(actions)
    with pytest.raises(swarmdp.errors.InvalidInput, match="the episode is over"):
        env.step(actions)
    with pytest.raises(swarmdp.errors.InvalidInput, match="nothing to render"):
        env.render()
