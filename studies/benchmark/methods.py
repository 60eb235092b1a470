"""The methods of the benchmark: a new one is an adapter and a row."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies.benchmark.imitation import imitated, imitated_reward
from studies.benchmark.method import Acting, Floats, Method, Rewarding
from swarmdp.irl.algorithm import initial_reward
from swarmdp.irl.inference import explain
from swarmdp.irl.matching import table_of
from swarmdp.irl.updates.registry import UPDATES
from swarmdp.judging.baselines import doing_nothing, random_policies
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller, FunctionPolicy, LocalPolicy
from swarmdp.recordings.arena import Arena, Circle
from swarmdp.recordings.controller_families import rule_as_it_is
from swarmdp.recordings.controller_search import find_controller
from swarmdp.recordings.controllers import habitual_policy
from swarmdp.recordings.couzin import Couzin
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.rule import fit_rule
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.zonal import Zonal

NEED_ACTIONS = ("policy_matching", "bayesian")
_NEIGHBOURS = 6  # that a plain regression looks at
_CLEAR = 4.0  # standard errors beyond which it believes in a coefficient


def _fitted(system: System, demo: Trajectory, seed: int, **options: Any) -> swarmdp.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.SwarmdpWarning)
        return swarmdp.fit(system, demo, seed=seed, progress=False, threads=1, **options)


def fitting(**options: Any) -> tuple[Acting, Rewarding]:
    """The policy and the reward of a fit with these options."""

    def policy(system: System, demo: Trajectory, seed: int) -> Controller:
        return _fitted(system, demo, seed, **options).policy

    def reward(system: System, demo: Trajectory, seed: int) -> Floats:
        weights: Floats = _fitted(system, demo, seed, **options).reward.weights[0]
        return weights

    return policy, reward


def histogram(system: System, demo: Trajectory, seed: int) -> Floats:
    """How often each observation is made, as a reward."""
    result = _fitted(system, demo, seed, iterations=1, judge=False)
    weights: Floats = initial_reward(result.expert_mu).weights[0]
    return weights


def planned_for_histogram(system: System, demo: Trajectory, seed: int) -> Controller:
    """The policy that is planned for the histogram."""
    reward = swarmdp.Reward(histogram(system, demo, seed), system.features.blocks)
    return swarmdp.replan(reward, system, seed=seed, judge=False, progress=False).policy


def searched(system: System, demo: Trajectory, seed: int) -> Controller:
    """Policy search for the nearest feature expectations, without a reward."""
    return swarmdp.fitting.nearest_policy(system, demo, seed=seed, progress=False).policy


def cloned(system: System, demo: Trajectory, seed: int) -> Controller:
    """The likeliest action in each observation, as the system's law explains the demo."""
    nothing = doing_nothing(system)
    assert isinstance(nothing, swarmdp.Policy)
    decisions = explain(system, demo, symmetry=Symmetry.of(system), seed=seed)
    if decisions is None:
        return nothing
    visited = (decisions.support != 0).any(axis=1)
    return table_of(system, decisions.support, visited, nothing)


def drawn(system: System, demo: Trajectory, seed: int) -> Controller:
    """A table drawn at random."""
    return random_policies(system, 1, np.random.default_rng(seed))[0]


def read_rule(train: Decisions, arena: Arena, seed: int) -> Mapping[str, float]:
    """The rule of `swarmdp.analyse`."""
    found = fit_rule(train, arena, seed=seed)
    return {part.component: part.zone.reach for part in found.parts}


def regressed_rule(train: Decisions, arena: Arena, seed: int) -> Mapping[str, float]:
    """Turns regressed on the nearest, headings of some others, the centre of all, the wall."""
    place, heading, turns = train.positions[:-1], train.headings[:-1], train.turns
    apart = place[:, None] - place[:, :, None]  # of each individual to each other
    bearing = np.arctan2(apart[..., 1], apart[..., 0]) - heading[:, :, None]
    distance = np.linalg.norm(apart, axis=-1)
    distance[:, np.arange(place.shape[1]), np.arange(place.shape[1])] = np.inf
    order = np.argsort(np.where(np.isnan(distance), np.inf, distance), axis=2)
    near = order[:, :, :_NEIGHBOURS]
    towards = np.take_along_axis(np.sin(bearing), order[:, :, :1], axis=2)[..., 0]
    others = np.sin(heading[:, None] - heading[:, :, None])
    along = np.take_along_axis(others, near, axis=2).mean(axis=2)
    present = np.isfinite(place)
    total = np.where(present, place, 0.0).sum(axis=1, keepdims=True)
    middle = total / np.maximum(present.sum(axis=1, keepdims=True), 1) - place
    centre = np.sin(np.arctan2(middle[..., 1], middle[..., 0]) - heading)
    columns = np.stack([-towards, along, centre, *_from_wall(place, heading, arena)], axis=-1)
    known = np.isfinite(turns) & np.isfinite(columns).all(axis=-1)
    x, y = columns[known], turns[known]
    gains = np.linalg.lstsq(x, y, rcond=None)[0]
    errors = np.sqrt(np.diag(np.linalg.inv(x.T @ x)) * np.mean((y - x @ gains) ** 2))
    names = ("repulsion", "alignment", "attraction")
    clear = (gains > _CLEAR * errors)[: len(names)]
    return {name: np.nan for name, found in zip(names, clear, strict=True) if found}


def _from_wall(place: Floats, heading: Floats, arena: Arena | None) -> list[Floats]:
    """In a round arena, the direction to its centre, which counts more near the wall."""
    if not isinstance(arena, Circle):
        return []
    inwards = np.asarray(arena.centre) - place
    bearing = np.arctan2(inwards[..., 1], inwards[..., 0]) - heading
    weights = [(np.linalg.norm(inwards, axis=-1) / arena.radius) ** power for power in (4, 16)]
    return [np.sin(bearing) * weight for weight in weights]


def zone_rule(train: Decisions, arena: Arena, seed: int) -> Mapping[str, float]:
    """The zones of a zone model that is fitted to the group, if they hold anything."""
    zones = _zone_model(Swarm.from_recording(train, arena=arena)).zones
    radii = {
        "repulsion": (0.0, zones.repulsion),
        "alignment": (zones.repulsion, zones.orientation),
        "attraction": (max(zones.repulsion, zones.orientation), zones.attraction),
    }
    return {name: outer for name, (inner, outer) in radii.items() if outer > inner}


def searched_group(swarm: Swarm, train: Decisions, seed: int) -> tuple[System, LocalPolicy]:
    """The controller of `swarmdp.analyse`."""
    rule = fit_rule(train, swarm.arena, seed=seed)
    controlled = Zonal(swarm, find_controller(swarm, rule, seed=seed).controller)
    return controlled, FunctionPolicy(controlled.expert)


def regressed_group(swarm: Swarm, train: Decisions, seed: int) -> tuple[System, LocalPolicy]:
    """The rule that regression finds, as a controller, with nothing fitted to the group."""
    ruled = Zonal(swarm, rule_as_it_is(swarm, fit_rule(train, swarm.arena, seed=seed)))
    return ruled, FunctionPolicy(ruled.expert)


def zone_group(swarm: Swarm, train: Decisions, seed: int) -> tuple[System, LocalPolicy]:
    """A zone model that is fitted to the group."""
    model = _zone_model(swarm)
    return model, FunctionPolicy(model.expert)


def cloned_group(swarm: Swarm, train: Decisions, seed: int) -> tuple[System, LocalPolicy]:
    """The turns that individuals made in each class of observations."""
    return swarm, habitual_policy(swarm, swarm.habits)


def straight_group(swarm: Swarm, train: Decisions, seed: int) -> tuple[System, LocalPolicy]:
    """Individuals that do not turn but for their noise."""

    def straight(observations: NDArray[Any]) -> NDArray[Any]:
        return np.zeros(observations.shape[:2])

    return swarm, FunctionPolicy(straight)


def _zone_model(swarm: Swarm) -> Couzin:
    return swarm.models["couzin"]()


def methods() -> dict[str, Method]:
    """All methods, by name."""
    default, reward = fitting()
    rows = [
        Method("swarmdp, default", "simulator", default, reward, read_rule, searched_group),
        Method("histogram", "simulator", planned_for_histogram, histogram),
        Method("Algorithm 2 alone", "simulator", *fitting(policy_search=False, actions="ignore")),
        Method("policy search alone", "simulator", searched),
        Method("cloning", "law of motion", cloned, group=cloned_group),
        Method("regression", "nothing", rule=regressed_rule, group=regressed_group),
        Method("zone model", "simulator", rule=zone_rule, group=zone_group),
        *(
            Method(
                f"update {name}",
                "simulator, actions" if name in NEED_ACTIONS else "simulator",
                *fitting(update=name, reward="nearest", judge=False),
                actions=name in NEED_ACTIONS,
            )
            for name in UPDATES
        ),
        Method("imitation BC", "actions, gradients", imitated("BC"), actions=True),
        Method("imitation GAIL", "actions, simulator, gradients", imitated("GAIL"), actions=True),
        Method(
            "imitation AIRL",
            "actions, simulator, gradients",
            imitated("AIRL"),
            imitated_reward,
            actions=True,
        ),
        Method("random", "nothing", drawn, group=straight_group),
    ]
    return {method.name: method for method in rows}
