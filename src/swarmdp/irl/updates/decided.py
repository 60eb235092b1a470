"""What is known of an expert's decisions, and how probable they are under a policy.

Either each action was recorded, so that it is enough to count them; or only what followed was, and
each action explains that more or less well. The probability of what followed is then the sum over
actions, taken by the policy, so that no action has to be guessed.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Protocol

from swarmdp.irl.updates.boltzmann import fisher_information
from swarmdp.support.arrays import Floats

_NEVER = 1e-12  # the likelihood of what an action never leads to


class Decided(Protocol):
    """Decisions of an expert in O observations with A actions."""

    @property
    def visits(self) -> Floats:
        """How many decisions were made in each observation (O,)."""

    def log_likelihood(self, log_policy: Floats) -> float:
        """How probable the decisions are under a policy (O, A), all as logarithms."""

    def counts_under(self, log_policy: Floats) -> Floats:
        """How often each action was taken in each observation (O, A), if this is the policy."""

    def information(self, policy: Floats, score: Floats) -> Floats:
        """What the decisions tell of the weights (d, d), near those of this policy (O, A).

        `score` (O, A, d) is the derivative of its logarithm.
        """


@dataclass(frozen=True, eq=False)
class Counted:
    """Decisions whose actions were recorded."""

    counts: Floats  # (O, A): how often each action was taken

    @cached_property
    def visits(self) -> Floats:
        """How many decisions were made in each observation (O,)."""
        return np.asarray(self.counts.sum(axis=1))

    def log_likelihood(self, log_policy: Floats) -> float:
        """How probable the decisions are under a policy (O, A), all as logarithms."""
        return float((self.counts * log_policy).sum())

    def counts_under(self, log_policy: Floats) -> Floats:
        """How often each action was taken in each observation (O, A), whatever the policy."""
        return self.counts

    def information(self, policy: Floats, score: Floats) -> Floats:
        """Fisher's information (d, d), which never has the wrong sign."""
        return fisher_information(policy, score, self.visits)


@dataclass(frozen=True, eq=False)
class Explained:
    """Decisions of which it is known what followed, and how well each action explains that."""

    index: NDArray[np.int64]  # (M,): the observation in which each was made
    likelihood: Floats  # (M, A): of what followed under each action, up to a factor in each row
    weight: Floats  # (M,): how many decisions each row stands for
    size: int  # the number of observations O
    trust: float = 1.0  # share of the information that counts, where the law is only nearly true

    @cached_property
    def visits(self) -> Floats:
        """How many decisions were made in each observation (O,)."""
        return np.bincount(self.index, self.weight, self.size).astype(np.float64)

    @cached_property
    def _log(self) -> Floats:
        return np.asarray(np.log(np.maximum(self.likelihood, _NEVER)))

    def log_likelihood(self, log_policy: Floats) -> float:
        """How probable what followed is under a policy (O, A), all as logarithms."""
        return float(self.weight @ self._split(log_policy)[0])

    def counts_under(self, log_policy: Floats) -> Floats:
        """How often each action was taken in each observation (O, A), if this is the policy."""
        shares = self.weight[:, None] * self._split(log_policy)[1]
        columns = [np.bincount(self.index, column, self.size) for column in shares.T]
        counts: Floats = np.stack(columns, axis=1).astype(np.float64)
        return counts

    def information(self, policy: Floats, score: Floats) -> Floats:
        """The information (d, d) in what followed: less than if actions were known."""
        with np.errstate(divide="ignore"):
            _, shares = self._split(np.log(policy))
        slopes = np.einsum("ma,mad->md", shares, score[self.index])
        weighed: Floats = self.trust * (self.weight[:, None] * slopes).T @ slopes
        return weighed

    def _split(self, log_policy: Floats) -> tuple[Floats, Floats]:
        """The logarithm (M,) of how probable each row is, and the shares (M, A) of the actions."""
        joint = self._log + log_policy[self.index]
        highest = joint.max(axis=1, keepdims=True)
        shares = np.exp(joint - highest)
        total = shares.sum(axis=1, keepdims=True)
        return highest[:, 0] + np.log(total[:, 0]), shares / total
