"""Actions that nobody recorded are explained by what they led to."""

import dataclasses
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from studies.battery import development
from swarmdp.envs import from_step
from swarmdp.irl import inference
from swarmdp.irl.inference import Explanation, explain
from swarmdp.irl.matching import table_of
from swarmdp.model.adapted import with_features
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.trajectory import Variable
from tests.envs import simulators as given

CASES = {case.name: case for case in development.cases()}
ISING = swarmdp.Ising(shape=(8, 8), reach=1)
VICSEK = swarmdp.Vicsek(n_agents=30)
CERTAIN: dict[str, Any] = {
    "ising": ISING,
    "moths": CASES["moths"].system,
    "dispersion": CASES["dispersion"].system,
}  # with no noise, or so little that actions are never confused
NOISY: dict[str, Any] = {
    "vicsek": VICSEK,
    **{name: CASES[name].system for name in ("fireflies", "clocks", "locusts", "colours")},
}


def demo(system: Any, record: Any = "states", steps: int = 30, runs: int = 3) -> Any:
    return swarmdp.rollout(
        system, system.expert, steps=steps, runs=runs, seed=1, record=record, progress=False
    )


def explained(system: Any, trajectory: Any, **more: Any) -> Explanation:
    options: dict[str, Any] = {"symmetry": None, "seed": 2, **more}
    explanation = explain(system, trajectory, **options)
    assert explanation is not None
    return explanation


def by_moment(explanation: Explanation) -> NDArray[np.int64]:
    """The likeliest actions (runs, steps, agents)."""
    shape = explanation.run.max() + 1, explanation.time.max() + 1, explanation.agents
    actions = np.full(shape, -1)
    actions[explanation.run, explanation.time] = explanation.actions
    return actions


def random_tables(explanation: Explanation, count: int = 20) -> list[NDArray[np.float64]]:
    """Tables drawn at random."""
    size, actions = explanation.chances.shape
    rng = np.random.default_rng(3)
    return [np.eye(actions)[rng.integers(actions, size=size)] for _ in range(count)]


@pytest.mark.parametrize("name", CERTAIN)
def test_without_noise_they_are_exactly_the_recorded_ones(name: str) -> None:
    system = CERTAIN[name]
    recorded = explained(system, demo(system, ["states", "actions"]))
    states = demo(system)
    assert "actions" not in states
    explanation = explained(system, states)
    assert (recorded.source, explanation.source) == ("recorded", "explained")
    np.testing.assert_array_equal(by_moment(explanation), by_moment(recorded))
    np.testing.assert_allclose(explanation.pairs, recorded.pairs, atol=1e-9)
    np.testing.assert_allclose(explanation.chances, recorded.chances, atol=1e-9)


@pytest.mark.parametrize("name", NOISY)
def test_with_noise_the_expert_s_table_is_recovered(name: str) -> None:
    system = NOISY[name]
    recorded = explained(system, demo(system, ["states", "actions"]))
    explanation = explained(system, demo(system))
    visits = recorded.pairs.sum(axis=(0, 2))
    # Where two actions lead to the same, either may be named: a step that none of eight simulated
    # ones met happens to count for log(1000 / 8) = 4.8, two of them for less than 10.
    ranked = np.sort(explanation.support, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 10
    assert visits[clear].sum() > 0.7 * visits.sum()
    expert = recorded.support.argmax(axis=1)
    np.testing.assert_array_equal(explanation.support.argmax(axis=1)[clear], expert[clear])
    # As many decisions are counted, in the same observations.
    np.testing.assert_allclose(explanation.pairs.sum(axis=2), recorded.pairs.sum(axis=2))


@pytest.mark.parametrize("name", [*CERTAIN, *NOISY])
def test_the_expert_is_confirmed_and_others_are_not(name: str) -> None:
    system = {**CERTAIN, **NOISY}[name]
    recorded = explained(system, demo(system, ["states", "actions"]))
    explanation = explained(system, demo(system))
    expert = np.eye(len(system.actions))[recorded.support.argmax(axis=1)]
    assert explanation.confirms(expert)
    assert abs(explanation.surprise(expert)) < 0.01
    assert explanation.mixed <= inference.MIXED
    assert not explanation.confirms(np.full_like(expert, 1 / expert.shape[1]))
    wrong = 0
    for table in random_tables(explanation):
        disagrees = (table * recorded.pairs.sum(axis=0)).sum() < 0.9 * recorded.pairs.sum()
        wrong += disagrees
        assert not (disagrees and explanation.confirms(table))
    assert wrong > 10


@pytest.mark.parametrize("name", ["sentries", "tide"])
def test_a_hidden_cue_is_no_table(name: str) -> None:
    case = CASES[name]
    explanation = explained(case.system, case.demo(1))
    assert explanation.mixed > inference.MIXED
    # Not even the chances under which the demo is most probable.
    assert not explanation.confirms(explanation.chances)


def test_a_demo_that_tells_nothing_confirms_nothing() -> None:
    """Decisions that any table explains are no confirmation of one."""
    flat = Explanation(
        run=np.zeros(50, np.int64),
        time=np.arange(50),
        index=np.zeros(100, np.int64),
        likelihood=np.ones((100, 3)),
        source="explained",
        size=2,
        symmetry=None,
    )
    assert flat.agents == 2
    assert flat.surprise(np.eye(3)[[0, 0]]) == 0
    assert not flat.confirms(np.eye(3)[[0, 0]])
    np.testing.assert_allclose(flat.chances, 1 / 3)
    np.testing.assert_allclose(flat.pairs.sum(), 100)


def test_surprise_is_the_mean_difference_of_logarithms() -> None:
    rng = np.random.default_rng(4)
    index, likelihood = rng.integers(3, size=40), rng.uniform(0.1, 1, size=(40, 2))
    explanation = Explanation(
        np.repeat([0, 1], 10), np.tile(np.arange(10), 2), index, likelihood, "explained", 3, None
    )
    table, other = explanation.support.argmax(axis=1), rng.dirichlet([1, 1], size=3)
    terms = [
        np.log(likelihood[i, table[o]]) - np.log(likelihood[i] @ other[o])
        for i, o in enumerate(index)
    ]
    assert explanation.surprise(other) == pytest.approx(np.mean(terms))
    sums = [
        [sum(np.log(likelihood[i, a]) for i in range(40) if index[i] == o) for a in range(2)]
        for o in range(3)
    ]
    np.testing.assert_allclose(explanation.support, sums)


def test_the_chances_are_the_most_probable_ones() -> None:
    """Expectation maximisation ends where no other chances explain the demo better."""
    rng = np.random.default_rng(5)
    index, likelihood = rng.integers(2, size=60), rng.uniform(0.05, 1, size=(60, 2))
    explanation = Explanation(
        np.zeros(60, np.int64), np.arange(60), index, likelihood, "explained", 2, None
    )
    grid = np.linspace(0, 1, 1001)
    for o in range(2):
        of_class = likelihood[index == o]
        total = np.log(of_class[:, :1] * grid + of_class[:, 1:] * (1 - grid)).sum(axis=0)
        assert explanation.chances[o, 0] == pytest.approx(grid[total.argmax()], abs=0.01)
    assert explanation.mixed >= 0


def test_with_a_mirror_the_policy_is_odd() -> None:
    symmetry = Symmetry.of(VICSEK)
    assert symmetry is not None
    explanation = explained(VICSEK, demo(VICSEK), symmetry=symmetry)
    for array in (explanation.chances, explanation.support):
        np.testing.assert_allclose(array[symmetry.classes][:, symmetry.actions], array)


@dataclasses.dataclass(frozen=True)
class Turning:
    """Agents who turn by any angle; the listed turns are few."""

    n_agents: ClassVar[int] = 5
    actions = np.array([-1.0, 0.0, 1.0, 2.0])
    features = swarmdp.Levels(2)

    def initial(self, rng: Any) -> Any:
        return {"place": rng.uniform(), "kind": rng.integers(2)}

    def observe(self, state: Any) -> NDArray[np.int64]:
        return np.asarray(state["kind"])

    def transition(self, state: Any, actions: NDArray[Any], rng: Any) -> Any:
        return {"place": state["place"] + actions, "kind": state["kind"]}


def test_actions_between_the_listed_ones_get_the_two_nearest() -> None:
    system = Turning()
    moves = np.array([0.25, 1.5])
    recorded = swarmdp.rollout(
        system, lambda seen: moves[seen], steps=6, runs=2, seed=1, progress=False
    )
    explanation = explained(system, recorded)
    weights = explanation.likelihood / explanation.likelihood.sum(axis=1, keepdims=True)
    first = weights[explanation.index == 0]
    second = weights[explanation.index == 1]
    # 0 is three times as near as 1; 1 and 2 are as near.
    np.testing.assert_allclose(first, np.tile([0, 0.75, 0.25, 0], (len(first), 1)), atol=2e-3)
    np.testing.assert_allclose(second, np.tile([0, 0, 0.5, 0.5], (len(second), 1)), atol=2e-3)
    mean = explanation.chances @ system.actions
    np.testing.assert_array_less(np.abs(mean - moves), [0.26, 0.51])


def home(side: NDArray[Any]) -> NDArray[Any]:
    return 1 - side


@pytest.mark.parametrize("make", [given.Walkers, given.Deadline])
def test_a_black_box_remembers_its_actions(make: Any) -> None:
    system = from_step(make, features=swarmdp.Levels(3), actions=[-1, 0, 1], on_end="reset", null=1)
    both = swarmdp.rollout(system, home, steps=12, runs=2, seed=4, record=["states", "actions"])
    silent = swarmdp.rollout(system, home, steps=12, runs=2, seed=4)
    assert "actions" not in silent
    recorded, taken = explained(system, both), explained(system, silent)
    assert taken.source == "recorded"
    same_episode = (np.diff(both["clock"], axis=1) == 1) & (np.diff(both["seed"], axis=1) == 0)
    assert same_episode.mean() > 0.7
    np.testing.assert_array_equal(by_moment(taken)[same_episode], by_moment(recorded)[same_episode])
    # What a new episode has forgotten counts as doing nothing.
    assert (by_moment(taken)[~same_episode] == 1).all()
    nothing = swarmdp.Policy([1, 1, 1])
    table = table_of(system, taken.support, np.ones(3, np.bool_), nothing)
    np.testing.assert_array_equal(table.table, [[2, 1, 0]])


def test_taken_actions_are_those_of_single_steps() -> None:
    system = from_step(given.Walkers, features=swarmdp.Levels(3), actions=[-1, 0, 1])
    streams = Streams.of(1, np.arange(3), system.n_agents)
    state = system.initial(streams.at(0, Purpose.INITIAL))
    rng = np.random.default_rng(6)
    for step in range(4):
        chosen = rng.integers(3, size=(3, system.n_agents))
        after = system.transition(
            state, np.asarray(system.actions)[chosen], streams.at(step, Purpose.TRANSITION)
        )
        np.testing.assert_array_equal(system.taken_actions(state, after), chosen)
        state = after


WAVES = swarmdp.features.Basis(
    lambda angle: np.stack([np.cos(angle), np.sin(angle)], axis=-1),
    ("cos", "sin"),
    (swarmdp.features.Axis("misalignment", units="rad", periodic=True),),
    scalar=True,
)  # no classes


def test_there_is_none_where_it_cannot_be_asked() -> None:
    smooth = with_features(VICSEK, WAVES)
    assert explain(smooth, demo(VICSEK, steps=5), symmetry=None, seed=1) is None
    observed = demo(ISING, "observations", steps=5)
    assert explain(ISING, observed, symmetry=None, seed=1) is None
    assert explained(ISING, demo(ISING, ["observations", "actions"], steps=5)).source == "recorded"
    assert explain(ISING, demo(ISING, steps=0), symmetry=None, seed=1) is None


def test_there_is_none_for_recordings() -> None:
    shown = demo(ISING, ["states", "actions"], steps=5)
    present = Variable(np.ones((3, 6, ISING.n_agents), np.bool_), ("run", "time", "agent"))
    real = dataclasses.replace(shown, variables={**shown.variables, "present": present})
    assert real.of_recording
    assert explain(ISING, real, symmetry=None, seed=1) is None


def test_the_same_bits_whatever_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    states = demo(VICSEK)
    first = explained(VICSEK, states)
    monkeypatch.setenv("SWARMDP_THREADS", "2")
    np.testing.assert_array_equal(explained(VICSEK, states).likelihood, first.likelihood)
    assert (explained(VICSEK, states, seed=3).likelihood != first.likelihood).any()


def test_long_demos_are_thinned_out_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    states = demo(ISING, steps=20, runs=2)
    whole = explained(ISING, states)
    assert len(whole.run) == 40
    monkeypatch.setattr(inference, "_MOST_STEPS", 2 * 5 * ISING.n_agents)
    some = explained(ISING, states)
    # Every fourth step would be enough, but an odd stride meets both halves of what alternates.
    np.testing.assert_array_equal(np.unique(some.time), [0, 5, 10, 15])
    np.testing.assert_array_equal(by_moment(some)[:, ::5], by_moment(whole)[:, :20:5])


def test_steps_of_a_finite_mdp_are_explained_by_its_own_chances() -> None:
    rng = np.random.default_rng(1)
    chances = rng.dirichlet(np.full(6, 0.5), size=(6, 3))
    mdp = swarmdp.FiniteMDP(chances, initial=np.full(6, 1 / 6))
    policy = swarmdp.Policy(np.arange(6) % 3)
    trajectory = swarmdp.rollout(mdp, policy, steps=40, runs=5, seed=1, progress=False)
    explanation = explained(mdp, trajectory)
    states = trajectory["state"][..., 0]
    for row in (0, 57, 133):
        run, time = explanation.run[row], explanation.time[row]
        here, there = states[run, time], states[run, time + 1]
        expected = chances[here, :, there]
        np.testing.assert_allclose(explanation.likelihood[row], expected / expected.max())
