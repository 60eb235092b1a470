"""`swarmdp.analyse`: from a recording to the answer, in one call.

Is there an interaction, by which rule do individuals turn, which controller makes simulated ones do
as a group what was recorded, and which local reward explains it? Everything is chosen and fitted on
about two thirds of the recording; the verdict on the controller is on the rest, which is held out.
Each step is in `analysis_steps.py`.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.fitting.fit import FitInterrupted, drive
from swarmdp.irl.result import Result
from swarmdp.model.verdict import Verdict
from swarmdp.recordings.analysis_settings import AnalysisSettings
from swarmdp.recordings.analysis_steps import CLEANING, AnalysisSteps
from swarmdp.recordings.controller_search import FoundController, unsearched_controller
from swarmdp.recordings.controllers import habitual_policy
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.interaction import Interaction, interaction_in_words
from swarmdp.recordings.kinds import Kinds
from swarmdp.recordings.needs import check_needs
from swarmdp.recordings.preferences import Preference, preferences_of
from swarmdp.recordings.reactions import Reactions
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.reward_curves import RewardCurve, curves_of_reward
from swarmdp.recordings.reward_search import SearchedReward
from swarmdp.recordings.rule import Rule
from swarmdp.recordings.space.analysis import analyse_in_space, in_the_plane_if_flat
from swarmdp.recordings.summary import Summary
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.swarm_files import (
    pack_decisions,
    pack_recording,
    unpack_decisions,
    unpack_recording,
)
from swarmdp.recordings.zonal import Zonal, ZonalController
from swarmdp.support import markup
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput
from swarmdp.support.files import as_path
from swarmdp.support.netcdf import write_dataset
from swarmdp.support.progress import Tell
from swarmdp.support.ranges import Seed
from swarmdp.support.rounding import with_error
from swarmdp.support.saved import ANALYSIS, Packed
from swarmdp.support.settings import change_settings

if TYPE_CHECKING:
    import pandas
    import xarray


@checked
@dataclass(frozen=True, eq=False)
class Analysis:
    """What `swarmdp.analyse` found in a recording.

    Parameters
    ----------
    summary
        What the recording is like, as `Recording.summary` says.
    decisions
        What individuals did at even times; `decisions.train` and `decisions.test` are its parts.
    swarm
        The swarm that was calibrated from `decisions.train`.
    interaction
        Whether individuals react to each other.
    result
        The fit of a reward to `decisions.train`, with the policy that was planned for it.
    verdict
        On the swarm of the controller, by `decisions.test`; None if it was not asked for.
    shifted
        (K, d): the rewards of recordings in which individuals are shifted in time, or None: what a
        reward says by chance.
    seed
        The seed of the analysis.
    rule
        What individuals react to, in numbers; None where there are too few decisions.
    found
        The controller that policy search found, and how.
    distances
        The mean energy distance to the group of `decisions.test`, of the swarm of the controller
        and of those that it is compared with; empty if it was not asked for.
    reactions
        How speeds react, and whether individuals look ahead; None of analyses before 0.3.
    searched
        The reward that Algorithm 1 found with policy search; None without a rule, or in files of
        earlier versions.
    kinds
        Which kinds of individuals there are; None if it was not asked for.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3)
    >>> tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)["position"][0]
    >>> recording = swarmdp.Recording(tracks, fps=1, unit="1")
    >>> few = swarmdp.recordings.Observation(5, bearing=0, spacing=0, previous_turn=0, neighbours=5)
    >>> found = swarmdp.analyse(
    ...     recording, seed=1, dt=1, observation=few, arena=swarmdp.recordings.Periodic((1.0, 1.0)),
    ...     iterations=1, resamples=0, judge=False,
    ... )
    >>> found.result.reward.weights.shape
    (1, 5)

    """

    summary: Summary
    decisions: Decisions
    swarm: Swarm
    interaction: Interaction
    result: Result
    verdict: Verdict | None
    shifted: NDArray[np.float64] | None
    seed: int
    rule: Rule | None
    found: FoundController
    distances: Mapping[str, float] = field(default_factory=dict)
    reactions: Reactions | None = None
    searched: SearchedReward | None = None
    kinds: Kinds | None = None

    @property
    def recording(self) -> Recording:
        """What was analysed."""
        return self.summary.recording

    @property
    def controller(self) -> ZonalController:
        """How simulated individuals turn, so that they do as a group what was recorded."""
        return self.found.controller

    @property
    def controlled_swarm(self) -> Zonal:
        """The swarm whose agents have the controller: a system, whose `expert` moves them."""
        return Zonal(self.swarm, self.controller)

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """What the reward asks for, one entry for each component of an additive reward."""
        return preferences_of(self.result, self.shifted)

    @property
    def reward_curves(self) -> tuple[RewardCurve, ...]:
        """The reward as curves with errors: which distance, which alignment is sought.

        They are of `result.reward`. What Algorithm 1 with policy search says is in
        `searched.curves`; where rewards are known it is farther from them.
        """
        return curves_of_reward(self.result, self.shifted)

    @property
    def turn_gains(self) -> dict[str, float]:
        """How well single turns of the held-out time are predicted, in nats a decision."""
        policies = {
            "recorded habits": habitual_policy(self.swarm, self.swarm.habits),
            "policy of the fit": self.result.policy,
        }
        return {
            name: self.swarm.turn_gain(policy, self.decisions.test)
            for name, policy in policies.items()
        }

    @property
    def table(self) -> "pandas.DataFrame":
        """The statistics of the held-out time beside the learned swarm and the baselines."""
        if self.verdict is None:
            raise InvalidInput("there is no table without a verdict: analyse with judge=True")
        return self.verdict.table

    @property
    def interaction_in_words(self) -> str:
        """Whether individuals react to each other, and how one knows."""
        return interaction_in_words(self.interaction)

    @property
    def rule_in_words(self) -> tuple[str, ...]:
        """The rule of turns, where there is an interaction or nothing to say of it."""
        found = self.interaction.answer == "interaction found"
        if self.rule is None:
            return ()
        if not (found or not self.rule.parts):
            return tuple(part.sentence(self.rule.unit) for part in self.rule.outsiders)
        return self.rule.sentences

    @property
    def reactions_in_words(self) -> tuple[str, ...]:
        """How speeds react, and whether distance or time to collision decides."""
        return () if self.reactions is None else self.reactions.sentences

    @property
    def reward_in_words(self) -> tuple[str, ...]:
        """What the reward clearly prefers; nothing is clear where there is too little data."""
        clear = [str(part) for part in self.preferences if part.clear]
        if self.result.alternatives is None:
            return (
                "What the reward prefers is not told: its errors are not known, since resamples "
                "were not asked for.",
            )
        if clear and self.interaction.answer != "too little data":
            return (f"The learned reward clearly prefers: {'; '.join(clear)}.",)
        return (
            "No difference within the learned reward is significant, given that all are looked "
            "at: this recording does not tell which situations are preferred.",
        )

    @property
    def distances_in_words(self) -> str:
        """How near the group of the controller is to the held-out time, beside others."""
        first, *others = self.distances
        listed = ", ".join(f"{name} {self.distances[name]:.2f}" for name in others)
        return (
            "Energy distance of the simulated group to the held-out time, mean over its measures: "
            f"{first} {self.distances[first]:.2f}; {listed}."
        )

    @property
    def conclusions(self) -> tuple[str, ...]:
        """The answer in sentences."""
        said = [self.interaction_in_words, *self.rule_in_words, *self.reactions_in_words]
        said += () if self.kinds is None else self.kinds.sentences
        said += self.reward_in_words
        said.append(f"The controller: {self.controller.words(self.swarm.unit)}.")
        if self.distances:
            said.append(self.distances_in_words)
        if self.verdict is not None:
            words = self.verdict.words
            said.append(f"Verdict on {self.decisions.held_out}: {words}.")
            said += [f"What to do: {part}." for part in self.verdict.advice]
        return tuple(said)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write `analysis.nc`, `swarm.nc` and `result.nc` into a folder; `swarmdp.load` reads them.

        Each is written atomically, `analysis.nc` as the last one; return its path.

        Parameters
        ----------
        folder
            Made if it is not there.

        """
        place = as_path(folder)
        self.swarm.save(place)
        self.result.save(place)
        packed = Packed()
        pack_recording(packed, self.recording)
        pack_decisions(packed, self.decisions)
        packed.add("interaction", self.interaction)
        cleaned = self.summary.cleaned
        packed.plain["cleaning"] = {name: getattr(cleaned, name) for name in CLEANING}
        packed.plain["verdict"] = None if self.verdict is None else self.verdict.to_json()
        packed.plain["seed"] = self.seed
        packed.plain["rule"] = None if self.rule is None else self.rule.to_plain()
        packed.plain["reactions"] = None if self.reactions is None else self.reactions.to_plain()
        packed.plain["found"] = self.found.to_plain()
        packed.plain["distances"] = dict(self.distances)
        packed.plain["searched"] = None if self.searched is None else self.searched.to_plain()
        packed.plain["kinds"] = None if self.kinds is None else self.kinds.to_plain()
        packed.plain["swarm"] = self.swarm.settings
        packed.arrays["weights"] = self.result.reward.weights
        if self.shifted is not None:
            packed.arrays["shifted"] = self.shifted
        path = place / ANALYSIS.file
        write_dataset(path, packed.dataset(ANALYSIS))
        return path

    @classmethod
    def from_xarray(cls, dataset: "xarray.Dataset", swarm: Swarm, result: Result) -> "Analysis":
        """The analysis in a dataset of `save`, with the swarm and the fit saved beside it."""
        packed = Packed.of(dataset, ANALYSIS)
        get, plain = packed.arrays, packed.plain
        same = json.loads(json.dumps(swarm.settings)) == plain["swarm"]
        if not same or not np.array_equal(get["weights"], result.reward.weights):
            raise InvalidInput(
                "the swarm or the fit beside it is of another analysis: save all of it again"
            )
        test = dict(plain["interaction"])
        rule = None if plain.get("rule") is None else Rule.from_plain(plain["rule"])
        # Version 0.2 had no zonal controller, and its verdict is on another one.
        searched = "found" in plain
        verdict = plain["verdict"] if searched else None
        return cls(
            unpack_recording(packed).summary(**plain["cleaning"]),
            unpack_decisions(packed),
            swarm,
            Interaction(
                **test | {"interval": tuple(test["interval"])}, shifted=get["interaction_shifted"]
            ),
            result,
            None if verdict is None else Verdict.from_json(verdict),
            get.get("shifted"),
            int(plain["seed"]),
            rule,
            FoundController.from_plain(plain["found"])
            if searched
            else unsearched_controller(swarm, rule),
            plain["distances"] if searched else {},
            None if not plain.get("reactions") else Reactions.from_plain(plain["reactions"]),
            None if plain.get("searched") is None else SearchedReward.from_plain(plain["searched"]),
            None if plain.get("kinds") is None else Kinds.from_plain(plain["kinds"]),
        )

    def __repr__(self) -> str:
        lines = [repr(self.recording), repr(self.swarm), *self.conclusions]
        return "Analysis of a recording\n" + "\n".join(f"  {line}" for line in lines)

    def _repr_html_(self) -> str:
        rows = [
            (
                preference.component,
                preference.best,
                preference.worst,
                with_error(preference.difference, preference.error),
                "yes" if preference.identified else "no",
            )
            for preference in self.preferences
        ]
        return markup.card(
            repr(self.recording),
            *map(markup.paragraph, (repr(self.swarm), *self.conclusions)),
            markup.table(
                ("component", "highest reward", "lowest", "difference", "identified"), rows
            ),
        )

    def to_plain(self) -> dict[str, Any]:
        """The analysis as plain data, for a JSON file."""
        test = self.interaction
        return {
            "recording": self.summary.to_plain(),
            "decisions": {
                "dt": self.decisions.dt,
                "train": self.decisions.train.count,
                "test": self.decisions.test.count,
                "position_error": self.decisions.error,
            },
            "swarm": self.swarm.settings
            | {"rim_touched": self.swarm.touched, "tried": dict(self.swarm.tried)},
            "interaction": {
                "answer": test.answer,
                "gain": test.gain,
                "interval": list(test.interval),
                "shifted": test.shifted.tolist(),
                "p": test.p,
                "decisions": test.decisions,
            },
            "rule": None if self.rule is None else self.rule.to_plain(),
            "reactions": None if self.reactions is None else self.reactions.to_plain(),
            "kinds": None if self.kinds is None else self.kinds.to_plain(),
            "controller": self.found.to_plain(),
            "energy_distances": dict(self.distances),
            "reward_curves": [curve.summary() for curve in self.reward_curves],
            "reward_search": None if self.searched is None else self.searched.summary(),
            "settings": dict(self.result.settings),
            "seed": self.seed,
            "distance": float(self.result.distance[0]),
            "reward": [
                vars(preference) | {"clear": preference.clear} for preference in self.preferences
            ],
            "turn_gains": self.turn_gains,
            "verdict": None if self.verdict is None else self.verdict.to_json(),
            "conclusions": list(self.conclusions),
        }


@checked(skip=("changes",))
def analyse(
    recording: Recording,
    *,
    seed: Seed,
    settings: AnalysisSettings | None = None,
    threads: int | None = None,
    progress: bool | Tell | None = None,
    say: Callable[[str], None] | None = None,
    resume: Result | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **changes: Any,
) -> Any:
    """Find the rule behind a recorded swarm: interaction, reward, and a verdict on held-out time.

    The recording is cleaned and cut into decisions. From about two thirds of the time a swarm is
    calibrated, tested for an interaction and fitted; the rest judges it: the last third, whole
    recordings where several were pooled, or blocks where the group changes slowly.

    Parameters
    ----------
    recording
        Of `swarmdp.read_tracks`, `Recording.from_frame` or an array.
    seed
        Same seed, same analysis.
    settings
        The options, those of `AnalysisSettings` by default.
    threads
        All cores by default.
    progress
        A bar on a terminal or in a notebook by default; False for none.
    say
        Called with a sentence after each part of the work, such as `print`.
    resume
        The result of an analysis that was interrupted, to go on with its fit.
    checkpoint
        A folder in which the fit so far is saved every few seconds and at its end. An interrupt
        then raises `FitInterrupted`, with what was done.
    changes
        Options by name, such as `arena="circle"` or `judge=False`: see
        `swarmdp.recordings.AnalysisSettings`, which explains each.

    Returns
    -------
    Analysis
        Summary, decisions, swarm, interaction, fit and verdict; it can be saved. Of recordings in
        three dimensions a `swarmdp.recordings.SpaceAnalysis`, which has no fit of a reward.

    Raises
    ------
    InvalidInput
        If the recording is too short or has too many gaps to decide anything, or an argument is not
        as named above.
    UnclearArena
        If the arena is to be fitted and cannot be: give it.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3)
    >>> tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)["position"][0]
    >>> recording = swarmdp.Recording(tracks, fps=1, unit="1")
    >>> quick = {"iterations": 2, "resamples": 0, "judge": False}
    >>> arena = swarmdp.recordings.Periodic((1.0, 1.0))
    >>> swarmdp.analyse(recording, seed=1, dt=1, arena=arena, **quick).interaction.answer
    'interaction found'

    """
    options = change_settings(settings or AnalysisSettings(), changes, "analyse")
    report = say or (lambda text: None)
    check_needs(recording, report)
    recording = in_the_plane_if_flat(recording, report)
    if recording.n_axes == 3:
        return analyse_in_space(recording, options, seed=seed, report=report, progress=progress)
    steps = AnalysisSteps(recording, options, seed, threads, progress, report)
    summary, decisions = steps.decide()
    swarm = steps.calibrate(decisions.train)
    baselines = steps.baselines(swarm)
    interaction = steps.test_interaction(swarm)
    rule, kinds = steps.read_rule(decisions.train, swarm)
    reactions = steps.read_reactions(decisions, swarm)
    _forget_earlier(checkpoint)
    found = steps.search_controller(swarm, rule, reactions.speed_rule)
    searched = steps.search_reward(swarm, rule, found)
    fitting = steps.fit_of(swarm, decisions.train)
    result = drive(fitting, progress, resume=resume, checkpoint=checkpoint)
    try:
        shifted = steps.shifted_rewards(fitting, result, swarm, decisions.train)
        distances, verdict = steps.compare(swarm, rule, found, decisions, baselines)
    except KeyboardInterrupt:
        raise FitInterrupted(result) from None
    first = (summary, decisions, swarm, interaction, result, verdict, shifted, seed)
    return Analysis(*first, rule, found, distances, reactions, searched, kinds)


def _forget_earlier(checkpoint: str | os.PathLike[str] | None) -> None:
    """What an earlier analysis left does not belong to the fit that is saved now."""
    if checkpoint is not None:
        (as_path(checkpoint) / ANALYSIS.file).unlink(missing_ok=True)
