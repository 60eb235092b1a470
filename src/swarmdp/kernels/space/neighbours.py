"""The nearest neighbours of every agent of a swarm, or all within a radius, and sums over them.

What makes it fast: agents are copied into the order of cells (`sorting`); the candidates of all
agents of a cell, those of the cells around it, are copied once into a buffer; their distances are
computed in a loop without branches (`candidates`); those that may count are listed without
branches; and the rank of each of these few is counted instead of sorting them. A bound on the
distance, taken from the agent before, keeps the list short; it cannot change which agents are
found.

Distances are compared as they are rounded; among equally near neighbours the coordinates decide,
not their numbers, so that a permutation of the agents permutes the result. An arena is its `kind`
and the array `walls`, as in `recorded.arenas`. Twin in the tests: `oracles.neighbour_sums`.
"""

import math
from typing import NamedTuple

import numpy as np

from swarmdp.kernels.numerics.fixed_point import UNITS, whole_number
from swarmdp.kernels.numerics.vectors import PADDING, VECTOR_WIDTH
from swarmdp.kernels.runtime.compile import borrowing, kernel
from swarmdp.kernels.space.candidates import (
    copy_candidates,
    measure_distances,
    space_of,
    sure_square,
    window_around,
)

LARGEST_SQUARE = 1.7e308  # square of a distance
AGAIN = 2.5  # times the last agent's squared distance to its farthest neighbour: the next bound
TRIES = 24  # to shorten a list that is too long


class NeighbourSearch(NamedTuple):
    """Which agents are neighbours: the `need` nearest, or all within the square of a radius."""

    by_radius: bool
    square: float
    need: np.uint64
    most: np.uint64  # candidates that are ranked by counting; it costs their number squared


@borrowing
def is_less(one, other):
    """1 or 0."""
    return np.int64(1) if one < other else np.int64(0)


@borrowing
def comes_before(one, other, now, buffers):
    """Whether a candidate is nearer than another, or as near and before it by coordinates."""
    if buffers.square[one] != buffers.square[other]:
        return buffers.square[one] < buffers.square[other]
    # Seen from the agent itself, so that neither numbers of agents nor their order in memory
    # decide. Two on the same spot differ at most by their headings, and if not, by nothing that is
    # added up.
    if buffers.from_x[one] != buffers.from_x[other]:
        return buffers.from_x[one] < buffers.from_x[other]
    if buffers.from_y[one] != buffers.from_y[other]:
        return buffers.from_y[one] < buffers.from_y[other]
    return now.heading[buffers.near[one]] < now.heading[buffers.near[other]]


@kernel
def choose_one_by_one(need, listed, now, buffers):
    """Choose the nearest of those that are listed, where several are as near as the last one."""
    place, chosen = buffers.place, buffers.chosen
    count = 0
    for b in range(listed):
        j = place[b]
        if count < need:
            # Insertion into a short sorted list.
            at = count
            count += 1
        elif comes_before(j, chosen[need - 1], now, buffers):
            at = need - 1
        else:
            continue
        while at > 0 and comes_before(j, chosen[at - 1], now, buffers):
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = j


@kernel
def shorten(need, listed, most, buffers):
    """Take far ones off a list that is too long; returns how many are left, `need` or more."""
    value, place = buffers.value, buffers.place
    for tried in range(TRIES):
        if listed <= most:
            break
        # Bounds are taken from the list itself, so that some of it is on either side.
        bound = value[(tried * listed) // TRIES]
        within = 0
        for b in range(listed):
            within += 1 if value[b] <= bound else 0
        if within < need or within == listed:
            continue
        kept = 0
        for b in range(listed):
            value[kept] = value[b]
            place[kept] = place[b]
            kept += 1 if value[b] <= bound else 0
        listed = kept
    return listed


@borrowing
def choose_within(bound, n, buffers):
    """Choose all candidates within a bound; returns how many, and the least square of all."""
    squares, chosen = buffers.square, buffers.chosen
    count = np.uint64(0)
    closest = np.inf
    # Every one is written, and the count says whether it stays: no branch to guess wrong.
    for j in range(n):
        chosen[count] = j
        count += np.uint64(squares[j] <= bound)
    # A minimum in a loop of its own is one of vectors.
    for j in range(n):
        closest = min(closest, squares[j])
    return count, closest


@borrowing
def list_near(need, n, sure, carried, buffers):
    """List candidates within a bound that is widened until it has enough, or to what is sure."""
    squares, place = buffers.square, buffers.place
    bound = min(sure, carried)
    listed = np.uint64(0)
    while True:
        for j in range(n):
            place[listed] = j
            listed += np.uint64(squares[j] <= bound)
        if listed >= need or bound >= sure:
            break
        # Twice the distance: one or two rounds are enough unless the density jumps.
        bound = min(4.0 * bound, sure)
        listed = np.uint64(0)
    return listed


@borrowing
def rank_listed(listed, buffers):
    """Put those that are listed in the order of their distances; returns the sum of their ranks.

    The rank of each is the number of those that are nearer: for the few dozen that are listed,
    comparing all with all in vectors is quicker than sorting, whose branches cannot be guessed.
    """
    value, place, rank, chosen = buffers.value, buffers.place, buffers.rank, buffers.chosen
    one, width = np.uint64(1), np.uint64(PADDING)
    size = (listed + width - one) // width * width
    for b in range(listed, size):
        value[b] = np.inf
    for b in range(size):
        rank[b] = 0
    for j in range(np.uint64(0), size, width):
        # Eight at a time, so that ranks are seldom read and written.
        v0 = value[j]
        v1 = value[j + one]
        v2 = value[j + np.uint64(2)]
        v3 = value[j + np.uint64(3)]
        v4 = value[j + np.uint64(4)]
        v5 = value[j + np.uint64(5)]
        v6 = value[j + np.uint64(6)]
        v7 = value[j + np.uint64(7)]
        for b in range(size):
            v = value[b]
            nearer = is_less(v0, v) + is_less(v1, v) + is_less(v2, v)
            nearer += is_less(v3, v) + is_less(v4, v) + is_less(v5, v)
            rank[b] += nearer + is_less(v6, v) + is_less(v7, v)
    ranks = np.int64(0)
    for b in range(listed):
        chosen[np.uint64(rank[b])] = place[b]
        ranks += rank[b]
    return ranks


@borrowing
def choose_nearest(search, listed, now, buffers):
    """Choose the nearest ones of a list; returns the squares to the nearest and the farthest."""
    need, most = search.need, search.most
    squares, value, place, chosen = buffers.square, buffers.value, buffers.place, buffers.chosen
    one = np.uint64(1)
    for b in range(listed):
        value[b] = squares[np.uint64(place[b])]
    if listed > most:
        listed = np.uint64(shorten(np.int64(need), np.int64(listed), np.int64(most), buffers))
    ranks = np.int64(0)
    if listed <= most:
        ranks = rank_listed(listed, buffers)
    # Ranks 0, 1, 2, ... have a known sum; a smaller one means that some are equally near.
    if ranks != np.int64(listed * (listed - one)) // 2 or listed > most:
        choose_one_by_one(np.int64(need), np.int64(listed), now, buffers)
    closest = np.inf
    farthest = 0.0
    if need > np.uint64(0):
        closest = squares[np.uint64(chosen[np.uint64(0)])]
        farthest = squares[np.uint64(chosen[need - one])]
    return closest, farthest


@borrowing
def add_chosen(p, count, closest, now, sums, buffers):
    """Add up the directions of the chosen ones, and the directions in which they are."""
    squares, chosen, value = buffers.square, buffers.chosen, buffers.value
    way_x, way_y = buffers.way_x, buffers.way_y
    one, four = np.uint64(1), np.uint64(VECTOR_WIDTH)
    sum_u = np.int64(0)
    sum_v = np.int64(0)
    # Collected first: roots and divisions are then done four at a time, some of them for nothing.
    for b in range(count):
        j = np.uint64(chosen[b])
        q = np.uint64(buffers.near[j])
        sum_u += now.u[q]
        sum_v += now.v[q]
        value[b] = squares[j]
        way_x[b] = buffers.from_x[j]
        way_y[b] = buffers.from_y[j]
    for b in range(count, count + four):
        value[b] = 0.0
        way_x[b] = 0.0
        way_y[b] = 0.0
    sum_x = np.int64(0)
    sum_y = np.int64(0)
    for b in range((count + four - one) // four * four):
        d = math.sqrt(value[b])
        # Neighbours on the same spot, and the padding, have no direction and add zero.
        d = d if d > 0.0 else 1.0
        sum_x += whole_number(way_x[b] / d * UNITS)
        sum_y += whole_number(way_y[b] / d * UNITS)
    sums.u[p] = float(sum_u)
    sums.v[p] = float(sum_v)
    sums.x[p] = float(sum_x)
    sums.y[p] = float(sum_y)
    sums.closest[p] = closest


@kernel
def add_up_neighbours(nearest, radius, kind, walls, grid, inside, agents, now, sums, buffers):
    """Find the neighbours of all agents, which `sort_by_cell` has put in order, and add them up.

    Neighbours are the `nearest` ones, or with `nearest` 0 all within `radius`. The cells around an
    agent's own are enough if its neighbours are nearer than their rim; if not, more are taken.
    """
    start, waiting = now.start, buffers.waiting
    one, width = np.uint64(1), np.uint64(PADDING)
    space = space_of(kind, walls, grid, inside)
    need = np.uint64(min(nearest, agents - 1))
    # Ranking costs the square of what is listed: longer lists than this are shortened first.
    search = NeighbourSearch(
        nearest == 0, radius * radius, need, np.uint64(4) * need + np.uint64(32)
    )
    # Agents of a cell, and cells one after the other, have neighbours about equally far.
    carried = LARGEST_SQUARE
    for k in range(grid.columns * grid.rows):
        row = k // grid.columns
        column = k - row * grid.columns
        left = np.int64(start[k + 1]) - np.int64(start[k])
        for a in range(left):
            waiting[a] = np.int64(start[k]) + a
        reach = 1
        while left > 0:
            window = window_around(row, column, reach, grid, space)
            # Once for all agents of the cell that are still waiting.
            n, offset = copy_candidates(row, column, window, grid, now, buffers)
            whole = n == np.uint64(agents)
            padded = (n + width - one) // width * width
            missed = 0
            for a in range(left):
                p = np.uint64(waiting[a])
                x = now.x[p]
                y = now.y[p]
                measure_distances(x, y, padded, window.crosses, space, buffers)
                # An agent is not its own neighbour.
                buffers.square[offset + p] = np.inf
                sure = LARGEST_SQUARE if whole else sure_square(x, y, window, grid, space, walls)
                if search.by_radius:
                    count, closest = choose_within(search.square, n, buffers)
                    enough = whole or (search.square < sure and closest < sure)
                else:
                    count = need
                    closest = np.inf
                    listed = list_near(need, n, sure, carried, buffers)
                    enough = listed >= need
                    if enough:
                        closest, farthest = choose_nearest(search, listed, now, buffers)
                        carried = AGAIN * farthest if farthest > 0.0 else LARGEST_SQUARE
                if enough:
                    add_chosen(p, count, closest, now, sums, buffers)
                else:
                    waiting[missed] = p
                    missed += 1
            # Those whose neighbours may be farther away look again, twice as far.
            left = missed
            reach *= 2
