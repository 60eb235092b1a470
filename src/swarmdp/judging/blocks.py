"""Time cut into blocks, and the three parts of a run that verdicts speak of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCKS = 10  # into which the time of a run is cut, if it is long enough
BEGINNING, ON_THE_WAY, LATER = "at the beginning", "on the way", "later"
WHOLE = "over the whole time"


def block_count(steps: int) -> int:
    """The number of blocks of a run: each has at least two times."""
    return max(1, min(BLOCKS, (steps + 1) // 2))


def block_sums(values: NDArray[Any], blocks: int) -> NDArray[np.float64]:
    """The sum over each block of time: (runs, blocks, ...) from (runs, times, ...)."""
    begins = np.arange(blocks) * values.shape[1] // blocks
    sums: NDArray[np.float64] = np.add.reduceat(
        values.astype(np.float64, copy=False), begins, axis=1
    )
    return sums


def block_means(values: NDArray[Any], blocks: int) -> NDArray[np.float64]:
    """The mean over each block of time: (runs, blocks, ...) from (runs, times, ...)."""
    lengths = np.bincount(block_of(values.shape[1], blocks))
    sums = block_sums(values, blocks)
    means: NDArray[np.float64] = sums / lengths.reshape(-1, *(1,) * (values.ndim - 2))
    return means


def block_of(times: int, blocks: int) -> NDArray[np.int64]:
    """The block in which each time lies."""
    begins = np.arange(blocks) * times // blocks
    numbers: NDArray[np.int64] = np.searchsorted(begins, np.arange(times), side="right") - 1
    return numbers


def parts(blocks: int) -> dict[str, slice]:
    """The blocks of each part of a run: the first tenth, the rest of the first half, the second.

    A short run has fewer parts.
    """
    half = max(1, blocks // 2)
    named = {
        BEGINNING: slice(0, 1),
        ON_THE_WAY: slice(1, half),
        LATER: slice(half if blocks > 1 else 0, blocks),
    }
    if blocks == 1:
        return {WHOLE: slice(0, 1)}
    return {name: part for name, part in named.items() if part.stop > part.start}


def spans_in_words(steps: int, blocks: int) -> dict[str, str]:
    """When each part of a run of so many blocks is, in words that one can look up."""
    ends = {name: round(part.stop * steps / blocks) for name, part in parts(blocks).items()}
    if BEGINNING not in ends:
        return {WHOLE: WHOLE}
    first = ends[BEGINNING]
    words = {BEGINNING: f"in the first {first} steps" if first > 1 else "in the first step"}
    if ON_THE_WAY in ends:
        words[ON_THE_WAY] = f"from step {first + 1} to {ends[ON_THE_WAY]}"
    later = ends.get(ON_THE_WAY, first)
    return words | {LATER: f"after step {later}"}
