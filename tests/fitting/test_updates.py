"""Every reward update behind `swarmdp.fit`, on swarms and on gridworlds."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import FiniteMDP, Gridworld, Result
from swarmdp.irl.expectations import exact_expectations
from swarmdp.irl.updates import Evidence, Update, Wants
from swarmdp.irl.updates.evidence import wants_of
from swarmdp.irl.updates.registry import UPDATES
from swarmdp.learning import HeterogeneousLearning
from swarmdp.model.symmetry import Symmetry
from swarmdp.policies import SoftPolicy
from swarmdp.policies.replicas import table_of
from swarmdp.support.errors import FileError, InvalidInput, SolverError
from tests.results import MAY_BE_CONSTANT, assert_same
from tests.systems.test_finite import random_mdp

SYSTEMS: dict[str, Any] = {
    "vicsek": swarmdp.Vicsek(n_agents=30),
    "ising": swarmdp.Ising((8, 8)),
    "gridworld": Gridworld(3, 3),
    "macrocells": Gridworld.macrocells(seed=2, rows=4, columns=4, macrocell=2),
}
QUICK = HeterogeneousLearning(steps=15, swarms=2)
# From the registry, so that a new update is tested as soon as it has a row.
BY_ACTIONS = [name for name, row in UPDATES.items() if wants_of(row.make()).pairs]
ONLY_MU = [name for name in UPDATES if name not in BY_ACTIONS]
SOFT = [name for name, row in UPDATES.items() if wants_of(row.make()).softness]


def demo_of(name: str, runs: int = 2) -> swarmdp.Trajectory:
    system = SYSTEMS[name]
    expert = getattr(system, "expert", None) or swarmdp.learning.plan(system, system.reward).policy
    return swarmdp.rollout(
        system, expert, steps=50, runs=runs, seed=1, record=["states", "actions"]
    )


def fitted(name: str, demo: Any, **change: Any) -> Result:
    system = SYSTEMS[name]
    learner = None if isinstance(system, Gridworld) else QUICK
    options = {"seed": 2, "separate": True, "iterations": 3, "learner": learner, **change}
    return swarmdp.fit(system, demo, **options, judge=False)


@MAY_BE_CONSTANT
@pytest.mark.parametrize("update", ONLY_MU)
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_update_works_everywhere(name: str, update: str, tmp_path: Path) -> None:
    """A fit, saved and loaded, gone on with, and its first experiment alone: the same bits."""
    system, demo = SYSTEMS[name], demo_of(name)
    result = fitted(name, demo, update=update)
    assert result.settings["update"] == update
    assert np.isfinite(result.history.weights).all()
    assert isinstance(result.policy, SoftPolicy) == (update in SOFT)
    np.testing.assert_allclose(result.mixture.weights.sum(axis=1), 1)
    for policy in (result.policy, result.mixture):
        swarmdp.rollout(system, policy, steps=3, runs=4, seed=3)

    short = fitted(name, demo, update=update, iterations=1)
    short.save(tmp_path)
    again = swarmdp.load(tmp_path)
    assert_same(again, short)
    longer = fitted(name, demo, update=update, resume=again)
    assert_same(longer, result)
    assert repr(longer) == repr(result)
    assert f"by {update}: 2 experiments" in repr(result)
    if update in SOFT:
        assert type(again.policy) is SoftPolicy

    alone = fitted(name, demo_of(name, runs=1), update=update)
    count = len(alone.iterations)
    first = replace(result, iterations=result.iterations[:count])
    assert_same(first, alone, slice(0, 1))


@pytest.mark.parametrize("update", BY_ACTIONS)
@pytest.mark.parametrize("name", ["gridworld", "macrocells"])
def test_updates_by_actions_work_on_gridworlds(name: str, update: str) -> None:
    result = fitted(name, demo_of(name, 20), update=update, separate=False, iterations=1)
    assert result.settings["actions"] == "recorded"
    assert np.isfinite(result.reward.weights).all()


def test_an_update_of_one_s_own() -> None:
    """A function is enough: here the perceptron, which adds what the expert has more of."""

    def perceptron(evidence: Evidence) -> Update:
        return Update(evidence.weights[-1] + evidence.expert - evidence.learned[-1])

    grid = Gridworld()
    expert = swarmdp.learning.plan(grid, grid.reward).policy
    mu = exact_expectations(grid, expert, discount=0.9, steps=None)
    result = swarmdp.fit(grid, mu, seed=1, update=perceptron, iterations=30, judge=False)
    assert result.settings["update"] == {
        "kind": "test_an_update_of_one_s_own.<locals>.perceptron",
        "opaque": True,
    }
    assert result.distance[0] < 0.5
    np.testing.assert_array_equal(result.margin, result.history.distance[-1])
    nearest = np.eye(len(result.iterations))[result.history.distance[:, 0].argmin()]
    np.testing.assert_array_equal(result.mixture.weights[0], nearest)


@MAY_BE_CONSTANT
def test_an_update_is_told_what_it_asks_for() -> None:
    seen: list[Evidence] = []

    class Curious:
        wants = Wants(pairs=True, kernel=True, softness=0.5)

        def start(self, evidence: Evidence) -> NDArray[np.float64]:
            return np.full(evidence.expert.shape, 0.25)

        def __call__(self, evidence: Evidence) -> Update:
            seen.append(evidence)
            assert evidence.pairs is not None
            noted = {"pairs": evidence.pairs.sum(axis=(1, 2)), "twice": 2 * evidence.expert}
            return Update(evidence.weights[-1] + 1, error=evidence.expert, diagnostics=noted)

    for name in ("vicsek", "gridworld"):
        seen.clear()
        system, demo = SYSTEMS[name], demo_of(name)
        result = fitted(name, demo, update=Curious(), iterations=2)
        shape = (2, system.features.size, len(system.actions))
        first, second = seen
        assert first.pairs is not None
        assert first.kernel is not None
        assert (first.policies, second.policies) == (1, 2)
        assert first.pairs.shape == shape
        assert first.kernel.shape == (*shape, shape[1])
        np.testing.assert_allclose(first.kernel.sum(axis=3), 1)
        np.testing.assert_array_equal(first.weights, np.full_like(first.weights, 0.25))
        assert first.seed_for(0) != second.seed_for(0)
        assert first.seed_for(0) != first.seed_for(1)
        assert isinstance(result.policy, SoftPolicy)
        assert result.settings["first_reward"] == "own"
        np.testing.assert_array_equal(result.diagnostics["twice"][1], 2 * result.expert_mu)
        assert result.diagnostics["pairs"].shape == (2, 2)
        error = result.reward_error
        assert error is not None
        for r, i in enumerate(result.chosen):
            expected = result.expert_mu[r] if i else np.full_like(result.expert_mu[r], np.nan)
            np.testing.assert_array_equal(error[r], expected)


def test_errors_and_diagnostics_are_saved(tmp_path: Path) -> None:
    def sure(evidence: Evidence) -> Update:
        diagnostics = {"a": evidence.distance[-1], "b": evidence.expert}
        return Update(evidence.expert, error=0.1 * evidence.expert, diagnostics=diagnostics)

    result = fitted("gridworld", demo_of("gridworld"), update=sure)
    result.save(tmp_path)
    again = swarmdp.load(tmp_path)
    np.testing.assert_array_equal(again.reward_error, result.reward_error)
    assert set(again.diagnostics) == {"a", "b"}
    for name, array in result.diagnostics.items():
        np.testing.assert_array_equal(again.diagnostics[name], array)


def moody(evidence: Evidence) -> Update:
    """Gives an error and diagnostics only now and then."""
    count = evidence.policies
    diagnostics = {1: {}, 2: {"a": evidence.distance[-1]}, 3: {"b": 2 * evidence.expert}}[count]
    error = 0.1 * evidence.expert if count == 2 else None
    weights = evidence.weights[-1] + evidence.expert - evidence.learned[-1]
    return Update(weights, error=error, diagnostics=diagnostics)


def test_what_an_update_says_only_now_and_then_is_kept(tmp_path: Path) -> None:
    """Rounds in which it gave no error or no diagnostics are NaN there, also in the file."""
    result = fitted("gridworld", demo_of("gridworld"), update=moody)
    result.save(tmp_path)
    begun = fitted("gridworld", demo_of("gridworld"), update=moody, iterations=2)
    begun.save(tmp_path / "begun")
    earlier = swarmdp.load(tmp_path / "begun")
    resumed = fitted("gridworld", demo_of("gridworld"), update=moody, resume=earlier)
    for one in (result, swarmdp.load(tmp_path), resumed):
        a, b = one.diagnostics["a"], one.diagnostics["b"]
        np.testing.assert_array_equal(np.isnan(a), [[True] * 2, [False] * 2, [True] * 2])
        np.testing.assert_array_equal(a[1], result.history.distance[1])
        assert np.isnan(b[:2]).all()
        np.testing.assert_array_equal(b[2], 2 * result.expert_mu)
        np.testing.assert_array_equal(one.to_xarray()["error"][1], 0.1 * result.expert_mu)
        assert np.isnan(one.to_xarray()["error"][[0, 2]]).all()


def test_a_diagnostic_of_experiments_may_become_one_of_features() -> None:
    def growing(evidence: Evidence) -> Update:
        first = evidence.policies == 1
        number = evidence.distance[-1] if first else evidence.expert
        return Update(evidence.weights[-1] + 1, diagnostics={"x": number})

    result = fitted("gridworld", demo_of("gridworld"), update=growing, iterations=2)
    assert result.diagnostics["x"].shape == (2, 2, 9)
    repeated = np.repeat(result.history.distance[0][:, None], 9, axis=1)
    np.testing.assert_array_equal(result.diagnostics["x"][0], repeated)


def test_the_first_reward_s_error_is_unknown_even_where_nothing_is_left_to_do(
    tmp_path: Path,
) -> None:
    """At a margin of zero the reward stays, as that of an update at once does."""

    def done(evidence: Evidence) -> Update:
        zero = np.zeros(len(evidence.expert))
        return Update(evidence.expert, zero, error=np.ones_like(evidence.expert))

    result = fitted("gridworld", demo_of("gridworld"), update=done)
    assert (len(result.iterations), result.settings["at_once"]) == (1, False)
    assert result.reward_error is not None
    assert np.isnan(result.reward_error).all()
    result.save(tmp_path)
    assert np.isnan(swarmdp.load(tmp_path).reward_error).all()


def test_a_fit_by_an_update_that_answers_at_once_is_resumed_as_such(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Sure:
        wants: ClassVar[Wants] = Wants(at_once=True)

        def __call__(self, evidence: Evidence) -> Update:
            return Update(evidence.expert, error=np.ones_like(evidence.expert))

    demo = demo_of("gridworld")
    result = fitted("gridworld", demo, update=Sure())
    assert result.settings["at_once"] is True
    result.save(tmp_path)
    earlier = swarmdp.load(tmp_path)
    for one in (result, earlier):
        np.testing.assert_array_equal(one.reward_error, 1)
    assert_same(fitted("gridworld", demo, update=Sure(), resume=earlier), result)
    with pytest.raises(InvalidInput, match="cannot resume: the earlier fit had update"):
        fitted("gridworld", demo, resume=earlier)


@MAY_BE_CONSTANT
def test_the_way_in_which_actions_are_known_is_shown() -> None:
    grid = fitted("gridworld", demo_of("gridworld"), update="policy_matching", iterations=1)
    assert "  actions            recorded" in repr(grid)
    assert "actions  " not in repr(fitted("gridworld", demo_of("gridworld"), iterations=1))
    vicsek = SYSTEMS["vicsek"]
    states = swarmdp.rollout(vicsek, vicsek.expert, steps=50, seed=1)
    inferred = fitted("vicsek", states, update="policy_matching", iterations=1)
    assert "  actions            inferred from states" in repr(inferred)


@pytest.mark.parametrize(("number", "remedy"), [(1, "fit again"), (4, "fit again"), (6, "update")])
def test_results_of_other_formats_are_refused(tmp_path: Path, number: int, remedy: str) -> None:
    dataset = fitted("gridworld", demo_of("gridworld"), iterations=1).to_xarray()
    assert dataset.attrs["format"] == 5
    dataset.attrs["format"] = number
    dataset.to_netcdf(tmp_path / "result.nc", engine="h5netcdf")
    with pytest.raises(FileError, match=f"in format {number}.* reads format 5: {remedy}"):
        swarmdp.load(tmp_path)


@MAY_BE_CONSTANT
def test_feature_expectations_in_place_of_a_demo() -> None:
    """On a swarm as well: the same expert, from its demo and from its mu."""
    demo = demo_of("vicsek")
    from swarmdp.irl.expectations import feature_expectations

    mu = feature_expectations(SYSTEMS["vicsek"], demo)
    result = fitted("vicsek", mu)
    np.testing.assert_array_equal(result.expert_mu, fitted("vicsek", demo).expert_mu)
    symmetry = Symmetry.of(SYSTEMS["vicsek"])
    assert symmetry is not None
    np.testing.assert_array_equal(result.expert_mu, symmetry.even(mu))
    assert result.settings["steps"] == 87  # 0.9^88 < 1e-4
    one = fitted("vicsek", mu[0].tolist(), separate=False, mirror=False)
    np.testing.assert_array_equal(one.expert_mu, mu[:1])
    pooled = fitted("vicsek", mu, separate=False, mirror=False)
    np.testing.assert_allclose(pooled.expert_mu[0], mu.mean(axis=0))
    exact = fitted("gridworld", np.full(9, 10 / 9))
    assert (exact.settings["steps"], exact.settings["evaluations"]) == (None, None)


@pytest.mark.parametrize("update", ["projection", "mwal", "maxent"])
@pytest.mark.parametrize("name", ["vicsek", "ising"])
def test_feature_expectations_will_do_for_other_updates_on_swarms(name: str, update: str) -> None:
    from swarmdp.irl.expectations import feature_expectations

    mu = feature_expectations(SYSTEMS[name], demo_of(name))
    result = fitted(name, mu, update=update, mirror=False)
    np.testing.assert_array_equal(result.expert_mu, mu)
    assert len(result.iterations) == 3
    assert np.isfinite(result.history.weights).all()
    assert not (result.history.weights[0] == result.history.weights[2]).all()
    assert result.policy.replicas == 2


def test_values_are_exact_or_estimated_as_asked() -> None:
    """A finite MDP's values, cut where the demo is cut; many roll-outs come to the same."""
    demo = demo_of("gridworld")
    exact = fitted("gridworld", demo, iterations=1)
    expected = exact_expectations(
        SYSTEMS["gridworld"], exact.iterations[0].policy, discount=0.9, steps=50
    )
    np.testing.assert_array_equal(exact.history.mu[0], expected)
    runs = 3000
    estimated = fitted("gridworld", demo, iterations=1, evaluations=runs)
    # a visit counts at most 10, so no standard error is above 5 / sqrt(runs)
    assert np.abs(estimated.history.mu[0] - expected).max() < 5 * 5 / np.sqrt(runs)


def test_no_sampling_noise_means_no_dependence_on_the_seed() -> None:
    demo = demo_of("macrocells")
    assert_same(fitted("macrocells", demo, seed=2), fitted("macrocells", demo, seed=3))


@pytest.mark.filterwarnings("ignore:no reward separates:swarmdp.support.errors.SwarmdpWarning")
@pytest.mark.parametrize("seed", [0, 2, 4, 5])
def test_a_finished_experiment_is_the_same_in_a_batch_and_alone(seed: int) -> None:
    """Ng and Russell's margin may rise again: what is finished must stay so all the same."""
    mdp = random_mdp(seed, features=3)
    rng = np.random.default_rng(seed)
    expert = SoftPolicy(rng.dirichlet(np.ones(3), size=(5, 6)))
    mu = exact_expectations(mdp, expert, discount=0.9, steps=None)
    options: Any = {"seed": 1, "update": "ng_russell", "iterations": 15}
    batch = swarmdp.fit(mdp, mu, separate=True, **options, judge=False)
    margins = batch.history.margin
    assert any((margins[end + 1 :, r] > 1e-6).any() for r, end in enumerate(batch.ended))
    alone = [swarmdp.fit(mdp, mu[r : r + 1], **options, judge=False) for r in range(5)]
    assert len(batch.iterations) == max(len(one.iterations) for one in alone)
    for r, one in enumerate(alone):
        count = len(one.iterations)
        assert batch.ended[r] == count - 1
        assert batch.chosen[r] == one.chosen[0]
        np.testing.assert_array_equal(table_of(batch.policy)[r], table_of(one.policy)[0])
        np.testing.assert_array_equal(batch.reward.weights[r], one.reward.weights[0])
        assert batch.margin[r] == one.margin[0]
        np.testing.assert_array_equal(batch.mixture.weights[r, :count], one.mixture.weights[0])
        np.testing.assert_array_equal(batch.mixture.weights[r, count:], 0)
        np.testing.assert_allclose(batch.mixture_mu[r], one.mixture_mu[0], rtol=1e-12)
        kept = batch.history.weights[count:, r]
        np.testing.assert_array_equal(kept, np.broadcast_to(kept[:1], kept.shape))
    begun = swarmdp.fit(mdp, mu, separate=True, **{**options, "iterations": 5}, judge=False)
    assert_same(swarmdp.fit(mdp, mu, separate=True, resume=begun, **options, judge=False), batch)


@MAY_BE_CONSTANT
@pytest.mark.parametrize("update", ["max_margin", "policy_matching"])
def test_an_expert_that_avoids_every_feature_can_be_learned_from(update: str) -> None:
    """Its feature expectations are all zero: the first reward is that of equal weights."""
    transitions = np.zeros((3, 2, 3))
    transitions[:, 0, 0] = 1
    transitions[:, 1, [1, 2]] = 0.5
    mdp = FiniteMDP(transitions, 0, [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    stay = swarmdp.Policy([0, 0, 0])
    demo = swarmdp.rollout(mdp, stay, steps=50, seed=1, record=["states", "actions"])
    result = swarmdp.fit(mdp, demo, seed=1, update=update, judge=False)
    np.testing.assert_array_equal(result.expert_mu, 0)
    assert result.distance[0] == 0
    assert (result.reward.weights <= 0).all()
    np.testing.assert_array_equal(table_of(result.policy)[0], 0)


def test_ten_thousand_states() -> None:
    grid = Gridworld.macrocells(seed=1, rows=100, columns=100, macrocell=20)
    expert = swarmdp.learning.plan(grid, grid.reward).policy
    mu = exact_expectations(grid, expert, discount=0.9, steps=None)
    for update in ("projection", "maxent"):
        result = swarmdp.fit(grid, mu, seed=1, update=update, iterations=4, judge=False)
        assert result.margin[0] < 0.9 * result.history.margin[0, 0]


def of_shape(*shape: int) -> Any:
    return lambda evidence: Update(np.zeros(shape))


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ("max_margn", f"one of {', '.join(UPDATES)}, got"),
        (3, "or a function from swarmdp.updates.Evidence to swarmdp.updates.Update, got 3"),
        (swarmdp.updates.MaxEnt, "or a function from"),
        (of_shape(3), r"weights must have the shape \(2, 9\), got \(3,\)"),
        (lambda e: e.expert, "must return swarmdp.updates.Update.weights., got ndarray"),
        (lambda e: Update(e.expert, margin=np.zeros(3)), "margin must have the shape"),
        (lambda e: Update(e.expert, mixture=np.zeros(3)), "mixture must have the shape"),
        (lambda e: Update(e.expert, margin=np.full(2, np.nan)), "finite and not negative, got nan"),
        (lambda e: Update(e.expert, margin=np.full(2, np.inf)), "finite and not negative, got inf"),
        (lambda e: Update(e.expert, margin=np.array([1, -0.5])), "not negative, got -0.5: it is"),
        (lambda e: Update(e.expert, margin=np.array(["a", "b"])), "margin must be an array"),
        (lambda e: Update(e.expert, mixture=np.full((2, 1), 0.9)), "of sum 1, got a least of 0.9"),
        (lambda e: Update(e.expert, mixture=np.full((2, 1), np.nan)), "not negative and of sum 1"),
        (lambda e: Update(e.expert, error=np.zeros(3)), "error must have the shape"),
        (lambda e: Update(e.expert, diagnostics={"x": np.zeros(5)}), "diagnostic 'x' must have"),
    ],
)
def test_wrong_updates_are_refused(update: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fitted("gridworld", demo_of("gridworld"), update=update)


def test_wrong_wishes_are_refused() -> None:
    class Odd:
        def __init__(self, **wishes: Any) -> None:
            vars(self).update(wishes)

        def __call__(self, evidence: Evidence) -> Update:
            raise AssertionError

    demo = demo_of("vicsek")
    with pytest.raises(TypeError, match="unexpected keyword argument 'needs'"):
        Wants(needs="pairs")  # type: ignore[call-arg]
    for wants in ("pairs", ("pairs",), {"pairs": True}):
        with pytest.raises(InvalidInput, match="wants must be swarmdp.updates.Wants"):
            fitted("vicsek", demo, update=Odd(wants=wants))
    for softness in (-1, "soft", True, float("nan")):
        with pytest.raises(
            InvalidInput, match=f"softness must be (not negative|a finite number), got '?{softness}"
        ):
            fitted("vicsek", demo, update=Odd(wants=Wants(softness=softness)))  # type: ignore[arg-type]
    for wrong in (np.ones(36), np.full((2, 36), np.nan), "none"):
        with pytest.raises(InvalidInput, match="update's start must"):
            fitted("vicsek", demo, update=Odd(start=lambda evidence, w=wrong: w))
    with pytest.raises(InvalidInput, match="start must be a function from Evidence"):
        fitted("vicsek", demo, update=Odd(start=3))
    learner = HeterogeneousLearning(swarmdp.learning.BatchQ(), steps=3)
    with pytest.raises(
        InvalidInput, match="is learned with q_update=LocalModel.., not with BatchQ"
    ):
        fitted("vicsek", demo, update=Odd(wants=Wants(kernel=True)), learner=learner)

    def plain(system: Any, reward: Any, *, discount: float, seed: int, threads: Any) -> Any:
        raise AssertionError

    for update in ("max_margin", "maxent", Odd(wants=Wants(kernel=True))):
        with pytest.raises(InvalidInput, match="plain does not take wants, watch: a learner is"):
            fitted("vicsek", demo, update=update, learner=plain)
    mu = np.full(36, 10 / 36)
    with pytest.raises(InvalidInput, match="learns from the expert's actions, but feature expect"):
        fitted("vicsek", mu, update=Odd(wants=Wants(pairs=True)))


def test_weights_that_diverge_are_named() -> None:
    def eager(evidence: Evidence) -> Update:
        return Update(1e6 * (evidence.weights[-1] + evidence.expert - evidence.learned[-1]))

    with pytest.raises(SolverError, match="the weights diverge: the largest is .* Take a smaller"):
        fitted("gridworld", demo_of("gridworld"), update=eager)
    with pytest.raises(SolverError, match="the weights diverge: the largest is nan"):
        fitted("gridworld", demo_of("gridworld"), update=lambda e: Update(np.nan * e.expert))


@pytest.mark.parametrize(
    ("given", "change", "message"),
    [
        (np.ones(8), {}, r"shape \(9,\) or \(experiments, 9\), got shape \(8,\)"),
        (np.full(9, np.nan), {}, "finite numbers"),
        (np.full(9, 1 / 9), {}, "sum to 1 / .1 - discount. = 10, got sums from 1 to 1"),
        (np.full(9, 10 / 9) * np.array([-1, *[10 / 8] * 8]), {}, "must not be negative"),
        (["a"] * 9, {}, "must be numbers of shape"),
        ([[1.0, 2.0], [1.0]], {}, "rows of different lengths or something that is no number"),
        ("demo", {}, "Trajectory, or an array of feature expectations, got str"),
        (np.full(9, 10 / 9), {"discount": 1.0}, r"discount must be in \[0, 1\)"),
        (np.full(9, 10 / 9), {"learner": 3}, "learner must be"),
    ],
)
def test_bad_expectations_are_refused(given: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fitted("gridworld", given, **change)


def test_a_demo_of_another_mdp_is_refused() -> None:
    mdp, other = random_mdp(1), random_mdp(2)
    uniform = SoftPolicy(np.full((6, 3), 1 / 3))
    demo = swarmdp.rollout(mdp, uniform, steps=50, runs=5, seed=1)
    swarmdp.fit(mdp, demo, seed=1, iterations=1, judge=False)
    with pytest.raises(InvalidInput, match="recorded with digest"):
        swarmdp.fit(other, demo, seed=1, iterations=1, judge=False)
    assert isinstance(other, FiniteMDP)


def test_all_names_are_known() -> None:
    assert {"max_margin", "projection", "ng_russell", "mwal", "maxent"} <= set(ONLY_MU)
    assert {"policy_matching", "bayesian"} <= set(BY_ACTIONS)
    assert "maxent" in SOFT
