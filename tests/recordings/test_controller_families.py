"""Where searches for controllers start, and what speeds tell."""

from dataclasses import replace

import numpy as np
import pytest

import swarmdp
from studies.simulated_rules import KnownRule, record_rule
from swarmdp.recordings.arena import Circle, Periodic
from swarmdp.recordings.controller_families import (
    _hurry,
    _together,
    families_of,
    family_of_group,
    fitted_zone_model,
)
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.neighbour_rows import mean_ahead
from swarmdp.recordings.preferences import Preference
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.rule import fit_rule
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.zonal import Zonal

KNOWN = KnownRule("metric", 15.0, repulsion=2.0, alignment=8.0, individuals=12, seconds=40.0)


@pytest.fixture(scope="module")
def decisions() -> Decisions:
    return record_rule(KNOWN, 1).decisions(dt=0.2)


@pytest.fixture(scope="module")
def swarm(decisions: Decisions) -> Swarm:
    return Swarm.from_recording(decisions.train, arena=Circle((0.0, 0.0), KNOWN.tank))


def test_how_far_ahead_the_others_are(decisions: Decisions) -> None:
    for arena in (None, Periodic((30.0, 30.0), (-15.0, -15.0))):
        ahead = mean_ahead(decisions, arena)
        for time, individual in ((20, 3), (50, 7)):
            gap = np.delete(decisions.positions[time], individual, axis=0)
            gap = gap - decisions.positions[time, individual]
            there = np.isfinite(np.delete(decisions.headings[time], individual))
            if arena is not None:
                gap -= 30.0 * np.round(gap / 30.0)
            heading = decisions.headings[time, individual]
            towards = gap @ [np.cos(heading), np.sin(heading)] / np.hypot(*gap.T)
            expected = towards[there].mean() if np.isfinite(heading) else np.nan
            np.testing.assert_allclose(ahead[time, individual], expected)


def test_without_a_rule_nobody_reacts(swarm: Swarm) -> None:
    (family,) = families_of(swarm, None)
    assert family.name == "no reaction to others"
    assert family.start.wall_reach > 0
    assert not family.start.model.zones
    assert family.start.hurry == 0
    assert family_of_group(swarm, None) is None


def test_the_zone_model_of_the_group_as_a_controller(swarm: Swarm) -> None:
    assert swarm.decisions is not None
    rule = fit_rule(swarm.decisions, swarm.arena)
    assert family_of_group(swarm, replace(rule, parts=())) is None
    family = family_of_group(swarm, rule)
    assert family is not None
    start, zones = family.start, swarm.models["couzin"]().zones
    assert start == fitted_zone_model(swarm, rule)
    assert start.model.structure == "priority"
    reaches = [zone.outer for zone in start.model.zones.values()]
    assert reaches[0] == zones.repulsion
    assert reaches == sorted(reaches)
    # What individuals do by themselves is that of the rule.
    alone = families_of(swarm, rule)[0].start
    for name in ("noise", "previous", "wall", "wall_reach", "hurry"):
        assert getattr(start, name) == getattr(alone, name)
    # Of all gains this one turns most like the zone model, over all angles.
    angles = np.linspace(-np.pi, np.pi, 2001)
    meant = np.clip(angles, -zones.most_turn, zones.most_turn)
    gains = start.gains[0] * np.array([0.98, 1.0, 1.02])
    apart = ((gains[:, None] * np.sin(angles) - meant) ** 2).mean(axis=1)
    assert apart.argmin() == 1
    # It has numbers of its own, so all of them are within the limits of the family.
    low, high = family.limits.T
    assert (low <= high).all()
    assert family.controller(family.numbers(start)).gains == pytest.approx(start.gains)


def test_speeds_of_individuals_that_hurry_together(swarm: Swarm) -> None:
    rng = np.random.default_rng(1)
    own, common = rng.normal(size=(500, 12)), rng.normal(size=(500, 1))
    for together in (0.0, 0.5):
        pace = np.sqrt(together) * common + np.sqrt(1 - together) * own
        made = replace(swarm, frames={**swarm.frames, "pace": pace})
        assert _together(made) == pytest.approx(together, abs=0.06)


def test_hurrying_after_others_is_found_and_not_invented(swarm: Swarm) -> None:
    assert _hurry(swarm) == 0
    alone = families_of(swarm, None)[0].start
    hurrying = Zonal(swarm, replace(alone, hurry=0.6))
    track = swarmdp.rollout(hurrying, hurrying.expert, steps=300, seed=1)["position"][0]
    decided = Recording(track, fps=1 / swarm.dt, unit="cm").decisions(dt=swarm.dt)
    assert 0.2 < _hurry(Swarm.from_recording(decided, arena=swarm.arena)) < 1.2


@pytest.mark.parametrize(
    ("changes", "clear"),
    [
        ({}, True),
        ({"identified": False}, False),
        ({"p": 0.2}, False),
        ({"p": None}, False),
        ({"shifted": 0.9}, False),
        ({"shifted": 0.9, "social": False}, True),
    ],
)
def test_what_a_reward_clearly_prefers(changes: dict[str, float], clear: bool) -> None:
    found = Preference("spacing", "near", "far", 1.0, 0.1, 0.01, 0.1, 0.1, True, True)
    assert replace(found, **changes).clear is clear  # type: ignore[arg-type]
