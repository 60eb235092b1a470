import math
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp import Vicsek
from swarmdp.model.streams import Purpose, Streams
from swarmdp.support.errors import InvalidInput
from tests import oracles

# Means of 200 runs of an independent prototype (t: order parameter, decimals given).
REFERENCE = {5: (0.49, 2), 10: (0.75, 2), 20: (0.92, 2), 50: (0.973, 3), 99: (0.977, 3)}
REFERENCE_TABLE = {5: (0.48, 2), 10: (0.75, 2), 20: (0.92, 2), 50: (0.970, 3), 99: (0.976, 3)}
REFERENCE_RUNS = 200


@pytest.fixture(scope="module")
def paper() -> Vicsek:
    return Vicsek()


def nearest_action_table(system: Vicsek) -> swarmdp.Policy:
    gap = np.abs(system.features.values[:, None] - system.actions)
    return swarmdp.Policy(gap.argmin(axis=1))


@pytest.mark.parametrize("kind", ["expert", "table"])
def test_order_parameter_agrees_with_the_reference(paper: Vicsek, kind: str) -> None:
    runs = 1000
    policy = paper.expert if kind == "expert" else nearest_action_table(paper)
    order = swarmdp.rollout(paper, policy, steps=99, runs=runs, seed=2026, record=paper.order)[
        "order"
    ]
    for time, (expected, decimals) in (REFERENCE if kind == "expert" else REFERENCE_TABLE).items():
        spread = order[:, time].std(ddof=1)
        error = spread * math.sqrt(1 / runs + 1 / REFERENCE_RUNS)
        rounding = 0.5 * 10**-decimals
        assert abs(order[:, time].mean() - expected) < 3 * error + rounding, f"t = {time}"


def test_order_of_a_disordered_swarm_and_its_ceiling(paper: Vicsek) -> None:
    runs = 400
    order = swarmdp.rollout(paper, paper.expert, steps=300, runs=runs, seed=7, record=paper.order)[
        "order"
    ]
    start = order[:, 0]
    expected = math.sqrt(math.pi) / (2 * math.sqrt(200))
    assert abs(start.mean() - expected) < 4 * start.std(ddof=1) / math.sqrt(runs)
    assert 0.97 < order[:, -1].mean() < math.exp(-(paper.noise**2) / 2)


def test_the_expert_obeys_the_equation_of_the_paper() -> None:
    """theta' = mean heading + noise, x' = x + v(theta): with the noise known."""
    system = Vicsek(n_agents=80)
    trajectory = swarmdp.rollout(system, system.expert, steps=4, runs=2, seed=11)
    streams = Streams.of(11, np.arange(2), 80)
    for t in range(4):
        noise = streams.at(t, Purpose.TRANSITION).normal(scale=system.noise)
        for r in range(2):
            position, heading = trajectory["position"][r, t], trajectory["heading"][r, t]
            near = oracles.neighbours(position, 0.1, 1.0)
            mean = np.angle((near * np.exp(1j * heading)).sum(axis=1))
            gap = trajectory["heading"][r, t + 1] - (mean + noise[r])
            np.testing.assert_allclose(np.angle(np.exp(1j * gap)), 0, atol=1e-9)
            step = 0.1 * np.stack([np.cos(heading), np.sin(heading)], axis=1)
            np.testing.assert_allclose(
                trajectory["position"][r, t + 1], (position + step) % 1.0, atol=1e-12
            )


def test_initial_distribution_is_uniform() -> None:
    from scipy import stats

    system = Vicsek(n_agents=20_000, box=3.0)
    state = system.initial(Streams.of(1, [0], 20_000).at(0, Purpose.INITIAL))
    for values, low, width in (
        (state["position"][0, :, 0], 0, 3),
        (state["position"][0, :, 1], 0, 3),
        (state["heading"][0], -math.pi, 2 * math.pi),
    ):
        assert stats.kstest(values, "uniform", (low, width)).pvalue > 1e-3


def test_paper_values_are_the_defaults(paper: Vicsek) -> None:
    assert (paper.n_agents, paper.radius, paper.speed, paper.box) == (200, 0.1, 0.1, 1.0)
    assert math.degrees(paper.noise) == pytest.approx(10)
    np.testing.assert_allclose(np.degrees(paper.actions), np.arange(-60, 61, 10))
    assert paper.features.size == 36


def test_zero_noise_keeps_an_aligned_swarm_aligned() -> None:
    system = Vicsek(n_agents=50, noise=0.0, radius=2.0)
    order = swarmdp.rollout(system, system.expert, steps=5, seed=1, record=system.order)["order"]
    np.testing.assert_allclose(order[0, 1:], 1.0, atol=1e-12)


def test_a_single_agent_walks_by_its_noise_alone() -> None:
    system = Vicsek(n_agents=1)
    trajectory = swarmdp.rollout(
        system, system.expert, steps=50, seed=1, record=["states", "observations"]
    )
    assert (trajectory["observations"] == 0).all()
    np.testing.assert_allclose(system.order(trajectory), 1.0)


def test_open_space_lets_agents_go() -> None:
    system = Vicsek(n_agents=30, periodic=False, speed=1.0)
    trajectory = swarmdp.rollout(system, system.expert, steps=20, seed=1)
    assert np.abs(trajectory["position"]).max() > 5
    moved = np.diff(trajectory["position"], axis=1)
    np.testing.assert_allclose(np.linalg.norm(moved, axis=-1), 1.0, atol=1e-12)


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("nearest", [1, 6, 29, 100])
def test_nearest_neighbours(nearest: int, periodic: bool) -> None:
    system = Vicsek(n_agents=30, nearest=nearest, periodic=periodic)
    state = system.initial(Streams.of(3, np.arange(4), 30).at(0, Purpose.INITIAL))
    observed = system.observe(state)
    for r in range(4):
        offset = state["position"][r][None] - state["position"][r][:, None]
        if periodic:
            offset -= np.round(offset)
        distance = np.linalg.norm(offset, axis=2)
        limit = np.sort(distance, axis=1)[:, min(nearest, 29)]
        near = distance <= limit[:, None]
        expected = oracles.misalignment(state["heading"][r], near)
        np.testing.assert_allclose(observed[r], expected, atol=1e-10)


def test_equally_near_agents_all_count() -> None:
    system = Vicsek(n_agents=5, nearest=1, periodic=False)
    cross = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    heading = np.array([0.0, 0.5, 0.6, 0.7, 0.8])
    observed = system.observe({"position": cross[None], "heading": heading[None]})
    everyone = np.angle(np.exp(1j * heading).sum())
    assert observed[0, 0] == pytest.approx(everyone)
    assert observed[0, 1] == pytest.approx(np.angle(np.exp(1j * heading[:2]).sum()) - 0.5)


def test_coincident_agents_are_neighbours_of_each_other() -> None:
    for system in (Vicsek(n_agents=4), Vicsek(n_agents=4, nearest=2)):
        heading = np.array([[0.0, 0.1, 0.2, 0.3]])
        observed = system.observe({"position": np.full((1, 4, 2), 0.25), "heading": heading})
        np.testing.assert_allclose(heading + observed, 0.15)


def test_distance_counts_across_the_boundary() -> None:
    system = Vicsek(n_agents=2, radius=0.1)
    position = np.array([[[0.0, 0.96], [0.95, 0.01]]])
    heading = np.array([[0.0, 1.0]])
    np.testing.assert_allclose(
        system.observe({"position": position, "heading": heading}), [[0.5, -0.5]]
    )
    open_space = Vicsek(n_agents=2, radius=0.1, periodic=False)
    assert (open_space.observe({"position": position, "heading": heading}) == 0).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_agents": -3}, "n_agents must be an integer of at least 1, got -3"),
        ({"n_agents": 2.5}, "n_agents must be an integer"),
        ({"radius": math.nan}, "radius must be a finite number, got nan"),
        ({"radius": 0.0}, "radius must be positive"),
        ({"noise": math.nan}, "noise must be a finite number, got nan"),
        ({"noise": -0.1}, "noise must be not negative"),
        ({"speed": math.inf}, "speed must be a finite number"),
        ({"box": 0}, "box must be positive"),
        ({"box": "1"}, "box must be a finite number"),
        ({"n_bins": 0}, "n_bins must be an integer of at least 1"),
        ({"turns": ()}, "turns must be angles"),
        ({"turns": (1.0, math.nan)}, "turns must be angles"),
        ({"turns": (60.0,)}, "turns must be angles from -pi to pi in radians"),
        ({"nearest": 0}, "nearest must be an integer of at least 1"),
    ],
)
def test_bad_settings_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Vicsek(**change)


def test_turns_that_are_not_finite_are_refused(paper: Vicsek) -> None:
    with pytest.raises(InvalidInput, match="turns must be finite"):
        swarmdp.rollout(paper, lambda o: o * np.nan, steps=1, seed=1)


def test_the_layout_of_a_state_does_not_matter() -> None:
    system = Vicsek(n_agents=30)
    streams = Streams.of(1, np.arange(3), 30)
    state = system.initial(streams.at(0, Purpose.INITIAL))
    other = {
        "position": np.moveaxis(np.moveaxis(state["position"], 2, 0).copy(), 0, 2),
        "heading": np.asfortranarray(state["heading"]),
    }
    np.testing.assert_array_equal(system.observe(other), system.observe(state))
    turn = system.observe(state)
    rng = [streams.at(0, Purpose.TRANSITION) for _ in range(2)]
    expected, moved = system.transition(state, turn, rng[0]), system.transition(other, turn, rng[1])
    for name in expected:
        np.testing.assert_array_equal(moved[name], expected[name])
    whole = {"position": np.full((1, 2, 2), 0.5), "heading": np.array([[0, 1]])}
    np.testing.assert_allclose(Vicsek(n_agents=2).observe(whole), [[0.5, -0.5]])


def test_the_largest_radius_makes_everybody_a_neighbour() -> None:
    heading = np.array([[0.0, 0.2, 0.4]])
    for radius in (10.0, 1e100):
        for periodic in (True, False):
            system = Vicsek(n_agents=3, radius=radius, periodic=periodic)
            state = {"position": np.random.default_rng(0).random((1, 3, 2)), "heading": heading}
            np.testing.assert_allclose(system.observe(state) + heading, 0.2)


def test_recorded_states_outside_the_box_are_refused() -> None:
    system = Vicsek(n_agents=5)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    shifted = {
        **demo.variables,
        "position": type(demo.variables["position"])(
            demo["position"] - 0.5, ("run", "time", "agent", "axis")
        ),
    }
    with pytest.raises(InvalidInput, match=r"positions must be in \[0, 1.0\)"):
        swarmdp.fit(
            system, swarmdp.Trajectory(**{**vars(demo), "variables": shifted}), seed=1, judge=False
        )


def test_its_repr_is_a_line() -> None:
    assert repr(Vicsek()) == "Vicsek(n_agents=200, radius=0.1, speed=0.1, noise=0.1745)"
    other = Vicsek(50, 0.2, turns=(-0.5, 0.0, 0.5), periodic=False)
    assert repr(other) == (
        "Vicsek(n_agents=50, radius=0.2, speed=0.1, noise=0.1745, turns=3 from -0.5 to 0.5, "
        "periodic=False)"
    )


def test_crowds_are_told_beforehand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("swarmdp.support.notices.somebody_looks", lambda: True)
    Vicsek(n_agents=10**5)
    assert capsys.readouterr().err == ""
    Vicsek(n_agents=10**6)
    told = capsys.readouterr().err
    assert "each of 1,000,000 agents has about 31,416 neighbours" in told
    assert "with a box of 70.7 it has as many as in the paper" in told
    Vicsek(n_agents=10**6, box=70.7)
    assert capsys.readouterr().err == ""
