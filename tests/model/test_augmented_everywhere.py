"""Every wrapper in every place where a system goes: fits, files, C, the studio, environments."""

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.model.augmented.wrapper import Augmented
from swarmdp.model.system import name_of
from swarmdp.model.traits import settings_of
from swarmdp.studio.catalogue import BUILT_IN
from swarmdp.studio.scene import SceneMaker
from swarmdp.systems.registry import rebuild
from tests.model.test_augmented import VICSEK, WRAPPERS, random_table
from tests.policies.compiled import build

STEPS = 12


def step_in_c(folder: Path, policy: Any, seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the exported controller of one agent does, given what it senses (steps, senses)."""
    policy.export(folder / "robot.h")
    text = (folder / "robot.h").read_text()
    name = "swarmdp_step" if "swarmdp_memory" in text else "swarmdp_action"
    result, given = re.findall(rf"static (?:inline )?(\w+) {name}\(([^)]*)\)", text)[-1]
    names = [part.split()[-1] for part in given.split(",")]
    senses = [part for part in names if part not in ("*memory_", "*action_")]
    assert len(senses) == seen.shape[1], senses
    wide = 1 if result == "double" else policy.interface.actions.shape[-1]
    arguments = ["&memory"] if "*memory_" in names else []
    arguments += [f"seen[{len(senses)} * i + {k}]" for k in range(len(senses))]
    arguments += [f"out + {wide} * i"] if wide > 1 else []
    call = f"{name}({', '.join(arguments)})"
    memory = "    swarmdp_memory memory = {0};\n" if "*memory_" in names else ""
    line = f"        {'' if wide > 1 else 'out[i] = '}{call};\n"
    (folder / "robot.c").write_text(
        '#include "robot.h"\nvoid act(long count, const double *seen, double *out);\n'
        f"void act(long count, const double *seen, double *out)\n{{\n{memory}    long i;\n"
        f"    for (i = 0; i < count; i++) {{\n{line}    }}\n}}\n"
    )
    build("-shared", "-fPIC", str(folder / "robot.c"), "-o", str(folder / "robot.so"), "-lm")
    act = ctypes.CDLL(str(folder / "robot.so")).act
    seen, out = np.ascontiguousarray(seen, np.float64), np.empty((len(seen), wide))
    act(ctypes.c_long(len(seen)), *(ctypes.c_void_p(a.ctypes.data) for a in (seen, out)))
    return out


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_robot_does_what_the_simulated_agent_did(wrapper: str, tmp_path: Path) -> None:
    system = WRAPPERS[wrapper](VICSEK)
    policy = random_table(system, seed=7)
    run = swarmdp.rollout(system, policy, steps=STEPS, seed=8, record=["observations", "actions"])
    seen = run["observations"][0, :-1, 3]
    seen = seen.reshape(STEPS, -1)
    sensed = len(VICSEK.features.axes) + ("kinds" in wrapper or wrapper == "several")
    done = step_in_c(tmp_path, policy, seen[:, _senses(system, sensed)])
    expected = run["actions"][0, :, 3].reshape(STEPS, -1)
    np.testing.assert_array_equal(done, expected)


def _senses(system: Any, count: int) -> list[int]:
    """The components that an agent senses: the others it remembers."""
    names = [axis.name for axis in system.features.axes]
    chosen = [k for k, name in enumerate(names) if name in ("misalignment", "kind")]
    assert len(chosen) == count
    return chosen


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_fit_is_judged_drawn_saved_and_played(wrapper: str, tmp_path: Path) -> None:
    system = WRAPPERS[wrapper](VICSEK)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    quick = swarmdp.learning.HeterogeneousLearning(steps=20, swarms=1)
    result = swarmdp.fit(system, demo, seed=2, iterations=1, learner=quick, judge=False)
    assert swarmdp.judge(system.expert, demo, system=system, seed=3, quick=True, runs=20).lines
    result.save(tmp_path / "fit")
    again = swarmdp.load(tmp_path / "fit")
    made = rebuild(again.system_name, again.system_settings)
    assert isinstance(made, Augmented)
    assert name_of(made) == name_of(system)
    assert settings_of(made) == settings_of(system)
    one, other = (
        swarmdp.rollout(where, policy, steps=3, seed=4)
        for where, policy in ((system, result.policy), (made, again.policy))
    )
    for name, array in one.items():
        np.testing.assert_array_equal(other[name], array)
    again.plot()
    scene = SceneMaker(BUILT_IN, tmp_path).from_file("kept", again, seed=3)
    assert isinstance(scene.system, Augmented)
    scene.stage.advance()
    assert scene.description()["blocks"]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_mirror_undoes_itself(wrapper: str) -> None:
    """Mirrored observations and actions are observations and actions; twice mirrored, the same."""
    system = WRAPPERS[wrapper](VICSEK)
    run = swarmdp.rollout(
        system, random_table(system), steps=9, seed=5, record=["observations", "actions"]
    )
    mirror = system.mirror
    for values, turned in (
        (run["observations"], mirror.observation),
        (run["actions"], mirror.action),
    ):
        np.testing.assert_allclose(turned(turned(values)), values, atol=1e-12)
    shown = mirror.action(np.asarray(system.actions))
    rows = {tuple(np.atleast_1d(action).round(9)) for action in np.asarray(system.actions)}
    assert {tuple(np.atleast_1d(action).round(9) + 0.0) for action in shown} == {
        tuple(np.array(row) + 0.0) for row in rows
    }
