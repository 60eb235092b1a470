"""BC, GAIL and AIRL of the package imitation, all agents sharing one policy.

They need other versions than this repository (gymnasium 0.29, PyTorch), and so an environment of
their own, which is made once in a folder of the user's cache. Learner and swarm talk by lines of
JSON: the learner runs there, the swarm here. Agents are shown the class of their observation, one
bit for each, as the learners of this repository are.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies.benchmark.method import Acting, Floats
from swarmdp.model.streams import Purpose, Streams, derived_seed
from swarmdp.model.system import System, class_map, classes
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.support.errors import InvalidInput

PACKAGES = ("torch==2.13.0", "imitation==1.0.1")
AGENTS = 200  # that learn side by side, at least
ROUNDS = {"BC": 20, "GAIL": 40, "AIRL": 40}  # epochs of BC, rounds of the others


def imitated(kind: str) -> Acting:
    """The most likely action in each class, after learning by BC, GAIL or AIRL."""

    def policy(system: System, demo: Trajectory, seed: int) -> Controller:
        return swarmdp.Policy(_learned(kind, system, demo, seed)["table"])

    return policy


def imitated_reward(system: System, demo: Trajectory, seed: int) -> Floats:
    """The reward of each class that AIRL has learned."""
    return np.asarray(_learned("AIRL", system, demo, seed)["reward"], np.float64)


def _learned(kind: str, system: System, demo: Trajectory, seed: int) -> dict[str, Any]:
    program = Path(__file__).with_name("imitation_program.txt").read_text(encoding="utf-8")
    return converse([str(environment()), "-c", program], kind, system, demo, seed)


def converse(
    command: Sequence[str], kind: str, system: System, demo: Trajectory, seed: int
) -> dict[str, Any]:
    """What a learner in another process comes to; it is given the demo, and steps of the swarm.

    Parameters
    ----------
    command
        What starts the learner.
    kind
        What it should learn by.
    system, demo
        The swarm, and a trajectory of its expert with observations and actions.
    seed
        That of the learner and of the swarm's steps.

    """
    seen, chosen = _pairs(system, demo)
    swarms = -(-AGENTS // system.n_agents)
    given = {
        "kind": kind,
        "seed": seed % 2**31,
        "classes": class_map(system).size,
        "actions": len(np.asarray(system.actions)),
        "agents": swarms * system.n_agents,
        "rounds": ROUNDS[kind],
        "seen": seen.tolist(),
        "chosen": chosen.tolist(),
    }
    with (
        tempfile.TemporaryFile("w+") as complaints,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
        ) as learner,
    ):
        assert learner.stdin is not None
        assert learner.stdout is not None
        _say(learner.stdin, given)
        swarm = _Swarms(system, swarms, seed)
        for line in learner.stdout:
            if not line.startswith("{"):
                continue
            asked = json.loads(line)
            if "table" in asked:
                learner.stdin.close()
                return dict(asked)
            _say(learner.stdin, {"seen": swarm.moved(asked["chosen"]).tolist()})
        learner.wait()
        complaints.seek(0)
        last = complaints.read().strip().splitlines()[-1:]
    raise InvalidInput(f"{kind} of imitation failed: {' '.join(last)}")


def _say(to: IO[str], message: dict[str, Any]) -> None:
    to.write(json.dumps(message) + "\n")
    to.flush()


def _pairs(system: System, demo: Trajectory) -> tuple[NDArray[Any], NDArray[Any]]:
    """Classes (runs x agents, steps + 1) and actions (runs x agents, steps) of a demo."""
    index = classes(system, demo["observations"])
    actions = np.asarray(system.actions)
    taken = demo["actions"]
    chosen = np.abs(taken[..., None] - actions).argmin(axis=-1)
    steps = chosen.shape[1]
    return (
        index[:, : steps + 1].swapaxes(1, 2).reshape(-1, min(index.shape[1], steps + 1)),
        chosen.swapaxes(1, 2).reshape(-1, steps),
    )


def seed_of(seed: int, life: int) -> int:
    """The seed of the swarms that a learner is shown in this life of theirs, from 1 on."""
    return derived_seed(seed, life)


class _Swarms:
    """Several swarms that move as they are told."""

    def __init__(self, system: System, swarms: int, seed: int) -> None:
        self.system, self.swarms, self.seed = system, swarms, seed
        self.actions = np.asarray(system.actions)
        self.lives = 0

    def moved(self, chosen: list[int] | None) -> NDArray[Any]:
        """The classes that all agents see after these actions; None: at the beginning."""
        if chosen is None:
            self.lives, self.step = self.lives + 1, 0
            seed = seed_of(self.seed, self.lives)
            self.streams = Streams.of(seed, list(range(self.swarms)), self.system.n_agents)
            self.state = self.system.initial(self.streams.at(0, Purpose.INITIAL))
        else:
            actions = self.actions[np.asarray(chosen)].reshape(self.swarms, -1)
            rng = self.streams.at(self.step, Purpose.TRANSITION)
            self.state = self.system.transition(self.state, actions, rng)
            self.step += 1
        seen: NDArray[Any] = classes(self.system, self.system.observe(self.state))
        return seen.reshape(-1)


@functools.cache
def environment() -> Path:
    """The interpreter of an environment that has imitation, made if there is none.

    Raises InvalidInput if it cannot be installed.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = base / "swarmdp-benchmark" / "imitation"
    python, made = folder / "bin" / "python", folder / "complete"
    if made.exists():
        return python
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:]
            raise InvalidInput(f"imitation does not install: {' '.join(last)}")
    made.touch()
    return python
