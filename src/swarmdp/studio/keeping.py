"""What can be taken away from a scene: trajectories, a GIF, a script."""

import tempfile
import threading
from pathlib import Path

from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.simulation.rollout import rollout
from swarmdp.studio.scene import StudioScene

_SHORTEST_GIF, _LONGEST_GIF = 20, 120  # steps
_drawing = threading.Lock()  # Matplotlib's settings are those of all threads


def trajectories_of(scene: StudioScene, steps: int | None = None) -> dict[str, Trajectory]:
    """Both swarms from the start to now, or for `steps`: the same seed gives the same again."""
    stage = scene.stage
    left, started = stage.play.left, stage.play.started
    steps = stage.step if steps is None else steps
    if isinstance(left, Trajectory):
        steps = min(steps, left.steps)

    def roll_out(policy: Controller) -> Trajectory:
        return rollout(started, policy, steps=steps, seed=stage.seed, threads=1, progress=False)

    return {
        "left": left.until(steps) if isinstance(left, Trajectory) else roll_out(left),
        "right": roll_out(stage.policy),
    }


def gif_of(scene: StudioScene) -> bytes:
    """Both swarms from the start to now, as the content of a GIF."""
    from swarmdp.report.animation import write_gif
    from swarmdp.report.scenes import Scene

    steps = min(max(scene.stage.step, _SHORTEST_GIF), _LONGEST_GIF)
    both = trajectories_of(scene, steps)
    labels = {"left": scene.stage.left_name, "right": scene.moved_by}
    drawn = Scene(scene.system, {labels[side]: swarm for side, swarm in both.items()})
    with tempfile.TemporaryDirectory() as folder, _drawing:
        path = Path(folder) / "swarm.gif"
        write_gif(path, drawn, min(drawn.steps_per_second, scene.stage.fastest))
        return path.read_bytes()
