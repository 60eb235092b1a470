import itertools
import json
import math
import warnings
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.model.features import Classes
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.testing import check_system
from swarmdp.recordings.calibration import Noise, Wandering, score_grid, within_classes
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.view import View
from swarmdp.recordings.view_calibration import best_edges
from swarmdp.simulation import visits
from swarmdp.support.errors import InvalidInput

Floats = NDArray[np.float64]
NOISE = math.radians(12)
ARENAS: dict[
    str,
    swarmdp.recordings.Circle
    | swarmdp.recordings.Box
    | swarmdp.recordings.Polygon
    | swarmdp.recordings.Periodic
    | None,
] = {
    "circle": swarmdp.recordings.Circle((1.0, -2.0), 6.0),
    "box": swarmdp.recordings.Box((-5.0, -7.0), (6.0, 4.0)),
    "polygon": swarmdp.recordings.Polygon(
        ((-6.0, -8.0), (7.0, -8.0), (7.0, 5.0), (0.0, 3.0), (-6.0, 5.0))
    ),
    "periodic": swarmdp.recordings.Periodic((12.0, 12.0)),
    "open": None,
}


def walkers(
    arena: swarmdp.recordings.Circle
    | swarmdp.recordings.Box
    | swarmdp.recordings.Polygon
    | swarmdp.recordings.Periodic
    | None,
    times: int = 300,
    agents: int = 12,
    seed: int = 0,
    align: float = 0.4,
) -> Floats:
    """Tracks of agents that turn towards the mean heading of all, by a share of the angle."""
    from swarmdp import kernels

    rng = np.random.default_rng(seed)
    place = (np.zeros(2) if arena is None else arena.middle) + rng.uniform(-2, 2, (1, agents, 2))
    heading = rng.uniform(-math.pi, math.pi, (1, agents))
    kind = kernels.space.OPEN if arena is None else arena.kind
    walls = np.zeros((1, 2)) if arena is None else arena.walls
    tracks = [place[0]]
    for _ in range(times - 1):
        mean = np.angle(np.exp(1j * heading).mean())
        turn = align * np.angle(np.exp(1j * (mean - heading)))
        turn = turn + NOISE * rng.normal(size=turn.shape)
        step = 0.5 * np.exp(0.2 * rng.normal(size=(1, agents)))
        place, heading, _ = kernels.recorded.turn_and_move(place, heading, turn, step, kind, walls)
        tracks.append(place[0])
    return np.stack(tracks)


def decisions_in(name: str, **more: float) -> Decisions:
    tracks = walkers(ARENAS[name], **more)  # type: ignore[arg-type]
    if name == "periodic":
        # A step over the edge is a jump in the tracks: a new segment.
        return swarmdp.Recording(tracks, fps=4, unit="cm").decisions(dt=0.25, jump=8)
    return swarmdp.Recording(tracks, fps=4, unit="cm").decisions(dt=0.25)


@pytest.fixture(scope="module")
def swarm() -> Swarm:
    return Swarm.from_recording(
        decisions_in("circle").train,
        swarmdp.recordings.Observation(neighbours=5),
        arena=ARENAS["circle"],
    )


@pytest.mark.parametrize("name", ARENAS)
def test_it_keeps_the_contract_of_a_system(name: str) -> None:
    observation = swarmdp.recordings.Observation(neighbours=4 if name != "box" else 3.0)
    made = Swarm.from_recording(decisions_in(name).train, observation, arena=ARENAS[name])
    check_system(made)
    symmetry = Symmetry.of(made)
    assert (symmetry is None) == (name == "polygon" and made.mirror is None)
    state = swarmdp.rollout(
        made, swarmdp.Policy(np.zeros(made.features.size, int)), steps=30, seed=1
    )
    if made.arena is not None and name != "periodic":
        _, _, side = made.arena.window
        assert np.abs(state["position"] - made.arena.middle).max() <= side


def test_same_seed_same_bits_whatever_the_batch_and_threads(swarm: Swarm) -> None:
    policy = swarmdp.Policy(np.arange(swarm.features.size) % len(swarm.actions))
    many = swarmdp.rollout(swarm, policy, steps=20, runs=9, seed=3, threads=3)
    again = swarmdp.rollout(swarm, policy, steps=20, runs=9, seed=3, threads=1)
    few = swarmdp.rollout(swarm, policy, steps=20, runs=2, seed=3, threads=1)
    for name in swarm.fields:
        assert np.array_equal(many[name], again[name])
        assert np.array_equal(many[name][:2], few[name])


@pytest.mark.parametrize("name", ARENAS)
def test_it_takes_whole_steps_with_the_bits_of_plain_ones(name: str) -> None:
    seen = swarmdp.recordings.Observation(
        neighbours=4 if name != "open" else 2.0, wall=3 if name == "box" else 5
    )
    made = Swarm.from_recording(decisions_in(name).train, seen, arena=ARENAS[name])
    turns = made.actions[
        np.random.default_rng(1).integers(len(made.actions), size=made.features.size)
    ]
    policy = swarmdp.Policy(np.searchsorted(made.actions, turns))
    # Or else plain steps would be compared with themselves.
    assert visits.visits_of(made, policy, numbers=np.arange(2), steps=2, seed=1) is not None
    record = ["states", "observations", "actions", swarmdp.simulation.DiscountedFeatures(0.9)]
    demand: dict[str, Any] = {"steps": 12, "runs": 3, "seed": 2, "record": record}
    whole = swarmdp.rollout(made, policy, **demand)
    plain = swarmdp.rollout(made, lambda seen: turns[made.features.index(seen)], **demand)
    assert set(whole) == set(plain)
    for key in whole:
        np.testing.assert_array_equal(whole[key], plain[key])
        assert whole[key].dtype == plain[key].dtype


def test_other_classes_and_subclasses_are_left_to_the_plain_path(swarm: Swarm) -> None:
    class Own(Swarm):
        pass

    def others(**parts: Classes) -> Swarm:
        features = swarmdp.Product(additive=False, **{**swarm.features.components, **parts})
        return replace(swarm, view=replace(swarm.view, features=features))

    for made, has_kernel in (
        (swarm, True),
        (Own(**vars_of(swarm)), False),
        (others(previous_turn=swarmdp.Bins([-1.0, 0.0, 1.0])), False),
        (others(wall=swarmdp.Levels(5)), False),
    ):
        policy = swarmdp.Policy(np.zeros(made.features.size, int))
        visited = visits.visits_of(made, policy, numbers=np.arange(2), steps=2, seed=1, threads=1)
        assert (visited is not None) == has_kernel


def vars_of(swarm: Swarm) -> dict[str, Any]:
    return {field.name: getattr(swarm, field.name) for field in fields(swarm)}


def test_noise_and_speeds_are_those_of_the_recording() -> None:
    decisions = decisions_in("open", times=600)
    made = Swarm.from_recording(
        decisions, swarmdp.recordings.Observation(neighbours=11), arena=None
    )
    # A standard deviation from n turns has a relative error of 1 / sqrt(2 n); classes are coarser
    # than the rule, which adds some of its turns to the noise.
    error = 1 / math.sqrt(2 * decisions.count)
    assert 1 - 4 * error < made.wobble.spread / NOISE < 1.1
    assert abs(made.wobble.memory) < 0.1
    still = swarmdp.Policy(np.full(made.features.size, len(made.actions) // 2))
    track = swarmdp.rollout(made, still, steps=100, runs=5, seed=1)
    simulated = np.linalg.norm(np.diff(track["position"], axis=1), axis=-1) / made.dt
    recorded = decisions.speeds[decisions.known]
    for share in (0.1, 0.5, 0.9):
        # Speeds are normal in their logarithm with a deviation of 0.2: quantiles of thousands of
        # them are known to 1 %.
        expected = np.quantile(recorded, share)
        assert np.quantile(simulated, share) == pytest.approx(expected, rel=0.03)


def test_noise_after_a_large_turn_is_large() -> None:
    rng = np.random.default_rng(0)
    size = np.empty((2000, 4))
    turns = np.empty((2000, 4))
    turns[0] = 0.1
    for t in range(1, 2000):
        size[t] = 0.1 + 0.6 * np.abs(turns[t - 1])
        turns[t] = np.clip(size[t] * rng.normal(size=4), -1, 1)
    heading = np.cumsum(turns, axis=0)
    steps = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    tracks = np.cumsum(np.concatenate([np.zeros((1, 4, 2)), steps]), axis=0)
    decisions = swarmdp.Recording(tracks, fps=1, unit="m").decisions(dt=1)
    alone = swarmdp.recordings.Observation(
        misalignment=0, bearing=0, spacing=0, wall=0, previous_turn=3
    )
    made = Swarm.from_recording(decisions, alone, arena=None)
    still = swarmdp.Policy(np.full(made.features.size, len(made.actions) // 2))
    turn = swarmdp.rollout(made, still, steps=1000, runs=2, seed=1)["turn"][:, 1:]
    # Noise that does not know the turn before would have a correlation of 0, known to 0.011; a few
    # classes of the turn before have most of it.
    expected = np.corrcoef(np.abs(turns[1:-1]).ravel(), np.abs(turns[2:]).ravel())[0, 1]
    actual = np.corrcoef(np.abs(turn[:, :-1]).ravel(), np.abs(turn[:, 1:]).ravel())[0, 1]
    assert expected > 0.2
    assert actual > expected / 2
    assert turn.std() == pytest.approx(turns[1:].std(), rel=0.1)


def test_an_anchored_policy_lies_between_habits_and_policy(swarm: Swarm) -> None:
    assert swarm.decisions is not None
    left = swarmdp.Policy(np.zeros(swarm.features.size, int))
    lowest, highest = swarm.actions.min(), swarm.actions.max()
    for weight in (0.0, 0.3, 1.0):
        mixed = swarm.anchored(left, weight)
        mean = mixed.probabilities[0] @ swarm.actions
        expected = (1 - weight) * swarm.habits + weight * lowest
        np.testing.assert_allclose(mean, np.clip(expected, lowest, highest), atol=1e-12)
    plausible = swarm.anchored(left)
    habit, wrong = swarm.anchored(left, 0.0), swarm.anchored(left, 1.0)
    best, worst = (swarm.turn_gain(table, swarm.decisions) for table in (habit, wrong))
    assert best > 0 > worst
    assert swarm.turn_gain(plausible, swarm.decisions) >= 0.5 * best
    right = swarmdp.Policy(np.full(swarm.features.size, len(swarm.actions) - 1))
    both = swarmdp.policies.MixedPolicy([left, right], [0.75, 0.25])
    mean = swarm.anchored(both, 0.4).probabilities[0] @ swarm.actions
    expected = 0.6 * swarm.habits + 0.4 * (0.75 * lowest + 0.25 * highest)
    np.testing.assert_allclose(mean, np.clip(expected, lowest, highest), atol=1e-12)


def test_a_wandering_number_has_its_distribution_and_memory() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_t(4, 20000)
    for correlation in (-0.3, 0.0, 0.6):
        made = Wandering.of(values, correlation)
        assert made.correlation(made.memory) == pytest.approx(correlation, abs=0.01)
        score = rng.normal(size=100000)
        after = made.memory * score + math.sqrt(1 - made.memory**2) * rng.normal(size=100000)
        first, then = (np.interp(scores, score_grid(), made.table) for scores in (score, after))
        # The error of a correlation of n pairs is about 1 / sqrt(n), more with heavy tails.
        assert np.corrcoef(first, then)[0, 1] == pytest.approx(correlation, abs=0.02)
        assert made.scores(np.array([np.nan]))[0] == 0.0


def test_variance_within_classes_needs_no_model(swarm: Swarm) -> None:
    view = swarm.view
    rng = np.random.default_rng(1)
    classes = rng.integers(view.features.size, size=20000)
    odd = rng.normal(size=view.features.size)
    odd = odd - odd[view.mirror]
    turns = odd[classes] + 0.3 * rng.normal(size=20000)
    assert within_classes(view, classes, turns) == pytest.approx(0.09, rel=6 * math.sqrt(2 / 20000))


def test_absent_agents_do_not_count() -> None:
    tracks = walkers(ARENAS["circle"], times=200)
    whole = swarmdp.Recording(tracks, fps=4, unit="cm").decisions(dt=0.25)
    made = Swarm.from_recording(
        whole.train, swarmdp.recordings.Observation(neighbours=5), arena=ARENAS["circle"]
    )
    gone = tracks.copy()
    gone[50:120, 3] = np.nan
    part = swarmdp.Recording(gone, fps=4, unit="cm").decisions(dt=0.25)
    demo = made.demo(part)
    assert demo.of_recording
    assert not demo["present"][0, 55:110, 3].any()
    assert all(np.isfinite(demo[name]).all() for name in made.fields)
    mu = swarmdp.fit(made, part, seed=1, iterations=1, judge=False).expert_mu
    index = made.features.index(demo["observations"][0])[demo["present"][0]]
    matrix = made.features.matrix
    assert matrix is not None
    average = matrix[index].mean(axis=0) / (1 - 0.9)
    expected = (average + average @ Symmetry(made, made.mirror).weights) / 2  # type: ignore[arg-type]
    np.testing.assert_allclose(mu[0], expected, atol=1e-9)


def test_fit_judge_evaluate_and_load(tmp_path: Path) -> None:
    decisions = decisions_in("circle", times=120)
    few = swarmdp.recordings.Observation(
        misalignment=5, bearing=0, spacing=0, previous_turn=0, neighbours=5
    )
    swarm = Swarm.from_recording(decisions.train, few, arena=ARENAS["circle"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
        result = swarmdp.fit(swarm, decisions.train, seed=1, iterations=2, resamples=2)
    assert len(result.verdicts) == 1
    assert result.reward_error is not None
    assert result.reward_error.shape == result.reward.weights.shape
    result.save(tmp_path / "fit")
    again = swarmdp.load(tmp_path / "fit")
    assert np.array_equal(again.reward.weights, result.reward.weights)
    json.dumps(swarm.settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)  # two iterations are few
        verdict = swarmdp.judge(
            result,
            decisions.test,
            system=swarm,
            seed=1,
            quick=True,
            baselines=("random", "clone", "vicsek"),
        )
    assert verdict.words
    assert {"random", "clone", "vicsek"} <= set(verdict.lines[0].baselines)
    with pytest.raises(InvalidInput, match='"clone", "vicsek"'):
        swarmdp.judge(
            result, decisions.test, system=swarm, seed=1, baselines=("boids",), quick=True
        )
    evaluation = swarmdp.evaluate(result, swarm, expert=decisions.test, seed=1, runs=4)
    assert set(evaluation.measures) == set(swarm.measures)
    assert swarm.picture(swarm.demo(decisions.test), 0).positions.shape[1] == swarm.n_agents


@pytest.mark.parametrize("update", ["policy_matching", "maxent", "projection"])
def test_other_updates_take_recordings(swarm: Swarm, update: str) -> None:
    assert swarm.decisions is not None
    small = Swarm.from_recording(
        swarm.decisions,
        swarmdp.recordings.Observation(
            misalignment=5, bearing=0, spacing=0, wall=3, previous_turn=0, neighbours=5
        ),
        arena=ARENAS["circle"],
    )
    result = swarmdp.fit(small, swarm.decisions, seed=1, iterations=2, update=update, judge=False)
    assert np.isfinite(result.reward.weights).all()


def test_pieces_of_tracks_become_agents() -> None:
    tracks = walkers(ARENAS["circle"], times=240, agents=8)
    pieces = np.full((240, 24, 2), np.nan)
    for third in range(3):
        rows = slice(80 * third, 80 * (third + 1))
        pieces[rows, 8 * third : 8 * (third + 1)] = tracks[rows]
    decisions = swarmdp.Recording(pieces, fps=4, unit="cm").decisions(dt=0.25)
    made = Swarm.from_recording(
        decisions, swarmdp.recordings.Observation(neighbours=3), arena=ARENAS["circle"]
    )
    assert made.n_agents == 8
    demo = made.demo(decisions)
    whole = swarmdp.Recording(tracks, fps=4, unit="cm").decisions(dt=0.25)
    # At each of the two seams each agent loses three decisions: it has no heading there, and the
    # turn before and the turn after are not known.
    assert demo["acting"].sum() == made.demo(whole)["acting"].sum() - 2 * 3 * 8


def test_wrong_arguments(swarm: Swarm) -> None:
    decisions = swarm.decisions
    assert decisions is not None
    with pytest.raises(InvalidInput, match="% of the rim .* arena="):
        Swarm.from_recording(decisions_in("open").train)
    with pytest.raises(InvalidInput, match="neighbours must be at most 11"):
        Swarm.from_recording(
            decisions, swarmdp.recordings.Observation(neighbours=12), arena=ARENAS["circle"]
        )
    with pytest.raises(InvalidInput, match="made from decisions every"):
        swarm.demo(swarmdp.Recording(walkers(None), fps=8, unit="cm").decisions(dt=0.5))
    with pytest.raises(InvalidInput, match=r"Swarm.from_recording\(decisions.train\), got Vicsek"):
        swarmdp.fit(swarmdp.Vicsek(), decisions, seed=1)
    with pytest.raises(InvalidInput, match="odd number of classes"):
        swarmdp.recordings.Observation(misalignment=4)


def known_rule() -> tuple[Swarm, swarmdp.policies.SoftPolicy]:
    """A swarm in a circle whose agents keep in line, together and off the wall."""
    features = swarmdp.Product(
        additive=True,
        misalignment=swarmdp.Bins([-np.inf, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, np.inf]),
        bearing=swarmdp.Angles(4),
        spacing=swarmdp.Bins([0.0, 0.6, 1.2, np.inf]),
        wall=swarmdp.Bins(np.arange(-2, 4) - 0.5),
    )
    view = View(features, 7, 0.0, 3.0, swarmdp.recordings.Circle((0.0, 0.0), 12.0), False)
    rng = np.random.default_rng(0)
    frames = {
        "position": rng.uniform(-4, 4, (40, 40, 2)),
        "heading": rng.uniform(-np.pi, np.pi, (40, 40)),
        "turn": np.zeros((40, 40)),
        "noise": rng.normal(size=(40, 40)),
        "pace": rng.normal(size=(40, 40)),
    }
    grid = score_grid()
    turns = tuple(np.radians([-40.0, -20.0, -8.0, 0.0, 8.0, 20.0, 40.0]).tolist())
    mis, bear, space, wall = np.meshgrid(*(axis.values for axis in features.axes), indexing="ij")
    turn = 0.5 * mis + 0.25 * np.sin(bear) * (space > 1) - 0.35 * np.sign(wall)
    swarm = Swarm(
        view,
        turns,
        Noise(NOISE * grid[None], np.zeros(0), 0.0, NOISE),
        Wandering(3 * np.exp(0.3 * grid), 0.5),
        frames,
        turn.ravel(),
        0.25,
        "BL",
        None,
        {},
    )
    return swarm, swarm.anchored(swarmdp.Policy(np.zeros(features.size, int)), 0.0)


def test_a_known_rule_is_found_in_spoiled_tracks() -> None:
    """40 agents, four frames a decision, 5 % gaps, errors of positions, swaps of identities."""
    truth, policy = known_rule()
    x = swarmdp.rollout(truth, policy, steps=220, seed=11)["position"][0][40:]
    share = np.arange(4)[:, None, None] / 4
    frames = np.concatenate([a + share * (b - a) for a, b in itertools.pairwise(x)])
    rng = np.random.default_rng(1)
    tracks = frames + 0.03 * rng.normal(size=frames.shape)
    times, agents, _ = tracks.shape
    for _ in range(int(0.05 * times * agents / 6)):
        t, n = rng.integers(times), rng.integers(agents)
        tracks[t : t + rng.integers(1, 12), n] = np.nan
    for t, n in zip(rng.integers(times, size=4), rng.integers(agents, size=4), strict=True):
        other = np.argsort(np.linalg.norm(frames[t] - frames[t, n], axis=1))[1]
        tracks[t:, [n, other]] = tracks[t:, [other, n]]
    decisions = swarmdp.Recording(tracks, fps=16, unit="BL").decisions(dt=0.25)
    assert decisions.error == pytest.approx(0.03 * math.sqrt(17 / 35), rel=0.1)  # smoothed
    made = Swarm.seeing(truth.view, decisions, turns=truth.choices)
    assert made.wobble.spread == pytest.approx(NOISE, rel=0.1)
    classes = made.view.classes(decisions)
    seen = classes[classes >= 0]
    turns = policy.probabilities[0] @ truth.actions
    assert np.corrcoef(turns[seen], made.habits[seen])[0, 1] > 0.95
    result = swarmdp.fit(made, decisions, seed=1, iterations=3, judge=False)
    assert isinstance(result.policy, swarmdp.Policy)
    learned = made.actions[result.policy.table[0]]
    assert np.corrcoef(turns[seen], learned[seen])[0, 1] > 0.6


def test_edges_are_where_turns_change() -> None:
    rng = np.random.default_rng(0)
    values = rng.uniform(-2, 2, 4000)
    group = rng.integers(3, size=4000)
    turns = 0.3 * np.sign(values) * (np.abs(values) > 0.7) * (1 + group)
    turns = turns + 0.2 * rng.normal(size=4000)
    both = np.concatenate([values, -values]), np.concatenate([turns, -turns])
    groups = np.concatenate([group, group])
    edges = best_edges(*both, groups, 3, symmetric=True)
    assert edges is not None
    # There are 80 places for an edge, 0.025 apart.
    np.testing.assert_allclose(edges, [-0.7, 0.7], atol=0.03)
    spacing = rng.uniform(0, 3, 4000)
    turns = np.where(spacing > 1.0, 0.4, 0.0) * (2 * group - 1) + 0.2 * rng.normal(size=4000)
    edge = best_edges(spacing, turns, group, 2, symmetric=False)
    assert edge is not None
    np.testing.assert_allclose(edge, [1.0], atol=0.04)
    assert best_edges(np.zeros(10), np.zeros(10), np.zeros(10, int), 7, symmetric=True) is None


def test_only_neighbours_in_reach_must_be_recorded(swarm: Swarm) -> None:
    assert swarm.decisions is not None
    whole = swarm.decisions
    assert swarm.view.complete(whole)[whole.known].all()
    hidden = whole.known.copy()
    hidden[20, 3] = False
    seen = swarm.view.complete(replace(whole, known=hidden))
    gaps = np.linalg.norm(whole.positions[20] - whole.positions[20, 3], axis=1)
    assert not seen[20, np.argsort(gaps)[1]]
    others = np.arange(whole.times) != 20
    assert seen[others][whole.known[others]].all()


def test_simulated_turns_remember_as_recorded_ones_do() -> None:
    rng = np.random.default_rng(0)
    turns, turn = [], np.zeros(6)
    for _ in range(800):
        turn = 0.5 * turn + 0.2 * rng.normal(size=6)
        turns.append(turn)
    heading = np.cumsum(turns, axis=0)
    steps = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    tracks = np.cumsum(np.concatenate([np.zeros((1, 6, 2)), steps]), axis=0)
    decisions = swarmdp.Recording(tracks, fps=1, unit="m").decisions(dt=1)
    few = swarmdp.recordings.Observation(misalignment=3, bearing=0, spacing=0, neighbours=5)
    made = Swarm.from_recording(decisions, few, arena=None)
    clone = made.anchored(swarmdp.Policy(np.zeros(made.features.size, int)), 0.0)
    simulated = swarmdp.rollout(made, clone, steps=400, runs=4, seed=1)["turn"][:, 1:]
    # 10000 pairs: an error of 0.01, and about 0.015 of the recording.
    correlation = (simulated[:, 1:] * simulated[:, :-1]).mean() / (simulated**2).mean()
    assert correlation == pytest.approx(0.5, abs=0.08)


def test_a_recording_that_changed_is_too_little_data() -> None:
    decisions = decisions_in("circle", times=150)
    few = swarmdp.recordings.Observation(
        misalignment=3, bearing=0, spacing=0, previous_turn=0, neighbours=5
    )
    swarm = Swarm.from_recording(decisions.train, few, arena=ARENAS["circle"])
    clone = swarm.anchored(swarmdp.Policy(np.zeros(swarm.features.size, int)), 0.0)
    middle = np.array([1.0, -2.0])
    spread = replace(decisions.test, positions=middle + 0.2 * (decisions.test.positions - middle))
    with pytest.warns(swarmdp.errors.VerdictWarning, match="the recording itself changed"):
        verdict = swarmdp.judge(clone, spread, system=swarm, seed=1, quick=True, runs=20)
    assert verdict.words.startswith("too little data")
    assert not verdict.reproduces
