"""Kills of `reproduce`, of fits with a checkpoint and of studies, spread over the whole run.

Started again, the same bits must come out, and nothing may be left over. Most starts are forks of a
process in which everything is imported and compiled, so that the moments fall on what is done and
written; the others are new processes, which die while they import, too.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import swarmdp
import swarmdp.fitting.fit
from swarmdp.paper import engine
from swarmdp.paper.plan import Plan
from tests.campaigns.forks import Ended, Fork, command, left_over
from tests.campaigns.framework import ACCEPTED, Attempt, Campaign

DIFFERENT = "other bits"
LEFT_OVER = "left-over file"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
NEW_PROCESSES = 0.1  # the share of starts that are no forks
# Every iteration is saved, so that kills fall between, before and into checkpoints.
PROGRAM = """
import sys, swarmdp.fitting.fit
swarmdp.fitting.fit.CHECKPOINT_SECONDS = 0
from swarmdp.cli import main
main(sys.argv[1:])
"""
SYSTEM = swarmdp.Vicsek(n_agents=10, radius=0.3)
PLAN = Plan(
    "smoke",
    1,
    vicsek=SYSTEM,
    ising=swarmdp.Ising((8, 8)),
    expert_runs=200,
    experiments=4,
    runs_each=2,
    vicsek_steps=10,
    ising_steps=10,
    demo_steps=50,
    irl_iterations=2,
    learning_iterations=5,
    runs_block=20,
    experiments_block=1,
)


@dataclass(frozen=True)
class Job:
    """What is killed, and the files that must come out the same."""

    name: str
    work: Callable[[Path], object]  # goes on with what is in the folder
    files: tuple[str, ...]  # as patterns
    share: float  # of the attempts
    arguments: Callable[[Path], Sequence[str]] | None = None  # the same as a command

    def start(self, folder: Path, new: bool) -> "Fork | subprocess.Popen[bytes]":
        """Start it in a fork, or in a new process."""
        if new and self.arguments is not None:
            return subprocess.Popen(
                [sys.executable, "-c", PROGRAM, *self.arguments(folder)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        return Fork(lambda: self.work(folder))

    def outcome(self, folder: Path) -> dict[str, object]:
        """The content of all files that must come out the same."""
        paths = sorted(path for pattern in self.files for path in folder.glob(pattern))
        return {path.relative_to(folder).as_posix(): _content(path) for path in paths}


def _content(path: Path) -> object:
    """A file's bytes; the rows of a study without the time that they took."""
    if path.parent.parent.name == "units" or path.suffix != ".json":
        return path.read_bytes()
    plain = json.loads(path.read_text())
    rows = plain if isinstance(plain, list) else [plain]
    return [{k: v for k, v in row.items() if "seconds" not in k} for row in rows]


def _fit(folder: Path) -> None:
    """A fit that saves every iteration, and goes on with what was saved."""
    demo = swarmdp.rollout(SYSTEM, SYSTEM.expert, steps=50, seed=1)
    saved = folder / "result.nc"
    before = swarmdp.load(saved) if saved.exists() else None
    assert before is None or isinstance(before, swarmdp.Result)
    learner = swarmdp.learning.HeterogeneousLearning(steps=10, swarms=1)
    swarmdp.fit(
        SYSTEM,
        demo,
        seed=1,
        iterations=4,
        resamples=0,
        learner=learner,
        judge=False,
        resume=before,
        checkpoint=folder,
    )


def _fit_command(folder: Path) -> list[str]:
    size = ["--n-agents", "10", "--demo-steps", "50", "--iterations", "2", "--resamples", "0"]
    more = ["--resume"] if (folder / "result.nc").exists() else []
    return ["fit", "vicsek", *size, "--no-judge", *more, "-o", str(folder)]


def _reproduce(folder: Path) -> None:
    engine.reproduce(PLAN, folder, figures=["ising-reward"], executor=engine.in_threads(1))


def _reproduce_command(folder: Path) -> list[str]:
    return ["reproduce", "--scale", "smoke", "--only", "snapshots", "-o", str(folder)]


def _study(folder: Path) -> None:
    from studies import calibration

    calibration.study(folder, quick=True)


JOBS = (
    Job("fit with a checkpoint", _fit, ("*.nc",), 0.3),
    Job("reproduce", _reproduce, ("units/*/*", "plan.json"), 0.3),
    Job("study", _study, ("*.json", "*.md"), 0.2),
    # Commands draw figures, which takes long.
    Job(
        "swarmdp fit",
        lambda folder: command(_fit_command(folder))(),
        ("*.nc", "*.png", "*.svg"),
        0.1,
        _fit_command,
    ),
    Job(
        "swarmdp reproduce",
        lambda folder: command(_reproduce_command(folder))(),
        ("units/*/*", "plan.json", "summary.json", "figures/*"),
        0.1,
        _reproduce_command,
    ),
)
whole: dict[str, dict[str, object]] = {}
seconds: dict[tuple[str, bool], float] = {}


def prepare(jobs: Sequence[Job]) -> None:
    """Do every job without a kill: what must come out, and how long it takes."""
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    swarmdp.fitting.fit.CHECKPOINT_SECONDS = 0
    for number, job in enumerate(jobs):
        job.work(Path(f"warm-{number}"))
        for new in (False, True) if job.arguments else (False,):
            folder = Path(f"whole-{number}-{new}")
            began = time.monotonic()
            process = job.start(folder, new)
            ended = process.finished() if isinstance(process, Fork) else Ended(process.wait(), "")
            seconds[job.name, new] = time.monotonic() - began
            if ended.code:
                raise RuntimeError(f"{job.name}: exit code {ended.code}: {ended.said}")
            outcome = job.outcome(folder)
            if not outcome or whole.setdefault(job.name, outcome) != outcome:
                raise RuntimeError(f"{job.name}: another result without any kill")


def campaign(jobs: Sequence[Job] = JOBS) -> Campaign:
    """The campaign of kills."""
    return Campaign("kills", partial(attempt, jobs), partial(prepare, jobs), hang_seconds=300)


def attempt(jobs: Sequence[Job], rng: np.random.Generator) -> Attempt:
    """One job, killed up to three times, then left to end."""
    shares = np.array([job.share for job in jobs])
    job = jobs[rng.choice(len(jobs), p=shares / shares.sum())]
    signals = [SIGNALS[rng.integers(len(SIGNALS))] for _ in range(rng.integers(1, 4))]
    moments = rng.random(len(signals))
    new = rng.random(len(signals)) < NEW_PROCESSES * (job.arguments is not None)
    name = f"{job.name} {' '.join(sent.name for sent in signals)}"

    def run() -> str:
        folder = Path(tempfile.mkdtemp(dir="."))
        try:
            for sent, moment, fresh in zip(signals, moments, new.tolist(), strict=True):
                process = job.start(folder, fresh)
                _kill(process, sent, moment * seconds[job.name, fresh])
            last = job.start(folder, False)
            assert isinstance(last, Fork)
            ended = last.finished()
            if ended.code:
                raise RuntimeError(f"exit code {ended.code}: {ended.said[-300:]}")
            if left := left_over(folder):
                raise RuntimeError(f"{LEFT_OVER}: {left}")
            return ACCEPTED if job.outcome(folder) == whole[job.name] else DIFFERENT
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    shown = ", ".join(f"{m:.3f}{' (new)' * bool(n)}" for m, n in zip(moments, new, strict=True))
    return Attempt(name, f"# {name} at {shown} of its time", run)


def _kill(process: "Fork | subprocess.Popen[bytes]", number: signal.Signals, after: float) -> None:
    """Send a signal at its moment, and wait for the end."""
    if isinstance(process, Fork):
        if process.ended(after) is None:
            process.signal(number)
            process.finished()
        return
    time.sleep(after)
    process.send_signal(number)
    process.wait()
