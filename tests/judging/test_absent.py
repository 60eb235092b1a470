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
    values = known.values.copy()
    values[0, 0] = np.nan  # nobody in the first tenth of the demo
    values[0, 7] = np.nan  # nor for a while later
    gaps = Series(values, "gaps", True)
    look = SwarmLook({"known": known, "gaps": gaps}, {}, None, None, {})
    table = look.table(VICSEK, slice(0, 4))
    names = [statistic.name for statistic in table.statistics]
    assert "gaps, at the beginning" not in names
    assert {"known, at the beginning", "gaps, on the way", "gaps, later"} < set(names)
    later = table.values[:, names.index("gaps, later")]
    assert later[0] == np.mean([5, 6, 8, 9])
    assert later[1] == np.mean(known.values[1, 5:])


def test_the_bookkeeping_of_recorded_swarms_is_not_compared() -> None:
    school = swarmdp.Vicsek(n_agents=8, radius=0.3, noise=0.3)
    tracks = swarmdp.rollout(school, school.expert, steps=60, seed=1)["position"][0]
    decisions = swarmdp.Recording(tracks, fps=4, unit="m").decisions(dt=0.25, jump=8)
    unit = swarmdp.recordings.Periodic((1.0, 1.0))
    swarm = swarmdp.recordings.Swarm.from_recording(
        decisions.train, swarmdp.recordings.Observation(neighbours=3), arena=unit
    )
    assert {field_of(swarm, name).kind for name in ("turn", "noise", "pace")} == {"hidden"}
