import numpy as np
import pytest

import swarmdp
from swarmdp.judging.evaluation import measure_over_time, shown_times
from tests.examples import Robots, Sand


@pytest.fixture(scope="module")
def fitted() -> tuple[Robots, swarmdp.Trajectory, swarmdp.Result]:
    system = Robots()
    demo = swarmdp.rollout(system, system.expert, steps=50, runs=2, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=5)
    result = swarmdp.fit(
        system, demo, seed=2, iterations=2, separate=True, learner=learner, judge=False
    )
    return system, demo, result


Fitted = tuple[Robots, swarmdp.Trajectory, swarmdp.Result]


def test_it_is_what_roll_outs_give(fitted: Fitted) -> None:
    system, _, result = fitted
    evaluation = swarmdp.evaluate(result, system, runs=3, steps=12, seed=5)
    record = ["to_lamp", swarmdp.simulation.DiscountedFeatures(0.9)]
    common = {"steps": 12, "record": record}
    expert = swarmdp.rollout(system, system.expert, runs=3, seed=5, **common)  # type: ignore[arg-type]
    learned = swarmdp.rollout(system, result.policy, runs=4, seed=6, **common)  # type: ignore[arg-type]
    np.testing.assert_array_equal(evaluation.expert["to_lamp"], expert["to_lamp"])
    np.testing.assert_array_equal(evaluation.learned["to_lamp"], learned["to_lamp"])
    mu = learned["discounted_features"].reshape(2, 2, -1).mean(axis=0)
    gap = np.linalg.norm(mu - expert["discounted_features"].mean(axis=0), axis=1)
    np.testing.assert_allclose(evaluation.distance, gap, rtol=1e-12)


def test_it_can_be_looked_at(fitted: Fitted) -> None:
    system, _, result = fitted
    evaluation = swarmdp.evaluate(result, system, runs=4, seed=5)
    assert evaluation.steps == 50  # those of the fit
    table = evaluation.to_dataframe()
    assert len(table) == 2 * 2 * 51
    row = table[(table.measure == "lit") & (table.swarm == "learned") & (table.time == 50)].iloc[0]
    values = evaluation.learned["lit"][:, 50]
    assert row["mean"] == values.mean()
    assert row["standard_error"] == pytest.approx(values.std(ddof=1) / 2)
    assert row["quantile_90"] == np.quantile(values, 0.9)
    shown = repr(evaluation)
    assert "Evaluation of Robots, 50 steps" in shown
    assert "mean distance to the lamp / m" in shown
    assert f"{evaluation.expert['lit'][:, 50].mean():.5g}" in shown
    figure = evaluation.plot()
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "mean distance to the lamp / m",
        "robots in the light",
        *["learned\n− expert"] * 2,  # a strip below each
    ]
    assert figure.axes[1].get_ylim()[1] >= system.n_agents
    ax, _ = evaluation.plot(measure="lit").axes
    assert evaluation.plot(ax, colours=("red", "green")) is ax.get_figure()
    assert [line.get_color() for line in ax.lines[-2:]] == ["red", "green"]
    with pytest.raises(
        swarmdp.errors.InvalidInput, match="must be one of to_lamp, lit, got 'order'"
    ):
        evaluation.plot(measure="order")


def test_one_run_has_no_standard_error(fitted: Fitted) -> None:
    system, _, result = fitted
    evaluation = swarmdp.evaluate(result, system, runs=1, steps=3, seed=5)
    table = evaluation.to_dataframe()
    assert table[table.swarm == "expert"].standard_error.isna().all()


def test_a_recording_can_be_the_expert(fitted: Fitted) -> None:
    """Its measures are computed from its states, as a roll-out would record them."""
    system, demo, result = fitted
    evaluation = swarmdp.evaluate(result, system, expert=demo, runs=2, seed=5)
    live = swarmdp.rollout(
        system, system.expert, steps=50, runs=2, seed=1, record=["to_lamp", "lit"]
    )
    for name in system.measures:
        np.testing.assert_array_equal(evaluation.expert[name], live[name])
        np.testing.assert_array_equal(measure_over_time(system, live, name), live[name])
    np.testing.assert_allclose(evaluation.expert_mu, result.expert_mu.mean(axis=0))
    shorter = swarmdp.evaluate(result, system, expert=demo, steps=9, runs=2, seed=5)
    np.testing.assert_array_equal(shorter.expert["lit"], live["lit"][:, :10])
    with pytest.raises(swarmdp.errors.InvalidInput, match="has 50 steps, fewer than the 60"):
        swarmdp.evaluate(result, system, expert=demo, steps=60, seed=5)


def test_start_states_can_be_given(fitted: Fitted) -> None:
    system, demo, result = fitted
    start = {name: demo[name][0, 0] for name in ("place", "heading")}
    evaluation = swarmdp.evaluate(result, system, runs=2, steps=2, seed=5, initial=start)
    assert (evaluation.expert["to_lamp"][:, 0] == evaluation.learned["to_lamp"][0, 0]).all()


def test_a_system_without_expert_or_measures_says_so() -> None:
    system = Sand()
    demo = swarmdp.rollout(system, lambda o: (o > 0).astype(int), steps=50, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=5)
    result = swarmdp.fit(system, demo, seed=2, iterations=1, learner=learner, judge=False)
    with pytest.raises(swarmdp.errors.InvalidInput, match="Sand has no expert: give it a method"):
        swarmdp.evaluate(result, system, seed=1)
    evaluation = swarmdp.evaluate(result, system, expert=demo, runs=2, seed=1)
    assert evaluation.distance.shape == (1,)
    with pytest.raises(swarmdp.errors.InvalidInput, match="Sand has no measures to draw"):
        evaluation.plot()


def test_other_features_keep_the_expert_and_the_picture() -> None:
    system = swarmdp.model.with_features(
        Robots(), swarmdp.Product(light=swarmdp.Angles(4), neighbours=swarmdp.Levels(4))
    )
    seen = np.zeros((1, 12, 2))
    np.testing.assert_array_equal(system.expert(seen), Robots().expert(seen))  # type: ignore[attr-defined]
    sand = swarmdp.model.with_features(Sand(), swarmdp.Levels(3))
    with pytest.raises(swarmdp.errors.InvalidInput, match="Sand has no expert"):
        swarmdp.rollout(sand, sand.expert, steps=1, seed=1)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("steps", "times"), [(0, [0]), (2, [0, 1, 2]), (50, [0, 1, 2, 5, 10, 20, 50])]
)
def test_tables_show_the_first_and_the_last_time(steps: int, times: list[int]) -> None:
    assert shown_times(steps) == times
