"""The fewest classes, actions and bits of memory, where the answer can be proved."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.fitting.smallest import ACTIONS, MEMORY, SmallestAgent
from swarmdp.support.errors import InvalidInput
from tests.cues import Cues, demo_of


@dataclass(frozen=True)
class Belt:
    """Agents on a ring of twelve cells, which they see."""

    n_agents: int = 30

    actions = np.array([-1, 0, 1])
    features = swarmdp.Levels(12, "cell")
    fields = {"cell": swarmdp.model.Field("cell", kind="level")}  # noqa: RUF012

    def initial(self, rng: Any) -> Any:
        return {"cell": rng.integers(12)}

    def observe(self, state: Any) -> Any:
        return state["cell"]

    def transition(self, state: Any, actions: Any, rng: Any) -> Any:
        moved = np.where(rng.uniform() < 0.1, 0, actions)
        return {"cell": (state["cell"] + moved) % 12}


def smallest(expert: Any, **options: Any) -> SmallestAgent:
    demo = swarmdp.rollout(Belt(), expert, steps=60, runs=2, seed=1, record=["states", "actions"])
    return swarmdp.smallest_agent(demo, Belt(), seed=2, memory=(1,), **options)


def test_agents_that_always_do_the_same_need_to_see_nothing() -> None:
    found = smallest(lambda seen: np.ones_like(seen))
    assert found.sizes == {"cell": 1, ACTIONS: 1, MEMORY: 1}
    assert isinstance(found.policy, swarmdp.Policy)
    assert set(found.policy.table[0]) == {2}


def test_agents_that_tell_two_halves_apart_need_two_classes_and_two_actions() -> None:
    found = smallest(lambda seen: np.where(seen < 6, 1, -1))
    assert found.sizes == {"cell": 2, ACTIONS: 2, MEMORY: 1}


def test_agents_that_must_remember_a_cue_need_a_bit() -> None:
    found = swarmdp.smallest_agent(demo_of(2), Cues(cues=2), seed=2)
    assert found.sizes[MEMORY] == 2
    assert found.sizes[ACTIONS] == 2
    assert found.sizes["sign"] is not None
    frame = found.to_dataframe()
    assert not frame[(frame.what == MEMORY) & (frame["size"] == 1)].passes.any()


def test_what_was_tried_is_shown() -> None:
    found = smallest(lambda seen: np.where(seen < 6, 1, -1))
    assert "cell: 2 of 12" in repr(found)
    assert "cell: 2 of 12" in found._repr_html_()
    assert len(found.plot().axes) == 3


def test_other_neighbours_are_tried() -> None:
    vicsek = swarmdp.Vicsek(n_agents=15, nearest=5, n_bins=9)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=40, seed=1)
    found = swarmdp.smallest_agent(
        demo, vicsek, seed=2, memory=(1,), neighbours={"nearest": (1, 5)}
    )
    assert {a.size for a in found.attempts if a.what == "nearest"} == {1.0, 5.0}
    with pytest.raises(InvalidInput, match="no field 'reach' that says who is seen"):
        swarmdp.smallest_agent(demo, vicsek, seed=2, memory=(1,), neighbours={"reach": (1,)})


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(InvalidInput, match="a demo with states or actions"):
        swarmdp.smallest_agent(np.ones(12), Belt(), seed=1)
    demo = demo_of(2)
    with pytest.raises(InvalidInput, match="some numbers of states"):
        swarmdp.smallest_agent(demo, Cues(cues=2), seed=1, memory=())
