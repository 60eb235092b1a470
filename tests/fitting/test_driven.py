"""A fit that is driven step by step and watched, and learners of one's own inside it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import swarmdp
from swarmdp import Gridworld, Policy, Result
from swarmdp.fitting import Fit
from swarmdp.irl import Iteration
from swarmdp.learning import HeterogeneousLearning, Learned, Snapshot
from swarmdp.policies import FunctionPolicy, MixedPolicy
from swarmdp.support.errors import InvalidInput
from tests.results import MAY_BE_CONSTANT, assert_same

SMALL = swarmdp.Vicsek(n_agents=30)
GRID = Gridworld(3, 3)
LEARNER = HeterogeneousLearning(steps=10, swarms=2)


def demo_of(system: Any) -> swarmdp.Trajectory:
    expert = swarmdp.learning.plan(GRID, GRID.reward).policy if system is GRID else system.expert
    return swarmdp.rollout(system, expert, steps=50, runs=2, seed=1, record=["states", "actions"])


def options(system: Any, **change: Any) -> dict[str, Any]:
    learner = None if system is GRID else LEARNER
    return {"seed": 2, "separate": True, "iterations": 4, "learner": learner, **change}


@MAY_BE_CONSTANT
@pytest.mark.parametrize("update", ["max_margin", "mwal", "maxent", "policy_matching"])
@pytest.mark.parametrize("start", [None, "random"])
@pytest.mark.parametrize("system", [SMALL, GRID], ids=["vicsek", "gridworld"])
def test_a_driven_fit_is_the_same_bits(system: Any, start: Any, update: str) -> None:
    """At one go, in two parts, and by `fit`."""
    demo, chosen = demo_of(system), options(system, update=update, first_reward=start)
    expected = swarmdp.fit(system, demo, **chosen, judge=False)
    whole = Fit.of(system, demo, **chosen)
    done = list(whole.iterate())
    assert_same(whole.result(done), expected)
    xarray.testing.assert_identical(whole.result(done).to_xarray(), expected.to_xarray())

    parts = Fit.of(system, demo, **chosen)
    first = list(islice(parts.iterate(), 2))
    assert len(first) == min(2, len(done))
    both = [*first, *parts.iterate(first)]
    xarray.testing.assert_identical(parts.result(both).to_xarray(), expected.to_xarray())
    assert repr(parts.result(both)) == repr(expected)
    assert list(parts.iterate(both)) == []
    assert_same(
        parts.result(first),
        swarmdp.fit(system, demo, **{**chosen, "iterations": len(first)}, judge=False),
    )


def test_a_result_needs_an_iteration() -> None:
    with pytest.raises(InvalidInput, match="at least one iteration, got none"):
        Fit.of(SMALL, demo_of(SMALL), seed=1).result([])


def test_every_iteration_can_be_watched() -> None:
    demo = demo_of(SMALL)
    seen: list[Iteration] = []
    result = swarmdp.fit(SMALL, demo, watch=seen.append, **options(SMALL), judge=False)
    assert len(seen) == 4
    for watched, kept in zip(seen, result.iterations, strict=True):
        assert watched is kept
    assert seen[0].policy.replicas == 2
    for name in ("weights", "mu", "next_weights"):
        assert getattr(seen[0], name).shape == (2, 36)
    assert seen[0].distance.shape == seen[0].margin.shape == (2,)
    seen.clear()
    begun = swarmdp.fit(SMALL, demo, **options(SMALL, iterations=3), judge=False)
    swarmdp.fit(SMALL, demo, watch=seen.append, resume=begun, **options(SMALL), judge=False)
    assert [len(now.mixture[0]) for now in seen] == [4]  # only what is new
    assert_same(result, swarmdp.fit(SMALL, demo, **options(SMALL), judge=False))


def test_every_snapshot_of_learning_can_be_watched() -> None:
    demo = demo_of(SMALL)
    seen: list[Snapshot] = []
    watched = swarmdp.fit(
        SMALL, demo, watch_learning=seen.append, threads=1, **options(SMALL), judge=False
    )
    assert [now.iteration for now in seen] == 4 * list(range(10))
    assert all(now.q.shape == (2, 36, 13) for now in seen)
    for i, iteration in enumerate(watched.iterations):
        last = seen[10 * i + 9]
        np.testing.assert_array_equal(iteration.policy.to_arrays()["table"], last.table)
    assert_same(watched, swarmdp.fit(SMALL, demo, **options(SMALL), judge=False))
    seen.clear()
    swarmdp.fit(GRID, demo_of(GRID), watch_learning=seen.append, **options(GRID), judge=False)
    assert seen == []  # it is planned, nobody learns


def as_learner(returned: Any) -> Callable[..., Any]:
    """A learner that returns this, made for the rewards of two experiments."""

    def learn(system: Any, reward: Any, **wishes: Any) -> Any:
        return returned

    return learn


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (
            lambda observations: -observations,
            r"must return swarmdp.learning.Learned\(policy\).*got function",
        ),
        (
            Policy(np.zeros((2, 36), int)),
            r"must return swarmdp.learning.Learned\(policy\).*got Policy",
        ),
        (None, "got NoneType"),
        (Learned(lambda o: -o), "got Learned with a policy that is a function"),  # type: ignore[arg-type]
        (Learned(Policy), "got Learned with a policy that is a type"),  # type: ignore[arg-type]
        (Learned(Policy(np.zeros((3, 36), int))), "for each of the 2 rewards, got 3"),
        (Learned(FunctionPolicy(lambda o: -o)), "for each of the 2 rewards, got 1"),
        (Learned(Policy(np.zeros((2, 35), int))), "has 35 observations, but Vicsek has 36"),
        (
            Learned(MixedPolicy([Policy(np.zeros((2, 36), int))], np.ones((2, 1)))),
            "a mixture is made again from its policies",
        ),
    ],
    ids=[
        "function",
        "policy",
        "nothing",
        "learned function",
        "learned type",
        "too many",
        "wrapped function",
        "too few classes",
        "mixture",
    ],
)
def test_learners_that_return_something_else_are_refused(returned: Any, message: str) -> None:
    seen: list[Iteration] = []
    chosen = options(SMALL, learner=as_learner(returned))
    with pytest.raises(InvalidInput, match=message):
        swarmdp.fit(SMALL, demo_of(SMALL), watch=seen.append, **chosen, judge=False)
    assert not seen
    with pytest.raises(InvalidInput):
        swarmdp.fit(SMALL, demo_of(SMALL), interpolate=True, **chosen, judge=False)


def test_a_function_that_cannot_be_saved_is_refused_at_once() -> None:
    """Not after all iterations, when the result is put together."""
    seen: list[Iteration] = []
    chosen = options(SMALL, separate=False, learner=as_learner(Learned(FunctionPolicy(abs))))
    with pytest.raises(InvalidInput, match="a policy that is a function cannot be saved"):
        swarmdp.fit(SMALL, demo_of(SMALL), watch=seen.append, **chosen, judge=False)
    assert not seen


def constant(system: Any, reward: Any, *, action: int = 6, **wishes: Any) -> Learned:
    """A learner that does not learn: always the same turn."""
    return Learned(Policy(np.full((reward.replicas, 36), action)))


@dataclass(frozen=True)
class Constant:
    """The same, which tells its settings."""

    action: int = 6
    inner: Any = None

    def __call__(self, system: Any, reward: Any, **wishes: Any) -> Learned:
        return constant(system, reward, action=self.action)


class Secretive:
    """The same, which does not."""

    def __init__(self, action: int) -> None:
        self.action = action

    def __call__(self, system: Any, reward: Any, **wishes: Any) -> Learned:
        return constant(system, reward, action=self.action)

    def learn(self, system: Any, reward: Any, **wishes: Any) -> Learned:
        return self(system, reward)


def enclosed(action: int) -> Callable[..., Learned]:
    def learn(system: Any, reward: Any, **wishes: Any) -> Learned:
        return constant(system, reward, action=action)

    return learn


OPAQUE: dict[str, Callable[[int], Any]] = {
    "partial": lambda action: partial(constant, action=action),
    "lambda": lambda action: lambda s, r, **w: constant(s, r, action=action),
    "closure": enclosed,
    "object": Secretive,
    "method": lambda action: Secretive(action).learn,
    "inside a dataclass": lambda action: Constant(6, lambda: action),
}


@pytest.mark.parametrize("kind", OPAQUE)
def test_a_learner_that_cannot_be_described_cannot_be_resumed(kind: str, tmp_path: Path) -> None:
    demo, make = demo_of(SMALL), OPAQUE[kind]
    begun = swarmdp.fit(SMALL, demo, **options(SMALL, learner=make(6), iterations=1), judge=False)
    begun.save(tmp_path)
    for earlier in (begun, swarmdp.load(tmp_path)):
        with pytest.raises(InvalidInput, match="cannot resume: the settings of the learner .* not"):
            swarmdp.fit(SMALL, demo, resume=earlier, **options(SMALL, learner=make(7)), judge=False)


@pytest.mark.parametrize("kind", OPAQUE)
def test_an_update_that_cannot_be_described_cannot_be_resumed(kind: str) -> None:
    def update_of(action: int) -> Any:
        inner = OPAQUE[kind](action)
        return lambda evidence: swarmdp.updates.Update(evidence.expert) if inner else None

    demo = demo_of(SMALL)
    begun = swarmdp.fit(
        SMALL, demo, **options(SMALL, update=update_of(6), iterations=1), judge=False
    )
    with pytest.raises(InvalidInput, match="cannot resume: the settings of the update .* not"):
        swarmdp.fit(SMALL, demo, resume=begun, **options(SMALL, update=update_of(7)), judge=False)


@pytest.mark.parametrize("learner", [constant, Constant(3)], ids=["function", "dataclass"])
def test_a_learner_that_can_be_described_can_be_resumed(learner: Any, tmp_path: Path) -> None:
    demo = demo_of(SMALL)
    whole = swarmdp.fit(SMALL, demo, **options(SMALL, learner=learner), judge=False)
    swarmdp.fit(SMALL, demo, **options(SMALL, learner=learner, iterations=1), judge=False).save(
        tmp_path
    )
    begun: Result = swarmdp.load(tmp_path)
    assert_same(
        swarmdp.fit(SMALL, demo, resume=begun, **options(SMALL, learner=learner), judge=False),
        whole,
    )
    with pytest.raises(InvalidInput, match="cannot resume: the earlier fit had learner"):
        swarmdp.fit(SMALL, demo, resume=begun, **options(SMALL, learner=Constant(4)), judge=False)
