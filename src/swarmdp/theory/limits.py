"""Where a swarm ends up: recurrent classes, their periods, and the limit of P_t(s)."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput, SolverError
from swarmdp.theory.lumping import indicator, stable_blocks
from swarmdp.theory.solvers import check_dense, solve_dense, stationary

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BALANCED = 1e-10  # cyclic parts of a class whose masses differ by less than this are in balance
STATIONARY = 1e-11  # the most that a limit may change in a further step, summed over all states
DRAINING = 256  # steps after which a linear system takes over
NAMED = 4  # classes that are described by name


class NoLimit(InvalidInput):
    """P_t(s) does not converge; the message names the classes in which it goes round.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, magnetisation=0.5)
    >>> try:
    ...     theory.best_response(ring, [1, 1, 1], [1.0, 0.5, 0.0])    # all spins flip for ever
    ... except theory.NoLimit:
    ...     print("no limit")
    ...
    no limit

    """


@dataclass(frozen=True, eq=False)
class RecurrentClasses:
    """The recurrent classes of a chain: sets of states that are never left again."""

    label: NDArray[np.int64]  # (K,): the number of the state's class, -1 for a transient state
    phase: NDArray[np.int64]  # (K,): the part of a periodic class that the state is in
    period: NDArray[np.int64]  # (classes,)


@checked
@dataclass(frozen=True, eq=False)
class Limit:
    """The limit of P_t(s) from the initial distribution, if there is one.

    `average` is the limit of the average over time, which always exists.

    Parameters
    ----------
    average
        (K,): the limit of the average of P_t(s) over time.
    exists
        Whether P_t(s) itself converges.
    classes
        The recurrent classes of the chain.
    local
        (K, agents): local states, to name joint ones.

    Examples
    --------
    >>> from swarmdp import theory
    >>> ring = theory.FiniteIsing((4,), reach=1, noise=0.1)
    >>> theory.check_homogeneity(ring, ring.expert, steps=1).limit.exists
    True

    """

    average: Floats
    exists: bool
    classes: RecurrentClasses
    local: NDArray[np.int64]

    @property
    def law(self) -> Floats:
        """P(s), the limit of P_t(s)."""
        if not self.exists:
            raise NoLimit(f"P_t(s) does not converge: {self}")
        return self.average

    @property
    def unique(self) -> bool:
        """Whether the limit is the same from every initial distribution."""
        return self.exists and len(self.classes.period) == 1 and self.classes.period[0] == 1

    @cached_property
    def weight(self) -> Floats:
        """The probability of ending in each recurrent class (classes,)."""
        recurrent = self.classes.label >= 0
        weight: NDArray[Any] = np.bincount(
            self.classes.label[recurrent],
            self.average[recurrent],
            minlength=len(self.classes.period),
        )
        return weight

    def __str__(self) -> str:
        periods, count = self.classes.period, len(self.classes.period)
        size = np.bincount(self.classes.label[self.classes.label >= 0], minlength=count)
        text = f"{count} recurrent class{'es' if count > 1 else ''}"
        order = np.argsort(-self.weight, kind="stable")
        for number in order[:NAMED]:
            first = int(np.argmax(self.classes.label == number))
            text += (
                f"; class {number} of {size[number]} states such as {self.local[first].tolist()}, "
                f"period {periods[number]}, reached with probability {self.weight[number]:.3g}"
            )
        if count > NAMED:
            text += f"; and {count - NAMED} more, of period at most {periods[order[NAMED:]].max()}"
        if self.unique:
            return f"{text}: a limit that does not depend on the initial distribution"
        if self.exists:
            return f"{text}: the limit depends on the initial distribution"
        return f"{text}: no limit, the swarm goes round"


def limit_of(transitions: "csr_array", initial: Floats, local: NDArray[np.int64]) -> Limit:
    """The limit of the distribution initial P^t."""
    # A distribution of a swarm is symmetric and stays so: the chain of blocks says it all.
    blocks = stable_blocks(transitions.T, initial)
    member = indicator(blocks)
    sizes = np.bincount(blocks)
    flows = (member.T @ transitions @ member).tocsr()
    flows.data /= np.repeat(sizes, np.diff(flows.indptr))
    small, exists = _average(flows, member.T @ initial)
    average = (small / sizes)[blocks]
    error = float(np.abs(average @ transitions - average).sum())
    if error > STATIONARY:
        raise SolverError(f"the limit of P_t is only known to {error:.1e}: it is not stationary")
    return Limit(average, exists, recurrent_classes(transitions), local)


def recurrent_classes(transitions: "csr_array") -> RecurrentClasses:
    """The classes of a chain, with their periods and cyclic parts."""
    from scipy.sparse import csgraph

    count, component = csgraph.connected_components(transitions, connection="strong")
    begins, reached = transitions.indptr[:-1], component[transitions.indices]
    stays = np.maximum.reduceat(reached, begins) == component
    stays &= np.minimum.reduceat(reached, begins) == component
    closed = np.ones(count, bool)
    closed[component[~stays]] = False
    number = np.where(closed, np.cumsum(closed) - 1, -1)
    label = number[component]
    period = np.zeros(int(closed.sum()), np.int64)
    # A state that may stay where it is makes the period of its class one.
    period[label[(label >= 0) & (transitions.diagonal() > 0)]] = 1
    phase = np.zeros(len(label), np.int64)
    members = np.flatnonzero((label >= 0) & (period[label] == 0))
    if members.size:
        inside = transitions[members][:, members]
        renamed = np.unique(label[members], return_inverse=True)[1]
        phase[members], period[period == 0] = _phases(inside, renamed)
    return RecurrentClasses(label, phase, period)


def _phases(
    transitions: "csr_array", label: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The period of each class: the common divisor of the lengths of all ways round."""
    level = np.full(len(label), -1)
    front = np.unique(label, return_index=True)[1]  # one state of each class, all at once
    distance = 0
    while front.size:
        level[front] = distance
        distance += 1
        reached = np.unique(transitions[front].indices)
        front = reached[level[reached] < 0]
    row = np.repeat(np.arange(len(label)), np.diff(transitions.indptr))
    period = np.zeros(label.max() + 1, np.int64)
    np.gcd.at(period, label[row], np.abs(level[row] + 1 - level[transitions.indices]))
    return level % period[label], period


def _average(flows: "csr_array", initial: Floats) -> tuple[Floats, bool]:
    """The limit of the average of initial flows^t, and whether it is that of initial flows^t."""
    classes = recurrent_classes(flows)
    initial = _drain(flows, classes.label, initial)
    entered = _entering(flows, classes.label, initial, 1.0)
    recurrent = np.flatnonzero(classes.label >= 0)
    recurrent = recurrent[np.argsort(classes.label[recurrent], kind="stable")]
    weight = np.bincount(classes.label[recurrent], entered[recurrent], len(classes.period))
    average = np.zeros(len(initial))
    sizes = np.bincount(classes.label[recurrent])
    for members, mass in zip(np.split(recurrent, np.cumsum(sizes)[:-1]), weight, strict=True):
        if mass > 0:
            average[members] = mass * _stationary(flows, members)
    turning = np.unique(classes.period[(classes.period > 1) & (weight > 0)])
    exists = all(_in_balance(flows, classes, initial, int(period)) for period in turning)
    return average, exists


def _drain(flows: "csr_array", label: NDArray[np.int64], law: Floats) -> Floats:
    """The distribution some steps later: often nothing is left in transient states by then."""
    transient = label < 0
    for _ in range(DRAINING):
        if not law[transient].any():
            break
        law = law @ flows
    return law


def _stationary(flows: "csr_array", members: NDArray[np.int64]) -> Floats:
    """The stationary distribution of one class."""
    if len(members) == 1:
        return np.ones(1)
    inside = flows[members][:, members]
    if inside.nnz == len(members):  # a deterministic circle
        return np.full(len(members), 1 / len(members))
    check_dense(len(members), "the limit of P_t")
    return stationary(inside.toarray())


def _entering(
    flows: "csr_array", label: NDArray[np.int64], initial: Floats, z: complex
) -> NDArray[Any]:
    """The sum over t of z^t times the mass that enters each recurrent state at time t (K,)."""
    from scipy import sparse

    transient = np.flatnonzero(label < 0)
    entered = initial.astype(np.result_type(z))
    if initial[transient].any():
        leaving = flows[transient]
        system = sparse.eye_array(len(transient)) - z * leaving[:, transient]
        visits = solve_dense(system.T.toarray(), entered[transient], "the limit of P_t")
        entered += z * (visits @ leaving)
    entered[transient] = 0
    return entered


def _in_balance(
    flows: "csr_array", classes: RecurrentClasses, initial: Floats, period: int
) -> bool:
    """Whether the mass of the classes of this period is the same in all their cyclic parts.

    The part that a mass is in at time 0, had it always been in the class, is its phase minus the
    time of its entry. The Fourier transform of the masses over these parts must vanish.
    """
    states = np.flatnonzero((classes.label >= 0) & (classes.period[classes.label] == period))
    label, phase = classes.label[states], classes.phase[states]
    for frequency in range(1, period):
        root = np.exp(2j * np.pi * frequency / period)
        turned = _entering(flows, classes.label, initial, 1 / root)[states] * root**phase
        parts = [np.bincount(label, part) for part in (turned.real, turned.imag)]
        if np.hypot(*parts).max() > BALANCED:
            return False
    return True
