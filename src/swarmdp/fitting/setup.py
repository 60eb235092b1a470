"""From a demo and settings to the problem that Algorithm 1 solves, all defaults filled in."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass, replace
from typing import Any, Literal

import numpy as np

from swarmdp.fitting.settings import FitSettings
from swarmdp.irl import expectations
from swarmdp.irl.cloning import policy_of_pairs
from swarmdp.irl.demos import Demo, ExpertData, ReadDemo, expert_of, read_demo
from swarmdp.irl.frames import with_observations
from swarmdp.irl.resampling import profile_of
from swarmdp.irl.steps import InverseProblem, Search
from swarmdp.irl.updates.evidence import RewardUpdate, Starting, wants_of
from swarmdp.irl.updates.registry import name_of_update, needing_no, update_of
from swarmdp.judging.discounts import suggested_discount
from swarmdp.learning.heterogeneous import default_learning, described_size, paper_learning
from swarmdp.learning.local_kernel import local_kernel
from swarmdp.learning.local_model import dense_bytes
from swarmdp.learning.planning import Planning, kernel_of
from swarmdp.learning.policy_search import PolicySearch
from swarmdp.model.adapted import starting_from
from swarmdp.model.features import Classes
from swarmdp.model.recorded import TellsDecisions
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.symmetry import Symmetry
from swarmdp.model.system import System, feature_count, name_of
from swarmdp.model.traits import Replaying, settings_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies.interpolated import check_interpolates
from swarmdp.policies.learner import Learner, Mirroring, Wants
from swarmdp.policies.soft import Anchoring
from swarmdp.support.arrays import Floats
from swarmdp.support.checks import check_discount
from swarmdp.support.errors import InvalidInput
from swarmdp.support.memory import check_memory
from swarmdp.systems.finite import exact_model

_EVALUATED_AGENTS = 1000  # whose experience estimates the value of a policy by default
_LEAST_EVALUATIONS = 4  # of a policy, so that their spread is known
_MOST_PLANNED = 20_000  # agents for which planning from nothing, some times, is no long work


@dataclass(frozen=True, eq=False)
class Setup:
    """All that a fit is made of, once its demo was read and its defaults are filled in."""

    problem: InverseProblem
    profile: Floats | None  # (R, spans * d): the demo's features over time
    demo: Trajectory | None  # None if the expert is known by its feature expectations only
    recorded: System  # the system of which the demo is: its starts may differ
    search: PolicySearch | None  # that takes over where Algorithm 2 fails; None if none does
    description: Mapping[str, Any]  # plain data that tells this fit from others
    compares_rewards: bool  # whether the reward is chosen by what is planned for it again


def set_up(
    system: System, demo: Demo, settings: FitSettings, seed: int, threads: int | None
) -> Setup:
    """Read the demo, fill in the defaults; raises InvalidInput if things do not fit together."""
    update = update_of(settings.update)
    wants = wants_of(update)
    read = read_demo(system, demo)
    discount = _discount(system, read, settings.discount)
    recorded, system = system, starting_from(system, settings.initial)
    _check_interpolation(system, settings, wants)
    learner, evaluations = _learner(system, settings)
    symmetry = _symmetry(system, learner, settings)
    even = np.asarray if symmetry is None else symmetry.even
    expert = expert_of(
        recorded,
        read,
        discount=discount,
        estimator=settings.estimator,
        wants=wants,
        separate=settings.separate,
        even=even,
    )
    profile, trajectory = None, read if isinstance(read, Trajectory) else None
    if trajectory is not None:
        trajectory = with_observations(recorded, trajectory)
        profile = profile_of(recorded, trajectory, settings.estimator, even, discount)
        if profile is not None and not settings.separate:
            profile = profile.mean(axis=0, keepdims=True)
    if symmetry is not None:
        wants = replace(wants, mirror=True)
        expert = with_mirrored_pairs(expert, symmetry)
    _check_memory(system, len(expert.mu), wants, settings.iterations, evaluations)
    _check_resampling(settings, trajectory)
    _check_anchor(settings, recorded, len(expert.mu))
    horizon = expert.steps
    if horizon is None and evaluations is not None:
        horizon = expectations.steps_for(discount, expectations.SHORT_TAIL)
    problem = InverseProblem(
        system,
        expert,
        update,
        wants,
        learner,
        discount,
        settings.estimator,
        settings.first_reward,
        evaluations,
        horizon,
        settings.interpolate,
        symmetry,
        _search(system, settings, wants),
        trajectory is not None,
        _expert_kernel,
        seed,
        threads,
    )
    simulated = trajectory is not None and not trajectory.of_recording and recorded.n_agents > 1
    search = settings.takes_over if simulated else None
    description = _description(problem, settings, search)
    compares = _compares_rewards(problem, settings, trajectory, recorded)
    return Setup(problem, profile, trajectory, recorded, search, description, compares)


def _compares_rewards(
    problem: InverseProblem, settings: FitSettings, demo: Trajectory | None, recorded: System
) -> bool:
    """Whether the reward is chosen by what is planned for it again: as asked for, or by default."""
    wants = problem.wants
    possible = not (wants.softness or wants.at_once or problem.interpolate)
    if settings.reward == "replanned" and not possible:
        raise InvalidInput(
            'reward="replanned" is for updates and policies that are greedy, and this one\'s are '
            f"not: choose another update ({needing_no('softness')}), or leave it out"
        )
    if settings.reward is not None:
        return settings.reward == "replanned"
    default = settings.preset is None and settings.learner is None
    own = settings.update != "max_margin" or settings.estimator != "swarm"
    affordable = not isinstance(recorded, Replaying) and recorded.n_agents <= _MOST_PLANNED
    if demo is not None and demo.of_recording:
        # A reward without a verdict is what one wants of a recording, whose turns are known.
        asked = isinstance(recorded, TellsDecisions)
    else:
        asked = settings.judge
    return asked and default and not own and possible and affordable


def _learner(system: System, settings: FitSettings) -> tuple[Learner, int | None]:
    """The policy update, and the number of roll-outs that estimate a value."""
    finite = exact_model(system) is not None
    learner, evaluations = settings.learner, settings.evaluations
    if settings.preset == "paper":
        learner, evaluations = paper_learning(), 1
    learner = learner or (Planning() if finite else default_learning())
    _check_learner(learner)
    if evaluations is None and not finite:
        enough = max(_LEAST_EVALUATIONS, -(-_EVALUATED_AGENTS // system.n_agents))
        evaluations = 1 if settings.estimator == "single" else enough
    return learner, evaluations


def _search(system: System, settings: FitSettings, wants: Wants) -> Search:
    """Which reward is tried next, as asked for or by default."""
    if settings.search is not None:
        return settings.search
    exact = exact_model(system) is not None and settings.evaluations is None
    free = wants.any_policies and settings.preset is None and not exact
    return "alternating" if free else "newest"


def _expert_kernel(problem: InverseProblem) -> Floats:
    """P(o' | o, a) among agents that do as the expert does, for each experiment."""
    pairs = problem.expert.pairs
    assert pairs is not None
    mdp = exact_model(problem.system)
    if mdp is not None:
        return kernel_of(mdp, len(pairs))
    assert problem.horizon is not None
    return local_kernel(
        problem.system,
        policy_of_pairs(problem.system, pairs),
        steps=problem.horizon,
        seed=derived_seed(problem.seed, Part.SURROUNDINGS),
        threads=problem.threads,
    )


def _description(
    problem: InverseProblem, settings: FitSettings, search: PolicySearch | None
) -> dict[str, Any]:
    """The fit as plain data: what a file keeps of it, and what tells it from others."""
    first = settings.first_reward
    if first is None:
        starts_itself = problem.wants.at_once or isinstance(problem.update, Starting)
        first_reward = "own" if starts_itself else "expert"
    else:
        first_reward = first
    horizon = problem.horizon
    tail = 0.0 if horizon is None else expectations.truncation(problem.discount, horizon)
    description = {
        "estimator": settings.estimator,
        "update": name_of_update(problem.update) or _as_plain_data(problem.update),
        "learner": _as_plain_data(problem.learner),
        "discount": float(problem.discount),
        "preset": settings.preset,
        "separate": settings.separate,
        "at_once": problem.wants.at_once,
        "first_reward": first_reward,
        "interpolate": settings.interpolate,
        "mirror": problem.symmetry is not None,
        "search": problem.search,
        "evaluations": problem.evaluations,
        "policy_search": None if search is None else _as_plain_data(search),
        "steps": horizon,
        "truncation": tail,
    }
    if search is not None:
        description["use_actions"] = settings.actions == "use"
    if problem.expert.actions is not None:
        description["actions"] = problem.expert.actions
    try:
        json.dumps((description, settings_of(problem.system)))
    except TypeError as reason:
        raise InvalidInput(
            f"the settings of the learner, the update and the system must be plain data "
            f"({reason}), so that the result can be saved"
        ) from None
    return description


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


def _symmetry(system: System, learner: Learner, settings: FitSettings) -> Symmetry | None:
    """The mirror to use: by default the one that the system declares, if its features have one."""
    mirror = settings.mirror
    able = isinstance(learner, Mirroring) and learner.mirrors
    if mirror is False or (mirror is None and (settings.preset is not None or not able)):
        return None
    if not able:
        raise InvalidInput(
            "mirror=True, but this learner does not count experience mirrored: leave it out, or "
            "use HeterogeneousLearning"
        )
    try:
        symmetry = Symmetry.of(system)
    except InvalidInput:
        if mirror:
            raise
        return None
    if mirror and symmetry is None:
        raise InvalidInput(
            f"mirror=True, but {name_of(system)} declares no mirror: give it an attribute `mirror` "
            "(swarmdp.model.Mirror), or leave it out"
        )
    return symmetry


def with_mirrored_pairs(expert: ExpertData, symmetry: Symmetry) -> ExpertData:
    """The expert data with each action counted also mirrored."""
    pairs = expert.pairs
    if pairs is None:
        return expert
    return replace(expert, pairs=pairs + pairs[:, symmetry.classes][:, :, symmetry.actions])


def _check_interpolation(system: System, settings: FitSettings, wants: Wants) -> None:
    if not settings.interpolate:
        return
    check_interpolates(system)
    if wants.softness:
        raise InvalidInput(
            "interpolate=True is for greedy policies, but this reward update's policies are soft: "
            f"choose another update ({needing_no('softness')}), or leave it out"
        )


def _check_resampling(settings: FitSettings, demo: Trajectory | None) -> None:
    if settings.resamples and demo is None:
        raise InvalidInput(
            "resamples need a recorded demo, which can be resampled: feature expectations cannot"
        )


def _check_anchor(settings: FitSettings, recorded: System, experiments: int) -> None:
    if settings.anchor is None:
        return
    if not isinstance(recorded, Anchoring):
        raise InvalidInput(
            f"anchor mixes in the turns of a recording, and {name_of(recorded)} was not "
            "made from one: use Swarm.from_recording, or leave anchor out"
        )
    if experiments > 1 or settings.interpolate:
        raise InvalidInput(
            "anchor is for one experiment whose policy is a table: leave separate and "
            "interpolate out"
        )


def _check_memory(
    system: System, experiments: int, wants: Wants, iterations: int, evaluations: int | None
) -> None:
    """Raises NotEnoughMemory if the history and the kernels of a fit do not fit into memory."""
    features, actions = system.features, len(system.actions)
    size = features.size if isinstance(features, Classes) else 0
    # Weights, the next ones and mu, in the iterations and in the evidence, which is copied once; so
    # is mu of each roll-out, if there are several.
    several = 3 * evaluations if evaluations is not None and evaluations > 1 else 0
    iteration_bytes = 8 * (7 + several) * feature_count(system) + size * (
        9 + (8 * actions if wants.softness else 0)
    )
    needed = iterations * experiments * iteration_bytes
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
    """Raises InvalidInput if a learner does not take what it will be given, before any work."""
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


def _as_plain_data(part: RewardUpdate | Learner | object) -> Any:
    """The settings of a learner or an update as plain data; of a function, its name."""
    if is_dataclass(part) and not isinstance(part, type):
        inner = {name: _as_plain_data(getattr(part, name)) for name in asdict(part)}
        return {"kind": type(part).__name__, **inner}
    if isinstance(part, np.generic):
        return part.item()
    if not callable(part):
        return part
    whole = inspect.isfunction(part) and not part.__closure__ and "<" not in part.__qualname__
    return {"kind": _kind(part)} if whole else {"kind": _kind(part), "opaque": True}


def is_opaque(setting: Any) -> bool:
    """Whether a description of a learner or update leaves out what may differ."""
    if not isinstance(setting, Mapping):
        return False
    return "opaque" in setting or any(is_opaque(inner) for inner in setting.values())
