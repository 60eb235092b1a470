"""Whether the learned swarm does what the recorded one did from other starts, too.

Nobody recorded the expert there. But where the demo's actions are known, its clone is as good as a
recording, if it is much nearer to the demo than the learned swarm is. This finds what a demo that
comes to rest hides: two tables can lead one grid to the same end, and most others to other ends.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from swarmdp.judging.advice import clone_is_nearer
from swarmdp.judging.blocks import LATER
from swarmdp.judging.comparison import LEVEL
from swarmdp.judging.stage import DemoStage
from swarmdp.judging.statistics import OFF
from swarmdp.model.system import System
from swarmdp.model.traits import measures_of
from swarmdp.model.verdict import Verdict
from swarmdp.policies import LocalPolicy
from swarmdp.simulation.rollout import simulate

_RUNS, MORE = 40, 200  # of each, with the same random numbers; more where these raise suspicion
SURE = 2.0  # standard errors of a difference that counts


def add_other_starts(
    verdict: Verdict,
    stage: DemoStage,
    learned: LocalPolicy,
    clone: LocalPolicy | None,
    seed: int,
    model: System | None = None,
) -> Verdict:
    """The verdict, or an alarm if a measure later is off by a tenth from other starts.

    Only where the learned swarm can be told from the demo, and the verdict is not an alarm already.
    The learned policy moves the model where one is given.
    """
    if clone is None or verdict.alarm or verdict.p > LEVEL or not clone_is_nearer(verdict.lines):
        return verdict
    for name in stage.comparable.measures:
        measure = measures_of(stage.system)[name]
        if measure.limits[0] != 0:
            continue
        swarms = ((model or stage.system, learned), (stage.system, clone))
        later, other = (_later(stage, *swarm, name, _RUNS, seed) for swarm in swarms)
        if _is_off(later, other):
            later, other = (_later(stage, *swarm, name, MORE, seed) for swarm in swarms)
        gap = later - other
        error = gap.std(ddof=1) / np.sqrt(len(gap))
        if _is_off(later, other) and abs(gap.mean()) > SURE * error:
            words = (
                f"does not reproduce it: from other starts the {measure.title} {LATER} is "
                f"{later.mean():.3g}, that of the demo's clone {other.mean():.3g}"
            )
            advice = "more demos, from other starts: this one hardly shows the difference"
            return replace(
                verdict,
                words=words,
                reproduces=False,
                alarm=True,
                advice=(*verdict.advice, advice),
            )
    return verdict


def _is_off(later: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    low, high = sorted((float(later.mean()), float(other.mean())))
    return high > OFF * low


def _later(
    stage: DemoStage, system: System, policy: LocalPolicy, measure: str, runs: int, seed: int
) -> NDArray[np.float64]:
    """The mean of a measure in the second half of each run."""
    seen = simulate(
        system,
        policy,
        numbers=np.arange(runs),
        steps=stage.demo.steps,
        seed=seed,
        record=[measure],
        threads=stage.threads,
    )
    mean: NDArray[np.float64] = seen[measure][:, (stage.demo.steps + 1) // 2 :].mean(axis=1)
    return mean
