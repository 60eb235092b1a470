"""The moving picture of the study: points, bodies planned for their reward, and copies."""

from pathlib import Path

import numpy as np
from PIL import Image

import swarmdp
from studies import other_bodies
from studies.bodies.cases import FINAL, GROUPS, bodies_of
from swarmdp.model.streams import derived_seed
from swarmdp.model.system import System
from swarmdp.model.traits import HasExpert
from swarmdp.policies import Controller
from swarmdp.report.animation import LAST_SECONDS, frames
from swarmdp.report.scenes import Scene
from swarmdp.support import files

GROUP, BODY = "flock", "torques"
EXPERIMENT = 0  # the first of the table, not the prettiest
STEPS = 50
_WIDTH, _COLOURS = 720, 32  # of the file, so that it stays small


def swarms() -> dict[str, swarmdp.Trajectory]:
    """The three swarms from the same start, in the first experiment of the table."""
    body = bodies_of(FINAL, GROUP)[BODY]
    known = other_bodies.learned(FINAL, GROUP, EXPERIMENT)
    seed = derived_seed(other_bodies.SEEDS[FINAL], other_bodies.PICTURE)
    planned, _ = other_bodies.planned(body, [known.result], [seed])
    copy = other_bodies.copied(body, known.turns[other_bodies.COPY][None], 1.0)
    points = GROUPS[GROUP].points
    assert isinstance(points, HasExpert)
    shown: dict[str, tuple[System, Controller]] = {
        "points": (points, points.expert),
        f"{BODY}, planned again": (body, planned),
        f"{BODY}, policy copied": (body, copy),
    }
    return {
        label: swarmdp.rollout(system, policy, steps=STEPS, seed=seed, threads=1, progress=False)
        for label, (system, policy) in shown.items()
    }


def write(path: Path) -> Path:
    """Write the picture as a GIF."""
    scene = Scene(GROUPS[GROUP].points, swarms())
    drawn = [Image.fromarray(frame) for frame in frames(scene, range(STEPS + 1))]
    height = round(drawn[0].height * _WIDTH / drawn[0].width)
    small = [frame.resize((_WIDTH, height), Image.Resampling.LANCZOS) for frame in drawn]
    sample = np.concatenate([np.asarray(frame) for frame in small[:: STEPS // 3]])
    palette = Image.fromarray(sample).quantize(_COLOURS)
    shown = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
    pace = round(1000 / scene.steps_per_second)
    with files.replacing(path) as temporary:
        shown[0].save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=shown[1:],
            duration=[pace] * STEPS + [pace + round(1000 * LAST_SECONDS)],
            loop=0,
            optimize=False,  # it would give every frame a palette of its own
        )
    return path
