"""Zonal controllers: a system as any other, and the search for the one that does as recorded."""

from dataclasses import replace

import numpy as np
import pytest

import swarmdp
from studies.simulated_rules import KnownRule, record_rule
from swarmdp.recordings import controller_search
from swarmdp.recordings.arena import Circle
from swarmdp.recordings.controller_families import families_of
from swarmdp.recordings.controller_search import (
    FoundController,
    Trial,
    energy_distances,
    find_controller,
)
from swarmdp.recordings.rule import fit_rule
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.zonal import Zonal

KNOWN = KnownRule(
    "zones", 20.0, repulsion=2.0, alignment=8.0, attraction=16.0, priority=True, seconds=40.0
)


@pytest.fixture(scope="module")
def swarm() -> Swarm:
    return Swarm.from_recording(
        record_rule(KNOWN, 1).decisions().train, arena=Circle((0.0, 0.0), KNOWN.tank)
    )


def test_the_search_comes_nearer_and_is_the_same_for_the_same_seed(
    swarm: Swarm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller_search, "TRYING", 2)
    monkeypatch.setattr(controller_search, "FINDING", 4)
    assert swarm.decisions is not None
    rule = fit_rule(swarm.decisions, swarm.arena)
    told: list[tuple[int, int]] = []
    found = find_controller(swarm, rule, seed=1, progress=lambda *how: told.append(how))
    count = 1 + len(found.tried)  # each family, and the one that is taken at length
    assert told == [(begun, count) for begun in range(count)]
    assert found == find_controller(swarm, rule, seed=1)
    assert FoundController.from_plain(found.to_plain()) == found
    alone = families_of(swarm, rule)[0].start
    everything = np.ones(len(swarm.frames["heading"]), dtype=bool)
    assert found.distance < Trial(swarm, everything, 9, alone.together).distances([alone])[0][0]
    assert found.reflected < 0.05
    # The best of two beginnings on blocks that were left out: the rule, and the group's zone model.
    assert [family.family for family in found.tried][-1] == "the zone model of the group"
    chosen = {family.family: family.distance for family in found.tried}[found.family]
    assert chosen <= found.tried[-1].distance
    made = Zonal(swarm, found.controller)
    track = swarmdp.rollout(made, made.expert, steps=20, seed=1)
    again = swarmdp.rollout(made, made.expert, steps=20, seed=1)
    np.testing.assert_array_equal(track["position"], again["position"])


def test_families_keep_their_numbers(swarm: Swarm) -> None:
    assert swarm.decisions is not None
    for family in families_of(swarm, fit_rule(swarm.decisions, swarm.arena)):
        numbers = family.numbers(family.start)
        back = family.controller(numbers)
        np.testing.assert_allclose(family.numbers(replace(back)), numbers, atol=1e-9)


def test_energy_distance() -> None:
    rng = np.random.default_rng(0)
    recorded, same, other = (
        rng.normal(size=500),
        rng.normal(size=(1, 500)),
        rng.normal(3, 1, (1, 500)),
    )
    near, far = energy_distances(same, recorded)[0], energy_distances(other, recorded)[0]
    assert near < 0.02
    assert far > 1.0
