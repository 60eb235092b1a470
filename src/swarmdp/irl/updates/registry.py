"""The named reward updates: the only list of them. A new one is one file and one row here."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    from swarmdp.irl.updates.evidence import RewardUpdate


@dataclass(frozen=True)
class Named:
    """A reward update as `update=` knows it; its module is imported when it is first used."""

    kind: str  # the name of its class
    module: str
    summary: str  # one line for help texts
    margin: str  # what its margin measures, for figures

    def make(self) -> "RewardUpdate":
        """The update with its usual settings."""
        made: RewardUpdate = getattr(importlib.import_module(self.module), self.kind)()
        return made


UPDATES: Mapping[str, Named] = {
    "max_margin": Named(
        "MaxMargin",
        "swarmdp.irl.updates.max_margin",
        "the paper's: the largest margin between the expert and all policies so far",
        "margin: distance to all mixtures",
    ),
    "projection": Named(
        "Projection",
        "swarmdp.irl.updates.projection",
        "the projection method, which needs no solver",
        "distance to the projected mixture",
    ),
    "ng_russell": Named(
        "NgRussell",
        "swarmdp.irl.updates.ng_russell",
        "linear programs of Ng and Russell",
        "mean gain over the policies",
    ),
    "mwal": Named(
        "MWAL",
        "swarmdp.irl.updates.mwal",
        "multiplicative weights: a game between reward and policy",
        "bound of the gap to the game's value",
    ),
    "maxent": Named(
        "MaxEnt",
        "swarmdp.irl.updates.maxent",
        "maximum causal entropy, with soft policies",
        "length of the gradient",
    ),
    "policy_matching": Named(
        "PolicyMatching",
        "swarmdp.irl.updates.policy_matching",
        "matches the expert's actions, which it needs",
        "distance of the newest policy",
    ),
    "bayesian": Named(
        "Bayesian",
        "swarmdp.irl.updates.bayesian",
        "the posterior of the reward given the expert's actions, which it needs",
        "distance of the newest policy",
    ),
}


def update_of(update: "str | RewardUpdate") -> "RewardUpdate":
    """The reward update of this name, or the given one; raises InvalidInput if it is neither."""
    if isinstance(update, str):
        if update not in UPDATES:
            raise InvalidInput(f"update must be one of {', '.join(UPDATES)}, got {update!r}")
        return UPDATES[update].make()
    if not callable(update) or isinstance(update, type):
        from swarmdp.support.checks import brief  # here: it needs NumPy

        raise InvalidInput(
            f"update must be one of {', '.join(UPDATES)}, or a function from "
            f"swarmdp.updates.Evidence to swarmdp.updates.Update, got {brief(update)}"
        )
    return update


def name_of_update(update: "RewardUpdate") -> str | None:
    """The name of an update with its usual settings; None for others."""
    for name, row in UPDATES.items():
        if type(update).__name__ == row.kind and update == row.make():
            return name
    return None


def needing_no(want: str) -> str:
    """The names of the updates that do not want this, for messages."""
    from swarmdp.irl.updates.evidence import wants_of

    return ", ".join(n for n, row in UPDATES.items() if not getattr(wants_of(row.make()), want))


def title(settings: Mapping[str, Any]) -> str:
    """What to call the update of a fit with these settings."""
    update = settings.get("update", "max_margin")
    return str(update["kind"]) if isinstance(update, dict) else str(update)


def margin_title(settings: Mapping[str, Any]) -> str:
    """What the margin of a fit with these settings measures."""
    row = UPDATES.get(title(settings))
    return "what the update leaves to be done" if row is None else row.margin
