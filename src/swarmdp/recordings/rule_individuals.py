"""What single individuals do: who reacts to no one, and whom the others follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swarmdp.recordings.rule_search import RuleSearch
from swarmdp.recordings.zone_models import ZoneModel
from swarmdp.support.arrays import Bools, Floats
from swarmdp.support.rounding import with_error

APART = 4.0  # standard errors from the others by which an individual stands out
IGNORING = 0.5  # share of the usual reaction below which an individual reacts to no one
MOST_NAMED = 8  # individuals in a sentence
LEAST_ROWS = 40  # decisions of an individual, below which nothing is said of it


@dataclass(frozen=True, eq=False)
class Individuals:
    """What single individuals do, as shares of what all do on average; (individuals,) each.

    Parameters
    ----------
    names
        Of the individuals.
    reaction, reaction_error
        How strongly an individual reacts to the others; NaN where too little is known.
    influence, influence_error
        How strongly the others react to it.

    """

    names: tuple[str, ...]
    reaction: Floats
    reaction_error: Floats
    influence: Floats
    influence_error: Floats

    @property
    def ignoring(self) -> tuple[str, ...]:
        """Those that do not react to the others, although most do."""
        usual = _usual(self.reaction)
        below = (usual - self.reaction) > APART * self.reaction_error
        return self._named(below & (self.reaction < IGNORING * usual))

    @property
    def followed(self) -> tuple[str, ...]:
        """Those to whom others react more than to most."""
        above = (self.influence - _usual(self.influence)) > APART * self.influence_error
        return self._named(above & (self.influence > 2 * _usual(self.influence)))

    def _named(self, chosen: Bools) -> tuple[str, ...]:
        return tuple(name for name, here in zip(self.names, chosen, strict=True) if here)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Who stands out; that all are the same where none does."""
        if not np.isfinite(self.reaction).any():
            return ()
        said = []
        if self.ignoring:
            shown = {
                name: with_error(share, error)
                for name, share, error in zip(
                    self.names, self.reaction, self.reaction_error, strict=True
                )
                if name in self.ignoring[:MOST_NAMED]
            }
            listed = ", ".join(f"{name} ({share})" for name, share in shown.items())
            more = len(self.ignoring) - len(shown)
            rest = f" and {more} others" if more else ""
            said.append(
                f"Reacting to no one: {listed}{rest}; given is the reaction as a share of the "
                "mean one."
            )
        if self.followed:
            said.append(f"Others follow {', '.join(self.followed[:MOST_NAMED])} more than others.")
        return tuple(said) or ("No individual stands out: one rule is enough for all.",)

    def to_plain(self) -> dict[str, Any]:
        """Plain data, for a JSON file; None for what is not known."""
        numbers = {
            name: [None if np.isnan(value) else float(value) for value in getattr(self, name)]
            for name in ("reaction", "reaction_error", "influence", "influence_error")
        }
        return {"names": list(self.names), **numbers}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Individuals":
        """What `to_plain` wrote."""
        arrays = [
            np.array([np.nan if value is None else value for value in plain[name]])
            for name in ("reaction", "reaction_error", "influence", "influence_error")
        ]
        return cls(tuple(plain["names"]), *arrays)


def _usual(shares: Floats) -> float:
    return float(np.nanmedian(shares)) if np.isfinite(shares).any() else np.nan


def individuals_of(
    search: RuleSearch, model: ZoneModel, names: Sequence[str] | None
) -> Individuals:
    """The reaction and the influence of each individual, as shares of the common rule's."""
    rows = search.table.rows
    count = int(max(rows.individual.max(initial=0), rows.other.max(initial=0))) + 1
    named = tuple(str(name) for name in (names if names is not None else range(count)))
    nothing = np.full(len(named), np.nan)
    if not model.zones:
        return Individuals(named, nothing, nothing.copy(), nothing.copy(), nothing.copy())
    columns = search.beyond_own(search.table.columns(model))
    products = search.products(search.table.columns(model))
    predicted = columns @ products.gains(range(len(model.columns)))
    reaction, reaction_error = _slopes(search, predicted, len(named))
    influence, influence_error = _influences(search, model, len(named))
    return Individuals(named, reaction, reaction_error, influence, influence_error)


def _blocks(search: RuleSearch) -> Floats:
    rows = np.arange(len(search.turn))
    return np.asarray(np.searchsorted(search.edges[1:-1], rows, side="right"))


def _slopes(search: RuleSearch, predicted: Floats, count: int) -> tuple[Floats, Floats]:
    """The slope of each individual's turns on what the common rule predicts, and its error."""
    blocks = len(search.counts)
    cell = search.table.rows.individual * blocks + _blocks(search).astype(np.int64)
    size = count * blocks
    both, square = (
        np.bincount(cell, values, minlength=size).reshape(count, blocks)
        for values in (predicted * search.turn, predicted**2)
    )
    rows = np.bincount(search.table.rows.individual, minlength=count)
    total = square.sum(axis=1)
    usable = (rows >= LEAST_ROWS) & (total > 0)
    safe = np.where(usable, total, 1.0)
    slope = both.sum(axis=1) / safe
    spread = np.sqrt(((both - slope[:, None] * square) ** 2).sum(axis=1)) / safe
    return np.where(usable, slope, np.nan), np.where(usable, spread, np.nan)


def _influences(search: RuleSearch, model: ZoneModel, count: int) -> tuple[Floats, Floats]:
    """How much of what each individual asks for the others do, relative to the mean."""
    table, rows = search.table, search.table.rows
    products = search.products(table.columns(model))
    gains = products.gains(range(len(model.columns)))
    asked = np.zeros((len(rows.turn), count))
    ranks = np.arange(rows.distance.shape[1])
    for name, zone in model.zones.items():
        first, last = table.ends(zone)
        inside = (ranks >= first[:, None]) & (ranks < last[:, None])
        left = np.diff(table.sums(name)[1], axis=1) * inside
        left *= gains[model.column_of(name)] / np.maximum(last - first, 1)[:, None]
        np.add.at(asked, (np.arange(len(asked))[:, None], rows.other), left)
    sums = search.products(asked)
    every = range(count)
    influence, error = sums.gains(every), sums.errors(every)
    usable = sums.columns.sum(axis=0).diagonal() > 0
    return np.where(usable, influence, np.nan), np.where(usable, error, np.nan)
