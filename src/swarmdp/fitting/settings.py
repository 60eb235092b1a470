"""The options of `swarmdp.fit`: one field for each. A new option is a new field here."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from swarmdp.irl.expectations import Estimator
from swarmdp.irl.updates.evidence import RewardUpdate
from swarmdp.learning.policy_search import PolicySearch
from swarmdp.model.adapted import Start
from swarmdp.policies.learner import Learner
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_between
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Index, NotNegative, at_least
from swarmdp.support.settings import change_settings

_COUNTS = 2**32  # iterations and evaluations are below this: random numbers count them


def _check_count(name: str, value: int) -> None:
    if value >= _COUNTS:
        raise InvalidInput(f"{name} must be below 2**32, got {value}")


Count = Annotated[int, at_least(1), _check_count]


@checked(skip=("update", "initial", "discount", "anchor"))
@dataclass(frozen=True, kw_only=True, eq=False)
class FitSettings:
    """The options of a fit, with the most reliable ones as defaults.

    Each can be given to `swarmdp.fit` by its name.

    Parameters
    ----------
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
    first_reward
        The reward to begin with: what the "expert" does often (the default, unless the update has
        one of its own), or "random".
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
    resamples
        The number of fits of resampled demos that give `result.reward_error`: runs drawn from the
        demo, or where it has fewer than five, runs of the learned swarm. Each takes as long as the
        fit; 8 are enough for error bars.
    anchor
        For a swarm made from a recording: mixes a clone of the recorded turns into what was learned
        (`result.mixture`), so that single turns stay plausible. The weight of what was learned,
        from 0 (the clone) to 1, or "auto" (see `swarmdp.recordings.Swarm.anchored`).
        `result.policy` is then this controller; the history has the policies as they were learned,
        the reward is the same.
    actions
        Whether to "use" what the demo tells of actions, recorded, inferred or explained by what
        they led to, where the policy of Algorithm 2 does not reproduce the demo; or to "ignore"
        it. Reward updates that need actions use them in any case.
    policy_search
        Whether other learners take over where the verdict says that the policy of Algorithm 2 does
        not do what the demo did: a clone, if actions are known or can be explained, then policy
        search. By default they do, unless there is a preset or a `learner` is given. A
        `swarmdp.learning.PolicySearch` gives the search other settings.
    reward
        Which reward is returned. "replanned" is the one for which planning from nothing comes
        nearest to the demo, among the reward that explains the demo's decisions, the mean of the
        best rewards of Algorithm 1, the visit histogram and that of the nearest policy;
        `result.reward_choice` tells how they compare. "nearest" is the reward of the nearest policy
        of Algorithm 1, as in the paper. By default rewards are planned for again in a fit that is
        judged, unless a preset, a learner or another update is given, or the swarm is a recording,
        a black box or very large.
    judge
        Whether to ask at the end if the learned swarm does what the demo did (the quick form of
        `swarmdp.judge`): the answer is `result.verdict`, and a warning if it is no. Feature
        expectations are not judged.

    Examples
    --------
    >>> import swarmdp
    >>> quick = swarmdp.fitting.FitSettings(iterations=2, judge=False)
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, settings=quick, update="projection")
    >>> len(result.iterations)
    2

    """

    estimator: Estimator = "swarm"
    update: str | RewardUpdate = "max_margin"
    learner: Learner | None = None
    iterations: Count = 20
    discount: float | Literal["auto"] = 0.9
    preset: Literal["paper"] | None = None
    separate: bool = False
    first_reward: Literal["expert", "random"] | None = None
    initial: Start | None = None
    interpolate: bool = False
    mirror: bool | None = None
    search: Literal["alternating", "newest"] | None = None
    evaluations: Count | None = None
    tolerance: NotNegative = 1e-6
    resamples: Index = 0
    anchor: float | Literal["auto"] | None = None
    actions: Literal["use", "ignore"] = "use"
    policy_search: bool | PolicySearch | None = None
    reward: Literal["nearest", "replanned"] | None = None
    judge: bool = True

    def __post_init__(self) -> None:
        if self.preset == "paper" and (self.learner is not None or self.evaluations is not None):
            raise InvalidInput("preset sets learner and evaluations itself: give either, not both")
        if self.preset == "paper" and self.policy_search:
            raise InvalidInput(
                "the paper does not search policies: leave out preset or policy_search"
            )
        if self.policy_search and not self.judge:
            raise InvalidInput(
                "policy search takes over where the verdict says so: judge=False asks for none"
            )
        if (
            self.separate
            and isinstance(self.policy_search, PolicySearch)
            and self.policy_search.family is not None
        ):
            raise InvalidInput(
                "the experiments of a batch have policies of one kind, so that a family of "
                "controllers cannot take over some of them: fit each run on its own, or leave out "
                "separate"
            )
        if self.learner is not None and (
            not callable(self.learner) or isinstance(self.learner, type)
        ):
            raise InvalidInput(
                "learner must be a HeterogeneousLearning or Planning, got "
                f"{type(self.learner).__name__}"
            )
        if self.resamples == 1:
            raise InvalidInput("resamples must be 0 or at least 2: one has no spread, got 1")
        if isinstance(self.anchor, str):
            if self.anchor != "auto":
                raise InvalidInput(
                    f'anchor must be a number from 0 to 1 or "auto", got {self.anchor!r}'
                )
        elif self.anchor is not None:
            check_between("anchor", self.anchor, 0.0, 1.0)

    @property
    def takes_over(self) -> PolicySearch | None:
        """The policy search that takes over where Algorithm 2 fails; None if none does."""
        if isinstance(self.policy_search, PolicySearch):
            return self.policy_search
        default = self.preset is None and self.learner is None
        return (
            PolicySearch()
            if (self.policy_search or (self.policy_search is None and default))
            else None
        )

    def with_changes(self, **changes: Any) -> "FitSettings":
        """These settings, some of them changed.

        Parameters
        ----------
        changes
            New values by name. Raises TypeError for a name that is no option.

        """
        return change_settings(self, changes, "fit")
