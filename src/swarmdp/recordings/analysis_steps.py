"""The steps of `swarmdp.analyse`, in the order in which they are taken.

Each takes what the steps before it found, reports a sentence and shows its progress; `analysis.py`
puts them together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swarmdp.fitting.fit import Fit
from swarmdp.irl.result import Result
from swarmdp.judging.baselines import all_baselines, check_baselines
from swarmdp.judging.judge import verdict_of_model
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.verdict import Verdict
from swarmdp.policies import FunctionPolicy
from swarmdp.recordings.analysis_settings import AnalysisSettings
from swarmdp.recordings.arena import Arena
from swarmdp.recordings.controller_families import rule_as_it_is
from swarmdp.recordings.controller_search import FoundController, find_controller
from swarmdp.recordings.controllers import habitual_policy
from swarmdp.recordings.couzin import Couzin
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.gates import why_open
from swarmdp.recordings.group_distances import (
    demo_in_runs,
    group_distance,
    own_distance,
    recorded_parts,
)
from swarmdp.recordings.interaction import Interaction, interaction_in_words, shifted_decisions
from swarmdp.recordings.kinds import Kinds, find_kinds
from swarmdp.recordings.reactions import Reactions
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.reward_search import SearchedReward, search_reward
from swarmdp.recordings.rule import LEAST_ROWS, Rule, fit_rule
from swarmdp.recordings.space.arena import SpaceArena
from swarmdp.recordings.speed_rule import SpeedRule
from swarmdp.recordings.summary import Summary
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.zonal import Zonal
from swarmdp.support.errors import InvalidInput
from swarmdp.support.progress import Tell, working

CLEANING = ("jump", "max_gap", "smooth", "slow")  # settings
MOST_SHIFTED = 4  # fits of individuals shifted in time, which show what a reward is by chance
CONTROLLER, ITSELF = "controller", "recording itself"  # energy distances
REGRESSION, ZONE_MODEL = "regression", "zone model"  # what the controller is compared with
UNDECIDED, WRONG = "too little data", "does not reproduce it: "  # how verdicts begin
_DISCOUNT = 0.9  # of the feature expectations that a verdict compares


@dataclass(frozen=True)
class AnalysisSteps:
    """What all steps of an analysis share: the recording, and how the work is done."""

    recording: Recording
    options: AnalysisSettings
    seed: int
    threads: int | None
    progress: bool | Tell | None
    report: Callable[[str], None]

    def decide(self) -> tuple[Summary, Decisions]:
        """Clean the recording and cut it into decisions."""
        options = self.options
        cleaning = {"jump": options.jump, "max_gap": options.max_gap, "slow": options.slow}
        shown = {} if isinstance(options.smooth, str) else {"smooth": options.smooth}
        with working("reading the recording", self.progress, (0.0, 0.2)):
            summary = self.recording.summary(**cleaning, **shown)
            decisions = self.recording.decisions(options.dt, smooth=options.smooth, **cleaning)
        train, test = decisions.train, decisions.test
        self.report(
            f"{decisions}; {train.count} of them to learn from, {test.count} to judge by: "
            f"{decisions.held_out}"
        )
        return summary, decisions

    def calibrate(self, train: Decisions) -> Swarm:
        """The swarm whose noise, speeds and arena are those of the training part."""
        arena = self._arena()
        with working("calibrating a swarm", self.progress, (0.2, 0.6)):
            swarm = Swarm.from_recording(train, self.options.observation, arena=arena)
        if arena == "auto" and swarm.arena is None:
            open_space = "taken as open space; where there are walls, give their arena"
            self.report(f"{why_open(train)}: {open_space}")
        self.report(str(swarm))
        return swarm

    def _arena(self) -> Arena | Literal["auto", "circle", "box"] | None:
        """The arena that is asked for, or that of the file."""
        arena = self.options.arena
        if isinstance(arena, SpaceArena):
            raise InvalidInput(
                f"the recording is in the plane, got an arena in space, {arena}: give one of the "
                "plane"
            )
        if arena == "auto" and self.recording.arena is not None:
            arena = self.recording.arena
        return arena

    def baselines(self, swarm: Swarm) -> Sequence[str]:
        """What the verdict compares the controller with, checked before the long work."""
        asked = self.options.baselines
        return all_baselines(swarm) if asked is None else check_baselines(asked, swarm)

    def test_interaction(self, swarm: Swarm) -> Interaction:
        """Whether individuals react to each other."""
        with working("testing for an interaction", self.progress, (0.6, 0.9)) as tell:
            interaction = swarm.interaction_test(
                seed=derived_seed(self.seed, Part.INTERACTION), progress=tell
            )
        self.report(interaction_in_words(interaction))
        return interaction

    def read_rule(self, train: Decisions, swarm: Swarm) -> tuple[Rule | None, Kinds | None]:
        """The rule of turns, and kinds of individuals where they are asked for."""
        if train.count < 2 * LEAST_ROWS:
            return None, None
        names = [str(name) for name in self.recording.names]
        shifting = derived_seed(self.seed, Part.SHIFTING)
        components = self.options.components
        with working("reading the rule of turns", self.progress, (0.9, 1.0)):
            rule = fit_rule(train, swarm.arena, components=components, seed=shifting, names=names)
        self.report(str(rule))
        if self.options.kinds is None:
            return rule, None
        with working("looking for kinds of individuals", self.progress):
            kinds = find_kinds(
                train,
                swarm.arena,
                rule,
                kinds=self.options.kinds,
                given=self.recording.kinds,
                names=names,
                components=components,
                seed=shifting,
            )
        self.report(str(kinds))
        return rule, kinds

    def read_reactions(self, decisions: Decisions, swarm: Swarm) -> Reactions:
        """How speeds react, and whether individuals look ahead."""
        with working("reading changes of speed", self.progress):
            reactions = Reactions.read(
                self.recording,
                decisions,
                swarm.arena,
                cleaning={name: getattr(self.options, name) for name in CLEANING},
                contact=self.options.contact,
                components=self.options.speed_components,
                seed=self.seed,
            )
        self.report(str(reactions))
        return reactions

    def search_controller(
        self, swarm: Swarm, rule: Rule | None, speed_rule: SpeedRule
    ) -> FoundController:
        """The controller whose group is most like the recorded one."""
        seed = derived_seed(self.seed, Part.CONTROLLER)
        with working("searching for a controller", self.progress, (0.0, 1.0)) as progress:
            found = find_controller(
                swarm, rule, seed=seed, speed_rule=speed_rule, progress=progress
            )
        self.report(f"The controller: {found.controller.words(swarm.unit)}.")
        return found

    def search_reward(
        self, swarm: Swarm, rule: Rule | None, found: FoundController
    ) -> SearchedReward | None:
        """The reward by Algorithm 1 with policy search."""
        seed = derived_seed(self.seed, Part.REWARD_SEARCH)
        with working("searching for the reward", self.progress, (0.0, 1.0)) as tell:
            return search_reward(swarm, rule, found.controller, seed=seed, progress=tell)

    def fit_of(self, swarm: Swarm, train: Decisions) -> Fit:
        """The fit of a reward to the training part, ready to be driven."""
        return Fit.of(
            swarm,
            train,
            seed=self.seed,
            update=self.options.update,
            iterations=self.options.iterations,
            discount=self.options.discount,
            resamples=self.options.resamples,
            judge=False,
            threads=self.threads,
        )

    def shifted_rewards(
        self, fitting: Fit, result: Result, swarm: Swarm, train: Decisions
    ) -> NDArray[np.float64] | None:
        """The rewards of individuals that are shifted in time (K, d); None without resamples."""
        if not self.options.resamples:
            return None
        count = min(self.options.resamples, MOST_SHIFTED)
        moved = shifted_decisions(train, count, derived_seed(self.seed, Part.SHIFTING))
        demos = [swarm.demo(part) for part in moved]
        return fitting.rewards_of_demos(result, demos, self.progress)

    def compare(
        self,
        swarm: Swarm,
        rule: Rule | None,
        found: FoundController,
        decisions: Decisions,
        baselines: Sequence[str],
    ) -> tuple[dict[str, float], Verdict | None]:
        """Energy distances to the held-out time, and the verdict by it, where they are asked."""
        if not self.options.judge:
            return {}, None
        # Where speeds react, the group is judged by them, too.
        reacting = bool(found.controller.responses)
        same = replace(swarm, measures_speed=True) if reacting else swarm
        others = {} if rule is None else {REGRESSION: Zonal(same, rule_as_it_is(same, rule))}
        distances = self._distances(same, found, others, decisions)
        return distances, self._judge(same, found, others, decisions, baselines)

    def _distances(
        self,
        swarm: Swarm,
        found: FoundController,
        others: Mapping[str, Zonal],
        decisions: Decisions,
    ) -> dict[str, float]:
        """How far simulated groups are from the held-out one, by name; the controller's first."""
        test, threads = decisions.test, self.threads
        seed = derived_seed(self.seed, Part.GROUP_DISTANCES)
        models: dict[str, Zonal | Couzin] = {CONTROLLER: Zonal(swarm, found.controller)}
        models[ZONE_MODEL] = swarm.models["couzin"]()
        models |= others
        distances = {
            name: group_distance(
                swarm, model, FunctionPolicy(model.expert), test, seed=seed, threads=threads
            )
            for name, model in models.items()
        }
        clone = habitual_policy(swarm, swarm.habits)
        distances["clone"] = group_distance(swarm, swarm, clone, test, seed=seed, threads=threads)
        distances[ITSELF] = own_distance(swarm, decisions.train, test)
        return distances

    def _judge(
        self,
        swarm: Swarm,
        found: FoundController,
        others: Mapping[str, Zonal],
        decisions: Decisions,
        baselines: Sequence[str],
    ) -> Verdict:
        """The verdict on the group of the controller, by the held-out time."""
        verdict = verdict_of_model(
            swarm,
            Zonal(swarm, found.controller),
            demo_in_runs(swarm, decisions.test),
            seed=derived_seed(self.seed, Part.JUDGING_HELD_OUT),
            baselines=baselines,
            others=others,
            discount=_DISCOUNT,
            progress=self.progress,
            threads=self.threads,
            parts=recorded_parts(swarm, decisions.train, decisions.test),
        )
        if not verdict.words.startswith(WRONG):
            return verdict
        advice = (
            "look at the measures that differ: what individuals react to may be missing among the "
            "components (--components), or individuals differ",
        )
        return replace(verdict, advice=advice)
