"""Zonal controllers: the mean turn of each agent for others in zones, the wall and its last turn.

Places are (runs, agents, 2), headings and last turns (runs, agents), float64; arenas are as in
`recorded.arenas`. Every run has a controller of its own, a row of `models` whose columns are named
below. Many controllers are tried side by side, so this is what a search for one takes most of its
time for: for each agent one loop over all others, without branches and with integer sums, which
vectorises. Sums over neighbours are of 64-bit fixed-point numbers, so that the order of the agents
cannot matter.

Individuals of several kinds have a row each in `models` and know by `who` which one is theirs.
Outsiders are played back: where they are is given (`ZonalCues`), and a row of `models` goes on with
six columns for each kind of outsider, named below.

`zonal_frames` simulates whole candidates: turns, noise, walls and speeds, step by step, with random
numbers that all candidates share.

Twins in the tests: `oracles.zonal_turns`, and for `zonal_frames` single steps by the kernels that
it is made of.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swarmdp.kernels.numerics import elementary
from swarmdp.kernels.numerics.fixed_point import UNITS, whole_number
from swarmdp.kernels.recorded.arenas import wall_point
from swarmdp.kernels.recorded.moving import table_value, turn_and_move_agents, wrap_angle
from swarmdp.kernels.recorded.steps import CalibratedModel
from swarmdp.kernels.runtime.compile import borrowing, kernel
from swarmdp.kernels.space.candidates import shortest_gap
from swarmdp.kernels.space.kinds import OPEN, PERIODIC
from swarmdp.support.arrays import Floats, Ints

# Columns of a controller. A zone of "nearest" neighbours above zero replaces its radius; with
# priority above zero whoever has someone within the radius of repulsion only turns away.
AWAY_RADIUS, ALONG_RADIUS, ALONG_NEAREST, TO_INNER, TO_RADIUS, TO_NEAREST = range(6)
AWAY_GAIN, ALONG_GAIN, TO_GAIN, LAST_TURN, WALL_GAIN, WALL_REACH, PRIORITY = range(6, 13)
HURRY = 13  # what is added to the score of the speed where all others are ahead
# How speeds react, in scores, and the turn before a collision; nothing where a gain is zero.
NEAR_REACH, NEAR_GAIN, MATCH_REACH, MATCH_GAIN, PULL_REACH, PULL_GAIN = range(14, 20)
SOON_REACH, SOON_GAIN, SIDESTEP_REACH, SIDESTEP_GAIN, CONTACT = range(20, 25)
# Memory and noise of the scores of speeds that react, and what is added to them in every step, so
# that their mean stays what it was; without noise those of the swarm.
PACE_MEMORY, PACE_NOISE, PACE_REST = range(25, 28)
ZONAL_NUMBERS = 28
AHEAD = 0.5  # cosine of the angle from which on another is ahead
# Then, for each kind of outsider: the reach and the gain of turning towards it, and along with it;
# what is added to the score of the speed where it is near, and from how far that is taken away.
CUE_REACH, CUE_GAIN, CUE_ALONG_REACH, CUE_ALONG_GAIN, CUE_PACE, CUE_MIDDLE = range(6)
CUE_NUMBERS = 6
CUE_FAR = -2.0  # the least closeness: three times as far away as the middle, or farther
ABSENT = 1e30  # coordinate of an outsider that is not there: beyond every reach
NO_HEADING = 1e3  # heading of an outsider that does not move
A_FIELD = 1e6  # distance from which on an outsider is a direction, which walls do not wrap

WALL_BEHIND = -0.2  # cosine of the angle to the wall below which an agent leaves it
SAME_SPOT = 1e-18  # squared distance below which there is no direction
SAME_ANGLE = 1e-9  # radians by which a turn may differ from the one that was meant, by rounding


class ZonalMemory(NamedTuple):
    """What a step needs on its way, of one run."""

    sine: Floats
    cosine: Floats
    ahead_x: Ints  # headings in fixed point
    ahead_y: Ints
    gap_x: Floats  # from one agent to all others
    gap_y: Floats
    square: Floats
    nearest: Floats


class ZonalCues(NamedTuple):
    """Where outsiders are, (..., outsiders) each, and the kind of each."""

    x: Floats  # ABSENT where one is not there
    y: Floats
    heading: Floats  # NO_HEADING where one does not move
    which: Ints  # (outsiders,)
    follows: Ints  # (outsiders,): 1 if places are from the centre of the agents, else 0


def no_cues(*shape: int) -> ZonalCues:
    """No outsiders, for arrays of this shape."""
    nothing = np.zeros((*shape, 0))
    return ZonalCues(nothing, nothing, nothing, np.zeros(0, np.int64), np.zeros(0, np.int64))


class ZonalStarts(NamedTuple):
    """Where runs start, and their random numbers."""

    x: Floats  # (runs, agents)
    y: Floats
    heading: Floats
    turn: Floats
    pace: Floats
    scores: Floats  # (steps, runs, agents): normal numbers, of turns
    fresh: Floats  # (steps, runs, agents): of speeds


def zonal_turns(
    position: Floats,
    heading: Floats,
    turn: Floats,
    models: Floats,
    kind: int,
    walls: Floats,
    speed: Floats | None = None,
    who: Ints | None = None,
    cues: ZonalCues | None = None,
) -> tuple[Floats, Floats, Floats]:
    """The mean turn of each agent, how far ahead the others are, and how much faster it gets.

    (runs, agents) each; the last is in normal scores of the speed.

    `models` is (runs, numbers), or (runs, kinds, numbers) with the kind `who` (agents,) of each
    agent; the numbers are ZONAL_NUMBERS and those of outsiders, which `cues` (runs, outsiders) are.
    Ahead is the mean cosine of the directions of all others, from -1 (all behind) to 1. Reactions
    of speeds need the `speed` (runs, agents) of all agents.
    """
    out, ahead = np.empty_like(heading), np.empty_like(heading)
    x, y = np.ascontiguousarray(position[..., 0]), np.ascontiguousarray(position[..., 1])
    rows = models.reshape(len(models), -1, models.shape[-1])
    mine = np.zeros(heading.shape[1], np.int64) if who is None else who
    seen = no_cues(len(heading)) if cues is None else cues
    speeds = np.zeros_like(heading) if speed is None else np.ascontiguousarray(speed)
    faster = np.zeros_like(heading)
    zonal_turns_of_runs(
        x, y, heading, turn, speeds, rows, mine, seen, kind, walls, out, ahead, faster
    )
    return out, ahead, faster


def zonal_frames(
    starts: ZonalStarts,
    models: Floats,
    noise: Floats,
    swarm: CalibratedModel,
    first: int,
    every: int,
    who: Ints | None = None,
    paces: Floats | None = None,
    cues: ZonalCues | None = None,
) -> tuple[Floats, Floats, NDArray[np.float64]]:
    """Simulate swarms of K controllers, each from all starts, and keep some of their frames.

    Parameters
    ----------
    starts
        Of the runs, with their random numbers.
    models, noise
        (K, numbers) and (K,): the controllers, and how large the noise of each is; with several
        kinds of agents (K, kinds, numbers) and (K, kinds).
    swarm
        Walls, noise and speeds.
    first, every
        The first step after which a frame is kept, and every so many after it.
    who, paces
        (agents,) and (kinds,): the kind of each agent, and its speed as a share of the swarm's.
    cues
        (steps, runs, outsiders): where outsiders are.

    Returns
    -------
    Places (K, runs, frames, agents, 2), headings (K, runs, frames, agents), and the share of steps
    of agents that a wall reflected (K,).

    """
    steps, runs, agents = starts.scores.shape
    frames = len(range(first, steps, every))
    places = np.empty((len(models), runs, frames, agents, 2))
    headings = np.empty((len(models), runs, frames, agents))
    reflected = np.zeros(len(models), np.int64)
    rows = models.reshape(len(models), -1, models.shape[-1])
    mine = np.zeros(agents, np.int64) if who is None else who
    zonal_frames_of_models(
        starts,
        rows,
        noise.reshape(len(models), -1),
        mine,
        np.ones(rows.shape[1]) if paces is None else paces,
        no_cues(steps, runs) if cues is None else cues,
        swarm,
        first,
        every,
        places,
        headings,
        reflected,
    )
    return places, headings, reflected / (steps * runs * agents)


@kernel
def zonal_frames_of_models(
    starts, models, noise, who, paces, cues, swarm, first, every, places, headings, reflected
):
    """`zonal_frames` for every controller in turn."""
    steps, runs, agents = starts.scores.shape
    memory = new_zonal_memory(agents)
    x = np.empty(agents)
    y = np.empty(agents)
    heading = np.empty(agents)
    turn = np.empty(agents)
    pace = np.empty(agents)
    meant = np.empty(agents)
    ahead = np.empty(agents)
    step = np.empty(agents)
    speed = np.empty(agents)
    faster = np.zeros(agents)
    for k in range(models.shape[0]):
        for r in range(runs):
            # One run after the other, all its steps: it stays in the cache.
            x[:] = starts.x[r]
            y[:] = starts.y[r]
            heading[:] = starts.heading[r]
            turn[:] = starts.turn[r]
            pace[:] = starts.pace[r]
            frame = 0
            for t in range(steps):
                turns_of_run(
                    x,
                    y,
                    heading,
                    turn,
                    models[k],
                    who,
                    swarm.kind,
                    swarm.walls,
                    meant,
                    ahead,
                    memory,
                )
                faster[:] = 0.0
                if responds(models[k]):
                    speeds_of(pace, swarm, speed)
                    respond_to_others(
                        x, y, speed, models[k], who, swarm.kind, swarm.walls, meant, faster, memory
                    )
                if cues.which.shape[0] > 0:
                    turn_for_cues(
                        x,
                        y,
                        models[k],
                        who,
                        cues.x[t, r],
                        cues.y[t, r],
                        cues.heading[t, r],
                        cues.which,
                        cues.follows,
                        swarm.kind,
                        swarm.walls,
                        meant,
                        faster,
                        memory,
                    )
                add_noise(starts.scores[t, r], noise[k], who, turn, swarm, meant)
                wander(starts.fresh[t, r], models[k], who, paces, ahead, faster, swarm, pace, step)
                turn[:] = meant
                turn_and_move_agents(x, y, heading, turn, step, swarm.kind, swarm.walls)
                for i in range(agents):
                    if abs(wrap_angle(turn[i] - meant[i])) > SAME_ANGLE:
                        reflected[k] += 1
                if t >= first and (t - first) % every == 0:
                    place = places[k, r, frame]
                    for i in range(agents):
                        place[i, 0] = x[i]
                        place[i, 1] = y[i]
                    headings[k, r, frame] = heading
                    frame += 1


@borrowing
def add_noise(scores, sizes, who, turn, swarm, meant):
    """Add to the turns that are meant what the noise is at these scores, after these turns."""
    entries = swarm.noise.shape[0] // (swarm.sizes.shape[0] + 1)
    for i in range(meant.shape[0]):
        table = 0
        for k in range(swarm.sizes.shape[0]):
            table += entries if swarm.sizes[k] < abs(turn[i]) else 0
        meant[i] += sizes[who[i]] * table_value(
            scores[i], swarm.noise, table, entries, swarm.largest
        )


@borrowing
def speeds_of(pace, swarm, speed):
    """The speeds with these scores."""
    for i in range(pace.shape[0]):
        speed[i] = table_value(pace[i], swarm.speed, 0, swarm.speed.shape[0], swarm.largest)


@borrowing
def wander(fresh, models, who, paces, ahead, faster, swarm, pace, step):
    """The next scores of the speeds, and how far agents move."""
    for i in range(pace.shape[0]):
        model = models[who[i]]
        memory = swarm.speed_memory
        noise = swarm.fresh_speed
        if model[PACE_NOISE] > 0.0:
            memory = model[PACE_MEMORY]
            noise = model[PACE_NOISE]
        pace[i] = memory * pace[i] + noise * fresh[i] + model[HURRY] * ahead[i]
        pace[i] += faster[i]
        speed = table_value(pace[i], swarm.speed, 0, swarm.speed.shape[0], swarm.largest)
        step[i] = speed * swarm.dt * paces[who[i]]


@kernel
def zonal_turns_of_runs(
    x, y, heading, turn, speed, models, who, cues, kind, walls, out, ahead, faster
):
    """`zonal_turns` for every run in turn."""
    runs, agents = heading.shape
    memory = new_zonal_memory(agents)
    for r in range(runs):
        turns_of_run(
            x[r], y[r], heading[r], turn[r], models[r], who, kind, walls, out[r], ahead[r], memory
        )
        if responds(models[r]):
            respond_to_others(
                x[r], y[r], speed[r], models[r], who, kind, walls, out[r], faster[r], memory
            )
        if cues.which.shape[0] > 0:
            turn_for_cues(
                x[r],
                y[r],
                models[r],
                who,
                cues.x[r],
                cues.y[r],
                cues.heading[r],
                cues.which,
                cues.follows,
                kind,
                walls,
                out[r],
                faster[r],
                memory,
            )


@kernel
def new_zonal_memory(agents):
    """Memory for one run."""
    return ZonalMemory(
        np.empty(agents),
        np.empty(agents),
        np.empty(agents, np.int64),
        np.empty(agents, np.int64),
        np.empty(agents),
        np.empty(agents),
        np.empty(agents),
        np.empty(agents),
    )


@borrowing
def turns_of_run(x, y, heading, turn, models, who, kind, walls, out, ahead, memory):
    """The mean turns of the agents of one run, and how far ahead the others are."""
    agents = heading.shape[0]
    walled = kind != OPEN and kind != PERIODIC
    for i in range(np.uint64(agents)):
        # Once for each agent, not once for each pair.
        s, c = elementary.sincos(heading[i])
        memory.sine[i] = s
        memory.cosine[i] = c
        memory.ahead_x[i] = whole_number(c * UNITS)
        memory.ahead_y[i] = whole_number(s * UNITS)
    for i in range(agents):
        model = models[who[i]]
        measure_gaps(i, x, y, kind, walls, memory)
        along = model[ALONG_RADIUS] * model[ALONG_RADIUS]
        to = model[TO_RADIUS] * model[TO_RADIUS]
        if model[ALONG_NEAREST] > 0.0:
            along = square_of_nearest(i, int(model[ALONG_NEAREST]), memory.square, memory.nearest)
        if model[TO_NEAREST] > 0.0:
            to = square_of_nearest(i, int(model[TO_NEAREST]), memory.square, memory.nearest)
        c = memory.cosine[i]
        s = memory.sine[i]
        others, ahead[i] = turn_for_others(c, s, along, to, model, memory)
        wanted = model[LAST_TURN] * turn[i] + others
        if walled and model[WALL_GAIN] != 0.0 and model[WALL_REACH] > 0.0:
            wanted += model[WALL_GAIN] * turn_for_wall(
                x[i], y[i], c, s, model[WALL_REACH], kind, walls
            )
        out[i] = wanted


@borrowing
def measure_gaps(i, x, y, kind, walls, memory):
    """The gaps from one agent to all, and their squares."""
    agents = np.uint64(x.shape[0])
    here_x = x[i]
    here_y = y[i]
    gap_x, gap_y, square = memory.gap_x, memory.gap_y, memory.square
    # A loop for each array: with few arrays in a loop it is known that they do not overlap.
    if kind == PERIODIC:
        for j in range(agents):
            gap_x[j] = shortest_gap(x[j] - here_x, walls[1, 0])
        for j in range(agents):
            gap_y[j] = shortest_gap(y[j] - here_y, walls[1, 1])
    else:
        for j in range(agents):
            gap_x[j] = x[j] - here_x
        for j in range(agents):
            gap_y[j] = y[j] - here_y
    for j in range(agents):
        square[j] = gap_x[j] * gap_x[j] + gap_y[j] * gap_y[j]


@borrowing
def turn_for_others(c, s, along, to, model, memory):
    """The turn that the others ask for, and how far ahead they are.

    Gains times mean directions, or with priority one gain times one direction. The agent itself is
    on the same spot, and so never counts.
    """
    agents = np.uint64(memory.square.shape[0])
    away = model[AWAY_RADIUS] * model[AWAY_RADIUS]
    inner = model[TO_INNER] * model[TO_INNER]
    priority = np.int64(-1) if model[PRIORITY] > 0.0 else np.int64(0)
    away_x = away_y = along_x = along_y = to_x = to_y = np.int64(0)
    avoided = followed = approached = np.int64(0)
    all_x = all_y = others = np.int64(0)
    for j in range(agents):
        square = memory.square[j]
        # Masks of all bits or none: what does not count is added as zero, without a branch.
        there = np.int64(-1) if square >= SAME_SPOT else np.int64(0)
        scale = UNITS / math.sqrt(max(square, SAME_SPOT))
        u = whole_number(memory.gap_x[j] * scale)
        v = whole_number(memory.gap_y[j] * scale)
        all_x += u & there
        all_y += v & there
        others -= there
        close = there & (np.int64(-1) if square <= away else np.int64(0))
        away_x -= u & close
        away_y -= v & close
        avoided -= close
        # With priority who is too close is only avoided, and who is followed not approached.
        follow = there & (np.int64(-1) if square <= along else np.int64(0))
        approach = there & (np.int64(-1) if square <= to else np.int64(0))
        approach &= np.int64(-1) if square > inner else np.int64(0)
        approach &= ~(priority & (close | follow))
        follow &= ~(priority & close)
        along_x += memory.ahead_x[j] & follow
        along_y += memory.ahead_y[j] & follow
        followed -= follow
        to_x += u & approach
        to_y += v & approach
        approached -= approach
    # How far to the left of an agent that looks to the right is how far ahead.
    ahead = mean_left(all_x, all_y, others, s, -c)
    if priority != 0:
        if avoided > 0:
            return model[AWAY_GAIN] * sine_of(away_x, away_y, c, s), ahead
        # Alignment and attraction are one direction, with one gain.
        return model[ALONG_GAIN] * sine_of(along_x + to_x, along_y + to_y, c, s), ahead
    wanted = model[AWAY_GAIN] * mean_left(away_x, away_y, avoided, c, s)
    wanted += model[ALONG_GAIN] * mean_left(along_x, along_y, followed, c, s)
    return wanted + model[TO_GAIN] * mean_left(to_x, to_y, approached, c, s), ahead


@borrowing
def turn_for_cues(
    x, y, models, who, cue_x, cue_y, cue_heading, which, follows, kind, walls, out, faster, memory
):
    """Add to the turns that are wanted what outsiders ask for, and say who gets faster for them.

    For each kind of outsider the mean direction in which those within a reach are, and in which
    those within another reach move; sines and cosines of headings are in the memory. Outsiders are
    few, and always in the same order, so plain sums do. So is the centre of the agents a plain sum,
    from which the places of outsiders that follow are.
    """
    agents = x.shape[0]
    centre_x = 0.0
    centre_y = 0.0
    for i in range(agents):
        centre_x += x[i] / agents
        centre_y += y[i] / agents
    kinds = (models.shape[1] - ZONAL_NUMBERS) // CUE_NUMBERS
    for i in range(agents):
        model = models[who[i]]
        c = memory.cosine[i]
        s = memory.sine[i]
        for k in range(kinds):
            first = ZONAL_NUMBERS + CUE_NUMBERS * k
            reach = model[first + CUE_REACH]
            along_reach = model[first + CUE_ALONG_REACH]
            towards = 0.0
            along = 0.0
            near = 0
            followed = 0
            nearest = ABSENT
            for j in range(which.shape[0]):
                if which[j] != k:
                    continue
                u = cue_x[j] - x[i] + follows[j] * centre_x
                v = cue_y[j] - y[i] + follows[j] * centre_y
                if kind == PERIODIC and max(abs(u), abs(v)) < A_FIELD:
                    u = shortest_gap(u, walls[1, 0])
                    v = shortest_gap(v, walls[1, 1])
                gap = math.sqrt(u * u + v * v)
                nearest = min(nearest, gap)
                if gap <= reach and gap * gap >= SAME_SPOT:
                    towards += (v * c - u * s) / gap
                    near += 1
                if gap <= along_reach and cue_heading[j] < NO_HEADING:
                    sine, cosine = elementary.sincos(cue_heading[j])
                    along += sine * c - cosine * s
                    followed += 1
            if near > 0:
                out[i] += model[first + CUE_GAIN] * towards / near
            if followed > 0:
                out[i] += model[first + CUE_ALONG_GAIN] * along / followed
            if model[first + CUE_PACE] != 0.0 and nearest < ABSENT:
                closeness = max(1.0 - nearest / model[first + CUE_MIDDLE], CUE_FAR)
                faster[i] += model[first + CUE_PACE] * closeness


@borrowing
def responds(models):
    """Whether speeds of a kind react to others, or its turns to coming collisions."""
    for k in range(models.shape[0]):
        model = models[k]
        if (
            model[NEAR_GAIN] != 0.0
            or model[MATCH_GAIN] != 0.0
            or model[PULL_GAIN] != 0.0
            or model[SOON_GAIN] != 0.0
            or model[SIDESTEP_GAIN] != 0.0
        ):
            return True
    return False


@borrowing
def respond_to_others(x, y, speed, models, who, kind, walls, out, faster, memory):
    """Add to the turns that are wanted the step aside, and say how speeds react.

    After `turns_of_run`, which leaves sines and cosines of headings in the memory; only for
    controllers that need it.
    """
    for i in range(x.shape[0]):
        measure_gaps(i, x, y, kind, walls, memory)
        aside, change = response(i, speed, models[who[i]], memory)
        out[i] += aside
        faster[i] += change


@borrowing
def response(i, speed, model, memory):
    """The turn before a collision, and what others add to the score of the speed of one agent.

    This loop over the others has branches and a square root, and so does not vectorise. Sums are in
    fixed point, as those of directions.
    """
    c = memory.cosine[i]
    s = memory.sine[i]
    near = 0.0
    first = np.inf
    nearest = np.inf
    side = 0.0
    faster = ahead = np.int64(0)
    matched = pulled = np.int64(0)
    own = speed[i]
    match = model[MATCH_REACH] * model[MATCH_REACH]
    pull = model[PULL_REACH] * model[PULL_REACH]
    contact = model[CONTACT] * model[CONTACT]
    for j in range(memory.square.shape[0]):
        square = memory.square[j]
        if j == i or square < SAME_SPOT:
            continue
        distance = math.sqrt(square)
        # As the agent sees it: ahead and to the left.
        u = memory.gap_x[j] * c + memory.gap_y[j] * s
        v = memory.gap_y[j] * c - memory.gap_x[j] * s
        if u > AHEAD * distance and model[NEAR_REACH] > 0.0:
            near = max(near, 1.0 - distance / model[NEAR_REACH])
        if square < match:
            # In scores, which are small numbers whatever the unit of length is.
            faster += whole_number(model[MATCH_GAIN] * (speed[j] - own) * UNITS)
            matched += 1
        if square < pull:
            ahead += whole_number(u / distance * UNITS)
            pulled += 1
        along = speed[j] * (memory.cosine[j] * c + memory.sine[j] * s) - own
        across = speed[j] * (memory.sine[j] * c - memory.cosine[j] * s)
        tau = seconds_to_contact(u, v, along, across, square - contact)
        # Of two at the same time the nearer one counts, whatever the order of the agents.
        if tau < first or (tau == first and square < nearest):
            first = tau
            nearest = square
            side = 1.0 if v * along - u * across > 0.0 else -1.0
    change = model[PACE_REST] + model[NEAR_GAIN] * near
    if matched > 0:
        change += float(faster) / UNITS / matched
    if pulled > 0:
        change += model[PULL_GAIN] * (float(ahead) / UNITS / pulled)
    if model[SOON_REACH] > 0.0:
        change += model[SOON_GAIN] * max(1.0 - first / model[SOON_REACH], 0.0)
    aside = 0.0
    if model[SIDESTEP_REACH] > 0.0:
        aside = model[SIDESTEP_GAIN] * side * max(1.0 - first / model[SIDESTEP_REACH], 0.0)
    return aside, change


@borrowing
def seconds_to_contact(u, v, along, across, apart):
    """The time until two discs touch that go on as they move; infinite if they never do."""
    if apart < 0.0:
        return 0.0
    closing = -(u * along + v * across)
    square = along * along + across * across
    root = closing * closing - square * apart
    if closing <= 0.0 or square <= 0.0 or root <= 0.0:
        return np.inf
    return (closing - math.sqrt(root)) / square


@borrowing
def turn_for_wall(x, y, c, s, reach, kind, walls):
    """From 0 at the reach to 1 at the wall, with the sign that leads away from it."""
    bx, by, inside = wall_point(x, y, kind, walls)
    u = bx - x
    v = by - y
    gap = math.sqrt(u * u + v * v)
    near = 1.0 - gap / reach
    # Outside, the wall is where the arena is not.
    if not inside:
        u = -u
        v = -v
        near = 1.0
    if near <= 0.0 or u * c + v * s <= WALL_BEHIND * gap:
        return 0.0
    left = v * c - u * s
    if left > 0.0:
        return -near
    return near if left < 0.0 else 0.0


@borrowing
def mean_left(x, y, count, c, s):
    """How far to the left a sum of directions is on average; zero of none."""
    return (float(y) * c - float(x) * s) / UNITS / count if count > 0 else 0.0


@borrowing
def sine_of(x, y, c, s):
    """The sine of the angle of a sum of directions; zero where they cancel out."""
    u = float(x)
    v = float(y)
    size = math.sqrt(u * u + v * v)
    return (v * c - u * s) / size if size > 0.0 else 0.0


@borrowing
def square_of_nearest(i, count, square, nearest):
    """The squared distance of the count-th nearest other; infinite if there are fewer.

    The smallest so far are kept in order: numbers of neighbours are small.
    """
    kept = 0
    for j in range(square.shape[0]):
        gap = square[j]
        if j == i or (kept == count and gap >= nearest[kept - 1]):
            continue
        place = kept if kept < count else count - 1
        while place > 0 and nearest[place - 1] > gap:
            nearest[place] = nearest[place - 1]
            place -= 1
        nearest[place] = gap
        if kept < count:
            kept += 1
    return nearest[count - 1] if kept == count else np.inf
