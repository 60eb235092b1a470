"""`swarmdp.analyse`: from a recording to the answer, in one call.

Is there an interaction, which local reward explains it, and does a swarm with this reward behave as
the recorded one on time that was not learned from? Everything is chosen and fitted on the first two
thirds of the recording; the verdict is on the rest, which is held out.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.fitting.fit import Fit, FitInterrupted, fit
from swarmdp.irl.result import Result
from swarmdp.judging.baselines import all_baselines, check_baselines
from swarmdp.judging.judge import verdicts_of
from swarmdp.model.streams import Part, derived_seed
from swarmdp.model.verdict import Verdict
from swarmdp.policies import SoftPolicy
from swarmdp.recordings.analysis_settings import AnalysisSettings
from swarmdp.recordings.components import COMPONENTS
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.interaction import Interaction, shifted_decisions
from swarmdp.recordings.needs import check_needs
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.rule import LEAST_ROWS, Rule, fit_rule
from swarmdp.recordings.summary import Summary
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.swarm_files import pack_recording, unpack_recording
from swarmdp.support import markup
from swarmdp.support.arguments import checked
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput
from swarmdp.support.files import as_path
from swarmdp.support.netcdf import write_dataset
from swarmdp.support.progress import Tell, working
from swarmdp.support.ranges import Seed
from swarmdp.support.rounding import rounded, with_error
from swarmdp.support.saved import ANALYSIS, Packed
from swarmdp.support.settings import change_settings

if TYPE_CHECKING:
    import pandas
    import xarray

_CLEANING = ("jump", "max_gap", "smooth", "slow")
MOST_SHIFTED = 4  # fits of individuals shifted in time, which show what a reward is by chance
_LEVEL = 0.05  # share of differences of rewards that are called clear and are not


@dataclass(frozen=True)
class Preference:
    """The two classes of one component whose rewards differ most."""

    component: str
    best: str
    worst: str
    difference: float
    error: float | None  # standard error of this difference; None without resamples
    p: float | None  # as in `Result.differences`, where all pairs of classes are tested together
    shifted: float | None = None  # the same difference where individuals are shifted in time, mean
    shifted_spread: float | None = None  # and its standard deviation

    @property
    def clear(self) -> bool:
        """Whether the difference is significant: of those called so about 5 % are not."""
        return self.p is not None and self.p <= _LEVEL

    def __str__(self) -> str:
        chance = ""
        if self.shifted is not None:
            chance = f", {rounded(self.shifted, self.error)} when shifted in time"
        difference = with_error(self.difference, self.error)
        return f"{self.best} rather than {self.worst} ({difference}{chance})"


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
        The fit to `decisions.train`; its policy is anchored to the recorded habits.
    verdict
        On `decisions.test`; None if it was not asked for.
    shifted
        (K, d): the rewards of recordings in which individuals are shifted in time, or None: what a
        reward says by chance.
    seed
        The seed of the analysis.
    rule
        What individuals react to, in numbers; None where there are too few decisions.

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
    rule: Rule | None = None

    @property
    def recording(self) -> Recording:
        """What was analysed."""
        return self.summary.recording

    @property
    def controller(self) -> SoftPolicy:
        """What was learned, anchored to the recorded habits: `result.policy`."""
        policy = self.result.policy
        assert isinstance(policy, SoftPolicy)
        return policy

    @property
    def preferences(self) -> tuple[Preference, ...]:
        """What the reward asks for, one entry for each component of an additive reward."""
        preferences, begin, done = [], 0, 0
        mirrored = bool(self.result.settings["mirror"])
        weights, others = self.result.reward.weights[0], self.result.resamples
        # The pair that differs most was chosen among all, so it is tested among all.
        tested = None if others is None else self.result.differences()
        for block in self.result.blocks:
            shape = [len(axis.values) for axis in block]
            size = int(np.prod(shape))
            block_weights = weights[begin : begin + size]
            high, low = int(block_weights.argmax()), int(block_weights.argmin())
            gaps = None
            if self.shifted is not None:
                gaps = self.shifted[:, begin + high] - self.shifted[:, begin + low]
            begin += size
            pairs = size * (size - 1) // 2
            rows = None if tested is None else tested[done : done + pairs]
            done += pairs
            if not pairs:
                continue
            error = p = None
            if rows is not None:
                one, other = sorted((high, low))
                row = rows.iloc[one * size - one * (one + 1) // 2 + other - one - 1]
                error, p = float(row["error"]), float(row["p"])
            best, worst = (
                ", ".join(
                    COMPONENTS[axis.name].words(axis.shown, int(place), mirrored)
                    for axis, place in zip(block, np.unravel_index(index, shape), strict=True)
                )
                for index in (high, low)
            )
            title = " and ".join(axis.name for axis in block)
            chance = (None, None) if gaps is None else (float(gaps.mean()), float(gaps.std(ddof=1)))
            gap = float(block_weights[high] - block_weights[low])
            preferences.append(Preference(title, best, worst, gap, error, p, *chance))
        return tuple(preferences)

    @property
    def turn_gains(self) -> dict[str, float]:
        """How well single turns of the held-out time are predicted, in nats a decision."""
        learned = replace(self.result, anchored=None).policy
        policies = {
            "recorded habits": self.swarm.anchored(learned, 0.0),
            "learned policy": learned,
            "anchored controller": self.controller,
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
    def conclusions(self) -> tuple[str, ...]:
        """The answer in sentences."""
        said = [_about_interaction(self.interaction)]
        found = self.interaction.answer == "interaction found"
        if self.rule is not None and (found or not self.rule.parts):
            said += self.rule.sentences
        clear = [str(part) for part in self.preferences if part.clear]
        if self.result.resamples is None:
            listed = "; ".join(map(str, self.preferences))
            said.append(f"The learned reward prefers, with unknown errors: {listed}.")
        elif clear and self.interaction.answer != "too little data":
            said.append(f"The learned reward clearly prefers: {'; '.join(clear)}.")
        else:
            said.append(
                "No difference within the learned reward is significant, given that all are looked "
                "at: this recording does not tell which situations are preferred."
            )
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
        packed.add("decisions", self.decisions)
        packed.add("interaction", self.interaction)
        cleaned = self.summary.cleaned
        packed.plain["cleaning"] = {name: getattr(cleaned, name) for name in _CLEANING}
        packed.plain["verdict"] = None if self.verdict is None else self.verdict.to_json()
        packed.plain["seed"] = self.seed
        packed.plain["rule"] = None if self.rule is None else self.rule.to_plain()
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
        if (
            not same
            or result.anchored is None
            or not np.array_equal(get["weights"], result.reward.weights)
        ):
            raise InvalidInput(
                "the swarm or the fit beside it is of another analysis: save all of it again"
            )
        test = dict(plain["interaction"])
        verdict = plain["verdict"]
        return cls(
            unpack_recording(packed).summary(**plain["cleaning"]),
            packed.take(Decisions, "decisions"),
            swarm,
            Interaction(
                **test | {"interval": tuple(test["interval"])}, shifted=get["interaction_shifted"]
            ),
            result,
            None if verdict is None else Verdict.from_json(verdict),
            get.get("shifted"),
            int(plain["seed"]),
            None if plain.get("rule") is None else Rule.from_plain(plain["rule"]),
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
            )
            for preference in self.preferences
        ]
        return markup.card(
            repr(self.recording),
            *map(markup.paragraph, (repr(self.swarm), *self.conclusions)),
            markup.table(("component", "highest reward", "lowest", "difference"), rows),
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


def _about_interaction(test: Interaction) -> str:
    """The outcome of the interaction test, and what it means for the reward."""
    usual = float(test.shifted.mean())
    low, high = (end - usual for end in test.interval)
    gains = (
        f"knowing the others is worth {test.gain:+.3f} nats a decision, {test.gain - usual:+.3f} "
        f"more (95 % interval {low:+.3f} to {high:+.3f}) than when individuals are shifted in time "
        f"({usual:+.3f} on average, {test.shifted.max():+.3f} at most)"
    )
    if test.answer == "interaction found":
        return f"An interaction was found: {gains}; p = {test.p:.2g}."
    if test.answer == "interaction not found":
        return (
            f"Interaction not found, and one that matters would have been seen: {gains}. "
            "What the reward says of others should not be read as a rule."
        )
    return (
        f"Too little data to tell whether individuals react to each other: {gains}. "
        f"What the reward says of others may be chance; about {test.needed:.2g} times as much data "
        "of this kind would tell: longer, or more recordings."
    )


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
) -> Analysis:
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
        A folder in which the fit so far is saved every few seconds and at its end, whatever ends
        it. An interrupt then raises `FitInterrupted`, with what was done.
    changes
        Options by name, such as `arena="circle"` or `judge=False`: see
        `swarmdp.recordings.AnalysisSettings`, which explains each.

    Returns
    -------
    Analysis
        Summary, decisions, swarm, interaction, fit and verdict; it can be saved.

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
    >>> few = swarmdp.recordings.Observation(5, bearing=0, spacing=0, previous_turn=0, neighbours=5)
    >>> quick = swarmdp.recordings.AnalysisSettings(iterations=2, resamples=0, judge=False)
    >>> arena = swarmdp.recordings.Periodic((1.0, 1.0))
    >>> analysis = swarmdp.analyse(
    ...     recording, seed=1, settings=quick, dt=1, observation=few, arena=arena
    ... )
    >>> analysis.interaction.answer
    'interaction found'

    """
    options = change_settings(settings or AnalysisSettings(), changes, "analyse")
    report = say or (lambda text: None)
    check_needs(recording, report)
    with working("reading the recording", progress, (0.0, 0.2)):
        cleaning = {"jump": options.jump, "max_gap": options.max_gap, "slow": options.slow}
        shown = {} if isinstance(options.smooth, str) else {"smooth": options.smooth}
        summary = recording.summary(**cleaning, **shown)
        decisions = recording.decisions(options.dt, smooth=options.smooth, **cleaning)
    train, test = decisions.train, decisions.test
    report(
        f"{decisions}; {train.count} of them to learn from, {test.count} to judge by: "
        f"{decisions.held_out}"
    )
    arena = options.arena
    if arena == "auto" and recording.arena is not None:
        arena = recording.arena
        report(f"the arena is the one in the file: {arena}")
    with working("calibrating a swarm", progress, (0.2, 0.6)):
        swarm = Swarm.from_recording(train, options.observation, arena=arena)
    if arena == "auto" and swarm.arena is None:
        report("individuals come and go across the rim of what was recorded: taken as open space")
    report(str(swarm))
    beside = options.baselines
    beside = all_baselines(swarm) if beside is None else check_baselines(beside, swarm)
    with working("testing for an interaction", progress, (0.6, 0.9)) as tell:
        interaction = swarm.interaction_test(
            seed=derived_seed(seed, Part.INTERACTION), progress=tell
        )
    report(str(interaction))
    rule = None
    if train.count >= 2 * LEAST_ROWS:
        with working("reading the rule of turns", progress, (0.9, 1.0)):
            rule = fit_rule(
                train,
                swarm.arena,
                components=options.components,
                seed=derived_seed(seed, Part.SHIFTING),
                names=[str(name) for name in recording.names],
            )
        report(str(rule))
    if checkpoint is not None:
        # What an earlier analysis left does not belong to the fit that is saved now.
        (as_path(checkpoint) / ANALYSIS.file).unlink(missing_ok=True)
    result = _fit(swarm, train, options, seed, threads, progress, resume, checkpoint)
    shifted = verdict = None
    try:
        if options.resamples:
            shifted = _shifted_rewards(swarm, train, options, seed, threads, progress, result)
        report(str(result))
        if options.judge:
            verdict = _judge(result, test, swarm, beside, seed, threads, progress)
            report(str(verdict))
    except KeyboardInterrupt:
        raise FitInterrupted(result) from None
    return Analysis(summary, decisions, swarm, interaction, result, verdict, shifted, seed, rule)


def _fit(
    swarm: Swarm,
    train: Decisions,
    options: AnalysisSettings,
    seed: int,
    threads: int | None,
    progress: bool | Tell | None,
    resume: Result | None,
    checkpoint: str | os.PathLike[str] | None,
) -> Result:
    return fit(
        swarm,
        train,
        seed=seed,
        update=options.update,
        iterations=options.iterations,
        discount=options.discount,
        resamples=options.resamples,
        anchor="auto",
        judge=False,
        threads=threads,
        progress=progress,
        resume=resume,
        checkpoint=checkpoint,
    )


def _judge(
    result: Result,
    test: Decisions,
    swarm: Swarm,
    baselines: Sequence[str],
    seed: int,
    threads: int | None,
    progress: bool | Tell | None,
) -> Verdict:
    (verdict,) = verdicts_of(
        result,
        test,
        system=swarm,
        seed=derived_seed(seed, Part.JUDGING_HELD_OUT),
        baselines=baselines,
        quick=False,
        progress=progress,
        threads=threads,
    )
    return verdict


def _shifted_rewards(
    swarm: Swarm,
    train: Decisions,
    options: AnalysisSettings,
    seed: int,
    threads: int | None,
    progress: bool | Tell | None,
    result: Result,
) -> Floats:
    """Rewards (K, d) learned as the result was, but with every individual shifted in time."""
    count = min(options.resamples, MOST_SHIFTED)
    moved = shifted_decisions(train, count, derived_seed(seed, Part.SHIFTING))
    fitting = Fit.of(
        swarm,
        train,
        seed=seed,
        update=options.update,
        iterations=options.iterations,
        discount=options.discount,
        threads=threads,
    )
    return fitting.rewards_of_demos(result, [swarm.demo(part) for part in moved], progress)
