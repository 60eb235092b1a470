"""Kinds of individuals: how many there are, who belongs to which, and by which rule each turns.

Each individual has characteristics with standard errors: the gains of the common rule, the share
of the last turn, its speed and its noise. They are described by a mixture of normal distributions
in which every individual has its own errors and kinds differ in some of the characteristics;
within a kind individuals may vary, so that a wide spread alone is not two kinds. More kinds must be
worth their numbers (the Bayesian information criterion), and be worth more than in data drawn from
fewer kinds. 'One kind is enough' is the common answer.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.arena import Arena
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.neighbour_rows import neighbour_rows, own_columns
from swarmdp.recordings.rule import LEAST_ROWS, Rule, fit_rule
from swarmdp.recordings.space.arena import SpaceArena
from swarmdp.recordings.zone_models import ZoneTable
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput
from swarmdp.support.rounding import with_error

MOST_KINDS = 4  # that are looked for
LEAST_MEMBERS = 2  # of a kind
LEAST_INDIVIDUALS = 6  # to tell kinds apart
LEVEL = 0.02  # share of groups of one kind in which a second one may be found
DRAWS = 99  # of data from fewer kinds
BLOCKS = 16  # of time, for the errors of characteristics
LEAST_OF_ONE = 60  # decisions of an individual, below which it belongs to any kind
FREEDOM = 8  # degrees of freedom of the errors that are drawn: those of blocks have heavy tails
_ROUNDS = 40  # of expectation maximisation
_RIDGE = 1.0  # weight of squared coefficients, as that of one decision
_LEAST_SCATTER = 0.05  # of the median error: within a kind individuals are never quite the same
MOST_NAMED = 12  # individuals in a sentence

NumberOfKinds = int | Literal["auto", "given"] | None


@dataclass(frozen=True, eq=False)
class Characteristics:
    """What individuals are like: (individuals, characteristics) each, NaN where unknown."""

    names: tuple[str, ...]
    values: Floats
    errors: Floats
    correlation: Floats  # (characteristics, characteristics): of errors, mean over individuals

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Of whom all characteristics are known (individuals,)."""
        return np.asarray((np.isfinite(self.values) & np.isfinite(self.errors)).all(axis=1))


@dataclass(frozen=True, eq=False)
class Kinds:
    """Which kinds of individuals there are: `analysis.kinds`.

    Parameters
    ----------
    individuals
        Their names.
    chances
        (individuals, kinds): how likely each belongs to each kind.
    differing
        The characteristics in which kinds differ.
    characteristics
        The names of all characteristics.
    means, errors
        (kinds, characteristics): of each kind, with standard errors.
    p
        How often data of one kind fewer look as much like this many; of one kind, how often data
        of one kind look as much like two.
    asked
        Whether the number was given.
    rules
        By which rule each kind turns; empty with one kind, None where there is too little data.
    titles
        What kinds are called, where they were given.

    Examples
    --------
    >>> import numpy as np, swarmdp
    >>> chances = np.array([[1.0, 0.0], [0.9, 0.1], [0.2, 0.8]])
    >>> found = swarmdp.recordings.Kinds(
    ...     ("a", "b", "c"), chances, (), (), np.zeros((2, 0)), np.zeros((2, 0)), 0.01
    ... )
    >>> found.count, found.named(0)
    (2, ('a', 'b'))

    """

    individuals: tuple[str, ...]
    chances: Floats
    differing: tuple[str, ...]
    characteristics: tuple[str, ...]
    means: Floats
    errors: Floats
    p: float
    asked: bool = False
    rules: tuple[Rule | None, ...] = ()
    titles: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of kinds."""
        return int(self.chances.shape[1])

    @cached_property
    def members(self) -> NDArray[np.int64]:
        """The likeliest kind of each individual (individuals,)."""
        return np.asarray(self.chances.argmax(axis=1), np.int64)

    def named(self, kind: int) -> tuple[str, ...]:
        """The names of the likeliest members of a kind."""
        pairs = zip(self.individuals, self.members, strict=True)
        return tuple(name for name, number in pairs if number == kind)

    def title(self, kind: int) -> str:
        """What a kind is called: the name that was given, or a letter."""
        return self.titles[kind] if self.titles else f"kind {chr(ord('A') + kind)}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """How many kinds there are, who they are and what they do."""
        if self.count == 1:
            if self.asked:
                return ("All individuals are taken as of one kind.",)
            return (f"One kind of individuals is enough (p = {self.p:.2g} for a second one).",)
        why = "as was asked for" if self.asked else f"p = {self.p:.2g} for fewer"
        said = [f"There are {self.count} kinds of individuals ({why})."]
        for kind in range(self.count):
            named = self.named(kind)
            listed = ", ".join(named[:MOST_NAMED])
            more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
            unsure = int((self.chances.max(axis=1) < 0.9)[self.members == kind].sum())
            doubt = f"; {unsure} of them with less than 90 % certainty" if unsure else ""
            numbers = ", ".join(
                f"{name} {with_error(self.means[kind, n], self.errors[kind, n])}"
                for n, name in enumerate(self.characteristics)
                if name in self.differing
            )
            title = self.title(kind)
            said.append(
                f"{title[0].upper()}{title[1:]}: {len(named)} individuals ({listed}{more}{doubt})"
                + (f", {numbers}." if numbers else ".")
            )
            rule = self.rules[kind] if kind < len(self.rules) else None
            if rule is not None:
                said += [
                    f"Of {title}: {line}"
                    for line in rule.sentences
                    if line.startswith(("Individuals ", "No rule"))
                ]
        return tuple(said)

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def to_plain(self) -> dict[str, Any]:
        """Plain data, for a JSON file."""
        return {
            "individuals": list(self.individuals),
            "chances": self.chances.tolist(),
            "differing": list(self.differing),
            "characteristics": list(self.characteristics),
            "means": self.means.tolist(),
            "errors": self.errors.tolist(),
            "p": self.p,
            "asked": self.asked,
            "rules": [None if rule is None else rule.to_plain() for rule in self.rules],
            "titles": list(self.titles),
            "sentences": list(self.sentences),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Kinds":
        """What `to_plain` wrote."""
        return cls(
            tuple(plain["individuals"]),
            np.array(plain["chances"]),
            tuple(plain["differing"]),
            tuple(plain["characteristics"]),
            np.array(plain["means"]),
            np.array(plain["errors"]),
            plain["p"],
            plain["asked"],
            tuple(None if rule is None else Rule.from_plain(rule) for rule in plain["rules"]),
            tuple(plain["titles"]),
        )


def find_kinds(
    decisions: Decisions,
    arena: Arena | SpaceArena | None,
    rule: Rule,
    *,
    kinds: NumberOfKinds = "auto",
    given: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    components: Sequence[str] | None = None,
    rules: bool = True,
    seed: int = 0,
) -> Kinds:
    """How many kinds of individuals there are, who belongs to which, and the rule of each.

    Parameters
    ----------
    decisions, arena
        Usually the training part.
    rule
        That all follow, on average.
    kinds
        "auto", their number, or "given": those of the recording.
    given
        What each individual is, of a recording with kinds.
    names
        Of individuals, for sentences; their numbers by default.
    components
        Of the rules, as for `fit_rule`.
    rules
        Whether a rule is fitted for each kind.
    seed
        Same seed, same kinds.

    """
    named = tuple(map(str, names if names is not None else range(decisions.individuals)))
    known = characteristics_of(decisions, arena, rule)
    usable = known.usable
    if kinds == "given":
        found = _given(known, given, named)
    else:
        if kinds != "auto" and not 1 <= int(kinds or 1) <= max(decisions.individuals // 2, 1):
            raise InvalidInput(
                f'kinds must be "auto", "given", or from 1 to {decisions.individuals // 2}: a kind '
                f"has at least {LEAST_MEMBERS} members, got {brief(kinds)}"
            )
        if usable.sum() < LEAST_INDIVIDUALS:
            if kinds not in ("auto", 1):
                raise InvalidInput(
                    f"kinds can be told apart of at least {LEAST_INDIVIDUALS} individuals with "
                    f"{LEAST_OF_ONE} known decisions each, got {int(usable.sum())}: record longer"
                )
            return _one_kind(known, named, 1.0, kinds == 1)
        rng = np.random.default_rng(seed)
        found = _choose(known, usable, named, kinds, rng)
    if found.count == 1 or not rules:
        return found
    more = {} if components is None else {"components": components}
    fitted = []
    for kind in range(found.count):
        mine = only_turns_of(decisions, found.members == kind)
        enough = len(neighbour_rows(mine, arena).turn) >= LEAST_ROWS
        fitted.append(fit_rule(mine, arena, seed=seed, names=named, **more) if enough else None)
    return replace(found, rules=tuple(fitted))


def only_turns_of(decisions: Decisions, members: NDArray[np.bool_]) -> Decisions:
    """Decisions in which only some individuals turn; the others are seen, and not learned from."""
    return replace(decisions, turns=np.where(members, decisions.turns, np.nan))


def characteristics_of(
    decisions: Decisions, arena: Arena | SpaceArena | None, rule: Rule
) -> Characteristics:
    """What each individual is like, with errors over blocks of time."""
    rows = neighbour_rows(decisions, arena)
    table = ZoneTable(rows)
    model = rule.model
    social = table.columns(model) if model.zones else np.zeros((len(rows.turn), 0))
    walls = own_columns(rows, arena)[:, 1:]
    # What the wall does to all is taken away, so that each individual needs few coefficients.
    columns = np.column_stack([rows.previous, social])
    shared = np.column_stack([walls, columns])
    fitted = np.linalg.lstsq(shared, rows.turn, rcond=None)[0]
    turn = rows.turn - walls @ fitted[: walls.shape[1]]
    block = rows.time * BLOCKS // max(decisions.times, 1)
    count, size = decisions.individuals, columns.shape[1]
    values, errors = np.full((2, count, size + 2), np.nan)
    correlations = []
    for one in range(count):
        mine = rows.individual == one
        if mine.sum() < LEAST_OF_ONE:
            continue
        x, y, part = columns[mine], turn[mine], block[mine]
        total = x.T @ x + _RIDGE * np.eye(size)
        gains = np.linalg.solve(total, x.T @ y)
        left = y - x @ gains
        scores = np.stack([x[part == b].T @ left[part == b] for b in range(BLOCKS)])
        bread = np.linalg.inv(total)
        meat = scores.T @ scores * BLOCKS / (BLOCKS - 1)
        covariance = bread @ meat @ bread
        values[one, :size] = gains
        errors[one, :size] = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
        correlations.append(covariance / np.outer(errors[one, :size], errors[one, :size]))
        values[one, size], errors[one, size] = _log_spread(left, part)
    values[:, size + 1], errors[:, size + 1] = _log_speeds(decisions)
    names = ("share of the last turn", *(f"gain of {name}" for name in model.columns))
    correlation = np.eye(size + 2)
    if correlations:
        correlation[:size, :size] = np.mean(correlations, axis=0)
    return Characteristics((*names, "log of noise", "log of speed"), values, errors, correlation)


def _log_spread(left: Floats, block: NDArray[np.int64]) -> tuple[float, float]:
    """The logarithm of the standard deviation of turns that are left, and its error."""
    squares, counts = (np.bincount(block, weights, minlength=BLOCKS) for weights in (left**2, None))
    full = counts > 1
    variance = float(squares.sum() / max(counts.sum(), 1))
    if variance <= 0 or full.sum() < 3:
        return np.nan, np.nan
    away = (squares[full] - variance * counts[full]) / counts.sum()
    error = float(np.sqrt((away**2).sum() * full.sum() / (full.sum() - 1)))
    return 0.5 * float(np.log(variance)), 0.5 * error / variance


def _log_speeds(decisions: Decisions) -> tuple[Floats, Floats]:
    """The mean logarithm of each individual's speed beside the others at the time, with errors."""
    count = decisions.individuals
    speeds = np.where(decisions.known & (decisions.speeds > 0), decisions.speeds, np.nan)
    middle = np.nanmedian(speeds) if np.isfinite(speeds).any() else 1.0
    logs = np.log(np.maximum(speeds, 0.05 * middle))
    there = np.isfinite(logs)
    level = np.where(there, logs, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    # What all do at once is not of one; who is absent must not shift the others.
    both = np.where(there, logs - level, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    relative = np.where(there, logs - both[:, None], np.nan)
    block = np.arange(len(relative)) * BLOCKS // max(len(relative), 1)
    means, errors = np.full((2, count), np.nan)
    for one in range(count):
        mine = np.isfinite(relative[:, one])
        parts = [relative[mine & (block == b), one] for b in range(BLOCKS)]
        parts = [part.mean() for part in parts if len(part)]
        if len(parts) > 2 and mine.sum() >= LEAST_OF_ONE:
            means[one] = np.mean(parts)
            errors[one] = np.std(parts, ddof=1) / np.sqrt(len(parts))
    return means, np.maximum(errors, 1e-6)


@dataclass(frozen=True, eq=False)
class Mixture:
    """Mixtures fitted to draws of data, side by side; arrays begin with the draw."""

    means: Floats  # (draws, kinds, characteristics)
    scatter: Floats  # (draws, characteristics): variances within kinds
    shares: Floats  # (draws, kinds)
    chances: Floats  # (draws, individuals, kinds)
    likelihood: Floats  # (draws,)


def fit_mixture(values: Floats, errors: Floats, kinds: int) -> Mixture:
    """The likeliest mixture, of data (draws, individuals, characteristics) with errors.

    Expectation maximisation from three starts: kinds along each of the sorted first characteristic
    in equal parts, and with few members at either end.
    """
    fits = [_fit_from(values, errors, start) for start in _starts(values, kinds)]
    best = np.argmax([fit.likelihood for fit in fits], axis=0)
    rows = np.arange(len(values))
    return Mixture(*(np.stack([getattr(fit, name) for fit in fits])[best, rows] for name in _PARTS))


_PARTS = ("means", "scatter", "shares", "chances", "likelihood")


def _starts(values: Floats, kinds: int) -> list[Floats]:
    """First guesses who belongs to which kind (draws, individuals, kinds)."""
    draws, count, _ = values.shape
    if kinds == 1:
        return [np.ones((draws, count, 1))]
    spread = values.std(axis=1, keepdims=True)
    scaled = (values - values.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    starts = []
    for axis in range(values.shape[2]):
        rank = scaled[..., axis].argsort(axis=1).argsort(axis=1) / count
        for power in (1.0, 0.4, 2.5):
            number = np.minimum((rank**power * kinds).astype(np.int64), kinds - 1)
            starts.append(np.eye(kinds)[number] * 0.9 + 0.1 / kinds)
    return starts


def _fit_from(values: Floats, errors: Floats, chances: Floats) -> Mixture:
    variance = errors**2
    floor = (_LEAST_SCATTER * np.median(errors, axis=-2)) ** 2
    scatter = np.maximum(values.var(axis=1) - variance.mean(axis=-2), floor) * 0.5
    likelihood = np.zeros(len(values))
    means, shares = np.zeros((len(values), chances.shape[2], values.shape[2])), chances.mean(axis=1)
    for _ in range(_ROUNDS):
        weight = 1 / (variance + scatter[:, None])  # (draws, individuals, characteristics)
        both = np.einsum("bnk,bnd->bkd", chances, weight)
        means = np.einsum("bnk,bnd,bnd->bkd", chances, weight, values) / np.maximum(both, 1e-12)
        shares = np.maximum(chances.mean(axis=1), 1e-6)
        away = (values[:, :, None] - means[:, None]) ** 2  # (draws, individuals, kinds, d)
        # The variance within kinds, from what is left beyond the errors.
        shrink = scatter[:, None] * weight
        inner = shrink[:, :, None] ** 2 * away + (scatter[:, None] * (1 - shrink))[:, :, None]
        scatter = np.maximum(np.einsum("bnk,bnkd->bd", chances, inner) / values.shape[1], floor)
        width = (variance + scatter[:, None])[:, :, None]
        logs = -0.5 * (away / width + np.log(2 * np.pi * width)).sum(axis=3)
        logs += np.log(shares)[:, None]
        top = logs.max(axis=2, keepdims=True)
        total = np.exp(logs - top).sum(axis=2, keepdims=True)
        chances = np.exp(logs - top) / total
        likelihood = (top + np.log(total)).sum(axis=(1, 2))
    return Mixture(means, scatter, shares, chances, likelihood)


def _subsets(count: int) -> list[tuple[int, ...]]:
    """The sets of characteristics in which kinds may differ: up to two of them, or all."""
    sets: list[tuple[int, ...]] = [(n,) for n in range(count)]
    sets += itertools.combinations(range(count), 2)
    return [*sets, tuple(range(count))] if count > 2 else sets


def _scores(values: Floats, errors: Floats, kinds: int) -> tuple[Floats, list[Mixture]]:
    """What kinds are worth beyond one, by the set in which they differ (sets, draws)."""
    count = values.shape[1]
    scores, fits = [], []
    for chosen in _subsets(values.shape[2]):
        part, error = values[..., list(chosen)], errors[..., list(chosen)]
        fit = fit_mixture(part, error, kinds)
        one = fit_mixture(part, error, 1)
        numbers = (kinds - 1) * (len(chosen) + 1)
        worth = 2 * (fit.likelihood - one.likelihood) - numbers * np.log(count)
        smallest = fit.chances.sum(axis=1).min(axis=1)
        scores.append(np.where(smallest >= LEAST_MEMBERS - 0.5, worth, -np.inf))
        fits.append(fit)
    return np.array(scores), fits


def _choose(
    known: Characteristics,
    usable: NDArray[np.bool_],
    named: tuple[str, ...],
    kinds: NumberOfKinds,
    rng: np.random.Generator,
) -> Kinds:
    """The number of kinds, one more at a time while that is worth it."""
    values, errors = known.values[usable][None], known.errors[usable][None]
    sets = _subsets(values.shape[2])
    chosen, p = 1, 1.0
    score, best, fit = 0.0, 0, fit_mixture(values, errors, 1)
    whole = fit  # of all characteristics, from which data are drawn
    limit = MOST_KINDS if kinds == "auto" else int(kinds or 1)
    for number in range(2, min(limit, int(usable.sum()) // LEAST_MEMBERS) + 1):
        scores, fits = _scores(values, errors, number)
        place = int(scores[:, 0].argmax())
        if kinds == "auto":
            gain = float(scores[place, 0]) - score
            if gain <= 0:
                p = p if chosen > 1 else 1.0
                break
            drawn = _draw(whole, values, errors, known.correlation, rng)
            more, _ = _scores(drawn, np.repeat(errors, DRAWS, axis=0), number)
            fewer = np.zeros(DRAWS)
            if chosen > 1:
                fewer = _scores(drawn, np.repeat(errors, DRAWS, axis=0), chosen)[0].max(axis=0)
            chance = (1 + (more.max(axis=0) - fewer >= gain).sum()) / (DRAWS + 1)
            if chance > LEVEL:
                p = p if chosen > 1 else float(chance)
                break
            p = float(chance)
        elif not np.isfinite(scores[place, 0]):
            raise InvalidInput(
                f"kinds={number}: one of the kinds would have fewer than {LEAST_MEMBERS} members; "
                "ask for fewer, or name a single individual by others"
            )
        chosen, score, best, fit = number, float(scores[place, 0]), place, fits[place]
        whole = _whole(values, errors, fit.chances)
    if chosen == 1:
        return _one_kind(known, named, p, kinds == 1)
    chances = np.tile(fit.shares[0], (len(named), 1))
    chances[usable] = fit.chances[0]
    order = np.argsort(-chances.sum(axis=0), kind="stable")  # the largest kind first
    chances = chances[:, order]
    means, spread = _means(known, usable, chances)
    differing = tuple(known.names[n] for n in sets[best])
    return Kinds(named, chances, differing, known.names, means, spread, p, kinds != "auto")


def _whole(values: Floats, errors: Floats, chances: Floats) -> Mixture:
    """Means and scatter of all characteristics, for kinds that are known."""
    weight = 1 / errors**2
    both = np.einsum("bnk,bnd->bkd", chances, weight)
    means = np.einsum("bnk,bnd,bnd->bkd", chances, weight, values) / np.maximum(both, 1e-12)
    away = np.einsum("bnk,bnkd->bnd", chances, (values[:, :, None] - means[:, None]) ** 2)
    floor = (_LEAST_SCATTER * np.median(errors, axis=-2)) ** 2
    scatter = np.maximum((away - errors**2).mean(axis=1), floor)
    return Mixture(means, scatter, chances.mean(axis=1), chances, np.zeros(len(values)))


def _draw(
    fit: Mixture, values: Floats, errors: Floats, correlation: Floats, rng: np.random.Generator
) -> Floats:
    """Data of the fitted kinds (DRAWS, individuals, characteristics).

    Errors of the gains of one individual are correlated, which without this would look like kinds.
    """
    _, count, size = values.shape
    kind = fit.chances[0].argmax(axis=1)
    root = np.linalg.cholesky(correlation + 1e-9 * np.eye(size))
    # One heavy tail for all characteristics of an individual: its blocks are the same.
    tail = np.sqrt((FREEDOM - 2) / rng.chisquare(FREEDOM, (DRAWS, count, 1)))
    noise = rng.standard_normal((DRAWS, count, size)) @ root.T * tail
    vary = np.sqrt(fit.scatter[0]) * rng.standard_normal((DRAWS, count, size))
    return np.asarray(fit.means[0][kind] + errors[0] * noise + vary)


def _means(
    known: Characteristics, usable: NDArray[np.bool_], chances: Floats
) -> tuple[Floats, Floats]:
    """The mean characteristics of each kind (kinds, characteristics), and their errors."""
    weight = chances[usable]
    values = known.values[usable]
    total = np.maximum(weight.sum(axis=0), 1e-9)[:, None]
    means = weight.T @ values / total
    away = np.stack([(values - mean) ** 2 for mean in means])
    spread = np.einsum("nk,knd->kd", weight, away) / np.maximum(total - 1, 1e-9)
    return means, np.sqrt(spread / total)


def _one_kind(known: Characteristics, named: tuple[str, ...], p: float, asked: bool) -> Kinds:
    usable = known.usable
    chances = np.ones((len(named), 1))
    if usable.sum() > 1:
        means, errors = _means(known, usable, chances)
    else:
        means, errors = np.zeros((2, 1, len(known.names)))
    return Kinds(named, chances, (), known.names, means, errors, p, asked)


def _given(known: Characteristics, given: Sequence[str] | None, named: tuple[str, ...]) -> Kinds:
    """The kinds of a recording as they are."""
    if given is None:
        raise InvalidInput(
            'kinds="given" needs a recording that says what each individual is: read it with '
            "kind=, the column that says it (--kind)"
        )
    titles = tuple(dict.fromkeys(given))
    for title in titles:
        if list(given).count(title) < LEAST_MEMBERS:
            raise InvalidInput(
                f"the kind {title!r} has one member, and a rule needs at least {LEAST_MEMBERS}: "
                f"play it back, others=[{title!r}] (--others {title}), or leave it out"
            )
    members = np.array([titles.index(kind) for kind in given])
    chances = np.eye(len(titles))[members]
    means, errors = _means(known, known.usable, chances)
    return Kinds(
        named, chances, known.names, known.names, means, errors, 1.0, asked=True, titles=titles
    )
