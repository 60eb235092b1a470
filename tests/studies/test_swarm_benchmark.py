"""The benchmark, small: what is asked is fair, and its peers are given what they are said to be."""

import sys
from pathlib import Path

import numpy as np
import pytest

import swarmdp
from studies import swarm_benchmark
from studies.benchmark import columns, imitation
from studies.benchmark.method import Method
from studies.benchmark.methods import methods, regressed_rule
from studies.known import development
from studies.known.problem import planned
from studies.simulated_rules import draw_rule, record_rule
from swarmdp.model.system import System, classes
from swarmdp.model.traits import HasExpert
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.recordings.arena import Circle

# A learner that takes three steps, all with the first action, and tells what it saw.
PROGRAM = """
import json, sys
given = json.loads(sys.stdin.readline())
seen = []
for chosen in (None, *3 * [[0] * given["agents"]]):
    print(json.dumps({"chosen": chosen}), flush=True)
    seen.append(json.loads(sys.stdin.readline())["seen"])
print(json.dumps({"table": seen, "reward": given["chosen"]}), flush=True)
"""


def column(name: str) -> columns.Column:
    (found,) = [column for column in columns.COLUMNS if column.name == name]
    return found


def knowing(system: System, demo: Trajectory, seed: int) -> Controller:
    """A method that knows the expert."""
    assert isinstance(system, HasExpert)
    return system.expert


def test_who_knows_the_expert_is_right_and_chance_is_not() -> None:
    asked = column("unseen swarms").tasks(columns.DEVELOPMENT)
    ask = asked[next(iter(asked))]
    assert ask(Method("expert", "all", policy=knowing), 5)["score"] == 1
    assert ask(methods()["random"], 5)["score"] == 0


@pytest.mark.parametrize("name", ["known rewards", "known rewards, changed dynamics"])
def test_the_true_reward_is_worth_all(name: str) -> None:
    (problem, *_) = development.problems()
    ask = column(name).tasks(columns.DEVELOPMENT)[problem.name]

    def true(system: System, demo: Trajectory, seed: int) -> np.ndarray:
        return problem.reward

    def best(system: System, demo: Trajectory, seed: int) -> Controller:
        return planned(problem.here.mdp, problem.reward)

    assert ask(Method("truth", "all", reward=true), 3)["score"] == 1
    copied = ask(Method("copy", "all", policy=best), 3)["score"]
    assert copied == 1 if name == "known rewards" else copied < 1


def test_methods_are_compared_on_the_same_demos(tmp_path: Path) -> None:
    only = ["development", "known rewards", "histogram", "random"]
    rows = swarm_benchmark.study(tmp_path, experiments=2, only=only)
    assert {row["method"] for row in rows} == {"histogram", "random"}
    assert all(len(row["score"]) == 2 for row in rows)
    table = (tmp_path / "swarm-benchmark.md").read_text()
    assert "| histogram |" in table
    assert table.count("## Development") == 1
    with pytest.raises(swarmdp.errors.InvalidInput, match="there is no nothing in this benchmark"):
        swarm_benchmark.study(tmp_path, only=["nothing"])


def test_a_method_that_fails_is_said_to() -> None:
    asked = swarm_benchmark.Setting("development", "known rewards", "mud", "imitation BC")
    with pytest.MonkeyPatch.context() as patch:

        def nowhere() -> Path:
            raise swarmdp.errors.InvalidInput("imitation does not install: no network")

        patch.setattr(imitation, "environment", nowhere)
        row = swarm_benchmark.measured(asked, 1)
    assert row["failed"] == "imitation does not install: no network"
    assert "failed" in swarm_benchmark.tables([{**vars(asked), **row}])


def test_learners_elsewhere_are_shown_what_a_rollout_shows() -> None:
    vicsek = swarmdp.Vicsek(n_agents=60)
    demo = swarmdp.rollout(
        vicsek, vicsek.expert, steps=4, runs=2, seed=1, record=["observations", "actions"]
    )
    told = imitation.converse([sys.executable, "-c", PROGRAM], "BC", vicsek, demo, 7)
    swarms = -(-imitation.AGENTS // 60)
    seed = imitation.seed_of(7, 1)
    first = swarmdp.Policy(np.zeros(36, int))
    runs = swarmdp.rollout(vicsek, first, steps=3, runs=swarms, seed=seed, record=["observations"])
    expected = [classes(vicsek, seen).ravel() for seen in runs["observations"].swapaxes(0, 1)]
    np.testing.assert_array_equal(np.array(told["table"]), np.array(expected)[:4])
    # The expert turns by any angle; of possible turns the nearest is told.
    wanted = demo["actions"].swapaxes(1, 2).reshape(-1, 4)
    nearest = np.abs(wanted[..., None] - np.asarray(vicsek.actions)).argmin(axis=-1)
    np.testing.assert_array_equal(np.array(told["reward"]), nearest)


def test_a_learner_that_dies_is_an_error_with_its_last_line() -> None:
    vicsek = swarmdp.Vicsek(n_agents=20)
    demo = swarmdp.rollout(
        vicsek, vicsek.expert, steps=2, seed=1, record=["observations", "actions"]
    )
    with pytest.raises(swarmdp.errors.InvalidInput, match="ValueError: too bad"):
        imitation.converse(
            [sys.executable, "-c", "raise ValueError('too bad')"], "BC", vicsek, demo, 1
        )


def test_a_plain_regression_finds_alignment_and_nothing_among_strangers() -> None:
    rng = np.random.default_rng(3)
    found = {}
    for kind in ("alignment, radius", "independent"):
        rule = draw_rule(kind, rng)
        train = record_rule(rule, 4).decisions().train
        found[kind] = regressed_rule(train, Circle((0.0, 0.0), rule.tank), 1)
    assert "alignment" in found["alignment, radius"]
    assert "alignment" not in found["independent"]
