"""Local policies pi: O -> A, the same for all agents of a run.

`local.py` has the protocol `LocalPolicy`, what roll-outs, fits and files know of a policy. Then one
file for each kind: `table.py`, `soft.py` (Boltzmann's), `interpolated.py` (between classes),
`linear.py` (without classes), `parametric.py` (a user's, with a few numbers), `mixed.py` (one of
several, drawn for each run), `functions.py` (any function). `replicas.py` selects and joins
replicas; `learner.py` is what a learner is given and gives back. A controller is taken away by
`export.py`, as JSON, as a table or as C (`c_header.py`, planned by `blueprint.py`); `interface.py`
keeps what it sees and does, `shown.py` draws it.

Decisions:

- Action indices count `system.actions`; physical actions are their values, or lie between them.
- A policy of R replicas carries R independent ones, and run i follows replica i % R: 100 fits are
  rolled out as one batch.
"""

from swarmdp.policies.export import Exportable
from swarmdp.policies.functions import FunctionPolicy
from swarmdp.policies.interface import Interface
from swarmdp.policies.interpolated import InterpolatedPolicy
from swarmdp.policies.linear import LinearPolicy
from swarmdp.policies.local import Controller, LocalPolicy, TablePolicy
from swarmdp.policies.mixed import MixedPolicy
from swarmdp.policies.parametric import Parametric, ParametricPolicy
from swarmdp.policies.replicas import load_controller
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
    "Parametric",
    "ParametricPolicy",
    "Policy",
    "SoftPolicy",
    "TablePolicy",
    "load_controller",
]
