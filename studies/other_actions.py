"""Why learn a reward? Swarms in which the same actions mean something else.

Everything is learned from the expert in the paper's Vicsek swarm. Then turns get a bias, go to one
side only, take two steps, answer to what was seen a step ago, or are ignored by a fifth of the
agents. From the reward a policy is planned again (Algorithm 2 on the changed swarm); clone and
learned policy are used as they are. Where what an agent does shows only later, planning has more
rows, in which agents also remember the turn that they last asked for. The reward is the one that
comes with the learned policy, or the first one, from which Algorithm 1 started.

The reward knows misalignments only, and so does the order parameter. A turn that all agents share
changes neither: the turn of the mean heading tells whether a swarm flies in circles.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command, figures, transfer
from studies.changed_swarms import ChangedVicsek
from studies.learners import DISCOUNT, STEPS
from studies.rows import Job, Row, collect, conditions, markdown, select, six_digits
from studies.transfer import CLONE, EXPERT, REPLANNED, REUSED, TIMES, title
from swarmdp.learning.heterogeneous import HeterogeneousLearning
from swarmdp.model.system import State, feature_count
from swarmdp.report import style
from swarmdp.support import files
from swarmdp.support.checks import check_integer

ROWS = "other_actions.json"
DEMO, FIT, JUDGE, REPLAN = 51, 52, 53, 54  # seeds
JUDGES = 20  # roll-outs of each policy
SOURCE = "max_margin"  # the update whose reward is planned for
FIRST = "first reward"  # also planned for: the one from which that update started
REMEMBERING, NOTHING, RANDOM = "re-planned, remembering", "nothing", "random"
CLASSES = 5  # of the turn that is remembered
LONGER = 2  # times as many iterations of Algorithm 2 for those who remember: they observe more
COPIES = (f"{REUSED}, {SOURCE}", "clone, recorded actions")  # with which planning is compared
SETTLED = 50  # the time from which on the turn of the mean heading is measured
BIAS = math.radians(20)

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Circumstance:
    """A changed swarm, and what an expert does in it."""

    system: ChangedVicsek
    expert: Function
    expert_remembers: bool = False
    remembering: bool = False  # planning has a row in which agents remember their last turn

    def with_memory(self) -> ChangedVicsek:
        """The swarm whose agents also observe the turn that they last asked for."""
        return replace(self.system, remembers=CLASSES)


def circumstances(vicsek: swarmdp.Vicsek) -> dict[str, Circumstance]:
    """The changed swarms by name; in the first nothing is changed.

    The experts align as well as they can with what they know:

    - as learned, a fifth does not react: turn by the misalignment, as the paper's;
    - bias: turn by the misalignment less the bias;
    - turns to one side: turn by the misalignment to that side, by nothing to the other;
    - a turn takes two steps: turn by the misalignment less the half turn that is still to come,
      which this expert remembers;
    - seen a step late: turn by half of what is seen. By all of it, an agent turns twice by the same
      misalignment, and overshoots.
    """
    one_side = replace(vicsek, turns=tuple(turn for turn in vicsek.turns if turn >= 0))
    return {
        "as learned": Circumstance(ChangedVicsek(vicsek), _turn_by_misalignment, remembering=True),
        "bias of 20°": Circumstance(ChangedVicsek(vicsek, bias=BIAS), lambda seen: seen - BIAS),
        "turns to one side": Circumstance(
            ChangedVicsek(one_side), lambda seen: np.maximum(seen, 0.0)
        ),
        "a turn takes two steps": Circumstance(
            ChangedVicsek(vicsek, lag=0.5),
            lambda seen: seen[..., 0] - seen[..., 1] / 2,
            expert_remembers=True,
            remembering=True,
        ),
        "seen a step late": Circumstance(
            ChangedVicsek(vicsek, delayed=True), lambda seen: seen / 2, remembering=True
        ),
        "a fifth does not react": Circumstance(
            ChangedVicsek(vicsek, idle=0.2), _turn_by_misalignment
        ),
    }


@dataclass(frozen=True)
class Setting:
    """One row of the study: who moves the swarm, and what is different about it."""

    circumstance: str
    controller: str
    source: str = ""  # the reward's update, or how the cloned actions are known


def settings() -> list[Setting]:
    """All rows."""
    all_settings = []
    for name, circumstance in circumstances(swarmdp.Vicsek()).items():
        planned = [REPLANNED, REMEMBERING] if circumstance.remembering else [REPLANNED]
        controllers = [
            (EXPERT, ""),
            *((who, source) for who in planned for source in (SOURCE, FIRST)),
            (REUSED, SOURCE),
            (CLONE, "inferred"),
            (CLONE, "recorded"),
            (NOTHING, ""),
            (RANDOM, ""),
        ]
        all_settings += [Setting(name, *controller) for controller in controllers]
    return all_settings


def reward_in(system: ChangedVicsek, reward: swarmdp.Reward) -> swarmdp.Reward:
    """The reward of misalignments in a swarm that may observe more, which counts nothing."""
    more = feature_count(system) - reward.weights.shape[1]
    return swarmdp.Reward(np.pad(reward.weights, ((0, 0), (0, more))))


def study(
    output: Path, experiments: int = 30, only: Sequence[str] = (), quick: bool = False
) -> list[Row]:
    """Measure all rows that are not yet in the output folder; write the tables and the figure.

    Parameters
    ----------
    output
        The folder for `other_actions.json` (the rows), `other_actions.md` (the tables) and the
        figure.
    experiments
        The number of independent fits of each row, at least 2.
    only
        Just these circumstances, by their names.
    quick
        Small swarms, and few iterations of both algorithms.

    """
    check_integer("experiments", experiments, least=2)
    selected = select(settings(), "circumstance", only)
    original = swarmdp.Vicsek(n_agents=40) if quick else swarmdp.Vicsek()
    learner = HeterogeneousLearning(steps=20, swarms=1) if quick else HeterogeneousLearning()
    learned = cache(
        partial(
            transfer.learn,
            original,
            experiments,
            quick,
            sources=(SOURCE,),
            demo_seed=DEMO,
            fit_seed=FIT,
        )
    )

    def measure(setting: Setting) -> Row:
        changed = circumstances(original)[setting.circumstance]
        system, controller = _system_and_controller(setting, changed, learned(), original, learner)
        return measure_controller(system, controller, experiments)

    jobs = [Job(asdict(s), partial(measure, s)) for s in selected]
    shared = conditions(
        quick=quick,
        experiments=experiments,
        discount=DISCOUNT,
        steps=STEPS,
        judges=JUDGES,
        attempts=transfer.ATTEMPTS,
        classes=CLASSES,
        longer=LONGER,
        settled=SETTLED,
        seeds=[DEMO, FIT, JUDGE, REPLAN],
    )
    rows = collect(output / ROWS, jobs, shared, _line)
    files.write_text(output / "other_actions.md", table(rows))
    style.save(figures.transfer_figure(rows), output / "other-actions-over-time")
    return rows


def _system_and_controller(
    setting: Setting,
    changed: Circumstance,
    learned: transfer.Learned,
    original: swarmdp.Vicsek,
    learner: HeterogeneousLearning,
) -> tuple[ChangedVicsek, Any]:
    """The changed swarm as the setting's controller observes it, and that controller."""
    system, controller = changed.system, setting.controller
    if controller == EXPERT:
        return changed.with_memory() if changed.expert_remembers else system, changed.expert
    if controller == NOTHING:
        return system, np.zeros_like
    if controller == RANDOM:
        shape = system.features.size, len(system.actions)
        return system, swarmdp.policies.SoftPolicy(np.full(shape, 1 / shape[1]))
    if controller == REMEMBERING:
        system = changed.with_memory()
        learner = replace(learner, steps=LONGER * learner.steps)
    if controller in (REPLANNED, REMEMBERING):
        reward = learned.first if setting.source == FIRST else learned.rewards[setting.source]
        softness = learned.softness[SOURCE]
        planned = reward_in(system, reward)
        return system, transfer.replan(system, planned, softness, learner, REPLAN)
    kept = learned.clones if controller == CLONE else learned.policies
    return system, transfer.with_actions_of(kept[setting.source], original, system)


def measure_controller(system: ChangedVicsek, controller: Any, experiments: int) -> Row:
    """What the swarm does when it is moved so, for each experiment.

    Parameters
    ----------
    system
        The changed swarm.
    controller
        A policy with a replica for each experiment, or a function.
    experiments
        The number of experiments, each of which is rolled out `JUDGES` times. The roll-outs of all
        controllers have the same start and the same noise, so that rows can be compared in pairs.

    """
    seen = swarmdp.rollout(
        system,
        controller,
        steps=STEPS,
        runs=JUDGES * experiments,
        seed=JUDGE,
        record={"order": system.order, "x": _mean_cosine, "y": _mean_sine},
    )
    order = seen["order"].reshape(JUDGES, experiments, -1).mean(axis=0)
    turns = heading_turns(seen["x"], seen["y"]).reshape(JUDGES, experiments, -1)
    return {
        **{f"order_{t}": six_digits(order[:, t]) for t in TIMES},
        "circling": six_digits(np.abs(turns.mean(axis=2)).mean(axis=0)),
        "wobbling": six_digits(np.abs(turns).mean(axis=(0, 2))),
        "order_mean": six_digits(order.mean(axis=0)),
        "order_low": six_digits(np.quantile(order, 0.1, axis=0)),
        "order_high": six_digits(np.quantile(order, 0.9, axis=0)),
    }


def heading_turns(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """The turn of the mean heading in each step from `SETTLED` on, in degrees (runs, steps).

    Its mean over time is how fast the swarm flies in circles; a swarm that zigzags has turns, but
    no mean.

    Parameters
    ----------
    x
        The mean cosine of all agents' headings (runs, times).
    y
        The mean sine.

    """
    heading = np.unwrap(np.arctan2(y, x)[:, SETTLED:], axis=1)
    return np.degrees(np.diff(heading, axis=1))


def _turn_by_misalignment(seen: NDArray[np.float64]) -> NDArray[np.float64]:
    return seen


def _mean_cosine(state: State) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = np.cos(state["heading"]).mean(axis=1)
    return mean


def _mean_sine(state: State) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = np.sin(state["heading"]).mean(axis=1)
    return mean


def _line(row: Row) -> str:
    orders = ", ".join(_with_error(row[f"order_{t}"]) for t in TIMES)
    return (
        f"{row['circumstance']}, {title(row)}: order {orders}, "
        f"turn {_with_error(row['circling'], 1)}"
    )


def _with_error(values: Sequence[float] | NDArray[np.float64], digits: int = 3) -> str:
    """A mean over experiments and its standard error."""
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f}"


def table(rows: Sequence[Row]) -> str:
    """The rows as tables in Markdown: each row, and planned minus copied policies in pairs."""
    row_of = {(row["circumstance"], title(row)): row for row in rows}
    cells = [
        [
            name,
            who,
            *(_with_error(row[f"order_{t}"]) for t in TIMES),
            _with_error(row["circling"], 1),
        ]
        for (name, who), row in row_of.items()
    ]
    pairs = []
    for (name, who), row in row_of.items():
        if row["controller"] in (REPLANNED, REMEMBERING):
            copies = [row_of[name, copied] for copied in COPIES]
            gaps = [np.subtract(row[f"order_{t}"], c[f"order_{t}"]) for c in copies for t in TIMES]
            pairs.append([name, who, *(_with_error(gap) for gap in gaps)])
    times = [f"t = {t}" for t in TIMES]
    return (
        "## Order parameter, and the turn of the mean heading in degrees a step\n\n"
        + markdown(["swarm", "moved by", *times, "turn"], cells)
        + "\n## Order parameter minus that of a copied policy, in pairs\n\n"
        + markdown(
            ["swarm", "moved by", *(f"{t}, minus {copied}" for copied in COPIES for t in times)],
            pairs,
        )
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    command.main(
        study,
        "other_actions",
        "Why learn a reward? Learned rewards are planned for, and learned and cloned policies used "
        "as they are, in Vicsek swarms in which the same actions mean something else. A quarter of "
        "an hour on two cores.",
        experiments=30,
        only="these changed swarms, such as 'bias of 20°' 'seen a step late'",
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
