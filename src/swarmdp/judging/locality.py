"""Local, or led? Whether a swarm's agents follow something common that they do not observe.

Agents that see only their neighbourhood act independently of each other, given what each observes.
So what is left of an action, once all that its own observation tells is taken away, has nothing in
common among agents at the same time. A cue that all follow (a field, a hidden leader, a command, a
clock) leaves something in common: the same for all, or the same for agents at the same place or
with the same heading.

What an observation tells is learned by gradient boosting, for each part of the agents from the
others. What is left is compared for all pairs of agents at the same time, weighed in three ways
(all alike; by heading or level; by place), and over three spans of time. The yardstick are the same
residuals with each agent's signs turned at random for a whole run: they keep all that an agent has
in common with its own past, and nothing that it has in common with others.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.demos import Demo, read_demo
from swarmdp.irl.frames import observations_over, recorded_states, states_over
from swarmdp.irl.lifting import taken_actions
from swarmdp.model.actions import action_axes
from swarmdp.model.features import Levels, Product
from swarmdp.model.system import System, classes
from swarmdp.model.traits import fields_of
from swarmdp.model.trajectory import ACTING, Trajectory
from swarmdp.support import markup
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import PositiveInteger, Seed

LEVEL = 0.01  # share of local swarms that may be said to follow a cue
MATTERS = 0.01  # share of what is left that agents have in common: less is not called a cue
TELLING = 0.2  # a common share that a demo must be long enough to show
_SPANS = (1, 8, 64)  # steps over which a cue may stay the same
_FOLDS = 4  # parts of the agents
_MOST_LEARNED = 8000  # decisions from which is learned what an observation tells
_MOST_AGENTS = 200  # who are compared with each other
_MOST_LEVELS = 12  # of an action or a field that are told apart
TURNED = "turned"  # recorded turns, of a demo made from a recording
_FEW_CLASSES = 64  # of levels, whose means are taken as they are

Answer = Literal["local", "a common cue that is not among the observations", "too little data"]


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Locality:
    """What `swarmdp.locality_test` found.

    Parameters
    ----------
    answer
        "local", "a common cue that is not among the observations" or "too little data".
    p
        How often local agents would have as much in common.
    strength
        How far what agents have in common is beyond chance, in standard deviations.
    common
        The share of what observations leave open that agents have in common, from 0 to 1.
    kind
        In what way: "all alike", "by heading or level" or "by place".
    span
        Over how many steps the cue was taken to stay the same.
    detectable
        The smallest common share that this demo would have shown.
    explained
        The share of the variance of actions that observations explain.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=30, radius=0.2)
    >>> demo = swarmdp.rollout(vicsek, vicsek.expert, steps=60, seed=1)
    >>> swarmdp.locality_test(demo, vicsek, seed=2).answer
    'local'

    """

    answer: Answer
    p: float
    strength: float
    common: float
    kind: str
    span: int
    detectable: float
    explained: float

    def __repr__(self) -> str:
        """The answer in two lines."""
        words = f"Locality: {self.answer} (p = {self.p:.2g})"
        shares = (
            f"  observations explain {self.explained:.0%} of what agents do; of what is left they "
            f"have {self.common:.0%} in common"
        )
        if self.answer == "too little data":
            return f"{words}\n{shares}; less than {self.detectable:.0%} would not have shown"
        if self.answer == "local":
            return f"{words}\n{shares}"
        over = "from step to step" if self.span == 1 else f"over about {self.span} steps"
        return f"{words}\n{shares}, {self.kind}, {over}"

    def _repr_html_(self) -> str:
        first, *others = repr(self).split("\n")
        return markup.card(first, *(markup.paragraph(line.strip()) for line in others))


@checked
def locality_test(
    demo: Demo, system: System, *, seed: Seed = 0, flips: PositiveInteger = 999
) -> Locality:
    """Test whether a swarm is explained by agents that see only what the system lets them observe.

    Parameters
    ----------
    demo
        A trajectory with states, or decisions of a recording.
    system
        What agents are taken to observe: the system whose demo it is, or a swarm made from the
        recording.
    seed
        Of what is drawn: decisions to learn from, and signs.
    flips
        How many times signs are turned at random.

    Returns
    -------
    Locality
        The answer, with its p-value and effect size.

    Raises
    ------
    InvalidInput
        If the demo has no states, or fewer than four agents, or what agents did is not known.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=30, radius=0.2)
    >>> demo = swarmdp.rollout(vicsek, vicsek.expert, steps=60, seed=1)
    >>> swarmdp.locality_test(demo, vicsek, seed=2).p > 0.01
    True

    """
    read = read_demo(system, demo)
    if not isinstance(read, Trajectory) or not recorded_states(system, read):
        raise InvalidInput(
            'whether a swarm is local is asked of a demo with states: rollout(..., record="states")'
        )
    if system.n_agents < _FOLDS or read.steps < _FOLDS:
        raise InvalidInput(
            f"whether a swarm is local can be asked of at least {_FOLDS} agents and steps, "
            f"got {system.n_agents} and {read.steps}"
        )
    rng = np.random.default_rng(seed)
    left, explained = _residuals(system, read, rng)
    chosen = rng.permutation(system.n_agents)[:_MOST_AGENTS]
    weights = _weights(system, read)
    forms, names = [], []
    for kind, columns in weights.items():
        for span in _SPANS:
            if span <= max(1, read.steps // 2):
                forms.append(_products(left[:, :, chosen], columns[:, :, chosen], span))
                names.append((kind, span))
    return _answer(np.stack(forms), names, explained, flips, rng)


def _answer(
    forms: Floats,
    names: list[tuple[str, int]],
    explained: float,
    flips: int,
    rng: np.random.Generator,
) -> Locality:
    """The answer, from the products of what agents have left (forms, runs, agents, agents)."""
    agents = forms.shape[2]
    whole = np.einsum("frnn->f", forms)
    pairs = forms * (1 - np.eye(agents))
    signs = rng.choice([-1.0, 1.0], size=(flips, *forms.shape[1:3]))
    turned = np.einsum("srn,frnm,srm->sf", signs, pairs, signs, optimize=True)
    spread = np.maximum(turned.std(axis=0), 1e-300)
    observed = pairs.sum(axis=(1, 2, 3))
    strength = observed / spread
    largest = (turned / spread).max(axis=1)
    best = int(strength.argmax())
    p = float((1 + (largest >= strength[best]).sum()) / (flips + 1))
    scale = np.maximum((agents - 1) * whole, 1e-300)
    common = float(np.clip(observed[best] / scale[best], 0.0, 1.0))
    needed = np.quantile(largest, 1 - LEVEL)
    # A cue that all follow alike, from step to step, is the hardest to see.
    detectable = float(needed * spread[0] / scale[0])
    answer: Answer = "local"
    if p <= LEVEL and common >= MATTERS:
        answer = "a common cue that is not among the observations"
    elif detectable > TELLING:
        answer = "too little data"
    return Locality(answer, p, float(strength[best]), common, *names[best], detectable, explained)


def _residuals(system: System, demo: Trajectory, rng: np.random.Generator) -> tuple[Floats, float]:
    """What observations do not tell of actions (runs, steps, agents, columns), and what they do."""
    seen = np.stack(list(observations_over(system, demo))[:-1], axis=1)
    done = _columns_of_actions(system, demo)
    shape = done.shape[:3]
    inputs, few = _inputs(system, seen)
    targets = done.reshape(-1, done.shape[3])
    acting = np.ones(shape, np.bool_) if ACTING not in demo else demo[ACTING].astype(np.bool_)
    fold = np.broadcast_to(rng.permutation(shape[2]) % _FOLDS, shape).ravel()
    known, left = acting.ravel(), np.zeros_like(targets)
    for part in range(_FOLDS):
        others = np.flatnonzero(known & (fold != part))
        here = np.flatnonzero(known & (fold == part))
        learned = rng.permutation(others)[:_MOST_LEARNED]
        if few:
            guess = _class_means(inputs[others, 0], targets[others], inputs[here, 0])
        else:
            guess = _boosted(inputs[learned], targets[learned], inputs[here])
        left[here] = targets[here] - guess
    variance = targets[known].var(axis=0).sum()
    explained = 1 - (left[known] ** 2).mean(axis=0).sum() / variance if variance > 0 else 0.0
    return left.reshape(done.shape), float(np.clip(explained, 0.0, 1.0))


def _columns_of_actions(system: System, demo: Trajectory) -> Floats:
    """Actions as numbers (runs, steps, agents, columns), each of unit variance."""
    physical, taken = taken_actions(system, demo)
    if TURNED in demo:  # of a recording: what was done, not what the observation made expected
        physical = demo[TURNED]
    axes = action_axes(system)
    several = np.ndim(system.actions) > 1
    columns: list[NDArray[Any]] = []
    for i, axis in enumerate(axes):
        values = physical[..., i] if several else physical
        if axis.units == "rad":
            columns += [np.sin(values), np.cos(values)]
        elif axis.values.dtype.kind == "f" or len(system.actions) > _MOST_LEVELS:
            columns.append(values)
    if not columns:
        columns = [taken == index for index in range(len(system.actions))]
    stacked: Floats = np.stack(columns, axis=-1).astype(np.float64)
    spread = stacked.std(axis=(0, 1, 2))
    return stacked / np.where(spread > 0, spread, 1.0)


def _inputs(system: System, seen: NDArray[Any]) -> tuple[Floats, bool]:
    """Observations as numbers (decisions, columns); and whether they are few classes, as one."""
    features = system.features
    parts = list(features.components.values()) if isinstance(features, Product) else [features]
    levels = all(isinstance(part, Levels) for part in parts)
    if levels and np.prod([len(axis.values) for axis in features.axes]) <= _FEW_CLASSES:
        index = classes(system, seen.reshape(1, -1, *features.shape))
        return index.reshape(-1, 1).astype(np.float64), True
    flat = seen.reshape(-1, len(features.axes)).astype(np.float64)
    columns: list[Floats] = []
    for axis, values in zip(features.axes, flat.T, strict=True):
        columns += [np.sin(values), np.cos(values)] if axis.periodic else [values]
    return np.stack(columns, axis=1), False


def _class_means(known: Floats, targets: Floats, asked: Floats) -> Floats:
    """The mean target of each class; that of all where a class is new."""
    size = int(max(known.max(), asked.max())) + 1
    index = known.astype(np.int64)
    counts = np.bincount(index, minlength=size)
    sums = np.stack([np.bincount(index, column, size) for column in targets.T], axis=1)
    means = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], targets.mean(0))
    guess: Floats = means[asked.astype(np.int64)]
    return guess


def _boosted(known: Floats, targets: Floats, asked: Floats) -> Floats:
    """What gradient boosting expects, column by column."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    columns = []
    # Its threads wait for each other, which takes long where others use the cores.
    with threadpool_limits(1, user_api="openmp"):
        for target in targets.T:
            model = HistGradientBoostingRegressor(
                max_iter=80, learning_rate=0.1, min_samples_leaf=20, random_state=0
            )
            columns.append(model.fit(known, target).predict(asked))
    return np.stack(columns, axis=1)


def _weights(system: System, demo: Trajectory) -> dict[str, Floats]:
    """In which ways agents may share a cue: columns (runs, steps, agents, J) for each."""
    states = list(states_over(system, demo))[:-1]
    shape = (demo.runs, demo.steps, system.n_agents, 1)
    ways: dict[str, list[Floats]] = {"all alike": [np.ones(shape)]}
    angles, places = [], []
    for name, field in fields_of(system).items():
        values = np.stack([state[name] for state in states], axis=1)
        if field.kind == "angle":
            turn = values * (2 * np.pi / (field.period or 2 * np.pi))
            angles += [np.cos(turn)[..., None], np.sin(turn)[..., None]]
        elif field.kind == "direction":
            angles.append(values)
        elif field.kind == "position":
            places.append(_place(values, field.period))
        elif field.kind == "level" and values.ndim == 3:
            levels = np.unique(values)
            if 1 < len(levels) <= _MOST_LEVELS:
                told = values[..., None] == levels[1:]
                angles.append(told - told.mean(axis=(0, 1, 2)))
    if angles:
        ways["by heading or level"] = angles
    if places:
        crossed = [place * angle for place in places for angle in angles]
        ways["by place"] = [*places, *crossed]
    return {kind: np.concatenate(columns, axis=3) for kind, columns in ways.items()}


def _place(values: NDArray[Any], period: float | None) -> Floats:
    """Where agents are (runs, steps, agents, J), as numbers of about unit size."""
    places = values[..., None] if values.ndim == 3 else values.reshape(*values.shape[:3], -1)
    if period is not None:
        turn = places * (2 * np.pi / period)
        return np.concatenate([np.cos(turn), np.sin(turn)], axis=3)
    centred = places - places.mean(axis=2, keepdims=True)
    scale = np.sqrt((centred**2).mean(axis=(2, 3), keepdims=True))
    around: Floats = centred / np.where(scale > 0, scale, 1.0)
    return around


def _products(left: Floats, columns: Floats, span: int) -> Floats:
    """What each pair of agents has in common (runs, agents, agents), summed over time."""
    shared = (left[..., :, None] * columns[..., None, :]).reshape(*left.shape[:3], -1)
    if span > 1:
        total = np.cumsum(np.pad(shared, [(0, 0), (1, 0), (0, 0), (0, 0)]), axis=1)
        shared = (total[:, span:] - total[:, :-span]) / np.sqrt(span)
    products: Floats = np.einsum("rtnc,rtmc->rnm", shared, shared, optimize=True)
    return products
