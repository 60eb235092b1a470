"""Many live copies of a simulator, found again by what led to where they are.

A copy stands at a history: the seed of its episode and all actions since. Asked for the next frame
of a history, a copy that stands there is stepped; if there is none, one is reset to the seed and
replays the history. So the answer depends on the question alone, whatever was asked before.
"""

import multiprocessing
import pickle
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.envs.simulators import Copy, Recipe, SimulatorFrame, hear_nothing, silenced
from swarmdp.support.errors import InvalidInput

SPARE = 16  # copies that may stand by, beside two for each question that is asked at once


@dataclass(frozen=True, eq=False)
class Question:
    """What follows a history, when the agents act so."""

    seed: int
    past: NDArray[np.uint8]  # (steps, agents): indices of actions, agents in the simulator's order
    choice: NDArray[np.uint8] | None  # (agents,); None at the beginning of an episode
    seen: NDArray[Any] | None = None  # (agents, ...): what was observed at the end of the history

    @property
    def place(self) -> tuple[int, bytes]:
        """Where a copy must stand to answer it."""
        return self.seed, self.past.tobytes()


class Copies:
    """Live copies in this process."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._standing: OrderedDict[tuple[int, bytes], Copy] = OrderedDict()
        self._idle: list[Copy] = []
        self._most = SPARE
        # Simulators are not asked to be thread-safe, and gain nothing from threads.
        self._lock = threading.Lock()

    def answers(self, questions: Sequence[Question]) -> list[SimulatorFrame]:
        """The frame that answers each question."""
        with self._lock, silenced():
            self._most = max(self._most, 2 * len(questions) + SPARE)
            answered: dict[tuple[tuple[int, bytes], bytes | None], SimulatorFrame] = {}
            frames = []
            for question in questions:
                choice = None if question.choice is None else question.choice.tobytes()
                same = (question.place, choice)
                if same not in answered:
                    answered[same] = self._answer(question)
                frames.append(answered[same])
            return frames

    def _answer(self, question: Question) -> SimulatorFrame:
        if question.choice is None:
            copy = self._free()
            frame = copy.reset(question.seed)
            self._standing[question.place] = copy
            return frame
        place = question.place
        there = place in self._standing
        copy = self._standing.pop(place) if there else self._replay(question)
        try:
            frame = copy.step(question.choice.tolist())
        except BaseException:
            self._idle.append(copy)  # where it stands is not known; a reset will tell
            raise
        if frame.over:
            self._idle.append(copy)
        else:
            past = question.past.tobytes() + question.choice.tobytes()
            self._standing[question.seed, past] = copy
        return frame

    def _replay(self, question: Question) -> Copy:
        copy = self._free()
        frame = copy.reset(question.seed)
        for choice in question.past.tolist():
            frame = copy.step(choice)
        if question.seen is not None and not np.array_equal(frame.observations, question.seen):
            raise InvalidInput(
                f"the simulator did not repeat itself: after {len(question.past)} steps from "
                f"seed {question.seed} its agents observe something else than the first time. It "
                "ignores its seed, or is another simulator than the one that was recorded"
            )
        return copy

    def _free(self) -> Copy:
        """A copy that may be reset."""
        if self._idle:
            return self._idle.pop()
        if len(self._standing) >= self._most:
            return self._standing.popitem(last=False)[1]  # the one that has waited longest
        return self._recipe.build()


class Processes:
    """Live copies in several processes; a history is always with the same one."""

    def __init__(self, recipe: Recipe, count: int) -> None:
        check_sendable(recipe)
        context = multiprocessing.get_context("spawn")
        self._workers = [
            ProcessPoolExecutor(1, mp_context=context, initializer=_begin, initargs=(recipe,))
            for _ in range(count)
        ]
        self._finalizer = weakref.finalize(self, _shut, self._workers)

    def answers(self, questions: Sequence[Question]) -> list[SimulatorFrame]:
        """The frame that answers each question."""
        count = len(self._workers)
        parts: list[list[int]] = [[] for _ in range(count)]
        for place, question in enumerate(questions):
            parts[question.seed % count].append(place)
        asked: list[tuple[list[int], Future[list[SimulatorFrame]]]] = []
        frames: list[SimulatorFrame | None] = [None] * len(questions)
        try:
            for worker, part in zip(self._workers, parts, strict=True):
                if part:
                    asked.append((part, worker.submit(_reply, [questions[k] for k in part])))
            for part, reply in asked:
                for place, frame in zip(part, reply.result(), strict=True):
                    frames[place] = frame
        except BrokenProcessPool:
            raise InvalidInput(
                "a process with copies of the simulator has died: run it with processes=0 to see "
                "why. A script that uses processes must begin its work under "
                '`if __name__ == "__main__":`'
            ) from None
        return [frame for frame in frames if frame is not None]

    def close(self) -> None:
        """End the processes."""
        self._finalizer()


def check_sendable(recipe: Recipe) -> None:
    """Raise InvalidInput unless the recipe can be sent to another process."""
    for name in ("make", "observe", "positions"):
        value = vars(recipe)[name]
        try:
            pickle.dumps(value)
        except Exception as error:
            raise InvalidInput(
                f"processes need {name} to be something that can be pickled, a function of a "
                f"module and no lambda ({type(error).__name__}: {str(error).splitlines()[0]})"
            ) from None


_HERE: list[Copies] = []  # of a worker


def _begin(recipe: Recipe) -> None:
    hear_nothing()
    _HERE.append(Copies(recipe))


def _reply(questions: Sequence[Question]) -> list[SimulatorFrame]:
    return _HERE[0].answers(questions)


def _shut(workers: Sequence[ProcessPoolExecutor]) -> None:
    for worker in workers:
        worker.shutdown(wait=True, cancel_futures=True)
