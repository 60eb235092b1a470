"""What is not known of recorded groups is not compared."""

import numpy as np
import pytest

import swarmdp
from swarmdp.judging import motion
from swarmdp.judging.statistics import Series, SwarmLook
from swarmdp.model.traits import field_of

VICSEK = swarmdp.Vicsek(n_agents=5)


def places(times: int, agents: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.cumsum(rng.normal(size=(1, times, agents, 2)), axis=1)


def test_those_who_are_absent_do_not_make_a_way_less_straight() -> None:
    walked = places(20, 4)
    present = np.ones((1, 20, 4), np.bool_)
    present[:, :, 2:] = False
    some = motion.moving(walked, None, 2, present)
    alone = motion.moving(walked[:, :, :2], None, 2, present[:, :, :2])
    for name, values in some.items():
        np.testing.assert_allclose(values, alone[name], err_msg=name)


@pytest.mark.parametrize("kind", ["turning", "moving", "drifting"])
def test_nothing_is_known_of_a_time_in_which_nobody_was_there(kind: str) -> None:
    present = np.ones((1, 20, 3), np.bool_)
    present[:, 1:10] = False  # one frame of the first half: no step
    walked = places(20, 3)
    values = walked if kind == "moving" else walked[..., 0]
    options = (None, 2, present) if kind != "drifting" else (2, present)
    for name, blocks in getattr(motion, kind)(values, *options).items():
        if name == "straightness of the second half":
            assert np.isfinite(blocks).all()
        elif kind != "drifting" or name == "size of changes":
            assert np.isnan(blocks[0, 0]), name
            assert np.isfinite(blocks[0, 1]), name


def test_a_statistic_that_is_not_known_is_left_out() -> None:
    known = Series(np.arange(40.0).reshape(4, 10), "known", True)
    values = 2 * known.values
    values[0, 0] = np.nan  # nobody in the first tenth of the demo
    values[0, 7] = np.nan  # nor for a while later
    gaps = Series(values, "gaps", True)
    look = SwarmLook({"known": known, "gaps": gaps}, {}, None, None, {})
    table = look.table(VICSEK, slice(0, 4))
    names = [statistic.name for statistic in table.statistics]
    assert "gaps, at the beginning" not in names
    assert {"known, at the beginning", "gaps, on the way", "gaps, later"} < set(names)
    later = table.values[:, names.index("gaps, later")]
    assert later[0] == 2 * np.mean([5, 6, 8, 9])
    assert later[1] == 2 * np.mean(known.values[1, 5:])


def test_what_is_the_same_in_all_runs_or_said_twice_is_left_out() -> None:
    rng = np.random.default_rng(1)
    varies = rng.normal(size=(4, 10))
    series = {
        "how": Series(varies, "how", False),
        "what": Series(varies, "what", True),
        "again": Series(varies, "again", True),
        "speed": Series(0.3 + 1e-12 * rng.normal(size=(4, 10)), "speed", True),
        "zero": Series(np.zeros((4, 10)), "zero", True),
    }
    look = SwarmLook(series, {}, None, None, {})
    titles = {statistic.title for statistic in look.table(VICSEK, slice(0, 4)).statistics}
    # At the beginning both are about how, and the first is kept.
    assert titles == {"how", "what"}
    nothing = SwarmLook({"zero": series["zero"]}, {}, None, None, {})
    assert len(nothing.table(VICSEK, slice(0, 4)).statistics) == 3


def test_levels_of_those_who_are_absent_do_not_count() -> None:
    rng = np.random.default_rng(2)
    levels = rng.integers(3, size=(1, 20, 4))
    present = np.ones(levels.shape, np.bool_)
    present[:, :, 2:] = False
    some = motion.changing(levels, 2, present)
    alone = motion.changing(levels[:, :, :2], 2)
    for name, values in some.items():
        np.testing.assert_allclose(values, alone[name], err_msg=name)


def test_no_statistic_of_a_robot_log_is_empty() -> None:
    """Positions that were logged: nothing is zero, constant or bookkeeping, and all has a name."""
    robots = swarmdp.Vicsek(n_agents=12, radius=0.3, speed=0.03, noise=0.3)
    tracks = 10 * swarmdp.rollout(robots, robots.expert, steps=90, seed=1)["position"][0]
    decisions = swarmdp.Recording(tracks, fps=4, unit="m").decisions(dt=0.25)
    swarm = swarmdp.recordings.Swarm.from_recording(
        decisions.train,
        swarmdp.recordings.Observation(neighbours=3),
        arena=swarmdp.recordings.Periodic((10.0, 10.0)),
    )
    straight = swarmdp.policies.FunctionPolicy(lambda seen: np.zeros(seen.shape[:2]))
    with pytest.warns(swarmdp.errors.VerdictWarning):
        verdict = swarmdp.judge(straight, decisions.test, system=swarm, seed=2, quick=True, runs=20)
    told = verdict.table
    numbers = told[["demo", "learned", "random", "nothing"]]
    assert not (numbers.nunique(axis=1) == 1).any()
    assert not (numbers == 0).all(axis=1).any()
    assert not any(word in title for title, _ in told.index for word in ("noise", "pace"))
    assert not any(title.startswith("speed") for title, _ in told.index)  # they have only one


def test_the_bookkeeping_of_recorded_swarms_is_not_compared() -> None:
    school = swarmdp.Vicsek(n_agents=8, radius=0.3, noise=0.3)
    tracks = swarmdp.rollout(school, school.expert, steps=60, seed=1)["position"][0]
    decisions = swarmdp.Recording(tracks, fps=4, unit="m").decisions(dt=0.25, jump=8)
    unit = swarmdp.recordings.Periodic((1.0, 1.0))
    swarm = swarmdp.recordings.Swarm.from_recording(
        decisions.train, swarmdp.recordings.Observation(neighbours=3), arena=unit
    )
    assert {field_of(swarm, name).kind for name in ("turn", "noise", "pace")} == {"hidden"}
