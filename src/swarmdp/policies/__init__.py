"""Local policies pi: O -> A, the same for all agents of a run.

`LocalPolicy` is what roll-outs, fits and files know of a policy; one module for each kind. Action
indices count `system.actions`; physical actions are their values, or lie between them.
"""

from swarmdp.policies.export import Exportable
from swarmdp.policies.functions import FunctionPolicy
from swarmdp.policies.interface import Interface
from swarmdp.policies.interpolated import InterpolatedPolicy
from swarmdp.policies.linear import LinearPolicy
from swarmdp.policies.local import Controller, LocalPolicy, TablePolicy
from swarmdp.policies.mixed import MixedPolicy
from swarmdp.policies.replicas import (
    as_policy,
    check_fits,
    check_interface,
    gathered,
    joined,
    load_controller,
    restored,
    selected,
    table_of,
)
from swarmdp.policies.soft import SoftPolicy
from swarmdp.policies.table import Policy

__all__ = [
    "Controller",
    "Exportable",
    "FunctionPolicy",
    "Interface",
    "InterpolatedPolicy",
    "LinearPolicy",
    "LocalPolicy",
    "MixedPolicy",
    "Policy",
    "SoftPolicy",
    "TablePolicy",
    "as_policy",
    "check_fits",
    "check_interface",
    "gathered",
    "joined",
    "load_controller",
    "restored",
    "selected",
    "table_of",
]
