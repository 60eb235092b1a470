"""Distance or time to collision is told in crowds with known laws; nothing without encounters."""

import math
from dataclasses import replace

import numpy as np
import pytest

import swarmdp
from studies.simulated_crowds import Crowd, arena_of, record_crowd, record_flock
from swarmdp.recordings import Periodic
from swarmdp.recordings.anticipation import Anticipation, anticipation, time_to_collision
from swarmdp.support.errors import InvalidInput

AHEAD = Crowd(
    law="time to collision",
    people=25,
    side=9.0,
    contact=0.45,
    strength=1.8,
    range=3.0,
    exponent=2.0,
    speed=1.3,
    speed_spread=0.25,
    wandering=0.05,
    rate=2.5,
    error=0.01,
)
NEAR = replace(AHEAD, law="distance", strength=5.0, range=0.6)


def found(crowd: Crowd, seconds: float = 60.0) -> Anticipation:
    decisions = record_crowd(crowd, 3, seconds).decisions(dt=0.4)
    return anticipation(decisions, arena_of(crowd), seed=1)


def test_the_time_to_collision_is_that_of_two_discs() -> None:
    gap = np.array([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [0.3, 0.0], [4.0, 1.2], [4.0, 0.0]])
    velocity = np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 0.2]])
    times = time_to_collision(gap, velocity, 1.0)
    np.testing.assert_allclose(times[:5], [1.5, np.inf, np.inf, 0.0, np.inf])
    # Where they touch they are as far apart as the contact distance.
    touching = gap[5] + times[5] * velocity[5]
    assert math.hypot(*touching) == pytest.approx(1.0)


@pytest.mark.parametrize("crowd", [AHEAD, NEAR])
def test_the_law_is_told(crowd: Crowd) -> None:
    answer = found(crowd)
    assert answer.answer == crowd.law
    assert abs(answer.difference) > 2 * answer.difference_error
    assert ("tau^-p" in answer.sentence) == (crowd.law == "time to collision")
    if crowd.law == "time to collision":
        assert answer.contact == pytest.approx(crowd.contact, rel=0.25)
        assert answer.energy[0] > answer.energy[-1]
    again = Anticipation.from_plain(answer.to_plain())
    assert again.sentence == answer.sentence
    np.testing.assert_array_equal(again.energy, answer.energy)


def test_the_same_seed_gives_the_same_answer() -> None:
    one, other = (found(AHEAD, 30.0).to_plain() for _ in range(2))
    assert one == other


@pytest.mark.parametrize("crowd", [AHEAD, NEAR])
def test_a_flock_is_compared_within_itself(crowd: Crowd) -> None:
    # Against places at other times, both would be told as 'distance', by tens of nats.
    answer = anticipation(record_flock(crowd, 3).decisions(dt=0.4), seed=1)
    assert answer.together
    assert "keeps together" in answer.sentence
    assert answer.answer in (crowd.law, "not told")
    assert abs(answer.difference) < 1.0
    assert (answer.difference > 0) == (crowd.law == "time to collision")
    assert Anticipation.from_plain(answer.to_plain()).together


def test_a_flock_across_the_rim_of_a_periodic_arena_is_one_group() -> None:
    flock = record_flock(AHEAD, 3, 100.0)
    recording = replace(flock, positions=flock.positions % 60.0)
    answer = anticipation(recording.decisions(dt=0.4), Periodic((60.0, 60.0)), seed=1)
    assert answer.together
    # Torn apart at the rim, its distances would tell nats as those of a crowd do.
    assert abs(answer.difference) < 1.0


def test_distances_of_those_who_partly_keep_together_are_not_told() -> None:
    short = record_flock(AHEAD, 3, 40.0)
    recording = replace(short, positions=short.positions % 60.0)
    answer = anticipation(recording.decisions(dt=0.4), Periodic((60.0, 60.0)), seed=1)
    assert not answer.together
    assert answer.difference < -2 * answer.difference_error
    assert answer.answer == "not told"


def test_people_who_never_meet_have_no_answer() -> None:
    lanes = np.arange(6)[None, :, None] * np.array([0.0, 50.0])
    steps = np.arange(120)[:, None, None] * np.array([1.0, 0.0]) * np.linspace(0.5, 1.5, 6)[:, None]
    sway = 0.02 * np.random.default_rng(1).standard_normal((120, 6, 2))
    recording = swarmdp.Recording(lanes + steps + sway, fps=2, unit="m")
    answer = anticipation(recording.decisions(dt=0.5))
    assert answer.answer == "no encounters"
    assert "cannot be asked: " in answer.sentence
    assert Anticipation.from_plain(answer.to_plain()).sentence == answer.sentence


def test_a_contact_must_be_a_length() -> None:
    decisions = record_crowd(AHEAD, 3, 20.0).decisions(dt=0.4)
    with pytest.raises(InvalidInput, match="contact must be"):
        anticipation(decisions, arena_of(AHEAD), contact=-1.0)
    with pytest.raises(InvalidInput, match="contact"):
        swarmdp.recordings.AnalysisSettings(contact=0.0)
