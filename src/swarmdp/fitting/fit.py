"""`swarmdp.fit`: Algorithm 1 with Algorithm 2 inside, from a demo to a reward and a policy."""

import inspect
import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl import expectations
from swarmdp.irl import search as searching
from swarmdp.irl.algorithm import (
    Initialization,
    Iteration,
    Value,
    generic_irl,
    initial_reward,
    last_counting,
    one_for_each,
    random_reward,
)
from swarmdp.irl.cloning import cloned
from swarmdp.irl.demos import Demo, Expert, ReadDemo, expert_of, plain, read_demo
from swarmdp.irl.resampling import alike, experts_of, one_in_each_block, other_demos, profile_of
from swarmdp.irl.result import Result
from swarmdp.irl.updates.evidence import (
    Evidence,
    RewardUpdate,
    Starting,
    Update,
    completed,
    own_start,
    wants_of,
)
from swarmdp.irl.updates.registry import name_of_update, named, needing_no
from swarmdp.judging.discounts import suggested_discount
from swarmdp.judging.judge import announce, verdicts_of
from swarmdp.learning.heterogeneous import (
    Snapshot,
    default_learning,
    described_size,
    paper_learning,
)
from swarmdp.learning.local_kernel import local_kernel
from swarmdp.learning.local_model import dense_bytes
from swarmdp.learning.planning import Planning, kernel_of
from swarmdp.model.adapted import Start, starting_from
from swarmdp.model.features import Classes
from swarmdp.model.rewards import Reward
from swarmdp.model.streams import derived_seed
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, check_is_system, feature_count, name_of
from swarmdp.model.traits import NamesSolutions, settings_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.model.verdict import Verdict
from swarmdp.policies import Interface, InterpolatedPolicy, LocalPolicy, Policy, TablePolicy
from swarmdp.policies.interpolated import check_interpolates
from swarmdp.policies.learner import Learned, Learner, Mirroring, Remembering, Wants
from swarmdp.policies.soft import Anchoring
from swarmdp.simulation.visits import Starts
from swarmdp.support.arguments import checked
from swarmdp.support.checks import (
    check_between,
    check_boolean,
    check_discount,
    check_integer,
    check_number,
    check_seed,
)
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory
from swarmdp.support.progress import Tell, shown
from swarmdp.support.threads import one_blas_thread
from swarmdp.systems.finite import exact_model

LEARNING, EVALUATION, START = 1, 2, 3  # parts of a fit with random numbers of their own
SURROUNDINGS, RACING, RESTARTS, JUDGING, OTHERS = 5, 6, 7, 8, 9  # others; 4 are reward updates
log = logging.getLogger(__name__)

ENOUGH_AGENTS = 1000  # whose experience estimates the value of a policy, unless told otherwise
LEAST_EVALUATIONS = 4  # of a policy, so that their spread is known
CHECKPOINT_SECONDS = 5.0  # of work that a kill may cost
FRESH = 4  # every so many policy updates one starts from nothing
CANDIDATES, RACE = 8, 4  # policies that are rolled out again, and how many times as often

OWN = (
    "initial",
    "demo",
    "update",
    "discount",
    "tolerance",
    "anchor",
)  # `Fit.of` has more to say of these

Watch = Callable[[Iteration], None]
WatchLearning = Callable[[Snapshot], None]


class FitInterrupted(KeyboardInterrupt):
    """The user interrupted a fit; `result` holds the iterations that were done."""

    def __init__(self, result: Result) -> None:
        super().__init__("interrupted")
        self.result = result


@checked(own=OWN)
def fit(
    system: System,
    demo: Demo,
    *,
    seed: int,
    estimator: expectations.Estimator = "swarm",
    update: str | RewardUpdate = "max_margin",
    learner: Learner | None = None,
    iterations: int = 20,
    discount: float | Literal["auto"] = 0.9,
    preset: Literal["paper"] | None = None,
    separate: bool = False,
    start: Literal["expert", "random"] | None = None,
    initial: Start | None = None,
    interpolate: bool = False,
    mirror: bool | None = None,
    search: Literal["alternating", "newest"] | None = None,
    evaluations: int | None = None,
    tolerance: float = 1e-6,
    restarts: int = 0,
    anchor: float | Literal["auto"] | None = None,
    judge: bool = True,
    threads: int | None = None,
    progress: bool | Tell | None = None,
    watch: Watch | None = None,
    watch_learning: WatchLearning | None = None,
    resume: Result | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
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
    estimator
        The paper's: feature expectations from the whole "swarm", or from a "single" agent.
    update
        The reward update: a name (see docs/updates.md), or your own function from
        `swarmdp.updates.Evidence` to `swarmdp.updates.Update`.
    learner
        The policy update, the most reliable one by default. For a FiniteMDP or Gridworld it is
        exact planning, and values are exact as well, unless `evaluations` are asked for.
    iterations
        Of Algorithm 1, at most.
    discount
        The discount factor gamma; "auto" takes the one that the demo's own time scale suggests (see
        `swarmdp.judging.suggested_discount`).
    preset
        "paper" follows the paper; docs/learning.md lists what it leaves open.
    separate
        Pools the runs of the demo into one estimate if False. If True each run is an independent
        experiment, all done as one batch whose results carry a leading axis of experiments.
    start
        The first reward: what the "expert" does often (the default, unless the update has a start
        of its own), or "random".
    initial
        Where swarms start while they learn and are evaluated, instead of `system.initial`: a state,
        or a trajectory whose frames are drawn (see `swarmdp.rollout`).
    interpolate
        If True the policies' actions lie between the listed ones, as a continuous function of the
        observation (see `swarmdp.policies.InterpolatedPolicy`).
    mirror
        Whether every experience counts also mirrored, so that policies are odd and rewards even:
        by default if the system declares a mirror, and not with preset="paper".
    search
        Which reward is tried next: "newest" is what the update gives, as in the paper;
        "alternating" goes back to the best reward so far every other time, and ends with fresh
        roll-outs of the nearest policies. The default is "alternating" for updates that allow it.
    evaluations
        The number of roll-outs that estimate a policy's value: about 1000 agents by default, one
        roll-out in the paper.
    tolerance
        An experiment ends early when its margin falls to this.
    restarts
        The number of fits of resampled demos that give `result.reward_error`: runs drawn from the
        demo, or where it has fewer than five, runs of the learned swarm. Each takes as long as the
        fit; 8 are enough for error bars.
    anchor
        For a swarm made from a recording: mixes a clone of the recorded turns into what was learned
        (`result.mixture`), so that single turns stay plausible. The weight of what was learned,
        from 0 (the clone) to 1, or "auto" (see `Swarm.anchored`). `result.policy` is then
        this controller; the history has the policies as they were learned, the reward is the same.
    judge
        Whether to ask at the end if the learned swarm does what the demo did (the quick form of
        `swarmdp.judge`): the answer is `result.verdict`, and a warning if it is no. Feature
        expectations and single agents are not judged.
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

    Returns
    -------
    Result
        Reward, policy, verdict, and the way to them. It can be saved, plotted and exported.

    Raises
    ------
    InvalidInput
        If the demo is not of this system, the update needs actions that it does not have, or an
        argument is not as named above.
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
    fitting = Fit.of(
        system,
        demo,
        seed=seed,
        estimator=estimator,
        update=update,
        learner=learner,
        iterations=iterations,
        discount=discount,
        preset=preset,
        separate=separate,
        start=start,
        initial=initial,
        interpolate=interpolate,
        mirror=mirror,
        search=search,
        evaluations=evaluations,
        tolerance=tolerance,
        threads=threads,
    )
    check_boolean("judge", judge)
    fitting.check_restarts(restarts)
    fitting.check_anchor(anchor)
    found = _driven(fitting, progress, watch, watch_learning, resume, checkpoint)
    try:
        if anchor is not None:
            found = fitting.with_anchor(found, anchor)
        if judge:
            log.info("judging the learned swarm")
            found = replace(found, verdicts=fitting.judged(found, progress))
        if restarts:
            log.info("fitting %d resampled demos", restarts)
            found = replace(found, restarts=fitting.repeated(found, int(restarts), progress))
    except KeyboardInterrupt:
        raise FitInterrupted(found) from None
    finally:
        if checkpoint is not None:
            found.save(checkpoint)
    announce(found.verdicts)
    return found


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
    saved = time.monotonic()
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
                    tell(len(done), fitting.iterations + 1, fitting.summary(done))
            if tell is not None:
                tell(fitting.iterations, fitting.iterations + 1, "choosing the policy")
            found = fitting.result(done)
            if tell is not None:
                tell(fitting.iterations + 1, fitting.iterations + 1, fitting.summary(done))
            return found
    except KeyboardInterrupt:
        if done:
            raise FitInterrupted(fitting.so_far(done)) from None
        raise
    finally:
        if checkpoint is not None and done:
            fitting.so_far(done).save(checkpoint)


@checked(nan=True, own=OWN)
@dataclass(frozen=True, eq=False)
class Fit:
    """A fit that can be driven step by step: `Fit.of(...)`, then `iterate`, then `result`.

    Parameters
    ----------
    system
        The swarm in which policies are learned and evaluated.
    expert
        What is known of the expert.
    update
        The reward update.
    wants
        What the update asks for.
    learner
        The policy update.
    estimator
        "swarm" or "single".
    discount
        The discount factor gamma.
    start
        The first reward.
    evaluations
        The number of roll-outs that estimate a policy's value; None where values are exact.
    steps
        Of such a roll-out.
    iterations
        Of Algorithm 1, at most.
    tolerance
        An experiment ends when its margin falls to this.
    interpolate
        Whether actions lie between the listed ones.
    symmetry
        The mirror, where one is used.
    search
        Which reward is tried next.
    profile
        (R, spans * d): the demo's features over time.
    demo
        The demo; None if the expert is known by its feature expectations only.
    recorded
        The system of which the demo is: its starts may differ.
    separate
        Whether each run of the demo is an experiment of its own.
    seed
        Same seed, same result.
    threads
        The number of threads; None for all cores.
    settings
        Plain data that tells this fit from others.

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
    expert: Expert
    update: RewardUpdate
    wants: Wants
    learner: Learner
    estimator: expectations.Estimator
    discount: float
    start: Literal["expert", "random"] | None
    evaluations: int | None
    steps: int | None
    iterations: int
    tolerance: float
    interpolate: bool
    symmetry: Symmetry | None
    search: Literal["alternating", "newest"]
    profile: NDArray[np.float64] | None
    demo: Trajectory | None
    recorded: System
    separate: bool
    seed: int
    threads: int | None
    settings: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        system: System,
        demo: Demo,
        *,
        seed: int,
        estimator: expectations.Estimator = "swarm",
        update: str | RewardUpdate = "max_margin",
        learner: Learner | None = None,
        iterations: int = 20,
        discount: float | Literal["auto"] = 0.9,
        preset: Literal["paper"] | None = None,
        separate: bool = False,
        start: Literal["expert", "random"] | None = None,
        initial: Start | None = None,
        interpolate: bool = False,
        mirror: bool | None = None,
        search: Literal["alternating", "newest"] | None = None,
        evaluations: int | None = None,
        tolerance: float = 1e-6,
        threads: int | None = None,
    ) -> "Fit":
        """Check the arguments of `swarmdp.fit`, which explains them, and fill in the defaults."""
        check_is_system(system)
        check_seed(seed)
        chosen = named(update)
        wants = wants_of(chosen)
        _check_choices(preset, start, iterations, evaluations, learner)
        check_number("tolerance", tolerance, positive=False)
        expectations.check_estimator(estimator)
        shown = read_demo(system, demo)
        discount = _discount(system, shown, discount)
        recorded, system = system, starting_from(system, initial)
        _check_interpolation(system, interpolate, wants)
        finite = exact_model(system) is not None
        if preset == "paper":
            learner, evaluations = paper_learning(), 1
        learner = learner or (Planning() if finite else default_learning())
        _check_learner(learner)
        symmetry = _symmetry(system, learner, mirror, preset)
        even = np.asarray if symmetry is None else symmetry.even
        expert = expert_of(
            recorded,
            shown,
            discount=discount,
            estimator=estimator,
            wants=wants,
            separate=separate,
            even=even,
        )
        profile = None
        if isinstance(shown, Trajectory):
            profile = profile_of(recorded, shown, estimator, even, discount)
            if profile is not None and not separate:
                profile = profile.mean(axis=0, keepdims=True)
        if symmetry is not None:
            wants = replace(wants, mirror=True)
            expert = _mirrored_pairs(expert, symmetry)
        if search is None:
            free = wants.any_policies and preset is None and not (finite and evaluations is None)
            search = "alternating" if free else "newest"
        if evaluations is None and not finite:
            enough = max(LEAST_EVALUATIONS, -(-ENOUGH_AGENTS // system.n_agents))
            evaluations = 1 if estimator == "single" else enough
        _check_memory(system, len(expert.mu), wants, iterations, evaluations)
        steps = expert.steps
        if steps is None and evaluations is not None:
            steps = expectations.steps_for(discount, expectations.SHORT_TAIL)
        own = start is None and (wants.at_once or isinstance(chosen, Starting))
        settings = {
            "estimator": estimator,
            "update": name_of_update(chosen) or _described(chosen),
            "learner": _described(learner),
            "discount": float(discount),
            "preset": preset,
            "separate": separate,
            "at_once": wants.at_once,
            "start": start or ("own" if own else "expert"),
            "interpolate": interpolate,
            "mirror": symmetry is not None,
            "search": search,
            "evaluations": None if evaluations is None else int(evaluations),
            "steps": steps,
            "truncation": 0.0 if steps is None else expectations.truncation(discount, steps),
        }
        if expert.actions is not None:
            settings["actions"] = expert.actions
        _check_plain(settings, settings_of(system))
        return cls(
            system,
            expert,
            chosen,
            wants,
            learner,
            estimator,
            discount,
            start,
            evaluations,
            steps,
            int(iterations),
            float(tolerance),
            interpolate,
            symmetry,
            search,
            profile,
            shown if isinstance(shown, Trajectory) else None,
            recorded,
            separate,
            seed,
            threads,
            settings,
        )

    def iterate(
        self, done: Sequence[Iteration] = (), watch_learning: WatchLearning | None = None
    ) -> Iterator[Iteration]:
        """Algorithm 1: the iterations that follow those already done, one by one."""
        done = tuple(done)
        finished = np.zeros(len(self.expert.mu), np.bool_)
        for iteration in done:
            finished |= iteration.margin <= self.tolerance
        if finished.all():
            return
        evidence, iterations = self._evidence(), self.iterations
        update: RewardUpdate = self._update
        first: Initialization = self._first_reward
        if self.wants.at_once:
            answer = completed(update(evidence), evidence)
            update = _always(answer)
            if self.start is None:
                first = _always_reward(answer)
            if evidence.exact:
                # Every attempt at the answer's policy would be the same: one is enough, after the
                # policy of another first reward where one was asked for.
                iterations = min(iterations, 1 if self.start is None else 2)
        if done:
            first = _always_reward(replace(_NOTHING, weights=done[-1].next_weights))
        for iteration in done:
            evidence = evidence.after(iteration.weights, iteration.mu, None, iteration.runs)
        memory = dict(done[-1].memory) if len(done) % FRESH else {}

        def policy_update(reward: Reward, i: int) -> Learned:
            learned = self._policy_update(reward, i, watch_learning, memory)
            memory.clear()
            if isinstance(learned, Learned) and (i + 1) % FRESH:
                memory.update(learned.memory)
            return learned

        known: dict[bytes, Value] = {}
        starts = Starts()

        def value_estimation(policy: LocalPolicy, reward: Reward, i: int) -> Value:
            # The same policies with the same random numbers have the same values.
            if self.search != "alternating" or not isinstance(policy, Policy):
                return self._value_estimation(policy, reward, i, None)
            table = policy.table.tobytes()
            if table not in known:
                known[table] = self._value_estimation(policy, reward, i, starts)
            return known[table]

        yield from generic_irl(
            evidence,
            initialization=first,
            policy_update=policy_update,
            value_estimation=value_estimation,
            reward_update=update,
            next_reward=searching.alternating if self.search == "alternating" else searching.newest,
            iterations=iterations,
            tolerance=self.tolerance,
            finished=finished,
        )

    def result(self, done: Sequence[Iteration]) -> Result:
        """What was found in these iterations, chosen among the nearest by fresh roll-outs."""
        plain = self.so_far(done)
        if self.evaluations is None or self.search == "newest" or self.steps is None:
            return plain
        last = np.arange(len(done))[:, None] > plain.ended
        # The nearest may be one policy, found many times: it would race against itself.
        left_out = last | searching.repeated(plain.history.mu)
        choice = searching.race(
            self.system,
            [iteration.policy for iteration in done],
            plain.history.weights,
            np.where(left_out, np.inf, plain.history.distance),
            expert=self.expert.mu,
            profile=self.profile,
            discount=self.discount,
            estimator=self.estimator,
            steps=self.steps,
            runs=RACE * self.evaluations,
            candidates=min(CANDIDATES, int(plain.ended.min()) + 1),
            seed=derived_seed(self.seed, RACING),
            even=self._even,
            threads=self.threads,
        )
        return self.so_far(done, choice)

    def so_far(self, done: Sequence[Iteration], choice: searching.Choice | None = None) -> Result:
        """What was found in these iterations, without another roll-out."""
        if not done:
            raise InvalidInput("a result needs at least one iteration, got none")
        found = Result(
            tuple(done),
            self.expert.mu,
            self.expert.error,
            self.system.features.blocks,
            self.tolerance,
            name_of(self.system),
            settings_of(self.system),
            self.settings,
            self.seed,
            interface=Interface.of(self.system),
            choice=choice,
        )
        policy = found.policy
        if not isinstance(self.system, NamesSolutions) or not isinstance(policy, TablePolicy):
            return found
        names = self.system.solutions(policy.table, self.expert.mu > 0)
        return replace(found, solutions=tuple(names))

    def summary(self, done: Sequence[Iteration]) -> str:
        """How far it is, in one line: smallest distance and margin, means over experiments."""
        if not done:
            raise InvalidInput("a summary needs at least one iteration, got none")
        gaps = np.stack([iteration.distance for iteration in done])
        margins = np.stack([iteration.margin for iteration in done])
        last = last_counting(margins, self.tolerance)
        gaps[np.arange(len(done))[:, None] > last] = np.inf
        left = margins[last, np.arange(len(last))]
        return (
            f"iteration {len(done)} of {self.iterations}  "
            f"distance {gaps.min(axis=0).mean():.3f}  margin {left.mean():.3f}"
        )

    def earlier(self, result: Result) -> list[Iteration]:
        """The iterations of an earlier result; raises InvalidInput if it is of another fit."""
        if not isinstance(result, Result):
            raise InvalidInput(
                f"resume must be a result of swarmdp.fit, got {type(result).__name__}: read a "
                "saved one with swarmdp.load"
            )
        name, here = name_of(self.system), plain(settings_of(self.system))
        if (result.system_name, plain(result.system_settings)) != (name, here):
            raise InvalidInput(
                f"cannot resume: the earlier fit was of {result.system_name} "
                f"{dict(result.system_settings)}, this one is of {name} {here}"
            )
        for key, wanted in self.settings.items():
            if plain(result.settings.get(key)) != plain(wanted):
                raise InvalidInput(
                    f"cannot resume: the earlier fit had {key} = {result.settings.get(key)}, "
                    f"this one has {wanted}"
                )
            if _is_opaque(wanted):
                raise InvalidInput(
                    f"cannot resume: the settings of the {key} {wanted['kind']} are not known, so "
                    "that it could be another one than before. Make it a frozen dataclass with a "
                    "method __call__, or a function of a module"
                )
        if result.seed != self.seed:
            raise InvalidInput(
                f"cannot resume: the earlier fit had seed {result.seed}, not {self.seed}"
            )
        if not np.array_equal(result.expert_mu, self.expert.mu):
            raise InvalidInput("cannot resume: the earlier fit was made from another demo")
        kept = list(result.iterations[: self.iterations])
        if kept:
            kept[-1] = replace(kept[-1], memory=dict(kept[-1].memory))
        return kept

    def check_restarts(self, restarts: int) -> None:
        """Raise InvalidInput if this fit cannot be repeated with resampled demos."""
        check_integer("restarts", restarts, least=0)
        if restarts == 1:
            raise InvalidInput("restarts must be 0 or at least 2: one has no spread, got 1")
        if restarts and self.demo is None:
            raise InvalidInput(
                "restarts need a recorded demo, which can be resampled: feature expectations cannot"
            )

    def check_anchor(self, anchor: float | Literal["auto"] | None) -> None:
        """Raise InvalidInput if the policies of this fit cannot be anchored with this weight."""
        if anchor is None:
            return
        if isinstance(anchor, str):
            if anchor != "auto":
                raise InvalidInput(f'anchor must be a number from 0 to 1 or "auto", got {anchor!r}')
        else:
            check_between("anchor", anchor, 0.0, 1.0)
        if not isinstance(self.recorded, Anchoring):
            raise InvalidInput(
                f"anchor mixes in the turns of a recording, and {name_of(self.recorded)} was not "
                "made from one: use Swarm.from_recording, or leave anchor out"
            )
        if len(self.expert.mu) > 1 or self.interpolate:
            raise InvalidInput(
                "anchor is for one experiment whose policy is a table: leave separate and "
                "interpolate out"
            )

    def with_anchor(self, found: Result, anchor: float | Literal["auto"]) -> Result:
        """The result with the clone mixed into its policy."""
        self.check_anchor(anchor)
        assert isinstance(self.recorded, Anchoring)
        policy = self.recorded.anchored(found.mixture, anchor)
        settings = {**found.settings, "anchor": anchor}
        return replace(found, anchored=policy.probabilities, settings=settings)

    def repeated(
        self, found: Result, restarts: int, progress: bool | Tell | None = None
    ) -> NDArray[np.float64]:
        """The rewards (K, R, d) learned from as many resampled demos, all as one batch."""
        assert self.demo is not None
        seed = derived_seed(self.seed, RESTARTS)
        policy = replace(found, anchored=None).policy
        expert, profile = other_demos(
            self.recorded,
            self.demo,
            policy,
            copies=restarts,
            separate=self.separate,
            discount=self.discount,
            estimator=self.estimator,
            wants=self.wants,
            even=self._even,
            seed=seed,
            threads=self.threads,
        )
        text = f"repeating the fit with {restarts} resampled demos"
        weights = self._relearned(expert, profile, seed, text, progress)
        return self._like(found, weights.reshape(restarts, *found.expert_mu.shape))

    def learned_from(
        self, found: Result, demos: Sequence[Trajectory], progress: bool | Tell | None = None
    ) -> NDArray[np.float64]:
        """The rewards (K, d) of as many other demos of one experiment, all as one batch.

        They are scaled as the reward that was found is. The fit is the same in all else.
        """
        if len(found.expert_mu) != 1:
            raise InvalidInput(
                f"other demos can be compared with one experiment, got {len(found.expert_mu)}"
            )
        expert, profile = experts_of(
            self.recorded,
            demos,
            discount=self.discount,
            estimator=self.estimator,
            wants=self.wants,
            even=self._even,
        )
        text = f"repeating the fit with {len(demos)} other demos"
        seed = derived_seed(self.seed, OTHERS)
        weights = self._relearned(expert, profile, seed, text, progress)
        return self._like(found, weights[:, None])[:, 0]

    def _like(self, found: Result, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rewards (K, R, d) scaled and shifted as that of the result is."""
        shifts = one_in_each_block(self.system.features)
        return alike(weights, found.reward.weights, found.blocks, shifts)

    def _relearned(
        self,
        expert: Expert,
        profile: NDArray[np.float64] | None,
        seed: int,
        text: str,
        progress: bool | Tell | None,
    ) -> NDArray[np.float64]:
        """The rewards (experiments, d) of the same fit with other expert data."""
        if self.symmetry is not None:
            expert = _mirrored_pairs(expert, self.symmetry)
        again = replace(self, expert=expert, profile=profile, seed=seed)
        done: list[Iteration] = []
        with shown(progress, text) as tell:
            for iteration in again.iterate():
                if done:
                    done[-1].memory.clear()
                done.append(iteration)
                if tell is not None:
                    tell(len(done), self.iterations + 1, again.summary(done))
            if tell is not None:
                tell(self.iterations, self.iterations + 1, "choosing the policies")
            return again.result(done).reward.weights

    def judged(self, found: Result, progress: bool | Tell | None = None) -> tuple[Verdict, ...]:
        """Whether each learned swarm does what its demo did; empty if that cannot be asked."""
        if self.demo is None or self.demo.steps < 2 or self.recorded.n_agents == 1:
            return ()
        return verdicts_of(
            found,
            self.demo,
            system=self.recorded,
            seed=derived_seed(self.seed, JUDGING),
            quick=True,
            progress=progress,
            threads=self.threads,
        )

    def _evidence(self) -> Evidence:
        """What is known before the first policy."""
        features, nothing = self.system.features, np.empty((0, *self.expert.mu.shape))
        classes = features if isinstance(features, Classes) else None
        return Evidence(
            self.expert.mu,
            nothing,
            nothing,
            self.discount,
            0 if classes is None else classes.size,
            len(self.system.actions),
            self.seed,
            None if classes is None else classes.matrix,
            exact=self.evaluations is None and isinstance(self.learner, Planning),
            sampled=self.demo is not None,
            pairs=self.expert.pairs,
            expert_kernel=self._expert_kernel() if self.wants.expert_kernel else None,
        )

    def _first_reward(self, evidence: Evidence) -> Reward:
        """Step 0 of Algorithm 1."""
        if self.start is None and isinstance(self.update, Starting):
            reward = Reward(own_start(self.update, evidence))
        elif self.start == "random":
            reward = random_reward(derived_seed(self.seed, START), evidence.expert.shape)
        else:
            reward = initial_reward(evidence.expert)
        if self.symmetry is None:
            return reward
        return Reward(self.symmetry.even_weights(reward.weights))

    def _policy_update(
        self,
        reward: Reward,
        i: int,
        watch: WatchLearning | None,
        memory: Mapping[str, NDArray[np.float64]],
    ) -> Learned:
        """Step 1 of Algorithm 1."""
        keeps = isinstance(self.learner, Remembering) and self.learner.remembers
        more: dict[str, Any] = {"memory": dict(memory)} if keeps and memory else {}
        learned = self.learner(
            self.system,
            reward,
            discount=self.discount,
            seed=derived_seed(self.seed, LEARNING, i),
            wants=self.wants,
            watch=watch,
            threads=self.threads,
            **more,
        )
        if not self.interpolate:
            return learned
        return _interpolated(self.system, one_for_each(learned, reward.replicas))

    def _value_estimation(
        self, policy: LocalPolicy, reward: Reward, i: int, starts: Starts | None
    ) -> Value:
        """Step 2 of Algorithm 1."""
        if self.evaluations is None:
            return Value(
                self._even(
                    expectations.exact_expectations(
                        self.system, policy, discount=self.discount, steps=self.steps
                    )
                )
            )
        assert self.steps is not None
        runs = expectations.simulated_runs(
            self.system,
            policy,
            discount=self.discount,
            estimator=self.estimator,
            steps=self.steps,
            runs=self.evaluations,
            seed=self._evaluation_seed(i),
            threads=self.threads,
            starts=starts,
        )
        mu = self._even(runs.mean(axis=0))
        return Value(mu, self._even(runs) if len(runs) > 1 else None)

    def _evaluation_seed(self, i: int) -> int:
        """The same random numbers for all policies, so that their values can be compared.

        In the paper each evaluation has its own.
        """
        if self.search == "alternating":
            return derived_seed(self.seed, EVALUATION)
        return derived_seed(self.seed, EVALUATION, i)

    def _even(self, mu: NDArray[np.float64]) -> NDArray[np.float64]:
        """Feature expectations, the same on both sides of the mirror if there is one."""
        return mu if self.symmetry is None else self.symmetry.even(mu)

    def _update(self, evidence: Evidence) -> Update:
        """The reward update, with weights that are the same on both sides of the mirror."""
        with one_blas_thread():
            found = self.update(evidence)
        if self.symmetry is None or not isinstance(found, Update):
            return found  # what is no update, the fit refuses
        weights = self.symmetry.even_weights(np.asarray(found.weights, np.float64))
        return replace(found, weights=weights)

    def _expert_kernel(self) -> NDArray[np.float64]:
        """P(o' | o, a) among agents that do as the expert does, for each experiment."""
        assert self.expert.pairs is not None
        mdp = exact_model(self.system)
        if mdp is not None:
            return kernel_of(mdp, len(self.expert.pairs))
        assert self.steps is not None
        return local_kernel(
            self.system,
            cloned(self.system, self.expert.pairs),
            steps=self.steps,
            seed=derived_seed(self.seed, SURROUNDINGS),
            threads=self.threads,
        )


_NOTHING = Update(np.empty((0, 0)))


def _always(answer: Update) -> RewardUpdate:
    """The reward update that gives this answer whatever the policies are."""

    def update(evidence: Evidence) -> Update:
        return replace(answer, margin=None, mixture=None)

    return update


def _always_reward(answer: Update) -> Initialization:
    """The first reward that an answer, or an earlier iteration, gives."""
    return lambda evidence: Reward(answer.weights)


def _symmetry(
    system: System, learner: Learner, mirror: bool | None, preset: str | None
) -> Symmetry | None:
    """The mirror to use: by default the one that the system declares, if its features have one."""
    able = isinstance(learner, Mirroring) and learner.mirrors
    if mirror is False or (mirror is None and (preset is not None or not able)):
        return None
    if not able:
        raise InvalidInput(
            "mirror=True, but this learner does not count experience mirrored: leave it out, or "
            "use HeterogeneousLearning"
        )
    try:
        found = Symmetry.of(system)
    except InvalidInput:
        if mirror:
            raise
        return None
    if mirror and found is None:
        raise InvalidInput(
            f"mirror=True, but {name_of(system)} declares no mirror: give it an attribute `mirror` "
            "(swarmdp.model.Mirror), or leave it out"
        )
    return found


def _discount(system: System, demo: ReadDemo, discount: float | Literal["auto"]) -> float:
    """The discount, checked, or the one that suits the demo."""
    if not isinstance(discount, str):
        check_discount(discount)
        return float(discount)
    if discount != "auto":
        raise InvalidInput(f'the discount must be a number in [0, 1) or "auto", got {discount!r}')
    if not isinstance(demo, Trajectory):
        raise InvalidInput(
            'discount="auto" needs a recorded demo: feature expectations have a discount already, '
            "give it"
        )
    return suggested_discount(system, demo)


def _mirrored_pairs(expert: Expert, symmetry: Symmetry) -> Expert:
    """The expert's actions, each of which counts also mirrored."""
    pairs = expert.pairs
    if pairs is None:
        return expert
    return replace(expert, pairs=pairs + pairs[:, symmetry.classes][:, :, symmetry.actions])


def _interpolated(system: System, learned: Learned) -> Learned:
    policy = learned.policy
    if learned.q is None or not isinstance(policy, TablePolicy):
        raise InvalidInput(
            "interpolate=True needs a learner with a table of Q-values, such as "
            "HeterogeneousLearning(): leave it out"
        )
    between = InterpolatedPolicy.of(system, learned.q, policy.table, learned.seen)
    return replace(learned, policy=between)


def _check_interpolation(system: System, interpolate: bool, wants: Wants) -> None:
    if not interpolate:
        return
    check_interpolates(system)
    if wants.softness:
        raise InvalidInput(
            "interpolate=True is for greedy policies, but this reward update's policies are soft: "
            f"choose another update ({needing_no('softness')}), or leave it out"
        )


def _check_memory(
    system: System, experiments: int, wants: Wants, iterations: int, evaluations: int | None
) -> None:
    """Raise NotEnoughMemory if the history and the kernels of a fit will not fit into memory."""
    features, actions = system.features, len(system.actions)
    size = features.size if isinstance(features, Classes) else 0
    # Weights, the next ones and mu, in the iterations and in the evidence, which is copied once; so
    # is mu of each roll-out, if there are several.
    several = 3 * evaluations if evaluations is not None and evaluations > 1 else 0
    each = 8 * (7 + several) * feature_count(system) + size * (
        9 + (8 * actions if wants.softness else 0)
    )
    needed = iterations * experiments * each
    remedy = "Use fewer classes, fewer experiments or iterations"
    kernels = wants.kernel + wants.expert_kernel
    # A finite MDP has one kernel for all, which `kernel_of` checks.
    if kernels and exact_model(system) is None:
        # The kernels, and in the update as much again for what it derives from one.
        needed += (experiments * kernels + 1) * dense_bytes(size, actions)
        remedy += f", or a reward update that needs no kernel ({needing_no('expert_kernel')})"
    check_memory(
        needed, f"a fit of {experiments} experiments with {described_size(system)}", remedy
    )


def _check_learner(learner: Learner) -> None:
    """Raise InvalidInput if a learner does not take what it will be given, before any work."""
    try:
        parameters = inspect.signature(learner).parameters
    except (TypeError, ValueError):
        return  # it does not tell what it takes
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    missing = [
        name for name in ("discount", "seed", "wants", "watch", "threads") if name not in parameters
    ]
    if missing:
        raise InvalidInput(
            f"the learner {_kind(learner)} does not take {', '.join(missing)}: a learner is called "
            "as learner(system, reward, discount=, seed=, wants=, watch=, threads=); give it these "
            "keyword arguments, or **others for those that it does not use"
        )


def _kind(part: object) -> str:
    return str(getattr(part, "__qualname__", type(part).__qualname__))


def _described(part: object) -> Any:
    """The settings of a learner or an update as plain data; of a function, its name."""
    if is_dataclass(part) and not isinstance(part, type):
        inner = {name: _described(getattr(part, name)) for name in asdict(part)}
        return {"kind": type(part).__name__, **inner}
    if isinstance(part, np.generic):
        return part.item()
    if not callable(part):
        return part
    whole = inspect.isfunction(part) and not part.__closure__ and "<" not in part.__qualname__
    return {"kind": _kind(part)} if whole else {"kind": _kind(part), "opaque": True}


def _is_opaque(setting: Any) -> bool:
    """Whether a description leaves out what may differ."""
    if not isinstance(setting, Mapping):
        return False
    return "opaque" in setting or any(_is_opaque(inner) for inner in setting.values())


def _check_plain(*settings: Mapping[str, Any]) -> None:
    try:
        json.dumps(settings)
    except TypeError as reason:
        raise InvalidInput(
            f"the settings of the learner, the update and the system must be plain data "
            f"({reason}), so that the result can be saved"
        ) from None


def _check_choices(
    preset: str | None,
    start: str | None,
    iterations: int,
    evaluations: int | None,
    learner: object,
) -> None:
    if preset not in (None, "paper"):
        raise InvalidInput(f'preset must be None or "paper", got {preset!r}')
    if preset is not None and (learner is not None or evaluations is not None):
        raise InvalidInput("preset sets learner and evaluations itself: give either, not both")
    if start not in (None, "expert", "random"):
        raise InvalidInput(f'start must be "expert" or "random", got {start!r}')
    if learner is not None and (not callable(learner) or isinstance(learner, type)):
        raise InvalidInput(
            f"learner must be a HeterogeneousLearning or Planning, got {type(learner).__name__}"
        )
    for name, value in (("iterations", iterations), ("evaluations", evaluations)):
        if value is not None:
            check_integer(name, value, least=1)
            if value >= 2**32:
                raise InvalidInput(f"{name} must be below 2**32, got {value}")
