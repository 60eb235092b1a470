"""What the fields of a state do: angles turn, positions move, levels change.

All functions take what was recorded of one field, (runs, times, agents, ...), and tell one number
for each run and block of time, (runs, blocks), or for each run.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.judging.blocks import block_means, block_sums

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # a spread below this share of the values is that of their last digits


def steps_of(values: NDArray[Any], period: float | None) -> Floats:
    """The change in each step, the short way round where the field is periodic."""
    change: Floats = np.diff(values.astype(np.float64, copy=False), axis=1)
    if period is not None:
        change -= period * np.round(change / period)
    return change


def turning(values: NDArray[Any], period: float | None, blocks: int) -> dict[str, Floats]:
    """What angles do: their turns, in units of the angle."""
    turn = steps_of(values, 2 * math.pi if period is None else period)
    square = turn * turn
    squared = block_means(square.mean(axis=2), blocks)
    found = {
        "turn": block_means(turn.mean(axis=2), blocks),
        "size of turns": block_means(np.abs(turn).mean(axis=2), blocks),
        "largest turns": np.sqrt(np.sqrt(block_means(_products(square, square), blocks))),
    }
    if turn.shape[1] > blocks:
        lagged = _products(turn[:, 1:], turn[:, :-1])
        found["memory of turns"] = ratio(block_means(lagged, blocks), squared)
    return found


def moving(values: NDArray[Any], period: float | None, blocks: int) -> dict[str, Floats]:
    """What positions (runs, times, agents, axes) do: how fast, and whether they get anywhere."""
    step = steps_of(values, period)
    speed: Floats = np.sqrt(np.einsum("rtna,rtna->rtn", step, step))
    net, path = block_sums(step, blocks), block_sums(speed, blocks)
    return {
        "speed": block_means(speed.mean(axis=2), blocks),
        "spread of speeds": block_means(_beyond_rounding(speed.std(axis=2), speed), blocks),
        "straightness": straightness(net, path),
        "straightness of the second half": straightness(
            net[:, blocks // 2 :].sum(axis=1, keepdims=True),
            path[:, blocks // 2 :].sum(axis=1, keepdims=True),
        ),
    }


def _beyond_rounding(spread: Floats, values: Floats) -> Floats:
    """The spread of values (..., agents), zero where it is only that of their last digits."""
    return np.where(spread > ROUNDING * np.abs(values).max(axis=-1), spread, 0.0)


def straightness(net: Floats, path: Floats) -> Floats:
    """Net displacement (..., agents, axes) over path (..., agents), the mean over agents.

    It is 1 for straight flight. Agents that do not move at all count as not getting anywhere.
    """
    each = ratio(np.sqrt(np.einsum("...a,...a->...", net, net)), path)
    mean: Floats = each.mean(axis=-1)
    return mean


def changing(values: NDArray[Any], blocks: int) -> dict[str, Floats]:
    """What levels (runs, times, agents) do: how many change, and whether they change back."""
    agents = values.shape[2]
    found = {"share that changes": _changed(values, 1, blocks) / agents}
    if values.shape[1] - 2 >= blocks:
        found["share that differs after two steps"] = _changed(values, 2, blocks) / agents
    found["mean level"] = block_means(values.mean(axis=2), blocks)
    return found


def distinct(values: NDArray[Any], blocks: int) -> Floats:
    """The number of different levels at the end of each block, for each agent."""
    times, agents = values.shape[1], values.shape[2]
    ends = np.append(np.arange(1, blocks) * times // blocks - 1, times - 1)
    ordered = np.sort(values[:, ends], axis=2)
    count: Floats = (1.0 + np.count_nonzero(np.diff(ordered, axis=2), axis=2)) / agents
    return count


def drifting(values: NDArray[Any], blocks: int) -> dict[str, Floats]:
    """What numbers of unknown meaning do: their mean and spread over agents, and their changes."""
    flat = values.reshape(*values.shape[:3], -1).astype(np.float64, copy=False)
    change = np.abs(np.diff(flat, axis=1))
    return {
        "mean": block_means(flat.mean(axis=(2, 3)), blocks),
        "spread": block_means(flat.std(axis=2).mean(axis=2), blocks),
        "size of changes": block_means(change.mean(axis=(2, 3)), blocks),
    }


def ratio(top: Floats, bottom: Floats) -> Floats:
    """The ratio, and zero where nothing is divided by nothing."""
    quotient: Floats = top / np.where(bottom > 0, bottom, 1.0)
    return np.where(bottom > 0, quotient, 0.0)


def _products(left: Floats, right: Floats) -> Floats:
    """The mean product over agents (runs, times)."""
    mean: Floats = np.einsum("rtn,rtn->rt", left, right) / left.shape[2]
    return mean


def _changed(values: NDArray[Any], lag: int, blocks: int) -> Floats:
    differs = values[:, lag:] != values[:, :-lag]
    return block_means(np.count_nonzero(differs, axis=2), blocks)
