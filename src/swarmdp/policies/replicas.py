"""Policies put together from replicas of others, and policies from files."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.model.features import Classes
from swarmdp.model.system import System
from swarmdp.policies import export
from swarmdp.policies.functions import FunctionPolicy
from swarmdp.policies.interface import Interface
from swarmdp.policies.interpolated import InterpolatedPolicy
from swarmdp.policies.linear import LinearPolicy
from swarmdp.policies.local import Controller, LocalPolicy, TablePolicy
from swarmdp.policies.parametric import ParametricPolicy
from swarmdp.policies.soft import SoftPolicy
from swarmdp.policies.table import Policy
from swarmdp.support import files
from swarmdp.support.arguments import checked
from swarmdp.support.checks import brief
from swarmdp.support.errors import FileError, InvalidInput

POLICY_KINDS: Mapping[str, type[LocalPolicy]] = {
    kind.kind: kind
    for kind in (Policy, SoftPolicy, InterpolatedPolicy, LinearPolicy, ParametricPolicy)
}


def as_policy(controller: Controller) -> LocalPolicy:
    """A policy as it is, a plain function as a policy; anything else raises InvalidInput."""
    if isinstance(controller, LocalPolicy) and not isinstance(controller, type):
        return controller
    if not callable(controller) or isinstance(controller, type):
        raise InvalidInput(
            "the policy must be a swarmdp.Policy, SoftPolicy, MixedPolicy or another LocalPolicy, "
            f"or a function from observations to actions, got {brief(controller)}"
        )
    return FunctionPolicy(controller)


def check_fits(policy: LocalPolicy, system: System, runs: int) -> None:
    """Raise InvalidInput unless the policy fits the system and each replica gets its runs."""
    policy.check(system)
    if runs % policy.replicas:
        raise InvalidInput(
            f"runs must be a multiple of the policy's {policy.replicas} replicas, got {runs}"
        )


def table_of(policy: LocalPolicy) -> NDArray[np.integer]:
    """The action index of each class (R, observations), the likeliest one of a soft policy."""
    if not isinstance(policy, TablePolicy):
        raise InvalidInput(f"this needs a policy that is a table, got one of kind {policy.kind!r}")
    return policy.table


def remade(
    policy: LocalPolicy, arrays: Mapping[str, NDArray[Any]], interface: Interface | None
) -> LocalPolicy:
    """A policy of the same kind with other arrays; a user's function stays."""
    if isinstance(policy, ParametricPolicy):
        return policy.with_arrays(arrays, interface)
    return type(policy).from_arrays(arrays, interface)


def select_replicas(policy: LocalPolicy, replicas: NDArray[np.integer] | slice) -> LocalPolicy:
    """The policy of just these replicas, given as an index array or a slice."""
    arrays = {name: array[replicas] for name, array in policy.to_arrays().items()}
    return remade(policy, arrays, policy.interface)


def join_replicas(policies: Sequence[LocalPolicy]) -> LocalPolicy:
    """All replicas of several policies of one kind, one after another."""
    parts = [policy.to_arrays() for policy in policies]
    arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return remade(policies[0], arrays, policies[0].interface)


def choose_replicas(
    policies: Sequence[LocalPolicy],
    chosen: NDArray[np.integer],
    interface: Interface | None = None,
) -> LocalPolicy:
    """The policy whose replica r is that of policies[chosen[r]], all of one kind."""
    parts = [policy.to_arrays() for policy in policies]
    arrays = {
        name: np.stack([parts[i][name][r] for r, i in enumerate(chosen)]) for name in parts[0]
    }
    return remade(policies[0], arrays, interface)


def check_interface(policy: LocalPolicy, interface: Interface) -> None:
    """Raises InvalidInput if a table has other classes or actions than its interface."""
    if not isinstance(policy, TablePolicy):
        return
    classes, actions = policy.table.shape[1], len(interface.actions)
    expected = interface.features.size if isinstance(interface.features, Classes) else classes
    most = policy.to_arrays().get("probabilities")
    chosen = int(policy.table.max()) + 1 if most is None else most.shape[2]
    if classes != expected or chosen > actions:
        raise InvalidInput(
            f"the policy's table has {classes} observations and needs {chosen} actions, but "
            f"{interface.system} has {expected} and {actions}"
        )


def policy_from(
    kind: str, arrays: Mapping[str, NDArray[Any]], interface: Interface | None = None
) -> LocalPolicy:
    """The policy of this kind that was written to a file."""
    if kind not in POLICY_KINDS:
        raise InvalidInput(
            f"a policy's kind must be one of {', '.join(POLICY_KINDS)}, got {kind!r}"
        )
    policy = POLICY_KINDS[kind].from_arrays(arrays, interface)
    if interface is not None:
        check_interface(policy, interface)
    return policy


@checked
def load_controller(path: str | os.PathLike[str]) -> LocalPolicy:
    """Read a controller that `policy.export("controller.json")` wrote, as a policy again.

    Parameters
    ----------
    path
        The JSON file. Warns if its entry 'sha256' is missing, such as after an edit.

    Returns
    -------
    LocalPolicy
        Of one replica, of the kind that was exported.

    Raises
    ------
    FileError
        If there is no such file, it is not a controller or it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "controller.json"
    ...     keep = swarmdp.Policy(np.zeros(9, int))
    ...     _ = keep.export(file, system=ising)
    ...     again = swarmdp.policies.load_controller(file)
    ...
    >>> again.table
    array([[0, 0, 0, 0, 0, 0, 0, 0, 0]])

    """
    kind, arrays, interface, vouched = export.read(path)
    try:
        policy = policy_from(kind, arrays, interface)
    except InvalidInput as error:
        raise FileError(5, f"cannot read {path}: {error}") from error
    if not vouched:
        files.warn_without_digest(path)
    return policy
