"""What is a reward good for? The learned one, and the cloned policy, under other circumstances.

Everything is learned from the expert at the paper's parameters. Then the Vicsek swarm changes: its
size, noise, radius, speed, or what its agents can do. From the reward a policy is planned again
(Algorithm 2 on the changed swarm); the cloned policy, and the learned one, are used as they are.
Beside them stands an expert in the changed swarm. Where agents can turn less, so can the expert,
and a policy's turn becomes the nearest one that is left.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command, figures
from studies.learners import DISCOUNT, STEPS
from studies.rows import Job, Row, collect, conditions, markdown, select, six_digits
from swarmdp.irl.expectations import simulated_expectations
from swarmdp.irl.pairs import nearest_actions
from swarmdp.irl.updates.evidence import wants_of
from swarmdp.irl.updates.registry import UPDATES
from swarmdp.learning.heterogeneous import HeterogeneousLearning
from swarmdp.model.streams import derived_seed
from swarmdp.model.symmetry import mirror_of
from swarmdp.policies import LocalPolicy, TablePolicy
from swarmdp.policies.replicas import choose_replicas
from swarmdp.report import style
from swarmdp.support import files
from swarmdp.support.checks import check_integer

ROWS = "transfer.json"
DEMO, FIT, JUDGE, EXPERT_JUDGE, REPLAN = 31, 32, 33, 34, 34  # seeds
JUDGES = 20  # roll-outs of each policy
ATTEMPTS = 5  # at planning again, of which the one of the highest value counts
TIMES = (20, 50, 100)
EXPERT, CLONE, REUSED, REPLANNED = "expert", "clone", "policy re-used", "re-planned"
SOURCES = tuple(UPDATES)  # the updates whose rewards are planned for


def circumstances() -> dict[str, dict[str, Any]]:
    """What changes in the swarm, by name; the first is the paper's."""
    twenty = tuple(math.radians(degrees) for degrees in range(-20, 21, 10))
    return {
        "as learned": {},
        "N = 50": {"n_agents": 50},
        "N = 1000": {"n_agents": 1000},
        "noise 20°": {"noise": math.radians(20)},
        "noise 30°": {"noise": math.radians(30)},
        "half the radius": {"radius": 0.05},
        "twice the radius": {"radius": 0.2},
        "twice the speed": {"speed": 0.2},
        "turns up to 20°": {"turns": twenty},
    }


@dataclass(frozen=True)
class Setting:
    """One row of the study: who moves the swarm, and what is different about it."""

    circumstance: str
    controller: str
    source: str = ""  # the update, or how the cloned actions are known


def settings() -> list[Setting]:
    """All rows."""
    controllers = [
        (EXPERT, ""),
        *((REPLANNED, source) for source in SOURCES),
        (REUSED, SOURCES[0]),
        (CLONE, "inferred"),
        (CLONE, "recorded"),
    ]
    return [Setting(name, *controller) for name in circumstances() for controller in controllers]


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned at the paper's parameters, for each experiment."""

    rewards: dict[str, swarmdp.Reward]  # by update
    first: swarmdp.Reward  # from which the first of the updates started
    policies: dict[str, LocalPolicy]
    softness: dict[str, float]
    clones: dict[str, swarmdp.policies.SoftPolicy]  # by how the actions are known


def learn(
    system: swarmdp.Vicsek,
    experiments: int,
    quick: bool = False,
    *,
    sources: Sequence[str] = (),
    demo_seed: int = DEMO,
    fit_seed: int = FIT,
) -> Learned:
    """Fit every source, and clone, from one trajectory for each experiment.

    Parameters
    ----------
    system
        The swarm of the demos.
    experiments
        The number of demos.
    quick
        Few iterations of both algorithms.
    sources
        The names of the updates that learn; all of them by default.
    demo_seed
        Of the demos.
    fit_seed
        Of the fits.

    """
    states, recorded = (
        swarmdp.rollout(
            system, system.expert, steps=STEPS, runs=experiments, seed=demo_seed, record=record
        )
        for record in ("states", ["observations", "actions"])
    )
    sources = sources or SOURCES
    few: dict[str, Any] = {}
    if quick:
        few = {"iterations": 2, "learner": HeterogeneousLearning(steps=20, swarms=1)}
    fits = {
        name: swarmdp.fit(
            system, states, seed=fit_seed, separate=True, update=name, **few, judge=False
        )
        for name in sources
    }
    return Learned(
        {name: result.reward for name, result in fits.items()},
        swarmdp.Reward(fits[sources[0]].iterations[0].weights),
        {name: result.policy for name, result in fits.items()},
        {name: wants_of(UPDATES[name].make()).softness for name in sources},
        {
            "inferred": swarmdp.irl.clone(system, states, separate=True),
            "recorded": swarmdp.irl.clone(system, recorded, separate=True),
        },
    )


def replan(
    system: swarmdp.System,
    reward: swarmdp.Reward,
    softness: float,
    learner: HeterogeneousLearning,
    seed: int = REPLAN,
) -> LocalPolicy:
    """A policy for the reward in a changed swarm: of several policy updates the best.

    The best is the one of the highest value, that is the reward itself decides: no expert is there
    to compare with. Experience counts also mirrored if the changed swarm still has a mirror.

    Parameters
    ----------
    system
        The changed swarm.
    reward
        What was learned elsewhere, one replica for each experiment.
    softness
        Of the policies: zero for greedy ones.
    learner
        The policy update.
    seed
        Same seed, same policy.

    """
    wants = swarmdp.updates.Wants(softness=softness, mirror=mirror_of(system) is not None)
    policies: list[LocalPolicy] = []
    values = []
    for attempt in range(ATTEMPTS):
        attempt_seed = derived_seed(seed, attempt)
        policy = learner(system, reward, discount=DISCOUNT, seed=attempt_seed, wants=wants).policy
        mu = simulated_expectations(
            system,
            policy,
            discount=DISCOUNT,
            estimator="swarm",
            steps=STEPS,
            runs=-(-1000 // system.n_agents),
            seed=derived_seed(seed, ATTEMPTS + attempt),
        )
        policies.append(policy)
        values.append(np.einsum("rd,rd->r", reward.weights, mu))
    return choose_replicas(policies, np.argmax(values, axis=0))


def with_actions_of(policy: LocalPolicy, old: swarmdp.System, new: swarmdp.System) -> LocalPolicy:
    """The policy where other turns are available: each becomes the nearest of them."""
    assert isinstance(policy, TablePolicy)
    nearest, chances = nearest_actions(new, old.actions), policy.chances(len(old.actions))
    moved = np.zeros((*chances.shape[:2], len(new.actions)))
    for a, b in enumerate(nearest):
        moved[..., b] += chances[..., a]
    # Certain actions stay certain: no numbers are drawn for them.
    certain = policy.kind == swarmdp.Policy.kind
    return swarmdp.Policy(moved.argmax(axis=2)) if certain else swarmdp.policies.SoftPolicy(moved)


def limited_expert(system: swarmdp.Vicsek) -> Any:
    """The expert that turns no farther than the learning agents can, where that is less."""
    if system.turns == swarmdp.Vicsek().turns:
        return system.expert
    most = float(np.abs(system.actions).max())

    def expert(observations: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.clip(observations, -most, most)

    return expert


def study(
    output: Path, experiments: int = 30, only: Sequence[str] = (), quick: bool = False
) -> list[Row]:
    """Measure all rows that are not yet in the output folder; write the table and the figures.

    Parameters
    ----------
    output
        The folder for `transfer.json` (the rows), `transfer.md` (the table) and the figures.
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
    learned = cache(partial(learn, original, experiments, quick))

    @cache
    def expert_mu(system: swarmdp.Vicsek) -> NDArray[np.float64]:
        expert = _roll_out(system, limited_expert(system), 10 * experiments, EXPERT_JUDGE)
        return np.asarray(expert["mu"].mean(axis=0))

    def measure(setting: Setting) -> Row:
        system = replace(original, **circumstances()[setting.circumstance])
        controller = _controller(setting, learned(), original, system, learner)
        judged = _roll_out(system, controller, JUDGES * experiments, JUDGE)
        order = judged["order"].reshape(JUDGES, experiments, -1).mean(axis=0)
        mu = judged["mu"].reshape(JUDGES, experiments, -1).mean(axis=0)
        distance = np.linalg.norm(mu - expert_mu(system), axis=1)
        return {
            "true_distance": six_digits(distance),
            "order_mean": six_digits(order.mean(axis=0)),
            "order_low": six_digits(np.quantile(order, 0.1, axis=0)),
            "order_high": six_digits(np.quantile(order, 0.9, axis=0)),
        }

    jobs = [Job(asdict(s), partial(measure, s)) for s in selected]
    shared = conditions(
        quick=quick,
        experiments=experiments,
        discount=DISCOUNT,
        steps=STEPS,
        judges=JUDGES,
        attempts=ATTEMPTS,
        seeds=[DEMO, FIT, JUDGE, EXPERT_JUDGE, REPLAN],
    )
    rows = collect(output / ROWS, jobs, shared, _line)
    files.write_text(output / "transfer.md", table(rows))
    style.save(figures.transfer_figure(rows), output / "transfer-over-time")
    style.save(figures.transfer_distances_figure(rows), output / "transfer-distances")
    return rows


def _controller(
    setting: Setting,
    learned: Learned,
    original: swarmdp.Vicsek,
    system: swarmdp.Vicsek,
    learner: HeterogeneousLearning,
) -> Any:
    if setting.controller == EXPERT:
        return limited_expert(system)
    if setting.controller == REPLANNED:
        reward, softness = learned.rewards[setting.source], learned.softness[setting.source]
        return replan(system, reward, softness, learner)
    kept = learned.clones if setting.controller == CLONE else learned.policies
    return with_actions_of(kept[setting.source], original, system)


def _roll_out(system: swarmdp.Vicsek, controller: Any, runs: int, seed: int) -> Any:
    return swarmdp.rollout(
        system,
        controller,
        steps=STEPS,
        runs=runs,
        seed=seed,
        record={"order": system.order, "mu": swarmdp.simulation.DiscountedFeatures(DISCOUNT)},
    )


def title(row: Row) -> str:
    """What to call a row's controller."""
    controller, source = str(row["controller"]), str(row["source"])
    if controller == CLONE:
        return f"clone, {source} actions"
    return f"{controller}, {source}" if source else controller


def _line(row: Row) -> str:
    return (
        f"{row['circumstance']}, {title(row)}: true distance "
        f"{np.mean(row['true_distance']):.3f}, order {_orders(row)}"
    )


def _orders(row: Row) -> str:
    return ", ".join(f"{row['order_mean'][t]:.3f}" for t in TIMES)


def _bold(value: float | None, bold: bool) -> str:
    if value is None:
        return ""
    return f"**{value:.2f}**" if bold else f"{value:.2f}"


def table(rows: Sequence[Row]) -> str:
    """The rows as tables in Markdown: distances, and the order parameter at the end."""
    names = list(dict.fromkeys(row["circumstance"] for row in rows))
    titles = list(dict.fromkeys(title(row) for row in rows))
    row_of = {(row["circumstance"], title(row)): row for row in rows}
    distances, orders = [], []
    for name in names:
        of_circumstance = [row_of.get((name, who)) for who in titles]
        mean = [
            None if row is None else float(np.mean(row["true_distance"])) for row in of_circumstance
        ]
        # the expert itself, the first, is the noise that is left
        least = min(m for m in mean[1:] if m is not None)
        distances.append([name, *(_bold(m, m == least) for m in mean)])
        orders.append([name, *("" if row is None else _orders(row) for row in of_circumstance)])
    times = ", ".join(map(str, TIMES))
    return (
        "## Distance to the expert's feature expectations\n\n"
        + markdown(["swarm", *titles], distances)
        + f"\n## Order parameter at t = {times}\n\n"
        + markdown(["swarm", *titles], orders)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    command.main(
        study,
        "transfer",
        "What is a reward good for? Learned rewards are planned for, and learned and cloned "
        "policies used as they are, in changed Vicsek swarms. A quarter of an hour on two cores.",
        experiments=30,
        only="these changed swarms, such as 'N = 50' 'noise 30°'",
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
