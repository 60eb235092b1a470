"""Kills of `reproduce` and of `fit` with a checkpoint, at moments spread over the whole run.

Started again, the same bits must come out, and nothing may be left over.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.campaigns.framework import ACCEPTED, Attempt, Campaign

DIFFERENT = "other bits"
LEFT_OVER = "left-over file"
RAW = "raw error"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
# Every iteration is saved, so that kills fall between, before and into checkpoints.
PROGRAM = """
import sys, swarmdp.fitting
swarmdp.fitting.CHECKPOINT_SECONDS = 0
from swarmdp.cli import main
main(sys.argv[1:])
"""


@dataclass(frozen=True)
class Job:
    """A command that is killed, and the files that must come out the same."""

    name: str
    arguments: Sequence[str]
    files: tuple[str, ...]  # as patterns

    def command(self, folder: Path) -> list[str]:
        """The command, which goes on with what is in the folder."""
        more = ["--resume"] if self.name == "fit" and (folder / "result.nc").exists() else []
        return [sys.executable, "-c", PROGRAM, *self.arguments, *more, "-o", str(folder)]

    def outcome(self, folder: Path) -> dict[str, bytes]:
        """The bytes of all files that must come out the same."""
        found = sorted(path for pattern in self.files for path in folder.glob(pattern))
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


SMALL = ("--n-agents", "20", "--demo-steps", "50", "--no-judge")
JOBS = (
    Job(
        "fit",
        ("fit", "vicsek", *SMALL, "--iterations", "4", "--restarts", "0"),
        ("*.nc", "*.png", "*.svg"),
    ),
    Job(
        "reproduce",
        ("reproduce", "--scale", "smoke", "--only", "snapshots", "ising-reward"),
        ("units/*/*", "plan.json", "summary.json", "figures/*"),
    ),
)
whole: dict[str, dict[str, bytes]] = {}
seconds: dict[str, float] = {}


def prepare() -> None:
    """Do every job once without a kill: what must come out, and how long it takes."""
    os.chdir(tempfile.mkdtemp(prefix="swarmdp-kills-"))
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    for job in JOBS:
        for name in ("compiled", "whole"):  # the first may have to compile
            folder, began = Path(f"{name}-{job.name}"), time.monotonic()
            subprocess.run(job.command(folder), check=True, capture_output=True)
            seconds[job.name] = time.monotonic() - began
        whole[job.name] = job.outcome(folder)


def campaign() -> Campaign:
    """The campaign of kills."""
    return Campaign("kills", attempt, prepare, hang_seconds=300)


def attempt(rng: np.random.Generator) -> Attempt:
    """One job, killed up to three times, then left to end."""
    job = JOBS[rng.integers(len(JOBS))]
    signals = [SIGNALS[rng.integers(len(SIGNALS))] for _ in range(rng.integers(1, 4))]
    moments = rng.random(len(signals))
    name = f"{job.name} {' '.join(each.name for each in signals)}"

    def run() -> str:
        folder = Path(tempfile.mkdtemp(dir="."))
        try:
            for each, moment in zip(signals, moments, strict=True):
                _killed(job, folder, each, moment * seconds[job.name])
            ended = subprocess.run(job.command(folder), capture_output=True, text=True, check=False)
            if ended.returncode != 0:
                raise RuntimeError(f"{RAW}: {ended.stderr[-300:]}")
            left = [path.name for path in folder.rglob(".*") if path.name != ".lock"]
            if left:
                return LEFT_OVER
            return ACCEPTED if job.outcome(folder) == whole[job.name] else DIFFERENT
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    shown = ", ".join(f"{m:.3f}" for m in moments)
    return Attempt(name, f"# {name} at {shown} of {' '.join(job.arguments)}", run)


def _killed(job: Job, folder: Path, number: signal.Signals, after: float) -> None:
    process = subprocess.Popen(
        job.command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(after)
    process.send_signal(number)
    process.wait()
