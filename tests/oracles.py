"""The kernels once more, in plain NumPy and Python, as slowly and as plainly as possible."""

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def philox(counter: tuple[int, ...], key: tuple[int, ...]) -> list[int]:
    """Philox4x32-10 in Python integers."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        p0, p1 = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [
            (p1 >> 32) ^ c[1] ^ k0,
            p1 & 0xFFFFFFFF,
            (p0 >> 32) ^ c[3] ^ k1,
            p0 & 0xFFFFFFFF,
        ]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def random_words(seed: int, run: int, step: int, draw: int, agent: int) -> list[int]:
    """The block of random bits with these coordinates."""
    return philox((agent, run, step, draw), (seed & 0xFFFFFFFF, seed >> 32))


def uniform(words: list[int]) -> float:
    """53 bits in [0, 1)."""
    return ((words[0] << 21) + (words[1] >> 11)) / 2**53


def normal(words: list[int]) -> float:
    """Box and Muller."""
    radius = math.sqrt(-2 * math.log((words[0] + (words[1] + 0.5) / 2**32) / 2**32))
    return radius * math.cos(2 * math.pi * uniform(words[2:]))


def neighbours(position: Floats, radius: float, box: float) -> NDArray[np.bool_]:
    """Which agents (agents, agents) are within the radius of which, themselves included."""
    offset = position[None, :, :] - position[:, None, :]
    if box:
        offset -= box * np.round(offset / box)
    inside: NDArray[np.bool_] = (offset**2).sum(axis=2) <= radius**2
    return inside


def hops(near: NDArray[np.bool_], source: int) -> NDArray[np.int64]:
    """Hops from the source by spreading over the graph (agents, agents), -1 where it never gets."""
    distance = np.full(len(near), -1)
    reached = np.arange(len(near)) == source
    for step in range(len(near)):
        distance[reached & (distance < 0)] = step
        reached = reached | near[reached].any(axis=0)
    return distance


def misalignment(heading: Floats, near: NDArray[np.bool_]) -> Floats:
    """From each agent's heading to the circular mean heading of those near it."""
    vector = np.exp(1j * heading)
    angle: Floats = np.angle((near * vector[None, :]).sum(axis=1) * np.conj(vector))
    return angle


def wrap(value: Floats, low: float, period: float) -> Floats:
    """Shift by whole periods into [low, low + period)."""
    wrapped: Floats = (value - low) % period + low
    return wrapped


def advance(
    position: Floats, heading: Floats, turn: Floats, noise: Floats, speed: float, box: float
) -> tuple[Floats, Floats]:
    """Move with the heading before the turn, then turn."""
    moved = position + speed * np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    turned = wrap(heading + turn + noise, -math.pi, 2 * math.pi)
    return (wrap(moved, 0.0, box) if box else moved), turned


def order(heading: Floats) -> Floats:
    """Length of the mean heading vector."""
    mean: Floats = np.abs(np.exp(1j * heading).mean(axis=-1))
    return mean


def local_energy(spin: NDArray[Any], reach: int, periodic: bool) -> NDArray[np.int64]:
    """Neighbours of opposite spin of each site (rows, columns), by visiting all of them."""
    rows, columns = spin.shape
    energy = np.zeros(spin.shape, np.int64)
    for y in range(rows):
        for x in range(columns):
            for dy in range(-reach, reach + 1):
                for dx in range(-reach, reach + 1):
                    j, i = y + dy, x + dx
                    if periodic:
                        j, i = j % rows, i % columns
                    elif not (0 <= j < rows and 0 <= i < columns):
                        continue
                    energy[y, x] += spin[j, i] != spin[y, x]
    return energy


def missing_neighbours(shape: tuple[int, ...], reach: int) -> NDArray[np.int64]:
    """How many neighbours each site (rows, columns) of an open grid lacks."""
    outside = np.pad(np.zeros(shape, np.int64), reach, constant_values=1)
    size = 2 * reach + 1
    windows = np.lib.stride_tricks.sliding_window_view(outside, (size, size))
    missing: NDArray[np.int64] = windows.sum(axis=(2, 3))
    return missing


def observed_energy(spin: NDArray[Any], reach: int, periodic: bool) -> NDArray[np.int64]:
    """Local energies in which half of the missing neighbours count, rounded up."""
    energy = local_energy(spin, reach, periodic)
    if not periodic:
        energy += np.ceil(missing_neighbours(spin.shape, reach) / 2).astype(np.int64)
    return energy


def angle_index(angles: Floats, bins: int) -> NDArray[np.int64]:
    """The nearest of the bins' centres, on the circle."""
    centres = (np.arange(bins) - bins // 2) * (2 * math.pi / bins)
    gap = np.abs(np.angle(np.exp(1j * (angles[..., None] - centres))))
    nearest: NDArray[np.int64] = gap.argmin(axis=-1)
    return nearest


def coupled_coefficient(spread: float, intervals: int, turns: int = 8, points: int = 400) -> float:
    """The uncertainty coefficient of x and x + N(0, spread^2) on the circle, in intervals.

    By quadrature over x in one interval, and the normal distribution function, wrapped.
    """
    width = 2 * math.pi / intervals
    start = (np.arange(points) + 0.5) * width / points
    edges = np.arange(intervals + 1) * width
    chance = np.zeros(intervals)
    for turn in range(-turns, turns + 1):
        scaled = (edges[:, None] + 2 * math.pi * turn - start) / (spread * math.sqrt(2))
        below = np.vectorize(math.erf)(scaled) / 2
        chance += (below[1:] - below[:-1]).mean(axis=1)
    positive = chance[chance > 0]
    return float(1 + (positive * np.log(positive)).sum() / math.log(intervals))


def optimal_q(transitions: Floats, rewards: Floats, discount: float) -> Floats:
    """Q* (..., O, A) of rewards (..., O), by trying every deterministic policy."""
    observations, actions, _ = transitions.shape
    best = np.full(rewards.shape, -np.inf)
    for table in itertools.product(range(actions), repeat=observations):
        followed = transitions[np.arange(observations), list(table)]
        inverse = np.linalg.inv(np.eye(observations) - discount * followed)
        best = np.maximum(best, rewards @ inverse.T)
    q: Floats = rewards[..., None] + discount * np.einsum("oak,...k->...oa", transitions, best)
    return q


def draw(
    index: NDArray[Any], probabilities: Floats, chance: Floats, rows: NDArray[Any]
) -> NDArray[np.int64]:
    """The action of each agent: the first whose cumulative probability is above its chance."""
    out = np.empty(index.shape, np.int64)
    for r, row in enumerate(index):
        for i, o in enumerate(row):
            sums = np.cumsum(probabilities[rows[r], o])
            above = np.flatnonzero(sums > chance[r, i] * sums[-1])
            possible = np.flatnonzero(probabilities[rows[r], o])
            out[r, i] = above[0] if above.size else possible[-1]
    return out


def boltzmann(q: Floats, softness: float) -> Floats:
    """Probabilities proportional to exp(Q / softness)."""
    odds = np.exp((q - q.max(axis=-1, keepdims=True)) / softness)
    probabilities: Floats = odds / odds.sum(axis=-1, keepdims=True)
    return probabilities


def sweep_softly(
    counts: Floats,
    prior: float,
    reward: Floats,
    discount: float,
    softness: float,
    sweeps: int,
    value: Floats,
) -> tuple[Floats, Floats]:
    """Soft Bellman sweeps, each observation using the values that the ones before it just got."""
    value, q = value.copy(), np.zeros(counts.shape[:3])
    for j in range(len(counts)):
        for _ in range(sweeps):
            mean = value[j].mean()
            for o in range(counts.shape[1]):
                expected = counts[j, o] @ value[j] + prior * mean
                q[j, o] = reward[j, o] + discount * expected / (counts[j, o].sum(axis=1) + prior)
                peak = q[j, o].max()
                value[j, o] = peak + softness * np.log(np.exp((q[j, o] - peak) / softness).sum())
    return value, q


def harmonics(
    observations: Floats,
    periodic: NDArray[np.bool_],
    centre: Floats,
    scale: Floats,
    orders: NDArray[np.int64],
    size: Floats,
) -> Floats:
    """Products of sines and cosines (..., p) of observations (..., k)."""
    features = np.ones((*observations.shape[:-1], len(orders))) * size
    t = (observations - centre) / scale
    u = (1 + t / np.sqrt(1 + t**2)) / 2
    for i, row in enumerate(orders):
        for c, order in enumerate(row):
            if not periodic[c]:
                features[..., i] *= np.cos(order * math.pi * u[..., c])
            elif order:
                wave = np.cos if order % 2 else np.sin
                features[..., i] *= wave((order + 1) // 2 * observations[..., c])
    return features


def moments(
    before: Floats, actions: NDArray[np.integer], after: Floats, replicas: int, n_actions: int
) -> tuple[Floats, Floats]:
    """Sums of psi psi^T and psi psi'^T (R, actions, p, p) for each action of each replica."""
    size = before.shape[2]
    square, cross = np.zeros((2, replicas, n_actions, size, size))
    for r in range(len(before)):
        for n in range(before.shape[1]):
            a = actions[r, n]
            square[r % replicas, a] += np.outer(before[r, n], before[r, n])
            cross[r % replicas, a] += np.outer(before[r, n], after[r, n])
    return square, cross


def sweep_linear(
    square: Floats,
    cross: Floats,
    anchors: Floats,
    rewards: Floats,
    ridge: float,
    discount: float,
    sweeps: int,
    value: Floats,
) -> tuple[Floats, Floats]:
    """Values (R, p) and leads (R, actions, p) after Bellman sweeps on the linear model."""
    value, lead = value.copy(), np.zeros(square.shape[:3])
    penalty = ridge * np.eye(square.shape[2])
    for j in range(len(square)):
        z = anchors[j]
        gram = z.T @ z
        gram = gram + penalty * np.trace(gram) / np.trace(square[j].sum(axis=0))
        for _ in range(sweeps):
            base = np.linalg.solve(square[j].sum(axis=0) + penalty, cross[j].sum(axis=0) @ value[j])
            for a in range(square.shape[1]):
                beyond = cross[j, a] @ value[j] - square[j, a] @ base
                lead[j, a] = np.linalg.solve(square[j, a] + penalty, beyond)
            best = (z @ (base + lead[j]).T).max(axis=1)
            value[j] = np.linalg.solve(gram, z.T @ (rewards[j] + discount * best))
    return value, lead


def doubt(features: Floats, factor: Floats) -> Floats:
    """psi^T (U^T U)^-1 psi / psi^T psi of features (n, p)."""
    inverse = np.linalg.inv(factor.T @ factor)
    share: Floats = np.einsum("ni,ij,nj->n", features, inverse, features) / (features**2).sum(1)
    return share


def add_transitions(
    before: NDArray[Any], action: NDArray[Any], after: NDArray[Any], weight: float, table: Floats
) -> None:
    """Add the weight to table[o, a, o'] for one transition after another."""
    for o, a, then in zip(before.ravel(), action.ravel(), after.ravel(), strict=True):
        table[o, a, then] += weight


def compressed(table: Floats) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
    """Where each row (o, a) begins, the columns and the values of all entries but zeros."""
    rows = table.reshape(-1, table.shape[-1])
    row, column = np.nonzero(rows)
    begins = np.concatenate([[0], np.cumsum((rows != 0).sum(axis=1))])
    return begins, column.astype(np.int32), rows[row, column]


def sweep(
    counts: Floats, totals: Floats, prior: float, reward: Floats, discount: float, value: Floats
) -> tuple[Floats, Floats]:
    """One Bellman sweep of one replica, rounded after every addition from left to right."""
    value, q = value.copy(), np.zeros(totals.shape)
    mean = np.cumsum(value)[-1] / len(value)
    for o in range(len(counts)):
        terms = np.concatenate([np.full((len(q[o]), 1), prior * mean), counts[o] * value], axis=1)
        expected = np.cumsum(terms, axis=1)[:, -1]
        q[o] = reward[o] + discount * expected / (totals[o] + prior)
        value[o] = q[o].max()
    return value, q


def nearest_wall(place: Floats, kind: str, walls: Floats) -> tuple[Floats, bool]:
    """The point of a circle's or polygon's wall nearest to a place, and whether it is inside."""
    if kind == "circle":
        centre, radius = walls[0], walls[1, 0]
        away = place - centre
        distance = np.linalg.norm(away)
        point = centre + (away / distance if distance else np.array([1.0, 0.0])) * radius
        return point, bool(distance <= radius)
    points = []
    angle = 0.0
    for a, b in zip(walls, np.roll(walls, -1, axis=0), strict=True):
        share = np.clip((place - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        points.append(a + share * (b - a))
        turn = complex(*(b - place)) / complex(*(a - place))
        angle += math.atan2(turn.imag, turn.real)
    nearest = min(points, key=lambda point: float(np.linalg.norm(place - point)))
    return nearest, abs(angle) > math.pi  # the winding number


def sight(
    position: Floats, heading: Floats, nearest: int, radius: float, kind: str, walls: Floats
) -> Floats:
    """What each agent (agents, ...) sees of its neighbours and of the wall."""
    out = np.full((len(heading), 5), np.nan)
    there = np.isfinite(position).all(axis=1) & np.isfinite(heading)
    for i in np.flatnonzero(there):
        others = [j for j in np.flatnonzero(there) if j != i]
        away = position[others] - position[i]
        if kind == "periodic":
            away -= walls[1] * np.round(away / walls[1])
        distance = np.linalg.norm(away, axis=1)
        order = np.argsort(distance)
        near = order[:nearest] if nearest else order[distance[order] <= radius]
        frame = np.exp(-1j * heading[i])
        ahead = np.exp(1j * heading[np.array(others, int)[near]]).sum() * frame
        there_ = ((away[near] @ np.array([1, 1j])) / distance[near]).sum() * frame
        out[i, 0] = np.angle(ahead) if len(near) else 0.0
        out[i, 1] = np.angle(there_) if len(near) else 0.0
        out[i, 2] = distance.min() if len(others) else 1e12
        out[i, 3:] = np.inf, 0.0
        if kind in ("circle", "polygon"):
            point, inside = nearest_wall(position[i], kind, walls)
            gap = point - position[i]
            out[i, 3] = np.linalg.norm(gap) if inside else 0.0
            out[i, 4] = np.angle(complex(*(gap if inside else -gap)) * frame)
    return out


def neighbour_sums(
    position: Floats, heading: Floats, nearest: int, radius: float, sides: Floats | None
) -> tuple[list[list[float]], list[float]]:
    """Sums over the neighbours of each agent, in units of 2^-40, and the least squared distance.

    The sums are of the neighbours' directions (two numbers) and of the directions to them (two).
    Among equally near ones, those count first whose way is less in x, then in y, then whose heading
    is less. `heading` are multiples of pi / 2, so that sines and cosines are known exactly.
    """
    units = 2.0**40
    sums, closest = [], []
    for i, here in enumerate(position):
        others = []
        for j, there in enumerate(position):
            if i == j:
                continue
            way = [float(there[axis] - here[axis]) for axis in (0, 1)]
            if sides is not None:
                for axis in (0, 1):
                    side = float(sides[axis])
                    way[axis] -= side * math.floor(way[axis] / side + 0.5)
            others.append((way[0] * way[0] + way[1] * way[1], *way, float(heading[j])))
        others.sort()
        near = others[:nearest] if nearest else [o for o in others if o[0] <= radius * radius]
        total = [0, 0, 0, 0]
        for square, dx, dy, angle in near:
            quarter = round(angle / (math.pi / 2)) % 4
            total[0] += int((1, 0, -1, 0)[quarter] * units)
            total[1] += int((0, 1, 0, -1)[quarter] * units)
            distance = math.sqrt(square)
            if distance > 0:
                total[2] += int(dx / distance * units)
                total[3] += int(dy / distance * units)
        sums.append([float(number) for number in total])
        closest.append(others[0][0] if others else math.inf)
    return sums, closest


def bounced(
    place: Floats, heading: float, step: float, kind: str, walls: Floats
) -> tuple[Floats, float]:
    """A step along a heading, reflected at walls."""
    start, u = place, np.array([math.cos(heading), math.sin(heading)])
    place = place + step * u
    if kind == "open":
        return place, heading
    if kind == "periodic":
        return walls[0] + (place - walls[0]) % walls[1], heading
    for _ in range(4):
        point, inside = nearest_wall(place, kind, walls)
        if inside:
            break
        normal = (place - point) / np.linalg.norm(place - point)
        place = 2 * point - place
        u = u - 2 * max(0.0, float(u @ normal)) * normal
    if not nearest_wall(place, kind, walls)[1]:
        place = start
    return place, math.atan2(u[1], u[0])


def zonal_turns(
    position: Floats, heading: Floats, turn: Floats, model: Floats, kind: str, walls: Floats
) -> tuple[Floats, Floats]:
    """The mean turns of agents (agents, ...) with one zonal controller, and who is ahead."""
    away, along, along_nearest, inner, to, to_nearest = model[:6]
    away_gain, along_gain, to_gain, last, wall_gain, wall_reach, priority = model[6:13]
    place, direction = position @ np.array([1, 1j]), np.exp(1j * heading)
    out: Floats = last * turn
    ahead = np.zeros(len(heading))
    for i in range(len(heading)):
        gap = np.delete(position, i, axis=0) - position[i]
        if kind == "periodic":
            gap -= walls[1] * np.round(gap / walls[1])
        gaps, others = gap @ np.array([1, 1j]), np.delete(direction, i)
        distance = np.abs(gaps)
        unit, same = gaps / distance / direction[i], others / direction[i]
        ahead[i] = unit.real.mean()
        ranked = np.sort(distance)
        follow = distance <= (ranked[int(along_nearest) - 1] if along_nearest else along)
        approach = distance <= (ranked[int(to_nearest) - 1] if to_nearest else to)
        approach &= distance > inner
        near = distance <= away
        if priority:
            follow &= ~near
            approach &= ~near & ~follow
            want = -unit[near].sum() if near.any() else same[follow].sum() + unit[approach].sum()
            gain = away_gain if near.any() else along_gain
            out[i] += gain * want.imag / abs(want) if abs(want) > 1e-9 else 0.0
        else:
            for zone, values, gain in (
                (near, -unit, away_gain),
                (follow, same, along_gain),
                (approach, unit, to_gain),
            ):
                out[i] += gain * values[zone].imag.mean() if zone.any() else 0.0
        if kind in ("circle", "polygon") and wall_gain:
            point, inside = nearest_wall(position[i], kind, walls)
            wall = (complex(*point) - place[i]) / direction[i] * (1 if inside else -1)
            close = 1 - abs(wall) / wall_reach if inside else 1.0
            if close > 0 and wall.real > -0.2 * abs(wall):
                out[i] -= wall_gain * close * np.sign(wall.imag)
    return out, ahead


def cue_turns(
    position: Floats,
    heading: Floats,
    model: Floats,
    cues: Floats,
    which: NDArray[np.int64],
    sides: Floats | None,
) -> tuple[Floats, Floats]:
    """What outsiders ask agents for, and who gets faster; `model` are six numbers for each kind.

    `cues` (outsiders, 3) are places and headings, NaN where absent or at rest.
    """
    out, faster = np.zeros((2, len(heading)))
    for i, (place, angle) in enumerate(zip(position, heading, strict=True)):
        gap = cues[:, :2] - place
        if sides is not None:
            gap = np.where(np.abs(gap) < 1e6, gap - sides * np.round(gap / sides), gap)
        distance, bearing = np.hypot(*gap.T), np.arctan2(gap[:, 1], gap[:, 0])
        for k, numbers in enumerate(model.reshape(-1, 6)):
            reach, gain, along_reach, along_gain, pace, middle = numbers
            near = (which == k) & (distance <= reach)
            follow = (which == k) & (distance <= along_reach) & np.isfinite(cues[:, 2])
            if near.any():
                out[i] += gain * np.sin(bearing[near] - angle).mean()
            if follow.any():
                out[i] += along_gain * np.sin(cues[follow, 2] - angle).mean()
            if pace and np.isfinite(distance[which == k]).any():
                closest = np.nanmin(distance[which == k])
                faster[i] += pace * max(1 - closest / middle, -2.0)
    return out, faster


def zonal_responses(
    position: Floats, heading: Floats, speed: Floats, model: Floats, kind: str, walls: Floats
) -> tuple[Floats, Floats]:
    """The turns before collisions (agents,), and what others add to the scores of speeds."""
    near_reach, near_gain, match_reach, match_gain, pull_reach, pull_gain = model[14:20]
    soon_reach, soon_gain, side_reach, side_gain, contact = model[20:25]
    aside, change = np.zeros(len(heading)), np.full(len(heading), model[27])
    moving = speed * np.exp(1j * heading)
    for i in range(len(heading)):
        gap = np.delete(position, i, axis=0) - position[i]
        if kind == "periodic":
            gap -= walls[1] * np.round(gap / walls[1])
        own = np.exp(1j * heading[i])
        gaps = gap @ np.array([1, 1j]) / own
        relative = (np.delete(moving, i) - moving[i]) / own
        distance, theirs = np.abs(gaps), np.delete(speed, i)
        ahead = gaps.real / distance
        if near_gain:
            front = distance[ahead > 0.5]
            change[i] += near_gain * max(1 - front.min(initial=np.inf) / near_reach, 0.0)
        for reach, gain, values in (
            (match_reach, match_gain, theirs - speed[i]),
            (pull_reach, pull_gain, ahead),
        ):
            inside = distance < reach
            change[i] += gain * values[inside].mean() if inside.any() else 0.0
        first, side = np.inf, 0.0
        for j in np.argsort(distance):
            g, v = gaps[j], relative[j]
            # The distance over time is a parabola; its first time below contact.
            roots = np.roots([abs(v) ** 2, 2 * (g * v.conjugate()).real, abs(g) ** 2 - contact**2])
            real = roots[np.abs(roots.imag) < 1e-12].real
            time = 0.0 if distance[j] < contact else min(real[real > 0], default=np.inf)
            if time < first:
                first, side = time, 1.0 if (g * v.conjugate()).imag > 0 else -1.0
        change[i] += soon_gain * max(1 - first / soon_reach, 0.0) if soon_gain else 0.0
        aside[i] += side_gain * side * max(1 - first / side_reach, 0.0) if side_gain else 0.0
    return aside, change


def zone_turns(
    position: Floats, heading: Floats, zones: Floats, kind: str, walls: Floats
) -> Floats:
    """The turns that agents (agents, ...) of Couzin's zone model want.

    Zones are the radii of repulsion, orientation and attraction, the distance from which the wall
    is avoided, and how strongly.
    """
    close, along, far, reach, weight = zones
    place, direction = position @ np.array([1, 1j]), np.exp(1j * heading)
    out = np.empty(len(heading))
    for i in range(len(heading)):
        away = np.delete(position, i, axis=0) - position[i]
        if kind == "periodic":
            away -= walls[1] * np.round(away / walls[1])
        gaps = away @ np.array([1, 1j])
        distance, others = np.abs(gaps), np.delete(direction, i)
        seen = np.cos(np.angle(gaps / direction[i])) >= -math.sqrt(0.5)
        near = distance < close
        follow = ~near & seen & (distance < along)
        approach = ~near & seen & (distance >= along) & (distance < far)
        unit = gaps / distance
        together = others[follow].sum() + unit[approach].sum()
        want = -unit[near].sum() if near.any() else together
        want = want / abs(want) if abs(want) > 1e-9 else direction[i]
        if kind in ("circle", "polygon"):
            point, inside = nearest_wall(position[i], kind, walls)
            gap = place[i] - complex(*point)
            if not inside:
                want -= weight * gap / abs(gap)
            elif abs(gap) < reach:
                want += weight * (1 - abs(gap) / reach) * gap / abs(gap)
        out[i] = np.angle(want / direction[i])
    return out
