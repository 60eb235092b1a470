"""The rule of speeds: what was simulated is found, and nothing where speeds do not react."""

import numpy as np
import pytest

import swarmdp
from swarmdp.recordings.analysis_settings import AnalysisSettings
from swarmdp.recordings.analysis_steps import AnalysisSteps
from swarmdp.recordings.arena import Periodic
from swarmdp.recordings.calibration import score_grid
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.reactions import Reactions
from swarmdp.recordings.responses import with_responses
from swarmdp.recordings.speed_rule import SpeedRule, fit_speed_rule
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.zonal import Zonal, ZonalController
from swarmdp.recordings.zone_models import ZoneModel
from swarmdp.support.errors import InvalidInput

SIDE, AGENTS, STEPS, REACH = 8.0, 12, 700, 1.5
ARENA = Periodic((SIDE, SIDE))


def walkers(gain: float, spread: float = 0.1, seed: int = 1) -> Decisions:
    """Walkers who change their speed by `gain` where someone is right ahead."""
    rng = np.random.default_rng(seed)
    place, heading = rng.uniform(0, SIDE, (AGENTS, 2)), rng.uniform(-np.pi, np.pi, AGENTS)
    speed, frames = np.full(AGENTS, 1.0), []
    for _ in range(STEPS):
        gap = (place[None] - place[:, None] + SIDE / 2) % SIDE - SIDE / 2
        distance = np.hypot(gap[..., 0], gap[..., 1])
        np.fill_diagonal(distance, np.inf)
        ahead = gap[..., 0] * np.cos(heading)[:, None] + gap[..., 1] * np.sin(heading)[:, None]
        near = np.where(ahead > 0.5 * distance, np.clip(1 - distance / REACH, 0, None), 0.0)
        speed += 0.4 * (1 - speed) + gain * near.max(axis=1) + spread * rng.standard_normal(AGENTS)
        speed = np.maximum(speed, 0.05)
        heading = heading + 0.15 * rng.standard_normal(AGENTS)
        step = speed * 0.2 * np.stack([np.cos(heading), np.sin(heading)])
        place = (place + step.T) % SIDE
        frames.append(place)
    return swarmdp.Recording(np.array(frames), fps=5, unit="m").decisions(dt=0.2)


@pytest.fixture(scope="module")
def braking() -> Decisions:
    return walkers(-0.4)


def test_braking_for_those_ahead_is_found(braking: Decisions) -> None:
    rule = fit_speed_rule(braking, ARENA, contact=0.3, seed=1)
    part = rule.part("density ahead")
    assert part is not None
    assert part.gain == pytest.approx(-0.4, abs=0.12)
    assert part.reach == pytest.approx(REACH, rel=0.35)
    assert abs(part.gain) > part.shifted
    assert "Individuals slow down when others are within" in part.sentence("m")
    assert SpeedRule.from_plain(rule.to_plain()).sentences == rule.sentences
    assert list(rule.table.index) == [other.component for other in rule.parts]
    assert str(fit_speed_rule(braking, ARENA, contact=0.3, seed=1)) == str(rule)


def test_speeds_that_only_wander_have_no_rule() -> None:
    rule = fit_speed_rule(walkers(0.0), ARENA, contact=0.3, seed=1)
    assert rule.parts == ()
    assert rule.sentences[0].startswith("No rule of speeds")


def test_constant_speeds_are_named() -> None:
    rule = fit_speed_rule(walkers(0.0, spread=0.0), ARENA, contact=0.3)
    assert rule.sentences == (
        f"Speeds hardly vary (by {rule.varying:.1%} of their mean): individuals only turn.",
    )


def test_components_are_chosen_by_name(braking: Decisions) -> None:
    rule = fit_speed_rule(braking, ARENA, contact=0.3, components=["sidestep"])
    assert rule.part("density ahead") is None
    for wrong in (["speed"], "sidestep"):
        with pytest.raises(InvalidInput, match="speed_components must be some of"):
            swarmdp.recordings.AnalysisSettings(speed_components=wrong)


def test_agents_of_a_controller_brake_as_recorded(braking: Decisions) -> None:
    observation = swarmdp.recordings.Observation(neighbours=3)
    swarm = Swarm.from_recording(braking, observation, arena=ARENA)
    rule = fit_speed_rule(braking, ARENA, contact=0.3, components=["density ahead"], seed=1)
    plain = ZonalController(ZoneModel("sum", {}), (), 0.0, 0.0, 0.0, 1.0)
    controller = with_responses(plain, swarm, rule)
    assert with_responses(plain, swarm, None) == plain
    assert ZonalController.from_plain(controller.to_plain()) == controller
    assert "speed: density ahead within" in controller.words("m")
    slowing = []
    for one in (plain, controller):
        made = Zonal(swarm, one)
        track = swarmdp.rollout(made, made.expert, steps=300, runs=4, seed=1)
        crowded = _near_ahead(track["position"], track["heading"])
        change = track["pace"][:, 1:] - swarm.speeds.memory * track["pace"][:, :-1]
        slowing.append(np.polyfit(crowded[:, :-1].ravel(), change.ravel(), 1)[0])
    # In normal scores of the speed: the gain over the spread of speeds.
    gain = controller.responses[0].gain / controller.speed_spread
    assert abs(slowing[0]) < 0.2 * abs(gain)
    assert slowing[1] < 0.5 * gain


def test_speeds_that_react_keep_their_mean_and_spread(braking: Decisions) -> None:
    # Added to speeds that wander as recorded, the braking would count twice: half a metre a second.
    swarm = Swarm.from_recording(braking, arena=ARENA)
    rule = fit_speed_rule(braking, ARENA, contact=0.3, seed=1)
    plain = ZonalController(ZoneModel("sum", {}), (), 0.0, 0.0, 0.0, 1.0)
    made = Zonal(swarm, with_responses(plain, swarm, rule))
    track = swarmdp.rollout(made, made.expert, steps=300, runs=4, seed=1)
    speeds = np.interp(track["pace"], score_grid(), swarm.speeds.table)
    recorded = braking.speeds[braking.known]
    assert speeds.mean() == pytest.approx(recorded.mean(), rel=0.05)
    assert speeds.std() == pytest.approx(recorded.std(), rel=0.2)


def test_the_controller_that_is_found_reacts_by_its_speed(braking: Decisions) -> None:
    train = braking.train
    swarm = Swarm.from_recording(train, arena=ARENA)
    rule = fit_speed_rule(train, ARENA, contact=0.3, seed=1)
    options = AnalysisSettings()
    recording = swarmdp.Recording(braking.positions, fps=5, unit="m")
    steps = AnalysisSteps(recording, options, 1, None, False, lambda text: None)
    controller = steps.search_controller(swarm, None, rule).controller
    assert [part.component for part in controller.responses] == ["density ahead"]
    assert controller.speed_noise > 0


def _near_ahead(place: np.ndarray, heading: np.ndarray) -> np.ndarray:
    gap = place[..., None, :, :] - place[..., :, None, :]
    gap = (gap + SIDE / 2) % SIDE - SIDE / 2
    distance = np.hypot(gap[..., 0], gap[..., 1])
    ahead = gap[..., 0] * np.cos(heading)[..., None] + gap[..., 1] * np.sin(heading)[..., None]
    distance = np.where(np.eye(AGENTS, dtype=bool), np.inf, distance)
    near = np.where(ahead > 0.5 * distance, np.clip(1 - distance / REACH, 0, None), 0.0)
    return np.asarray(near.max(axis=-1))


def test_both_are_kept_in_files(braking: Decisions) -> None:
    tracks = braking.positions[:200]
    recording = swarmdp.Recording(tracks, fps=5, unit="m")
    reactions = Reactions.read(
        recording, recording.decisions(dt=0.4), ARENA, cleaning={"jump": 8.0}, seed=1
    )
    assert Reactions.from_plain(reactions.to_plain()).sentences == reactions.sentences
    assert str(reactions) == "\n".join(reactions.sentences)
