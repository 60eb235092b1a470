"""Controllers given by a user: a function of the observation and of a few numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.model.streams import Stream
from swarmdp.model.system import System, check_is_system, check_observed
from swarmdp.policies.asking import answer
from swarmdp.policies.export import write
from swarmdp.policies.interface import Interface
from swarmdp.policies.local import check_names, itself
from swarmdp.support.arguments import checked, numbers
from swarmdp.support.errors import InvalidInput

Rule = Callable[[NDArray[Any], NDArray[np.float64]], NDArray[Any]]


@checked(skip=("bounds",))
@dataclass(frozen=True, eq=False)
class Parametric:
    """A family of controllers: one for each choice of a few numbers within bounds.

    Parameters
    ----------
    function
        From observations (runs, agents, ...) and parameters to physical actions (runs, agents).
        The parameters have the shape (p, runs, 1), so that `gain, reach = parameters` gives numbers
        that can be multiplied with what agents observe.
    bounds
        The lowest and highest value of each parameter: pairs, or pairs by name.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20)
    >>> def turn(seen, parameters):    # a share of the misalignment
    ...     (gain,) = parameters
    ...     return gain * seen
    ...
    >>> family = swarmdp.policies.Parametric(turn, {"gain": (0.0, 1.0)})
    >>> swarmdp.rollout(vicsek, family.policy([0.5]), steps=5, seed=1).steps
    5

    """

    function: Rule
    bounds: Mapping[str, tuple[float, float]] | Sequence[tuple[float, float]]

    def __post_init__(self) -> None:
        limits = self.limits
        if not limits.size:
            raise InvalidInput(
                "a family of controllers needs at least one parameter, got no bounds: give a pair "
                "(lowest, highest) for each"
            )
        wrong = ~(limits[:, 0] < limits[:, 1])
        if wrong.any():
            k = int(wrong.argmax())
            raise InvalidInput(
                f"the bounds of {self.names[k]!r} exclude every value: the lowest, "
                f"{limits[k, 0]:g}, must be below the highest, {limits[k, 1]:g}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """What the parameters are called."""
        if isinstance(self.bounds, Mapping):
            return tuple(map(str, self.bounds))
        return tuple(f"parameter {k}" for k in range(len(self.bounds)))

    @property
    def limits(self) -> NDArray[np.float64]:
        """The lowest and highest value of each parameter (p, 2)."""
        pairs = list(self.bounds.values() if isinstance(self.bounds, Mapping) else self.bounds)
        limits = numbers("bounds", pairs, np.float64) if pairs else np.empty((0, 2))
        if limits.ndim != 2 or limits.shape[1] != 2 or not np.isfinite(limits).all():
            raise InvalidInput(
                "bounds must be a pair of finite numbers (lowest, highest) for each parameter, got "
                f"an array of shape {limits.shape}"
            )
        return limits

    def policy(
        self, parameters: ArrayLike, interface: Interface | None = None
    ) -> "ParametricPolicy":
        """The controllers with these parameters, (p,) or (R, p) for R replicas."""
        return ParametricPolicy(parameters, self.function, interface)


@checked(but=("act", "check"), skip=("parameters",))
@dataclass(frozen=True, eq=False)
class ParametricPolicy:
    """A user's controller with certain parameters; see `Parametric`.

    Parameters
    ----------
    parameters
        (R, p): those of each replica; (p,) is one replica.
    function
        What the controller does with them; None for one that was read from a file, which does not
        keep programs: give it again with `with_function`.
    interface
        What the controller observes and does, in physical units, where that is known.

    Examples
    --------
    >>> import swarmdp
    >>> half = swarmdp.policies.ParametricPolicy([0.5], lambda seen, p: p[0] * seen)
    >>> half.parameters
    array([[0.5]])

    """

    parameters: NDArray[np.float64]
    function: Rule | None = None
    interface: Interface | None = None

    kind: ClassVar[str] = "parametric"

    for_runs = itself
    export = write
    __call__ = answer

    def __init__(
        self,
        parameters: ArrayLike,
        function: Rule | None = None,
        interface: Interface | None = None,
    ) -> None:
        array = np.atleast_2d(np.array(numbers("parameters", parameters, np.float64)))
        if array.ndim != 2 or not array.size or not np.isfinite(array).all():
            raise InvalidInput(
                "parameters must be finite numbers of shape (p,) or (replicas, p), got shape "
                f"{np.shape(parameters)}"
            )
        array.setflags(write=False)
        object.__setattr__(self, "parameters", array)
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "interface", interface)

    @property
    def replicas(self) -> int:
        """The number of independent policies R."""
        return len(self.parameters)

    def with_function(self, function: Rule) -> "ParametricPolicy":
        """The same parameters for a function, such as after reading them from a file."""
        return ParametricPolicy(self.parameters, function, self.interface)

    def check(self, system: System) -> None:
        """Raise InvalidInput if there is no function."""
        check_is_system(system)
        self._rule()

    def _rule(self) -> Rule:
        if self.function is None:
            raise InvalidInput(
                "this controller was read from a file, which keeps its parameters but not its "
                "function: give it again, policy.with_function(function)"
            )
        return self.function

    def act(
        self,
        system: System,
        observations: NDArray[Any],
        runs: NDArray[np.int64],
        rng: Stream | None = None,
    ) -> NDArray[Any]:
        """What the function says; raises InvalidInput unless it is a number for each agent."""
        check_observed(system, observations, runs)
        chosen = self.parameters[runs % self.replicas]
        returned = self._rule()(observations, chosen.T[:, :, None])
        actions = np.asarray(numbers("what the controller's function returns", returned))
        shape = (*observations.shape[:2], *np.shape(system.actions)[1:])
        if actions.shape != shape or actions.dtype.kind not in "biuf":
            raise InvalidInput(
                f"the controller's function must return numbers of shape {shape}, an action for "
                f"each run and agent, got {actions.dtype} of shape {actions.shape}"
            )
        if not np.isfinite(actions).all():
            wrong = ~np.isfinite(actions).reshape(len(chosen), -1).all(axis=1)
            raise InvalidInput(
                "the controller's function returned NaN or infinity with the parameters "
                f"{chosen[wrong][0].tolist()}: every action must be a finite number"
            )
        return actions

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The parameters; the function is not kept."""
        return {"parameters": self.parameters}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "ParametricPolicy":
        """The policy that `to_arrays` told of, without its function."""
        check_names(arrays, "parameters")
        return cls(arrays["parameters"], None, interface)

    def with_arrays(
        self, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
    ) -> "ParametricPolicy":
        """The same function with other parameters."""
        check_names(arrays, "parameters")
        return ParametricPolicy(arrays["parameters"], self.function, interface)
