"""A policy whose Q-function is linear in smooth features of a real observation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from swarmdp import kernels
from swarmdp.model.harmonics import Harmonics, components
from swarmdp.model.streams import Stream
from swarmdp.model.system import System, check_is_system, check_observed, name_of
from swarmdp.model.traits import null_action
from swarmdp.policies import shown
from swarmdp.policies.asking import answer
from swarmdp.policies.export import write
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import check_names, itself
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput

TIE = 1e-9  # leads as near as this, relative to the largest, count as equal
DOUBT = 0.5  # share of the variance that may be left where the policy acts


@checked(but=("act", "check"))
@dataclass(frozen=True, eq=False)
class Reflection:
    """What a mirror does to raw observations and to actions; the same for all R replicas."""

    components: NDArray[np.float64]  # (R, k + 1, k): as `symmetry.Symmetry.components` has it
    actions: NDArray[np.int64]  # (R, actions): the mirrored action of each

    def of(self, components: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mirrored observations (runs, agents, k)."""
        matrix = self.components[0]
        mirrored: NDArray[np.float64] = components @ matrix[:-1] + matrix[-1]
        return mirrored

    def odd(
        self,
        best: NDArray[np.int64],
        side: NDArray[np.float64],
        psi: NDArray[np.float64],
        lead: NDArray[np.float64],
        rows: NDArray[np.int64],
        null: int,
    ) -> NDArray[np.int64]:
        """The actions of agents on both sides, from the best ones on one (`fold_to_one_side`).

        An observation that is its own mirror image gets the best action that is, if there is one.
        """
        turned = self.actions[0]
        free = np.flatnonzero(turned == np.arange(len(turned)))
        sided = (side == 0) & (turned[best] != best)
        if len(free) and sided.any():
            nothing = int(np.argmax(free == null))
            among = kernels.tables.best_linear_actions(psi, lead[:, free], rows, nothing, TIE)
            best = np.where(sided, free[among], best)
        return np.where(side > 0, turned[best], best)


def fold_to_one_side(
    seen: NDArray[np.float64], mirrored: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every observation on one side of the mirror, and the side (runs, agents) that it is from.

    Of an observation and its mirror image (runs, agents, ...) the one that is smaller in the first
    number in which they differ is taken. The side is 1 where that is the mirror image and -1 where
    it is the observation itself; 0 where both are the same.
    """
    first = (seen != mirrored).argmax(axis=2)[..., None]
    side = np.sign(np.take_along_axis(seen - mirrored, first, axis=2))
    return np.where(side > 0, mirrored, seen), side[..., 0]


@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """The greedy policy of a Q-function that is linear in features of the observation.

    `lead[j, a] . psi(o)` is what action a is worth in observation o beyond what all actions are,
    for replica j. In doubt agents do nothing: where no action is better, and where the experience
    that it was learned from says little (`factor`). With a `reflection` the policy is odd: the
    mirrored action in a mirrored observation, ties included, since only one of the two is looked
    at.

    Parameters
    ----------
    harmonics
        The features psi of the observation.
    lead
        (R, actions, p): what each action is worth beyond the others, for each feature.
    factor
        (R, p, p): how much experience there is in each direction of the features.
    interface
        What the controller observes and does, in physical units, where that is known.
    reflection
        How features and actions are mirrored; None if they are not.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> angle = swarmdp.features.Axis("misalignment", units="rad", periodic=True)
    >>> features = swarmdp.features.Basis(
    ...     lambda o: np.cos(o)[..., None], ("cosine",), (angle,), scalar=True
    ... )
    >>> vicsek = swarmdp.model.with_features(swarmdp.Vicsek(n_agents=20), features)
    >>> q = swarmdp.learning.LinearQ(features=9)
    >>> learner = swarmdp.learning.HeterogeneousLearning(q, steps=20)
    >>> learned = learner(vicsek, swarmdp.Reward([1.0]), discount=0.9, seed=1)
    >>> isinstance(learned.policy, swarmdp.policies.LinearPolicy)
    True

    """

    harmonics: Harmonics
    lead: NDArray[np.float64]
    factor: NDArray[np.float64]
    interface: Interface | None = None
    reflection: Reflection | None = None

    kind: ClassVar[str] = "linear"

    for_runs = itself
    export = write
    __call__ = answer
    __repr__ = shown.text
    _repr_html_ = shown.html

    def __post_init__(self) -> None:
        self.lead.setflags(write=False)
        self.factor.setflags(write=False)

    @property
    def replicas(self) -> int:
        """The number of independent policies R."""
        return len(self.lead)

    def check(self, system: System) -> None:
        """Raises InvalidInput unless the policy fits the system's observations and actions."""
        check_is_system(system)
        sizes = self.harmonics.periodic.shape[1], self.lead.shape[1]
        expected = len(system.features.axes), len(system.actions)
        if sizes != expected:
            raise InvalidInput(
                f"the policy is for {sizes[0]} components of an observation and {sizes[1]} "
                f"actions, but {name_of(system)} has {expected[0]} and {expected[1]}"
            )

    def act(
        self,
        system: System,
        observations: NDArray[Any],
        runs: NDArray[np.int64],
        rng: Stream | None = None,
    ) -> NDArray[Any]:
        """The physical actions of all agents in these runs; nothing is drawn from rng."""
        observations, runs = check_observed(system, observations, runs)
        self.check(system)
        rows, null = runs % self.replicas, null_action(system)
        numbers = components(system, observations)
        if self.reflection is not None:
            numbers, side = fold_to_one_side(numbers, self.reflection.of(numbers))
        psi = self.harmonics.of(numbers, rows)
        best = kernels.tables.best_linear_actions(psi, self.lead, rows, null, TIE)
        best[kernels.tables.doubt(psi, self.factor, rows) > DOUBT] = null
        if self.reflection is not None:
            best = self.reflection.odd(best, side, psi, self.lead, rows, null)
        return np.take(np.asarray(system.actions), best, axis=0)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The leads, the factor, what makes the features, and the mirror if there is one."""
        psi, mirror = self.harmonics, self.reflection
        both = {} if mirror is None else {"mirror": mirror.components, "turned": mirror.actions}
        return {
            "lead": self.lead,
            "factor": self.factor,
            "periodic": psi.periodic,
            "orders": psi.orders,
            "centre": psi.centre,
            "scale": psi.scale,
            **both,
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "LinearPolicy":
        """The policy that `to_arrays` described."""
        check_names(arrays, "lead", "factor", "periodic", "orders", "centre", "scale")

        def numbers(name: str, kind: type = np.float64) -> NDArray[Any]:
            array = arrays[name]
            if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
                raise InvalidInput(f"{name!r} must be an array of numbers, got {brief(array)}")
            with np.errstate(invalid="ignore"):  # what is not finite is refused below
                return array.astype(kind)

        harmonics = Harmonics(
            numbers("periodic", np.bool_),
            numbers("orders", np.int64),
            numbers("centre"),
            numbers("scale"),
        )
        lead, factor = numbers("lead"), numbers("factor")
        reflection = None
        if "mirror" in arrays:
            check_names(arrays, "turned")
            reflection = Reflection(numbers("mirror"), numbers("turned", np.int64))
        return cls(harmonics, lead, factor, interface, reflection)
