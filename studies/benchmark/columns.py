"""What the benchmark asks, and how answers are scored: only by closed-loop runs and known truth.

Each column has tasks of two parts: those for development, on which any method may be tuned, and
those that are run once. A task gives each method the same demo and scores what it returns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

import swarmdp
from studies import known_rules, other_bodies, recordings
from studies.battery import development as battery_development
from studies.battery import final as battery_final
from studies.battery.case import Case
from studies.benchmark.method import Method
from studies.bodies.cases import GROUPS, bodies_of
from studies.bodies.criterion import medians, seen
from studies.known import development as rewards_development
from studies.known import unseen as rewards_unseen
from studies.known.problem import Problem, planned
from studies.simulated_rules import KINDS, KnownRule, record_rule
from swarmdp.fitting.replan import QUICK_SEARCH
from swarmdp.model.streams import derived_seed
from swarmdp.model.system import System
from swarmdp.model.traits import HasExpert
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller, SoftPolicy, TablePolicy
from swarmdp.recordings.arena import Circle
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.group_distances import group_distance, own_distance
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.swarm import Swarm

DEVELOPMENT, FINAL = "development", "run once"
DEMO, LEARN, SCORE = 1, 2, 3  # parts of an experiment with random numbers of their own
_RUNS = 10  # of a body, in each experiment
_GROUP_RUNS = 24  # of a group that is compared with a recording

Scores = Mapping[str, float]
Ask = Callable[[Method, int], Scores]
"""What a method scores, with a seed."""


@dataclass(frozen=True)
class Column:
    """A kind of question.

    Parameters
    ----------
    name
        As the table has it.
    told
        What the number is, in a sentence.
    high
        Whether more is better.
    tasks
        The tasks of a part, by name.
    enters
        Whether a method answers such questions.

    """

    name: str
    told: str
    high: bool
    tasks: Callable[[str], Mapping[str, Ask]]
    enters: Callable[[Method], bool]


def _recorded(system: System, expert: Controller, demo: Trajectory, seed: int) -> Trajectory:
    """The same demo with its actions."""
    return swarmdp.rollout(
        system,
        expert,
        steps=demo.steps,
        runs=demo.runs,
        seed=seed,
        record=["states", "observations", "actions"],
        progress=False,
    )


# Unseen swarms: is what the learned swarm does what its expert does?


def _swarms(part: str) -> dict[str, Ask]:
    cases = battery_development.cases() if part == DEVELOPMENT else battery_final.cases()
    return {case.name: _asked_of(case) for case in cases if case.learnable}


def _asked_of(case: Case) -> Ask:
    def ask(method: Method, seed: int) -> Scores:
        assert method.policy is not None
        started = derived_seed(seed, DEMO) % 2**32
        demo = case.demo(started)
        if method.actions:
            assert isinstance(case.system, HasExpert)
            demo = _recorded(case.system, case.system.expert, demo, started)
        policy = method.policy(case.system, demo, derived_seed(seed, LEARN))
        scores = case.judge(policy, derived_seed(seed, SCORE) % 2**32)
        off = max(score["off"] for score in scores.values())
        return {"score": float(off <= 1), "off": off}

    return ask


# Known rewards: the value of what is planned, or of the policy, in units of the true reward.


def _rewards(part: str, changed: bool) -> dict[str, Ask]:
    some = rewards_development if part == DEVELOPMENT else rewards_unseen
    return {problem.name: _worth(problem, changed) for problem in some.problems()}


def _worth(problem: Problem, changed: bool) -> Ask:
    def ask(method: Method, seed: int) -> Scores:
        mdp = problem.here.mdp
        started = derived_seed(seed, DEMO)
        demo = problem.demo(started)
        if method.actions:
            demo = _recorded(mdp, planned(mdp, problem.reward), demo, started)
        if method.reward is not None:
            weights = method.reward(mdp, demo, derived_seed(seed, LEARN))
            return {"score": problem.share(weights, changed=changed)}
        assert method.policy is not None
        policy = method.policy(mdp, demo, derived_seed(seed, LEARN))
        assert isinstance(policy, TablePolicy | SoftPolicy)
        return {"score": problem.share_of(policy, changed=changed)}

    return ask


# Other bodies: does a swarm of bodies move as the points did that were recorded?


def _bodies(part: str) -> dict[str, Ask]:
    return {f"flock, {name}": _embodied(part, name) for name in bodies_of(part, "flock")}


def _embodied(part: str, name: str) -> Ask:
    def ask(method: Method, seed: int) -> Scores:
        points, body = GROUPS["flock"].points, bodies_of(part, "flock")[name]
        assert isinstance(points, HasExpert)
        started = derived_seed(seed, DEMO)
        demo = swarmdp.rollout(
            points, points.expert, steps=100, runs=3, seed=started, progress=False
        )
        if method.actions:
            demo = _recorded(points, points.expert, demo, started)
        learn = derived_seed(seed, LEARN)
        policy: Controller
        if method.reward is not None:
            reward = swarmdp.Reward(method.reward(points, demo, learn), points.features.blocks)
            policy = swarmdp.replan(
                reward, body, seed=learn, search=QUICK_SEARCH, judge=False, progress=False
            ).policy
        else:
            assert method.policy is not None
            found = method.policy(points, demo, learn)
            assert isinstance(found, TablePolicy)
            turns = np.asarray(points.actions, np.float64)[found.table[:1]]
            policy = other_bodies.copied(body, turns, 1.0)
        runs = seen(body.group, body, policy, runs=_RUNS, seed=derived_seed(seed, SCORE))
        return {"score": float(other_bodies.range_of("flock").holds(medians(runs, 1))[0])}

    return ask


# Known rules: which components a rule has, and the group that follows from it.


def _rules(part: str, ask: Callable[[str, str], Ask]) -> dict[str, Ask]:
    half = DEVELOPMENT if part == DEVELOPMENT else "final"
    return {kind: ask(kind, half) for kind in KINDS}


def _components(kind: str, half: str) -> Ask:
    def ask(method: Method, seed: int) -> Scores:
        assert method.rule is not None
        rule, decisions, tank = _simulated(kind, half, seed)
        found = method.rule(decisions.train, tank, derived_seed(seed, LEARN))
        truth = known_rules.truth_of(rule)
        names = known_rules.COMPONENTS
        right = [(name in truth) == (name in found) for name in names]
        return {"score": float(np.mean(right)), "invented": float(len(set(found) - set(truth)))}

    return ask


def _simulated_group(kind: str, half: str) -> Ask:
    def ask(method: Method, seed: int) -> Scores:
        _, decisions, tank = _simulated(kind, half, seed)
        return _near(method, Swarm.from_recording(decisions.train, arena=tank), decisions, seed)

    return ask


@cache
def _simulated(kind: str, half: str, seed: int) -> tuple[KnownRule, Decisions, Circle]:
    rule, first = known_rules.rule_of(kind, half, seed % 5)
    return rule, record_rule(rule, first).decisions(), Circle((0.0, 0.0), rule.tank)


# Recordings: the energy distance of a simulated group to held-out time.


def _animals(part: str) -> dict[str, Ask]:
    """Nobody knows the rule of animals, so all of them count as run once."""
    if part == DEVELOPMENT:
        return {}
    return {
        "15 zebrafish": _herd(lambda: recordings.zebrafish(15), recordings.TANK),
        "100 zebrafish": _herd(lambda: recordings.zebrafish(100), "circle"),
        "sheep": _herd(recordings.sheep, None),
    }


def _herd(read: Callable[[], Recording], arena: Circle | Literal["circle"] | None) -> Ask:
    def ask(method: Method, seed: int) -> Scores:
        decisions = read().decisions()
        return _near(method, Swarm.from_recording(decisions.train, arena=arena), decisions, seed)

    return ask


def _near(method: Method, swarm: Swarm, decisions: Decisions, seed: int) -> Scores:
    assert method.group is not None
    system, policy = method.group(swarm, decisions.train, derived_seed(seed, LEARN))
    distance = group_distance(
        swarm,
        system,
        policy,
        decisions.test,
        seed=derived_seed(seed, SCORE),
        runs=_GROUP_RUNS,
        threads=1,
    )
    return {"score": distance, "recorded": own_distance(swarm, decisions.train, decisions.test)}


def _acts(method: Method) -> bool:
    return method.policy is not None


def _acts_or_rewards(method: Method) -> bool:
    return method.policy is not None or method.reward is not None


COLUMNS: Sequence[Column] = (
    Column(
        "unseen swarms",
        "share of fits whose swarm does what its expert does, by all scores of the case",
        True,
        _swarms,
        _acts,
    ),
    Column(
        "known rewards",
        "true reward collected with the recorded dynamics: 0 random, 1 optimal",
        True,
        lambda part: _rewards(part, changed=False),
        _acts_or_rewards,
    ),
    Column(
        "known rewards, changed dynamics",
        "the same where the dynamics have changed",
        True,
        lambda part: _rewards(part, changed=True),
        _acts_or_rewards,
    ),
    Column(
        "other bodies",
        "share of experiments in which bodies move as the recorded points did",
        True,
        _bodies,
        _acts_or_rewards,
    ),
    Column(
        "known rules: components",
        "share of repulsion, alignment and attraction that is rightly found or not found",
        True,
        lambda part: _rules(part, _components),
        lambda method: method.rule is not None,
    ),
    Column(
        "known rules: group",
        "energy distance of the simulated group to held-out time",
        False,
        lambda part: _rules(part, _simulated_group),
        lambda method: method.group is not None,
    ),
    Column(
        "recordings",
        "energy distance of the simulated group to held-out time",
        False,
        _animals,
        lambda method: method.group is not None,
    ),
)
