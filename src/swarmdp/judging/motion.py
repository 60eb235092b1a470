"""What the fields of a state do: angles turn, positions move, levels change.

All functions take what was recorded of one field, (runs, times, agents, ...), and tell one number
for each run and block of time, (runs, blocks), or for each run.

Which way a swarm goes, and where it is, is told of simulated swarms, which start as the demo did.
Recorded groups may go anywhere.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.judging.blocks import block_means, block_sums
from swarmdp.support.arrays import Bools, Floats

DIRECTION, PLACE = "mean direction", "mean place"
DISPLACEMENT = "net way over path"
CIRCLING = "circling through the levels"
DIRECTED = (DIRECTION, PLACE, DISPLACEMENT, CIRCLING)
"""What statistics begin with that a symmetry of the law may leave to chance."""

_RARE = 2e-3  # of a level: changes by less than this for each agent and step have no direction
_PARTS = (("cosine", np.cos), ("sine", np.sin))
_TRAVELS = 0.25  # of a period: a swarm whose middle goes this far does not stay at a place
_ROUNDING = 1e-9  # a spread below this share of the values is that of their last digits


def steps_of(values: NDArray[Any], period: float | None) -> Floats:
    """The change in each step, the short way round where the field is periodic."""
    change: Floats = np.diff(values.astype(np.float64, copy=False), axis=1)
    if period is not None:
        change -= period * np.round(change / period)
    return change


def turning(
    values: NDArray[Any], period: float | None, blocks: int, present: Bools | None = None
) -> dict[str, Floats]:
    """What angles do: their turns, in units of the angle.

    Where it is said who was present (runs, times, agents), only steps of these count.
    """
    turn = steps_of(values, 2 * math.pi if period is None else period)
    counted = stayed(present)
    square = turn * turn
    statistics = {
        "turn": mean_of(turn, counted, blocks),
        "size of turns": mean_of(np.abs(turn), counted, blocks),
        "largest turns": np.sqrt(np.sqrt(_mean_product(square, square, counted, blocks))),
    }
    if present is None:
        whole = values * (1.0 if period is None else 2 * math.pi / period)
        for name, part in _PARTS:
            statistics[f"{DIRECTION}, {name}"] = mean_of(part(whole), None, blocks)
    if turn.shape[1] > blocks:
        lagged = _mean_product(turn[:, 1:], turn[:, :-1], stayed(counted), blocks)
        statistics["memory of turns"] = ratio(lagged, mean_of(square, counted, blocks))
    return statistics


def moving(
    values: NDArray[Any], period: float | None, blocks: int, present: Bools | None = None
) -> dict[str, Floats]:
    """What positions (runs, times, agents, axes) do: how fast, and whether they get anywhere.

    Where it is said who was present (runs, times, agents), only steps of these count.
    """
    step = steps_of(values, period)
    counted = stayed(present)
    speed: Floats = np.sqrt(np.einsum("rtna,rtna->rtn", step, step))
    if counted is None:
        spread, some = speed.std(axis=2), None
    else:
        step, speed = np.where(counted[..., None], step, 0.0), np.where(counted, speed, 0.0)
        spread, some = _spread(speed, counted), _any(counted)
    net, path = block_sums(step, blocks), block_sums(speed, blocks)
    moved: Bools | None = None if counted is None else block_sums(counted, blocks) > 0
    half = None if moved is None else np.asarray(moved[:, blocks // 2 :].any(axis=1, keepdims=True))
    directed: dict[str, Floats] = {}
    if present is None:
        for axis in range(values.shape[-1]):
            directed |= _directed(values[..., axis], step[..., axis], speed, period, blocks, axis)
    return directed | {
        "speed": mean_of(speed, counted, blocks),
        "spread of speeds": mean_of(_beyond_rounding(spread, speed)[..., None], some, blocks),
        "straightness": straightness(net, path, moved),
        "straightness of the second half": straightness(
            net[:, blocks // 2 :].sum(axis=1, keepdims=True),
            path[:, blocks // 2 :].sum(axis=1, keepdims=True),
            half,
        ),
    }


def _directed(
    values: NDArray[Any], step: Floats, speed: Floats, period: float | None, blocks: int, axis: int
) -> dict[str, Floats]:
    """Where agents are along one axis, on a circle by cosine and sine, and which way they go.

    Steps are shares of the path.
    """
    along = f"along axis {axis}"
    size = block_sums(speed.mean(axis=2), blocks)
    statistics = {f"{DISPLACEMENT} {along}": ratio(block_sums(step.mean(axis=2), blocks), size)}
    if period is None:
        return statistics | {f"{PLACE} {along}": mean_of(values, None, blocks)}
    # A swarm that travels round the circle is at some place at any time, for no reason of its own.
    stays = np.abs(step.mean(axis=2).sum(axis=1)) < _TRAVELS * period
    angle = 2 * math.pi / period * values[stays]
    for name, part in _PARTS:
        mean = np.zeros((len(values), blocks))
        mean[stays] = mean_of(part(angle), None, blocks)
        statistics[f"{PLACE} {along}, {name}"] = mean
    return statistics


def _any(present: Bools) -> Bools:
    """Whether anybody was present (runs, times, 1)."""
    present_at_all: Bools = np.any(present, axis=2, keepdims=True)
    return present_at_all


def stayed(present: Bools | None) -> Bools | None:
    """Who was there before and after each step (runs, steps, agents)."""
    return None if present is None else present[:, 1:] & present[:, :-1]


def mean_of(values: Floats, counted: Bools | None, blocks: int) -> Floats:
    """The mean over the agents that count and the times of each block; NaN where none does."""
    if counted is None:
        return block_means(values.mean(axis=2), blocks)
    total = np.where(counted, values, 0.0).sum(axis=2)
    return ratio_of_present(block_sums(total, blocks), block_sums(counted.sum(axis=2), blocks))


def _mean_product(left: Floats, right: Floats, counted: Bools | None, blocks: int) -> Floats:
    """The mean of a product; see `mean_of`."""
    if counted is None:
        return block_means(np.einsum("rtn,rtn->rt", left, right) / left.shape[2], blocks)
    return mean_of(left * right, counted, blocks)


def _spread(values: Floats, counted: Bools) -> Floats:
    """The standard deviation over the agents that count (runs, times); 0 where none does."""
    count = np.maximum(counted.sum(axis=2), 1)
    away = np.where(counted, values - (values.sum(axis=2) / count)[..., None], 0.0)
    return np.asarray(np.sqrt((away**2).sum(axis=2) / count))


def _beyond_rounding(spread: Floats, values: Floats) -> Floats:
    """The spread of values (..., agents), zero where it is only that of their last digits."""
    return np.where(spread > _ROUNDING * np.abs(values).max(axis=-1), spread, 0.0)


def straightness(net: Floats, path: Floats, counted: Bools | None = None) -> Floats:
    """Net displacement (..., agents, axes) over path (..., agents), the mean over agents.

    It is 1 for straight flight. Agents that do not move at all count as not getting anywhere; those
    that do not count (..., agents) are left out, and without any it is NaN.
    """
    straight = ratio(np.sqrt(np.einsum("...a,...a->...", net, net)), path)
    if counted is not None:
        total = np.where(counted, straight, 0.0).sum(axis=-1)
        return ratio_of_present(total, counted.sum(axis=-1).astype(np.float64))
    mean: Floats = straight.mean(axis=-1)
    return mean


def changing(values: NDArray[Any], blocks: int, present: Bools | None = None) -> dict[str, Floats]:
    """What levels (runs, times, agents) do: how many change, and whether they change back.

    Where it is said who was present (runs, times, agents), only these count.
    """
    statistics = {"share that changes": _changed(values, 1, blocks, present)}
    if values.shape[1] - 2 >= blocks:
        differs = _changed(values, 2, blocks, present)
        statistics["share that differs after two steps"] = differs
    if present is not None:  # recorded groups may go anywhere
        level = mean_of(values.astype(np.float64), present, blocks)
        return statistics | {"mean level": level}
    statistics["mean level"] = block_means(values.mean(axis=2), blocks)
    statistics[CIRCLING] = _circling(values, blocks)
    return statistics


def _circling(values: NDArray[Any], blocks: int) -> Floats:
    """Which way round a circle of levels agents go, (runs, blocks); two levels are no circle.

    Round a circle the changes themselves add up to nothing. What is added up here is odd when time
    runs backwards.
    """
    runs, times = values.shape[:2]
    mean, size = np.zeros((runs, times - 1)), np.full((runs, times - 1), _RARE)
    for run in np.flatnonzero([_has_a_circle(levels) for levels in values]):
        level = values[run].astype(np.float64)
        signed = level[:-1] * level[1:] * np.diff(level, axis=0)
        mean[run], size[run] = signed.mean(axis=1), np.abs(signed).mean(axis=1) + _RARE
    return ratio(block_sums(mean, blocks), block_sums(size, blocks))


def _has_a_circle(levels: NDArray[Any]) -> bool:
    """Whether one run has more than two levels."""
    ends = {levels.min(), levels.max()}
    return sum(int(np.count_nonzero(levels == end)) for end in ends) < levels.size


def distinct(values: NDArray[Any], blocks: int) -> Floats:
    """The number of different levels at the end of each block, for each agent."""
    times, agents = values.shape[1], values.shape[2]
    ends = np.append(np.arange(1, blocks) * times // blocks - 1, times - 1)
    ordered = np.sort(values[:, ends], axis=2)
    count: Floats = (1.0 + np.count_nonzero(np.diff(ordered, axis=2), axis=2)) / agents
    return count


def drifting(values: NDArray[Any], blocks: int, present: Bools | None = None) -> dict[str, Floats]:
    """What numbers of unknown meaning do: their mean and spread over agents, and their changes.

    Where it is said who was present (runs, times, agents), only these count.
    """
    flat = values.reshape(*values.shape[:3], -1).astype(np.float64, copy=False)
    change = np.abs(np.diff(flat, axis=1)).mean(axis=3)
    if present is None:
        spread, some = flat.std(axis=2).mean(axis=2), None
    else:
        drifts = [
            _spread(np.where(present, flat[..., k], 0.0), present) for k in range(flat.shape[3])
        ]
        spread, some = np.mean(drifts, axis=0), _any(present)
    return {
        "mean": mean_of(flat.mean(axis=3), present, blocks),
        "spread": mean_of(spread[..., None], some, blocks),
        "size of changes": mean_of(change, stayed(present), blocks),
    }


def ratio(top: Floats, bottom: Floats) -> Floats:
    """The ratio, and zero where nothing is divided by nothing; NaN where it is not known."""
    quotient: Floats = top / np.where(bottom > 0, bottom, 1.0)
    return np.where(bottom > 0, quotient, np.where(np.isnan(bottom), np.nan, 0.0))


def ratio_of_present(top: Floats, count: Floats) -> Floats:
    """The mean of those who count; NaN where nobody does, so that nothing is known."""
    return np.where(count > 0, ratio(top, count), np.nan)


def _changed(values: NDArray[Any], lag: int, blocks: int, present: Bools | None) -> Floats:
    """The share of agents whose level is another one after `lag` steps (runs, blocks)."""
    differs = values[:, lag:] != values[:, :-lag]
    if present is None:
        share: Floats = block_means(np.count_nonzero(differs, axis=2), blocks) / values.shape[2]
        return share
    return mean_of(differs.astype(np.float64), present[:, lag:] & present[:, :-lag], blocks)
