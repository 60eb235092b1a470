"""A fit that runs beside the swarms and tells of every iteration."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from swarmdp.fitting.fit import Fit
from swarmdp.irl.algorithm import Iteration
from swarmdp.irl.result import Result
from swarmdp.model.system import System
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import LocalPolicy
from swarmdp.simulation.rollout import rollout
from swarmdp.studio.messages import Learn
from swarmdp.studio.planning import small_swarm
from swarmdp.studio.stage import Play
from swarmdp.support.arrays import Floats

DEMO_STEPS = 100
DEMO_RUNS = 5  # of the expert, as `make run` has them
ERROR_RESAMPLES = 8  # resampled demos, for the errors of a reward

Say = Callable[[dict[str, Any]], None]


class _Stopped(Exception):
    """The fit was stopped while its errors were estimated."""


class StudioFit:
    """One fit: `run` in a thread, `stop` from anywhere; `go_on` and `run` again."""

    def __init__(self, play: Play, request: Learn) -> None:
        self.request = request
        self.recorded = isinstance(play.left, Trajectory)
        self.system: System = play.system if self.recorded else small_swarm(play.system)
        self._left = play.left
        self._fit: Fit | None = None
        self.done: list[Iteration] = []
        self.result: Result | None = None
        self.saved = True  # nothing that could be lost
        self._stop = threading.Event()
        self._abandoned = False

    def abandon(self) -> None:
        """End as soon as possible, without a result: the tab is gone."""
        self._abandoned = True
        self._stop.set()

    def go_on(self) -> None:
        """Take back `stop`: `run` is about to be called again."""
        self._stop.clear()

    def stop(self) -> None:
        """End after the iteration that is under way."""
        self._stop.set()

    def run(self, say: Say, follow: Callable[[LocalPolicy], None]) -> dict[str, Any]:
        """Learn, reporting what happens and letting a swarm follow each new policy.

        Returns the last report, which is empty if the tab is gone.
        """
        if self._fit is None:
            say({"phase": "demo"})
            self._fit = Fit.of(
                self.system,
                self.demo(),
                seed=self.request.seed,
                iterations=self.request.iterations,
                threads=1,
            )
        for iteration in self._fit.iterate(self.done):
            if self.done:
                self.done[-1].memory.clear()
            self.done.append(iteration)
            self.saved, self.result = False, None
            follow(iteration.policy)
            say(self._progress(iteration))
            if self._stop.is_set():
                break
        if self._abandoned:
            return {}
        return self._finish(self._fit, say, follow)

    def demo(self) -> Trajectory:
        """What is learned from: the recording, or the expert of a small swarm."""
        if isinstance(self._left, Trajectory):
            return self._left
        seed = self.request.seed
        return rollout(
            self.system,
            self._left,
            steps=DEMO_STEPS,
            runs=DEMO_RUNS,
            seed=seed,
            threads=1,
            progress=False,
        )

    def result_so_far(self) -> Result | None:
        """What can be saved, also of a fit that was stopped; None before the first iteration."""
        if self.result is not None or self._fit is None or not self.done:
            return self.result
        return self._fit.so_far(self.done)

    def _finish(self, fit: Fit, say: Say, follow: Callable[[LocalPolicy], None]) -> dict[str, Any]:
        stopped = self._stop.is_set()
        say({"phase": "choosing"})
        result = self.result = fit.result(self.done)
        follow(result.policy)
        if stopped:
            return {"phase": "stopped", **self._summary(result)}
        say({"phase": "judging", **self._summary(result)})
        planned: Sequence[LocalPolicy] = ()
        if fit.setup.compares_rewards:
            result, planned = fit.with_reward(result)
        result = self.result = fit.judged(result, False, planned)
        verdict = result.verdict
        words = {
            "verdict": "" if verdict is None else verdict.words,
            "alarm": verdict is not None and verdict.alarm,
            "advice": [] if verdict is None else list(verdict.advice),
        }
        if self.request.errors and not self._stop.is_set():
            say({"phase": "errors", "total": ERROR_RESAMPLES, **self._summary(result), **words})
            try:
                resamples = fit.resampled_rewards(result, ERROR_RESAMPLES, self._raise_if_stopped)
            except _Stopped:
                pass
            else:
                result = self.result = replace(result, resamples=resamples)
        return {"phase": "done", **self._summary(result), **words}

    def _raise_if_stopped(self, done: int, total: int, text: str = "") -> None:
        """Stands in for a progress bar, so that the work can be interrupted."""
        if self._stop.is_set():
            raise _Stopped

    def _progress(self, iteration: Iteration) -> dict[str, Any]:
        return {
            "phase": "iterating",
            "iteration": len(self.done),
            "iterations": self.request.iterations,
            "distance": float(iteration.distance[0]),
            "margin": float(iteration.margin[0]),
            "weights": iteration.weights[0].tolist(),
            "error": first_errors(iteration.error),
            "agents": self.system.n_agents,
        }

    def _summary(self, result: Result) -> dict[str, Any]:
        return {
            "iteration": len(self.done),
            "iterations": self.request.iterations,
            "chosen": int(result.chosen[0]) + 1,
            "distance": float(result.distance[0]),
            "margin": float(result.margin[0]),
            "weights": result.reward.weights[0].tolist(),
            "error": first_errors(result.reward_error),
            "identified": identified_weights(result),
            "sought": _sentence(result),
        }


def first_errors(errors: Floats | None) -> list[float] | None:
    """Standard errors of the first experiment's reward; None unless there is one of each weight."""
    if errors is None or not np.isfinite(errors[0]).all():
        return None
    row: list[float] = errors[0].tolist()
    return row


def identified_weights(result: Result) -> list[bool] | None:
    """Which weights of the first experiment are identified; None if no other rewards are known."""
    flags = result.identified_weights
    return None if flags is None else [bool(flag) for flag in flags[0]]


def _sentence(result: Result) -> str:
    """What the reward asks for, as a sentence."""
    if result.is_highest_clear is False:
        return f"{result.sought[0].upper()}{result.sought[1:]}."
    return f"The reward is {result.sought}."
