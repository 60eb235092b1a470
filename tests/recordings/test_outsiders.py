"""Outsiders: read, kept apart, seen in the rule, and played back."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest

import swarmdp
from swarmdp.recordings.controller_families import rule_as_it_is
from swarmdp.recordings.couzin import Couzin
from swarmdp.recordings.interaction import shifted_decisions
from swarmdp.recordings.outsiders import Outsiders
from swarmdp.recordings.rule import Rule, fit_rule
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.zonal import Reaction, Zonal, ZonalController
from swarmdp.support.errors import InvalidInput
from tests.recordings.test_couzin import TRUTH


def driven(seed: int = 1, steps: int = 900, pull: float = -0.3, reach: float = 6.0) -> np.ndarray:
    """Tracks (steps, 13, 2) of twelve individuals that avoid the last one within a reach."""
    rng = np.random.default_rng(seed)
    place, heading = rng.uniform(-8, 8, (12, 2)), rng.uniform(-3, 3, 12)
    angle = rng.uniform(-3, 3)
    dog = np.zeros(2)
    kept = []
    for _ in range(steps):
        gap = dog - place
        away = np.hypot(*gap.T)
        towards = np.sin(np.arctan2(gap[:, 1], gap[:, 0]) - heading)
        home = 0.15 * np.sin(np.arctan2(-place[:, 1], -place[:, 0]) - heading)
        heading = heading + np.where(away < reach, pull * towards, 0.0) + home
        heading = heading + 0.25 * rng.standard_normal(12)
        place = place + 0.4 * np.stack([np.cos(heading), np.sin(heading)], -1)
        angle += 0.5 * rng.standard_normal() + 0.3 * math.sin(math.atan2(-dog[1], -dog[0]) - angle)
        dog = dog + 0.5 * np.array([math.cos(angle), math.sin(angle)])
        kept.append(np.vstack([place, dog]))
    return np.stack(kept)


def table(tracks: np.ndarray) -> pandas.DataFrame:
    frames, individuals, _ = tracks.shape
    return pandas.DataFrame(
        {
            "frame": np.repeat(np.arange(frames), individuals),
            "individual": np.tile(np.arange(individuals), frames),
            "x": tracks[..., 0].ravel(),
            "y": tracks[..., 1].ravel(),
            "animal_kind": np.tile(["sheep"] * (individuals - 1) + ["dog"], frames),
        }
    )


@pytest.fixture(scope="module")
def tracks() -> np.ndarray:
    return driven()


@pytest.fixture(scope="module")
def recording(tracks: np.ndarray) -> swarmdp.Recording:
    return swarmdp.Recording(tracks, fps=1, unit="m").with_others(["dog=12"])


def test_kinds_and_others_are_read_from_a_column(tracks: np.ndarray, tmp_path: Path) -> None:
    file = tmp_path / "farm.csv"
    table(tracks[:60]).to_csv(file, index=False)
    by_kind = swarmdp.read_tracks(file, fps=1, unit="m", kind="animal_kind", others=["dog"])
    by_name = swarmdp.read_tracks(file, fps=1, unit="m", others=["dog=12"])
    for read in (by_kind, by_name):
        assert read.n_individuals == 12
        assert read.outsiders is not None
        assert read.outsiders.kinds == ("dog",)
        np.testing.assert_allclose(read.outsiders.positions[:, 0], tracks[:60, 12])
    assert by_kind.kinds == ("sheep",) * 12
    assert "played back, not learned: dog" in by_name.notes[-1] or "dog" in by_name.notes[-1]


def test_a_second_file_has_outsiders_of_the_same_frames(tracks: np.ndarray, tmp_path: Path) -> None:
    whole = table(tracks[:60])
    sheep, dog = tmp_path / "sheep.csv", tmp_path / "dog.csv"
    whole[whole.individual < 12].to_csv(sheep, index=False)
    whole[(whole.individual == 12) & (whole.frame >= 10)].to_csv(dog, index=False)
    read = swarmdp.read_tracks(sheep, fps=1, unit="m", others=[dog])
    assert read.outsiders is not None
    assert read.outsiders.kinds == ("dog",)
    assert np.isnan(read.outsiders.positions[:10]).all()
    np.testing.assert_allclose(read.outsiders.positions[10:, 0], tracks[10:60, 12])


def test_bad_outsiders_are_told_in_one_line(tracks: np.ndarray) -> None:
    frame = table(tracks[:20])
    frame.loc[frame.index[-1], "animal_kind"] = "sheep"
    with pytest.raises(
        InvalidInput, match=r"kinds must not change in time: individual 12 is 'dog'"
    ):
        swarmdp.Recording.from_frame(frame, columns={"kind": "animal_kind"}, fps=1, unit="m")
    recording = swarmdp.Recording(tracks[:20], fps=1, unit="m")
    with pytest.raises(InvalidInput, match="everyone would be an outsider"):
        recording.with_others([str(name) for name in recording.names])
    with pytest.raises(InvalidInput, match="there is no kind and no individual 'cat'"):
        recording.with_others(["cat"])
    with pytest.raises(InvalidInput, match="place must be 2 coordinates"):
        recording.with_place("food", (1.0,))


def test_parts_and_pools_keep_outsiders(recording: swarmdp.Recording) -> None:
    assert recording.outsiders is not None
    part = recording.between(10, 30)
    assert part.outsiders is not None
    np.testing.assert_array_equal(part.outsiders.positions, recording.outsiders.positions[10:30])
    both = swarmdp.Recording.pooled([part, recording.between(40, 60)])
    assert both.outsiders is not None
    assert both.outsiders.kinds == ("dog", "dog")
    assert np.isnan(both.outsiders.positions[20:, 0]).all()
    decisions = recording.decisions(1)
    test = decisions.test
    assert test.outside is not None
    assert test.clock is not None
    assert decisions.outsiders is not None
    np.testing.assert_array_equal(test.outside.positions, decisions.outsiders.positions[test.clock])


def test_the_rule_says_away_from_the_dog_with_its_reach(recording: swarmdp.Recording) -> None:
    rule = fit_rule(recording.decisions(1), None, seed=1)
    (part,) = [part for part in rule.outsiders if part.way == "towards"]
    assert part.kind == "dog"
    assert abs(part.gain + 0.3) < 5 * part.gain_error + 0.05
    assert abs(part.reach - 6.0) < 4 * part.reach_error
    assert part.shifted < abs(part.gain)
    assert any("away from the dog within" in line for line in rule.sentences)
    assert Rule.from_plain(rule.to_plain()).sentences == rule.sentences


def test_an_outsider_that_nobody_minds_is_not_in_the_rule() -> None:
    tracks = driven(seed=3, pull=0.0)
    rule = fit_rule(
        swarmdp.Recording(tracks, fps=1, unit="m").with_others(["dog=12"]).decisions(1), None
    )
    assert not rule.outsiders


@pytest.mark.parametrize("cue", ["food", "light"])
def test_a_place_and_a_field_are_found(cue: str) -> None:
    rng = np.random.default_rng(5)
    heading, place = rng.uniform(-3, 3, 10), rng.uniform(-5, 5, (10, 2))
    kept = []
    for _ in range(700):
        gap = np.array([3.0, 2.0]) - place
        towards = np.arctan2(gap[:, 1], gap[:, 0]) if cue == "food" else 1.0
        heading = heading + 0.3 * np.sin(towards - heading) + 0.3 * rng.standard_normal(10)
        place = place + 0.3 * np.stack([np.cos(heading), np.sin(heading)], -1)
        kept.append(place)
    recording = swarmdp.Recording(np.stack(kept), fps=1, unit="m")
    seen = recording.with_place("food", (3.0, 2.0)) if cue == "food" else recording
    seen = recording.with_field("light", 1.0) if cue == "light" else seen
    (part,) = fit_rule(seen.decisions(1), None, seed=1).outsiders
    assert part.kind == cue
    assert 0.2 < part.gain < 0.4
    if cue == "light":
        assert part.reach == math.inf
        assert "towards the light (" in part.sentence("m")


def test_shifted_tracks_leave_outsiders_where_they_are(recording: swarmdp.Recording) -> None:
    decisions = recording.decisions(1)
    (moved,) = shifted_decisions(decisions, 1, 0)
    assert moved.outside is not None
    assert decisions.outside is not None
    np.testing.assert_array_equal(moved.outside.positions, decisions.outside.positions)
    assert not np.allclose(np.nan_to_num(moved.positions), np.nan_to_num(decisions.positions))


def test_a_swarm_plays_outsiders_back_and_avoids_them(
    recording: swarmdp.Recording, tmp_path: Path
) -> None:
    decisions = recording.decisions(1)
    few = swarmdp.recordings.Observation(
        3, bearing=0, spacing=0, previous_turn=0, neighbours=3, outsider=4, outsider_distance=2
    )
    swarm = Swarm.from_recording(decisions.train, few, arena=None)
    assert swarm.state_names[-1] == "clock"
    assert "distance_to_dog" not in swarm.measures  # it may follow the group
    fed = recording.with_place("food", (1.0, 1.0)).decisions(1).train
    assert "distance_to_food" in Swarm.from_recording(fed, few, arena=None).measures
    demo = swarm.demo(decisions.test)
    assert swarm.outsiders is not None
    start = {name: demo[name][:, 0] for name in swarm.state_names}
    np.testing.assert_array_equal(start["clock"][0], decisions.test.clock[0])  # type: ignore[index]
    zone_model = ZonalController.from_plain(
        rule_as_it_is(swarm, fit_rule(decisions.train, None)).to_plain()
    )
    assert zone_model.reactions[0].kind == "dog"
    strong = Reaction("dog", "towards", 1e9, -1.0)
    away = {}
    for gain in (-1.0, 1.0):
        controller = replace(zone_model, reactions=(replace(strong, gain=gain),))
        system = Zonal(swarm, controller)
        run = swarmdp.rollout(system, system.expert, steps=40, seed=1, initial=start)
        assert (run["clock"][0, 40] == start["clock"][0] + 40).all()
        dog = swarm.outsiders
        away[gain] = dog.distances("dog", run["position"][:, 40], run["clock"][:, 40, 0]).mean()
    assert away[-1.0] > away[1.0]
    swarm.save(tmp_path)
    again = swarmdp.load(tmp_path / "swarm.nc")
    assert again.settings == swarm.settings
    np.testing.assert_array_equal(again.outsiders.positions, swarm.outsiders.positions)


def test_a_zone_model_keeps_the_time_of_outsiders(recording: swarmdp.Recording) -> None:
    """It does not react to them, but its swarm is measured and seen with them."""
    swarm = swarmdp.recordings.Swarm.from_recording(recording.decisions(1).train, arena=None)
    model = Couzin(swarm, TRUTH)
    run = swarmdp.rollout(model, model.expert, steps=3, runs=2, seed=1)
    np.testing.assert_array_equal(np.diff(run["clock"], axis=1), 1)


def test_outsiders_that_move_go_with_the_group_in_open_space() -> None:
    rng = np.random.default_rng(1)
    positions = np.cumsum(rng.normal(0.3, 0.1, (60, 2, 2)), axis=0)
    food = np.full((60, 1, 2), 5.0)
    centres = np.cumsum(rng.normal(0.3, 0.1, (60, 2)), axis=0)
    others = Outsiders(
        np.concatenate([positions, food], axis=1), ("dog", "dog", "food"), centres=centres
    )
    assert others.followers == ("dog",)
    clock, group = np.array([3, 40]), rng.normal(0, 5, (2, 7, 2))
    places = others.places_at(clock, group)
    gaps = places[:, :2] - group.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(gaps, positions[clock] - centres[clock][:, None])
    np.testing.assert_array_equal(places[:, 2], food[clock, 0])
    # A group that stands where the recorded one stood sees them where they were.
    same = np.repeat(centres[clock][:, None], 7, axis=1)
    np.testing.assert_allclose(others.places_at(clock, same), others.positions[clock])
    # Who looks straight away from the nearest dog.
    gap = places[:, 0] - group[:, 0]
    nearest = np.where(
        (np.linalg.norm(gap, axis=1) < np.linalg.norm(places[:, 1] - group[:, 0], axis=1))[:, None],
        gap,
        places[:, 1] - group[:, 0],
    )
    heading = np.zeros((2, 7))
    heading[:, 0] = np.arctan2(-nearest[:, 1], -nearest[:, 0])
    np.testing.assert_allclose(others.headed_away("dog", group, heading, clock)[:, 0], 1.0)
    with pytest.raises(InvalidInput, match="centres must have the shape"):
        Outsiders(positions, ("dog", "dog"), centres=np.zeros((3, 2)))
