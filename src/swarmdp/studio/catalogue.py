"""The systems that can be shown, and how to make them again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmdp.irl.result import Result
from swarmdp.learning.planning import plan
from swarmdp.model.system import System, name_of
from swarmdp.model.traits import HasExpert, settings_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.recordings.swarm import Swarm
from swarmdp.studio.planning import PAINTING_DISCOUNT
from swarmdp.support.errors import InvalidInput
from swarmdp.systems.gridworld import Gridworld
from swarmdp.systems.registry import SYSTEMS, class_at, rebuild


@dataclass(frozen=True)
class Entry:
    """One system: its class, and the settings that it starts with."""

    path: str  # module:Class
    system: System | None = None  # None: with the defaults of its class
    recording: Trajectory | None = None  # what it was calibrated from
    source: str | None = None  # the Python expression that makes it, if it is from a file

    @property
    def kind(self) -> type[Any]:
        """Its class."""
        return class_at(self.path)

    def create(self) -> System:
        """The system, as it starts; raises InvalidInput if its class has no defaults."""
        if self.system is not None:
            return self.system
        try:
            system: System = self.kind()
        except TypeError as error:
            raise InvalidInput(
                f"{self.path} cannot be made without settings ({error}): give its fields defaults"
            ) from None
        return system


BUILT_IN: Mapping[str, Entry] = {
    row.class_name: Entry(row.path) for row in SYSTEMS.values() if row.in_studio
}


def calibrated_entry(swarm: Swarm, source: str) -> Entry:
    """A swarm that was made from a recording, which is shown beside it."""
    if swarm.decisions is None:
        raise InvalidInput("this swarm has lost its recording: make it again from its tracks")
    return Entry("", swarm, swarm.demo(swarm.decisions), source)


def expert_to_show(system: System) -> Controller:
    """The expert that the system is compared with; raises InvalidInput if it has none."""
    if isinstance(system, Gridworld):
        return plan(system, system.reward, discount=PAINTING_DISCOUNT).policy
    if not isinstance(system, HasExpert):
        raise InvalidInput(
            f"{name_of(system)} has no expert: give the class a method expert(observations), or "
            "open a recording of it"
        )
    return system.expert


def system_in(opened: Result | Trajectory, entries: Mapping[str, Entry]) -> tuple[str, System]:
    """The system that a fit or trajectory is of, and the name of its entry."""
    name = opened.system_name
    settings = opened.system_settings if isinstance(opened, Result) else opened.settings
    for key, entry in entries.items():
        existing = entry.system
        if existing is not None and name_of(existing) == name and settings_of(existing) == settings:
            return key, existing
        if entry.path.partition(":")[2] == name:
            return key, rebuild(name, settings, entry.kind)
    raise InvalidInput(
        f"it is of {name}, which this studio does not know: start it with --system MODULE:{name}"
    )
