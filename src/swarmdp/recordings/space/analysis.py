"""`swarmdp.analyse` of recordings in three dimensions: interaction, rule, controller, verdict.

The interaction is asked for in the whole recording. The rule and the controller are found in about
two thirds of the time; the verdict is on the rest, as in the plane.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swarmdp.model.streams import Part, derived_seed
from swarmdp.recordings.analysis_settings import AnalysisSettings
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.interaction import Interaction, interaction_in_words
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.rule import LEAST_ROWS, Rule, fit_rule
from swarmdp.recordings.space.arena import (
    SpaceArena,
    describe_space_arena,
    restore_space_arena,
)
from swarmdp.recordings.space.controller import SpaceController
from swarmdp.recordings.space.groups import (
    SpaceSwarm,
    Stretches,
    measure_groups,
    stretches_of,
)
from swarmdp.recordings.space.interaction import interaction_in_space
from swarmdp.recordings.space.search import (
    FoundSpaceController,
    deaf,
    distances_in_space,
    find_in_space,
    own_distance_in_space,
    rule_in_space,
)
from swarmdp.recordings.summary import Summary
from swarmdp.support.errors import InvalidInput
from swarmdp.support.files import as_path
from swarmdp.support.netcdf import write_dataset
from swarmdp.support.progress import Tell, working
from swarmdp.support.saved import SPACE_ANALYSIS, Packed

if TYPE_CHECKING:
    import pandas
    import xarray

CONTROLLER, REGRESSION = "controller", "regression"
DEAF, ITSELF = "no reaction to others", "recording itself"
REPEATS = 6  # runs from each held-out stretch
_SURE = 3.0  # standard errors of a difference that counts
_LEAST_STRETCHES = 3  # by which a difference can be told from chance
_UNTOLD = ", but so do individuals that ignore the others: the stretches are too short to tell"
_FEW = "too little data"
_NO_BETTER = 0.8  # times the distance of those who ignore the others: it tells nothing of them
_STILL = 1e-9  # share of the largest extent below which a coordinate never changes
_CLEANING = ("jump", "max_gap", "smooth", "slow")


@dataclass(frozen=True)
class MeasuredDifference:
    """One measure of recorded and simulated groups in the held-out time."""

    measure: str
    recorded: float
    simulated: float
    error: float  # standard error of the difference, over stretches of time

    @property
    def is_clear(self) -> bool:
        """Whether the difference is beyond chance."""
        return abs(self.simulated - self.recorded) > _SURE * self.error

    @property
    def words(self) -> str:
        """What is wrong with the simulated group."""
        size = "too large" if self.simulated > self.recorded else "too small"
        return f"{self.measure} {size} ({self.simulated:.3g} instead of {self.recorded:.3g})"


@dataclass(frozen=True)
class SpaceVerdict:
    """Whether simulated groups do what was recorded in the held-out time.

    Parameters
    ----------
    words
        In one sentence.
    reproduces
        Whether they do.
    differences
        All measures.

    """

    words: str
    reproduces: bool
    differences: tuple[MeasuredDifference, ...]

    @property
    def is_telling(self) -> bool:
        """Whether it tells anything of the reaction to others."""
        return not self.words.startswith(_FEW) and _UNTOLD not in self.words

    @property
    def table(self) -> "pandas.DataFrame":
        """One row for each measure."""
        import pandas

        rows = [asdict(part) for part in self.differences]
        names = list(MeasuredDifference.__dataclass_fields__)
        return pandas.DataFrame(rows, columns=names).set_index("measure")


@dataclass(frozen=True, eq=False)
class SpaceAnalysis:
    """What `swarmdp.analyse` found in a recording in three dimensions.

    Parameters
    ----------
    summary
        What the recording is like.
    decisions
        What individuals did at even times; `decisions.train` and `decisions.test` are its parts.
    arena
        Where they were; None for open space.
    interaction
        Whether individuals react to each other.
    rule
        What individuals react to, in numbers; None where there are too few decisions.
    swarm
        Speeds and noise of turns, from `decisions.train`.
    found
        The controller that policy search found, and how.
    distances
        The mean energy distance to the group of `decisions.test`, by name; empty without a verdict.
    verdict
        On the group of the controller; None if it was not asked for.
    seed
        The seed of the analysis.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=15, dimensions=3, radius=0.4, noise=0.3)
    >>> tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=90, seed=1)["position"][0]
    >>> recording = swarmdp.Recording(tracks, fps=1, unit="1")
    >>> arena = swarmdp.recordings.PeriodicSpace((1.0, 1.0, 1.0))
    >>> found = swarmdp.analyse(recording, seed=1, dt=1, arena=arena, judge=False)
    >>> type(found).__name__, found.decisions.in_space
    ('SpaceAnalysis', True)

    """

    summary: Summary
    decisions: Decisions
    arena: SpaceArena | None
    interaction: Interaction
    rule: Rule | None
    swarm: SpaceSwarm
    found: FoundSpaceController
    distances: Mapping[str, float] = field(default_factory=dict)
    verdict: SpaceVerdict | None = None
    seed: int = 0

    @property
    def recording(self) -> Recording:
        """What was analysed."""
        return self.summary.recording

    @property
    def controller(self) -> SpaceController:
        """How simulated individuals turn, so that they do as a group what was recorded."""
        return self.found.controller

    @property
    def interaction_in_words(self) -> str:
        """Whether individuals react to each other, and how one knows."""
        return interaction_in_words(self.interaction)

    @property
    def rule_in_words(self) -> tuple[str, ...]:
        """The rule of turns, where there is an interaction or nothing to say of it."""
        found = self.interaction.answer == "interaction found"
        if self.rule is None or not (found or not self.rule.parts):
            return ()
        return self.rule.sentences

    @property
    def distances_in_words(self) -> str:
        """How near the group of the controller is to the held-out time, beside others."""
        listed = ", ".join(f"{name} {value:.2f}" for name, value in self.distances.items())
        return (
            "Energy distance of the simulated group to the held-out time, mean over its measures: "
            f"{listed}."
        )

    @property
    def conclusions(self) -> tuple[str, ...]:
        """The answer in sentences."""
        said = [self.interaction_in_words, *self.rule_in_words]
        said.append(f"The controller: {self.controller.words(self.swarm.unit)}.")
        if self.distances:
            said.append(self.distances_in_words)
        if self.verdict is not None:
            said.append(f"Verdict on {self.decisions.held_out}: {self.verdict.words}.")
        return tuple(said)

    def simulate(self, stretches: Stretches | None = None, *, seed: int = 0) -> Stretches:
        """Groups of the controller that begin as recorded stretches; those held out by default."""
        starts = stretches_of(self.decisions.test) if stretches is None else stretches
        return self.swarm.simulate(self.controller, starts, seed)

    def __repr__(self) -> str:
        lines = [repr(self.recording), repr(self.decisions), *self.conclusions]
        return "Analysis of a recording in three dimensions\n" + "\n".join(
            f"  {line}" for line in lines
        )

    def to_plain(self) -> dict[str, Any]:
        """The analysis as plain data, for a JSON file."""
        test = self.interaction
        return {
            "recording": self.summary.to_plain(),
            "dimensions": 3,
            "decisions": {
                "dt": self.decisions.dt,
                "train": self.decisions.train.count,
                "test": self.decisions.test.count,
                "position_error": self.decisions.error,
            },
            "arena": describe_space_arena(self.arena),
            "interaction": {
                "answer": test.answer,
                "gain": test.gain,
                "interval": list(test.interval),
                "shifted": test.shifted.tolist(),
                "p": test.p,
                "decisions": test.decisions,
            },
            "rule": None if self.rule is None else self.rule.to_plain(),
            "controller": self.found.to_plain(),
            "energy_distances": dict(self.distances),
            "seed": self.seed,
            "verdict": None if self.verdict is None else asdict(self.verdict),
            "conclusions": list(self.conclusions),
        }

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the analysis into a folder, atomically; `swarmdp.load` reads it.

        Parameters
        ----------
        folder
            Made if it is not there.

        """
        from swarmdp.recordings.swarm_files import pack_recording

        packed = Packed()
        pack_recording(packed, self.recording)
        packed.add("decisions", self.decisions)
        packed.add("interaction", self.interaction)
        packed.add("speeds", self.swarm.speeds)
        cleaned = self.summary.cleaned
        packed.plain["cleaning"] = {name: getattr(cleaned, name) for name in _CLEANING}
        packed.plain["arena"] = describe_space_arena(self.arena)
        packed.plain["rule"] = None if self.rule is None else self.rule.to_plain()
        packed.plain["together"] = self.swarm.together
        packed.plain["found"] = self.found.to_plain()
        packed.plain["distances"] = dict(self.distances)
        packed.plain["verdict"] = None if self.verdict is None else asdict(self.verdict)
        packed.plain["seed"] = self.seed
        packed.arrays["noise"] = self.swarm.noise
        place = as_path(folder)
        place.mkdir(parents=True, exist_ok=True)
        path = place / SPACE_ANALYSIS.file
        write_dataset(path, packed.dataset(SPACE_ANALYSIS))
        return path

    @classmethod
    def from_xarray(cls, dataset: "xarray.Dataset") -> "SpaceAnalysis":
        """The analysis in a dataset of `save`."""
        from swarmdp.recordings.calibration import Wandering
        from swarmdp.recordings.swarm_files import unpack_recording

        packed = Packed.of(dataset, SPACE_ANALYSIS)
        get, plain = packed.arrays, packed.plain
        test = dict(plain["interaction"])
        decisions = packed.take(Decisions, "decisions")
        arena = restore_space_arena(plain["arena"])
        speeds = packed.take(Wandering, "speeds")
        verdict = plain["verdict"]
        if verdict is not None:
            differences = tuple(MeasuredDifference(**part) for part in verdict["differences"])
            verdict = SpaceVerdict(verdict["words"], verdict["reproduces"], differences)
        return cls(
            unpack_recording(packed).summary(**plain["cleaning"]),
            decisions,
            arena,
            Interaction(
                **test | {"interval": tuple(test["interval"])}, shifted=get["interaction_shifted"]
            ),
            None if plain["rule"] is None else Rule.from_plain(plain["rule"]),
            SpaceSwarm(
                arena, decisions.dt, decisions.unit, speeds, plain["together"], get["noise"]
            ),
            FoundSpaceController.from_plain(plain["found"]),
            plain["distances"],
            verdict,
            int(plain["seed"]),
        )


def in_the_plane_if_flat(recording: Recording, report: Callable[[str], None]) -> Recording:
    """The recording; one in three dimensions of which one never changes without this one."""
    if recording.n_axes != 3 or not recording.present.any():
        return recording
    width = np.ptp(recording.positions[recording.present], axis=0)
    still = np.flatnonzero(width <= _STILL * max(float(width.max()), 1e-300))
    if len(still) != 1:
        return recording
    one, other = (axis for axis in range(3) if axis != still[0])
    report(f"{'xyz'[still[0]]} never changes: analysed in the plane of the two others")
    return recording.projected((one, other))


def space_arena(arena: Any) -> SpaceArena | None:
    """The arena of an analysis in three dimensions; raises InvalidInput for one of the plane."""
    if arena is None or arena == "auto":
        return None
    if isinstance(arena, SpaceArena):
        return arena
    raise InvalidInput(
        f"a recording in three dimensions needs an arena in space (Sphere, Cuboid or "
        f"PeriodicSpace of swarmdp.recordings) or open space, got {arena!r}: give one, or project "
        "the recording: recording.projected(axes=(0, 1)).decisions()"
    )


def analyse_in_space(
    recording: Recording,
    options: AnalysisSettings,
    *,
    seed: int,
    report: Callable[[str], None],
    progress: bool | Tell | None,
) -> SpaceAnalysis:
    """The analysis of a recording in three dimensions; see `swarmdp.analyse`."""
    arena = space_arena(options.arena)
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
    if options.arena == "auto":
        report("three dimensions: taken as open space; walls can be given (--arena)")
    with working("testing for an interaction", progress, (0.2, 0.6)) as tell:
        interaction = interaction_in_space(
            decisions, arena, seed=derived_seed(seed, Part.INTERACTION), progress=tell
        )
    report(str(interaction))
    rule = None
    if train.count >= 2 * LEAST_ROWS:
        with working("reading the rule of turns", progress, (0.6, 1.0)):
            rule = fit_rule(
                train,
                arena,
                components=options.components,
                seed=derived_seed(seed, Part.SHIFTING),
                names=[str(name) for name in recording.names],
            )
        report(str(rule))
    with working("searching for a controller", progress):
        swarm, found = find_in_space(train, arena, rule, seed=derived_seed(seed, Part.CONTROLLER))
    report(f"controller: {found.words(swarm.unit)}")
    distances: dict[str, float] = {}
    verdict = None
    if options.judge:
        held_out = stretches_of(test)
        rough = rule_in_space(train, rule)
        models = {CONTROLLER: found.controller, REGRESSION: rough, DEAF: deaf(rough)}
        judging = derived_seed(seed, Part.GROUP_DISTANCES)
        if held_out.count:
            distances = distances_in_space(swarm, models, held_out, judging)
            distances[ITSELF] = own_distance_in_space(stretches_of(train), held_out, arena)
        verdict = judge_in_space(swarm, found.controller, held_out, distances, judging + 1)
        report(f"Verdict: {verdict.words}")
    return SpaceAnalysis(
        summary, decisions, arena, interaction, rule, swarm, found, distances, verdict, seed
    )


def judge_in_space(
    swarm: SpaceSwarm,
    controller: SpaceController,
    held_out: Stretches,
    distances: Mapping[str, float],
    seed: int,
) -> SpaceVerdict:
    """Whether the group of a controller does what was recorded in stretches of time.

    A group that is as near to the held-out time as the recording itself is reproduced; what can
    still be told apart are exceptions.
    """
    if held_out.count < _LEAST_STRETCHES:
        words = f"{_FEW}: {held_out.count} stretches of time are held out"
        return SpaceVerdict(words, False, ())
    recorded = measure_groups(held_out, swarm.arena)
    simulated = measure_groups(swarm.simulate(controller, held_out, seed, REPEATS), swarm.arena)
    differences = []
    for name, values in recorded.items():
        ours = simulated[name].reshape(held_out.count, REPEATS, -1)
        there, here = (_mean_over_times(array) for array in (ours.mean(axis=1), values))
        usable = np.isfinite(there) & np.isfinite(here)
        if usable.sum() < _LEAST_STRETCHES:
            continue
        gap = (there - here)[usable]
        error = float(gap.std(ddof=1) / np.sqrt(len(gap)))
        differences.append(
            MeasuredDifference(name, float(here[usable].mean()), float(there[usable].mean()), error)
        )
    clear = [part for part in differences if part.is_clear]
    near = distances[CONTROLLER] <= distances[ITSELF]
    rest = ""
    if controller.zonal.model.zones and distances[CONTROLLER] > _NO_BETTER * distances[DEAF]:
        rest = _UNTOLD
    if not clear:
        return SpaceVerdict(f"reproduces the recording{rest}", True, tuple(differences))
    listed = "; ".join(part.words for part in clear)
    if near:
        return SpaceVerdict(f"reproduces it{rest}, except: {listed}", True, tuple(differences))
    return SpaceVerdict(f"does not reproduce it: {listed}", False, tuple(differences))


def _mean_over_times(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The mean of each row over the times at which it is known; NaN without any."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)
