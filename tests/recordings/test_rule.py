"""The rule of turns is found, with its zones, and nothing where individuals ignore each other."""

import json
from dataclasses import replace

import numpy as np
import pytest

from studies.known_rules import compare
from studies.simulated_rules import KnownRule, record_rule
from swarmdp.recordings.arena import Circle
from swarmdp.recordings.rule import Rule, fit_rule
from swarmdp.support.errors import InvalidInput

ZONES = KnownRule(
    "zones", 25.0, repulsion=2.0, alignment=8.0, attraction=16.0, priority=True, seconds=60.0
)
NEAREST = KnownRule(
    "nearest", 30.0, repulsion=3.0, alignment=6.0, topological=True, noise=0.2, seconds=120.0
)
LED = KnownRule("leaders", 30.0, repulsion=3.0, alignment=9.0, seconds=120.0, leaders=2)
ALONE = KnownRule("independent", 25.0, seconds=60.0)


def rule_of(known: KnownRule, seed: int = 3) -> Rule:
    decisions = record_rule(known, seed).decisions()
    return fit_rule(decisions, Circle((0.0, 0.0), known.tank), seed=seed)


def test_zones_with_priority_are_found() -> None:
    rule = rule_of(ZONES)
    row = compare(ZONES, rule)
    assert rule.structure == "priority"
    assert row["right"] == 3
    assert max(abs(error) for error in row["reach_errors"].values()) < 0.2
    assert "turn away from others within 2" in rule.sentences[0]
    assert rule.social > 10 * rule.shifted.max()


def test_nearest_neighbours_are_found() -> None:
    rule = rule_of(NEAREST)
    (alignment,) = (part for part in rule.parts if part.component == "alignment")
    assert abs(alignment.zone.nearest - 6) <= 1
    assert alignment.rival is not None


def test_leaders_are_found() -> None:
    rule = rule_of(LED)
    assert rule.individuals.ignoring == ("0", "1")
    assert "Reacting to no one: 0" in rule.sentences[-1]


def test_walkers_have_no_rule() -> None:
    rule = rule_of(ALONE)
    assert rule.parts == ()
    assert rule.sentences[0].startswith("No rule")


def test_the_same_seed_gives_the_same_rule_and_a_file_keeps_it() -> None:
    short = replace(ZONES, seconds=30.0)
    one, other = rule_of(short), rule_of(short)
    assert one.to_plain() == other.to_plain()
    back = Rule.from_plain(json.loads(json.dumps(one.to_plain(), allow_nan=False)))
    assert back.sentences == one.sentences
    assert back.model == one.model
    np.testing.assert_array_equal(back.curves["towards"], one.curves["towards"])


def test_components_are_chosen_by_name() -> None:
    decisions = record_rule(replace(ZONES, seconds=30.0), 3).decisions()
    rule = fit_rule(decisions, Circle((0.0, 0.0), 25.0), components=["repulsion"])
    assert [part.component for part in rule.parts] == ["repulsion"]
    with pytest.raises(InvalidInput, match="repulsion, alignment, attraction"):
        fit_rule(decisions, None, components=["fear"])
