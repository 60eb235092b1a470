"""The memory that agents of a demo may have had: the states that explain best what they did.

An agent with a memory of K states does a and remembers m' with a probability P(a, m' | o, m) that
depends on its observation o and its memory m. Only o and a are recorded. The probabilities under
which all that was done is most probable are found by expectation maximisation (Baum and Welch),
some times from random beginnings, and then the likeliest states of every agent (Viterbi).
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.arrays import Floats

_BEGINNINGS = 12  # random ones, of which the best is kept
_ROUNDS = 60  # of expectation maximisation, at most
_FIRST = 8  # rounds after which only the better half of the beginnings goes on
_SETTLED = 1e-7  # nats a decision: a change that is none
_LEAST = 1e-6  # the chance of what was never seen
_MOST_DECISIONS = 200_000  # of single agents, from which probabilities are learned


def likeliest_memories(
    index: NDArray[np.int64],
    taken: NDArray[np.int64],
    sizes: tuple[int, int],
    states: int,
    *,
    seed: int,
) -> NDArray[np.int64]:
    """The state of each agent's memory after each of its decisions (runs, steps, agents).

    Parameters
    ----------
    index
        (runs, steps, agents): the class of what was observed.
    taken
        (runs, steps, agents): the index of the action.
    sizes
        The number of classes and of actions.
    states
        The number of states of the memory, which begins in state 0.
    seed
        Of the random beginnings.

    """
    runs, steps, agents = index.shape
    seen, done = (
        array.transpose(0, 2, 1).reshape(runs * agents, steps) for array in (index, taken)
    )
    rng = np.random.default_rng(seed)
    few = max(1, _MOST_DECISIONS // steps)
    some = rng.permutation(len(seen))[:few]
    chances = _learned(seen[some], done[some], sizes, states, rng)
    path = _viterbi(seen, done, chances)
    return path.reshape(runs, agents, steps).transpose(0, 2, 1)


def _learned(
    seen: NDArray[np.int64],
    done: NDArray[np.int64],
    sizes: tuple[int, int],
    states: int,
    rng: np.random.Generator,
) -> Floats:
    """P(a, m' | o, m) as an array (O, A, M, M'), under which sequences are most probable."""
    candidates = []
    for _ in range(_BEGINNINGS):
        random = rng.dirichlet(np.ones(sizes[1] * states), size=(sizes[0], states))
        table = random.reshape(sizes[0], states, sizes[1], states).transpose(0, 2, 1, 3)
        candidates.append((-np.inf, table))
    for first, last in ((0, _FIRST), (_FIRST, _ROUNDS)):
        improved = []
        for worth, table in candidates:
            now, chances = worth, table
            for _ in range(first, last):
                before = now
                now, chances = _improved(seen, done, chances)
                if now - before < _SETTLED and np.isfinite(before):
                    break
            improved.append((now, chances))
        improved.sort(key=lambda pair: -pair[0])
        candidates = improved[: max(1, len(improved) // 2)]
    return candidates[0][1]


def _improved(
    seen: NDArray[np.int64], done: NDArray[np.int64], chances: Floats
) -> tuple[float, Floats]:
    """One round: the log-likelihood of a decision, and probabilities that make it larger."""
    count, steps = seen.shape
    states = chances.shape[2]
    forward = np.zeros((steps + 1, count, states))
    forward[0, :, 0] = 1.0
    scale = np.ones((steps + 1, count))
    for t in range(steps):
        now = np.einsum("sm,smn->sn", forward[t], chances[seen[:, t], done[:, t]])
        scale[t + 1] = now.sum(axis=1)
        forward[t + 1] = now / scale[t + 1][:, None]
    backward = np.ones((count, states))
    counts = np.zeros(chances.shape)
    for t in reversed(range(steps)):
        step = chances[seen[:, t], done[:, t]]
        joint = forward[t][:, :, None] * step * (backward / scale[t + 1][:, None])[:, None, :]
        np.add.at(counts, (seen[:, t], done[:, t]), joint)
        backward = np.einsum("smn,sn->sm", step, backward) / scale[t + 1][:, None]
    counts += _LEAST
    better: Floats = counts / counts.sum(axis=(1, 3), keepdims=True)
    return float(np.log(scale[1:]).mean()), better


def _viterbi(
    seen: NDArray[np.int64], done: NDArray[np.int64], chances: Floats
) -> NDArray[np.int64]:
    """The likeliest states (S, steps) after each decision."""
    count, steps = seen.shape
    logarithm = np.log(chances)
    best = np.full((count, chances.shape[2]), -np.inf)
    best[:, 0] = 0.0
    came = np.zeros((steps, count, chances.shape[2]), np.int64)
    for t in range(steps):
        through = best[:, :, None] + logarithm[seen[:, t], done[:, t]]
        came[t] = through.argmax(axis=1)
        best = through.max(axis=1)
    path = np.zeros((count, steps), np.int64)
    state = best.argmax(axis=1)
    for t in reversed(range(steps)):
        path[:, t] = state
        state = came[t][np.arange(count), state]
    return path
