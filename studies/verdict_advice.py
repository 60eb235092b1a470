"""Cases in which a verdict gives advice, and what happens to those who follow it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import swarmdp
from studies.battery.case import Case
from studies.battery.development import Sentries, Tide, cases
from studies.rows import Row
from studies.verdict_cases import Rendezvous
from swarmdp.judging import advice
from swarmdp.model.streams import derived_seed
from swarmdp.model.system import System

DEGREE = float(np.radians(1))


@dataclass(frozen=True)
class Try:
    """A fit: a system, a demo of it, and options of `swarmdp.fit`."""

    system: System
    demo: swarmdp.Trajectory
    options: dict[str, Any]

    def verdict(self, seed: int) -> swarmdp.Verdict:
        """The verdict of the fit."""
        result = swarmdp.fit(
            self.system, self.demo, seed=seed, threads=1, progress=False, **self.options
        )
        assert result.verdict is not None
        return result.verdict


@dataclass(frozen=True)
class Advised:
    """A case of an advice."""

    words: str  # the advice in short
    given: str  # what the advice contains
    first: Callable[[int], Try]  # of a seed
    followed: Callable[[int], Try]
    elsewhere: Callable[[int], Try]  # a case with an alarm for which it is no remedy


def _vicsek(seed: int, runs: int = 1, steps: int = 100, options: Any = None, **changes: Any) -> Try:
    vicsek = swarmdp.Vicsek(**changes)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=steps, runs=runs, seed=seed, progress=False)
    return Try(vicsek, demo, options or {})


def _few(seed: int, runs: int = 1) -> Try:
    """A demo of which only observations are known."""
    vicsek = swarmdp.Vicsek(n_agents=40, radius=0.1, noise=35 * DEGREE, speed=0.05)
    demo = swarmdp.rollout(
        vicsek,
        vicsek.expert,
        steps=60,
        runs=runs,
        seed=seed,
        record=["observations", "order"],
        progress=False,
    )
    return Try(vicsek, demo, {})


def _battery(name: str, seed: int, informed: System | None = None, **options: Any) -> Try:
    case = next(case for case in cases() if case.name == name)
    if informed is None:
        return Try(case.system, case.demo(seed), options)
    return battery_of(case, seed, informed, **options)


def battery_of(case: Case, seed: int, informed: System, **options: Any) -> Try:
    """A fit of the demo of agents that see what decides."""
    demo = swarmdp.rollout(
        informed,
        informed.expert,  # type: ignore[attr-defined]
        steps=case.steps,
        runs=case.runs,
        seed=seed,
        progress=False,
    )
    return Try(informed, demo, options)


def _ring(seed: int, **options: Any) -> Try:
    ring = Rendezvous()
    demo = swarmdp.rollout(ring, ring.expert, steps=100, seed=seed, progress=False)
    return Try(ring, demo, options)


COARSE_TURNS = tuple(turn * DEGREE for turn in (-120, 0, 120))

ADVICE = {
    "one run of a noisy swarm, observations only": Advised(
        "more runs",
        advice.MORE_DATA,
        _few,
        lambda seed: _few(seed, 10),
        lambda seed: _vicsek(seed, n_bins=3),
    ),
    "three classes of misalignment": Advised(
        "finer classes",
        "coarse",
        lambda seed: _vicsek(seed, n_bins=3),
        _vicsek,
        _few,
    ),
    "turns of 120 degrees": Advised(
        "finer actions",
        "coarse",
        lambda seed: _vicsek(seed, turns=COARSE_TURNS),
        _vicsek,
        _few,
    ),
    "sentries that count their steps": Advised(
        "a memory",
        "a memory is missing",
        lambda seed: _battery("sentries", seed),
        lambda seed: _battery("sentries", seed, Sentries(informed=True)),
        lambda seed: _vicsek(seed, n_bins=3),
    ),
    "a tide that nobody sees": Advised(
        "a common cue",
        "a common cue",
        lambda seed: _battery("tide", seed),
        lambda seed: _battery("tide", seed, Tide(informed=True)),
        lambda seed: _vicsek(seed, n_bins=3),
    ),
    "fireflies without policy search": Advised(
        "other learners",
        advice.OTHER_LEARNERS,
        lambda seed: _battery("fireflies", seed, policy_search=False),
        lambda seed: _battery("fireflies", seed),
        lambda seed: _vicsek(seed, n_bins=3),
    ),
    "a ring without policy search": Advised(
        "other learners",
        advice.OTHER_LEARNERS,
        lambda seed: _ring(seed, policy_search=False),
        _ring,
        lambda seed: _vicsek(seed, n_bins=3),
    ),
}


def follow_advice(name: str, count: int, seed: int) -> Row:
    """How often an advice was given, and how often following it turned the verdict."""
    case = ADVICE[name]
    given = turned = elsewhere = given_elsewhere = 0
    for k in range(count):
        demo, fit = derived_seed(seed, k), derived_seed(seed, k, 1)
        verdict = case.first(demo).verdict(fit)
        if verdict.alarm and any(case.given in text for text in verdict.advice):
            given += 1
            turned += not case.followed(demo).verdict(fit).alarm
        if k < (count + 1) // 2:
            other = case.elsewhere(demo).verdict(fit)
            elsewhere += other.alarm
            given_elsewhere += any(case.given in text for text in other.advice)
    return {
        "tried": count,
        "given": given,
        "turned": turned,
        "elsewhere": elsewhere,
        "given_elsewhere": given_elsewhere,
    }
