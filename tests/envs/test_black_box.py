"""Theirs in ours: black-box simulators as systems."""

import pickle
import re
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.envs import BlackBox, from_pettingzoo, from_step, simulators
from swarmdp.model.adapted import starting_from
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.testing import check_system
from swarmdp.model.traits import null_action
from tests.envs import simulators as given

SIDES = swarmdp.Levels(3, name="side of home")


def walkers(make: Any = given.Walkers, **more: Any) -> BlackBox:
    chosen: dict[str, Any] = {"features": SIDES, "actions": [-1, 0, 1], **more}
    return from_step(make, **chosen)


def home(side: NDArray[Any]) -> NDArray[Any]:
    return 1 - side


def test_a_simulator_is_a_system() -> None:
    """Exactly: pure, repeatable, the same in any batch, agents exchangeable."""
    check_system(walkers())
    check_system(walkers(given.Deadline, on_end="reset"))
    check_system(walkers(given.Deadline, on_end="hold"))
    check_system(from_pettingzoo(given.Zoo, features=SIDES))


def test_a_rollout_is_the_simulator_itself() -> None:
    """Every run is an episode of the simulator, from a seed that the state remembers."""
    system = walkers(positions=given.Walkers.places)
    trajectory = swarmdp.rollout(
        system, home, steps=20, runs=3, seed=4, record=["states", "actions", "reward"]
    )
    for run in range(3):
        order = np.argsort(trajectory["slot"][run, 0])
        simulator = given.Walkers()
        seen, rewards = simulator.reset(int(trajectory["seed"][run, 0, 0])), np.zeros(6)
        for step in range(21):
            assert np.array_equal(trajectory["observation"][run, step, order], seen)
            assert np.array_equal(trajectory["earned"][run, step, order], rewards)
            assert np.array_equal(trajectory["position"][run, step, order], simulator.places())
            assert trajectory["reward"][run, step] == pytest.approx(rewards.mean())
            if step < 20:
                seen, rewards = simulator.step(trajectory["actions"][run, step, order])


def test_any_state_can_be_gone_on_from(tmp_path: Path) -> None:
    """Also in another process, from a file: the state holds what led to it."""
    system = walkers()
    demo = swarmdp.rollout(system, home, steps=12, runs=2, seed=4)
    demo.save(tmp_path / "demo.nc")
    kept = swarmdp.load(tmp_path / "demo.nc")
    names = system.initial(Streams.of(0, [0], 6).at(0, Purpose.INITIAL))
    middle = {name: kept[name][:, 7] for name in names}
    fresh = pickle.loads(pickle.dumps(walkers()))
    streams = Streams.of(4, [0, 1], 6)
    for step in range(7, 12):
        actions = home(fresh.observe(middle))
        middle = fresh.transition(middle, actions, streams.at(step, Purpose.TRANSITION))
    for name, array in middle.items():
        assert np.array_equal(array, demo[name][:, 12])


def test_copies_are_stepped_and_not_replayed() -> None:
    """A roll-out costs one step of the simulator for each of its own."""
    steps: list[int] = []

    class Counted(given.Walkers):
        def step(self, actions: Any) -> Any:
            steps.append(1)
            return super().step(actions)

    system = walkers(Counted)
    steps.clear()
    swarmdp.rollout(system, home, steps=30, runs=20, seed=1)
    assert len(steps) == 30 * 20


@pytest.mark.parametrize("make", [given.Walkers, given.Deadline])
def test_processes_change_nothing(make: Any) -> None:
    here = walkers(make)
    there = here.in_processes(2)
    try:
        for system in (here, there):
            trajectory = swarmdp.rollout(system, home, steps=12, runs=5, seed=2)
            if system is here:
                first = trajectory
        for name in first:
            assert np.array_equal(first[name], trajectory[name])
    finally:
        there.close()


def test_the_end_of_an_episode() -> None:
    reset = swarmdp.rollout(walkers(given.Deadline), home, steps=12, seed=1)
    assert reset["clock"][0, :, 0].tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2]
    assert len(np.unique(reset["seed"])) == 3
    assert (reset["earned"][0, 5] <= 0).all()
    hold = swarmdp.rollout(walkers(given.Deadline, on_end="hold"), home, steps=12, seed=1)
    assert hold["clock"][0, :, 0].max() == 5
    assert (hold["observation"][0, 5:] == hold["observation"][0, 5]).all()
    assert (hold["earned"][0, 6:] == 0).all()
    assert hold["over"][0, 5:].all()
    with pytest.raises(swarmdp.errors.InvalidInput, match="ended after 5 steps.*on_end"):
        swarmdp.rollout(walkers(given.Deadline, on_end="error"), home, steps=12, seed=1)


def test_the_null_action_is_the_users() -> None:
    assert null_action(from_pettingzoo(given.Zoo, features=SIDES)) == 0
    zoo = from_pettingzoo(given.Zoo, features=SIDES, null=2)
    assert null_action(zoo) == 2
    demo = swarmdp.rollout(zoo, lambda side: side, steps=5, seed=1)
    assert null_action(starting_from(zoo, demo)) == 2


def test_learning_through_it_is_reliable() -> None:
    """The expert's table in every fit, also from a simulator whose last action does nothing."""
    zoo = from_pettingzoo(
        given.Zoo, features=SIDES, null=2, expert=lambda side: np.array([1, 2, 0])[side]
    )
    demo = swarmdp.rollout(zoo, zoo.expert, steps=25, runs=8, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(
        steps=80, warm_steps=40, reset_after=2.5, swarms=10
    )
    for seed in range(3):
        result = swarmdp.fit(
            zoo, demo, seed=seed, discount=0.8, learner=learner, iterations=2, evaluations=8
        )
        assert isinstance(result.policy, swarmdp.Policy)
        assert result.policy.table.tolist() == [[1, 2, 0]]
        assert result.verdict is not None
        assert result.verdict.words == "reproduces the demo"


def test_vectors_are_actions_by_their_place() -> None:
    class Planar(given.Walkers):
        def step(self, actions: Any) -> Any:
            assert actions.shape == (6, 2)
            return super().step(actions[:, 0])

    system = walkers(Planar, actions=[[0, 0], [1, 0], [-1, 0]])
    assert system.actions.tolist() == [0, 1, 2]
    trajectory = swarmdp.rollout(system, lambda s: np.array([1, 0, 2])[s], steps=12, seed=1)
    assert (trajectory["observation"][0, -1] >= 1).all()


def test_a_step_of_a_millisecond_costs_a_fifth_more_at_most() -> None:
    class Slow(given.Walkers):
        def step(self, actions: Any) -> Any:
            end = time.process_time() + 1e-3
            while time.process_time() < end:
                pass
            return super().step(actions)

    system = walkers(Slow)
    ratios = []
    for seed in range(3):
        begin = time.process_time()
        swarmdp.rollout(system, home, steps=20, runs=16, seed=seed, threads=1, record="actions")
        middle = time.process_time()
        for run in range(16):
            slow = Slow()
            seen = slow.reset(run)
            for _ in range(20):
                seen, _ = slow.step(home(seen))
        ratios.append((middle - begin) / (time.process_time() - middle))
    assert np.median(ratios) < 1.2


@pytest.mark.parametrize(
    ("make", "more", "message"),
    [
        (given.NoSeed, {}, "ignores its seed: .* at step 0"),
        (given.GlobalSeed, {}, "ignores its seed.*no global np.random"),
        (given.Raises, {}, r"raised RuntimeError in step 1 after reset\(seed=1\): wheel lost$"),
        (given.Window, {}, "holds a window"),
        (given.Dies, {}, "in step 1 .*: agents died: 6 became 5; a swarm has always the same"),
        (given.Appears, {}, "agents appeared: 6 became 7"),
        (given.Uneven, {}, r"different shapes: \(2,\) of agent 0 and \(3,\) of agent 1"),
        (given.NotFinite, {}, "the observations have NaN"),
        (given.TooMuch, {}, "step must return observations, .*got 4 parts"),
        (given.NoStep, {}, "a simulator needs a method step"),
        (given.Walkers(), {}, "make must be a function that makes a new simulator"),
        (lambda: given.Walkers, {}, "make must be a function that returns a new simulator"),
        (given.Walkers, {"actions": []}, "actions must be a list of numbers"),
        (given.Walkers, {"actions": [1, 1]}, "actions must differ"),
        (given.Walkers, {"null": 3}, "null must be from 0 to 2"),
        (given.Walkers, {"features": swarmdp.Levels(2)}, "from 0 to 1"),
        (given.Walkers, {"features": swarmdp.Product(a=SIDES, b=SIDES)}, "observed has the shape"),
        (given.Walkers, {"observe": lambda raw: raw - raw.mean()}, "each agent alone"),
        (given.Walkers, {"observe": lambda raw: raw[:3]}, "observe must return numbers"),
        (given.Walkers, {"observe": 3}, "observe must be a function"),
        (given.Walkers, {"positions": lambda w: w.place}, "positions must return numbers"),
        (given.Walkers, {"horizon": 0}, "horizon must be an integer of at least 1"),
        (given.Walkers, {"on_end": "stop"}, "on_end"),
        (
            given.unpicklable(),
            {"processes": 1},
            "processes need make to be something that can be pickled",
        ),
    ],
)
def test_bad_simulators_are_named(make: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(swarmdp.errors.SwarmdpError) as caught:
        walkers(make, **more)
    text = str(caught.value)
    assert re.search(message, text), text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("make", "more", "message"),
    [
        (given.ZooDies, {}, "agent walker_3 is done while others go on"),
        (given.ZooAppears, {}, "agent walker_9 is new: a swarm has always the same agents"),
        (given.ZooUneven, {}, r"\(2,\) of walker_0 and \(3,\) of walker_4"),
        (given.ZooOfTeams, {}, "several teams: 'red', 'blue'"),
        (given.ZooOfDicts, {}, "the observation of walker_0 must be an array of numbers"),
        (partial(given.Zoo, render_mode="human"), {}, "holds a window"),
        (given.Zoo, {"actions": [0, 5]}, "agent walker_0 cannot act so: 5 is not in Discrete"),
        (given.Walkers, {"actions": [0]}, "use swarmdp.envs.from_step"),
    ],
)
def test_bad_environments_are_named(make: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(swarmdp.errors.InvalidInput) as caught:
        from_pettingzoo(make, features=SIDES, **more)
    text = str(caught.value)
    assert re.search(message, text), text
    assert "\n" not in text


def test_what_is_printed_is_dropped_with_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulators, "_LISTENER", simulators._Listener())
    with pytest.warns(swarmdp.errors.SwarmdpWarning, match=r"prints \('I walk'"):
        system = walkers(given.Prints)
    swarmdp.rollout(system, home, steps=3, seed=1)
    assert capsys.readouterr().out == ""


def test_a_seed_that_is_forgotten_later_is_noticed_on_replay() -> None:
    system = walkers(given.LateNoise)
    demo = swarmdp.rollout(system, home, steps=20, seed=1)
    with pytest.raises(swarmdp.errors.InvalidInput, match="did not repeat itself: after"):
        swarmdp.rollout(walkers(given.LateNoise), home, steps=2, runs=8, seed=2, initial=demo)


def test_a_process_that_dies_is_named() -> None:
    system = walkers(given.Exits, processes=1)
    try:
        with pytest.raises(swarmdp.errors.InvalidInput, match="a process with copies .* has died"):
            swarmdp.rollout(system, home, steps=2, seed=1)
    finally:
        system.close()


def test_impossible_requests_are_named() -> None:
    system = walkers(horizon=5)
    with pytest.raises(swarmdp.errors.InvalidInput, match="more than 5 steps: give .*horizon"):
        swarmdp.rollout(system, home, steps=6, seed=1)
    with pytest.raises(swarmdp.errors.InvalidInput, match="has no action 7, there are: -1, 0, 1"):
        swarmdp.rollout(system, lambda s: s * 0 + 7, steps=2, seed=1)
    with pytest.raises(swarmdp.errors.InvalidInput, match="no scripted expert"):
        swarmdp.rollout(system, system.expert, steps=2, seed=1)
    with pytest.raises(swarmdp.errors.InvalidInput, match="cannot be drawn: give .*positions"):
        system.picture({"position": np.zeros((1, 2, 6, 2))})
