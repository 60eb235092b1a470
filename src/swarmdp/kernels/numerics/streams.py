"""Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011).

Every number is a pure function of the key (the 64-bit seed) and the counter (agent, run, step,
draw); nothing is stored between calls, so the order of evaluation cannot matter.

A block of 128 bits is four 32-bit words, held in uint64: products of two words fit, and loops over
agents, whose counters differ in one word, vectorise. Results are (runs, agents) of float64. Twins
in the tests: `oracles.philox`, `uniform` and `normal`, and the vectors of the paper's authors.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.runtime.compile import inlined, kernel
from swarmdp.support import parallel

MASK = 0xFFFFFFFF
TWO_TO_MINUS_32 = 1.0 / 2**32
TWO_TO_MINUS_53 = 1.0 / 2**53
TWO_TO_MINUS_64 = 1.0 / 2**64


@dataclass(frozen=True)
class Counter:
    """All of a counter block but the agent: which numbers are meant."""

    seed: int
    runs: NDArray[np.int64]  # (runs,)
    step: int
    draw: int

    def words(self) -> tuple[np.uint64, NDArray[np.int64], np.uint64, np.uint64]:
        """As the kernels take them."""
        return np.uint64(self.seed), self.runs, np.uint64(self.step), np.uint64(self.draw)


def uniform(
    counter: Counter, agents: NDArray[np.int32], low: float, high: float
) -> NDArray[np.float64]:
    """Uniform numbers in [low, high); `agents` (runs or 1, agents) are the agents' ids."""
    return _fill(uniform_runs, counter, agents, low, high)


def coarse(counter: Counter, agents: NDArray[np.int32]) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1) of 32 bits; agents 4 k to 4 k + 3 share a block."""
    return _fill(coarse_runs, counter, agents, 0.0, 1.0)


def normal(
    counter: Counter, agents: NDArray[np.int32], loc: float, scale: float
) -> NDArray[np.float64]:
    """Normal numbers with mean loc and standard deviation scale."""
    return _fill(normal_runs, counter, agents, loc, scale)


def permutation(counter: Counter, n: int) -> NDArray[np.int32]:
    """A uniformly random permutation of range(n) for each run."""
    out = np.empty((counter.runs.size, n), np.int32)
    permutation_runs(*counter.words(), out)
    return out


def _fill(
    fill_runs: Callable[..., None],
    counter: Counter,
    agents: NDArray[np.int32],
    first: float,
    second: float,
) -> NDArray[np.float64]:
    n = agents.shape[1]
    seed, runs, step, draw = counter.words()
    out = np.empty((runs.size, n))
    parts = parallel.shares(n)
    if parts == 1:
        fill_runs(seed, runs, step, draw, agents, first, second, out)
        return out
    # One run, its agents shared between threads.
    for r in range(runs.size):
        ids, row, run = agents[r % agents.shape[0]], out[r], runs[r : r + 1]

        def work(
            part: int,
            begin: int,
            end: int,
            ids: NDArray[np.int32] = ids,
            row: NDArray[np.float64] = row,
            run: NDArray[np.int64] = run,
        ) -> None:
            # Each number depends on its agent alone: parts need not know of each other.
            fill_runs(
                seed, run, step, draw, ids[None, begin:end], first, second, row[None, begin:end]
            )

        parallel.divide(n, parts, work)
    return out


@inlined
def philox(c0, c1, c2, c3, k0, k1):
    """Ten rounds on a counter of four 32-bit words under a key of two; words held in uint64."""
    # Two multiplications give high and low words, which change places with the others.
    for _ in range(10):
        p0 = c0 * np.uint64(0xD2511F53)
        p1 = c2 * np.uint64(0xCD9E8D57)
        c0 = (p1 >> np.uint64(32)) ^ c1 ^ k0
        c1 = p1 & np.uint64(MASK)
        c2 = (p0 >> np.uint64(32)) ^ c3 ^ k1
        c3 = p0 & np.uint64(MASK)
        # Keys change from round to round by Weyl's sequences, modulo 2^32.
        k0 = (k0 + np.uint64(0x9E3779B9)) & np.uint64(MASK)
        k1 = (k1 + np.uint64(0xBB67AE85)) & np.uint64(MASK)
    return c0, c1, c2, c3


@inlined
def word_to_float(word):
    """An unsigned 32-bit word as a float (through a signed conversion, which vectorises)."""
    return np.float64(np.int32(word)) + (4294967296.0 if np.int32(word) < 0 else 0.0)


@inlined
def unit_uniform(high, low):
    """53 random bits in [0, 1)."""
    return word_to_float(high) * TWO_TO_MINUS_32 + word_to_float(low >> np.uint64(11)) * (
        TWO_TO_MINUS_53
    )


@inlined
def coarse_word(agent, run, step, draw, k0, k1):
    """The word of an agent in the block that it shares with three others."""
    w0, w1, w2, w3 = philox(agent >> np.uint64(2), run, step, draw, k0, k1)
    # Choices instead of an index: four words are not an array.
    odd = (agent & np.uint64(1)) != np.uint64(0)
    # The two lowest bits of the agent's number say which word is its own.
    low = w1 if odd else w0
    high = w3 if odd else w2
    return high if (agent & np.uint64(2)) != np.uint64(0) else low


@inlined
def standard_normal(w0, w1, w2, w3):
    """Box and Muller's transform of 128 random bits; reaches 9.4 standard deviations."""
    # Never zero, whose logarithm would be infinite: half a unit of the last bit is added.
    radius_bits = word_to_float(w0) * TWO_TO_MINUS_32 + (word_to_float(w1) + 0.5) * TWO_TO_MINUS_64
    radius = math.sqrt(-2.0 * elementary.natural_log(radius_bits))
    return radius * elementary.cos_turns(unit_uniform(w2, w3))


@kernel
def words(counters, key, out):
    """Raw Philox blocks for an array of counters (blocks, 4); for tests against its vectors."""
    for i in range(counters.shape[0]):
        c = counters[i]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = philox(c[0], c[1], c[2], c[3], key[0], key[1])


@kernel
def uniform_runs(seed, runs, step, draw, agents, low, high, out):
    """Fill out (runs, agents) with uniform numbers in [low, high)."""
    k0 = seed & np.uint64(MASK)
    k1 = seed >> np.uint64(32)
    for r in range(runs.shape[0]):
        ids = agents[r % agents.shape[0]]
        run = np.uint64(runs[r])
        row = out[r]
        for i in range(np.uint64(row.shape[0])):
            # A block for each agent, of which 53 bits are used: no number depends on how many are
            # drawn.
            w0, w1, _, _ = philox(np.uint64(ids[i]), run, step, draw, k0, k1)
            row[i] = low + (high - low) * unit_uniform(w0, w1)


@kernel
def coarse_runs(seed, runs, step, draw, agents, low, high, out):
    """Fill out (runs, agents) with uniform numbers in [low, high) of 32 bits."""
    k0 = seed & np.uint64(MASK)
    k1 = seed >> np.uint64(32)
    for r in range(runs.shape[0]):
        ids = agents[r % agents.shape[0]]
        run = np.uint64(runs[r])
        row = out[r]
        for i in range(np.uint64(row.shape[0])):
            word = coarse_word(np.uint64(ids[i]), run, step, draw, k0, k1)
            row[i] = low + (high - low) * (word_to_float(word) * TWO_TO_MINUS_32)


@kernel
def normal_runs(seed, runs, step, draw, agents, loc, scale, out):
    """Fill out (runs, agents) with normal numbers."""
    k0 = seed & np.uint64(MASK)
    k1 = seed >> np.uint64(32)
    for r in range(runs.shape[0]):
        ids = agents[r % agents.shape[0]]
        run = np.uint64(runs[r])
        row = out[r]
        for i in range(np.uint64(row.shape[0])):
            w0, w1, w2, w3 = philox(np.uint64(ids[i]), run, step, draw, k0, k1)
            row[i] = loc + scale * standard_normal(w0, w1, w2, w3)


@kernel
def permutation_runs(seed, runs, step, draw, out):
    """Fill each row of out (runs, agents) with a uniformly random permutation (Fisher-Yates)."""
    k0 = seed & np.uint64(MASK)
    k1 = seed >> np.uint64(32)
    n = out.shape[1]
    partner = np.empty(n, np.uint32)
    for r in range(runs.shape[0]):
        run = np.uint64(runs[r])
        row = out[r]
        # Partners in a loop of their own, which vectorises; the exchanges depend on each other.
        for i in range(np.uint64(n)):
            w0, w1, _, _ = philox(i, run, step, draw, k0, k1)
            # Agent i changes places with one of 0..i, all equally likely.
            partner[i] = np.uint32(np.int64(unit_uniform(w0, w1) * (np.float64(np.int64(i)) + 1.0)))
            row[i] = i
        for i in range(np.uint64(n)):
            j = np.uint64(partner[i])
            swapped = row[i]
            row[i] = row[j]
            row[j] = swapped
