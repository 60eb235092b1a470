"""Rewards with names do what they are called, and observations are explained truly."""

import math

import numpy as np
import pytest

import swarmdp
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.trajectory import Trajectory
from swarmdp.studio.meanings import meaning_of
from swarmdp.studio.planning import plan_painted
from swarmdp.studio.presets import presets_of
from tests.examples import Robots

STEPS = 100


def swarm_of(system: swarmdp.Vicsek | swarmdp.Ising, name: str) -> Trajectory:
    """The swarm of a named reward."""
    preset = next(preset for preset in presets_of(system) if preset.name == name)
    planned = plan_painted(system, np.array(preset.weights), None)
    return swarmdp.rollout(system, planned.policy, steps=STEPS, seed=5, threads=1)


@pytest.mark.parametrize(
    ("name", "order", "turn"),
    [
        ("align", (0.9, 1.0), (-3, 3)),
        ("turn away", (0.0, 0.2), (-6, 6)),
        ("circle", (0.9, 1.0), (-60, -10)),  # to the right
        ("fan out", (0.45, 0.85), (-3, 3)),
    ],
)
def test_vicsek(name: str, order: tuple[float, float], turn: tuple[float, float]) -> None:
    """The order parameter and the mean turn in degrees, once the beginning is over."""
    system = swarmdp.Vicsek()
    heading = np.exp(1j * swarm_of(system, name)["heading"][0, STEPS // 2 :])
    assert order[0] <= np.abs(heading.mean(axis=1)).mean() <= order[1]
    turns = np.degrees(np.angle(heading[1:] / heading[:-1]))
    assert turn[0] <= turns.mean() <= turn[1]


def test_a_fan_has_two_sides() -> None:
    """More agents fly beside the mean heading than along it."""
    heading = np.exp(1j * swarm_of(swarmdp.Vicsek(), "fan out")["heading"][0, STEPS // 2 :])
    beside = np.abs(np.degrees(np.angle(heading / heading.mean(axis=1, keepdims=True))))
    assert ((beside > 30) & (beside < 60)).mean() > 1.2 * (beside < 30).mean()


@pytest.mark.parametrize(
    ("name", "unlike", "flips"),
    [
        ("agree", (0.0, 0.15), (0.0, 0.02)),
        ("disagree", (0.55, 1.0), (0.0, 0.02)),
        ("spots", (0.2, 0.4), (0.1, 0.4)),
        ("blink", (0.0, 0.15), (0.9, 1.0)),
    ],
)
def test_ising(name: str, unlike: tuple[float, float], flips: tuple[float, float]) -> None:
    """The share of unlike neighbours at the end, and of spins that flip in the last step."""
    system = swarmdp.Ising(shape=(60, 60))
    swarm = swarm_of(system, name)
    last = np.ascontiguousarray(swarm["spin"][:, -1])
    energy = system.observe({"site": swarm["site"], "spin": last})
    assert unlike[0] <= energy.mean() / system.n_neighbours <= unlike[1]
    assert flips[0] <= (last != swarm["spin"][:, -2]).mean() <= flips[1]


def test_rewards_have_a_weight_for_each_class() -> None:
    for system in (swarmdp.Vicsek(n_bins=12), swarmdp.Ising(shape=(20, 20), reach=3)):
        presets = presets_of(system)
        assert len({preset.name for preset in presets}) == len(presets) == 4
        for preset in presets:
            assert len(preset.weights) == system.features.size
            assert max(map(abs, preset.weights)) == 1
    assert presets_of(Robots()) == []


@pytest.mark.parametrize("beside", [-120.0, -90.0, 0.0, 40.0, 180.0])
def test_what_an_angle_means_is_what_the_swarm_sees(beside: float) -> None:
    """An agent among many that fly up; it flies `beside` degrees to their right."""
    system = swarmdp.Vicsek(n_agents=200, radius=5.0)
    state = dict(system.initial(Streams.of(1, [0], 200).at(0, Purpose.INITIAL)))
    heading = np.full((1, 200), math.pi / 2)
    heading[0, 0] = math.pi / 2 - math.radians(beside)
    seen = np.degrees(system.observe({**state, "heading": heading})[0, 0])
    axis = system.features.blocks[0][0].shown
    away = np.abs((axis.values - seen + 180) % 360 - 180)
    words = meaning_of(system, axis)["words"][int(away.argmin())]
    side = "right" if beside > 0 else "left"
    expected = {0.0: "as its neighbours do", 180.0: "against its neighbours"}
    assert expected.get(beside, f"{abs(beside):g}° to the {side} of its neighbours") in words


def test_other_observations_are_called_by_their_names() -> None:
    system = Robots()
    for block in system.features.blocks:
        for axis in block:
            meaning = meaning_of(system, axis.shown)
            assert meaning["sketch"] is None
            assert len(meaning["words"]) == len(axis.values)
