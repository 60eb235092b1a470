"""What a fit found: the reward, the policy, and the whole way there."""

import importlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp._version import __version__
from swarmdp.irl.algorithm import Iteration, last_counting
from swarmdp.irl.resampling import differences
from swarmdp.irl.search import Choice, below, never_improved
from swarmdp.irl.sought import AGREEING, Sought, agreed, most_sought
from swarmdp.irl.updates.registry import title
from swarmdp.model.features import Axis, Block
from swarmdp.model.rewards import Reward
from swarmdp.model.verdict import Verdict
from swarmdp.policies import Interface, LocalPolicy, MixedPolicy, SoftPolicy
from swarmdp.policies.learner import EquilibriumGap
from swarmdp.policies.replicas import check_interface, choose_replicas, policy_from, remade
from swarmdp.support import files, markup
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_discount, check_integer
from swarmdp.support.errors import InvalidInput
from swarmdp.support.netcdf import integer_of, json_of, settings_of, text_of, write_dataset
from swarmdp.support.saved import FIT, arrays_with_prefix

if TYPE_CHECKING:
    import pandas
    import xarray

DIAGNOSTIC, POLICY, _MEMORY = "diagnostic_", "policy_", "memory_"  # what variables begin with
TAKEOVER = "takeover_"
DECISIONS, HISTOGRAM = "decisions", "histogram"
_ORIGINS = {
    DECISIONS: "the reward under which the demo's decisions are most probable",
    "centre": "the mean of the best rewards of Algorithm 1",
    HISTOGRAM: "the visit histogram",
    "nearest": "the reward of the nearest policy of Algorithm 1",
}  # of candidates for the reward
_CHOICE = (
    *("weights", "candidates", "gaps", "errors", "as_good"),
    *("policy_gaps", "alternatives", "without_margin"),
)  # what a file keeps of the choice of the reward
_ABOUT = 1.25  # times as far: about as near

_AXES = {
    "weights": ("iteration", "experiment", "feature"),
    "mu": ("iteration", "experiment", "feature"),
    "distance": ("iteration", "experiment"),
    "margin": ("iteration", "experiment"),
    "mixture": ("iteration", "experiment", "policy_iteration"),
    "next_weights": ("experiment", "feature"),
    "expert_mu": ("experiment", "feature"),
    "expert_mu_error": ("experiment", "feature"),
    "seen": ("iteration", "experiment", "observation"),
    "choice_iteration": ("experiment",),
    "choice_mu": ("experiment", "feature"),
    "choice_gap": ("experiment",),
    "error": ("iteration", "experiment", "feature"),
    "verdict": ("experiment",),
    "resamples": ("resample", "experiment", "feature"),
    "runs": ("iteration", "evaluation", "experiment", "feature"),
    "anchored": ("experiment", "observation", "action"),
    "takeover_mu": ("experiment", "feature"),
    "deviation_gain": ("experiment",),
    "deviation_error": ("experiment",),
    "deviation_share": ("experiment",),
    "reward_weights": ("experiment", "feature"),
    "reward_candidates": ("candidate", "experiment", "feature"),
    "reward_gaps": ("candidate", "experiment"),
    "reward_errors": ("candidate", "experiment"),
    "reward_as_good": ("candidate", "experiment"),
    "reward_policy_gaps": ("experiment",),
    "reward_alternatives": ("alternative", "experiment", "feature"),
    "reward_without_margin": ("experiment",),
}  # of a file's variables
OPTIONAL = {
    *("seen", "error", "verdict", "resamples", "runs", "anchored"),
    *("choice_iteration", "choice_mu", "choice_gap"),
    *("reward_weights", "reward_candidates", "reward_gaps", "reward_errors", "reward_as_good"),
    *("reward_policy_gaps", "reward_alternatives", "reward_without_margin"),
    *("takeover_mu", "deviation_gain", "deviation_error", "deviation_share"),
}


@dataclass(frozen=True, eq=False)
class History:
    """Every iteration of Algorithm 1, for all R experiments.

    The distance chooses an iteration, not the margin: the margins of max-margin and projection
    never rise, so that the last iteration would always be the best, and others rise and fall.
    Iterations after an experiment is finished do not count for it.
    """

    weights: NDArray[np.float64]  # (I, R, d)
    policies: tuple[LocalPolicy, ...]  # I of them, of R replicas each
    mu: NDArray[np.float64]  # (I, R, d)
    distance: NDArray[np.float64]  # (I, R): |mu_E - mu|
    margin: NDArray[np.float64]  # (I, R)
    mixture: NDArray[np.float64]  # (I, R, I): after iteration i, the weights of policies 0 to i


@dataclass(frozen=True)
class Attempt:
    """A policy that was tried for an experiment, and how it was judged."""

    experiment: int
    learner: str  # "Algorithm 2", "clone of explained actions", "policy search", ...
    gap: float  # of its swarm from the demo: the mean energy distance of all statistics
    passed: bool | None  # whether its verdict is no alarm; None if it was too far to be judged
    rollouts: int  # that it took to find it, after Algorithm 1, and to judge it


@dataclass(frozen=True, eq=False)
class Takeover:
    """Policies by other learners than Algorithm 2, where that did not reproduce the demo."""

    policy: LocalPolicy  # of R replicas: of each experiment the one that was taken
    mu: NDArray[np.float64]  # (R, d): its feature expectations
    learners: tuple[str, ...]  # (R,): who found it


@dataclass(frozen=True, eq=False)
class RewardChoice:
    """Which reward is returned, by what was planned for each candidate from nothing."""

    weights: NDArray[np.float64]  # (R, d): the rewards taken
    taken: tuple[str, ...]  # (R,): which candidate each is
    names: tuple[str, ...]  # (C,): of the candidates
    candidates: NDArray[np.float64]  # (C, R, d): their weights, of length one
    gaps: NDArray[np.float64]  # (C, R): how far swarms planned for them are; NaN if none was
    errors: NDArray[np.float64]  # (C, R): standard errors, over several attempts
    as_good: NDArray[np.bool_]  # (C, R): which are as good as the best
    policy_gaps: NDArray[np.float64]  # (R,): how far the swarm of Algorithm 1's policy is
    alternatives: NDArray[np.float64]  # (K, R, d): other rewards that do about as well
    without_margin: NDArray[np.bool_]  # (R,): whether max-margin ran out of directions

    @property
    def gap(self) -> NDArray[np.float64]:
        """How far swarms planned again for the reward of each experiment are from the demo (R,)."""
        places = [self.names.index(name) for name in self.taken]
        return self.gaps[places, np.arange(len(self.taken))]

    @property
    def explains(self) -> NDArray[np.bool_]:
        """Whether planning again for the reward comes about as near as the policy does (R,).

        False where nothing was planned for it: then `gap` is NaN.
        """
        places = [self.names.index(name) for name in self.taken]
        error = self.errors[places, np.arange(len(self.taken))]
        near: NDArray[np.bool_] = self.gap <= np.maximum(
            _ABOUT * self.policy_gaps, self.policy_gaps + 2 * error
        )
        return near

    @property
    def words(self) -> tuple[str, ...]:
        """What each choice means, in words."""
        return tuple(self._words(r, name) for r, name in enumerate(self.taken))

    def _words(self, r: int, name: str) -> str:
        place = self.names.index(HISTOGRAM)
        if np.isnan(self.gap[r]):
            return f"{_ORIGINS[name]}; nothing was planned for it again"
        return self._planned_words(r, name, place) + self._margin_words(r)

    def _margin_words(self, r: int) -> str:
        if not self.without_margin[r]:
            return ""
        return (
            ". The demo lies among the policies tried, up to its noise (margin zero): later "
            "rewards of max-margin mean nothing and were left out"
        )

    def _planned_words(self, r: int, name: str, place: int) -> str:
        near = f"{self.gap[r]:.2f} against {self.policy_gaps[r]:.2f} of the policy"
        if not self.explains[r]:
            return (
                "no reward on these features explains the policy: swarms planned again for the "
                f"best one stay farther from the demo ({near})"
            )
        if self.as_good[place, r]:
            return (
                "the demo shows no more than how often each observation is sought: planning for "
                f"the visit histogram comes as near as for any other reward ({near})"
            )
        return (
            f"{_ORIGINS[name]}; planned again, it comes nearer to the demo than the visit "
            f"histogram ({self.gap[r]:.2f} against {self.gaps[place, r]:.2f})"
        )


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of `swarmdp.fit` for R independent experiments.

    Parameters
    ----------
    iterations
        One `Iteration` for each pass of Algorithm 1.
    expert_mu
        (R, d): the demo's feature expectations.
    expert_mu_error
        (R, d): their standard errors; NaN where they are not known.
    blocks
        The axes of each block of weights (see `swarmdp.features`).
    tolerance
        An experiment is finished when its margin falls to this.
    system_name
        The class of the system.
    system_settings
        The settings of the system.
    settings
        The settings of the fit.
    seed
        The seed of the fit.
    solutions
        What the system calls the policies that were found, if it does.
    interface
        What the controller sees and does, for using it elsewhere.
    choice
        Of the policy, by fresh roll-outs.
    verdicts
        Whether each learned swarm does what its demo did.
    resamples
        (K, R, d): the rewards of K resampled demos.
    anchored
        (R, classes, actions): chances of the actions, with a clone mixed in.
    takeover
        The policies that other learners found, where Algorithm 2's did not reproduce the demo.
    attempts
        What was tried for each experiment until its policy was found, and what it cost.
    equilibrium_gap
        What one agent alone would gain by deviating from the policy, with its standard error; None
        if that was not asked. At an equilibrium it is zero.
    reward_choice
        Which reward is returned, and how near swarms planned again for it come; None if rewards
        were not compared: then it is that of the nearest policy.
    version
        The version of swarmdp that made it.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, iterations=2, judge=False)
    >>> result.reward.weights.shape, result.distance.shape
    ((1, 9), (1,))

    """

    iterations: tuple[Iteration, ...]
    expert_mu: NDArray[np.float64]
    expert_mu_error: NDArray[np.float64]
    blocks: tuple[Block, ...]
    tolerance: float
    system_name: str
    system_settings: Mapping[str, Any]
    settings: Mapping[str, Any]
    seed: int
    solutions: tuple[str, ...] = ()
    interface: Interface | None = None
    choice: Choice | None = None
    verdicts: tuple[Verdict, ...] = ()
    resamples: NDArray[np.float64] | None = None
    anchored: NDArray[np.float64] | None = None
    takeover: Takeover | None = None
    attempts: tuple[Attempt, ...] = ()
    equilibrium_gap: EquilibriumGap | None = None
    reward_choice: RewardChoice | None = None
    version: str = __version__

    @property
    def experiments(self) -> int:
        """The number of independent experiments R."""
        return len(self.expert_mu)

    @cached_property
    def history(self) -> History:
        """Every iteration."""
        done = self.iterations
        mixture = np.zeros((len(done), self.experiments, len(done)))
        for i, iteration in enumerate(done):
            mixture[i, :, : i + 1] = iteration.mixture
        mu = np.stack([iteration.mu for iteration in done])
        return History(
            np.stack([iteration.weights for iteration in done]),
            tuple(iteration.policy for iteration in done),
            mu,
            np.stack([iteration.distance for iteration in done]),
            np.stack([iteration.margin for iteration in done]),
            mixture,
        )

    @property
    def chosen(self) -> NDArray[np.int64]:
        """The iteration whose policy is the result, for each experiment (R,).

        It was chosen by fresh roll-outs among the nearest to the expert, or is the nearest one.
        """
        if self.choice is not None:
            return self.choice.iteration
        after = np.arange(len(self.iterations))[:, None] > self.ended
        best: NDArray[np.int64] = np.where(after, np.inf, self.history.distance).argmin(axis=0)
        return best

    @property
    def ended(self) -> NDArray[np.int64]:
        """The last iteration that counts for each experiment (R,): its first finished one."""
        margins = np.stack([iteration.margin for iteration in self.iterations])
        return last_counting(margins, self.tolerance)

    @property
    def policy(self) -> LocalPolicy:
        """The policy of each experiment: the chosen one, or another learner's that took over.

        With a clone mixed in if that was asked for.
        """
        if self.anchored is not None:
            return SoftPolicy(self.anchored, self.interface)
        if self.takeover is not None:
            return remade(self.takeover.policy, self.takeover.policy.to_arrays(), self.interface)
        return choose_replicas(self.history.policies, self.chosen, self.interface)

    @property
    def learners(self) -> tuple[str, ...]:
        """Who found the policy of each experiment: "Algorithm 2", or who took over from it.

        With `preset` or another `learner` this is the policy update that was asked for.
        """
        if self.takeover is not None:
            return self.takeover.learners
        return (self._update_name,) * self.experiments

    @property
    def _update_name(self) -> str:
        learner = self.settings.get("learner")
        kind = learner.get("kind") if isinstance(learner, Mapping) else None
        return "Algorithm 2" if kind in (None, "HeterogeneousLearning") else str(kind)

    @property
    def mixture(self) -> MixedPolicy:
        """The policies of all iterations, mixed as the reward update says.

        For max-margin and projection this is Abbeel and Ng's answer, whose feature expectations are
        within the last margin of the expert's; for mwal the uniform mixture of its theorem.
        """
        return MixedPolicy(self.history.policies, self._mixture)

    @property
    def mixture_mu(self) -> NDArray[np.float64]:
        """The feature expectations of the mixture (R, d)."""
        mixed: NDArray[np.float64] = np.einsum("rj,jrd->rd", self._mixture, self.history.mu)
        return mixed

    @property
    def _mixture(self) -> NDArray[np.float64]:
        """The weights of all policies (R, I); zero for those after the experiment's end."""
        return self.history.mixture[self.ended, np.arange(self.experiments)]

    @property
    def reward(self) -> Reward:
        """The reward for which planning again comes nearest to the demo (`reward_choice`).

        Where that was not asked, the one for which the chosen policy of Algorithm 1 was learned.
        """
        if self.reward_choice is not None:
            return Reward(self.reward_choice.weights, self.blocks)
        return Reward(self.history.weights[self.chosen, np.arange(self.experiments)], self.blocks)

    @property
    def verdict(self) -> Verdict | None:
        """Whether the learned swarm does what the demo did; None if it was not judged.

        Of several experiments each has its own, in `verdicts`.
        """
        if len(self.verdicts) > 1:
            raise InvalidInput(
                f"each of the {len(self.verdicts)} experiments has a verdict of its own: use "
                "result.verdicts"
            )
        return self.verdicts[0] if self.verdicts else None

    @property
    def reward_error(self) -> NDArray[np.float64] | None:
        """The standard error of the reward (R, d); None if it is not known.

        It is the spread of the rewards learned from resampled demos (`resamples`), or of those that
        explain the demo about as well (`reward_choice.alternatives`), or else what the reward
        update says: then it is NaN where the reward is a first one that no update made.
        """
        if (others := self.alternatives) is not None:
            spread: NDArray[np.float64] = others.std(axis=0, ddof=1)
            return spread
        errors = self._errors
        if errors is None:
            return None
        unknown = np.full_like(self.expert_mu, np.nan)
        # An update that answers at once has made the first reward as well.
        made_by_update = self.settings["at_once"] and self.settings["first_reward"] == "own"
        before = np.concatenate([(errors[0] if made_by_update else unknown)[None], errors])
        return before[self.chosen, np.arange(self.experiments)]

    @property
    def is_of_decisions(self) -> bool:
        """Whether the reward is the one under which the demo's decisions are most probable.

        Then `resamples` are other rewards that explain the same decisions, not fits of other demos.
        """
        choice = self.reward_choice
        return choice is not None and set(choice.taken) == {DECISIONS}

    @property
    def alternatives(self) -> NDArray[np.float64] | None:
        """Other rewards (K, R, d) that are as good: of resampled demos, or of the same one."""
        choice = self.reward_choice
        if self.resamples is not None and not self.is_of_decisions:
            return self.resamples
        return None if choice is None else choice.alternatives

    def identified(self, experiment: int = 0) -> "pandas.DataFrame":
        """Which differences between observations all rewards agree on that are as good.

        One row for each two observations of a block. `difference` is that of the returned reward
        and `error` its standard error; `agreement` is the share of the other rewards in which it
        has the same sign. It is `identified` if nearly all of them agree (97.5 %, so that a 95 %
        interval has one sign). About the others the demo says nothing.

        Parameters
        ----------
        experiment
            Which of the experiments.

        """
        others = self._compared(experiment)
        table = differences(self.reward.weights[experiment], others, self.blocks)
        return table[["one", "other", "difference", "error", "agreement"]].assign(
            identified=table["agreement"] >= AGREEING
        )

    @property
    def identified_weights(self) -> NDArray[np.bool_] | None:
        """Which observations are rewarded more, or less, than the mean of their block (R, d).

        As all rewards agree that are as good; None if no others are known. Figures draw the rest
        pale.
        """
        others = self.alternatives
        if others is None:
            return None
        flags = np.empty(self.expert_mu.shape, np.bool_)
        begin = 0
        for block in self.blocks:
            end = begin + math.prod(len(axis.values) for axis in block)
            here = slice(begin, end)
            flags[:, here] = agreed(self.reward.weights[:, here], others[:, :, here])
            begin = end
        return flags

    def _compared(self, experiment: int) -> NDArray[np.float64]:
        """The other rewards (K, d) of an experiment; raises InvalidInput if there are none."""
        check_integer("experiment", experiment, least=0)
        if experiment >= self.experiments:
            raise InvalidInput(
                f"experiment must be from 0 to {self.experiments - 1}, got {experiment}"
            )
        if (others := self.alternatives) is None:
            raise InvalidInput(
                "no other rewards are known, with which this one could be compared: fit with "
                'reward="replanned", or with resamples=8 or more'
            )
        return others[:, experiment]

    def differences(self, experiment: int = 0) -> "pandas.DataFrame":
        """Which observations are rewarded differently: one row for each two of a block.

        `error` is the standard error of the difference, `p` is adjusted so that of all differences
        called significant about 5 % are not (Benjamini and Hochberg).

        Parameters
        ----------
        experiment
            Which of the experiments.

        """
        others = self._compared(experiment)
        table = differences(self.reward.weights[experiment], others, self.blocks)
        return table.drop(columns="agreement")

    @property
    def _errors(self) -> NDArray[np.float64] | None:
        """The errors of every round (I, R, d), NaN where one gave none; None if all gave none."""
        errors = [iteration.error for iteration in self.iterations]
        if all(error is None for error in errors):
            return None
        unknown = np.full_like(self.expert_mu, np.nan)
        return np.stack([unknown if error is None else error for error in errors])

    @property
    def diagnostics(self) -> dict[str, NDArray[np.float64]]:
        """The diagnostics of the reward updates by name, (I, R) or (I, R, d).

        They are NaN in iterations without them.
        """
        names = dict.fromkeys(name for i in self.iterations for name in i.diagnostics)
        return {name: self._diagnostic(name) for name in names}

    def _diagnostic(self, name: str) -> NDArray[np.float64]:
        rounds = [iteration.diagnostics.get(name) for iteration in self.iterations]
        of_features = any(array is not None and array.ndim == 2 for array in rounds)
        shape = self.expert_mu.shape if of_features else (self.experiments,)
        filled = np.full((len(rounds), *shape), np.nan)
        for row, array in zip(filled, rounds, strict=True):
            if array is not None:
                # A number for the whole experiment holds for each of its features.
                row[...] = array[:, None] if array.ndim < row.ndim else array
        return filled

    @property
    def seen(self) -> NDArray[np.bool_] | None:
        """The observations visited while the chosen policy was learned (R, observations).

        At the others the policy does nothing. None if the learner knows no classes of observations.
        """
        seen = [iteration.seen for iteration in self.iterations]
        flags = [flag for flag in seen if flag is not None]
        if len(flags) < len(seen):
            return None
        return np.stack(flags)[self.chosen, np.arange(self.experiments)]

    @property
    def distance(self) -> NDArray[np.float64]:
        """`|mu_E - mu|` of the chosen policies (R,), from fresh roll-outs if there were any.

        The smallest of the distances in the history is smaller than the true one, by chance.
        """
        mu = self.takeover.mu if self.takeover is not None else None
        if mu is None and self.choice is not None:
            mu = self.choice.mu
        if mu is not None:
            gap: NDArray[np.float64] = np.linalg.norm(self.expert_mu - mu, axis=1)
            return gap
        return self.history.distance[self.chosen, np.arange(self.experiments)]

    @property
    def below(self) -> NDArray[np.bool_]:
        """Which policies are worth less under their own reward than one known before (I, R).

        By more than chance, and by more than 1 % of the range of values. Such a policy is not
        optimal: the search tries the same reward again.
        """
        runs = [iteration.runs for iteration in self.iterations if iteration.runs is not None]
        return below(self.history.weights, np.stack(runs) if runs else None)

    @property
    def never_improved(self) -> NDArray[np.bool_]:
        """Which of these were the last attempt at their reward (I, R): it was given up."""
        return never_improved(self.history.weights, self.below)

    @property
    def margin(self) -> NDArray[np.float64]:
        """What the reward update says is left to be done (R,).

        For max-margin the distance from mu_E to all mixtures of the policies found.
        """
        return self.history.margin[self.ended, np.arange(self.experiments)]

    @property
    def is_highest_clear(self) -> bool | None:
        """Whether all rewards that do as well agree that one is sought where it is highest.

        Of several components it is enough if they agree on one: `highest` names no others. None if
        no others are known.
        """
        if self.identified_weights is None:
            return None
        return any(place.clear for place in self._highest_places)

    @property
    def highest(self) -> str:
        """Where the reward is highest, in words; only components in which that is clear, if any.

        All observations are named that cannot be told from the best one, such as both sides of a
        reward that is the same to both; if these are most of all, those that are clearly rewarded
        more than the average.
        """
        places = self._highest_places
        return ", ".join(p.where for p in [p for p in places if p.clear] or places)

    @property
    def sought(self) -> str:
        """What the reward asks for, such as 'highest at misalignment ±10 degrees'."""
        clear = [place for place in self._highest_places if place.clear]
        if not clear:
            return "no observation is clearly sought: rewards that do as well disagree"
        by_relation = {
            relation: ", ".join(place.where for place in clear if place.relation == relation)
            for relation in dict.fromkeys(place.relation for place in clear)
        }
        return "; ".join(f"{relation} at {where}" for relation, where in by_relation.items())

    @property
    def _highest_places(self) -> list[Sought]:
        """Where each block of weights is highest."""
        mean, others = self.reward.weights.mean(axis=0), self.alternatives
        drawn = None if others is None else others.reshape(-1, others.shape[2])
        places, begin = [], 0
        for block in self.blocks:
            end = begin + math.prod(len(axis.values) for axis in block)
            of_block = None if drawn is None else drawn[:, begin:end]
            places.append(most_sought(mean[begin:end], of_block, block))
            begin = end
        return places

    def __repr__(self) -> str:
        facts = [f"  {name:<19}{fact}" for name, fact in self._facts.items()]
        return "\n".join([self._title, *facts])

    def _repr_html_(self) -> str:
        facts = markup.table(("", ""), list(self._facts.items()))
        flags = self.identified_weights
        clear = None if flags is None else np.asarray(flags.all(axis=0))
        return markup.card(self._title, facts, self.reward.card(clear))

    @property
    def _title(self) -> str:
        return (
            f"Result of fitting {self.system_name} by {title(self.settings)}: {self.experiments} "
            f"experiment{'s' * (self.experiments != 1)}, {len(self.iterations)} "
            f"iteration{'s' * (len(self.iterations) != 1)}, seed {self.seed}"
        )

    @property
    def _facts(self) -> dict[str, str]:
        """What the result says of itself, by name."""
        chosen = ", ".join(map(str, self.chosen[:5])) + (", ..." if self.experiments > 5 else "")
        distance = self.distance
        facts = {
            "chosen iteration": chosen,
            "distance": f"mean {distance.mean():.3g}, worst {distance.max():.3g}  |mu_E - mu|",
            "margin": f"mean {self.margin.mean():.3g}",
            "reward": self.sought,
        }
        if self.reward_choice is not None and self.experiments == 1:
            facts["reward says"] = self.reward_choice.words[0]
        if self.takeover is not None:
            names, counts = np.unique(self.learners, return_counts=True)
            several = self.experiments > 1
            facts["policy found by"] = "; ".join(
                f"{n} x {name}" if several else str(name)
                for name, n in zip(names, counts, strict=True)
            )
        if "actions" in self.settings:
            how = {"inferred": "inferred from states"}
            source = str(self.settings["actions"])
            facts["actions"] = how.get(source, source)
        if (gap := self.equilibrium_gap) is not None:
            worst = int(gap.share.argmax())
            facts["one agent alone"] = (
                f"would gain {gap.gain[worst]:.2g} ± {gap.error[worst]:.1g} by deviating "
                f"({gap.share[worst]:.1%} of the range of values)"
            )
        if self.solutions:
            names, counts = np.unique(self.solutions, return_counts=True)
            solutions = [f"{n} x {name}" for name, n in zip(names, counts, strict=True)]
            facts["solution"] = "; ".join(solutions)
        if (lower := int(self.below.sum(axis=0).max())) > 0:
            which = f"{lower} of {len(self.iterations)}"
            left = int(self.never_improved.sum(axis=0).max())
            most = "at most " if self.experiments > 1 else ""
            facts["policy updates"] = (
                f"in {most}{which} iterations the new policy was worse than an earlier one "
                f"({left} of these were never made up for)"
            )
        if self.resamples is not None:
            others = self.resamples if self.alternatives is None else self.alternatives
            error, size = others.std(axis=0, ddof=1), np.ptp(self.reward.weights, axis=1)
            share = np.median(error / np.where(size > 0, size, 1)[:, None])
            kind = "other rewards that do as well" if self.is_of_decisions else "resamples"
            facts["reward error"] = (
                f"{share:.0%} of the reward's range (median), from {len(others)} {kind}"
            )
        unseen = 0 if self.seen is None else int((~self.seen).sum(axis=1).max())
        if unseen:
            facts["never visited"] = f"up to {unseen} observations: there it does nothing"
        if len(self.verdicts) == 1:
            facts["verdict"] = self.verdicts[0].words
        elif self.verdicts:
            good = sum(not verdict.alarm for verdict in self.verdicts)
            facts["verdict"] = f"{good} of {len(self.verdicts)} reproduce their demo"
        return facts

    def to_dataframe(self) -> "pandas.DataFrame":
        """The history: one row for each iteration and experiment.

        `chosen` marks the iterations that the result's reward and policy are of.
        """
        import pandas

        h = self.history
        iteration, experiment = np.indices(h.distance.shape)
        return pandas.DataFrame(
            {
                "iteration": iteration.reshape(-1),
                "experiment": experiment.reshape(-1),
                "distance": h.distance.reshape(-1),
                "margin": h.margin.reshape(-1),
                "chosen": (iteration == self.chosen).reshape(-1),
            }
        )

    def plot(self) -> Any:
        """Draw the reward and the way to it: a Matplotlib figure.

        `plot_reward` and `plot_convergence` of `swarmdp.report` draw one of them into given axes.
        """
        # By name, since this layer must not import Matplotlib: figures are a layer above.
        return importlib.import_module("swarmdp.report.fits").plot_result(self)

    def show(
        self, system: Any = None, *, steps: int | None = None, seed: int = 0, experiment: int = 0
    ) -> Any:
        """The learned swarm in motion beside the expert's, in a notebook and without a server.

        Parameters
        ----------
        system
            The system of the fit; a built-in one is made from the fit's settings if not given.
        steps
            The number of time steps; 60 if not given.
        seed
            Of the roll-outs.
        experiment
            Which of the experiments.

        Examples
        --------
        >>> import swarmdp
        >>> vicsek = swarmdp.Vicsek(n_agents=30)
        >>> demo = swarmdp.rollout(vicsek, vicsek.expert, steps=50, seed=1)
        >>> result = swarmdp.fit(vicsek, demo, seed=2, iterations=1, judge=False)
        >>> result.show(steps=10).scene.steps
        10

        """
        # By name, since players are a layer above.
        inline = importlib.import_module("swarmdp.report.inline")
        return inline.show_result(self, system, steps, seed, experiment)

    def to_xarray(self) -> "xarray.Dataset":
        """Everything, with named dimensions."""
        import xarray

        h, last = self.history, self.iterations[-1]
        axes = ("iteration", "experiment")
        data: dict[str, Any] = {
            "weights": ((*axes, "feature"), h.weights),
            "mu": ((*axes, "feature"), h.mu),
            "distance": (axes, h.distance),
            "margin": (axes, h.margin),
            "mixture": ((*axes, "policy_iteration"), h.mixture),
            "next_weights": (("experiment", "feature"), last.next_weights),
            "expert_mu": (("experiment", "feature"), self.expert_mu),
            "expert_mu_error": (("experiment", "feature"), self.expert_mu_error),
            "chosen": (("experiment",), self.chosen),
        }
        policies = [policy.to_arrays() for policy in h.policies]
        for name in policies[0]:
            stacked = np.stack([arrays[name] for arrays in policies])
            inner = tuple(f"{name}_{i}" for i in range(stacked.ndim - 2))
            data[POLICY + name] = ((*axes, *inner), stacked)
        visited = [iteration.seen for iteration in self.iterations if iteration.seen is not None]
        if visited:
            data["seen"] = ((*axes, "observation"), np.stack(visited))
        runs = [iteration.runs for iteration in self.iterations if iteration.runs is not None]
        if runs:
            data["runs"] = (("iteration", "evaluation", "experiment", "feature"), np.stack(runs))
        for name, array in last.memory.items():
            inner = tuple(f"{_MEMORY}{name}_{i}" for i in range(array.ndim - 1))
            data[_MEMORY + name] = (("experiment", *inner), array)
        if self.choice is not None:
            data["choice_iteration"] = (("experiment",), self.choice.iteration)
            data["choice_mu"] = (("experiment", "feature"), self.choice.mu)
            data["choice_gap"] = (("experiment",), self.choice.gap)
        if self.verdicts:
            texts = [json.dumps(verdict.to_json()) for verdict in self.verdicts]
            data["verdict"] = (("experiment",), np.array(texts, dtype=object))
        if self.resamples is not None:
            data["resamples"] = (("resample", "experiment", "feature"), self.resamples)
        if self.takeover is not None:
            data["takeover_mu"] = (("experiment", "feature"), self.takeover.mu)
            for name, array in self.takeover.policy.to_arrays().items():
                inner = tuple(f"{TAKEOVER}{name}_{i}" for i in range(array.ndim - 1))
                data[TAKEOVER + name] = (("experiment", *inner), array)
        if (choice := self.reward_choice) is not None:
            candidate = ("candidate", "experiment")
            data["reward_candidates"] = ((*candidate, "feature"), choice.candidates)
            data["reward_weights"] = (("experiment", "feature"), choice.weights)
            for name in ("gaps", "errors", "as_good"):
                data[f"reward_{name}"] = (candidate, getattr(choice, name))
            axis = ("alternative", "experiment", "feature")
            data["reward_alternatives"] = (axis, choice.alternatives)
            for name in ("policy_gaps", "without_margin"):
                data[f"reward_{name}"] = (("experiment",), getattr(choice, name))
        if (gap := self.equilibrium_gap) is not None:
            for name in ("gain", "error", "share"):
                data[f"deviation_{name}"] = (("experiment",), getattr(gap, name))
        if self.anchored is not None:
            data["anchored"] = (("experiment", "observation", "action"), self.anchored)
        if (errors := self._errors) is not None:
            data["error"] = ((*axes, "feature"), errors)
        for name, array in self.diagnostics.items():
            data[DIAGNOSTIC + name] = ((*axes, "feature")[: array.ndim], array)
        attributes = FIT.attributes(self.version) | {
            "system": self.system_name,
            "system_settings": json.dumps(dict(self.system_settings)),
            "settings": json.dumps(dict(self.settings)),
            "seed": str(self.seed),
            "tolerance": self.tolerance,
            "solutions": json.dumps(self.solutions),
            "blocks": json.dumps([[axis.to_json() for axis in block] for block in self.blocks]),
            "policy": h.policies[0].kind,
            "interface": "" if self.interface is None else json.dumps(self.interface.to_json()),
            "reward_choice": ""
            if self.reward_choice is None
            else json.dumps([self.reward_choice.names, self.reward_choice.taken]),
            "attempts": json.dumps([asdict(attempt) for attempt in self.attempts]),
            "takeover": ""
            if self.takeover is None
            else json.dumps([self.takeover.policy.kind, *self.takeover.learners]),
        }
        return xarray.Dataset(data, None, attributes)

    @classmethod
    def from_xarray(cls, dataset: "xarray.Dataset") -> "Result":
        """The result that `to_xarray` wrote."""
        attributes = FIT.check(dataset)
        get = _arrays(dataset)
        count = len(get["mu"])
        following = [*get["weights"][1:], get["next_weights"]]
        seen, error, runs = (get.get(name) for name in ("seen", "error", "runs"))
        memory, policies, diagnostics = (
            arrays_with_prefix(get, prefix) for prefix in (_MEMORY, POLICY, DIAGNOSTIC)
        )
        iterations = tuple(
            Iteration(
                get["weights"][i],
                policy_from(
                    text_of(attributes, "policy"), {n: array[i] for n, array in policies.items()}
                ),
                get["mu"][i],
                get["distance"][i],
                get["margin"][i],
                get["mixture"][i, :, : i + 1],
                following[i],
                None if seen is None else seen[i].astype(bool),
                None if error is None else error[i],
                {name: array[i] for name, array in diagnostics.items()},
                None if runs is None else runs[i],
                memory if i == count - 1 else {},
            )
            for i in range(count)
        )
        choice = None
        if "choice_iteration" in get:
            choice = Choice(get["choice_iteration"], get["choice_mu"], get["choice_gap"])
        blocks = tuple(
            tuple(Axis.from_json(axis) for axis in block) for block in json_of(attributes, "blocks")
        )
        if (size := sum(math.prod(len(a.values) for a in block) for block in blocks)) != (
            features := get["expert_mu"].shape[1]
        ):
            raise InvalidInput(f"it has {features} features, but its axes are of {size}")
        interface = None
        if text_of(attributes, "interface"):
            interface = Interface.from_json(json_of(attributes, "interface"))
            for iteration in iterations:
                check_interface(iteration.policy, interface)
        return cls(
            iterations,
            get["expert_mu"],
            get["expert_mu_error"],
            blocks,
            float(attributes["tolerance"]),
            text_of(attributes, "system"),
            settings_of(attributes, "system_settings"),
            _checked(settings_of(attributes, "settings")),
            integer_of(attributes, "seed"),
            tuple(map(str, json_of(attributes, "solutions"))),
            interface,
            choice,
            tuple(Verdict.from_json(files.parse_json(text)) for text in get.get("verdict", ())),
            get.get("resamples"),
            get.get("anchored"),
            _takeover(attributes, get, len(get["expert_mu"])),
            _attempts(attributes),
            _equilibrium_gap(get),
            _reward_choice(attributes, get),
            text_of(attributes, "swarmdp_version"),
        )

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write `result.nc` into a folder, atomically; return the file's path."""
        path = Path(folder) / FIT.file
        write_dataset(path, self.to_xarray())
        return path


def _takeover(
    attributes: Mapping[str, Any], get: Mapping[str, NDArray[Any]], experiments: int
) -> Takeover | None:
    """The policies of other learners that a file has; None if it has none."""
    if not attributes.get("takeover"):
        return None
    kind, *learners = map(str, json_of(attributes, "takeover"))
    arrays = arrays_with_prefix(get, TAKEOVER)
    mu = arrays.pop("mu", None)
    if mu is None or len(learners) != experiments:
        raise InvalidInput("its policies by other learners are incomplete")
    policy = policy_from(kind, arrays)
    if policy.replicas != experiments:
        raise InvalidInput(
            f"it has {experiments} experiments, but {policy.replicas} policies by other learners"
        )
    return Takeover(policy, mu, tuple(learners))


def _equilibrium_gap(get: Mapping[str, NDArray[Any]]) -> EquilibriumGap | None:
    """What one agent gains by deviating, if a file tells it."""
    if "deviation_gain" not in get:
        return None
    return EquilibriumGap(*(get[f"deviation_{name}"] for name in ("gain", "error", "share")))


def _reward_choice(
    attributes: Mapping[str, Any], get: Mapping[str, NDArray[Any]]
) -> RewardChoice | None:
    """Which reward was returned and why, if a file tells it."""
    if not attributes.get("reward_choice"):
        return None
    names, taken = (tuple(map(str, part)) for part in json_of(attributes, "reward_choice"))
    parts = {name: get.get(f"reward_{name}") for name in _CHOICE}
    arrays = {name: array for name, array in parts.items() if array is not None}
    shape = (len(names), *get["expert_mu"].shape)
    whole = len(arrays) == len(_CHOICE)
    if not whole or arrays["candidates"].shape != shape or len(taken) != shape[1]:
        raise InvalidInput("its choice of rewards is incomplete")
    if HISTOGRAM not in names or not set(taken) <= set(names) or not set(names) <= set(_ORIGINS):
        raise InvalidInput(f"its rewards must be some of {', '.join(_ORIGINS)}")
    return RewardChoice(
        weights=arrays["weights"],
        taken=taken,
        names=names,
        candidates=arrays["candidates"],
        gaps=arrays["gaps"],
        errors=arrays["errors"],
        as_good=arrays["as_good"].astype(np.bool_),
        policy_gaps=arrays["policy_gaps"],
        alternatives=arrays["alternatives"],
        without_margin=arrays["without_margin"].astype(np.bool_),
    )


def _attempts(attributes: Mapping[str, Any]) -> tuple[Attempt, ...]:
    """What was tried, as a file tells it; none in files of before 0.3.0."""
    if "attempts" not in attributes:
        return ()
    try:
        return tuple(
            Attempt(
                int(row["experiment"]),
                str(row["learner"]),
                float(row["gap"]),
                None if row["passed"] is None else bool(row["passed"]),
                int(row["rollouts"]),
            )
            for row in json_of(attributes, "attempts")
        )
    except (KeyError, TypeError, ValueError) as reason:
        raise InvalidInput(f"its attempts are not as they must be ({reason})") from None


def _arrays(dataset: "xarray.Dataset") -> dict[str, NDArray[Any]]:
    """The variables of a fit's file; raises InvalidInput if their axes are not as they must be."""
    for name in ("weights", "mu", "next_weights", "expert_mu"):
        if name in dataset and not np.isfinite(dataset[name].values).all():
            raise InvalidInput(f"its variable {name!r} must be finite numbers")
    for name, axes in _AXES.items():
        if name not in dataset and name not in OPTIONAL:
            raise InvalidInput(f"its variable {name!r} is missing")
        if name in dataset and dataset[name].dims != axes:
            raise InvalidInput(f"the axes of {name!r} must be {axes}, got {dataset[name].dims}")
    for key, array in dataset.data_vars.items():
        name = str(key)
        beginning = _AXES["distance"] if name.startswith((POLICY, DIAGNOSTIC)) else ()
        beginning = ("experiment",) if name.startswith((_MEMORY, TAKEOVER)) else beginning
        if array.dims[: len(beginning)] != beginning:
            raise InvalidInput(f"the first axes of {name!r} must be {beginning}, got {array.dims}")
    count = dataset.sizes["iteration"]
    if not count or not dataset.sizes["experiment"] or dataset.sizes["policy_iteration"] != count:
        raise InvalidInput(f"it must have iterations and experiments, got {dict(dataset.sizes)}")
    chosen = (
        dataset["choice_iteration"].values if "choice_iteration" in dataset else np.zeros(1, int)
    )
    if chosen.dtype.kind not in "iu" or not ((chosen >= 0) & (chosen < count)).all():
        raise InvalidInput(f"its chosen iterations must be whole numbers from 0 to {count - 1}")
    return {str(name): np.ascontiguousarray(a.values) for name, a in dataset.data_vars.items()}


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    """A fit's settings; raises InvalidInput if what others need is missing or of another kind."""
    check_discount(settings.get("discount", math.nan))
    if settings.get("steps") is not None:
        check_integer("its setting 'steps'", settings["steps"], 0)
    missing = {"at_once", "first_reward", "steps"} - set(settings)
    if missing:
        raise InvalidInput(f"its settings lack {', '.join(sorted(missing))}")
    return settings
