"""What results, recordings, rewards and policies show in notebooks and data frames."""

import dataclasses
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Angles, Levels, Product
from swarmdp.model.features import Axis
from swarmdp.model.trajectory import Trajectory, Variable
from swarmdp.policies import Interface
from swarmdp.support.errors import InvalidInput
from swarmdp.support.markup import MOST_TABLE_ROWS, bars

HOSTILE = "<script>alert('no')</script>&\"'"


class Page(HTMLParser):
    """Reads HTML; fails if tags are not balanced or something is fetched or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.rows = 0
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ("div", "strong", "p", "table", "thead", "tbody", "tr", "th", "td", "span")
        assert [name for name, _ in attrs] in ([], ["style"])
        assert all("url" not in str(value) for _, value in attrs)
        self.open.append(tag)
        self.rows += tag == "tr"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


@pytest.fixture(scope="module")
def result() -> swarmdp.Result:
    vicsek = swarmdp.Vicsek(n_agents=30)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=50, runs=2, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=5, swarms=1)
    return swarmdp.fit(
        vicsek, demo, seed=4, iterations=3, learner=learner, separate=True, judge=False
    )


def hostile() -> Interface:
    features = Product(**{HOSTILE: Levels(2, units=HOSTILE), "angle": Angles(3)})  # type: ignore[arg-type]
    return Interface(HOSTILE, features, np.array([-0.5, 0.0, 0.5]), HOSTILE, 1)


def test_a_result_shows_itself(result: swarmdp.Result) -> None:
    page = Page(result._repr_html_())
    for word in ("Vicsek", "chosen iteration", "misalignment / degrees", "-180", "2 experiments"):
        assert word in page.text
    other = dataclasses.replace(result, system_name=HOSTILE, solutions=(HOSTILE, HOSTILE))
    assert HOSTILE in Page(other._repr_html_()).text


def test_a_result_as_a_data_frame(result: swarmdp.Result) -> None:
    frame = result.to_dataframe()
    assert list(frame) == ["iteration", "experiment", "distance", "margin", "chosen"]
    assert len(frame) == 6
    chosen = frame[frame.chosen].sort_values("experiment")
    np.testing.assert_array_equal(chosen.iteration, result.chosen)
    distance = result.history.distance[result.chosen, [0, 1]]
    np.testing.assert_array_equal(chosen.distance, distance)
    row = frame[(frame.iteration == 2) & (frame.experiment == 1)].iloc[0]
    assert row.margin == result.history.margin[2, 1]


def test_a_reward_shows_itself() -> None:
    blocks = ((Axis(HOSTILE, np.arange(2), HOSTILE),), (Axis("kind", np.array([HOSTILE, "b"])),))
    reward = swarmdp.Reward([[1.0, -2.0, 0.5, 0.0], [1.0, -2.0, 0.7, 0.0]], blocks)
    page = Page(reward._repr_html_())
    assert page.text.count(HOSTILE) >= 3
    for word in ("0.6", "-2", "standard deviation", "mean of 2 replicas"):
        assert word in page.text
    assert repr(reward) == (
        f"Reward: 2 replica(s), 4 weights\n  {HOSTILE} / {HOSTILE} (2)\n  kind (2)"
    )
    assert "standard deviation" not in Page(swarmdp.Reward([0.0, 0.0])._repr_html_()).text


def test_bars_begin_at_zero_and_go_to_both_sides() -> None:
    drawn = bars([1.0, -2.0, 0.0])
    assert [bar.begin for bar in drawn] == pytest.approx([2 / 3, 0.0, 2 / 3])
    assert [bar.size for bar in drawn] == pytest.approx([1 / 3, 2 / 3, 0.0])


def test_long_tables_are_cut() -> None:
    page = Page(swarmdp.Policy(np.arange(1000))._repr_html_())
    assert page.rows == MOST_TABLE_ROWS + 1
    assert f"and {1000 - MOST_TABLE_ROWS} more rows" in page.text


def test_policies_show_themselves() -> None:
    rng, interface = np.random.default_rng(1), hostile()
    policies: list[Any] = [
        swarmdp.Policy([[0, 1, 2, 0, 1, 2], [0, 0, 0, 0, 0, 0]], interface),
        swarmdp.policies.SoftPolicy(rng.dirichlet(np.ones(3), 6), interface),
        swarmdp.policies.InterpolatedPolicy(rng.normal(size=6), interface),
    ]
    for policy in policies:
        page = Page(policy._repr_html_())
        assert page.rows == 7
        assert HOSTILE in page.text
        assert "angle / degrees" in page.text
        assert type(policy).__name__ in page.text
        assert ("replica 0 of 2" in page.text) == (policy.replicas == 2)
    mixed = swarmdp.policies.MixedPolicy(policies[:1], [[1.0], [1.0]])
    assert "mixtures of 1 policies" in Page(mixed._repr_html_()).text


def test_policies_are_told_in_a_few_lines() -> None:
    vicsek = swarmdp.Vicsek()
    with_interface = swarmdp.Policy(np.zeros(36, int), Interface.of(vicsek))
    assert repr(with_interface) == (
        "Policy for Vicsek: 1 replica(s), 36 classes of observations\n"
        "  sees   misalignment / degrees (36 classes)\n"
        "  does   one of 13 actions, -60 to 60 degrees"
    )
    assert repr(swarmdp.Policy([0, 1])) == "Policy: 1 replica(s), 2 classes of observations"
    soft = swarmdp.policies.SoftPolicy(np.full((2, 3, 4), 0.25))
    assert repr(soft) == "SoftPolicy: 2 replica(s), 3 classes of observations, 4 actions"
    smooth = swarmdp.policies.InterpolatedPolicy(np.zeros(36), Interface.of(vicsek))
    assert "between the 13 actions, -60 to 60 degrees" in repr(smooth)


def test_policies_as_tables() -> None:
    rng, interface = np.random.default_rng(1), hostile()
    table = rng.integers(0, 3, (2, 6))
    frame = swarmdp.Policy(table, interface).to_dataframe()
    assert list(frame) == ["experiment", HOSTILE, "angle", "action_index", "action"]
    assert len(frame) == 12
    np.testing.assert_array_equal(frame.action_index, table.ravel())
    np.testing.assert_array_equal(frame.action, interface.actions[table.ravel()])
    np.testing.assert_allclose(frame.angle[:3], [-120, 0, 120])
    assert frame.attrs["units"] == {HOSTILE: HOSTILE, "angle": "degrees", "action": HOSTILE}

    chances = rng.dirichlet(np.ones(3), (2, 6))
    soft = swarmdp.policies.SoftPolicy(chances, interface)
    dataset = soft.to_xarray()
    assert dataset["probability"].dims == ("experiment", HOSTILE, "angle", "choice")
    np.testing.assert_array_equal(dataset["probability"], chances.reshape(2, 2, 3, 3))
    np.testing.assert_array_equal(dataset["choice"], interface.actions)
    frame = soft.to_dataframe()
    assert len(frame) == 12
    np.testing.assert_array_equal(frame.probability, chances.max(axis=2).ravel())
    np.testing.assert_array_equal(frame.action_index, soft.table.ravel())

    vicsek = swarmdp.Vicsek()
    values = rng.normal(size=36)
    smooth = swarmdp.policies.InterpolatedPolicy(values).to_xarray(vicsek)
    assert smooth["action"].attrs["units"] == "degrees"
    np.testing.assert_allclose(smooth["action"][0], np.degrees(values))
    assert list(swarmdp.Policy([0, 1]).to_dataframe()) == [
        "experiment",
        "observation",
        "action_index",
    ]
    with pytest.raises(InvalidInput, match="2 observations, but Vicsek has 36"):
        swarmdp.Policy([0, 1]).to_dataframe(vicsek)


def recorded() -> Trajectory:
    rng = np.random.default_rng(1)
    variables = {
        "site": Variable(np.arange(6).reshape(2, 3), ("run", "agent")),
        "position": Variable(
            rng.normal(size=(2, 5, 3, 2)), ("run", "time", "agent", "axis"), "m", HOSTILE
        ),
        "action": Variable(np.ones((2, 4, 3), bool), ("run", "step", "agent")),
        "order": Variable(rng.normal(size=(2, 5)), ("run", "time")),
        "mu": Variable(rng.normal(size=(2, 7)), ("run", "feature")),
    }
    return Trajectory(variables, HOSTILE, {}, runs=2, steps=4)


def test_a_trajectory_shows_itself() -> None:
    page = Page(recorded()._repr_html_())
    for word in (HOSTILE, "run 2 × time 5 × agent 3 × axis 2", "position", "float64"):
        assert word in page.text
    assert page.rows == 6


def test_a_trajectory_as_a_data_frame() -> None:
    trajectory = recorded()
    frame = trajectory.to_dataframe(["site", "position", "action", "order"])
    assert list(frame) == [
        *("run", "time", "agent"),
        *("site", "position_0", "position_1", "action", "order"),
    ]
    assert len(frame) == 2 * 5 * 3
    row = frame[(frame.run == 1) & (frame.time == 3) & (frame.agent == 2)].iloc[0]
    assert row.site == 5
    assert row.position_1 == trajectory["position"][1, 3, 2, 1]
    assert row.order == trajectory["order"][1, 3]
    assert frame.action.isna().sum() == 6
    assert (frame.action.isna() == (frame.time == 4)).all()
    assert frame.attrs["units"]["position"] == "m"

    assert list(trajectory.to_dataframe(["order"])) == ["run", "time", "order"]
    steps = trajectory.to_dataframe(["action"])
    assert list(steps) == ["run", "step", "agent", "action"]
    assert len(steps) == 24
    assert steps.action.dtype == bool
    assert len(trajectory.to_dataframe().columns) == 3 + 5 + 7
    assert trajectory.to_dataframe(["mu"]).shape == (2, 1 + 7)


def test_a_data_frame_that_is_too_long_is_refused() -> None:
    trajectory = recorded()
    with pytest.raises(InvalidInput, match="would have 30 rows, more than 29"):
        trajectory.to_dataframe(["position"], most_rows=29)
    assert len(trajectory.to_dataframe(["position"], most_rows=30)) == 30
    with pytest.raises(KeyError, match="was not recorded"):
        trajectory.to_dataframe(["colour"])
    with pytest.raises(InvalidInput, match="list of names"):
        trajectory.to_dataframe("position")
