"""GAIL of the package `imitation`, all agents sharing one policy, on the demo that a fit is given.

It needs other versions than this repository (gymnasium 0.29, PyTorch) and so an environment of its
own, made in a temporary folder; where that cannot be installed it is skipped. The swarm is NumPy's
there, every agent one environment. GAIL is given the expert's actions, which a fit does not need.
"""

import functools
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import swarmdp
from benchmarks.contest import Measure, Unavailable

OURS_LEARNS = "swarmdp.fit, no actions"
GAIL = "imitation GAIL, with actions"
PACKAGES = ("torch==2.13.0", "imitation==1.0.1")
STEPS, RUNS = 100, 100  # of the demo; of roll-outs that measure a distance
SLICES, SLICE = 12, 20_000  # how often GAIL is looked at, after which number of decisions


def time_fit() -> Measure:
    """Processor seconds of a default fit."""

    def measure() -> float:
        return _fit()[0]

    return measure


def time_gail() -> Measure:
    """Processor seconds until GAIL is as near to the demo as the fit."""
    python = _environment()

    def measure() -> float:
        _, goal = _fit()
        tables = _gail(python)
        distances = [distance(np.array(table)) for _, table in tables]
        near = [seconds for (seconds, _), d in zip(tables, distances, strict=True) if d <= goal]
        if not near:
            raise Unavailable(
                f"not as near as the fit ({goal:.2f}) after {tables[-1][0]:.0f} s of processor "
                f"time: {min(distances):.2f} at best"
            )
        return near[0]

    return measure


def distance(table: "np.ndarray[Any, np.dtype[np.int64]]") -> float:
    """How far the feature expectations of roll-outs of this table are from the demo's."""
    vicsek = swarmdp.Vicsek()
    mu = [
        swarmdp.rollout(
            vicsek,
            who,
            steps=STEPS,
            runs=runs,
            seed=seed,
            record=swarmdp.simulation.DiscountedFeatures(0.9),
        )["discounted_features"].mean(axis=0)
        for who, runs, seed in ((swarmdp.Policy(table), RUNS, 11), (vicsek.expert, 1, 1))
    ]
    return float(np.linalg.norm(mu[0] - mu[1]))


@functools.cache
def _fit() -> tuple[float, float]:
    """Processor seconds of a fit, and its distance by the same measure as GAIL's."""
    vicsek = swarmdp.Vicsek()
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=STEPS, seed=1)
    seconds = []
    for _ in range(2):  # the first may load kernels
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = swarmdp.fit(vicsek, demo, seed=2, judge=False, threads=1)
        seconds.append(time.process_time() - began)
    assert isinstance(result.policy, swarmdp.Policy)
    return seconds[-1], distance(result.policy.table[0])


@functools.cache
def _environment() -> Path:
    """The interpreter of an environment that has GAIL."""
    folder = Path(tempfile.mkdtemp(prefix="gail"))
    python = folder / "bin" / "python"
    commands = (
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:]
            raise Unavailable(f"imitation does not install: {' '.join(last)}")
    return python


def _gail(python: Path) -> list[tuple[float, list[int]]]:
    """GAIL's processor seconds and the table of its most likely actions, after each slice."""
    vicsek = swarmdp.Vicsek()
    demo = swarmdp.rollout(
        vicsek, vicsek.expert, steps=STEPS, seed=1, record=["observations", "actions"]
    )
    turns = np.asarray(vicsek.actions, float)
    chosen = np.abs(demo["actions"][0][..., None] - turns).argmin(axis=-1)
    settings = {
        "agents": vicsek.n_agents,
        "radius": vicsek.radius,
        "speed": vicsek.speed,
        "noise": vicsek.noise,
        "turns": turns.tolist(),
        "angles": np.asarray(vicsek.features.axes[0].values, float).tolist(),
        "slices": SLICES,
        "slice": SLICE,
        "observations": demo["observations"][0].tolist(),
        "actions": chosen.tolist(),
    }
    program = Path(__file__).with_name("gail_program.txt").read_text(encoding="utf-8")
    done = subprocess.run(
        [str(python), "-c", program],
        input=json.dumps(settings),
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    if done.returncode or not lines:
        raise Unavailable(f"GAIL failed: {' '.join(done.stderr.strip().splitlines()[-1:])}")
    return [tuple(json.loads(line)) for line in lines]
