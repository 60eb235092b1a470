"""Vicsek swarms in which the same actions mean something else do what their names say."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from studies.changed_swarms import ChangedVicsek
from studies.other_actions import circumstances
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.testing import check_system
from swarmdp.support.errors import InvalidInput

QUIET = swarmdp.Vicsek(n_agents=20, noise=0.0, radius=0.3)
SMALL = swarmdp.Vicsek(n_agents=30)
SYSTEMS = {
    **{name: changed.system for name, changed in circumstances(SMALL).items()},
    **{
        f"{name}, remembering": changed.with_memory()
        for name, changed in circumstances(SMALL).items()
        if changed.remembering
    },
}


def steps(
    system: ChangedVicsek, asked: list[NDArray[np.float64]], runs: int = 2, seed: int = 5
) -> list[dict[str, NDArray[Any]]]:
    """The states of a swarm that is asked for these turns, one after another."""
    streams = Streams.of(seed, np.arange(runs), system.n_agents)
    states = [system.initial(streams.at(0, Purpose.INITIAL))]
    for step, turn in enumerate(asked):
        random = streams.at(step, Purpose.TRANSITION)
        states.append(system.transition(states[-1], turn, random))
    return states


def turned(before: dict[str, NDArray[Any]], after: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    """The turns from one state to another, however many steps lie between."""
    gap = after["heading"] - before["heading"]
    return np.asarray(np.remainder(gap + math.pi, 2 * math.pi) - math.pi)


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_changed_swarm_keeps_the_contract(name: str) -> None:
    check_system(SYSTEMS[name])


def test_only_swarms_with_a_left_and_a_right_have_a_mirror() -> None:
    has = {name for name, system in SYSTEMS.items() if system.mirror is not None}
    assert set(SYSTEMS) - has == {"bias of 20°", "turns to one side"}


def test_nothing_is_changed_by_default() -> None:
    expert = SMALL.expert
    plain, changed = (
        swarmdp.rollout(system, expert, steps=5, runs=2, seed=3)
        for system in (SMALL, ChangedVicsek(SMALL))
    )
    np.testing.assert_array_equal(plain["heading"], changed["heading"])
    np.testing.assert_array_equal(plain["position"], changed["position"])


def test_a_bias_is_added_to_every_turn() -> None:
    asked = np.linspace(-1, 1, 40).reshape(2, 20)
    before, after = steps(ChangedVicsek(QUIET, bias=math.radians(20)), [asked])
    np.testing.assert_allclose(np.degrees(turned(before, after) - asked), 20)


def test_half_of_a_turn_comes_in_the_next_step() -> None:
    asked = np.linspace(-1, 1, 40).reshape(2, 20)
    nothing = np.zeros_like(asked)
    first, second, third, fourth = steps(ChangedVicsek(QUIET, lag=0.5), [asked, nothing, nothing])
    np.testing.assert_allclose(turned(first, second), asked / 2, atol=1e-12)
    np.testing.assert_allclose(turned(first, third), asked, atol=1e-12)
    np.testing.assert_allclose(turned(third, fourth), 0, atol=1e-12)


@pytest.mark.parametrize("remembers", [0, 3])
def test_agents_see_what_they_would_have_seen_a_step_ago(remembers: int) -> None:
    system = ChangedVicsek(SMALL, delayed=True, remembers=remembers)
    asked = [np.full((2, 30), turn) for turn in (0.3, -0.2, 0.5)]
    states = steps(system, asked)
    seen = [system.observe(state) for state in states]
    if remembers:
        for after, turn in zip(seen[1:], asked, strict=True):
            np.testing.assert_array_equal(after[..., 1], turn)
        np.testing.assert_array_equal(seen[0][..., 1], 0)
        seen = [both[..., 0] for both in seen]
    now = [SMALL.observe(state) for state in states]
    np.testing.assert_array_equal(seen[0], now[0])
    for earlier, later in zip(now[:-1], seen[1:], strict=True):
        np.testing.assert_array_equal(later, earlier)
    assert (now[1] != now[0]).any()


def test_a_fifth_ignores_its_action() -> None:
    asked = np.linspace(-1, 1, 40).reshape(2, 20) + 0.01
    states = steps(ChangedVicsek(QUIET, idle=0.2), [asked, asked])
    idle = states[0]["idle"]
    np.testing.assert_array_equal(idle.sum(axis=1), 4)
    assert (idle[0] != idle[1]).any()  # drawn for each run
    for before, after in pairwise(states):
        np.testing.assert_array_equal(after["idle"], idle)
        np.testing.assert_allclose(turned(before, after), np.where(idle, 0, asked), atol=1e-12)


def test_the_turn_is_remembered_in_classes() -> None:
    system = ChangedVicsek(SMALL, remembers=5)
    assert system.features.size == 36 * 5
    observed = np.array([[[0.0, math.radians(turn)] for turn in (-60, -20, 0, 20, 170)]])
    places = np.asarray(system.features.index(observed))
    np.testing.assert_array_equal(places[0] % 5, [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(places[0] // 5, 18)


def test_experts_keep_their_swarms_together() -> None:
    """They are references: each aligns its swarm, and where it can it flies straight."""
    vicsek = swarmdp.Vicsek(n_agents=100)
    for name, changed in circumstances(vicsek).items():
        system = changed.with_memory() if changed.expert_remembers else changed.system
        run = swarmdp.rollout(system, changed.expert, steps=60, runs=4, seed=6)
        order = system.order(run)[:, -1].mean()
        assert order > (0.65 if "fifth" in name else 0.9), name
        complex_heading = np.exp(1j * run["heading"]).mean(axis=2)[:, 30:]
        turns = np.angle(complex_heading[:, 1:] / complex_heading[:, :-1])
        straight = np.abs(np.degrees(turns.mean(axis=1))).mean() < 1
        assert straight == (name != "turns to one side"), name


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"vicsek": 3}, "vicsek must be a swarmdp.Vicsek, got int"),
        ({"bias": math.inf}, "bias must be a finite angle in radians, got inf"),
        ({"lag": 1.5}, "lag must be a number from 0 to 1, got 1.5"),
        ({"idle": -0.1}, "idle must be a number from 0 to 1, got -0.1"),
        ({"delayed": 1}, "delayed must be True or False, got 1"),
        ({"remembers": 2.5}, "remembers must be an integer of at least 0, got 2.5"),
    ],
)
def test_what_makes_no_swarm_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        replace(ChangedVicsek(SMALL), **wrong)
