"""What is in the folder of a fit: the fit, its system, and what it is compared with."""

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from swarmdp.cli.systems import expert_or_none, system_of
from swarmdp.support import files, folders
from swarmdp.support.errors import InvalidInput

DEMO = "demo.nc"  # what the fit learned from


def add_experiment(group: Any) -> None:
    """Add the option of the experiment, for fits that have several."""
    group.add_argument(
        "--experiment", type=int, default=0, help="experiment of the fit, counted from 0"
    )


def fit_in(folder: Path, experiment: int = 0) -> Any:
    """Load the fit in a folder or file; raises InvalidInput if it has no such experiment."""
    from swarmdp.irl.result import Result
    from swarmdp.recordings.space.analysis import SpaceAnalysis
    from swarmdp.support.saved import FIT, load

    # Beside the fit of a recording there is its whole analysis, which is not needed.
    whole = files.is_folder(folder)
    if whole:
        folders.settle(folder)
    inside = whole and files.exists(folder / FIT.file)
    result = load(folder / FIT.file if inside else folder)
    if inside:
        folders.warn_if_mixed(folder, FIT.file)
    if isinstance(result, SpaceAnalysis):
        raise InvalidInput(
            f"{folder} is an analysis in three dimensions, which has no fit of a reward: its "
            "report.html shows the groups, summary.json has the controller; swarmdp.load reads it"
        )
    if not isinstance(result, Result):
        raise InvalidInput(f"{folder} is not a fit: give the folder that swarmdp fit wrote")
    if not 0 <= experiment < result.experiments:
        raise InvalidInput(
            f"--experiment must be from 0 to {result.experiments - 1}, got {experiment}"
        )
    return result


def earlier_fit(output: Path) -> Any:
    """The fit to go on with: that of a run that was killed, or the one that was saved."""
    from swarmdp.support.saved import FIT, load

    unfinished = output / folders.UNFINISHED / FIT.file
    return load(unfinished if files.exists(unfinished) else output / FIT.file)


def expert_beside(folder: Path, system: Any, discount: float) -> Any:
    """The expert of a fit's system, or the recording that the fit learned from.

    For an analysis it is the part of the recording that was held out.
    """
    from swarmdp.recordings.swarm import Swarm
    from swarmdp.support.saved import load

    if isinstance(system, Swarm):
        return held_out_beside(folder, system)
    expert = expert_or_none(system, discount)
    if expert is not None:
        return expert
    demo = _folder_of(folder) / DEMO
    if not files.exists(demo):
        raise InvalidInput(
            f"{type(system).__name__} has no expert, and there is no {DEMO} beside the fit: give "
            "the class a method expert(observations), or fit with swarmdp fit, which keeps the demo"
        )
    if problem := folders.mixed(demo.parent, demo.name):
        raise InvalidInput(problem)
    return load(demo)


def system_beside(folder: Path, result: Any, path: str | None) -> Any:
    """The system of a fit: rebuilt from its settings, or a recorded swarm saved beside it."""
    from swarmdp.recordings.swarm import Swarm
    from swarmdp.support.saved import SWARM, load

    if path is not None or result.system_name != Swarm.__name__:
        return system_of(result, path)
    file = _folder_of(folder) / SWARM.file
    if not files.exists(file):
        raise InvalidInput(
            f"it is a fit of a recorded swarm, and there is no {SWARM.file} beside it: save the "
            "swarm with swarm.save(FOLDER), or use swarmdp fit --tracks, which does"
        )
    swarm = load(file)
    if json.loads(json.dumps(swarm.settings)) != dict(result.system_settings):
        raise InvalidInput(f"{file} is not the swarm of this fit: it has other settings")
    return swarm


def held_out_beside(folder: Path, swarm: Any) -> Any:
    """The held-out decisions of an analysis as a trajectory; without one, those of the swarm."""
    from swarmdp.support.saved import ANALYSIS, load

    path = _folder_of(folder) / ANALYSIS.file
    if files.exists(path):
        return swarm.demo(load(path).decisions.test)
    if swarm.decisions is None:
        raise InvalidInput(
            "the swarm was saved without its recording, so there is nothing to compare it with"
        )
    return swarm.demo(swarm.decisions)


def analysis_in(folder: Path) -> Any:
    """The analysis of a recording in a folder; None if there is only a fit, or something else."""
    from swarmdp.support.saved import ANALYSIS, load

    whole = files.is_folder(folder)
    if whole:
        folders.settle(folder)
    if not whole or not files.exists(folder / ANALYSIS.file):
        return None
    folders.warn_if_mixed(folder, ANALYSIS.file)
    return load(folder / ANALYSIS.file)


def interrupted_fit_note(
    result: Any, planned: int, missing: str, options: argparse.Namespace, output: Path
) -> str:
    """What an interrupted fit leaves, and how to continue it.

    Parameters
    ----------
    result
        The fit so far.
    planned
        The number of iterations that were asked for.
    missing
        What comes after the iterations, in words.
    options
        Of the command.
    output
        The folder in which the fit is saved.

    """
    done = len(result.iterations)
    more = "" if done < planned else f"; {missing} is missing"
    arguments = sys.argv[1:] if sys.argv[1:2] == ["fit"] else ["fit", "..."]
    again = [part for part in arguments if part != "--resume"]
    if options.output is None:
        again += ["-o", str(output)]
    return (
        f"{done} of {planned} iterations are kept in {output}{more}. Continue with: swarmdp "
        f"{shlex.join([*again, '--resume'])}"
    )


def _folder_of(fit: Path) -> Path:
    return fit if files.is_folder(fit) else fit.parent
