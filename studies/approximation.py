"""Whether a Q-function that is linear in smooth features is better than the best table.

A school of fish-like agents sees four real numbers, and its expert uses all of them. Each row fits
independent experiments from the same demos, with the same reward features (a smooth basis of the
raw observation) and the same experience: with `LinearQ`, or with the local model on a product table
of at most 5000 classes. All are judged by raw observations: how far the feature expectations of the
learned swarm are from the expert's, and how far its order, spacing and crowding are.
"""

import dataclasses
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command
from studies.rows import Job, Row, collect, conditions, markdown
from swarmdp import Angles, Bins, Product
from swarmdp.learning import HeterogeneousLearning, LinearQ
from swarmdp.model.adapted import with_features
from swarmdp.model.features import Axis, Basis, Block
from swarmdp.model.streams import Purpose, Stream, Streams
from swarmdp.model.system import State, System
from swarmdp.policies import Controller, LocalPolicy
from swarmdp.policies.replicas import select_replicas
from swarmdp.support import files
from swarmdp.support.checks import check_integer

ROWS = "approximation.json"
EXPERT_SEED, DEMO, FIT, JUDGE = 101, 1, 2, 3  # seeds
DISCOUNT, STEPS, TIMES = 0.9, 100, (20, 50, 100)
DEMO_RUNS = 10  # that each experiment learns from
LINEAR = "linear"
TABLES = {
    "8 x 8 x 3 x 3": (8, 8, 3, 3),
    "12 x 6 x 4 x 3": (12, 6, 4, 3),
    "12 x 12 x 3 x 3": (12, 12, 3, 3),
    "16 x 8 x 5 x 4": (16, 8, 5, 4),
    "20 x 10 x 5 x 5": (20, 10, 5, 5),
}


@dataclass(frozen=True)
class School:
    """Agents that see misalignment, bearing and distance of their neighbours' centroid, and count.

    The expert turns towards the others' mean heading, and towards their centroid while it has fewer
    neighbours than it likes, away from it when it has more, the more so the farther it is.
    """

    n_agents: int = 100
    radius: float = 0.15
    speed: float = 0.03
    noise: float = math.radians(10)
    crowd: float = 10.0  # the number of neighbours that an agent likes
    pull: float = 4.0  # of a centroid at the radius on an agent alone, against alignment

    turns: ClassVar[tuple[int, ...]] = tuple(range(-60, 61, 10))
    action_units: ClassVar[str] = "rad"

    @cached_property
    def actions(self) -> NDArray[np.float64]:
        """Turns from -60 to 60 degrees."""
        return np.radians(self.turns)

    @cached_property
    def features(self) -> Basis:
        """A smooth basis of each component, and where the centroid is in a crowd and outside."""
        names = [f"misalignment {45 * i - 180} degrees" for i in range(8)]
        names += [f"distance {i}" for i in range(4)] + [f"neighbours {i}" for i in range(6)]
        names += ["ahead", "left", "ahead in a crowd", "left in a crowd"]
        return Basis(self.basis, tuple(names), AXES)

    def initial(self, rng: Stream) -> State:
        """Agents anywhere in the periodic unit square, headed anywhere."""
        return {
            "position": rng.uniform(0.0, 1.0, size=(2,)),
            "heading": rng.uniform(-math.pi, math.pi),
        }

    def observe(self, state: State) -> NDArray[np.float64]:
        """Four numbers for each agent; zeros where no other agent is near."""
        position, heading = state["position"], state["heading"]
        offset = position[:, None] - position[:, :, None]
        offset -= np.round(offset)
        near = (offset**2).sum(axis=3) <= self.radius**2
        near &= ~np.eye(self.n_agents, dtype=bool)
        count = near.sum(axis=2)
        direction = np.exp(1j * heading)
        others = (near * direction[:, None]).sum(axis=2) * direction.conj()
        sums = (near[..., None] * offset).sum(axis=2) / np.maximum(count, 1)[..., None]
        centroid = (sums[..., 0] + 1j * sums[..., 1]) * direction.conj()
        return np.stack([np.angle(others), np.angle(centroid), np.abs(centroid), count], axis=-1)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Move along the heading, then turn by the action and the noise."""
        step = np.stack([np.cos(state["heading"]), np.sin(state["heading"])], axis=-1)
        turned = state["heading"] + actions + rng.normal(scale=self.noise)
        return {
            "position": (state["position"] + self.speed * step) % 1.0,
            "heading": np.remainder(turned + math.pi, 2 * math.pi) - math.pi,
        }

    def expert(self, observations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Alignment, with attraction to few neighbours and repulsion from many."""
        misalignment, bearing, distance, count = np.moveaxis(observations, -1, 0)
        pull = self.pull * distance / self.radius * (1 - count / self.crowd)
        aim = (count > 0) * np.exp(1j * misalignment) + pull * np.exp(1j * bearing)
        turn: NDArray[np.float64] = np.clip(np.angle(aim), self.actions[0], self.actions[-1])
        return turn

    def basis(self, observations: NDArray[np.float64]) -> NDArray[np.float64]:
        """The reward features (..., 22) of observations (..., 4)."""
        misalignment, bearing, distance, count = np.moveaxis(observations, -1, 0)[..., None]
        angles = np.cos(misalignment - np.radians(np.arange(-180, 180, 45))) - 1
        width = self.radius / 5
        far = (distance - width * np.arange(4)) / width
        liked = self.crowd * np.array([0.0, 0.3, 0.6, 1.0, 1.5, 2.2])
        crowded = (count - liked) / (self.crowd * np.array([0.2, 0.2, 0.3, 0.3, 0.4, 0.5]))
        place = np.concatenate([np.cos(bearing), np.sin(bearing)], axis=-1) * distance
        place = place / (self.radius / 3)
        in_crowd = place / (1 + np.exp(-5 * (count / self.crowd - 1)))
        parts = [np.exp(angles / (math.pi / 4) ** 2), np.exp(-(far**2) / 2)]
        return np.concatenate([*parts, np.exp(-(crowded**2) / 2), place, in_crowd], axis=-1)

    def order(self, state: State) -> NDArray[np.float64]:
        """The order parameter of the headings, from 0 to 1."""
        order: NDArray[np.float64] = np.abs(np.exp(1j * state["heading"]).mean(axis=-1))
        return order

    def spacing(self, state: State) -> NDArray[np.float64]:
        """The mean distance to the nearest neighbour."""
        offset = state["position"][:, None] - state["position"][:, :, None]
        offset -= np.round(offset)
        squares = (offset**2).sum(axis=3) + 9 * np.eye(self.n_agents)
        mean: NDArray[np.float64] = np.sqrt(squares.min(axis=2)).mean(axis=1)
        return mean

    def crowding(self, state: State) -> NDArray[np.float64]:
        """The mean number of neighbours."""
        mean: NDArray[np.float64] = self.observe(state)[..., 3].mean(axis=1)
        return mean


AXES = (
    Axis("misalignment", units="rad", periodic=True),
    Axis("bearing", units="rad", periodic=True),
    Axis("distance"),
    Axis("neighbours"),
)


@dataclass(frozen=True, eq=False)
class Cells:
    """Classes of a product whose features are the mean of a basis over what falls into each."""

    product: Product
    matrix: NDArray[np.float64]  # (size, d)
    blocks: tuple[Block, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of an observation."""
        return self.product.shape

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Of the product."""
        return self.product.axes

    @property
    def size(self) -> int:
        """The number of classes."""
        return self.product.size

    def index(self, observations: NDArray[Any]) -> NDArray[np.integer]:
        """The class of each observation."""
        return self.product.index(observations)


def cells(school: School, shape: Sequence[int], seen: NDArray[np.float64]) -> Cells:
    """A table of this shape; distance and number are cut at quantiles of what was seen (n, 4)."""
    edges = [
        np.concatenate([[-np.inf], np.unique(np.quantile(part, np.arange(1, n) / n)), [np.inf]])
        for part, n in zip(seen.T[2:], shape[2:], strict=True)
    ]
    product = Product(
        misalignment=Angles(shape[0]),
        bearing=Angles(shape[1]),
        distance=Bins(edges[0]),
        neighbours=Bins(edges[1]),
    )
    index, phi = product.index(seen), school.basis(seen)
    counts = np.bincount(index, minlength=product.size)
    sums = np.stack([np.bincount(index, part, product.size) for part in phi.T], axis=1)
    means = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], phi.mean(axis=0))
    return Cells(product, means, school.features.blocks)


def measure_learner(name: str, school: School, experiments: int, quick: bool) -> Row:
    """Fit all experiments of one row, and judge the chosen policies by raw observations."""
    system: Any = school
    learner = HeterogeneousLearning(steps=20 if quick else 200)
    if name == LINEAR:
        learner = dataclasses.replace(learner, q_update=LinearQ())
    else:
        system = with_features(school, cells(school, TABLES[name], _sample_observations(school)))
    demos = swarmdp.rollout(
        system,
        school.expert,
        steps=STEPS,
        runs=DEMO_RUNS * experiments,
        seed=DEMO,
        record={"mu": swarmdp.simulation.DiscountedFeatures(DISCOUNT)},
        progress=False,
    )
    began = time.process_time()
    result = swarmdp.fit(
        system,
        demos["mu"].reshape(experiments, DEMO_RUNS, -1).mean(axis=1),
        seed=FIT,
        separate=True,
        learner=learner,
        iterations=2 if quick else 12,
        search="newest" if quick else None,
        progress=False,
        judge=False,
    )
    seconds = time.process_time() - began
    runs = 2 if quick else 40
    expert = _measure_policy(school, school.expert, 5 * runs, EXPERT_SEED)
    outcomes = [
        _measure_policy(
            school,
            partial(_actions_of, system, select_replicas(result.policy, np.array([e]))),
            runs,
            JUDGE,
        )
        for e in range(experiments)
    ]
    gaps = np.array([np.linalg.norm(outcome["mu"] - expert["mu"]) for outcome in outcomes])
    row: Row = {"true_distance": float(gaps.mean()), "error": _error(gaps)}
    for what in ("order", "spacing", "crowding"):
        off = np.array([np.abs(outcome[what] - expert[what]).mean() for outcome in outcomes])
        row |= {what: float(off.mean()), f"{what}_error": _error(off)}
    return {**row, "distances": gaps.tolist(), "seconds": round(seconds / experiments, 1)}


def _sample_observations(school: School) -> NDArray[np.float64]:
    """Observations (n, 4) of the expert's swarm, and of one that does nothing."""

    def idle(observations: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.zeros(observations.shape[:-1])

    recorded = [
        swarmdp.rollout(
            school,
            policy,
            steps=40,
            runs=10,
            seed=EXPERT_SEED,
            record="observations",
            progress=False,
        )["observations"]
        for policy in (school.expert, idle)
    ]
    return np.concatenate([values.reshape(-1, len(AXES)) for values in recorded])


NO_STREAM = Streams.of(0, [0], 1).at(0, Purpose.POLICY)  # greedy policies draw nothing


def _actions_of(
    system: System, policy: LocalPolicy, observations: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What a policy of one replica does, whatever features its own system has."""
    runs = np.zeros(len(observations), np.int64)
    return np.asarray(policy.act(system, observations, runs, NO_STREAM))


def _measure_policy(school: School, policy: Controller, runs: int, seed: int) -> dict[str, Any]:
    """Feature expectations under the raw basis, and measures at the times that count."""
    record: dict[str, Any] = {
        name: getattr(school, name) for name in ("order", "spacing", "crowding")
    }
    record["mu"] = swarmdp.simulation.DiscountedFeatures(DISCOUNT)
    recorded = swarmdp.rollout(
        school, policy, steps=STEPS, runs=runs, seed=seed, record=record, progress=False
    )
    means = {name: recorded[name].mean(axis=0) for name in record}
    return {name: m if name == "mu" else m[list(TIMES)] for name, m in means.items()}


def _error(values: NDArray[np.float64]) -> float:
    """The standard error of the mean."""
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def study(output: Path, experiments: int = 10, quick: bool = False) -> list[Row]:
    """Measure all rows that are not yet in the output folder; write and return the table.

    Parameters
    ----------
    output
        The folder for `approximation.json` (the rows) and `approximation.md` (the table).
    experiments
        The number of independent fits of each row, at least two.
    quick
        A small school, few iterations, and only the coarsest table.

    """
    check_integer("experiments", experiments, least=2)
    school = School(n_agents=20, radius=0.3) if quick else School()
    names = [LINEAR, *(list(TABLES)[:1] if quick else TABLES)]
    jobs = [
        Job({"learner": name}, partial(measure_learner, name, school, experiments, quick))
        for name in names
    ]
    shared = conditions(quick=quick, experiments=experiments, seeds=[EXPERT_SEED, DEMO, FIT, JUDGE])
    rows = collect(output / ROWS, jobs, shared, _line)
    files.write_text(output / "approximation.md", table(rows))
    return rows


def _line(row: Row) -> str:
    return (
        f"{row['learner']}: true distance {row['true_distance']:.3f} +- {row['error']:.3f}, "
        f"{row['seconds']} s"
    )


def table(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown."""
    columns = {
        "true_distance": "error",
        **{n: f"{n}_error" for n in ("order", "spacing", "crowding")},
    }
    head = ["Q-function", "true distance", "order off by", "spacing off by", "crowding off by", "s"]
    lines = [
        [
            row["learner"],
            *(f"{row[name]:.3g} ± {row[error]:.1g}" for name, error in columns.items()),
            row["seconds"],
        ]
        for row in rows
    ]
    return markdown(head, lines)


if __name__ == "__main__":
    command.main(study, "approximation", __doc__.split("\n")[0], experiments=10)
