"""`swarmdp.fit`: Algorithm 1 with Algorithm 2 inside, from a demo to a reward and a policy."""

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from swarmdp.fitting.resampled import rewards_of_demos, rewards_of_resampled_demos
from swarmdp.fitting.rewards import choose_rewards
from swarmdp.fitting.settings import FitSettings
from swarmdp.fitting.setup import Setup, is_opaque, set_up
from swarmdp.fitting.takeover import PLANNED, RACE, judge_and_take_over, taken_over
from swarmdp.irl import search
from swarmdp.irl.algorithm import Iteration, generic_irl, last_counting
from swarmdp.irl.demos import Demo, plain
from swarmdp.irl.inference import Explanation, explain
from swarmdp.irl.result import Result
from swarmdp.irl.steps import Steps
from swarmdp.judging.causes import CUE
from swarmdp.judging.judge import announce
from swarmdp.judging.price import price_in_words
from swarmdp.learning.equilibrium import AGENTS_EACH, equilibrium_gap
from swarmdp.learning.heterogeneous import Snapshot
from swarmdp.learning.local_model import dense_bytes
from swarmdp.model.features import Classes
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.system import System, name_of
from swarmdp.model.traits import NamesSolutions, Replaying, settings_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Interface, LocalPolicy, TablePolicy
from swarmdp.policies.soft import Anchoring
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput, SwarmdpWarning
from swarmdp.support.progress import Tell, shown
from swarmdp.support.ranges import Seed

CHECKPOINT_SECONDS = 5.0  # of work that a kill may cost
RESPONSE_BYTES = 2**27  # bytes of P(o' | o, a), with which a best response is planned
DEVIATING, MOST_PAIRS = 600, 30  # agents that show what one gains by deviating; pairs of runs
LEAST_PAIRS = 10  # of runs, which show the spread
CONSTANT = 1e-9  # of the largest weight: a range that is none
CANDIDATES = 8  # policies that are rolled out again

log = logging.getLogger(__name__)

Watch = Callable[[Iteration], None]
WatchLearning = Callable[[Snapshot], None]


class FitInterrupted(KeyboardInterrupt):
    """The user interrupted a fit; `result` holds the iterations that were done.

    Examples
    --------
    >>> import swarmdp
    >>> issubclass(swarmdp.fitting.FitInterrupted, KeyboardInterrupt)
    True

    """

    def __init__(self, result: Result) -> None:
        super().__init__("interrupted")
        self.result = result


@checked(skip=("demo", "changes"))
def fit(
    system: System,
    demo: Demo,
    *,
    seed: Seed,
    settings: FitSettings | None = None,
    threads: int | None = None,
    progress: bool | Tell | None = None,
    watch: Watch | None = None,
    watch_learning: WatchLearning | None = None,
    resume: Result | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **changes: Any,
) -> Result:
    """Learn the local reward behind a demo, and a local policy that reproduces it.

    Parameters
    ----------
    system
        The swarm that was recorded, without reward and policy.
    demo
        A trajectory of the expert. It needs no actions, unless the reward update does. Feature
        expectations (d,) or (runs, d) will do in its place, for updates that need no more. For a
        swarm made from a recording, its decisions, such as `decisions.train`.
    seed
        Same seed, same result.
    settings
        The options of the fit, see `swarmdp.fitting.FitSettings`; the defaults if not given.
    threads
        All cores by default.
    progress
        A bar on a terminal or in a notebook by default; False for none, or a function of (done,
        total, text).
    watch
        Called with every `Iteration`: reward, policy, mu, margin, distance.
    watch_learning
        Called with every `Snapshot` of a learning swarm.
    resume
        An earlier result to go on with, to the same bits as one long fit.
    checkpoint
        A folder in which the result so far is saved every few seconds and at the end, whatever
        ends it.
    changes
        Options by name, instead of those in `settings`: update, learner, iterations, discount,
        estimator, preset, separate, first_reward, initial, interpolate, mirror, search,
        evaluations, tolerance, resamples, anchor, actions, policy_search, reward, judge.
        `swarmdp.fitting.FitSettings` explains them.

    Returns
    -------
    Result
        Reward, policy, verdict, and the way to them. It can be saved, plotted and exported.

    Raises
    ------
    InvalidInput
        If the demo is not of this system, the update needs actions that it does not have, or an
        option is not as `swarmdp.fitting.FitSettings` says.
    NotEnoughMemory
        If the fit would not fit into memory; this is asked before it starts.
    SolverError
        If the reward update finds no solution.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, iterations=2, judge=False)
    >>> result.policy.table.shape
    (1, 9)

    """
    options = (settings or FitSettings()).with_changes(**changes)
    fitting = Fit(system, demo, options, seed, threads)
    result = drive(fitting, progress, watch, watch_learning, resume, checkpoint)
    announce(result.verdicts)
    _warn_of_constant_rewards(result)
    return result


def drive(
    fitting: "Fit",
    progress: bool | Tell | None = None,
    watch: Watch | None = None,
    watch_learning: WatchLearning | None = None,
    resume: Result | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Result:
    """All of a fit, as `swarmdp.fit` does it, but for its warnings."""
    options = fitting.settings
    result = _driven(fitting, progress, watch, watch_learning, resume, checkpoint)
    try:
        if options.anchor is not None:
            result = fitting.with_anchor(result)
        planned: Sequence[LocalPolicy] = ()
        if fitting.setup.compares_rewards:
            log.info("planning again for the best rewards")
            result, planned = fitting.with_reward(result)
        if options.judge:
            log.info("judging the learned swarm")
            result = fitting.judged(result, progress, planned)
        if options.resamples:
            log.info("fitting %d resampled demos", options.resamples)
            rewards = fitting.resampled_rewards(result, options.resamples, progress)
            result = replace(result, resamples=rewards)
    except KeyboardInterrupt:
        raise FitInterrupted(result) from None
    finally:
        if checkpoint is not None:
            result.save(checkpoint)
    return result


def _pairs_of_runs(agents: int, experiments: int) -> int:
    """Pairs of runs in which some agents deviate: fewer where many do in each of them."""
    pairs = DEVIATING // max(1, agents // AGENTS_EACH)
    return max(LEAST_PAIRS, min(MOST_PAIRS if experiments == 1 else MOST_PAIRS // 2, pairs))


def _warn_of_constant_rewards(result: Result) -> None:
    """Warn of a reward that is the same everywhere: mwal begins with one, and may return it."""
    weights = result.reward.weights
    constant = np.ptp(weights, axis=1) <= CONSTANT * np.abs(weights).max(axis=1)
    if constant.any() and weights.shape[1] > 1:
        warnings.warn(
            f"the reward of {constant.sum()} of {len(weights)} experiments is the same for all "
            "observations, so that every policy is optimal for it: it explains nothing. Take "
            'another update, such as max_margin, or reward="replanned"',
            SwarmdpWarning,
            stacklevel=3,
        )


def _driven(
    fitting: "Fit",
    progress: bool | Tell | None,
    watch: Watch | None,
    watch_learning: WatchLearning | None,
    resume: Result | None,
    checkpoint: str | os.PathLike[str] | None,
) -> Result:
    """Drive a fit to its end, saving and showing how far it is; an interrupt loses nothing."""
    done = [] if resume is None else fitting.earlier(resume)
    saved, iterations = time.monotonic(), fitting.settings.iterations
    try:
        with shown(progress, f"learning the reward of {name_of(fitting.system)}") as tell:
            for iteration in fitting.iterate(done, watch_learning):
                if done:
                    done[-1].memory.clear()
                done.append(iteration)
                if log.isEnabledFor(logging.INFO):
                    log.info("iteration %d: %s", len(done), fitting.summary(done))
                if checkpoint is not None and time.monotonic() >= saved + CHECKPOINT_SECONDS:
                    fitting.so_far(done).save(checkpoint)
                    saved = time.monotonic()
                if watch is not None:
                    watch(iteration)
                if tell is not None:
                    tell(len(done), iterations + 1, fitting.summary(done))
            if tell is not None:
                tell(iterations, iterations + 1, "choosing the policy")
            result = fitting.result(done)
            if tell is not None:
                tell(iterations + 1, iterations + 1, fitting.summary(done))
            return result
    except KeyboardInterrupt:
        if done:
            raise FitInterrupted(fitting.so_far(done)) from None
        raise
    finally:
        if checkpoint is not None and done:
            fitting.so_far(done).save(checkpoint)


@checked(nan=True, skip=("demo", "changes"))
@dataclass(frozen=True, eq=False)
class Fit:
    """A fit that can be driven step by step: `Fit.of(...)`, then `iterate`, then `result`.

    Parameters
    ----------
    system
        The swarm that was recorded.
    demo
        A trajectory of the expert, or what else `swarmdp.fit` takes in its place.
    settings
        The options of the fit.
    seed
        Same seed, same result.
    threads
        The number of threads; None for all cores.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> fit = swarmdp.fitting.Fit.of(ising, demo, seed=1, iterations=3)
    >>> done = []
    >>> for iteration in fit.iterate():
    ...     done.append(iteration)
    ...
    >>> len(done)
    3

    """

    system: System
    demo: Demo
    settings: FitSettings
    seed: Seed
    threads: int | None = None

    @classmethod
    def of(
        cls,
        system: System,
        demo: Demo,
        *,
        seed: Seed,
        settings: FitSettings | None = None,
        threads: int | None = None,
        **changes: Any,
    ) -> "Fit":
        """A fit with the arguments of `swarmdp.fit`, which explains them; all are checked now."""
        options = (settings or FitSettings()).with_changes(**changes)
        fitting = cls(system, demo, options, seed, threads)
        fitting.setup  # noqa: B018, which reads the demo
        return fitting

    @cached_property
    def setup(self) -> Setup:
        """The demo, read, and all defaults, filled in; raises InvalidInput if that cannot be."""
        return set_up(self.system, self.demo, self.settings, self.seed, self.threads)

    def explanation(self, experiment: int, demo: Trajectory) -> Explanation | None:
        """Which actions led to what the demo of an experiment shows; None if it cannot be asked.

        Found once, for the reward of decisions, clones and verdicts. Those of a batch are not kept,
        since they are large.
        """
        if experiment in self._explanations:
            return self._explanations[experiment]
        found = explain(
            self.setup.recorded,
            demo,
            symmetry=self.setup.problem.symmetry,
            seed=derived_seed(self.seed, Part.EXPLAINING, experiment),
        )
        if len(self.setup.problem.expert.mu) == 1:
            self._explanations[experiment] = found
        return found

    @cached_property
    def _explanations(self) -> dict[int, Explanation | None]:
        return {}

    @cached_property
    def memory(self) -> dict[str, Floats]:
        """What was computed once and serves other demos of the same fit, too."""
        return {}

    def iterate(
        self, done: Sequence[Iteration] = (), watch_learning: WatchLearning | None = None
    ) -> Iterator[Iteration]:
        """Algorithm 1: the iterations that follow those already done, one by one."""
        tolerance, finished = self.settings.tolerance, None
        steps = Steps(lambda: self.setup.problem, done, watch_learning)
        if done:
            finished = np.any([iteration.margin <= tolerance for iteration in done], axis=0)
            if finished.all() or steps.are_settled(len(done)):
                return
        iterations = generic_irl(
            expert_data=steps.expert_data,
            initialization=steps.first_reward,
            policy_update=steps.policy_update,
            value_estimation=steps.value_estimation,
            reward_update=steps.reward_update,
            next_reward=steps.next_reward,
            iterations=self.settings.iterations,
            tolerance=tolerance,
            finished=finished,
        )
        for number, iteration in enumerate(iterations, len(done) + 1):
            yield iteration
            if steps.are_settled(number):
                return

    def result(self, done: Sequence[Iteration]) -> Result:
        """What these iterations led to, chosen among the nearest by fresh roll-outs."""
        result, problem = self.so_far(done), self.setup.problem
        if problem.evaluations is None or problem.search == "newest" or problem.horizon is None:
            return result
        last = np.arange(len(done))[:, None] > result.ended
        # The nearest may be one policy, learned many times: it would race against itself.
        left_out = last | search.repeated(result.history.mu)
        choice = search.race(
            problem.system,
            [iteration.policy for iteration in done],
            result.history.weights,
            np.where(left_out, np.inf, result.history.distance),
            expert=problem.expert.mu,
            profile=self.setup.profile,
            discount=problem.discount,
            estimator=problem.estimator,
            steps=problem.horizon,
            runs=RACE * problem.evaluations,
            candidates=min(CANDIDATES, int(result.ended.min()) + 1),
            seed=derived_seed(self.seed, Part.RACING),
            even=problem.even,
            threads=self.threads,
        )
        return self.so_far(done, choice)

    def so_far(self, done: Sequence[Iteration], choice: search.Choice | None = None) -> Result:
        """What these iterations led to, without another roll-out."""
        if not done:
            raise InvalidInput("a result needs at least one iteration, got none")
        system, expert = self.setup.problem.system, self.setup.problem.expert
        result = Result(
            tuple(done),
            expert.mu,
            expert.error,
            system.features.blocks,
            self.settings.tolerance,
            name_of(system),
            settings_of(system),
            self.setup.description,
            self.seed,
            interface=Interface.of(system),
            choice=choice,
        )
        return self._named(result)

    def summary(self, done: Sequence[Iteration]) -> str:
        """How far it is, in one line: smallest distance and margin, means over experiments."""
        if not done:
            raise InvalidInput("a summary needs at least one iteration, got none")
        gaps = np.stack([iteration.distance for iteration in done])
        margins = np.stack([iteration.margin for iteration in done])
        last = last_counting(margins, self.settings.tolerance)
        gaps[np.arange(len(done))[:, None] > last] = np.inf
        left = margins[last, np.arange(len(last))]
        return (
            f"iteration {len(done)} of {self.settings.iterations}  "
            f"distance {gaps.min(axis=0).mean():.3f}  margin {left.mean():.3f}"
        )

    def earlier(self, result: Result) -> list[Iteration]:
        """The iterations of an earlier result; raises InvalidInput if it is of another fit."""
        if not isinstance(result, Result):
            raise InvalidInput(
                f"resume must be a result of swarmdp.fit, got {type(result).__name__}: read a "
                "saved one with swarmdp.load"
            )
        system = self.setup.problem.system
        name, here = name_of(system), plain(settings_of(system))
        if (result.system_name, plain(result.system_settings)) != (name, here):
            raise InvalidInput(
                f"cannot resume: the earlier fit was of {result.system_name} "
                f"{dict(result.system_settings)}, this one is of {name} {here}"
            )
        for key, value in self.setup.description.items():
            if plain(result.settings.get(key)) != plain(value):
                raise InvalidInput(
                    f"cannot resume: the earlier fit had {key} = {result.settings.get(key)}, "
                    f"this one has {value}"
                )
            if is_opaque(value):
                raise InvalidInput(
                    f"cannot resume: the settings of the {key} {value['kind']} are not known, so "
                    "that it could be another one than before. Make it a frozen dataclass with a "
                    "method __call__, or a function of a module"
                )
        if result.seed != self.seed:
            raise InvalidInput(
                f"cannot resume: the earlier fit had seed {result.seed}, not {self.seed}"
            )
        if not np.array_equal(result.expert_mu, self.setup.problem.expert.mu):
            raise InvalidInput("cannot resume: the earlier fit was made from another demo")
        kept = list(result.iterations[: self.settings.iterations])
        if kept:
            kept[-1] = replace(kept[-1], memory=dict(kept[-1].memory))
        return kept

    def with_anchor(self, result: Result) -> Result:
        """The result with a clone mixed into its policy, as the option `anchor` says."""
        recorded, anchor = self.setup.recorded, self.settings.anchor
        assert isinstance(recorded, Anchoring)
        assert anchor is not None
        policy = recorded.anchored(result.mixture, anchor)
        settings = {**result.settings, "anchor": anchor}
        return replace(result, anchored=policy.probabilities, settings=settings)

    def resampled_rewards(
        self, result: Result, resamples: int, progress: bool | Tell | None = None
    ) -> Floats:
        """The rewards (K, R, d) learned from K resampled demos, all as one batch."""
        return rewards_of_resampled_demos(self, result, resamples, progress)

    def rewards_of_demos(
        self, result: Result, demos: Sequence[Trajectory], progress: bool | Tell | None = None
    ) -> Floats:
        """The rewards (K, d) of K other demos of one experiment, all as one batch.

        They are scaled as the reward of the result is. The fit is the same in all else.
        """
        return rewards_of_demos(self, result, demos, progress)

    def with_reward(self, result: Result) -> tuple[Result, Sequence[LocalPolicy]]:
        """The result with the reward for which planning again comes nearest to the demo.

        And the policies that were planned for it, one for each experiment. Where values are exact,
        these are the result's policies if they are nearer.
        """
        choice, planned = choose_rewards(self, result)
        if choice is None:
            return result, planned
        settings = {**result.settings, "reward": "replanned" if planned else "decisions"}
        result = replace(result, reward_choice=choice, settings=settings)
        exact = self.setup.problem.evaluations is None and self.settings.policy_search is not False
        if exact and (choice.gap < choice.policy_gaps).all():
            result = self._named(taken_over(self, result, planned, [PLANNED] * len(planned)))
        return result, planned

    def judged(
        self,
        result: Result,
        progress: bool | Tell | None = None,
        planned: Sequence[LocalPolicy] = (),
    ) -> Result:
        """The result with verdicts, and with other learners' policies where they took over.

        The result as it is if it cannot be judged. Policies that were `planned` for the reward are
        the first to take over.
        """
        demo, recorded = self.setup.demo, self.setup.recorded
        if demo is None or demo.steps < 2:
            return result
        judged = self._named(judge_and_take_over(self, result, progress, planned))
        judged = self._with_price(judged, demo)
        system = self.setup.problem.system
        slow = isinstance(recorded, Replaying) or demo.of_recording
        classes = system.features.size if isinstance(system.features, Classes) else 0
        large = dense_bytes(classes, len(system.actions)) > RESPONSE_BYTES
        if slow or large or not classes or recorded.n_agents == 1:
            return judged
        gap = equilibrium_gap(
            system,
            judged.policy,
            judged.reward,
            discount=self.setup.problem.discount,
            seed=derived_seed(self.seed, Part.DEVIATING),
            runs=_pairs_of_runs(recorded.n_agents, judged.experiments),
        )
        return replace(judged, equilibrium_gap=gap)

    def _with_price(self, result: Result, demo: Trajectory) -> Result:
        """The result whose verdict tells the price of locality, where agents follow a cue."""
        verdicts, recorded = result.verdicts, self.setup.recorded
        led = any(text.endswith(CUE) for text in verdicts[0].advice)
        if len(verdicts) > 1 or not led or demo.of_recording or isinstance(recorded, Replaying):
            return result
        seed = derived_seed(self.seed, Part.JUDGING, 1)
        note = price_in_words(recorded, demo, result, seed=seed)
        return replace(result, verdicts=(verdicts[0].noted(note),))

    def _named(self, result: Result) -> Result:
        """The result with what the system calls its policies."""
        system, policy = self.setup.problem.system, result.policy
        if not isinstance(system, NamesSolutions) or not isinstance(policy, TablePolicy):
            return result
        seen = self.setup.problem.expert.mu > 0
        return replace(result, solutions=tuple(system.solutions(policy.table, seen)))
