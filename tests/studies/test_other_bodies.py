"""The study of other bodies, small; its systems meet the contract."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import swarmdp
from studies import other_bodies
from studies.bodies import picture
from studies.bodies.bodies import Biased, Body, Broken, Delayed, Heavy, Limited, Wheels
from studies.bodies.cases import DEVELOPMENT, FINAL, GROUPS, bodies_of
from studies.bodies.criterion import Range, medians, seen, statistics
from studies.bodies.groups import Flock, School
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.testing import check_system

BODIES = {
    f"{part}, {group}, {name}": body
    for part in (DEVELOPMENT, FINAL)
    for group in GROUPS
    for name, body in bodies_of(part, group).items()
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_systems(name: str) -> None:
    check_system(BODIES[name])


def test_the_school_of_points_is_one() -> None:
    check_system(School())


def test_the_planned_reward_reproduces_the_group_and_copies_do_not(tmp_path: Path) -> None:
    (row,) = other_bodies.study(tmp_path, only=[DEVELOPMENT], quick=True)
    assert row["body"] == "half wired wrongly"
    assert other_bodies.share(row, other_bodies.REWARD) == 1
    assert all(other_bodies.share(row, copy) == 0 for copy in other_bodies.COPIES)
    assert other_bodies.share(row, other_bodies.CHANCE) == 0
    assert len(row["methods"]["copy"]["statistics"]["order"]) == 2
    table = (tmp_path / "other-bodies.md").read_text()
    assert "| flock | half wired wrongly | 100% |" in table


def test_a_copy_takes_the_nearest_action_whatever_the_body_knows_of_itself() -> None:
    body = Heavy(Flock(n_agents=20))
    points = body.group.points
    turns = np.linspace(-1, 1, 36)
    copy = other_bodies.copied(body, np.stack([turns, -turns]), 0.5)
    runs = swarmdp.rollout(body, copy, steps=3, runs=4, seed=1, record=["observations", "actions"])
    assert isinstance(points, swarmdp.Vicsek)
    for run, sign in enumerate((1, -1, 1, -1)):
        seen_now = runs["observations"][run, :-1, :, 0]
        wanted = 0.5 * sign * turns[points.features.index(seen_now)]
        taken = runs["actions"][run]
        assert (
            np.abs(taken - wanted) <= np.abs(body.actions - wanted[..., None]).min(-1) + 1e-9
        ).all()


def test_what_bodies_make_of_their_actions() -> None:
    flock = Flock(n_agents=3)
    still = {"position": np.zeros((1, 3, 2)), "heading": np.zeros((1, 3))}
    rate = {**still, "rate": np.full((1, 3), 0.5)}
    heavy = Heavy(flock, keep=0.9)
    turn, pace, own = heavy.turned(rate, np.array([[-0.1, 0.0, 0.1]]))
    np.testing.assert_allclose(turn, [[0.35, 0.45, 0.55]])
    np.testing.assert_allclose(own["rate"], turn)
    assert pace == 1.0
    # By its model the body makes the turn itself, if torques are strong enough.
    strong = replace(heavy, torque=3.0)
    seen_now = np.array([[[0.0, 0.5]] * 3])
    np.testing.assert_allclose(strong.modelled(np.full((1, 3), 1.45), seen_now), 1.0)

    limited = Limited(flock, rate=1.0, change=0.2)
    turn, _, _ = limited.turned(rate, np.array([[-1.0, 0.6, 1.0]]))
    np.testing.assert_allclose(turn, [[0.3, 0.6, 0.7]])

    wheels = Wheels(flock, keep=0.8, axle=0.5)
    state: dict[str, Any] = {**still, "wheels": np.ones((1, 3, 2))}
    command = np.array([[-3, 0, 1]])
    for _ in range(60):
        turn, pace, own = wheels.turned(state, command)
        state = {**state, **own}
    np.testing.assert_allclose(turn, [[-4.0, 0.0, 1.0]], atol=1e-4)
    np.testing.assert_allclose(pace, [[0.0, 1.0, 0.75]], atol=1e-4)
    np.testing.assert_array_equal(wheels.nearest(np.array([-4.0, 0.1, 0.9])), [-3, 0, 1])

    delayed = Delayed(flock, delay=2)
    state = {**still, "ordered": np.array([[[0.1, 0.2]] * 3])}
    turn, _, own = delayed.turned(state, np.full((1, 3), 0.3))
    np.testing.assert_allclose(turn, 0.1)
    np.testing.assert_allclose(own["ordered"], [[[0.2, 0.3]] * 3])

    biased = Biased(flock, bias=0.4)
    turn, _, _ = biased.turned({**still, "side": np.array([[1.0, -1.0, 1.0]])}, np.zeros((1, 3)))
    np.testing.assert_allclose(turn, [[0.4, -0.4, 0.4]])

    broken = Broken(flock, wiring=-1.0)
    turn, _, _ = broken.turned({**still, "works": np.array([[1.0, -1.0, 1.0]])}, np.ones((1, 3)))
    np.testing.assert_allclose(turn, [[1.0, -1.0, 1.0]])


def test_copies_favour_no_side() -> None:
    """A turn just between two actions becomes the smaller one, to the left as to the right."""
    for body in (*bodies_of(FINAL, "flock").values(), *bodies_of(FINAL, "school").values()):
        turns = np.asarray(body.group.points.actions, np.float64)
        for scale in (1.0, *other_bodies.SCALES):
            taken = body.nearest(scale * turns)
            np.testing.assert_allclose(taken, -taken[::-1], atol=1e-12)


def test_points_as_a_body_move_as_the_vicsek_model_does() -> None:
    flock = Flock(n_agents=30)
    policy = swarmdp.Policy(np.arange(36) // 3)
    points, body = (
        swarmdp.rollout(system, policy, steps=20, seed=4) for system in (flock.points, Body(flock))
    )
    for name in ("position", "heading"):
        np.testing.assert_allclose(points[name], body[name], atol=1e-9)


def test_a_corridor_keeps_all_between_its_walls() -> None:
    corridor = Body(Flock(n_agents=30, box=2.0, corridor=0.3))
    runs = swarmdp.rollout(corridor, swarmdp.Policy([6] * 36), steps=50, seed=1)
    assert runs["position"][..., 1].min() >= 0
    assert runs["position"][..., 1].max() <= 0.3


def test_what_the_school_attends_to() -> None:
    """The plain way: each agent by itself."""
    school = School(n_agents=25, near=0.6, far=1.5, sight=4.0)
    streams = Streams.of(3, np.arange(2), school.n_agents)
    state = school.initial(streams.at(0, Purpose.INITIAL))
    told = school.observe(state)
    zones = set()
    for run in range(2):
        place, heading = state["position"][run], state["heading"][run]
        for me in range(school.n_agents):
            others = [k for k in range(school.n_agents) if k != me]
            away = place - place[me]
            near = min(others, key=lambda k: np.hypot(*away[k]))
            seen_by_me = [k for k in others if np.hypot(*away[k]) < school.sight]
            if np.hypot(*away[near]) < school.near:
                zone, to = 0, away[near]
            elif seen_by_me and np.hypot(*away[seen_by_me].mean(axis=0)) > school.far:
                zone, to = 2, away[seen_by_me].mean(axis=0)
            else:
                angles = heading[seen_by_me]
                zone, to = 1, np.array([np.cos(angles).sum(), np.sin(angles).sum()])
            zones.add(zone)
            angle = (
                0.0
                if not to.any()
                else np.angle(np.exp(1j * (np.arctan2(*to[::-1]) - heading[me])))
            )
            assert told[run, me, 1] == zone
            assert abs(np.angle(np.exp(1j * (told[run, me, 0] - angle)))) < 1e-4
    assert zones == {0, 1, 2}


def test_statistics_of_swarms_that_are_known() -> None:
    flock = Flock(n_agents=4, noise=0.0)
    # All fly straight on with their own headings: order stays, and nothing turns.
    straight = swarmdp.rollout(flock.points, swarmdp.Policy([6] * 36), steps=20, runs=3, seed=1)
    told = statistics(flock, straight)
    first = np.abs(np.exp(1j * straight["heading"][:, 0]).mean(axis=1))
    np.testing.assert_allclose(told["order"], first)
    np.testing.assert_allclose(told["turning"], 0, atol=1e-9)
    assert set(told) == {"order", "turning", "spacing", "neighbours"}
    school = School(n_agents=5)
    runs = swarmdp.rollout(school, school.expert, steps=10, runs=2, seed=1)
    assert set(statistics(school, runs)) == {
        *("order", "turning", "spacing", "cohesion", "collisions"),
    }
    np.testing.assert_array_equal(medians({"a": np.arange(6.0)}, 2)["a"], [2.0, 3.0])


def test_the_criterion_accepts_the_expert_and_not_chance() -> None:
    flock = Flock()
    limits = Range.of(flock, 5)
    points = flock.points
    own = seen(flock, points, points.expert, runs=100, seed=6)
    assert limits.holds(own).mean() >= 0.95
    assert limits.holds(medians(own, 10)).all()
    chance = swarmdp.Policy(np.random.default_rng(1).integers(13, size=(20, 36)))
    assert not limits.holds(seen(flock, points, chance, runs=20, seed=7)).any()


def test_the_expert_itself_is_accepted() -> None:
    row = other_bodies.measured(other_bodies.Setting(other_bodies.CRITERION, "flock", "points"), 1)
    assert row["accepted"] >= 0.95
    assert row["single_runs_accepted"] >= 0.95
    told = other_bodies.tables([{"part": other_bodies.CRITERION, "group": "flock", **row}])
    assert "| flock | order | 0.98 |" in told


def test_the_picture_is_a_small_moving_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "STEPS", 6)
    path = picture.write(tmp_path / "bodies.gif")
    with Image.open(path) as image:
        assert image.n_frames == 7  # type: ignore[attr-defined]
    assert path.stat().st_size < 1_500_000
