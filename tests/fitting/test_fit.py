"""Algorithm 1 as a whole: `swarmdp.fit` and its result."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Result
from swarmdp.fitting.fit import FitInterrupted
from swarmdp.irl.algorithm import Value, generic_irl, random_reward
from swarmdp.irl.expectations import exact_expectations
from swarmdp.irl.search import newest
from swarmdp.irl.updates.evidence import Evidence
from swarmdp.learning import HeterogeneousLearning
from swarmdp.model.rewards import Reward
from swarmdp.model.symmetry import Symmetry
from swarmdp.policies import Policy
from swarmdp.policies.learner import Learned
from swarmdp.policies.replicas import table_of
from swarmdp.support.errors import FileError, InvalidInput
from swarmdp.support.netcdf import write_dataset
from tests.results import assert_same, not_none

SMALL = swarmdp.Vicsek(n_agents=40)
QUICK: dict[str, Any] = {
    "learner": HeterogeneousLearning(steps=20, swarms=2),
    "iterations": 4,
    "evaluations": 2,
}


@pytest.fixture(scope="module")
def demo() -> swarmdp.Trajectory:
    return swarmdp.rollout(SMALL, SMALL.expert, steps=50, runs=3, seed=1)


@pytest.fixture(scope="module")
def fitted(demo: swarmdp.Trajectory) -> Result:
    return swarmdp.fit(SMALL, demo, seed=2, separate=True, **QUICK, judge=False)


def test_the_default_learns_to_fly_like_the_expert() -> None:
    """Ten experiments from one trajectory each; the study in docs/ has a hundred."""
    vicsek, experiments = swarmdp.Vicsek(), 10
    demos = swarmdp.rollout(vicsek, vicsek.expert, steps=100, runs=experiments, seed=11)
    result = swarmdp.fit(vicsek, demos, seed=12, separate=True, judge=False)
    learned = (
        swarmdp.rollout(
            vicsek, result.policy, steps=100, runs=20 * experiments, seed=13, record=vicsek.order
        )["order"]
        .reshape(20, experiments, -1)
        .mean(axis=0)
    )
    assert (learned[:, 100] > 0.95).all()
    expert = swarmdp.rollout(
        vicsek, vicsek.expert, steps=100, runs=400, seed=14, record=vicsek.order
    )["order"].mean(axis=0)
    assert abs(learned[:, 50].mean() - expert[50]) < 0.015
    peak = vicsek.features.axes[0].values[result.reward.weights.mean(axis=0).argmax()]
    assert abs(np.degrees(peak)) <= 10


@pytest.mark.parametrize("periodic", [True, False])
def test_the_default_learns_the_majority_vote(periodic: bool) -> None:
    ising = swarmdp.Ising((50, 50), periodic=periodic)
    demo = swarmdp.rollout(ising, ising.expert, steps=60, seed=1)
    result = swarmdp.fit(ising, demo, seed=2, iterations=8, judge=False)
    energy, expert = (
        swarmdp.rollout(ising, policy, steps=60, runs=100, seed=seed, record=ising.energy)["energy"]
        for seed, policy in ((3, result.policy), (4, ising.expert))
    )
    # Both sides: who flips at a tie ends at about 0.7 of the expert's energy.
    for time, tolerance in ((5, 0.03), (20, 0.06), (60, 0.1)):
        ratio = energy[:, time].mean() / expert[:, time].mean()
        assert abs(ratio - 1) < tolerance, f"t = {time}"
    assert result.solutions == ("majority vote",)
    assert "majority vote" in repr(result)


def test_shapes_and_choice(fitted: Result) -> None:
    history = fitted.history
    assert history.weights.shape == history.mu.shape == (4, 3, 36)
    assert len(history.policies) == 4
    for iteration in fitted.iterations:
        assert iteration.seen is not None
        assert table_of(iteration.policy).shape == iteration.seen.shape == (3, 36)
    assert history.distance.shape == history.margin.shape == (4, 3)
    assert history.mixture.shape == (4, 3, 4)
    assert fitted.choice is not None  # by fresh roll-outs
    gap = np.linalg.norm(fitted.expert_mu - fitted.choice.mu, axis=1)
    np.testing.assert_array_equal(fitted.distance, gap)
    np.testing.assert_array_equal(fitted.margin, history.margin[-1])
    for r, i in enumerate(fitted.chosen):
        np.testing.assert_array_equal(table_of(fitted.policy)[r], table_of(history.policies[i])[r])
        np.testing.assert_array_equal(fitted.reward.weights[r], history.weights[i, r])
    np.testing.assert_allclose(history.mixture.sum(axis=2), 1)
    np.testing.assert_allclose(np.linalg.norm(history.weights, axis=2), 1)


def test_the_margin_never_rises_and_is_below_the_distance(fitted: Result) -> None:
    history = fitted.history
    assert (np.diff(history.margin, axis=0) <= 1e-9).all()
    assert (history.margin <= np.minimum.accumulate(history.distance, axis=0) + 1e-9).all()


def test_repeats_are_identical_bit_for_bit(demo: swarmdp.Trajectory, fitted: Result) -> None:
    for threads in (1, 2):
        again = swarmdp.fit(
            SMALL, demo, seed=2, separate=True, threads=threads, **QUICK, judge=False
        )
        assert_same(again, fitted)


def test_an_experiment_does_not_depend_on_its_batch(
    demo: swarmdp.Trajectory, fitted: Result
) -> None:
    first = swarmdp.rollout(SMALL, SMALL.expert, steps=50, runs=1, seed=1)
    alone = swarmdp.fit(SMALL, first, seed=2, **QUICK, judge=False)
    assert_same(fitted, alone, slice(0, 1))


def test_a_fit_does_not_depend_on_the_names_of_the_agents(demo: swarmdp.Trajectory) -> None:
    order = np.random.default_rng(0).permutation(40)
    variables = {
        name: type(v)(np.ascontiguousarray(v.values[:, :, order]), v.axes, v.units, v.description)
        for name, v in demo.variables.items()
    }
    renamed = swarmdp.Trajectory(**{**vars(demo), "variables": variables})
    assert_same(
        swarmdp.fit(SMALL, demo, seed=2, **QUICK, judge=False),
        swarmdp.fit(SMALL, renamed, seed=2, **QUICK, judge=False),
    )


def test_runs_are_pooled_into_one_estimate(demo: swarmdp.Trajectory, fitted: Result) -> None:
    pooled = swarmdp.fit(SMALL, demo, seed=2, **QUICK, judge=False)
    assert pooled.experiments == 1
    np.testing.assert_allclose(pooled.expert_mu[0], fitted.expert_mu.mean(axis=0))
    spread = fitted.expert_mu.std(axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(pooled.expert_mu_error[0], spread)
    assert np.isnan(fitted.expert_mu_error).all()


def test_the_first_reward(demo: swarmdp.Trajectory, fitted: Result) -> None:
    expected = fitted.expert_mu / np.linalg.norm(fitted.expert_mu, axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.history.weights[0], expected)
    random = swarmdp.fit(
        SMALL, demo, seed=2, separate=True, first_reward="random", **QUICK, judge=False
    )
    assert not np.allclose(random.history.weights[0], expected, atol=0.1)
    np.testing.assert_array_equal(
        random_reward(3, (5, 7)).weights[:2], random_reward(3, (2, 7)).weights
    )


def test_the_single_agent_estimator(demo: swarmdp.Trajectory) -> None:
    single = swarmdp.fit(
        SMALL, demo, seed=2, estimator="single", separate=True, **QUICK, judge=False
    )
    from swarmdp.irl.expectations import feature_expectations

    symmetry = Symmetry.of(SMALL)
    assert symmetry is not None
    mu = feature_expectations(SMALL, demo, estimator="single")
    np.testing.assert_array_equal(single.expert_mu, symmetry.even(mu))
    assert single.settings["estimator"] == "single"


def test_saved_results_come_back_and_go_on(
    demo: swarmdp.Trajectory, fitted: Result, tmp_path: Path
) -> None:
    short = swarmdp.fit(
        SMALL, demo, seed=2, separate=True, **{**QUICK, "iterations": 2}, judge=False
    )
    assert short.save(tmp_path / "fit") == tmp_path / "fit" / "result.nc"
    loaded = swarmdp.load(tmp_path / "fit")
    assert_same(loaded, short)
    assert repr(loaded) == repr(short)
    assert (loaded.settings, loaded.seed, loaded.version) == (
        short.settings,
        short.seed,
        swarmdp.__version__,
    )
    longer = swarmdp.fit(SMALL, demo, seed=2, separate=True, resume=loaded, **QUICK, judge=False)
    assert_same(longer, fitted)
    assert_same(swarmdp.load(tmp_path / "fit" / "result.nc"), short)


def test_resuming_with_other_settings_is_refused(demo: swarmdp.Trajectory, fitted: Result) -> None:
    common: dict[str, Any] = {"separate": True, "resume": fitted, **QUICK}
    with pytest.raises(InvalidInput, match="had seed 2, not 3"):
        swarmdp.fit(SMALL, demo, seed=3, **common, judge=False)
    with pytest.raises(InvalidInput, match="had evaluations = 2, this one has 3"):
        swarmdp.fit(SMALL, demo, seed=2, **{**common, "evaluations": 3}, judge=False)
    other = swarmdp.rollout(SMALL, SMALL.expert, steps=50, runs=3, seed=9)
    with pytest.raises(InvalidInput, match="from another demo"):
        swarmdp.fit(SMALL, other, seed=2, **common, judge=False)


def test_damaged_results_are_refused(fitted: Result, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"the folder has no result\.nc"):
        swarmdp.load(tmp_path)
    dataset = fitted.to_xarray()
    dataset.attrs["format"] = 9
    write_dataset(tmp_path / "result.nc", dataset)
    with pytest.raises(FileError, match="in format 9"):
        swarmdp.load(tmp_path)
    write_dataset(tmp_path / "lost.nc", fitted.to_xarray().drop_vars("mixture"))
    with pytest.raises(FileError, match="mixture"):
        swarmdp.load(tmp_path / "lost.nc")


def test_the_reward_has_physical_units(fitted: Result) -> None:
    table = fitted.reward.table()
    assert table.dims == ("experiment", "misalignment")
    assert table["misalignment"].attrs["units"] == "degrees"
    np.testing.assert_allclose(table["misalignment"], np.arange(-180, 180, 10), atol=1e-9)
    np.testing.assert_array_equal(table, fitted.reward.weights)


def test_the_result_says_what_was_never_visited() -> None:
    lonely = swarmdp.Vicsek(n_agents=1)
    demo = swarmdp.rollout(lonely, lonely.expert, steps=50, seed=1)
    result = swarmdp.fit(
        lonely,
        demo,
        seed=2,
        learner=HeterogeneousLearning(steps=5, swarms=1),
        judge=False,
    )
    np.testing.assert_array_equal(not_none(result.seen)[0], np.arange(36) == 18)
    assert "never visited      up to 35 observations" in repr(result)


def test_an_expert_that_is_found_exactly_ends_the_fit() -> None:
    """A lonely agent's observation is always zero: the first policy already matches."""
    lonely = swarmdp.Vicsek(n_agents=1)
    demo = swarmdp.rollout(lonely, lonely.expert, steps=50, seed=1)
    result = swarmdp.fit(lonely, demo, seed=2, iterations=20, judge=False)
    assert len(result.iterations) == 1
    assert result.margin[0] == 0
    assert result.distance[0] == pytest.approx(0, abs=1e-9)
    again = swarmdp.fit(lonely, demo, seed=2, iterations=20, resume=result, judge=False)
    assert len(again.iterations) == 1


def test_what_is_done_is_saved_while_it_goes_on(
    demo: swarmdp.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swarmdp.fitting.fit.CHECKPOINT_SECONDS", 0)
    counts = []
    swarmdp.fit(
        SMALL,
        demo,
        seed=2,
        checkpoint=tmp_path,
        progress=lambda *reported: counts.append(len(swarmdp.load(tmp_path).iterations)),
        **QUICK,
        judge=False,
    )
    assert counts == [1, 2, 3, 4, 4, 4]  # the last two: while the policy is chosen, and after it


def test_what_is_done_is_saved_whatever_ends_it(demo: swarmdp.Trajectory, tmp_path: Path) -> None:
    def fail(done: int, total: int, text: str) -> None:
        if done == 2:
            raise RuntimeError("the second iteration fails")

    with pytest.raises(RuntimeError, match="second iteration"):
        swarmdp.fit(SMALL, demo, seed=2, checkpoint=tmp_path, progress=fail, **QUICK, judge=False)
    assert len(swarmdp.load(tmp_path).iterations) == 2


def test_an_interrupt_while_a_file_is_made_is_not_lost(tmp_path: Path) -> None:
    """In the main thread the HDF5 library would swallow it."""
    program = f"""
import os, signal, sys, threading
import h5netcdf
import swarmdp
make = h5netcdf.File.__init__

def interrupted(*arguments, **options):
    assert threading.current_thread() is not threading.main_thread()
    os.kill(os.getpid(), signal.SIGINT)
    return make(*arguments, **options)

demo = swarmdp.rollout(swarmdp.Ising((5, 5)), swarmdp.Ising((5, 5)).expert, steps=3, seed=1)
h5netcdf.File.__init__ = interrupted
try:
    demo.save({str(tmp_path / "demo.nc")!r})
except KeyboardInterrupt:
    sys.exit(7)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 7, done.stderr


def test_only_a_fit_of_the_same_system_is_resumed() -> None:
    mu = exact_expectations(
        swarmdp.Gridworld(),
        swarmdp.learning.plan(swarmdp.Gridworld(), swarmdp.Gridworld().reward, discount=0.9).policy,
        discount=0.9,
        steps=None,
    )
    first = swarmdp.fit(
        swarmdp.Gridworld(), mu, seed=1, iterations=2, first_reward="random", judge=False
    )
    with pytest.raises(InvalidInput, match=r"was of Gridworld .*'wind': 0.3.* this one is of"):
        swarmdp.fit(
            swarmdp.Gridworld(wind=0.0),
            mu,
            seed=1,
            resume=first,
            first_reward="random",
            judge=False,
        )
    with pytest.raises(InvalidInput, match="resume must be a Result or None, got 'folder'"):
        swarmdp.fit(
            swarmdp.Gridworld(),
            mu,
            seed=1,
            resume="folder",  # type: ignore[arg-type]
            first_reward="random",
            judge=False,
        )
    shorter = swarmdp.fit(
        swarmdp.Gridworld(),
        mu,
        seed=1,
        iterations=1,
        first_reward="random",
        resume=first,
        judge=False,
    )
    assert len(shorter.iterations) == 1


def test_settings_that_cannot_be_saved_are_refused_at_once(demo: swarmdp.Trajectory) -> None:
    class Custom(HeterogeneousLearning):
        pass

    learner = Custom(steps=5)
    object.__setattr__(learner, "q_update", SimpleNamespace(mirrors=False))
    with pytest.raises(InvalidInput, match="must be plain data"):
        swarmdp.fit(SMALL, demo, seed=1, learner=learner, judge=False)


def test_iterations_after_an_experiment_is_finished_do_not_count() -> None:
    """Two experiments side by side: the first reaches its expert at once, the second never."""

    learned = Learned(Policy(np.zeros((2, 3), int)), seen=np.ones((2, 3), bool))
    expert = np.array([[1.0, 0.0, 0.0], [0.0, 5.0, 0.0]])
    estimates = iter([np.array([[1.0, 0, 0], [0, 1.0, 0]]), np.array([[9.0, 0, 0], [0, 0.5, 0]])])

    none = np.empty((0, 2, 3))
    done = list(
        generic_irl(
            expert_data=lambda: Evidence(expert, none, none, 0.9, 3, 2, seed=0),
            initialization=lambda evidence: Reward(expert),
            policy_update=lambda reward, i: learned,
            value_estimation=lambda policy, reward, i: Value(next(estimates)),
            reward_update=swarmdp.updates.MaxMargin(),
            next_reward=newest,
            iterations=2,
        )
    )
    np.testing.assert_array_equal(done[0].margin > 0, [False, True])
    np.testing.assert_array_equal(done[0].next_weights[0], expert[0])
    result = Result(
        tuple(done), expert, expert, swarmdp.Levels(3).blocks, 1e-6, "X", {}, {}, seed=0
    )
    np.testing.assert_array_equal(result.chosen, [0, 0])


def test_progress_and_interruption(demo: swarmdp.Trajectory, fitted: Result) -> None:
    seen: list[tuple[int, int, str]] = []

    def tell(done: int, total: int, text: str) -> None:
        seen.append((done, total, text))
        if done == 2 and len(seen) < 4:
            raise KeyboardInterrupt

    with pytest.raises(FitInterrupted) as stopped:
        swarmdp.fit(SMALL, demo, seed=2, separate=True, progress=tell, **QUICK, judge=False)
    partial = stopped.value.result
    assert len(partial.iterations) == 2
    seen.clear()
    whole = swarmdp.fit(
        SMALL, demo, seed=2, separate=True, resume=partial, progress=tell, **QUICK, judge=False
    )
    assert_same(whole, fitted)
    # The last part is the choice of the policy.
    assert [report[:2] for report in seen] == [(3, 5), (4, 5), (4, 5), (5, 5)]
    nearest = fitted.history.distance.min(axis=0).mean()
    means = f"distance {nearest:.3f}  margin {fitted.margin.mean():.3f}"
    assert seen[1][2] == f"iteration 4 of 4  {means}"


def test_the_paper_s_preset(demo: swarmdp.Trajectory) -> None:
    result = swarmdp.fit(SMALL, demo, seed=2, preset="paper", iterations=1, judge=False)
    learner = result.settings["learner"]
    assert learner["q_update"] == {"kind": "SequentialQ"}
    assert (learner["steps"], learner["exploration"], learner["swarms"]) == (200, "fixed", 1)
    assert result.settings["evaluations"] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"update": "max_margn"}, "update must be one of max_margin"),
        ({"preset": "fast"}, "preset must be"),
        ({"preset": "paper"}, "preset sets learner and evaluations itself"),
        ({"first_reward": "zero"}, "first_reward must be"),
        ({"iterations": 0}, "iterations must be an integer of at least 1"),
        ({"evaluations": 0}, "evaluations must be an integer of at least 1"),
        ({"estimator": "all"}, "estimator must be"),
        ({"discount": 1.0}, r"discount must be in \[0, 1\)"),
        ({"discount": -0.1}, r"discount must be in \[0, 1\)"),
        ({"discount": 0.99}, "too short for a discount of 0.99"),
        ({"discount": "0.9"}, r"in \[0, 1\) or \"auto\", got '0.9'"),
        ({"tolerance": float("nan")}, "tolerance must be a finite number, got nan"),
        ({"seed": -1}, "seed must be"),
        ({"seed": True}, "seed must be an integer, got True"),
    ],
)
def test_bad_arguments_are_refused_before_any_work(
    demo: swarmdp.Trajectory, change: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*args: object, **kwargs: object) -> None:
        raise AssertionError("long work started")

    monkeypatch.setattr(HeterogeneousLearning, "__call__", work)
    with pytest.raises(InvalidInput, match=message):
        swarmdp.fit(SMALL, demo, **{"seed": 2, **QUICK, **change}, judge=False)


def test_a_demo_of_another_system_is_refused(demo: swarmdp.Trajectory) -> None:
    with pytest.raises(InvalidInput, match="recorded with n_agents = 40, but the system has 200"):
        swarmdp.fit(swarmdp.Vicsek(), demo, seed=1, judge=False)
    with pytest.raises(InvalidInput, match="recorded from Vicsek, not from Ising"):
        swarmdp.fit(swarmdp.Ising(), demo, seed=1, judge=False)


def test_a_user_s_own_system_can_be_fitted() -> None:
    from tests.examples import snippets

    namespace: dict[str, Any] = {}
    exec(snippets("docs/your-own-system.md")[0], namespace)
    system = namespace["Robots"]()
    demo = swarmdp.rollout(system, system.expert, steps=100, seed=1)
    result = swarmdp.fit(system, demo, seed=2, iterations=5, judge=False)
    assert result.reward.weights.shape == (1, 9 * 4)
    light, neighbours = (axis.shown for axis in result.blocks[0])
    assert (light.name, light.units) == ("light", "degrees")
    assert (neighbours.name, neighbours.units) == ("neighbours", "1")
