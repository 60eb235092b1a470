"""Swarms on which advice was followed once: none of them was used to choose what is advised.

Each piece of advice that a fit with an alarm gets is followed as it is written. Where a case has no
such thing to follow, as finer classes for agents that lack a memory, the advice was given in vain.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies.battery.final import Jobs, Plankton, cases
from studies.rows import Row, markdown
from studies.verdict_advice import DEGREE, Try, battery_of
from studies.verdict_cases import Rendezvous
from swarmdp.judging import advice, causes
from swarmdp.model.streams import derived_seed
from swarmdp.model.system import State

MORE, FINER, MEMORY, CUE, LEARNERS, FEATURES, OTHER = (
    "more runs",
    "finer classes or actions",
    "a memory",
    "a common cue",
    "other learners",
    "other features",
    "something that is not observed",
)
SAID = {
    MORE: advice.MORE_DATA[:20],
    FINER: "too coarse: finer ones",
    MEMORY: "a memory is missing",
    CUE: causes.CUE,
    LEARNERS: advice.OTHER_LEARNERS,
    FEATURES: advice.OTHER_FEATURES,
    OTHER: "something decides that is not observed",
}


@dataclass(frozen=True)
class Case:
    """A swarm whose fit should raise an alarm, and what can be done about it."""

    first: Callable[[int], Try]  # of a seed
    follow: dict[str, Callable[[int, str], Try]]  # by advice: of the seed and the words


def _flock(seed: int, **changes: Any) -> Try:
    vicsek = swarmdp.Vicsek(n_agents=120, radius=0.12, noise=12 * DEGREE, **changes)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=80, seed=seed, progress=False)
    return Try(vicsek, demo, {})


def _noisy(seed: int, runs: int = 1, **changes: Any) -> Try:
    """Runs of which only observations and the order parameter are known."""
    vicsek = swarmdp.Vicsek(**changes)
    demo = swarmdp.rollout(
        vicsek,
        vicsek.expert,
        steps=70,
        runs=runs,
        seed=seed,
        record=["observations", "order"],
        progress=False,
    )
    return Try(vicsek, demo, {})


def _final(name: str, seed: int, **options: Any) -> Try:
    case = next(case for case in cases() if case.name == name)
    return Try(case.system, case.demo(seed), options)


def _told(name: str, seed: int, informed: Any) -> Try:
    """The same demo, of agents that see what it was that they followed."""
    return battery_of(next(case for case in cases() if case.name == name), seed, informed)


def _remembering(first: Try, words: str) -> Try:
    """What the advice says: swarmdp.with_history(system), or with so many steps."""
    asked = re.findall(r"with_history\(system(?:, steps=(\d+))?\)", words)
    system = swarmdp.with_history(first.system, steps=int(asked[0] or 1))
    return Try(system, first.demo, first.options)


@dataclass(frozen=True)
class Zigzag:
    """Agents on a line that step to and fro, each in its own time, and see only where they are."""

    n_agents: int = 25
    informed: bool = False  # whether they see which way they went last

    actions = np.array([-1, 0, 1])
    fields = {  # noqa: RUF012
        "cell": swarmdp.model.Field("cell", kind="level"),
        "last": swarmdp.model.Field("which way it went last", kind="hidden"),
    }

    @property
    def features(self) -> Any:
        """The quarter of the line, and of informed agents the last step."""
        quarter = swarmdp.Levels(4, name="quarter")
        return (
            swarmdp.Product(quarter=quarter, last=swarmdp.Levels(2)) if self.informed else quarter
        )

    def initial(self, rng: Any) -> State:
        """Anywhere, on any way."""
        return {"cell": rng.integers(2, 18), "last": rng.integers(2)}

    def observe(self, state: State) -> NDArray[Any]:
        """In which quarter of the line."""
        quarter = np.asarray(state["cell"] // 5)
        return np.stack([quarter, state["last"]], axis=2) if self.informed else quarter

    def transition(self, state: State, actions: NDArray[Any], rng: Any) -> State:
        """One step in twenty fails."""
        moved = np.where(rng.uniform() < 0.05, 0, actions)
        last = np.where(actions == 0, state["last"], actions > 0).astype(np.int64)
        return {"cell": np.clip(state["cell"] + moved, 0, 19), "last": last}

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The other way than last time; only informed agents can."""
        return 1 - 2 * observations[..., 1]


def _zigzag(seed: int) -> Try:
    """A demo of agents that see which way they went last, which looks as if they did not."""
    system, told = Zigzag(), Zigzag(informed=True)
    shown = swarmdp.rollout(told, told.expert, steps=80, seed=seed, progress=False)
    settings = {"n_agents": 25, "informed": False}
    demo = swarmdp.Trajectory(shown.variables, "Zigzag", settings, runs=1, steps=80)
    return Try(system, demo, {})


@dataclass(frozen=True)
class SeenRendezvous(Rendezvous):
    """Agents on the ring that also see how many are near."""

    features: ClassVar[Any] = swarmdp.Product(
        side=swarmdp.Levels(3, name="side of the others"), near=swarmdp.Levels(5, name="near")
    )

    def observe(self, state: State) -> NDArray[Any]:
        """The side, and how many are within the reach, in fifths of all."""
        cell, half = state["cell"], self.cells // 2
        offset = (cell[:, None, :] - cell[:, :, None] + half) % self.cells - half
        near = (np.abs(offset) <= self.reach).sum(axis=2) - 1
        return np.stack([super().observe(state), np.minimum(5 * near // self.n_agents, 4)], axis=2)

    def expert(self, observations: NDArray[Any]) -> NDArray[Any]:
        """As before."""
        return observations[..., 0] - 1


def _ring(seed: int, system: Any) -> Try:
    demo = swarmdp.rollout(
        system, system.expert, steps=80, seed=seed, record="observations", progress=False
    )
    return Try(system, demo, {"actions": "ignore", "policy_search": False})


NOISY: dict[str, Any] = {"n_agents": 60, "radius": 0.09, "noise": 40 * DEGREE, "speed": 0.04}
FEW: dict[str, Any] = {"n_agents": 30, "nearest": 3, "noise": 35 * DEGREE}

CASES = {
    "one run of 60 noisy agents, observations only": Case(
        lambda seed: _noisy(seed, **NOISY),
        {MORE: lambda seed, _: _noisy(seed, 10, **NOISY)},
    ),
    "one run of 30 agents that see three others, observations only": Case(
        lambda seed: _noisy(seed, **FEW),
        {MORE: lambda seed, _: _noisy(seed, 10, **FEW)},
    ),
    "four classes of misalignment": Case(
        lambda seed: _flock(seed, n_bins=4),
        {FINER: lambda seed, _: _flock(seed)},
    ),
    "turns of 90 degrees": Case(
        lambda seed: _flock(seed, turns=tuple(k * 90 * DEGREE for k in (-1, 0, 1))),
        {FINER: lambda seed, _: _flock(seed)},
    ),
    "porters": Case(
        lambda seed: _final("porters", seed),
        {MEMORY: lambda seed, words: _remembering(_final("porters", seed), words)},
    ),
    "agents that step to and fro": Case(
        _zigzag,
        {MEMORY: lambda seed, words: _remembering(_zigzag(seed), words)},
    ),
    "plankton": Case(
        lambda seed: _final("plankton", seed),
        {CUE: lambda seed, _: _told("plankton", seed, Plankton(informed=True))},
    ),
    "jobs": Case(
        lambda seed: _final("jobs", seed),
        {CUE: lambda seed, _: _told("jobs", seed, Jobs(informed=True))},
    ),
    "carousel without policy search": Case(
        lambda seed: _final("carousel", seed, policy_search=False),
        {LEARNERS: lambda seed, _: _final("carousel", seed)},
    ),
    "ants without policy search": Case(
        lambda seed: _final("ants", seed, policy_search=False),
        {LEARNERS: lambda seed, _: _final("ants", seed)},
    ),
    "meeting without policy search": Case(
        lambda seed: _final("meeting", seed, policy_search=False),
        {LEARNERS: lambda seed, _: _final("meeting", seed)},
    ),
    "a ring of which only three observations are known": Case(
        lambda seed: _ring(seed, Rendezvous()),
        {FEATURES: lambda seed, _: _ring(seed, SeenRendezvous())},
    ),
}


def follow_once(name: str, count: int, seed: int) -> Row:
    """Which advice fits of a case got, and whether following it turned the verdict."""
    case, alarms, told = CASES[name], 0, []
    for k in range(count):
        demo, fit = derived_seed(seed, k), derived_seed(seed, k, 1)
        verdict = case.first(demo).verdict(fit)
        if not verdict.alarm:
            continue
        alarms += 1
        for kind, said in SAID.items():
            for words in verdict.advice:
                # One piece of advice may name another as the next thing to try.
                if said in words and not (kind == LEARNERS and SAID[FINER] in words):
                    follow = case.follow.get(kind)
                    turned = follow is not None and not follow(demo, words).verdict(fit).alarm
                    told.append({"advice": kind, "turned": bool(turned), "meant": bool(follow)})
    return {"tried": count, "alarms": alarms, "told": told}


def table_of_advice(rows: list[Row]) -> str:
    """By advice, and then by case."""
    told = [one for row in rows for one in row["told"]]
    cells: list[tuple[object, ...]] = []
    for kind in (*SAID, None):
        given = [one for one in told if kind in (None, one["advice"])]
        turned, meant = (sum(one[name] for one in given) for name in ("turned", "meant"))
        share = f"{100 * turned / len(given):.0f} %" if given else ""
        cells.append((kind or "all", len(given), meant, turned, share))
    head = ("advice", "given", "where it can be followed", "turned the verdict", "share")
    by_case = [
        (
            row["name"],
            f"{row['alarms']} of {row['tried']}",
            ", ".join(sorted({one["advice"] for one in row["told"]})),
            sum(one["turned"] for one in row["told"]),
        )
        for row in rows
    ]
    names = ("case", "alarms", "advice", "turned")
    return markdown(head, cells) + "\n" + markdown(names, by_case)
