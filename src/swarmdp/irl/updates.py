"""The reward updates by the names that `update=` knows."""

from collections.abc import Callable, Mapping
from typing import Any

from swarmdp.errors import InvalidInput
from swarmdp.irl.bayesian import Bayesian
from swarmdp.irl.evidence import RewardUpdate
from swarmdp.irl.max_margin import MaxMargin
from swarmdp.irl.maxent import MaxEnt
from swarmdp.irl.mwal import MWAL
from swarmdp.irl.ng_russell import NgRussell
from swarmdp.irl.policy_matching import PolicyMatching
from swarmdp.irl.projection import Projection

UPDATES: Mapping[str, Callable[[], RewardUpdate]] = {
    "max_margin": MaxMargin,
    "projection": Projection,
    "ng_russell": NgRussell,
    "mwal": MWAL,
    "maxent": MaxEnt,
    "policy_matching": PolicyMatching,
    "bayesian": Bayesian,
}


def named(update: str | RewardUpdate) -> RewardUpdate:
    """The reward update of this name, or the given one itself."""
    if isinstance(update, str):
        if update not in UPDATES:
            raise InvalidInput(f"update must be one of {', '.join(UPDATES)}, got {update!r}")
        return UPDATES[update]()
    if not callable(update) or isinstance(update, type):
        raise InvalidInput(
            f"update must be one of {', '.join(UPDATES)}, or a function from swarmdp.Evidence to "
            f"swarmdp.Update, got {update!r}"
        )
    return update


def name_of(update: RewardUpdate) -> str | None:
    """The name of an update with its usual settings; None for others."""
    for name, kind in UPDATES.items():
        if isinstance(kind, type) and type(update) is kind and update == kind():
            return name
    return None


def title(settings: Mapping[str, Any]) -> str:
    """What to call the update of a fit with these settings."""
    update = settings.get("update", "max_margin")
    return str(update["kind"]) if isinstance(update, dict) else str(update)
