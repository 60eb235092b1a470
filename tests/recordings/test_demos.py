"""What Algorithm 1 makes of a recording: a mean over time, of those who are there."""

import numpy as np
import pytest

import swarmdp
from swarmdp.irl.demos import check_demo
from swarmdp.irl.expectations import feature_expectations
from swarmdp.irl.pairs import pair_counts
from swarmdp.irl.resampling import at_times, blocks_of_time, profile_of
from swarmdp.model.trajectory import Trajectory, Variable

STEPS, AGENTS = 11, 5


def recording(present: float = 0.7) -> tuple[swarmdp.Vicsek, Trajectory]:
    """A recording of a small Vicsek swarm, some agents absent."""
    vicsek = swarmdp.Vicsek(n_agents=AGENTS, n_bins=6)
    whole = swarmdp.rollout(
        vicsek, vicsek.expert, steps=STEPS, seed=1, record=["observations", "actions"]
    )
    rng = np.random.default_rng(0)
    there = rng.random((1, STEPS + 1, AGENTS)) < present
    acts = there[:, :-1] & there[:, 1:]
    masks = {
        "present": Variable(there, ("run", "time", "agent")),
        "acting": Variable(acts, ("run", "step", "agent")),
    }
    return vicsek, Trajectory(
        {**whole.variables, **masks}, whole.system_name, whole.settings, 1, STEPS
    )


def test_feature_expectations_are_the_mean_over_time_of_those_present() -> None:
    vicsek, demo = recording()
    index = vicsek.features.index(demo["observations"])[demo["present"]]
    expected = np.bincount(index, minlength=6) / len(index) / (1 - 0.9)
    mu = feature_expectations(vicsek, demo, discount=0.9)
    np.testing.assert_allclose(mu, expected[None])
    one = feature_expectations(vicsek, demo, discount=0.9, estimator="single", agent=2)
    seen = vicsek.features.index(demo["observations"])[0, :, 2][demo["present"][0, :, 2]]
    np.testing.assert_allclose(one[0], np.bincount(seen, minlength=6) / len(seen) / (1 - 0.9))
    check_demo(vicsek, demo, 0.99)  # however short it is for this discount


def test_only_turns_of_those_acting_count() -> None:
    vicsek, demo = recording()
    counts, source = pair_counts(vicsek, demo)
    assert source == "recorded"
    assert counts.sum() == demo["acting"].sum()
    single, _ = pair_counts(vicsek, demo, estimator="single", agent=1)
    assert single.sum() == demo["acting"][:, :, 1].sum()


def test_nobody_present_is_refused() -> None:
    vicsek, demo = recording(present=-1.0)
    with pytest.raises(swarmdp.errors.InvalidInput, match="nobody is present"):
        feature_expectations(vicsek, demo)


def test_its_profile_is_the_same_at_all_times() -> None:
    vicsek, demo = recording()
    profile = profile_of(vicsek, demo, "swarm", np.asarray, 0.9)
    assert profile is not None
    average = feature_expectations(vicsek, demo, discount=0.0)
    assert (profile.reshape(-1, 6) == average).all()


def test_times_are_drawn_in_blocks() -> None:
    vicsek, demo = recording()
    for rows in blocks_of_time(100, 3, np.random.default_rng(0)):
        assert rows.max() < 100
        assert (np.diff(rows.reshape(-1, 8), axis=1) == 1).all()
    rows = np.array([10, 11, 4, 5])
    other = at_times(demo, rows)
    assert other.steps == 3
    np.testing.assert_array_equal(other["observations"], demo["observations"][:, rows])
    np.testing.assert_array_equal(other["actions"][:, 2], demo["actions"][:, 4])
    assert not other["acting"][:, 1].any()  # after the last time nothing is known
    pair_counts(vicsek, other)


def test_decisions_are_for_swarms_made_from_them() -> None:
    vicsek, demo = recording()
    result = swarmdp.fit(vicsek, demo, seed=1, iterations=1, judge=False)
    assert result.settings["steps"] > STEPS
