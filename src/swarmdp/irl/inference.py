"""Actions that nobody recorded: which ones explain the steps of a demo, by the system's own law.

A demo of states shows what each action led to. The system can be asked what each of its actions
would have led to from the same state. So the probability of a recorded step under each action is
known, up to the noise of a few simulated steps, and the policy under which all recorded steps are
most probable is found by expectation maximisation: actions are weighed by how well they explain a
step and by how often they are taken in the same observation.

Nothing is assumed about the system but that it can be simulated. Each agent tries its actions while
the others try theirs at random: what others do in the same step is averaged over. The law of a
finite MDP is known, and nothing has to be simulated.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.frames import observations_over, recorded_states, states_over
from swarmdp.irl.pairs import actions_of
from swarmdp.model.features import Classes
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import State, System, classes
from swarmdp.model.traits import Replaying, field_of, unaffected_fields
from swarmdp.model.trajectory import Trajectory
from swarmdp.support.arrays import Floats
from swarmdp.systems.finite import FiniteMDP, exact_model

_SAMPLES = 8  # simulated steps of each action
_MOST_STEPS = 100_000  # recorded steps of single agents that are explained
_MOST_SIMULATED = 4_000_000  # steps that are simulated for them, where that leaves enough of them
_ENOUGH_STEPS = 20_000  # recorded steps that are explained, however many actions there are
_AT_ONCE = 2**16  # steps of single agents that are simulated in one call
_NEVER = 1e-100  # a probability that is zero
_ROUNDS = 100  # of expectation maximisation, at most
_SETTLED = 1e-12  # a change of chances that is none
_UNLIKELY = 1e-3  # the density of a step that no simulated one resembles
_TELLING = 0.1  # nats a decision by which random actions must be less probable
MIXED = 0.15  # nats a decision by which drawing actions may be better than any table
_NEARLY = 0.02  # of the surprise of random actions: a policy that is surprised less is confirmed
_FAR = 4.0  # widths of a kernel: a recorded step farther from all simulated ones is none of them
_ROUNDING = 1e-9  # of the size of a field: values this near are equal


@dataclass(frozen=True, eq=False)
class Explanation:
    """The decisions of a demo: what was observed, and how well each action explains what followed.

    Decisions are single steps of single agents, one moment after another.
    """

    run: NDArray[np.int64]  # (M,): of which run of the demo each moment is
    time: NDArray[np.int64]  # (M,): at which time
    index: NDArray[np.int64]  # (M * agents,): the class observed
    likelihood: Floats  # (M * agents, A): of what followed under each action, 1 for the likeliest
    source: str  # how this is known: "recorded", or "explained" by the law
    size: int  # the number of classes
    symmetry: Symmetry | None

    @property
    def agents(self) -> int:
        """The number of agents."""
        return len(self.index) // len(self.run)

    @cached_property
    def chances(self) -> Floats:
        """The policy (O, A) under which the demo is most probable; uniform where nobody was."""
        actions = self.likelihood.shape[1]
        chances = np.full((self.size, actions), 1 / actions)
        parts = self._by_class()
        for _ in range(_ROUNDS):
            counts = np.zeros_like(chances)
            for seen, likelihood in parts:
                total = np.einsum("an,a->n", likelihood, chances[seen])
                # What no action explains counts for none: its numerator is zero.
                share = 1.0 / np.maximum(total, _NEVER)
                counts[seen] = chances[seen] * np.einsum("an,n->a", likelihood, share)
            if self.symmetry is not None:
                counts = counts + counts[self.symmetry.classes][:, self.symmetry.actions]
            visits = counts.sum(axis=1, keepdims=True)
            before = chances
            chances = np.where(visits > 0, counts / np.where(visits > 0, visits, 1.0), 1 / actions)
            if np.abs(chances - before).max() < _SETTLED:
                break
        return chances

    def _by_class(self) -> list[tuple[int, Floats]]:
        """The classes that were observed, each with the likelihood (A, n) of its decisions.

        Sums over the decisions of a class are then sums along a row.
        """
        order = np.argsort(self.index, kind="stable")
        index = self.index[order]
        begins = np.flatnonzero(np.append(True, index[1:] != index[:-1]))
        return [
            (int(self.index[part[0]]), np.ascontiguousarray(self.likelihood[part].T))
            for part in np.split(order, begins[1:])
        ]

    @property
    def pairs(self) -> Floats:
        """How often each action was taken in each observation (runs, O, A)."""
        return self._counts(self.chances)

    @property
    def telling_pairs(self) -> Floats:
        """How often each action was taken in each observation (O, A), as far as steps tell it.

        What follows from all actions alike says nothing of the decision, and does not count. It
        would look like an agent that does not care.
        """
        likely = self.likelihood / self.likelihood.sum(axis=1, keepdims=True)
        logarithm = np.log(np.where(likely > 0, likely, 1.0))
        entropy = -(likely * logarithm).sum(axis=1) / np.log(max(2, likely.shape[1]))
        telling: Floats = self._counts(self.chances, np.clip(1.0 - entropy, 0.0, 1.0)).sum(axis=0)
        return telling

    @cached_property
    def support(self) -> Floats:
        """How probable what followed is if one action is always taken, (O, A), as logarithms.

        The largest in a row is the action of the most probable table. Where actions are graded and
        noise is large it is far more exact than the action that is likeliest step by step.
        """
        logarithm = np.log(np.maximum(self.likelihood, _UNLIKELY))
        columns = [np.bincount(self.index, column, self.size) for column in logarithm.T]
        support: Floats = np.stack(columns, axis=1)
        if self.symmetry is not None:
            support = support + support[self.symmetry.classes][:, self.symmetry.actions]
        return support

    def surprise(self, chances: Floats) -> float:
        """How much less probable decisions are under a policy (O, A) than under the best table.

        In nats for each decision; the best table takes one action in each observation.
        """
        best = np.eye(self.support.shape[1])[self.support.argmax(axis=1)]
        return self._log_likelihood(best) - self._log_likelihood(chances)

    def confirms(self, chances: Floats) -> bool:
        """Whether decisions are nearly as probable under a policy (O, A) as under the best table.

        Only where decisions tell policies apart, and the expert's are those of a table.
        """
        uniform = self.surprise(np.full_like(self.chances, 1 / self.chances.shape[1]))
        return (
            uniform >= _TELLING
            and self.mixed <= MIXED
            and self.surprise(chances) <= _NEARLY * uniform
        )

    @property
    def mixed(self) -> float:
        """How much better actions that are drawn explain the demo than any table does.

        In nats for each decision. It is large where the same observation is answered by different
        actions: then something decides that is not observed.
        """
        return -self.surprise(self.chances)

    @property
    def actions(self) -> NDArray[np.int64]:
        """The likeliest action of each decision (M, agents)."""
        likeliest: NDArray[np.int64] = (self.likelihood * self.chances[self.index]).argmax(axis=1)
        return likeliest.reshape(len(self.run), -1)

    def _log_likelihood(self, chances: Floats) -> float:
        likely = (self.likelihood * chances[self.index]).sum(axis=1)
        return float(np.log(np.maximum(likely, _UNLIKELY)).mean())

    def _counts(self, chances: Floats, weight: Floats | None = None) -> Floats:
        shares = self.likelihood * chances[self.index]
        total = shares.sum(axis=1, keepdims=True)
        # What no action explains counts for none.
        shares = np.where(total > 0, shares / np.where(total > 0, total, 1.0), 0.0)
        if weight is not None:
            shares *= weight[:, None]
        runs = int(self.run.max()) + 1
        where = np.repeat(self.run, self.agents) * self.size + self.index
        columns = [np.bincount(where, column, runs * self.size) for column in shares.T]
        counts: Floats = np.stack(columns, axis=1).astype(np.float64)
        return counts.reshape(runs, self.size, -1)


def explain(
    system: System, demo: Trajectory, *, symmetry: Symmetry | None, seed: int
) -> Explanation | None:
    """Which actions led to what a demo shows: recorded, or explained by the system's law.

    None where that cannot be asked: the demo is of a recording, it has neither actions nor states,
    or the system has no classes of observations.

    Parameters
    ----------
    system
        The swarm that was recorded.
    demo
        A trajectory with actions or states.
    symmetry
        The mirror, where one is used: the policy is then an odd one.
    seed
        Of the simulated steps.

    """
    features = system.features
    if not isinstance(features, Classes) or demo.of_recording or demo.steps < 1:
        return None
    if not recorded_states(system, demo) and "actions" not in demo:
        return None
    if "actions" in demo or isinstance(system, Replaying):
        index = np.stack([classes(system, now) for now in observations_over(system, demo)], 1)
        taken = _taken(system, demo)
        likelihood = np.eye(len(system.actions))[taken.ravel()]
        run, time = np.divmod(np.arange(demo.runs * demo.steps), demo.steps)
        flat = index[:, :-1].ravel().astype(np.int64)
        return Explanation(run, time, flat, likelihood, "recorded", features.size, symmetry)
    steps = _Steps.of(system, demo)
    mdp = exact_model(system)
    likelihood = _likelihood(system, steps, seed) if mdp is None else _exact_likelihood(mdp, steps)
    return Explanation(
        steps.run,
        steps.time,
        steps.index.ravel().astype(np.int64),
        likelihood.reshape(-1, likelihood.shape[2]),
        "explained",
        features.size,
        symmetry,
    )


def _taken(system: System, demo: Trajectory) -> NDArray[np.int64]:
    """The indices of the actions (runs, steps, agents) that a demo recorded."""
    if "actions" in demo or not isinstance(system, Replaying):
        return actions_of(system, demo)[0]
    pairs = itertools.pairwise(states_over(system, demo))
    return np.stack([system.taken_actions(*pair) for pair in pairs], axis=1)


@dataclass(frozen=True, eq=False)
class _Steps:
    """Recorded steps: states before and after, as if each time were a run of its own."""

    run: NDArray[np.int64]  # (M,): of which run of the demo
    time: NDArray[np.int64]  # (M,): at which time
    before: State  # arrays (M, agents, ...)
    after: State
    index: NDArray[np.integer]  # (M, agents): the class observed before

    @classmethod
    def of(cls, system: System, demo: Trajectory) -> "_Steps":
        """The steps of a demo, evenly thinned out where there are very many."""
        affordable = _MOST_SIMULATED // (_SAMPLES * len(system.actions))
        most = min(_MOST_STEPS, max(_ENOUGH_STEPS, affordable))
        every = max(1, -(-demo.runs * demo.steps * system.n_agents // most))
        # An odd stride meets both halves of what alternates.
        times = np.arange(0, demo.steps, every + (every % 2 == 0))
        wanted = set(times.tolist())
        follow = {time + 1 for time in wanted}
        before: list[State] = []
        after: list[State] = []
        for time, state in enumerate(states_over(system, demo)):
            if time in wanted:
                before.append(state)
            if time in follow:
                after.append(state)
        seen = [
            classes(system, now)
            for time, now in enumerate(observations_over(system, demo))
            if time in wanted
        ]
        return cls(
            np.tile(np.arange(demo.runs), len(times)),
            np.repeat(times, demo.runs),
            {name: np.concatenate([state[name] for state in before]) for name in before[0]},
            {name: np.concatenate([state[name] for state in after]) for name in after[0]},
            np.concatenate(seen),
        )


def _exact_likelihood(mdp: FiniteMDP, steps: _Steps) -> Floats:
    """How probable each recorded step of a finite MDP is under each action (M, 1, A)."""
    before, after = (np.asarray(state["state"]).ravel() for state in (steps.before, steps.after))
    rows = before[:, None] * mdp.n_actions + mdp.actions
    columns = np.repeat(after[:, None], mdp.n_actions, axis=1)
    chances = np.asarray(mdp.chain[rows.ravel(), columns.ravel()]).reshape(rows.shape)
    highest = chances.max(axis=1, keepdims=True)
    # A step that no action makes explains nothing.
    likelihood: Floats = np.divide(
        chances, highest, out=np.ones_like(chances, np.float64), where=highest > 0
    )
    return likelihood[:, None]


def _likelihood(system: System, steps: _Steps, seed: int) -> Floats:
    """How probable each recorded step is under each action (M, agents, A), up to a factor."""
    many, agents = steps.index.shape
    # Each agent begins with another action, so that in any sample actions are mixed.
    first = np.random.default_rng(seed).integers(len(system.actions), size=(many, agents))
    chunk = max(1, _AT_ONCE // agents)
    parts = [
        _likelihood_of(system, steps, slice(begin, min(begin + chunk, many)), first, seed)
        for begin in range(0, many, chunk)
    ]
    return np.concatenate(parts)


def _likelihood_of(
    system: System, steps: _Steps, part: slice, first: NDArray[np.int64], seed: int
) -> Floats:
    """The likelihood of some of the steps; see `_likelihood`."""
    actions = np.asarray(system.actions)
    count, before = len(actions), {name: array[part] for name, array in steps.before.items()}
    streams = Streams.of(seed, np.arange(part.start, part.stop), first.shape[1])
    shape = (*first[part].shape, count)
    total, missed = np.zeros(shape), np.zeros(shape[:2], np.bool_)
    told = [name for name in before if name not in unaffected_fields(system)]
    gaps = {name: np.empty(shape) for name in told}
    widths = dict.fromkeys(told, 0.0)
    for shift in range(count):
        chosen = (first[part] + shift) % count
        # What the same actions lead to, some times over.
        outcomes = [
            system.transition(
                before, actions[chosen], streams.at(sample * count + shift, Purpose.TRANSITION)
            )
            for sample in range(_SAMPLES)
        ]
        for name in told:
            samples = np.stack([after[name] for after in outcomes]).astype(np.float64)
            recorded = steps.after[name][part].astype(np.float64)
            density, gap, width = _density(samples, recorded, _period(system, name))
            place = chosen[..., None]
            seen = np.take_along_axis(total, place, axis=2) + np.log(density)[..., None]
            np.put_along_axis(total, place, seen, axis=2)
            np.put_along_axis(gaps[name], place, gap[..., None], axis=2)
            widths[name] = max(widths[name], width)
    likelihood: Floats = np.exp(total - total.max(axis=2, keepdims=True))
    for name, gap in gaps.items():
        missed |= gap.min(axis=2) > _FAR * widths[name]
    # What no action leads to was an action between two of them, or an effect of other agents.
    return np.where(missed[..., None], _nearest_two(gaps), likelihood)


def _nearest_two(gaps: Mapping[str, Floats]) -> Floats:
    """Weights (M, agents, A) of the two actions that lead nearest to what was recorded.

    In inverse proportion to how far they lead from it, as in an interpolation. What actions do not
    change does not count.
    """
    square = np.zeros_like(next(iter(gaps.values())))
    for gap in gaps.values():
        scale = np.ptp(gap, axis=2, keepdims=True)
        square += np.where(scale > 0, (gap / np.where(scale > 0, scale, 1.0)) ** 2, 0.0)
    gap = np.sqrt(square)
    order = np.argsort(gap, axis=2, kind="stable")
    two = np.take_along_axis(gap, order[..., :2], axis=2)
    weights = np.full_like(gap, _UNLIKELY)
    # The nearest has the weight 1.
    ratio = two[..., :1] / np.maximum(two, np.finfo(np.float64).tiny)
    np.put_along_axis(weights, order[..., :2], np.maximum(ratio, _UNLIKELY), axis=2)
    np.put_along_axis(weights, order[..., :1], 1.0, axis=2)
    return weights


def _period(system: System, name: str) -> float | None:
    field = field_of(system, name)
    return 2 * np.pi if field.kind == "angle" and field.period is None else field.period


def _density(
    samples: Floats, recorded: Floats, period: float | None
) -> tuple[Floats, Floats, float]:
    """The density (M, agents) of what was recorded, given samples (K, M, agents, ...).

    Gaussian kernels around the samples. They are as wide as neighbouring samples are apart, so that
    what happens for certain, or in a few ways, must be met exactly. Also how far the nearest sample
    is (M, agents), and the width.
    """
    values = samples.reshape(*samples.shape[:3], -1)
    truth = recorded.reshape(*recorded.shape[:2], -1)
    size = np.abs(values).max(initial=0.0)
    # Half the typical distance of two samples of one action: zero if there is no noise.
    width = 0.5 * float(np.median(_gap(values[1:] - values[:-1], period)))
    width = max(width, _ROUNDING * max(size, 1.0))
    gap = _gap(values - truth, period)
    density: Floats = np.exp(-0.5 * (gap / width) ** 2).mean(axis=0)
    nearest: Floats = gap.min(axis=0)
    return density + _UNLIKELY, nearest, width


def _gap(difference: Floats, period: float | None) -> Floats:
    """The Euclidean length of differences (..., axes)."""
    if period is not None:
        difference = difference - period * np.round(difference / period)
    if difference.shape[-1] == 1:
        return np.asarray(np.abs(difference[..., 0]))
    length: Floats = np.sqrt(np.einsum("...a,...a->...", difference, difference))
    return length
