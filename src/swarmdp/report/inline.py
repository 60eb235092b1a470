"""`swarmdp.show`: swarms in motion inside a notebook, without a server."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmdp.irl.result import Result
from swarmdp.model.adapted import Start
from swarmdp.model.system import System, name_of
from swarmdp.model.traits import HasExpert
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.policies.replicas import select_replicas
from swarmdp.report import page
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene, common_steps, swarms_by_label
from swarmdp.simulation.rollout import rollout
from swarmdp.support import files
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput
from swarmdp.support.markup import render
from swarmdp.support.ranges import Index, Seed
from swarmdp.systems.registry import built_in, rebuild

DEFAULT_SHOWN_STEPS = 60  # of policies, if their number is not given
HEIGHT = 640  # pixels of the frame in a notebook


@dataclass(frozen=True, eq=False)
class NotebookPlayer:
    """A player that notebooks display: a page in a frame, which fetches nothing."""

    scene: Scene
    title: str
    steps_per_second: int | None = None

    @property
    def document(self) -> str:
        """The whole page."""
        caption = "Keys: space plays and pauses, arrow keys step."
        player = Player("swarm", self.title, caption, self.scene, self.steps_per_second)
        return page.player_document(player)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page as a file, atomically.

        Parameters
        ----------
        path
            The file, usually .html.

        """
        files.write_text(path, self.document)
        return Path(path)

    def _repr_html_(self) -> str:
        return render(
            "report/templates/frame.html.j2",
            title=self.title,
            height=HEIGHT,
            document=self.document,
        )

    def __repr__(self) -> str:
        names = " and ".join(self.scene.swarms)
        return (
            f"Player of {self.title}: {names}, {self.scene.steps} steps (a notebook shows it; "
            '.save("swarm.html") writes a page)'
        )


@checked(skip=("initial", "swarms"))
def show(
    system: System,
    swarms: Controller | Trajectory | Mapping[str, Controller | Trajectory],
    *,
    steps: Index | None = None,
    seed: Seed = 0,
    initial: Start | None = None,
    steps_per_second: int | None = None,
    title: str | None = None,
) -> NotebookPlayer:
    """Swarms in motion side by side, in a notebook and without a server.

    Parameters
    ----------
    system
        The swarm, with a method `picture`; its main measure is drawn below it.
    swarms
        A policy, or a trajectory with recorded states; or several of these by label. Policies start
        from the same state and meet the same noise.
    steps
        The number of time steps; those of the trajectories, or 60, if not given.
    seed
        Of the roll-outs.
    initial
        Where policies start, instead of `system.initial` (see `swarmdp.rollout`).
    steps_per_second
        How fast it is shown; as the system's picture says if not given.
    title
        Above the player; the system's name if not given.

    Returns
    -------
    NotebookPlayer
        What a notebook displays; `.save("swarm.html")` writes it as a page.

    Raises
    ------
    InvalidInput
        If the system has no picture.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek(n_agents=50)
    >>> swarmdp.show(vicsek, vicsek.expert, steps=10).scene.steps
    10

    """
    named = swarms_by_label(system, swarms)
    length = common_steps(named, steps, DEFAULT_SHOWN_STEPS)

    def run_of(swarm: Controller | Trajectory) -> Trajectory:
        if isinstance(swarm, Trajectory):
            return swarm.until(length)
        return rollout(system, swarm, steps=length, seed=seed, initial=initial, progress=False)

    scene = Scene(system, {label: run_of(swarm) for label, swarm in named.items()})
    return NotebookPlayer(
        scene, title or f"{name_of(system)}: {' and '.join(named)}", steps_per_second
    )


def show_result(
    result: Result, system: System | None, steps: int | None, seed: int, experiment: int
) -> NotebookPlayer:
    """The learned swarm of a fit beside its expert's; what `Result.show` gives."""
    if not 0 <= experiment < result.experiments:
        raise InvalidInput(
            f"experiment must be from 0 to {result.experiments - 1}, got {experiment}"
        )
    if system is None:
        if built_in(result.system_name) is None:
            raise InvalidInput(
                f"the fit is of {result.system_name}, which is not a built-in system: give it, "
                "result.show(system)"
            )
        system = rebuild(result.system_name, result.system_settings)
    swarms: dict[str, Any] = {"expert": system.expert} if isinstance(system, HasExpert) else {}
    swarms["learned"] = select_replicas(result.policy, slice(experiment, experiment + 1))
    return show(system, swarms, steps=steps, seed=seed)
