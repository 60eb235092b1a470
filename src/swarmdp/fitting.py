"""`swarmdp.fit`: Algorithm 1 with Algorithm 2 inside, from a demo to a reward and a policy."""

import inspect
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.errors import InvalidInput
from swarmdp.irl import expectations
from swarmdp.irl.algorithm import (
    Iteration,
    Learned,
    generic_irl,
    initial_reward,
    last_counting,
    random_reward,
)
from swarmdp.irl.cloning import cloned
from swarmdp.irl.evidence import (
    Evidence,
    RewardUpdate,
    Update,
    completed,
    is_at_once,
    needs_of,
    softness_of,
    start_of,
)
from swarmdp.irl.expert import Demo, Expert, expert_of
from swarmdp.irl.result import Result
from swarmdp.irl.updates import name_of, named
from swarmdp.learning.heterogeneous import HeterogeneousLearning, paper_learning
from swarmdp.learning.local_kernel import local_kernel
from swarmdp.learning.local_model import dense_bytes
from swarmdp.learning.planning import Planning, kernel_of
from swarmdp.memory import check_memory
from swarmdp.model import (
    LocalPolicy,
    Reward,
    System,
    feature_matrix,
    n_features,
    settings_of,
)
from swarmdp.simulation import check_discount
from swarmdp.streams import check_seed, derived_seed
from swarmdp.systems.checks import check_integer, check_number
from swarmdp.systems.finite import exact_model
from swarmdp.trajectory import Trajectory

LEARNING, EVALUATION, START = 1, 2, 3  # parts of a fit with random numbers of their own
SURROUNDINGS = 5  # another; 4 are reward updates
ENOUGH_AGENTS = 1000  # whose experience estimates the value of a policy, unless told otherwise
CHECKPOINT_SECONDS = 5.0  # of work that a kill may cost
SHORT_TAIL = 1e-4  # share of a discounted sum that is left out where no demo says how much


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a fit is, after an iteration."""

    iteration: int
    iterations: int
    distance: float  # smallest so far, mean over the experiments
    margin: float  # mean over the experiments


class FitInterrupted(KeyboardInterrupt):
    """The user interrupted a fit; `result` holds the iterations that were done."""

    def __init__(self, result: Result) -> None:
        super().__init__("interrupted")
        self.result = result


def fit(
    system: System,
    demo: Demo,
    *,
    seed: int,
    estimator: expectations.Estimator = "swarm",
    update: str | RewardUpdate = "max_margin",
    learner: Callable[..., Learned] | None = None,
    iterations: int = 20,
    discount: float = 0.9,
    preset: Literal["paper"] | None = None,
    separate: bool = False,
    start: Literal["expert", "random"] | None = None,
    evaluations: int | None = None,
    tolerance: float = 1e-6,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    resume: Result | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Result:
    """Learn the local reward behind a demo, and a local policy that reproduces it.

    The demo needs no actions, unless the reward update does. Its runs are pooled into one estimate
    of the expert's feature expectations; with `separate=True` each run is an independent
    experiment, all done as one batch whose results carry a leading axis of experiments. Feature
    expectations (d,) or (runs, d) will do in place of a demo, for updates that need no more.

    `estimator` is the paper's: from the whole "swarm", or from a "single" agent. `update` is the
    reward update: a name (see docs/updates.md), or your own function from `swarmdp.Evidence` to
    `swarmdp.Update`. `learner` is the policy update, the most reliable one by default;
    `preset="paper"` follows the paper to the letter instead. `start` is the first reward: what the
    "expert" does often (unless the update has a start of its own), or "random".
    `evaluations` is the number of roll-outs that estimate a policy's value (about 1000 agents by
    default, one roll-out in the paper). For a FiniteMDP or Gridworld the default policy update is
    exact planning, and values are exact as well, unless `evaluations` are asked for. An experiment
    ends early when its margin falls to `tolerance`. `resume` goes on with an earlier result, to the
    same bits as one long fit; `checkpoint` is a folder in which the result so far is saved every
    few seconds and at the end, whatever ends it.
    """
    check_seed(seed)
    reward_update = named(update)
    _check_choices(preset, start, iterations, evaluations, learner)
    check_number("tolerance", tolerance, positive=False)
    expectations.check_estimator(estimator)
    check_discount(discount)
    finite, needs = exact_model(system) is not None, needs_of(reward_update)
    expert = expert_of(
        system, demo, discount=discount, estimator=estimator, needs=needs, separate=separate
    )
    _check_memory(system, len(expert.mu), needs, softness_of(reward_update), iterations)
    if preset == "paper":
        learner, evaluations = paper_learning(), 1
    learner = learner or (Planning() if finite else HeterogeneousLearning())
    if evaluations is None and not finite:
        evaluations = 1 if estimator == "single" else -(-ENOUGH_AGENTS // system.n_agents)
    steps = expert.steps
    if steps is None and evaluations is not None:
        steps = expectations.steps_for(discount, SHORT_TAIL)

    at_once = is_at_once(reward_update)
    own_start = start_of(reward_update) if start is None else None
    settings = {
        "estimator": estimator,
        "update": name_of(reward_update) or _described(reward_update),
        "learner": _described(learner),
        "discount": discount,
        "preset": preset,
        "separate": separate,
        "at_once": at_once,
        "start": start or ("own" if own_start is not None or at_once else "expert"),
        "evaluations": evaluations,
        "steps": steps,
        "truncation": 0.0 if steps is None else expectations.truncation(discount, steps),
    }
    if expert.actions is not None:
        settings["actions"] = expert.actions
    _check_plain(settings, settings_of(system))
    wishes = _wishes(reward_update)
    _check_wishes(learner, wishes)
    done = _done_before(resume, system, settings, seed, expert.mu)[:iterations]
    nothing = np.empty((0, *expert.mu.shape))
    evidence = Evidence(
        expert.mu,
        nothing,
        nothing,
        discount,
        system.features.size,
        len(system.actions),
        seed,
        feature_matrix(system),
        exact=evaluations is None and isinstance(learner, Planning),
        sampled=isinstance(demo, Trajectory),
        pairs=expert.pairs,
    )
    if "expert_kernel" in needs:
        part = derived_seed(seed, SURROUNDINGS)
        kernel = _expert_kernel(system, expert, part, threads)
        evidence = replace(evidence, expert_kernel=kernel)

    def policy_update(reward: Reward, i: int) -> Learned:
        part = derived_seed(seed, LEARNING, i)
        return learner(system, reward, discount=discount, seed=part, threads=threads, **wishes)

    def value_estimation(policy: LocalPolicy, i: int) -> NDArray[np.float64]:
        if evaluations is None:
            return expectations.exact_expectations(system, policy, discount=discount, steps=steps)
        assert steps is not None
        return expectations.simulated_expectations(
            system,
            policy,
            discount=discount,
            estimator=estimator,
            steps=steps,
            runs=evaluations,
            seed=derived_seed(seed, EVALUATION, i),
            threads=threads,
        )

    def result(done: list[Iteration]) -> Result:
        return _result(done, system, expert, tolerance, settings, seed)

    finished = np.zeros(len(expert.mu), np.bool_)
    for iteration in done:
        finished |= iteration.margin <= tolerance
    if finished.all():
        return result(done)
    if at_once:
        answer = completed(reward_update(evidence), evidence)
        reward_update = _always(answer)
        if evidence.exact:
            # Every attempt at the answer's policy would be the same: one is enough, after the
            # policy of another first reward where one was asked for.
            iterations = min(iterations, 1 if start is None else 2)
    if done:
        reward = Reward(done[-1].next_weights)
    elif at_once and start is None:
        reward = Reward(answer.weights)
    elif own_start is not None:
        reward = Reward(own_start(evidence))
    elif start == "random":
        reward = random_reward(derived_seed(seed, START), expert.mu.shape)
    else:
        reward = initial_reward(expert.mu)
    for iteration in done:
        evidence = evidence.after(iteration.weights, iteration.mu, None)
    saved = time.monotonic()
    try:
        for iteration in generic_irl(
            evidence,
            reward,
            policy_update=policy_update,
            value_estimation=value_estimation,
            reward_update=reward_update,
            iterations=iterations,
            tolerance=tolerance,
            finished=finished,
        ):
            done.append(iteration)
            if checkpoint is not None and time.monotonic() >= saved + CHECKPOINT_SECONDS:
                result(done).save(checkpoint)
                saved = time.monotonic()
            if progress is not None:
                progress(_progress(done, expert.mu, iterations, tolerance))
    except KeyboardInterrupt:
        if done:
            raise FitInterrupted(result(done)) from None
        raise
    finally:
        if checkpoint is not None and done:
            result(done).save(checkpoint)
    return result(done)


def _check_memory(
    system: System, experiments: int, needs: Sequence[str], softness: float, iterations: int
) -> None:
    """Raises NotEnoughMemory if the history and the kernels of a fit will not fit into memory."""
    size, actions = system.features.size, len(system.actions)
    # Weights, the next ones and mu, in the iterations and in the evidence, which is copied once.
    iteration = 8 * 7 * n_features(system) + size * (9 + (8 * actions if softness else 0))
    needed = iterations * experiments * iteration
    wanted = [need for need in needs if need in ("kernel", "expert_kernel")]
    remedy = "Use fewer classes, fewer experiments or iterations"
    # A finite MDP has one kernel for all, which `kernel_of` checks.
    if wanted and exact_model(system) is None:
        # The kernels, and in the update as much again for what it derives from one.
        needed += (experiments * len(wanted) + 1) * dense_bytes(size, actions)
        remedy += (
            ", or a reward update that needs no kernel (max_margin, projection, ng_russell, mwal, "
            "maxent)"
        )
    check_memory(
        needed,
        f"this fit (experiments: {experiments}, classes of observations: {size}, actions: "
        f"{actions})",
        remedy,
    )


def _wishes(update: RewardUpdate) -> dict[str, Any]:
    """What a reward update asks of the learner."""
    wishes: dict[str, Any] = {}
    if softness := softness_of(update):
        wishes["softness"] = softness
    if "kernel" in needs_of(update):
        wishes["kernel"] = True
    return wishes


def _check_wishes(learner: Callable[..., Learned], wishes: Mapping[str, Any]) -> None:
    """Refuse a learner that cannot do what the reward update asks of it, before any work."""
    try:
        parameters = inspect.signature(learner).parameters
    except (TypeError, ValueError):
        return  # it does not tell what it takes
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    for name in wishes:
        if name not in parameters:
            why = {"softness": "its policies are soft", "kernel": "it needs the local dynamics"}
            raise InvalidInput(
                f"this reward update asks the learner for {name!r} ({why[name]}), but "
                f"{getattr(learner, '__qualname__', type(learner).__qualname__)} does not take it: "
                f"give the learner a keyword argument {name}, or choose another update, such as "
                "max_margin"
            )


def _result(
    done: list[Iteration],
    system: System,
    expert: Expert,
    tolerance: float,
    settings: Mapping[str, Any],
    seed: int,
) -> Result:
    """The iterations done so far, with the physical meaning of the features."""
    features: Any = system.features
    vectors = feature_matrix(system) is not None
    angle = not vectors and getattr(features, "units", "1") == "rad"
    numbers = np.arange(expert.mu.shape[1])
    values = np.asarray(numbers if vectors else getattr(features, "values", numbers), np.float64)
    found = Result(
        tuple(done),
        expert.mu,
        expert.error,
        np.degrees(values) if angle else values,
        "feature" if vectors else getattr(features, "name", "observation"),
        "degrees" if angle else "1" if vectors else getattr(features, "units", "1"),
        tolerance,
        type(system).__name__,
        settings_of(system),
        settings,
        seed,
    )
    name = getattr(system, "solutions", None)
    if name is None:
        return found
    return Result(**{**vars(found), "solutions": tuple(name(found.policy, expert.mu > 0))})


def _expert_kernel(
    system: System, expert: Expert, seed: int, threads: int | None
) -> NDArray[np.float64]:
    """P(o' | o, a) among agents that do as the expert does, for each experiment."""
    assert expert.pairs is not None
    mdp = exact_model(system)
    if mdp is not None:
        return kernel_of(mdp, len(expert.pairs))
    assert expert.steps is not None
    policy = cloned(system, expert.pairs)
    return local_kernel(system, policy, steps=expert.steps, seed=seed, threads=threads)


def _always(answer: Update) -> RewardUpdate:
    """The reward update that gives this answer whatever the policies are."""

    def update(evidence: Evidence) -> Update:
        return replace(answer, margin=None, mixture=None)

    return update


def _progress(
    done: list[Iteration], expert: NDArray[np.float64], iterations: int, tolerance: float
) -> Progress:
    gaps = np.stack([np.linalg.norm(expert - iteration.mu, axis=1) for iteration in done])
    margins = np.stack([iteration.margin for iteration in done])
    last = last_counting(margins, tolerance)
    gaps[np.arange(len(done))[:, None] > last] = np.inf
    left = margins[last, np.arange(len(expert))]
    return Progress(len(done), iterations, float(gaps.min(axis=0).mean()), float(left.mean()))


def _done_before(
    resume: Result | None,
    system: System,
    settings: dict[str, Any],
    seed: int,
    expert: NDArray[np.float64],
) -> list[Iteration]:
    if resume is None:
        return []
    if not isinstance(resume, Result):
        raise InvalidInput(
            f"resume must be a result of swarmdp.fit, got {type(resume).__name__}: read a saved "
            "one with swarmdp.load"
        )
    name, here = type(system).__name__, expectations.plain(settings_of(system))
    if (resume.system, expectations.plain(resume.system_settings)) != (name, here):
        raise InvalidInput(
            f"cannot resume: the earlier fit was of {resume.system} {dict(resume.system_settings)}"
            f", this one is of {name} {here}"
        )
    for name, wanted in settings.items():
        if name == "at_once" and name not in resume.settings:
            continue  # written before it was kept; the update itself is compared
        if resume.settings.get(name) != wanted:
            raise InvalidInput(
                f"cannot resume: the earlier fit had {name} = {resume.settings.get(name)}, "
                f"this one has {wanted}"
            )
    if resume.seed != seed:
        raise InvalidInput(f"cannot resume: the earlier fit had seed {resume.seed}, not {seed}")
    if not np.array_equal(resume.expert, expert):
        raise InvalidInput("cannot resume: the earlier fit was made from another demo")
    return list(resume.iterations)


def _described(part: object) -> Any:
    """The settings of a learner or an update as plain data; of a function, its name."""
    if is_dataclass(part) and not isinstance(part, type):
        inner = {name: _described(getattr(part, name)) for name in asdict(part)}
        return {"kind": type(part).__name__, **inner}
    if callable(part):
        return {"kind": getattr(part, "__qualname__", type(part).__qualname__)}
    return part


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
    if learner is not None and not callable(learner):
        raise InvalidInput(
            f"learner must be a HeterogeneousLearning or Planning, got {type(learner).__name__}"
        )
    for name, value in (("iterations", iterations), ("evaluations", evaluations)):
        if value is not None:
            check_integer(name, value, least=1)
