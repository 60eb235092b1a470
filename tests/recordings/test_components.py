"""One table of components, from which everything else is derived."""

import inspect
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import swarmdp
from swarmdp.recordings import components
from swarmdp.recordings.components import COMPONENTS, Component, Observation
from swarmdp.support.ranges import Index

TRACKS = swarmdp.rollout(
    swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3), lambda seen: 0.7 * seen, steps=200, seed=3
)["position"][0]
RECORDING = swarmdp.Recording(TRACKS, fps=1, unit="cm")
UNIT = swarmdp.recordings.Periodic((1.0, 1.0))


@dataclass(frozen=True)
class WithSpeed(Observation):
    """An observation with one more parameter, as that of a new row of the table is."""

    speed: Index = 3


@pytest.fixture
def speed(monkeypatch: pytest.MonkeyPatch) -> Component:
    """A new row: the speed of the individual itself, which the kernel does not know."""
    row = Component(lambda sight: sight.speed(), "size", "{unit}/s", movable=True)
    monkeypatch.setitem(components.COMPONENTS, "speed", row)
    return row


def test_each_row_is_a_parameter_and_the_kernel_numbers_are_distinct() -> None:
    parameters = inspect.signature(Observation).parameters
    assert list(COMPONENTS) == [name for name in parameters if name in COMPONENTS]
    numbers = [row.kernel for row in COMPONENTS.values() if row.kernel is not None]
    assert len(set(numbers)) == len(numbers)
    for row in COMPONENTS.values():
        assert row.scale != "signed" or row.odd, "classes about zero are their own mirror images"


def test_a_new_row_is_all_that_a_new_component_needs(speed: Component, tmp_path: Path) -> None:
    seeing = WithSpeed(5, bearing=0, spacing=0, previous_turn=0, neighbours=3, speed=3)
    assert seeing.components == ("misalignment", "wall", "speed")
    decisions = RECORDING.decisions(dt=1)
    swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, seeing, arena=UNIT)
    axis = swarm.features.components["speed"].axes[0]
    assert axis.units == "cm/s"
    assert swarm.features.size == 15
    # Its sign stays in the mirror, so a class's mirror image has the same speed.
    np.testing.assert_array_equal(swarm.view.mirror % 3, np.arange(15) % 3)
    assert speed.words(axis, 0, mirrored=True).startswith("speed ")
    policy, both = swarmdp.Policy(np.arange(15) % 7), ["states", "observations"]
    track = swarmdp.rollout(swarm, policy, steps=3, runs=2, seed=1, record=both)
    moved = (np.diff(track["position"], axis=1) + 0.5) % 1 - 0.5
    speeds = np.linalg.norm(moved, axis=-1)
    np.testing.assert_allclose(track["observations"][:, 1:, :, 1], speeds, atol=1e-12)
    result = swarmdp.fit(swarm, decisions.train, seed=1, iterations=1, judge=False)
    assert result.reward.weights.shape == (1, 8)
    assert swarm.interaction_test(seed=1).decisions > 0
    swarm.save(tmp_path)
    assert swarmdp.load(tmp_path).settings == json.loads(json.dumps(swarm.settings))


def test_an_analysis_says_what_the_reward_tells_of_a_new_component(speed: Component) -> None:
    seeing = WithSpeed(5, bearing=0, spacing=0, previous_turn=0, neighbours=3, speed=2)
    analysis = swarmdp.analyse(
        RECORDING, seed=1, dt=1, observation=seeing, arena=UNIT, iterations=1, resamples=0,
        judge=False,
    )  # fmt: skip
    assert [preference.component for preference in analysis.preferences] == [
        "misalignment",
        "speed",
    ]
    assert ">speed</td>" in analysis._repr_html_()


def test_a_swarm_with_a_component_that_the_kernel_does_not_know_steps_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same numbers come out of the plain path."""
    seeing = Observation(5, bearing=4, spacing=3, neighbours=3)
    decisions = RECORDING.decisions(dt=1)
    swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, seeing, arena=UNIT)
    policy = swarmdp.Policy(np.arange(swarm.features.size) % 7)
    fast = swarmdp.rollout(swarm, policy, steps=5, runs=2, seed=1)
    plain = Component(**vars(COMPONENTS["spacing"]) | {"kernel": None})
    monkeypatch.setitem(components.COMPONENTS, "spacing", plain)
    slow = swarmdp.rollout(swarm, policy, steps=5, runs=2, seed=1)
    np.testing.assert_allclose(fast["position"], slow["position"], atol=1e-9)
