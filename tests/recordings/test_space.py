"""Recordings in three dimensions: decisions, rule, interaction, controller, analysis."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import swarmdp
from studies.simulated_rules import KnownRule
from studies.simulated_rules_in_space import SpaceRule, record_space_rule
from swarmdp.model import sphere
from swarmdp.recordings import Cuboid, PeriodicSpace, Recording, Sphere
from swarmdp.recordings.interaction import shifted_decisions
from swarmdp.recordings.neighbour_rows import neighbour_rows
from swarmdp.recordings.rule import fit_rule
from swarmdp.recordings.space.controller import SpaceController, wanted_turns
from swarmdp.recordings.space.groups import measure_groups, stretches_of
from swarmdp.recordings.space.interaction import interaction_in_space
from swarmdp.recordings.zonal import ZonalController
from swarmdp.recordings.zone_models import Zone, ZoneModel, ZoneTable
from swarmdp.support.errors import InvalidInput

TANK = 12.0
ALIGNED = SpaceRule(
    KnownRule(
        "alignment, nearest",
        TANK,
        repulsion=3.0,
        alignment=5.0,
        topological=True,
        weights=(1.2, 1.0, 0.0),
        noise=0.15,
        individuals=15,
        seconds=120.0,
    ),
    level=0.08,
)
DEAF = SpaceRule(KnownRule("independent", TANK, noise=0.2, individuals=8, seconds=90.0), 0.05)


@pytest.fixture(scope="module")
def aligned() -> Recording:
    return record_space_rule(ALIGNED, 11)


@pytest.fixture(scope="module")
def decisions(aligned: Recording) -> swarmdp.recordings.Decisions:
    return aligned.decisions(0.5)


def test_turns_lead_from_heading_to_heading(decisions: swarmdp.recordings.Decisions) -> None:
    assert decisions.in_space
    assert decisions.turns.shape == (decisions.times - 1, decisions.individuals, 2)
    known = decisions.turned
    after = sphere.turn_headings(decisions.headings[:-1][known], decisions.turns[known])
    np.testing.assert_allclose(after, decisions.headings[1:][known], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1.0)
    train, test = decisions.train, decisions.test
    assert train.count + test.count > 0.95 * decisions.count
    assert train.in_space


def test_a_recording_in_the_plane_has_the_same_turns_in_space() -> None:
    rng = np.random.default_rng(3)
    headings = np.cumsum(0.3 * rng.standard_normal((300, 6)), axis=0)
    places = np.cumsum(np.stack([np.cos(headings), np.sin(headings)], axis=-1), axis=0)
    flat = Recording(places, fps=4, unit="m").decisions(0.25)
    lifted = np.concatenate([places, np.zeros((300, 6, 1))], axis=2)
    space = Recording(lifted, fps=4, unit="m").decisions(0.25)
    np.testing.assert_allclose(space.turns[..., 0], flat.turns, atol=1e-9)
    np.testing.assert_allclose(np.nan_to_num(space.turns[..., 1]), 0.0, atol=1e-9)
    np.testing.assert_array_equal(space.known, flat.known)
    moved = shifted_decisions(space, 2, 1)[0]
    assert moved.turns.shape == space.turns.shape


def test_what_others_ask_for_is_the_same_however_the_group_is_turned_about_the_vertical(
    decisions: swarmdp.recordings.Decisions,
) -> None:
    angle = 0.7
    turn = np.array(
        [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]]
    )
    turned = replace(
        decisions, positions=decisions.positions @ turn.T, headings=decisions.headings @ turn.T
    )
    one, other = (neighbour_rows(part, None) for part in (decisions, turned))
    for name in ("bearing_ahead", "bearing_left", "heading_ahead", "heading_left", "climb"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        ZoneModel("sum", {"repulsion": Zone(outer=3.0), "alignment": Zone(nearest=4)}),
        ZoneModel("sum", {"attraction": Zone(inner=2.0, outer=9.0)}),
        ZoneModel(
            "priority",
            {
                "repulsion": Zone(outer=2.0),
                "alignment": Zone(outer=5.0),
                "attraction": Zone(outer=9.0),
            },
        ),
    ],
    ids=["sum", "ring", "priority"],
)
def test_controllers_turn_as_the_columns_of_the_rule_say(
    decisions: swarmdp.recordings.Decisions, model: ZoneModel
) -> None:
    """The simulation and the regression are two ways to compute the same mean turn."""
    rows = neighbour_rows(decisions, Sphere((0, 0, 0), TANK))
    gains = tuple(0.1 * (k + 1) for k in range(len(model.columns)))
    expected = ZoneTable(rows).columns(model) @ np.array(gains)
    controller = SpaceController(ZonalController(model, gains, 0.0, 0.0, 0.0, 1.0))
    heading = np.nan_to_num(decisions.headings)
    heading[~decisions.headed] = (1.0, 0.0, 0.0)
    wanted = wanted_turns(
        controller,
        np.nan_to_num(decisions.positions),
        heading,
        np.zeros((*decisions.headed.shape, 2)),
        decisions.headed,
        None,
    )
    found = wanted[rows.time[::2], rows.individual[::2]].ravel()
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_rule_is_found(decisions: swarmdp.recordings.Decisions) -> None:
    rule = fit_rule(decisions, Sphere((0, 0, 0), TANK), seed=1)
    parts = {part.component: part for part in rule.parts}
    assert set(parts) == {"repulsion", "alignment"}
    assert parts["alignment"].zone.nearest
    assert abs(parts["alignment"].zone.nearest - 5) <= 2
    assert abs(parts["repulsion"].zone.outer / 3.0 - 1) < 0.15
    gain, error = rule.climb
    assert gain > 3 * error
    assert any("level flight" in words for words in rule.sentences)
    again = type(rule).from_plain(json.loads(json.dumps(rule.to_plain())))
    assert again.sentences == rule.sentences


def test_interaction_is_found_where_there_is_one(
    decisions: swarmdp.recordings.Decisions,
) -> None:
    arena = Sphere((0, 0, 0), TANK)
    assert interaction_in_space(decisions, arena, seed=1).answer == "interaction found"
    deaf = record_space_rule(DEAF, 5).decisions(0.5)
    assert interaction_in_space(deaf, arena, seed=1).answer != "interaction found"


def test_stretches_keep_who_is_there(decisions: swarmdp.recordings.Decisions) -> None:
    places = decisions.positions.copy()
    headings = decisions.headings.copy()
    places[: decisions.times // 2, 0] = headings[: decisions.times // 2, 0] = np.nan
    part = replace(decisions, positions=places, headings=headings)
    stretches = stretches_of(part, 30)
    seen = part.headed[: stretches.count * 30].sum()
    assert seen <= stretches.present.sum() <= 1.1 * seen
    assert not stretches.present[0][:, stretches.individual[0] == 0].any()
    measures = measure_groups(stretches, None)
    count = stretches.present.sum(axis=2)
    total = np.where(stretches.present[..., None], stretches.heading, 0).sum(axis=2)
    np.testing.assert_allclose(measures["polarisation"], np.linalg.norm(total, axis=2) / count)


def test_a_whole_analysis_is_saved_and_read_again(aligned: Recording, tmp_path: Path) -> None:
    short = Recording(aligned.positions[:600], fps=10, unit="cm")
    said: list[str] = []
    arena = Sphere((0.0, 0.0, 0.0), TANK)
    found = swarmdp.analyse(short, seed=1, dt=0.5, arena=arena, say=said.append, progress=False)
    assert isinstance(found, swarmdp.recordings.SpaceAnalysis)
    assert found.interaction.answer == "interaction found"
    assert found.distances["controller"] < found.distances["no reaction to others"]
    assert found.verdict is not None
    assert len(said) >= 5
    found.save(tmp_path)
    again = swarmdp.load(tmp_path)
    assert again.conclusions == found.conclusions
    assert again.arena == arena
    same, other = (part.simulate(seed=3).position for part in (again, found))
    np.testing.assert_array_equal(same, other)


def test_a_third_coordinate_that_never_changes_is_left_out() -> None:
    rng = np.random.default_rng(3)
    headings = np.cumsum(0.3 * rng.standard_normal((200, 4)), axis=0)
    places = np.cumsum(np.stack([np.cos(headings), np.sin(headings)], axis=-1), axis=0)
    lifted = np.concatenate([places, np.full((200, 4, 1), 7.0)], axis=2)
    said: list[str] = []
    found = swarmdp.analyse(
        Recording(lifted, fps=4, unit="m"),
        seed=1,
        dt=0.25,
        arena=None,
        iterations=1,
        resamples=0,
        judge=False,
        say=said.append,
        progress=False,
    )
    assert isinstance(found, swarmdp.recordings.Analysis)
    assert said[0] == "z never changes: analysed in the plane of the two others"


def test_arenas_of_the_plane_are_refused(aligned: Recording) -> None:
    with pytest.raises(InvalidInput, match="needs an arena in space"):
        swarmdp.analyse(aligned, seed=1, arena=swarmdp.recordings.Circle((0.0, 0.0), 5.0))
    with pytest.raises(InvalidInput, match="calibrated swarms are in the plane"):
        swarmdp.recordings.Swarm.from_recording(aligned.decisions(0.5).train)


def test_walls() -> None:
    box = Cuboid((0.0, 0.0, 0.0), (4.0, 6.0, 8.0))
    distance, outwards = box.wall(np.array([[1.0, 3.0, 4.0], [2.0, 5.5, 4.0]]))
    np.testing.assert_allclose(distance, [1.0, 0.5])
    np.testing.assert_allclose(outwards, [[-1, 0, 0], [0, 1, 0]])
    distance, outwards = Sphere((0, 0, 0), 2.0).wall(np.array([[0.0, 0.0, 1.5]]))
    np.testing.assert_allclose(distance, [0.5])
    np.testing.assert_allclose(outwards, [[0, 0, 1]])
    np.testing.assert_allclose(
        PeriodicSpace((1.0, 1.0, 1.0)).gaps(np.array([0.9, 0.4, -0.6])), [-0.1, 0.4, 0.4]
    )
    with pytest.raises(InvalidInput, match="upper corner"):
        Cuboid((0.0, 0.0, 0.0), (1.0, 0.0, 1.0))
