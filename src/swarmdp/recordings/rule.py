"""The rule of turns in numbers: what individuals react to, from how far, and how strongly.

The mean turn is a sum of what the individual does by itself (the turn before, the wall) and of what
others make it do, each component with a zone of its own. Zones are chosen by cross-validation over
blocks of time (`rule_search.py`); standard errors are from the same blocks. A component belongs to
the rule only if turns of other blocks are predicted better with it, by more than chance and by a
share that matters, and if its gain is larger than in tracks that are shifted in time, where none
can react to another.

Errors of positions make individuals look as if they turned back to the others after every error:
how much is found by adding the same error once more, and taken away.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from swarmdp.recordings.arena import Arena, Periodic
from swarmdp.recordings.components import ZONE_COMPONENTS, check_zone_components
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.interaction import shifted_decisions
from swarmdp.recordings.neighbour_rows import (
    NeighbourRows,
    neighbour_rows,
    own_columns,
    wall_column,
    with_more_errors,
)
from swarmdp.recordings.outsider_rules import (
    OutsiderPart,
    columns_for,
    find_outsider_parts,
    parts_to_plain,
    with_joint_gains,
    worth_of,
)
from swarmdp.recordings.rule_individuals import Individuals, individuals_of
from swarmdp.recordings.rule_search import Products, RuleSearch
from swarmdp.recordings.space.arena import PeriodicSpace, SpaceArena
from swarmdp.recordings.space.rows import climb_gain
from swarmdp.recordings.zone_models import REPULSION, Structure, Zone, ZoneModel, ZoneTable
from swarmdp.support import markup
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.rounding import rounded, with_error
from swarmdp.support.threads import one_blas_thread

if TYPE_CHECKING:
    import pandas

SURE = 3.0  # standard errors by which a component must predict other blocks better
MATTERS = 0.03  # share of all that others tell of turns that a component must tell
SHIFTS = 19  # of tracks shifted in time: none of them may have a gain as large
_SHIFTED_PAIRS = 150_000  # looked at in each of them
_REPEATS = 4  # of one more error of positions
BOOTSTRAPS = 400  # draws of blocks, for the errors of reaches
DISTANCES = 9  # at which the reaction to others is drawn
LEAST_ROWS = 200  # decisions, below which no rule is looked for


@dataclass(frozen=True)
class RulePart:
    """One component of a rule.

    Parameters
    ----------
    component
        Its name in the table of components.
    zone, reach_error
        Whom individuals react to, and the standard error of its reach.
    gain, gain_error
        The turn in radians for others that are all at a right angle, and its standard error.
    worth, worth_error
        How much better turns of other blocks of time are predicted with it, in nats a decision.
    shifted
        The largest gain in tracks that are shifted in time.
    rival, rival_loss, rival_error
        The best zone of the other kind, numbers instead of radii or the reverse, and by how many
        nats a decision it is worse; None where there is no other kind.

    """

    component: str
    zone: Zone
    reach_error: float
    gain: float
    gain_error: float
    worth: float
    worth_error: float
    shifted: float
    rival: Zone | None
    rival_loss: float
    rival_error: float

    @property
    def kind_is_clear(self) -> bool:
        """Whether it can be told that ranks or distances decide."""
        return self.rival is not None and self.rival_loss > 2 * self.rival_error

    def sentence(self, unit: str) -> str:
        """What individuals do, with numbers."""
        words = ZONE_COMPONENTS[self.component].words
        said = (
            f"Individuals {words} {self.zone.words(unit, self.reach_error)} "
            f"({with_error(self.gain, self.gain_error)} rad)"
        )
        if self.rival is None:
            return said + "."
        other = "a radius" if self.zone.nearest else "a number of nearest neighbours"
        if self.kind_is_clear:
            loss = with_error(self.rival_loss, self.rival_error)
            return f"{said}; {other} is worse by {loss} nats a decision."
        same = self.rival.words(unit)
        return f"{said}; {other} ({same}) explains turns as well: the recording does not tell."


@dataclass(frozen=True, eq=False)
class Rule:
    """What individuals react to, in numbers that can be printed: `analysis.rule`.

    Parameters
    ----------
    structure
        "sum": gains times the mean directions of the components are added up; "priority": whoever
        has someone within the reach of repulsion only avoids, as in Couzin's model.
    parts
        One entry for each component that was found.
    previous, previous_error
        The share of the turn before that is turned again.
    wall, wall_error, wall_reach
        The turn away from the wall at the wall, and from how far it is avoided; 0 without walls.
    explained, explained_alone
        The share of the variance of turns that the whole rule and that what individuals do by
        themselves explain in blocks of time that were left out.
    shifted
        (shifts,): the share that others explain in tracks shifted in time.
    individuals
        What single individuals do.
    curves
        What is drawn: `distance` (n,) and, (n,) with their errors, the turns `towards`,
        `towards_error` and `along`, `along_error` that others at this distance ask for;
        `misalignment` (m,), `turn` (m,) and `turn_error` (m,).
    unit, dt, decisions
        The unit of length, seconds from one decision to the next, and the number of decisions.
    climb
        In three dimensions: the share of the climb that is turned back to level flight in a
        decision, and its standard error.
    outsiders
        One entry for each reaction to outsiders that was found.

    """

    structure: Structure
    parts: tuple[RulePart, ...]
    previous: float
    previous_error: float
    wall: float
    wall_error: float
    wall_reach: float
    explained: float
    explained_alone: float
    shifted: Floats
    individuals: Individuals
    curves: Mapping[str, Floats]
    unit: str
    dt: float
    decisions: int
    climb: tuple[float, float] = (0.0, 0.0)
    outsiders: tuple[OutsiderPart, ...] = ()

    @property
    def model(self) -> ZoneModel:
        """The zones of the components."""
        return ZoneModel(self.structure, {part.component: part.zone for part in self.parts})

    @property
    def social(self) -> float:
        """The share of the variance of turns that only the others explain."""
        return self.explained - self.explained_alone

    @property
    def sentences(self) -> tuple[str, ...]:
        """The rule in sentences; what is not significant is not said."""
        outside = [part.sentence(self.unit) for part in self.outsiders]
        if not self.parts:
            return (
                *outside,
                f"No rule: nothing that others do predicts turns better than in tracks shifted in "
                f"time ({self.decisions} decisions).",
            )
        said = [part.sentence(self.unit) for part in self.parts]
        if self.structure == "priority" and len(self.parts) > 1:
            said.append("Whoever has someone within the reach of repulsion only turns away.")
        said.append(
            f"Others explain {self.social:.1%} of the variance of turns on time that was left out, "
            f"and {max(float(self.shifted.max()), 0.0):.1%} at most where individuals are shifted "
            "in time."
        )
        return (*said, *outside, *self._about_climbing, *self.individuals.sentences)

    @property
    def _about_climbing(self) -> tuple[str, ...]:
        """What individuals do against climbing or diving, if it is more than chance."""
        gain, error = self.climb
        if not abs(gain) > SURE * error:
            return ()
        words = "back to level flight, by" if gain > 0 else "further from level flight, by"
        share = with_error(abs(gain), error)
        return (f"Who climbs or dives turns {words} {share} of the angle in a decision.",)

    @property
    def table(self) -> "pandas.DataFrame":
        """One row for each component."""
        import pandas

        rows = [asdict(part) | {"zone": part.zone.words(self.unit)} for part in self.parts]
        for row, part in zip(rows, self.parts, strict=True):
            row["rival"] = "" if part.rival is None else part.rival.words(self.unit)
        columns = [name for name in RulePart.__dataclass_fields__ if name != "component"]
        index = [part.component for part in self.parts]
        return pandas.DataFrame(rows, columns=columns, index=pandas.Index(index, name="component"))

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        rows = [
            (
                part.component,
                part.zone.words(self.unit, part.reach_error),
                with_error(part.gain, part.gain_error),
                rounded(part.shifted, part.gain_error),
            )
            for part in self.parts
        ]
        return markup.card(
            "The rule of turns",
            *map(markup.paragraph, self.sentences),
            markup.table(("component", "others", "gain (rad)", "shifted in time"), rows),
        )

    def to_plain(self) -> dict[str, Any]:
        """Plain data, for a JSON file."""
        plain = {
            "structure": self.structure,
            "parts": [asdict(part) for part in self.parts],
            "previous": [self.previous, self.previous_error],
            "wall": [self.wall, self.wall_error, self.wall_reach],
            "explained": self.explained,
            "explained_alone": self.explained_alone,
            "shifted": self.shifted.tolist(),
            "individuals": self.individuals.to_plain(),
            "curves": {name: values.tolist() for name, values in self.curves.items()},
            "unit": self.unit,
            "dt": self.dt,
            "decisions": self.decisions,
            "climb": list(self.climb),
            "outsiders": parts_to_plain(self.outsiders),
            "sentences": list(self.sentences),
        }
        return dict(_without_infinities(plain))

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Rule":
        """The rule that `to_plain` wrote."""
        parts = [
            RulePart(
                **part
                | {
                    "zone": _zone_from(part["zone"]),
                    "rival": None if part["rival"] is None else _zone_from(part["rival"]),
                }
            )
            for part in plain["parts"]
        ]
        previous, wall = plain["previous"], plain["wall"]
        return cls(
            structure=plain["structure"],
            parts=tuple(parts),
            previous=previous[0],
            previous_error=previous[1],
            wall=wall[0],
            wall_error=wall[1],
            wall_reach=wall[2],
            explained=plain["explained"],
            explained_alone=plain["explained_alone"],
            shifted=np.array(plain["shifted"]),
            individuals=Individuals.from_plain(plain["individuals"]),
            curves={
                name: np.array([np.nan if value is None else value for value in values])
                for name, values in plain["curves"].items()
            },
            unit=plain["unit"],
            dt=plain["dt"],
            decisions=plain["decisions"],
            climb=tuple(plain.get("climb", (0.0, 0.0))),
            outsiders=tuple(map(OutsiderPart.from_plain, plain.get("outsiders", ()))),
        )


def _zone_from(plain: Mapping[str, Any]) -> Zone:
    outer = np.inf if plain["outer"] is None else plain["outer"]
    return Zone(plain["nearest"], plain["inner"], outer)


def _without_infinities(value: Any) -> Any:
    """Plain data with None for numbers that JSON does not know."""
    if isinstance(value, dict):
        return {name: _without_infinities(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_infinities(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


@one_blas_thread()
def fit_rule(
    decisions: Decisions,
    arena: Arena | SpaceArena | None,
    *,
    components: Sequence[str] = tuple(ZONE_COMPONENTS),
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> Rule:
    """The rule by which recorded individuals turn.

    Parameters
    ----------
    decisions
        Usually the training part.
    arena
        Where they were; None for open space.
    components
        Names of `ZONE_COMPONENTS` that are tried.
    seed
        Same seed, same rule.
    names
        Of individuals, for sentences; their numbers by default.

    """
    chosen = check_zone_components(components)
    rows = neighbour_rows(decisions, arena)
    count = len(rows.turn) // rows.parts
    if count < LEAST_ROWS:
        raise InvalidInput(
            f"a rule needs at least {LEAST_ROWS} decisions whose turn, and the one before, are "
            f"known, got {count}: record longer"
        )
    rng = np.random.default_rng(seed)
    shifts = [
        (part, neighbour_rows(part, arena, _SHIFTED_PAIRS))
        for part in shifted_decisions(decisions, SHIFTS, seed)
    ]
    outside = find_outsider_parts(decisions, arena, rows, shifts, SURE, rng)
    search = _search_of(decisions, arena, chosen, outside, rows)
    model = _best_model(search)
    moved = [_search_of(part, arena, chosen, outside, others) for part, others in shifts]
    while True:
        shifted = np.array([_gains(other, model) for other in moved])
        weak = _not_above(search, model, shifted)
        if not weak:
            break
        model = _zones_again(search, model, [name for name in model.zones if name != weak])
    bias = _error_bias(decisions, arena, model, outside, rng)
    parts = _parts(search, model, shifted, bias, rng)
    if outside:
        social = search.table.columns(model) if model.zones else np.empty((len(rows.turn), 0))
        alone = RuleSearch(search.table, own_columns(rows, arena), chosen)
        columns = columns_for(outside, decisions, rows, arena)
        outside = with_joint_gains(outside, alone, columns, social)
    error = search.error(model)
    variance = float((rows.turn**2).sum())
    own = _own_gains(search, model, arena)
    explained = np.array([_explained(other, model) for other in moved])
    return Rule(
        structure=model.structure,
        parts=parts,
        previous=own[0],
        previous_error=own[1],
        wall=own[2],
        wall_error=own[3],
        wall_reach=own[4],
        explained=1 - float(error.sum()) / variance,
        explained_alone=1 - float(search.alone.sum()) / variance,
        shifted=explained,
        individuals=individuals_of(search, model, names),
        curves=_curves(search, model),
        unit=decisions.unit,
        dt=decisions.dt,
        decisions=count,
        climb=climb_gain(search, model) if rows.parts > 1 else (0.0, 0.0),
        outsiders=outside,
    )


def _search_of(
    decisions: Decisions,
    arena: Arena | SpaceArena | None,
    names: tuple[str, ...],
    outside: Sequence[OutsiderPart] = (),
    rows: NeighbourRows | None = None,
) -> RuleSearch:
    """A search beyond what individuals do by themselves and for outsiders."""
    if rows is None:
        rows = neighbour_rows(decisions, arena, _SHIFTED_PAIRS)
    own = [own_columns(rows, arena), columns_for(outside, decisions, rows, arena)]
    return RuleSearch(ZoneTable(rows), np.concatenate(own, axis=1), names)


def _best_model(search: RuleSearch) -> ZoneModel:
    """The best structure with those components that are worth it."""
    best = ZoneModel("sum", {})
    if not len(search.radii):
        return best
    together = _pruned(search, search.best_sum(search.components))
    models = [together]
    # With priority the zones of the others differ, and so may be what is worth it.
    if REPULSION in together.zones and len(search.components) > 1:
        models.append(_pruned(search, search.best_priority(together, search.components)))
    models = [model for model in models if model.zones]
    if not models:
        return best
    best = min(models, key=lambda model: float(search.error(model).sum()))
    return search.refined(best)


def _pruned(search: RuleSearch, model: ZoneModel) -> ZoneModel:
    """The model without components that are not worth it, the least worthy first."""
    while model.zones:
        error = search.error(model)
        if not np.isfinite(error).all():
            return ZoneModel(model.structure, {})
        whole, _ = worth_of(search, search.alone, error)
        ratios = {}
        for name in model.zones:
            if model.structure == "priority" and name == REPULSION:
                continue
            rest = _zones_again(search, model, [other for other in model.zones if other != name])
            worth, spread = worth_of(search, search.error(rest), error)
            sure = worth - SURE * spread > 0 and worth > MATTERS * whole
            ratios[name] = (sure, worth)
        weak = [name for name, (sure, _) in ratios.items() if not sure]
        if model.structure == "priority" and not ratios:
            return ZoneModel("priority", {})
        if not weak:
            return model
        least = min(weak, key=lambda name: ratios[name][1])
        model = _zones_again(search, model, [name for name in model.zones if name != least])
    return model


def _zones_again(search: RuleSearch, model: ZoneModel, names: list[str]) -> ZoneModel:
    """The best zones of some of the components of a model."""
    if not names:
        return ZoneModel("sum", {})
    if model.structure == "sum" or REPULSION not in names:
        return search.best_sum(names)
    return search.best_priority(model, names)


def _gains(search: RuleSearch, model: ZoneModel) -> Floats:
    """The gains of a model in other data, those of its columns."""
    if not model.zones:
        return np.zeros(0)
    products = search.products(search.table.columns(model))
    return products.gains(range(len(model.columns)))


def _explained(search: RuleSearch, model: ZoneModel) -> float:
    """The share of the variance of turns that others explain, with these zones."""
    if not model.zones:
        return 0.0
    columns = search.table.columns(model)
    products = search.products(columns)
    error = products.held_out(np.arange(columns.shape[1])[None])[0]
    return float((search.alone - error).sum() / (search.table.rows.turn**2).sum())


def _not_above(search: RuleSearch, model: ZoneModel, shifted: Floats) -> str:
    """The component whose gain is least above that of shifted tracks, if one is not; or ''."""
    if not model.zones:
        return ""
    gains = _gains(search, model)
    ratios = {
        name: gains[model.column_of(name)] / max(shifted[:, model.column_of(name)].max(), 1e-12)
        for name in model.zones
    }
    weak = [name for name, ratio in ratios.items() if ratio <= 1]
    return min(weak, key=lambda name: ratios[name]) if weak else ""


def _error_bias(
    decisions: Decisions,
    arena: Arena | SpaceArena | None,
    model: ZoneModel,
    outside: Sequence[OutsiderPart],
    rng: np.random.Generator,
) -> Floats:
    """By how much errors of positions change the gains: what one more of them does."""
    if not model.zones or not decisions.error:
        return np.zeros(len(model.columns))
    names = tuple(model.zones)
    before = _gains(_search_of(decisions, arena, names, outside), model)
    after = [
        _gains(_search_of(with_more_errors(decisions, rng), arena, names, outside), model)
        for _ in range(_REPEATS)
    ]
    return np.asarray(np.mean(after, axis=0) - before)


def _parts(
    search: RuleSearch,
    model: ZoneModel,
    shifted: Floats,
    bias: Floats,
    rng: np.random.Generator,
) -> tuple[RulePart, ...]:
    if not model.zones:
        return ()
    products = search.products(search.table.columns(model))
    columns = range(len(model.columns))
    gains, errors = products.gains(columns) - bias, products.errors(columns)
    whole = search.error(model)
    parts = []
    for name, zone in model.zones.items():
        column = model.column_of(name)
        rest = {other: part for other, part in model.zones.items() if other != name}
        if model.structure == "priority" and name == REPULSION:
            without = search.error(search.best_sum(list(rest)))
        else:
            without = search.error(replace(model, zones=rest))
        rival, loss, loss_error = _rival(search, model, name, whole)
        parts.append(
            RulePart(
                name,
                zone,
                _reach_error(search, model, name, rng),
                float(gains[column]),
                float(errors[column]),
                *worth_of(search, without, whole),
                float(shifted[:, column].max()),
                rival,
                loss,
                loss_error,
            )
        )
    return tuple(parts)


def _rival(
    search: RuleSearch, model: ZoneModel, name: str, whole: Floats
) -> tuple[Zone | None, float, float]:
    """The best zone of the other kind for a component, and by how much it is worse."""
    if not ZONE_COMPONENTS[name].nearest:
        return None, 0.0, 0.0
    zone = model.zones[name]
    options = (
        [Zone(outer=radius) for radius in search.radii.tolist()]
        if zone.nearest
        else [Zone(nearest=k) for k in search.numbers]
    )
    models = [replace(model, zones={**model.zones, name: other}) for other in options]
    errors = [search.error(other) for other in models]
    best = int(np.argmin([error.sum() for error in errors]))
    if not np.isfinite(errors[best]).all():
        return None, 0.0, 0.0
    around = search.options(name, fine=options[best])
    near = [replace(model, zones={**model.zones, name: other}) for other in around]
    finer = [search.error(other) for other in near]
    models, errors = [models[best], *near], [errors[best], *finer]
    best = int(np.argmin([error.sum() for error in errors]))
    return models[best].zones[name], *worth_of(search, errors[best], whole)


def _reach_error(
    search: RuleSearch, model: ZoneModel, name: str, rng: np.random.Generator
) -> float:
    """The standard error of a reach: where it is best when blocks of time are drawn again."""
    zones, errors = search.profile(model, name)
    usable = np.isfinite(errors).all(axis=1)
    reaches = np.array([zone.reach for zone in zones])[usable]
    blocks = errors.shape[1]
    weights = rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=BOOTSTRAPS)
    best = (weights @ errors[usable].T).argmin(axis=1)
    # A grid of reaches has an error of its own.
    step = float(np.gradient(reaches).mean()) if len(reaches) > 1 else 0.0
    return float(np.sqrt(reaches[best].var() + step**2 / 12))


def _own_gains(
    search: RuleSearch, model: ZoneModel, arena: Arena | SpaceArena | None
) -> tuple[float, float, float, float, float]:
    """Previous turn, wall and their errors, and the wall's reach, beside the others' gains."""
    rows = search.table.rows
    social = search.table.columns(model) if model.zones else np.empty((len(rows.turn), 0))
    plain = RuleSearch(search.table, np.zeros((len(rows.turn), 0)), search.components)
    walled = arena is not None and not isinstance(arena, Periodic | PeriodicSpace)
    if not walled:
        products = plain.products(np.column_stack([rows.previous, social]))
        every = range(1 + social.shape[1])
        return float(products.gains(every)[0]), float(products.errors(every)[0]), 0.0, 0.0, 0.0
    assert arena is not None
    size = arena.size if isinstance(arena, SpaceArena) else arena.window[2] / 2
    best: tuple[float, Products, float] | None = None
    every = range(2 + social.shape[1])
    for reach in size * np.geomspace(0.03, 0.8, 14):
        columns = np.column_stack([rows.previous, wall_column(rows, float(reach)), social])
        products = plain.products(columns)
        error = float(products.held_out(np.array([every]))[0].sum())
        if best is None or error < best[0]:
            best = error, products, float(reach)
    assert best is not None
    gains, errors = best[1].gains(every), best[1].errors(every)
    return float(gains[0]), float(errors[0]), float(gains[1]), float(errors[1]), best[2]


def _curves(search: RuleSearch, model: ZoneModel) -> dict[str, Floats]:
    """The reaction to others against their distance and misalignment, without any zones."""
    table, rows = search.table, search.table.rows
    if not len(search.radii):
        nothing = np.zeros(0)
        names = ("distance", "towards", "towards_error", "along", "along_error")
        return dict.fromkeys((*names, "misalignment", "turn", "turn_error"), nothing)
    first, last = float(search.radii[0]), float(search.radii[-1])
    edges = np.concatenate([[0.0], np.geomspace(1.5 * first, last, DISTANCES)])
    rings = [Zone(inner=float(a), outer=float(b)) for a, b in itertools.pairwise(edges)]
    columns = np.column_stack(
        [table.mean_left(name, ring) for name in ("attraction", "alignment") for ring in rings]
    )
    products = search.products(columns)
    every = range(columns.shape[1])
    gains, errors = products.gains(every), products.errors(every)
    angle, turn, error = _against_misalignment(search, model, rows)
    return {
        "distance": (edges[1:] + edges[:-1]) / 2,
        "towards": gains[: len(rings)],
        "towards_error": errors[: len(rings)],
        "along": gains[len(rings) :],
        "along_error": errors[len(rings) :],
        "misalignment": angle,
        "turn": turn,
        "turn_error": error,
    }


def _against_misalignment(
    search: RuleSearch, model: ZoneModel, rows: NeighbourRows
) -> tuple[Floats, Floats, Floats]:
    """The turn beyond what individuals do by themselves, by the angle to the others' heading."""
    table = search.table
    zone = model.zones.get("alignment", Zone(outer=float(search.radii[-1])))
    first, last = table.ends(zone)
    ahead, left = table.total("alignment", first, last)
    some = last > first
    angle = np.degrees(np.arctan2(left, ahead))
    edges = np.linspace(-180, 180, 13)
    bins = np.clip(np.digitize(angle, edges) - 1, 0, len(edges) - 2)
    block = np.searchsorted(search.edges[1:-1], np.arange(len(angle)), side="right")
    means, errors = [], []
    for k in range(len(edges) - 1):
        here = some & (bins == k)
        total = np.bincount(block[here], search.turn[here], minlength=len(search.counts))
        count = np.bincount(block[here], minlength=len(search.counts))
        mean = total.sum() / max(int(count.sum()), 1)
        spread = np.sqrt(((total - mean * count) ** 2).sum()) / max(int(count.sum()), 1)
        enough = count.sum() >= DISTANCES
        means.append(mean if enough else np.nan)
        errors.append(spread if enough else np.nan)
    return (edges[1:] + edges[:-1]) / 2, np.array(means), np.array(errors)
