"""Systems with other start states or other features than their own."""

from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Angles, Bins, Ising, Vicsek
from swarmdp.model.adapted import starting_from
from swarmdp.model.features import Axis, Basis
from swarmdp.model.system import name_of
from swarmdp.model.testing import check_system
from swarmdp.model.traits import settings_of
from swarmdp.support.errors import InvalidInput

VICSEK = Vicsek(n_agents=12)
ISING = Ising((6, 7))


def start_of(trajectory: swarmdp.Trajectory) -> dict[str, Any]:
    return {name: trajectory[name][:, 0] for name in ("position", "heading")}


def test_all_runs_may_start_from_one_state() -> None:
    one = start_of(swarmdp.rollout(VICSEK, VICSEK.expert, steps=0, seed=3))
    state = {name: array[0] for name, array in one.items()}
    trajectory = swarmdp.rollout(VICSEK, VICSEK.expert, steps=4, runs=3, seed=4, initial=state)
    for name, array in state.items():
        for run in range(3):
            np.testing.assert_array_equal(trajectory[name][run, 0], array)
    assert len(np.unique(trajectory["heading"][:, 1, 0])) == 3  # but each has noise of its own


def test_each_run_may_have_a_state_of_its_own() -> None:
    many = swarmdp.rollout(VICSEK, VICSEK.expert, steps=3, runs=4, seed=3)
    states = {name: many[name][:, 3] for name in ("position", "heading")}
    trajectory = swarmdp.rollout(VICSEK, VICSEK.expert, steps=1, runs=8, seed=4, initial=states)
    for run in range(8):
        np.testing.assert_array_equal(trajectory["heading"][run, 0], states["heading"][run % 4])


@pytest.mark.parametrize("system", [VICSEK, ISING], ids=["vicsek", "ising"])
def test_the_frames_of_a_trajectory_are_drawn_and_their_agents_permuted(system: Any) -> None:
    """Every start is a frame, all frames are drawn equally often, and agents are anywhere."""
    from scipy import stats

    recorded = swarmdp.rollout(system, system.expert, steps=4, runs=2, seed=5)
    key = "heading" if system is VICSEK else "spin"
    frames = np.sort(recorded[key].reshape(10, -1), axis=1)
    runs = 2000
    trajectory = swarmdp.rollout(
        system, system.expert, steps=0, runs=runs, seed=6, initial=recorded
    )
    starts = np.sort(trajectory[key][:, 0], axis=1)
    same = (starts[:, None] == frames[None]).all(axis=2)
    assert same.any(axis=1).all()
    if system is VICSEK:
        assert stats.chisquare(same.sum(axis=0)).pvalue > 1e-3
        first = trajectory[key][:, 0, 0]  # where the first agent of each frame went
        place = [np.flatnonzero(row == recorded[key][0, 0, 0]) for row in trajectory[key][:, 0]]
        where = np.array([int(p[0]) for p in place if p.size])
        assert stats.chisquare(np.bincount(where, minlength=12)).pvalue > 1e-3
        assert len(np.unique(first)) > 60


def test_an_adapted_system_keeps_the_contract() -> None:
    recorded = swarmdp.rollout(VICSEK, VICSEK.expert, steps=4, runs=2, seed=5)
    check_system(starting_from(VICSEK, recorded))
    check_system(starting_from(ISING, swarmdp.rollout(ISING, ISING.expert, steps=2, seed=1)))
    check_system(swarmdp.model.with_features(VICSEK, Bins([-np.inf, -0.1, 0.1, np.inf])))


def test_starts_do_not_depend_on_batch_and_threads() -> None:
    recorded = swarmdp.rollout(VICSEK, VICSEK.expert, steps=9, runs=3, seed=5)
    what: dict[str, Any] = {"steps": 3, "seed": 7, "initial": recorded}
    whole = swarmdp.rollout(VICSEK, VICSEK.expert, runs=9, threads=1, **what)["heading"]
    again = swarmdp.rollout(VICSEK, VICSEK.expert, runs=9, threads=2, **what)["heading"]
    fewer = swarmdp.rollout(VICSEK, VICSEK.expert, runs=4, **what)["heading"]
    np.testing.assert_array_equal(whole, again)
    np.testing.assert_array_equal(whole[:4], fewer)


def test_the_start_is_part_of_the_settings() -> None:
    recorded = swarmdp.rollout(VICSEK, VICSEK.expert, steps=2, seed=5)
    other = swarmdp.rollout(VICSEK, VICSEK.expert, steps=2, seed=6)
    one, two = (settings_of(starting_from(VICSEK, start)) for start in (recorded, other))
    assert one["initial"] != two["initial"]
    assert {**one, "initial": 0} == {**settings_of(VICSEK), "initial": 0}
    assert name_of(starting_from(VICSEK, recorded)) == "Vicsek"


@pytest.mark.parametrize(
    ("initial", "message"),
    [
        ({"position": np.zeros((12, 2))}, "initial has no 'heading'"),
        ({"position": np.zeros((12, 3)), "heading": np.zeros(12)}, r"shape \(12, 2\) for each run"),
        ({"position": np.zeros((12, 2)), "heading": np.zeros(11)}, r"shape \(12,\) for each run"),
        ({"position": np.zeros((12, 2)), "heading": np.full(12, np.nan)}, "NaN or infinite"),
        ({"position": np.zeros((12, 2)), "heading": np.zeros(12, complex)}, "must be float64"),
        ({"position": np.full((12, 2), 3.0), "heading": np.zeros(12)}, r"positions must be in \[0"),
        (
            {"position": np.zeros((2, 12, 2)), "heading": np.zeros((3, 12))},
            "equally many states",
        ),
        (3, "initial must be a state"),
    ],
)
def test_impossible_starts_are_refused(initial: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        swarmdp.rollout(VICSEK, VICSEK.expert, steps=1, seed=1, initial=initial)


def test_a_trajectory_without_states_is_no_start() -> None:
    only = swarmdp.rollout(VICSEK, VICSEK.expert, steps=2, seed=1, record="observations")
    with pytest.raises(InvalidInput, match="no recorded 'position'"):
        swarmdp.rollout(VICSEK, VICSEK.expert, steps=1, seed=1, initial=only)


def test_other_features_make_another_table_of_the_same_swarm() -> None:
    coarse = swarmdp.model.with_features(VICSEK, Angles(4, "misalignment"))
    policy = swarmdp.Policy([0, 3, 6, 9])
    one = swarmdp.rollout(coarse, policy, steps=5, seed=1)
    seen = swarmdp.rollout(coarse, policy, steps=5, seed=1, record="observations")["observations"]
    assert one.system_name == "Vicsek"
    assert one["heading"].shape == (1, 6, 12)
    assert set(np.unique(Angles(4).index(seen))) <= {0, 1, 2, 3}
    basis = Basis(np.cos, ("cos",), (Axis("misalignment", units="rad", periodic=True),))
    with pytest.raises(InvalidInput, match="must give features of the shape"):
        swarmdp.rollout(
            swarmdp.model.with_features(VICSEK, Basis(np.cos, ("cos",), scalar=True)),
            VICSEK.expert,
            steps=1,
            seed=1,
            record=swarmdp.simulation.DiscountedFeatures(0.9),
        )
    assert basis.shape == (1,)


def test_feature_expectations_of_a_basis_are_those_of_its_function() -> None:
    """Against a plain sum over times and agents, recorded at once or from the states."""
    from swarmdp.irl.expectations import feature_expectations

    basis = Basis(
        lambda o: np.stack([np.cos(o), np.sin(o) ** 2], axis=-1),
        ("cos", "sin squared"),
        scalar=True,
    )
    smooth = swarmdp.model.with_features(VICSEK, basis)
    recorded = swarmdp.rollout(
        smooth,
        VICSEK.expert,
        steps=20,
        runs=3,
        seed=2,
        record=["states", "observations", swarmdp.simulation.DiscountedFeatures(0.8)],
    )
    seen = recorded["observations"]
    phi = np.stack([np.cos(seen), np.sin(seen) ** 2], axis=-1).mean(axis=2)
    plain = (0.8 ** np.arange(21)[:, None] * phi).sum(axis=1)
    np.testing.assert_allclose(recorded["discounted_features"], plain, rtol=1e-12)
    mu = feature_expectations(smooth, recorded, discount=0.8)
    np.testing.assert_allclose(mu, plain, rtol=1e-12)
    reward = swarmdp.Reward([1.0, -2.0])
    worth = reward.of(smooth, seen[:, 0], np.arange(3))
    np.testing.assert_allclose(worth, np.cos(seen[:, 0]) - 2 * np.sin(seen[:, 0]) ** 2, rtol=1e-12)


def test_settings_that_are_not_known_are_refused() -> None:
    """Otherwise a physically different swarm would accept another's demo."""

    class Opaque:
        n_agents = 4
        actions = np.array([0, 1])
        features = swarmdp.Levels(2)

        def __init__(self, slip: float) -> None:
            self.slip = slip

        def initial(self, rng: swarmdp.model.Stream) -> Any:
            return {"x": rng.integers(2)}

        def observe(self, state: Any) -> Any:
            return state["x"]

        def transition(self, state: Any, actions: Any, rng: swarmdp.model.Stream) -> Any:
            return {"x": actions}

    with pytest.raises(InvalidInput, match="settings of Opaque are not known.*dataclass"):
        swarmdp.rollout(Opaque(0.5), lambda o: o, steps=1, seed=1)
    with pytest.raises(InvalidInput, match="is not a system"):
        swarmdp.rollout(Vicsek, VICSEK.expert, steps=1, seed=1)  # type: ignore[arg-type]
