"""Local, or led: what agents have in common that their observations do not show."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import swarmdp
from studies.locality import CUES, LOCAL, swarm_of
from swarmdp.judging.locality import LEVEL, _products
from swarmdp.support.errors import InvalidInput

CUE = "a common cue that is not among the observations"


@pytest.mark.parametrize("kind", LOCAL)
def test_local_swarms_are_local(kind: str) -> None:
    demo, system = swarm_of(kind, 0)
    test = swarmdp.locality_test(demo, system, seed=1)
    assert test.answer == "local"
    assert "local (p = " in repr(test)


@pytest.mark.parametrize("kind", CUES)
def test_led_swarms_follow_a_cue(kind: str) -> None:
    demo, system = swarm_of(kind, 0)
    test = swarmdp.locality_test(demo, system, seed=1)
    assert test.answer == CUE
    assert test.common > 0.01
    assert "in common" in test._repr_html_()


def test_products_are_those_of_a_plain_sum() -> None:
    rng = np.random.default_rng(1)
    left, columns, span = rng.normal(size=(2, 9, 4, 2)), rng.normal(size=(2, 9, 4, 3)), 3
    expected = np.zeros((2, 4, 4))
    for begin in range(9 - span + 1):
        part = slice(begin, begin + span)
        one = np.einsum("rtnc,rtnj->rncj", left[:, part], columns[:, part]) / np.sqrt(span)
        expected += np.einsum("rncj,rmcj->rnm", one, one)
    np.testing.assert_allclose(_products(left, columns, span), expected)


@dataclass(frozen=True)
class Bells:
    """Agents on a ring that go to one side or the other, all at once where a bell is heard."""

    n_agents: int = 20
    heard: bool = False

    actions = np.array([-1, 1])
    fields = {  # noqa: RUF012
        "cell": swarmdp.model.Field("cell", kind="level"),
        "bell": swarmdp.model.Field("bell", kind="hidden"),
    }

    @property
    def features(self) -> Any:
        return swarmdp.Levels(12 if self.heard else 6, "what is seen")

    def initial(self, rng: Any) -> Any:
        bell = (rng.shared() < 0.5).astype(np.int64)
        return {"cell": rng.integers(6), "bell": np.repeat(bell[:, None], self.n_agents, axis=1)}

    def observe(self, state: Any) -> Any:
        return state["cell"] + 6 * state["bell"] * self.heard

    def transition(self, state: Any, actions: Any, rng: Any) -> Any:
        bell = np.where(rng.shared()[:, None] < 0.2, 1 - state["bell"], state["bell"])
        slips = np.where(rng.uniform() < 0.2, -actions, actions)
        return {"cell": (state["cell"] + slips) % 6, "bell": bell}


def bells(steps: int, runs: int = 1) -> swarmdp.Trajectory:
    hearing = Bells(heard=True)
    return swarmdp.rollout(
        hearing,
        lambda seen: np.where(seen >= 6, 1, -1),
        steps=steps,
        runs=runs,
        seed=3,
        record=["states", "actions"],
    )


def test_a_cue_that_is_observed_is_none() -> None:
    demo = bells(80)
    assert swarmdp.locality_test(demo, Bells(heard=True), seed=1).answer != CUE
    deaf = swarmdp.Trajectory(demo.variables, "Bells", {"heard": False}, 1, 80)
    test = swarmdp.locality_test(deaf, Bells(heard=False), seed=1)
    assert test.answer == CUE
    assert test.common > 0.5


def test_p_values_of_local_swarms_are_not_too_small() -> None:
    """Agents that act at random: a p-value of at most x has at most about the probability x."""

    def random(seed: int) -> float:
        chances = swarmdp.policies.SoftPolicy(np.full((1, 6, 2), 0.5))
        demo = swarmdp.rollout(
            Bells(n_agents=10), chances, steps=20, seed=seed, record=["states", "actions"]
        )
        return swarmdp.locality_test(demo, Bells(n_agents=10), seed=seed, flips=199).p

    p = np.array([random(seed) for seed in range(80)])
    for level in (LEVEL, 0.05, 0.2, 0.5):
        assert (p <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / len(p))


def test_little_data_is_said_to_be_little() -> None:
    demo = swarmdp.rollout(
        Bells(n_agents=4),
        swarmdp.policies.SoftPolicy(np.full((1, 6, 2), 0.5)),
        steps=5,
        seed=2,
        record=["states", "actions"],
    )
    test = swarmdp.locality_test(demo, Bells(n_agents=4), seed=1)
    assert test.answer == "too little data"
    assert "would not have shown" in repr(test)


def test_what_cannot_be_asked_is_refused() -> None:
    vicsek = swarmdp.Vicsek(n_agents=20)
    seen = swarmdp.rollout(vicsek, vicsek.expert, steps=20, seed=1, record="observations")
    with pytest.raises(InvalidInput, match="a demo with states"):
        swarmdp.locality_test(seen, vicsek)
    few = swarmdp.Vicsek(n_agents=2)
    with pytest.raises(InvalidInput, match="at least 4 agents and steps"):
        swarmdp.locality_test(swarmdp.rollout(few, few.expert, steps=20, seed=1), few)
