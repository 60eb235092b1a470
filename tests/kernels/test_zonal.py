"""Zonal controllers against their twin in NumPy."""

import numpy as np
import pytest

from swarmdp import kernels
from tests import oracles

_ZONES = np.array(
    [
        [2.0, 6.0, 0.0, 2.0, 12.0, 0.0, 0.4, 0.3, 0.2, 0.1, 0.5, 3.0, 0.0, 0.0],
        [1.0, 0.0, 5.0, 0.0, 0.0, 9.0, 0.4, 0.3, 0.2, -0.1, 0.5, 1.0, 0.0, 0.2],
        [2.0, 6.0, 0.0, 0.0, 12.0, 0.0, 0.4, 0.3, 0.3, 0.0, 0.8, 5.0, 1.0, 0.1],
    ]
)
# How speeds react, and the step aside: reaches and gains in turn, and the contact distance; then
# memory and noise of the scores of speeds, and what is added to them.
_RESPONSES = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [4.0, -0.5, 5.0, 0.4, 6.0, 0.3, 3.0, -0.7, 5.0, 0.4, 0.8, 0.5, 0.7, 0.2],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, -0.7, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
    ]
)
MODELS = np.concatenate([_ZONES, _RESPONSES], axis=1)
KINDS = np.concatenate([_ZONES[:2], np.zeros((2, 14))], axis=1)  # of agents, without responses
ARENAS = {
    "open": (kernels.space.OPEN, np.zeros((1, 2))),
    "circle": (kernels.space.CIRCLE, np.array([[0.0, 0.0], [9.0, 0.0]])),
    "polygon": (
        kernels.space.POLYGON,
        np.array([[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]]),
    ),
    "periodic": (kernels.space.PERIODIC, np.array([[-10.0, -10.0], [20.0, 20.0]])),
}


@pytest.mark.parametrize("arena", ARENAS)
@pytest.mark.parametrize("spread", [1.0, 9.5])
def test_turns_are_those_of_the_twin(arena: str, spread: float) -> None:
    rng = np.random.default_rng(1)
    position = rng.uniform(-spread, spread, (3, 25, 2))
    heading, turn = rng.uniform(-np.pi, np.pi, (2, 3, 25))
    speed = rng.uniform(0.1, 2.0, (3, 25))
    kind, walls = ARENAS[arena]
    actual, ahead, faster = kernels.recorded.zonal_turns(
        position, heading, turn, MODELS, kind, walls, speed=speed
    )
    for r, model in enumerate(MODELS):
        expected = oracles.zonal_turns(position[r], heading[r], turn[r], model, arena, walls)
        aside, change = oracles.zonal_responses(
            position[r], heading[r], speed[r], model, arena, walls
        )
        np.testing.assert_allclose(actual[r], expected[0] + aside, atol=1e-9)
        np.testing.assert_allclose(ahead[r], expected[1], atol=1e-9)
        np.testing.assert_allclose(faster[r], change, atol=1e-9)
        assert bool(np.abs(change).max() > 0.1) == (r > 0)


def test_the_order_of_agents_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    position, heading = rng.uniform(-8, 8, (3, 25, 2)), rng.uniform(-3, 3, (3, 25))
    turn, order, speed = np.zeros((3, 25)), rng.permutation(25), rng.uniform(0, 2, (3, 25))
    kind, walls = ARENAS["circle"]
    one = kernels.recorded.zonal_turns(position, heading, turn, MODELS, kind, walls, speed=speed)
    other = kernels.recorded.zonal_turns(
        position[:, order].copy(),
        heading[:, order].copy(),
        turn,
        MODELS,
        kind,
        walls,
        speed=speed[:, order].copy(),
    )
    for turns, permuted in zip(one, other, strict=True):
        np.testing.assert_array_equal(turns[:, order], permuted)


@pytest.mark.parametrize("arena", ["open", "circle", "periodic"])
def test_whole_candidates_move_as_step_by_step(arena: str) -> None:
    rng = np.random.default_rng(3)
    steps, runs, agents = 9, 2, 12
    kind, walls = ARENAS[arena]
    tables = np.sort(rng.normal(size=(2, 1025)), axis=1)
    swarm = kernels.recorded.CalibratedModel(
        kind, walls, tables.ravel(), np.array([0.2]), 0.0, 1.0,
        np.linspace(0.1, 0.9, 1025), 0.6, 0.8, 4.5, 0.5,
    )  # fmt: skip
    state = {
        "x": rng.uniform(-5, 5, (runs, agents)),
        "y": rng.uniform(-5, 5, (runs, agents)),
        "heading": rng.uniform(-3, 3, (runs, agents)),
        "turn": rng.normal(0, 0.3, (runs, agents)),
        "pace": rng.normal(size=(runs, agents)),
    }
    scores, fresh = rng.normal(size=(2, steps, runs, agents))
    noise = np.array([0.3, 1.0, 0.7])
    places, headings, reflected = kernels.recorded.zonal_frames(
        kernels.recorded.ZonalStarts(**state, scores=scores, fresh=fresh),
        MODELS, noise, swarm, 2, 3,
    )  # fmt: skip
    assert places.shape == (3, runs, 3, agents, 2)
    bounced = np.zeros(3)
    for k, model in enumerate(MODELS):
        place = np.stack([state["x"], state["y"]], axis=-1)
        heading, turn, pace = state["heading"], state["turn"], state["pace"]
        for t in range(steps):
            rows = np.tile(model, (runs, 1))
            grid = np.linspace(-4.5, 4.5, 1025)
            turns, ahead, faster = kernels.recorded.zonal_turns(
                place, heading, turn, rows, kind, walls, speed=np.interp(pace, grid, swarm.speed)
            )
            wobble = np.where(
                np.abs(turn) > 0.2,
                np.interp(scores[t], grid, tables[1]),
                np.interp(scores[t], grid, tables[0]),
            )
            memory, size = model[25:27] if model[26] else (0.6, 0.8)
            pace = memory * pace + size * fresh[t] + model[13] * ahead + faster
            step = np.interp(pace, grid, swarm.speed) * 0.5
            meant = turns + noise[k] * wobble
            place, heading, turn = kernels.recorded.turn_and_move(
                place, heading, meant, step, kind, walls
            )
            bounced[k] += (np.abs(np.angle(np.exp(1j * (turn - meant)))) > 1e-9).sum()
            if t in (2, 5, 8):
                np.testing.assert_allclose(places[k, :, (t - 2) // 3], place, atol=1e-7)
                np.testing.assert_allclose(headings[k, :, (t - 2) // 3], heading, atol=1e-7)
    np.testing.assert_allclose(reflected, bounced / (steps * runs * agents))


CUE_MODELS = np.array(
    [
        [3.0, -0.4, 5.0, 0.2, 0.3, 2.5, 1e9, 0.3, 0.0, 0.0, 0.0, 0.0],
        [9.0, 0.5, 0.0, 0.0, -0.2, 4.0, 9.0, 0.5, 0.0, 0.0, 0.0, 0.0],
    ]
)
WHICH = np.array([0, 0, 1])


def outsiders_at_random(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Two moving ones, of which some are absent, and a field far away."""
    cues = rng.uniform(-6, 6, (*shape, 3, 3))
    cues[..., 2] = rng.uniform(-3, 3, (*shape, 3))
    cues[..., 0, :][rng.random(shape) < 0.3] = np.nan
    cues[..., 1, 2][rng.random(shape) < 0.3] = np.nan
    cues[..., 2, :] = 6e7, 8e7, np.nan
    return cues


def as_cues(cues: np.ndarray) -> kernels.recorded.ZonalCues:
    filled = np.nan_to_num(cues[..., :2], nan=1e30)
    x, y = (np.ascontiguousarray(filled[..., n]) for n in range(2))
    heading, none = np.nan_to_num(cues[..., 2], nan=1e3), np.zeros(3, np.int64)
    return kernels.recorded.ZonalCues(x, y, heading, WHICH, none)


def test_outsiders_that_follow_are_where_they_are_from_the_centre_of_all() -> None:
    rng = np.random.default_rng(6)
    position = rng.uniform(-6, 6, (2, 20, 2))
    heading, turn = rng.uniform(-np.pi, np.pi, (2, 2, 20))
    kind, walls = ARENAS["open"]
    cues = rng.uniform(-6, 6, (2, 3, 3))
    models = np.tile(np.concatenate([KINDS[0], CUE_MODELS[0]]), (2, 1))
    from_centre = cues.copy()
    from_centre[:, :2, :2] -= position.mean(axis=1, keepdims=True)
    there = as_cues(cues)
    follows = as_cues(from_centre)._replace(follows=np.array([1, 1, 0]))
    one, other = (
        kernels.recorded.zonal_turns(position, heading, turn, models, kind, walls, cues=seen)
        for seen in (there, follows)
    )
    for turns, same in zip(one, other, strict=True):
        np.testing.assert_allclose(turns, same, atol=1e-9)


@pytest.mark.parametrize("arena", ["open", "periodic"])
def test_turns_for_outsiders_and_of_kinds_are_those_of_the_twin(arena: str) -> None:
    rng = np.random.default_rng(4)
    position = rng.uniform(-6, 6, (3, 20, 2))
    heading, turn = rng.uniform(-np.pi, np.pi, (2, 3, 20))
    kind, walls = ARENAS[arena]
    cues, who = outsiders_at_random(rng, 3), rng.integers(0, 2, 20)
    models = np.stack([np.concatenate([KINDS, CUE_MODELS], axis=1)] * 3)
    actual, _, faster = kernels.recorded.zonal_turns(
        position, heading, turn, models, kind, walls, who=who, cues=as_cues(cues)
    )
    sides = walls[1] if arena == "periodic" else None
    for r in range(3):
        for k, model in enumerate(KINDS):
            expected, _ = oracles.zonal_turns(position[r], heading[r], turn[r], model, arena, walls)
            asked, pace = oracles.cue_turns(
                position[r], heading[r], CUE_MODELS[k], cues[r], WHICH, sides
            )
            mine = who == k
            np.testing.assert_allclose(actual[r, mine], (expected + asked)[mine], atol=1e-8)
            np.testing.assert_allclose(faster[r, mine], pace[mine], atol=1e-8)


def test_whole_candidates_of_kinds_with_outsiders_move_as_step_by_step() -> None:
    rng = np.random.default_rng(5)
    steps, runs, agents = 6, 2, 10
    kind, walls = ARENAS["open"]
    swarm = kernels.recorded.CalibratedModel(
        kind, walls, np.zeros(2050), np.array([0.2]), 0.0, 1.0,
        np.linspace(0.1, 0.9, 1025), 0.6, 0.8, 4.5, 0.5,
    )  # fmt: skip
    x, y, heading, turn, pace = rng.normal(0, 2, (5, runs, agents))
    scores, fresh = rng.normal(size=(2, steps, runs, agents))
    cues, who = outsiders_at_random(rng, steps, runs), rng.integers(0, 2, agents)
    models, paces = np.concatenate([KINDS, CUE_MODELS], axis=1)[None], np.array([1.0, 0.4])
    places, headings, _ = kernels.recorded.zonal_frames(
        kernels.recorded.ZonalStarts(x, y, heading, turn, pace, scores, fresh),
        models, np.ones((1, 2)), swarm, 0, 1, who, paces, as_cues(cues),
    )  # fmt: skip
    place, grid = np.stack([x, y], axis=-1), np.linspace(-4.5, 4.5, 1025)
    for t in range(steps):
        rows = np.tile(models, (runs, 1, 1))
        meant, ahead, faster = kernels.recorded.zonal_turns(
            place, heading, turn, rows, kind, walls, who=who, cues=as_cues(cues[t])
        )
        pace = 0.6 * pace + 0.8 * fresh[t] + models[0, who, 13] * ahead + faster
        step = np.interp(pace, grid, swarm.speed) * 0.5 * paces[who]
        place, heading, turn = kernels.recorded.turn_and_move(
            place, heading, meant, step, kind, walls
        )
        np.testing.assert_allclose(places[0, :, t], place, atol=1e-7)
        np.testing.assert_allclose(headings[0, :, t], heading, atol=1e-7)
