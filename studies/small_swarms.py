"""What local rewards can and cannot do: the study of small swarms, all values exact.

Three parts: how many rewards make the expert's policy optimal, locally and globally, as a function
of what agents see, of their number, of noise and of the discount; how well Algorithm 2 finds
equilibria; and whether Algorithm 1 finds a reward under which the expert is optimal.
"""

import dataclasses
import math
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command, small_swarm_figures
from studies.rows import Job, Row, collect, conditions
from studies.small_swarm_tables import line, tables
from swarmdp import theory
from swarmdp.learning.heterogeneous import HeterogeneousLearning, paper_learning
from swarmdp.model.streams import derived_seed
from swarmdp.policies.replicas import table_of
from swarmdp.report import style
from swarmdp.support import files

ROWS = "theory.json"
SEED = 1
DISCOUNT = 0.9
MOST_POLICIES = 32  # of which all shares are measured
LEARNERS: dict[str, Callable[[], HeterogeneousLearning]] = {
    "default": HeterogeneousLearning,
    "paper": paper_learning,
}


@dataclass(frozen=True)
class Swarm:
    """A small swarm of the study, in plain numbers."""

    kind: str  # "ising", "vicsek" or "random"
    agents: int
    radius: int | None  # None: nothing is seen
    noise: float
    sees: str = "energy"
    seed: int = 0

    def system(self) -> Any:
        """The system itself."""
        if self.kind == "random":
            return theory.RandomSwarm(self.agents, 3, 4, 2, seed=self.seed)
        if self.kind == "vicsek":
            return theory.VicsekRing(
                self.agents, cells=5, radius=self.radius, noise=self.noise
            )  # an odd number of cells: an even one keeps who is on even cells apart from the rest
        return theory.FiniteIsing(
            (self.agents,),
            self.radius or 0,
            self.sees,  # type: ignore[arg-type]
            noise=self.noise,
        )


@dataclass(frozen=True)
class Question:
    """One row of the first part: a swarm, and what is varied."""

    varied: str  # "radius", "agents", "noise" or "discount"
    swarm: Swarm
    discount: float = DISCOUNT


def questions(quick: bool = False) -> list[Question]:
    """All rows of the first part."""
    ising, vicsek = Swarm("ising", 6, 1, 0.1), Swarm("vicsek", 3, 1, 0.2)
    wide = dataclasses.replace(ising, radius=2)

    def several(varied: str, swarm: Swarm, values: Sequence[Any]) -> list[Question]:
        if varied == "discount":
            return [Question(varied, swarm, value) for value in values]
        return [Question(varied, dataclasses.replace(swarm, **{varied: v})) for v in values]

    rows = [
        *several("radius", ising, (None, 1, 2, 3)),
        *several("radius", dataclasses.replace(ising, sees="spins"), (0, 1, 2, 3)),
        *several("radius", vicsek, (None, 0, 1, 2)),
        *several("agents", ising, (3, 4, 5, 6, 7, 8, 9)),
        *several("agents", wide, (5, 6, 7, 8, 9)),
        *several("agents", vicsek, (2, 3, 4)),
        *several("noise", ising, (0.01, 0.05, 0.1, 0.2, 0.3, 0.4)),
        *several("noise", wide, (0.01, 0.05, 0.1, 0.2, 0.3, 0.4)),
        *several("noise", vicsek, (0.02, 0.1, 0.2, 0.4, 0.6, 0.8)),
        *several("discount", ising, (0.0, 0.3, 0.5, 0.7, 0.9, 0.99)),
        *several("discount", wide, (0.0, 0.3, 0.5, 0.7, 0.9, 0.99)),
        *several("discount", vicsek, (0.0, 0.3, 0.5, 0.7, 0.9, 0.99)),
    ]
    small = [row for row in rows if row.swarm.agents <= 4 and row.swarm.kind == "ising"]
    return small[:2] if quick else rows


def measure_shares(question: Question, quick: bool = False) -> Row:
    """The shares of rewards for the expert's policy and, if there are few, for all policies."""
    system = question.swarm.system()
    sizes = {"draws": 2_000, "particles": 50, "repetitions": 2} if quick else {}
    number = hash_of(question)
    characterization = theory.characterize(system, system.expert, question.discount)
    local, everywhere = _shares(characterization, derived_seed(SEED, number), sizes)
    agreement, spread = _agreement(
        characterization, derived_seed(SEED, number, 2), 50 if quick else 500
    )
    row: Row = {
        "states": len(characterization.law),
        "observations": characterization.local_cone.dimension,
        "directions": len(characterization.local_cone.basis),
        "contained": characterization.containment.holds,
        "proof_error": characterization.containment.error,
        "equal": characterization.equal,
        "local": _share_row(local),
        "global": _share_row(everywhere),
        "ratio": _ratio(local, everywhere, characterization.equal),
        "agreement": agreement,
        "agreement_error": spread,
    }
    swarm = theory.enumerate_swarm(system)
    if swarm.n_actions ** len(swarm.possible) <= MOST_POLICIES:
        tables = theory.game(swarm, question.discount).tables
        cones = [theory.characterize(swarm, table, question.discount) for table in tables]
        pairs = [
            _shares(cone, derived_seed(SEED, number, 3, i), sizes) for i, cone in enumerate(cones)
        ]
        for name, place in (("local_equilibria", 0), ("global_equilibria", 1)):
            shares = [pair[place] for pair in pairs]
            row[name] = sum(s.value for s in shares)
            row[f"{name}_error"] = math.hypot(*(s.value * s.error for s in shares))
        row["policies"] = len(tables)
    return row


def _shares(
    characterization: theory.Characterization, seed: int, sizes: dict[str, int]
) -> tuple[theory.Share, theory.Share]:
    local = theory.share(characterization.local_cone, seed=derived_seed(seed, 0), **sizes)
    if characterization.equal:
        return local, local
    return local, theory.share(characterization.global_cone, seed=derived_seed(seed, 1), **sizes)


def _share_row(share: theory.Share) -> Row:
    """A share for a file: JSON has no infinity, so the logarithm of nothing is null."""
    fields = dataclasses.asdict(share)
    return {name: None if value == -math.inf else value for name, value in fields.items()}


def _ratio(local: theory.Share, everywhere: theory.Share, equal: bool) -> dict[str, float] | None:
    """R_G divided by R_L, with its interval; nothing where R_L itself has no interior."""
    if local.value == 0 and local.method == "exact":
        return None
    if equal:
        return {"value": 1.0, "low": 1.0, "high": 1.0}
    ratio = everywhere / local
    low, high = (math.exp(min(log, 0.0)) for log in (ratio.log_low, ratio.log_high))
    return {"value": ratio.value, "low": low, "high": high}


def _agreement(
    characterization: theory.Characterization, seed: int, draws: int
) -> tuple[float | None, float | None]:
    """The mean over rewards in R_L, and its standard error from independent groups of draws."""
    cone = characterization.local_cone
    if len(cone.rows) and cone.central.margin == 0:
        return None, None
    groups = [
        np.mean(
            [characterization.agreement(r) for r in theory.draw_rewards(cone, draws // 5, seed=s)]
        )
        for s in (derived_seed(seed, group) for group in range(5))
    ]
    return float(np.mean(groups)), float(np.std(groups, ddof=1) / math.sqrt(len(groups)))


def players(quick: bool = False) -> list[Swarm]:
    """The swarms of the second part."""
    if quick:
        return [Swarm("ising", 4, 1, 0.1)]
    return [
        Swarm("ising", 6, 1, 0.1),
        Swarm("ising", 6, 2, 0.1),
        Swarm("vicsek", 3, 1, 0.2),
        *(Swarm("random", 4, None, 0.0, seed=seed) for seed in (1, 2, 3)),
    ]


def measure_learners(swarm: Swarm, count: int) -> Row:
    """Algorithm 2 against the exact equilibria, and what anarchy and locality cost."""
    system = swarm.system()
    game = theory.game(system, DISCOUNT)
    rewards = random_rewards(count, system.features.size, derived_seed(SEED, hash_of(swarm)))
    scale = np.ptp(rewards, axis=1) / (1 - DISCOUNT)
    row: Row = {"policies": len(game.tables)}
    for name, learner in LEARNERS.items():
        learned = learner()(system, swarmdp.Reward(rewards), discount=DISCOUNT, seed=SEED)
        row[name] = _judge_all(game, table_of(learned.policy), rewards, scale)
    paths = [theory.best_responses(game.swarm, reward, DISCOUNT) for reward in rewards]
    row["best_responses"] = _judge_all(game, [path.tables[-1] for path in paths], rewards, scale)
    few = count if game.swarm.n_states <= 256 else min(count, 50)  # central control is expensive
    prices = [game.prices(reward) for reward in rewards[:few]]
    row["prices_of"] = few
    equilibria = [game.equilibria(reward) for reward in rewards]
    # Prices of anarchy and stability are of these only.
    row["prices_with_equilibrium"] = sum(len(policies) > 0 for policies in equilibria[:few])
    row["with_equilibrium"] = sum(len(policies) > 0 for policies in equilibria)
    # For how many rewards what Q-learning on observations can settle in are the equilibria.
    row["fixed_points_are_equilibria"] = sum(
        np.array_equal(game.fixed_points(reward), policies)
        for reward, policies in zip(rewards, equilibria, strict=True)
    )
    for name in ("anarchy", "stability", "locality"):
        row |= _quantiles(name, np.array([getattr(price, name) for price in prices]))
    return row


def _quantiles(name: str, prices: NDArray[np.float64]) -> Row:
    """The distribution of a price over the rewards that have one, and for how many that is."""
    values = prices[np.isfinite(prices)]
    if not values.size:
        return {name: None, f"{name}_mean": None, f"{name}_of": 0}
    quantiles = [float(v) for v in np.quantile(values, [0, 0.1, 0.5, 0.9, 1])]
    return {name: quantiles, f"{name}_mean": float(values.mean()), f"{name}_of": len(values)}


def _judge_all(
    game: theory.Game, tables: Any, rewards: NDArray[np.float64], scale: NDArray[np.float64]
) -> Row:
    judged = [game.judge(table, r) for table, r in zip(tables, rewards, strict=True)]
    regret = np.array([j.regret for j in judged]) / scale
    settled = [j for j in judged if j.equilibrium]
    behind = np.array([j.best_value - j.value for j in judged]) / scale
    # Without an equilibrium some regret is inevitable; with one that is missed it is not.
    without = np.array([j.equilibria == 0 for j in judged])
    missed = np.array([j.equilibria > 0 and not j.equilibrium for j in judged])
    return {
        "found": len(settled),
        "best_of_those": sum(j.better_equilibria == 0 for j in settled),
        "fixed_point": sum(j.fixed_point for j in judged),
        "best_policy": int((behind <= 1e-9).sum()),
        "regret_mean": float(regret.mean()),
        "missed": int(missed.sum()),
        "regret_missed_mean": _mean(regret[missed]),
        "regret_without_mean": _mean(regret[without]),
        "regret_90": float(np.quantile(regret, 0.9)),
        "regret_worst": float(regret.max()),
        "behind_best_mean": float(behind.mean()),
    }


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if values.size else None


def experts(quick: bool = False) -> list[tuple[Swarm, int]]:
    """The swarms of the third part, with the number of roll-outs in a demo."""
    swarms = [s for s in players(quick) if s.kind != "random"]
    return [(swarm, runs) for swarm in swarms for runs in ((5,) if quick else (1, 100))]


def measure_rewards(swarm: Swarm, runs: int, count: int) -> Row:
    """Whether the reward of Algorithm 1 makes the expert's policy optimal."""
    system = swarm.system()
    cones = theory.characterize(system, system.expert, DISCOUNT)
    expert = theory.policy_table(system, system.expert).argmax(axis=1)
    inside = everywhere = same = 0
    margins = []
    for experiment in range(count):
        seed = derived_seed(SEED, hash_of((swarm, runs)), experiment)
        demo = swarmdp.rollout(system, system.expert, steps=100, runs=runs, seed=seed)
        result = swarmdp.fit(system, demo, seed=seed, iterations=10, judge=False)
        inside += cones.local_cone.contains(result.reward)
        everywhere += cones.global_cone.contains(result.reward)
        margins.append(cones.local_cone.margin(result.reward))
        same += bool((table_of(result.policy)[0] == expert)[cones.observed > 0].all())
    return {
        "in_local_cone": inside,
        "in_global_cone": everywhere,
        "policy_is_the_expert": same,
        "margin_mean": float(np.mean(margins)),
        "margin_worst": float(np.min(margins)),
        "margin_largest_possible": cones.local_cone.central.margin,
    }


def random_rewards(count: int, size: int, seed: int) -> NDArray[np.float64]:
    """Rewards uniform on the sphere."""
    drawn = np.random.default_rng(seed).normal(size=(count, size))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def hash_of(value: Any) -> int:
    """A number that belongs to a question, the same in every process."""
    return zlib.crc32(repr(value).encode())


def jobs(quick: bool = False) -> list[Job]:
    """All rows of the three parts, with what decides each."""
    count = 4 if quick else 200
    fits = max(2, count // 10)
    first = [
        Job({"part": "shares", **_plain(question)}, partial(measure_shares, question, quick))
        for question in questions(quick)
    ]
    second = [
        Job(
            {"part": "learners", **_plain(swarm), "discount": DISCOUNT, "rewards": count},
            partial(measure_learners, swarm, count),
        )
        for swarm in players(quick)
    ]
    third = [
        Job(
            {
                "part": "rewards",
                **_plain(swarm),
                "discount": DISCOUNT,
                "demo_runs": runs,
                "experiments": fits,
            },
            partial(measure_rewards, swarm, runs, fits),
        )
        for swarm, runs in experts(quick)
    ]
    return [
        Job(job.setting, partial(_with_seconds, job.measure)) for job in (*first, *second, *third)
    ]


def _with_seconds(measure: Callable[[], Row]) -> Row:
    began = time.perf_counter()
    return {**measure(), "seconds": round(time.perf_counter() - began, 1)}


def study(output: Path, quick: bool = False) -> list[Row]:
    """Measure all rows that are not yet in the output folder; draw and tabulate them.

    Parameters
    ----------
    output
        The folder for `theory.json` (the rows), `theory.md` (the tables) and the figures.
    quick
        A few of the smallest swarms, with few draws.

    """
    rows = collect(output / ROWS, jobs(quick), conditions(quick=quick, seeds=[SEED]), line)
    files.write_text(output / "theory.md", tables(rows))
    for name, figure in small_swarm_figures.study_figures(rows):
        style.save(figure, output / name)
    return rows


def _plain(value: Question | Swarm) -> Row:
    flat = dataclasses.asdict(value)
    return {**flat.pop("swarm", {}), **flat}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    command.main(
        study,
        "small_swarms",
        "What can local rewards do, and what not? Exact shares of rewards, equilibria and prices "
        "on small swarms. A quarter of an hour on two cores.",
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
