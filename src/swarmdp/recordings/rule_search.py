"""The zones by which turns are predicted best, by cross-validation over blocks of time.

For every block of time there is a table of sums of products of all columns that are tried, so that
a regression without this block, and its error in it, is the solution of a few equations: all radii
and numbers of neighbours can be tried for each component.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from swarmdp.recordings.components import ZONE_COMPONENTS
from swarmdp.recordings.zone_models import (
    ALIGNMENT,
    ATTRACTION,
    REPULSION,
    Zone,
    ZoneModel,
    ZoneTable,
)
from swarmdp.support.arrays import Floats, Ints

BLOCKS = 20  # of time
RADII = 24  # of the first grid
NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 25, 30, 40, 60)  # of nearest neighbours
FINE = 1.2  # factor around a radius in which it is looked for more finely
FINE_RADII = 13
_RIDGE = 1.0  # weight of the squared coefficients, as that of a few decisions
_RANK = 1e-6  # share of the largest singular value, below which a column adds nothing
SWEEPS = 6  # over the components, at most


@dataclass(frozen=True, eq=False)
class Products:
    """Sums of products of columns and turns in each block of time."""

    columns: Floats  # (blocks, M, M)
    turns: Floats  # (blocks, M)
    squares: Floats  # (blocks,): of turns

    def gains(self, chosen: Sequence[int]) -> Floats:
        """The coefficients of some columns, from all blocks."""
        places = np.asarray(chosen)
        return _solve(
            self.columns.sum(axis=0)[np.ix_(places, places)],
            self.turns.sum(axis=0)[places],
        )

    def errors(self, chosen: Sequence[int]) -> Floats:
        """Standard errors of these coefficients: what blocks of time pull them to."""
        places = np.asarray(chosen)
        inside = self.columns[:, places[:, None], places[None, :]]
        total = inside.sum(axis=0)
        scores = self.turns[:, places] - inside @ self.gains(chosen)
        blocks = len(scores)
        meat: Floats = scores.T @ scores * blocks / max(blocks - 1, 1)
        bread = np.linalg.pinv(total)
        return np.asarray(np.sqrt(np.maximum(np.diag(bread @ meat @ bread), 0.0)))

    def held_out(self, sets: Ints, positive: int = 0) -> Floats:
        """The squared error in each block of a regression on the others (sets, blocks).

        `sets` (sets, q) are columns. The last `positive` coefficients must be positive, in the
        regression on all blocks; the error is infinite where one is not.
        """
        inside = self.columns[:, sets[:, :, None], sets[:, None, :]]
        turns = self.turns[:, sets]
        total, both = inside.sum(axis=0), turns.sum(axis=0)
        fitted = _solve(total[None] - inside, both[None] - turns)
        error = (
            self.squares[:, None]
            - 2 * (fitted * turns).sum(axis=-1)
            + np.einsum("bmi,bmij,bmj->bm", fitted, inside, fitted)
        )
        if positive:
            wrong = (_solve(total, both)[:, -positive:] <= 0).any(axis=1)
            error[:, wrong] = np.inf
        return np.asarray(error.T)


def _solve(matrix: Floats, vector: Floats) -> Floats:
    size = matrix.shape[-1]
    ridge = _RIDGE * np.eye(size)
    return np.asarray(np.linalg.solve(matrix + ridge, vector[..., None])[..., 0])


@dataclass(frozen=True, eq=False)
class RuleSearch:
    """Rows, what turns depend on besides others, and the zones that are tried.

    What the own columns tell is taken away from the turns and from every column that is tried, so
    that only what others tell beyond it is left to be explained.
    """

    table: ZoneTable
    own: Floats  # (rows, q)
    components: tuple[str, ...]

    @cached_property
    def edges(self) -> Ints:
        """Where blocks of time begin among the rows, and where the last one ends."""
        time = self.table.rows.time
        seen = np.unique(time)
        blocks = max(2, min(BLOCKS, len(seen) // 2))
        begins = [int(part[0]) for part in np.array_split(seen, blocks) if len(part)]
        return np.append(np.searchsorted(time, begins), len(time))

    @cached_property
    def _basis(self) -> Floats:
        """Orthonormal columns that span the own ones."""
        left, sizes, _ = np.linalg.svd(self.own, full_matrices=False)
        return np.asarray(left[:, sizes > _RANK * sizes.max(initial=0.0)])

    def beyond_own(self, columns: Floats) -> Floats:
        """What is left of columns (rows,) or (rows, m) after a regression on the own ones."""
        rest: Floats = columns - self._basis @ (self._basis.T @ columns)
        return rest

    @cached_property
    def turn(self) -> Floats:
        """What is left of the turns (rows,)."""
        return self.beyond_own(self.table.rows.turn)

    @cached_property
    def counts(self) -> Floats:
        """The number of rows in each block (blocks,)."""
        return np.diff(self.edges).astype(np.float64)

    @cached_property
    def radii(self) -> Floats:
        """Distances from the nearest to nearly the farthest others."""
        distance = self.table.rows.distance
        there = distance[np.isfinite(distance)]
        if not len(there):
            return np.zeros(0)
        near = distance[:, 0][np.isfinite(distance[:, 0])]
        far = float(np.quantile(there, 0.98))
        return np.geomspace(max(float(np.quantile(near, 0.05)), far / 60), far, RADII)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of nearest neighbours."""
        others = int(self.table.rows.present.max(initial=0))
        return tuple(k for k in NUMBERS if k <= others)

    def products(self, columns: Floats) -> Products:
        """Sums of products of what is left of columns (rows, m)."""
        rest, turn = self.beyond_own(columns), self.turn
        size, blocks = rest.shape[1], len(self.edges) - 1
        matrix, vector = np.empty((blocks, size, size)), np.empty((blocks, size))
        squares = np.empty(blocks)
        for k in range(blocks):
            part = slice(self.edges[k], self.edges[k + 1])
            matrix[k] = rest[part].T @ rest[part]
            vector[k] = rest[part].T @ turn[part]
            squares[k] = turn[part] @ turn[part]
        return Products(matrix, vector, squares)

    @cached_property
    def alone(self) -> Floats:
        """The squared error in each block without the others (blocks,)."""
        return np.asarray(np.add.reduceat(self.turn**2, self.edges[:-1]))

    def error(self, model: ZoneModel) -> Floats:
        """The squared error of a model in each block (blocks,); infinite if a gain is negative."""
        if not model.zones:
            return self.alone
        columns = self.table.columns(model)
        count = columns.shape[1]
        return np.asarray(self.products(columns).held_out(np.arange(count)[None], count)[0])

    def options(self, name: str, *, fine: Zone | None = None) -> list[Zone]:
        """The zones that are tried for a component; near one of them more finely."""
        row = ZONE_COMPONENTS[name]
        if fine is not None:
            if fine.nearest:
                most = self.numbers[-1]
                near = range(max(1, fine.nearest - 3), min(most, fine.nearest + 3) + 1)
                return [Zone(nearest=k) for k in near]
            factors = np.geomspace(1 / FINE, FINE, FINE_RADII)
            return [replace(fine, outer=float(fine.outer * f)) for f in factors]
        radii = self.radii.tolist()
        zones = [Zone(outer=radius) for radius in radii]
        if row.beyond:
            zones += [
                Zone(inner=radii[a], outer=radii[b])
                for a in range(len(radii))
                for b in range(a + 2, len(radii))
            ]
        if row.nearest:
            zones += [Zone(nearest=k) for k in self.numbers]
        return zones

    @cached_property
    def _grid(self) -> tuple[list[tuple[str, Zone]], Products]:
        """All zones of all components in a sum, and the sums of products of their columns."""
        tried = [(name, zone) for name in self.components for zone in self.options(name)]
        columns = np.stack([self.table.mean_left(*part) for part in tried], axis=1)
        return tried, self.products(columns)

    def best_sum(
        self, names: Sequence[str], only: Callable[[str, Zone], bool] = lambda name, zone: True
    ) -> ZoneModel:
        """The best zones of some components in a sum, one after another until none changes."""
        tried, products = self._grid
        places = {
            name: [n for n, (of, zone) in enumerate(tried) if of == name and only(of, zone)]
            for name in names
        }
        chosen: dict[str, int] = {}

        def best(name: str) -> tuple[float, int]:
            others = [place for other, place in chosen.items() if other != name]
            # A zone that does not begin at the individual begins where another one ends.
            begins = {0.0, *(tried[place][1].outer for place in others)}
            possible = [n for n in places[name] if tried[n][1].inner in begins]
            if not possible:
                return math.inf, -1
            sets = np.array([[*others, place] for place in possible])
            errors = products.held_out(sets, len(others) + 1).sum(axis=1)
            place = int(errors.argmin())
            return float(errors[place]), possible[place]

        left = [name for name in names if places[name]]
        while left:
            steps = {name: best(name) for name in left}
            name = min(left, key=lambda part: steps[part][0])
            if not math.isfinite(steps[name][0]):
                break
            chosen[name] = steps[name][1]
            left.remove(name)
            for _ in range(SWEEPS):
                before = dict(chosen)
                for other in chosen:
                    error, place = best(other)
                    if math.isfinite(error):
                        chosen[other] = place
                if chosen == before:
                    break
        zones = {name: tried[chosen[name]][1] for name in names if name in chosen}
        return ZoneModel("sum", zones)

    def best_priority(self, start: ZoneModel, names: Sequence[str], nearest: str = "") -> ZoneModel:
        """The best zones with priority of repulsion, from several starts.

        The zone of the component `nearest` is a number of neighbours, all others are radii.
        """
        if REPULSION not in names or REPULSION not in start.zones or len(names) < 2:
            return ZoneModel("priority", {})
        radii = self.radii.tolist()
        near = start.zones[REPULSION].outer
        beyond = [radius for radius in radii if radius > near]
        scored: dict[tuple[Zone, ...], float] = {}

        def score(zones: dict[str, Zone]) -> float:
            key = tuple(zones.values())
            if key not in scored:
                scored[key] = float(self.error(ZoneModel("priority", zones)).sum())
            return scored[key]

        def options(name: str) -> list[Zone]:
            if name == nearest:
                return [Zone(nearest=k) for k in self.numbers]
            return [Zone(outer=radius) for radius in radii]

        best: tuple[float, dict[str, Zone]] = (math.inf, {})
        for one, two in ((0.25, 0.6), (0.5, 0.9), (0.2, 0.4), (0.75, 1.0)):
            if not beyond:
                break
            shares = {ALIGNMENT: one, ATTRACTION: two}
            zones = {REPULSION: Zone(outer=near)}
            for name in names:
                if name in shares:
                    place = int(shares[name] * (len(beyond) - 1))
                    several = self.numbers[int(shares[name] * (len(self.numbers) - 1))]
                    zones[name] = (
                        Zone(nearest=several) if name == nearest else Zone(outer=beyond[place])
                    )
            for _ in range(SWEEPS):
                before = dict(zones)
                for name in reversed(names):
                    tried = [zones | {name: zone} for zone in options(name)]
                    zones = min(tried, key=score)
                if zones == before:
                    break
            if score(zones) < best[0]:
                best = score(zones), zones
        return ZoneModel("priority", best[1])

    def refined(self, model: ZoneModel) -> ZoneModel:
        """The same with radii between those of the grid, where they predict turns better."""
        for _ in range(2):
            for name, zone in model.zones.items():
                tried = [
                    replace(model, zones={**model.zones, name: other})
                    for other in self.options(name, fine=zone)
                ]
                model = min([model, *tried], key=lambda other: float(self.error(other).sum()))
        return model

    def profile(self, model: ZoneModel, name: str) -> tuple[list[Zone], Floats]:
        """Zones of one component around the best, and the errors in each block (zones, blocks)."""
        zone = model.zones[name]
        if zone.nearest:
            options = [Zone(nearest=k) for k in range(1, self.numbers[-1] + 1)]
            near = [other for other in options if abs(other.nearest - zone.nearest) <= 8]
        else:
            factors = np.geomspace(0.6, 1.7, 27)
            near = [replace(zone, outer=float(zone.outer * factor)) for factor in factors]
            near = [other for other in near if other.outer > other.inner]
        models = [replace(model, zones={**model.zones, name: other}) for other in near]
        return near, np.stack([self.error(other) for other in models])
