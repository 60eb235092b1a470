"""A fit that runs beside the swarms and tells of every iteration."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from swarmdp.fitting.fit import Fit
from swarmdp.irl.algorithm import Iteration
from swarmdp.irl.result import Result
from swarmdp.model.system import System
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import LocalPolicy
from swarmdp.simulation.rollout import rollout
from swarmdp.studio.planning import small
from swarmdp.studio.stage import Play

DEMO_STEPS = 100
RESAMPLES = 8  # resampled demos, for the errors of a reward

Say = Callable[[dict[str, Any]], None]


class _Stopped(Exception):
    """Somebody wants no more of it."""


@dataclass(frozen=True)
class Wish:
    """What is to be learned."""

    seed: int
    iterations: int
    errors: bool


class Learning:
    """One fit: `run` in a thread, `stop` from anywhere; `go_on` and `run` again."""

    def __init__(self, play: Play, wish: Wish) -> None:
        self.wish = wish
        self.recorded = isinstance(play.left, Trajectory)
        self.system: System = play.system if self.recorded else small(play.system)
        self._left = play.left
        self._fit: Fit | None = None
        self.done: list[Iteration] = []
        self.result: Result | None = None
        self.saved = True  # nothing that could be lost
        self._stop = threading.Event()
        self._abandoned = False

    def abandon(self) -> None:
        """End as soon as possible: nobody is there any more."""
        self._abandoned = True
        self._stop.set()

    def go_on(self) -> None:
        """Do not stop any more: `run` is about to be called again."""
        self._stop.clear()

    def stop(self) -> None:
        """End after the iteration that is under way."""
        self._stop.set()

    def run(self, say: Say, follow: Callable[[LocalPolicy], None]) -> dict[str, Any]:
        """Learn, telling what happens and letting a swarm follow each new policy.

        What there is to be told at the end is returned; nothing if nobody is there any more.
        """
        if self._fit is None:
            say({"phase": "demo"})
            self._fit = Fit.of(
                self.system,
                self.demo(),
                seed=self.wish.seed,
                iterations=self.wish.iterations,
                threads=1,
            )
        for iteration in self._fit.iterate(self.done):
            if self.done:
                self.done[-1].memory.clear()
            self.done.append(iteration)
            self.saved, self.result = False, None
            follow(iteration.policy)
            say(self._told(iteration))
            if self._stop.is_set():
                break
        if self._abandoned:
            return {}
        return self._finish(self._fit, say, follow)

    def demo(self) -> Trajectory:
        """What is learned from: the recording, or the expert of a small swarm."""
        if isinstance(self._left, Trajectory):
            return self._left
        seed = self.wish.seed
        return rollout(
            self.system, self._left, steps=DEMO_STEPS, seed=seed, threads=1, progress=False
        )

    def kept(self) -> Result | None:
        """What there is to be saved, also of a fit that was stopped; None before an iteration."""
        if self.result is not None or self._fit is None or not self.done:
            return self.result
        return self._fit.so_far(self.done)

    def _finish(self, fit: Fit, say: Say, follow: Callable[[LocalPolicy], None]) -> dict[str, Any]:
        stopped = self._stop.is_set()
        say({"phase": "choosing"})
        found = fit.result(self.done)
        self.result = found
        follow(found.policy)
        if stopped:
            return {"phase": "stopped", **self._summary(found)}
        say({"phase": "judging", **self._summary(found)})
        found = self.result = replace(found, verdicts=fit.verdicts(found, progress=False))
        verdict = found.verdict
        words = {
            "verdict": "" if verdict is None else verdict.words,
            "alarm": verdict is not None and verdict.alarm,
            "advice": [] if verdict is None else list(verdict.advice),
        }
        if self.wish.errors and not self._stop.is_set():
            say({"phase": "errors", "total": RESAMPLES, **self._summary(found), **words})
            try:
                resamples = fit.resampled_rewards(found, RESAMPLES, self._checking)
            except _Stopped:
                pass
            else:
                found = self.result = replace(found, resamples=resamples)
        return {"phase": "done", **self._summary(found), **words}

    def _checking(self, done: int, total: int, text: str = "") -> None:
        """A progress bar that nobody sees, but that can be interrupted."""
        if self._stop.is_set():
            raise _Stopped

    def _told(self, iteration: Iteration) -> dict[str, Any]:
        return {
            "phase": "iterating",
            "iteration": len(self.done),
            "iterations": self.wish.iterations,
            "distance": float(iteration.distance[0]),
            "margin": float(iteration.margin[0]),
            "weights": iteration.weights[0].tolist(),
            "error": _plain(None if iteration.error is None else iteration.error[0]),
            "agents": self.system.n_agents,
        }

    def _summary(self, found: Result) -> dict[str, Any]:
        error = found.reward_error
        return {
            "iteration": len(self.done),
            "iterations": self.wish.iterations,
            "chosen": int(found.chosen[0]) + 1,
            "distance": float(found.distance[0]),
            "margin": float(found.margin[0]),
            "weights": found.reward.weights[0].tolist(),
            "error": _plain(None if error is None else error[0]),
            "highest": found.highest,
        }


def _plain(error: Any) -> list[float] | None:
    """Standard errors as numbers; None if there is none, or not for all."""
    return None if error is None or not np.isfinite(error).all() else error.tolist()
