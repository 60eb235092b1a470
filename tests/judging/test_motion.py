"""What angles, positions and levels do, on swarms made by hand."""

import math

import numpy as np
import pytest

from swarmdp.judging import motion
from swarmdp.judging.blocks import (
    BEGINNING,
    LATER,
    WHOLE,
    block_count,
    block_means,
    block_of,
    parts,
    spans_in_words,
)
from swarmdp.judging.neighbours import neighbourhoods


def flight(turn: float, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Headings and positions (2 runs, 41 times, 5 agents) that turn by so much in each step."""
    rng = np.random.default_rng(1)
    heading = np.cumsum(np.full((2, 41, 5), turn) + noise * rng.normal(size=(2, 41, 5)), axis=1)
    heading += rng.uniform(-3, 3, (2, 1, 5))
    step = 0.1 * np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    place = np.cumsum(step, axis=1)
    return heading, place


def test_blocks_cover_all_times_once() -> None:
    for times in (2, 7, 20, 101):
        blocks = block_count(times - 1)
        values = np.random.default_rng(0).normal(size=(3, times, 2))
        block = block_of(times, blocks)
        expected = [values[:, block == b].mean(axis=1) for b in range(blocks)]
        assert np.allclose(block_means(values, blocks), np.stack(expected, axis=1))
    assert parts(1) == {WHOLE: slice(0, 1)}
    assert parts(10)[LATER] == slice(5, 10)


def test_a_circling_swarm_turns_to_one_side_and_gets_nowhere() -> None:
    turn = math.radians(9)
    heading, place = flight(turn)
    statistics = motion.turning(heading, None, 4)
    assert np.allclose(statistics["turn"], turn)
    assert np.allclose(statistics["size of turns"], turn)
    assert np.allclose(statistics["largest turns"], turn)
    assert np.allclose(statistics["memory of turns"], 1.0)
    moved = motion.moving(place, None, 4)
    assert np.allclose(moved["speed"], 0.1)
    assert (moved["spread of speeds"] == 0.0).all()  # not the rounding of equal speeds
    # k steps along a circle reach sin(k a / 2) / (k sin(a / 2)) of their length.
    chord = math.sin(20 * turn / 2) / (20 * math.sin(turn / 2))
    assert np.allclose(moved["straightness of the second half"], chord)


def test_who_is_absent_does_not_count() -> None:
    heading, place = flight(0.2, noise=0.3)
    pace = np.random.default_rng(2).normal(size=(2, 41, 5))
    present = np.random.default_rng(3).random((2, 41, 5)) > 0.3
    present[:, 20] = False  # nobody at all
    there = np.ones_like(present)
    for actual, whole in (
        (motion.turning(heading, None, 4, there), motion.turning(heading, None, 4)),
        (motion.moving(place, None, 4, there), motion.moving(place, None, 4)),
        (motion.drifting(pace, 4, there), motion.drifting(pace, 4)),
    ):
        for name, values in actual.items():  # where recorded groups go, and are, is left out
            np.testing.assert_allclose(values, whole[name], atol=1e-12, err_msg=name)
        assert {name for name in whole if not name.startswith(motion.DIRECTED)} == set(actual)
    # What stands where somebody is absent makes no difference.
    for name, one in motion.turning(heading, None, 4, present).items():
        other = motion.turning(np.where(present, heading, 9.0), None, 4, present)[name]
        np.testing.assert_allclose(other, one, err_msg=name)
    far = np.where(present[..., None], place, 1e3)
    for name, one in motion.moving(place, None, 4, present).items():
        np.testing.assert_allclose(motion.moving(far, None, 4, present)[name], one, err_msg=name)
    for name, one in motion.drifting(pace, 4, present).items():
        other = motion.drifting(np.where(present, pace, -7.0), 4, present)[name]
        np.testing.assert_allclose(other, one, err_msg=name)
    both = present[0, 1:] & present[0, :-1]
    speed = np.linalg.norm(np.diff(place[0], axis=0), axis=-1)
    expected = speed[both].mean()
    assert motion.moving(place, None, 1, present)["speed"][0, 0] == pytest.approx(expected)


def test_parts_of_a_run_in_words() -> None:
    words = spans_in_words(100, 10)
    assert list(words.values()) == ["in the first 10 steps", "from step 11 to 50", "after step 50"]
    assert spans_in_words(8, 2) == {BEGINNING: "in the first 4 steps", LATER: "after step 4"}
    assert spans_in_words(10, 10)[BEGINNING] == "in the first step"
    assert spans_in_words(3, 1) == {WHOLE: WHOLE}
    for blocks in range(1, 11):
        assert list(spans_in_words(60, blocks)) == list(parts(blocks))


def test_a_straight_swarm_does_not_turn() -> None:
    heading, place = flight(0.0)
    assert np.allclose(motion.turning(heading, None, 4)["turn"], 0.0)
    assert np.allclose(motion.moving(place, None, 4)["straightness"], 1.0)


def test_turns_of_a_jittering_swarm_agree_with_plain_sums() -> None:
    heading, _ = flight(0.2, noise=1.0)
    wrapped = np.remainder(heading, 2 * math.pi) - math.pi
    statistics = motion.turning(wrapped, None, 1)
    for r in range(2):
        turns = [
            [
                (heading[r, t + 1, n] - heading[r, t, n] + math.pi) % (2 * math.pi) - math.pi
                for t in range(40)
            ]
            for n in range(5)
        ]
        flat = np.array(turns)
        assert math.isclose(statistics["turn"][r, 0], flat.mean())
        assert math.isclose(statistics["size of turns"][r, 0], np.abs(flat).mean())
        memory = (flat[:, 1:] * flat[:, :-1]).mean() / (flat**2).mean()
        assert math.isclose(statistics["memory of turns"][r, 0], memory)


@pytest.mark.parametrize("period", [1.0, 0.7])
def test_a_periodic_box_changes_nothing(period: float) -> None:
    _, place = flight(math.radians(3), noise=0.2)
    open_space = motion.moving(place, None, 4)
    for name, values in motion.moving(np.mod(place, period), period, 4).items():
        if not name.startswith(motion.PLACE):  # on a circle it is told by cosine and sine
            assert np.allclose(values, open_space[name])


def test_agents_that_stand_still_get_nowhere() -> None:
    statistics = motion.moving(np.zeros((1, 9, 3, 2)), None, 2)
    assert not statistics["straightness"].any()
    assert not statistics["speed"].any()


def test_blinking_spins_change_in_each_step_and_back_in_the_next() -> None:
    spin = np.ones((1, 20, 6), np.int8)
    spin[:, ::2] = -1
    statistics = motion.changing(spin, 3)
    assert np.allclose(statistics["share that changes"], 1.0)
    assert np.allclose(statistics["share that differs after two steps"], 0.0)
    resting = motion.changing(np.ones((1, 20, 6), np.int8), 3)
    assert np.allclose(resting["share that changes"], 0.0)
    assert np.allclose(resting["mean level"], 1.0)


def test_levels_are_counted_at_the_end_of_each_block() -> None:
    level = np.array([[[0, 1, 2, 3], [0, 0, 1, 1], [5, 5, 5, 5], [5, 5, 5, 6]]])
    assert np.allclose(motion.distinct(level, 2), [[2 / 4, 2 / 4]])
    assert np.allclose(motion.distinct(level[:, :3], 1), [[1 / 4]])


def test_numbers_of_unknown_meaning_drift() -> None:
    values = np.arange(10.0)[None, :, None] + np.array([0.0, 2.0])
    statistics = motion.drifting(values, 1)
    assert statistics["mean"][0, 0] == pytest.approx(5.5)
    assert statistics["spread"][0, 0] == pytest.approx(1.0)
    assert statistics["size of changes"][0, 0] == pytest.approx(1.0)


def test_clusters_are_found_across_the_edges_of_a_box() -> None:
    # Three agents around the corner, two in the middle, all gaps 0.02 within a cluster.
    near = np.array([[0.99, 0.5], [0.01, 0.5], [0.03, 0.5], [0.5, 0.5], [0.52, 0.5]])
    statistics = neighbourhoods(np.stack([near, near + 0.25]) % 1.0, 1.0, slice(0, 2))
    assert np.allclose(statistics["distance to the nearest neighbour"], 0.02)
    assert np.allclose(statistics["number of clusters"], 2 / 5)
    assert np.allclose(statistics["largest cluster"], 3 / 5)
    apart = neighbourhoods(near[None], None, slice(0, 1))
    assert np.allclose(apart["number of clusters"], 3 / 5)


def test_where_a_swarm_is_and_which_way_it_goes() -> None:
    heading, place = flight(0.0)
    turned = motion.turning(heading, None, 2)
    np.testing.assert_allclose(
        turned["mean direction, cosine"][:, 0], np.cos(heading[:, :20]).mean(axis=(1, 2))
    )
    there, back = (motion.moving(way, None, 1) for way in (place, place[:, ::-1]))
    for axis in range(2):
        along = f"net way over path along axis {axis}"
        step = np.diff(place[..., axis], axis=1).mean(axis=(1, 2))
        path = np.linalg.norm(np.diff(place, axis=1), axis=-1).mean(axis=(1, 2))
        np.testing.assert_allclose(there[along][:, 0], step / path)
        np.testing.assert_allclose(back[along], -there[along])
        np.testing.assert_allclose(
            there[f"mean place along axis {axis}"][:, 0], place[..., axis].mean(axis=(1, 2))
        )


def test_a_travelling_swarm_has_no_place_on_a_circle() -> None:
    times, agents = np.arange(41)[:, None], np.linspace(0, 0.1, 5)
    ring = np.mod(0.02 * times + agents, 1.0)[None, ..., None]
    assert np.all(motion.moving(ring, 1.0, 4)["mean place along axis 0, cosine"] == 0)
    still = np.mod(0.3 + 0 * times + agents, 1.0)[None, ..., None]
    wanted = np.cos(2 * np.pi * (0.3 + agents)).mean()
    np.testing.assert_allclose(
        motion.moving(still, 1.0, 4)["mean place along axis 0, cosine"], wanted
    )


def test_levels_that_go_round_backwards_are_told_apart() -> None:
    levels = (np.arange(30)[:, None] // 3 + np.arange(4)) % 3
    there, back = (motion.changing(way[None], 1) for way in (levels, levels[::-1]))
    assert abs(there[motion.CIRCLING][0, 0]) > 0.9
    np.testing.assert_allclose(there[motion.CIRCLING], -back[motion.CIRCLING])
    assert np.allclose(motion.changing(np.ones((1, 9, 4), int), 1)[motion.CIRCLING], 0)
