"""What a tab looks at: a system on the stage, and what moves the right one of its two swarms."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from swarmdp.irl.expectations import feature_expectations
from swarmdp.irl.result import Result
from swarmdp.model.rewards import Reward
from swarmdp.model.system import System, class_map
from swarmdp.model.traits import null_action
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller, LocalPolicy, Policy
from swarmdp.policies.replicas import select_replicas
from swarmdp.recordings.analysis import Analysis
from swarmdp.recordings.swarm import Swarm
from swarmdp.studio import planning
from swarmdp.studio.catalogue import Entry, calibrated_entry, expert_to_show, system_in
from swarmdp.studio.folder import Opened
from swarmdp.studio.knobs import knobs_of, system_with
from swarmdp.studio.learning import first_errors, identified_weights
from swarmdp.studio.meanings import meaning_of
from swarmdp.studio.presets import presets_of
from swarmdp.studio.stage import Play, StudioStage
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput


@dataclass(eq=False)
class StudioScene:
    """A stage with everything that the page shows beside it."""

    stage: StudioStage
    entry: str  # its system's name in the catalogue
    base: System  # whose settings the sliders change
    given: Mapping[str, float]  # what the sliders were set to
    recording: str | None = None  # the file on the left
    not_paintable: str = ""  # why its reward cannot be painted; empty if it can
    expert_mu: Floats | None = None
    weights: tuple[float, ...] | None = None  # painted
    moved_by: str = "nothing"  # "painted", "learned" or "opened"
    opened: str | None = None  # the Python expression of its policy, if that is from a file
    waiting: bool = False  # its swarms rest until the first policy is planned

    @property
    def system(self) -> System:
        """The system."""
        return self.stage.play.system

    @property
    def expert_weights(self) -> tuple[float, ...] | None:
        """The reward that is painted at first: how often the expert observes each class."""
        if self.expert_mu is None:
            return None
        scaled = self.expert_mu / max(self.expert_mu.max(), 1e-12)
        return tuple(float(f"{weight:.3g}") for weight in scaled)

    def has_features_of(self, other: "StudioScene") -> bool:
        """Whether rewards of the other scene are rewards of this one."""
        return self.entry == other.entry and _axes(self.system) == _axes(other.system)

    def follow(self, policy: LocalPolicy, weights: tuple[float, ...], source: str) -> None:
        """Show a policy and its reward from a file; `source` is the Python expression of it."""
        self.weights, self.moved_by, self.opened = weights, "opened", source
        self.stage.follow(policy)
        self.stage.collect(Reward(weights))

    def take_over(self, before: "StudioScene") -> None:
        """Let the right swarm follow what moved it in the scene before, if it can."""
        if not self.has_features_of(before):
            return
        self.weights, self.opened = before.weights, before.opened
        try:
            self.stage.follow(before.stage.policy)
        except InvalidInput:
            return
        self.moved_by = before.moved_by
        if before.weights is not None:
            self.stage.collect(Reward(before.weights))

    def description(self) -> dict[str, Any]:
        """What the page has to know of the scene before its first frame, as plain data."""
        now = {knob.name: knob.value for knob in knobs_of(self.system)}
        knobs = [replace(k, value=now.get(k.name, k.value)) for k in knobs_of(self.base)]
        painted = not self.not_paintable
        return {
            **self.stage.description(),
            "entry": self.entry,
            "knobs": knobs,
            "given": self.given,
            "blocks": axes_of(self.system) if painted else [],
            "presets": presets_of(self.system) if painted else [],
            "mirror": planning.mirrored_weights(self.system) if painted else None,
            "why": self.not_paintable,
            "weights": self.weights,
            "expert": None if self.expert_mu is None else self.expert_mu.tolist(),
            "recording": self.recording,
            "moved_by": self.moved_by,
            "planned_with": planning.small_swarm(self.system).n_agents,
        }


class SceneMaker:
    """Makes the scenes of one tab from the systems of the catalogue and the files of its folder.

    Making a scene compiles and runs its system: call it in a thread.
    """

    def __init__(self, entries: Mapping[str, Entry], folder: Path) -> None:
        self.entries, self._folder = dict(entries), folder
        self._number = 0

    def from_system(
        self, name: str, given: Mapping[str, float], seed: int, before: StudioScene | None
    ) -> StudioScene:
        """A system of the catalogue with settings as the page shows them.

        Settings that are not given are those of the scene before, or the system's defaults.
        """
        if name not in self.entries:
            raise InvalidInput(f"there is no system {name!r} here, but: {', '.join(self.entries)}")
        entry = self.entries[name]
        base = entry.create() if before is None else before.base
        system = system_with(base, given)
        left = entry.recording or expert_to_show(system)
        return self._make(name, base, given, Play(system, left, seed))

    def from_file(self, name: str, opened: Opened, seed: int) -> StudioScene:
        """What was opened from a file of the folder."""
        if isinstance(opened, Swarm | Analysis):
            return self._calibrated_scene(name, opened, seed)
        entry, system = system_in(opened, self.entries)
        if isinstance(opened, Trajectory):
            scene = self._make(entry, system, {}, Play(system, opened.only(0), seed))
            scene.recording = name
            return scene
        left = self.entries[entry].recording or expert_to_show(system)
        scene = self._make(entry, system, {}, Play(system, left, seed))
        policy = select_replicas(opened.policy, slice(0, 1))
        weights = tuple(opened.reward.weights[0].tolist())
        scene.follow(policy, weights, f"{self._load(name)}.policy")
        return scene

    def _calibrated_scene(self, name: str, opened: Swarm | Analysis, seed: int) -> StudioScene:
        """A swarm made from tracks beside its recording, and what an analysis learned of it."""
        source = self._load(name)
        analysis = opened if isinstance(opened, Analysis) else None
        system = opened.swarm if isinstance(opened, Analysis) else opened
        entry = calibrated_entry(system, source if analysis is None else f"{source}.swarm")
        assert entry.recording is not None
        self.entries[name] = entry
        scene = self._make(name, system, {}, Play(system, entry.recording, seed))
        if analysis is not None:
            weights = tuple(analysis.result.reward.weights[0].tolist())
            # The studio paints rewards: what it shows is the policy that was planned for this one.
            scene.follow(analysis.result.policy, weights, f"{source}.result.policy")
        return scene

    def _load(self, name: str) -> str:
        return f"swarmdp.load({str(self._folder / name)!r})"

    def _make(
        self, entry: str, base: System, given: Mapping[str, float], play: Play
    ) -> StudioScene:
        self._number += 1
        why, mu = "", None
        try:
            planning.check_paintable(play.system)
        except InvalidInput as error:
            why = str(error)
        policy: Controller
        if why:
            policy = expert_to_show(play.system)
        else:
            policy = Policy(np.full(class_map(play.system).size, null_action(play.system)))
            mu = _expert_mu(play)
        stage = StudioStage(play, policy, self._number)
        stage.advance()  # compiles what moves it
        stage.restart(play.seed)
        return StudioScene(stage, entry, base, given, not_paintable=why, expert_mu=mu)


def opened_facts(opened: Opened) -> dict[str, Any]:
    """What the page tells of a file that was opened."""
    if isinstance(opened, Result):
        return {
            "what": "fit",
            "distance": float(opened.distance[0]),
            "error": first_errors(opened.reward_error),
            "identified": identified_weights(opened),
            "verdict": opened.verdicts[0].words if opened.verdicts else "",
            "experiments": opened.experiments,
        }
    if isinstance(opened, Analysis):
        verdict = opened.verdict
        return {"what": "analysis", **({} if verdict is None else {"verdict": verdict.words})}
    return {"what": "swarm" if isinstance(opened, Swarm) else "trajectory"}


def axes_of(system: System) -> list[list[dict[str, Any]]]:
    """The axes of a reward's blocks as the page shows them, with what their classes mean."""
    return [
        [
            {**shown.to_json(), "label": shown.label, "meaning": meaning_of(system, shown)}
            for shown in (axis.shown for axis in block)
        ]
        for block in system.features.blocks
    ]


def _axes(system: System) -> list[list[dict[str, Any]]]:
    return [[axis.to_json() for axis in block] for block in system.features.blocks]


def _expert_mu(play: Play) -> Floats:
    """The share of (discounted) time that each feature has under the expert or in the recording."""
    if isinstance(play.left, Trajectory):
        discount = planning.PAINTING_DISCOUNT
        mu = feature_expectations(play.system, play.left, discount=discount)
        mean: Floats = mu.mean(axis=0) * (1 - discount)
        return mean
    return planning.expectations(planning.small_swarm(play.system), play.left)
