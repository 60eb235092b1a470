"""A finite Markov decision process: the swarMDP with N = 1 whose observation is the state."""

import hashlib
import itertools
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swarmdp.model.features import Levels, Vectors
from swarmdp.model.streams import Stream
from swarmdp.model.system import Field, State, System, arrays_of, check_stream
from swarmdp.support.arguments import checked, numbers
from swarmdp.support.errors import InvalidInput, SwarmdpWarning
from swarmdp.support.ranges import Index, Share
from swarmdp.support.threads import one_blas_thread

_MOST_STEPS = 10**6  # that are taken one by one
_SUM_TOLERANCE = 1e-9  # how far from one the sum of a distribution may be
_DENSE = 500  # states up to which a linear system is solved as a full matrix
LARGEST_FACTOR = 2e7  # numbers in a factorisation, at most
KRYLOV = 60  # vectors that a Krylov method keeps, and times that it starts again
RESIDUAL = 1e-12  # of a linear system, relative to its right-hand side


@checked(but=("initial", "observe", "transition"))
class FiniteMDP:
    """One agent that sees its state: transitions P(s' | s, a), an initial distribution, features.

    An action's physical value is its number.

    Parameters
    ----------
    transitions
        P(s' | s, a) as an array (S, A, S), nested lists of that shape, or a sequence of one matrix
        (S, S) for each action, from NumPy or scipy.sparse.
    initial
        The distribution (S,) of the first state, or the number of a state.
    features
        (S, d): feature vectors; None for one feature for each state.

    Examples
    --------
    >>> import numpy as np
    >>> import swarmdp
    >>> stay, move = np.eye(2), np.eye(2)[::-1]
    >>> mdp = swarmdp.FiniteMDP([stay, move], initial=[1.0, 0.0])
    >>> swarmdp.learning.plan(mdp, swarmdp.Reward([0.0, 1.0])).policy.table
    array([[1, 0]])

    """

    n_agents: ClassVar[int] = 1
    fields: ClassVar[Mapping[str, Field]] = {"state": Field("number of the state", kind="level")}

    def __init__(
        self,
        transitions: ArrayLike | Sequence[Any],
        initial: ArrayLike | int,
        features: ArrayLike | None = None,
    ) -> None:
        self.chain, self.n_actions = chain_of(transitions)
        """Transition probabilities as a sparse matrix (S * A, S), row s * A + a."""
        self.start = _start(initial, self.n_states)
        """The distribution of the first state (S,)."""
        self.features: Levels | Vectors = Levels(self.n_states, name="state")
        if features is not None:
            self.features = Vectors(np.asarray(features, np.float64), name="state")
            if self.features.size != self.n_states:
                raise InvalidInput(
                    f"features must have a row for each of the {self.n_states} states, got "
                    f"{self.features.size} rows"
                )
        self._warn_of_unreachable_states()

    @property
    def n_states(self) -> int:
        """The number of states S."""
        return int(self.chain.shape[1])

    @cached_property
    def actions(self) -> NDArray[np.int64]:
        """The numbers of the actions."""
        return np.arange(self.n_actions)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What tells this MDP from others: its sizes, and a digest of all its numbers."""
        given = self.features.matrix
        matrix = np.empty(0) if given is None else given
        arrays = (self.chain.indptr, self.chain.indices, self.chain.data, self.start, matrix)
        digest = hashlib.sha256()
        for array in arrays:
            kind = np.float64 if array.dtype.kind == "f" else np.int64
            digest.update(np.ascontiguousarray(array, kind).tobytes())
        sizes = {"states": self.n_states, "actions": self.n_actions}
        return {**sizes, "digest": digest.hexdigest()}

    def initial(self, rng: Stream) -> State:
        """Draw the first state."""
        check_stream(rng)
        drawn = np.searchsorted(np.cumsum(self.start), rng.uniform(), side="right")
        last = int(np.flatnonzero(self.start)[-1])
        return {"state": np.minimum(drawn, last).astype(np.int64)}

    def observe(self, state: State) -> NDArray[Any]:
        """The state itself."""
        return self._state_numbers(state)

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        """Draw the next state, by bisection of its distribution."""
        now, chosen = self._state_numbers(state), numbers("actions", actions)
        if chosen.shape != now.shape:
            raise InvalidInput(
                f"actions must have the shape (runs, 1) = {now.shape}, got {chosen.shape}"
            )
        check_stream(rng, now.shape)
        if not np.isin(chosen, self.actions).all():
            raise InvalidInput(
                f"actions must be numbers from 0 to {self.n_actions - 1}, got others"
            )
        row = now * self.n_actions + chosen.astype(np.int64)
        low = self.chain.indptr[row].astype(np.int64)
        high = self.chain.indptr[row + 1].astype(np.int64) - 1
        chance = rng.uniform()
        for _ in range(self._bisections):
            middle = (low + high) // 2
            above = self._cumulative[middle] > chance
            high = np.where(above, middle, high)
            low = np.where(above, low, np.minimum(middle + 1, high))
        return {"state": self.chain.indices[low].astype(np.int64)}

    def check_state(self, state: State) -> None:
        """Raise InvalidInput for states of other origin that are not this system's."""
        self._state_numbers(state)

    def _state_numbers(self, state: State) -> NDArray[np.int64]:
        """The numbers of the states (runs, 1), checked."""
        (now,) = arrays_of(state, state=np.int64)
        if now.ndim != 2 or now.shape[1] != 1:
            raise InvalidInput(f"'state' must have the shape (runs, 1), got {now.shape}")
        self.features.index(now)
        return now

    def under(self, probabilities: NDArray[np.float64]) -> Any:
        """The transition matrix (S, S), sparse, under a policy (S, A)."""
        from scipy import sparse

        states, actions = self.n_states, self.n_actions
        if probabilities.shape != (states, actions):
            raise InvalidInput(
                f"a policy's probabilities must have the shape {(states, actions)}, got "
                f"{probabilities.shape}"
            )
        off = np.abs(probabilities.sum(axis=1) - 1).max()
        if not (probabilities >= 0).all() or not off <= _SUM_TOLERANCE:
            raise InvalidInput(
                "a policy's probabilities must not be negative and sum to 1 in each state, got "
                f"sums that are off by {off:.3g} or negative ones"
            )
        choice = sparse.csr_matrix(
            (probabilities.flatten(), np.arange(states * actions), actions * np.arange(states + 1)),
            (states, states * actions),
        )
        choice.eliminate_zeros()
        return (choice @ self.chain).tocsr()

    def expected(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The expected value of the next state (S, A), given values of the states (S,)."""
        self._check_values("values", values)
        expected: NDArray[np.float64] = (self.chain @ values).reshape(-1, self.n_actions)
        return expected

    def values(
        self,
        probabilities: NDArray[np.float64],
        rewards: NDArray[np.float64],
        discount: float,
        guess: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """The value of each state (S,) under a policy (S, A) with rewards of the states (S,)."""
        self._check_values("rewards", rewards)
        if guess is not None:
            self._check_values("guess", guess)
        return _solve(self.under(probabilities), rewards, discount, guess)

    def occupancy(
        self, probabilities: NDArray[np.float64], discount: Share, steps: Index | None = None
    ) -> NDArray[np.float64]:
        """The discounted number of visits to each state (S,) under a policy (S, A), exactly.

        Over all times, or up to this many steps; then the policy may be one for each step (steps,
        S, A), and the discount may be 1.
        """
        if steps is None:
            backward = self.under(probabilities).T.tocsr()
            return np.maximum(_solve(backward, self.start, discount, None), 0.0)
        if steps > _MOST_STEPS:
            raise InvalidInput(
                f"steps must be at most {_MOST_STEPS}, got {steps}: leave it out for all times"
            )
        if probabilities.ndim == 3 and len(probabilities) < steps:
            raise InvalidInput(
                f"{steps} steps need a policy for each, got {len(probabilities)} of them"
            )
        same = self.under(probabilities).T if probabilities.ndim != 3 else None
        now: NDArray[np.float64] = self.start
        total: NDArray[np.float64] = now.copy()
        for step in range(steps):
            back: Any = self.under(probabilities[step]).T if same is None else same
            now = discount * (back @ now)
            total += now
        return total

    def _check_values(self, name: str, values: NDArray[np.float64]) -> None:
        if values.shape != (self.n_states,) or not np.isfinite(values).all():
            raise InvalidInput(
                f"{name} must be finite numbers of the shape ({self.n_states},), got shape "
                f"{values.shape}"
            )

    def dense(self) -> NDArray[np.float64]:
        """The transitions as an array (S, A, S)."""
        shape = self.n_states, self.n_actions, self.n_states
        array: NDArray[np.float64] = self.chain.toarray().reshape(shape)
        return array

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        """The sums of probabilities within each row."""
        sums: NDArray[np.float64] = np.empty_like(self.chain.data)
        for begin, end in itertools.pairwise(self.chain.indptr):
            np.cumsum(self.chain.data[begin:end], out=sums[begin:end])
        return sums

    @cached_property
    def _bisections(self) -> int:
        return int(np.ceil(np.log2(max(2, np.diff(self.chain.indptr).max())))) + 1

    def _warn_of_unreachable_states(self) -> None:
        from scipy import sparse

        support = sparse.csr_matrix(
            (np.ones_like(self.chain.data), self.chain.indices, self.chain.indptr),
            self.chain.shape,
        )
        reached = self.start > 0
        frontier = reached
        rows = np.repeat(np.arange(self.n_states), self.n_actions)
        while frontier.any():
            following = support.T @ frontier[rows].astype(np.float64) > 0
            frontier = following & ~reached
            reached = reached | frontier
        missing = np.flatnonzero(~reached)
        if missing.size:
            names = ", ".join(map(str, missing[:5])) + (", ..." if missing.size > 5 else "")
            count = "state" if missing.size == 1 else f"{missing.size} states"
            warnings.warn(
                f"no policy ever reaches {count} {names} from the initial distribution: a demo "
                "says nothing about rewards there. Remove them, or let the agent start there",
                SwarmdpWarning,
                stacklevel=3,
            )


def exact_model(system: System) -> FiniteMDP | None:
    """The finite MDP that a system is, or has as its attribute `mdp`; None for others."""
    model = getattr(system, "mdp", system)
    return model if isinstance(model, FiniteMDP) else None


def chain_of(transitions: ArrayLike | Sequence[Any]) -> tuple[Any, int]:
    """The transitions as one sparse matrix (S * A, S), checked, and the number of actions.

    They may be given in all ways that `FiniteMDP` takes.
    """
    from scipy import sparse

    parts: list[Any]
    if isinstance(transitions, np.ndarray):
        array: NDArray[np.float64] = numbers("transitions", transitions, np.float64)
        if array.ndim != 3 or array.shape[0] != array.shape[2]:
            raise InvalidInput(
                "transitions[s, a, s'] must have the shape (states, actions, states), got "
                f"{array.shape}"
            )
        parts = [array[:, a] for a in range(array.shape[1])]
    else:
        parts = list(transitions) if isinstance(transitions, Sequence) else []
        if not parts or not all(_is_matrix(part) for part in parts):
            return chain_of(_numbers(transitions))
        parts = [
            numbers("a matrix of transitions", part, np.float64)
            if isinstance(part, np.ndarray)
            else part
            for part in parts
        ]
    matrices = [sparse.csr_matrix(part, dtype=np.float64) for part in parts]
    shapes = {matrix.shape for matrix in matrices}
    if len(shapes) != 1 or (shape := shapes.pop())[0] != shape[1] or shape[0] == 0:
        raise InvalidInput(
            "transitions must be one matrix (states, states) for each action, all of one shape, "
            f"got {[np.shape(part) for part in parts]}"
        )
    states, actions = shape[0], len(matrices)
    by_action = sparse.vstack(matrices, format="csr")
    order = np.arange(actions * states).reshape(actions, states).T.ravel()
    chain = by_action[order]
    chain.sum_duplicates()
    chain.eliminate_zeros()
    chain.sort_indices()
    if not np.isfinite(chain.data).all() or chain.data.min(initial=0.0) < 0:
        raise InvalidInput("transition probabilities must be numbers that are not negative")
    sums = np.asarray(chain.sum(axis=1)).ravel()
    wrong = np.flatnonzero(np.abs(sums - 1) > _SUM_TOLERANCE)
    if wrong.size:
        s, a = divmod(int(wrong[0]), actions)
        raise InvalidInput(
            f"the probabilities of what follows state {s} and action {a} must sum to 1, got "
            f"{sums[wrong[0]]:.10g} ({wrong.size} such rows of {states * actions}): divide each "
            "row by its sum, or let what is missing lead to a state where everything ends"
        )
    return chain, actions


def _is_matrix(part: Any) -> bool:
    """Whether this is one matrix of its own, and not a row of nested lists."""
    from scipy import sparse

    return sparse.issparse(part) or (isinstance(part, np.ndarray) and part.ndim == 2)


def _numbers(nested: Any) -> NDArray[np.float64]:
    try:
        array: NDArray[np.float64] = numbers("transitions", nested, np.float64)
        return array
    except InvalidInput:
        raise InvalidInput(
            "transitions must be numbers [s, a, s'] of the shape (states, actions, states), or a "
            "list of one matrix (states, states) for each action, NumPy or SciPy sparse"
        ) from None


def _start(initial: ArrayLike | int, states: int) -> NDArray[np.float64]:
    if isinstance(initial, int | np.integer) and not isinstance(initial, bool):
        if not 0 <= initial < states:
            raise InvalidInput(f"initial must be a state from 0 to {states - 1}, got {initial}")
        certain: NDArray[np.float64] = np.eye(1, states, int(initial))[0]
        return certain
    start = np.array(initial, dtype=np.float64)
    if start.shape != (states,) or not np.isfinite(start).all() or start.min() < 0:
        raise InvalidInput(
            f"initial must be probabilities of shape ({states},) or the number of a state, got "
            f"shape {start.shape}"
        )
    if abs(start.sum() - 1) > _SUM_TOLERANCE:
        raise InvalidInput(f"the initial distribution must sum to 1, got {start.sum():.10g}")
    start.setflags(write=False)
    return start


@one_blas_thread()
def _solve(
    matrix: Any,
    right: NDArray[np.float64],
    discount: float,
    guess: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """The solution x of x = right + discount * matrix @ x.

    A few states as a full matrix. Many by a sparse factorisation, which is quick where states can
    be put in an order in which each leads to near ones (grids). Where not (random graphs), factors
    would fill memory, but everything is a few steps from everything, so that a Krylov method needs
    few iterations.
    """
    from scipy import sparse
    from scipy.sparse import linalg

    check_end(discount)
    size = len(right)
    if size <= _DENSE:
        full: NDArray[np.float64] = np.linalg.solve(
            np.eye(size) - discount * matrix.toarray(), right
        )
        return full
    system = (sparse.identity(size, format="csc") - discount * matrix).tocsc()
    if size * _bandwidth(matrix) > LARGEST_FACTOR:
        solution, failed = linalg.gmres(
            system, right, x0=guess, rtol=RESIDUAL, restart=KRYLOV, maxiter=KRYLOV
        )
        gap = float(np.linalg.norm(system @ solution - right))
        if not failed and gap <= 10 * RESIDUAL * float(np.linalg.norm(right)):
            return np.asarray(solution, np.float64)
    factors = linalg.splu(system, permc_spec="MMD_AT_PLUS_A")
    return np.asarray(factors.solve(right), np.float64)


def _bandwidth(matrix: Any) -> int:
    """How far states lead, counted in a good order of the states."""
    from scipy.sparse import csgraph

    both_ways = (matrix + matrix.T).tocsr()
    order = csgraph.reverse_cuthill_mckee(both_ways, symmetric_mode=True)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    pairs = both_ways.tocoo()
    return int(np.abs(place[pairs.row] - place[pairs.col]).max(initial=0))


def check_end(discount: float) -> None:
    """Raise InvalidInput for a discount under which the infinite sum diverges."""
    if not 0 <= discount < 1:
        raise InvalidInput(
            f"without an end the discount must be in [0, 1), got {discount}: choose one below 1, "
            "or a number of steps after which everything ends ("
            "swarmdp.learning.plan_to_horizon(steps=...))"
        )
