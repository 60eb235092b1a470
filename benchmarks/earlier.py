"""The present version, 0.1.0 and 0.2.0, each in a process of its own that is given the same work.

Earlier ones are taken from their commits. All run on the same interpreter and libraries; each keeps
its compiled kernels in its own folder. A reading is the processor time of all threads, or for work
on several cores the time that passed.
"""

import atexit
import functools
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import swarmdp
from benchmarks.contest import OURS, Contestant, Measure, Unavailable

EARLIER, LAST = "version 0.1.0", "version 0.2.0"
COMMITS = {EARLIER: "214fde3", LAST: "a8331b5"}  # 0.1.0: the last before the structure changed

WORK = {
    "vicsek fit": """
demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, seed=1)
def work(number):
    fit(vicsek, demo, seed=number, threads=1)
""",
    "ising fit": """
ising = swarmdp.Ising()
demo = swarmdp.rollout(ising, ising.expert, steps=100, seed=1)
def work(number):
    fit(ising, demo, seed=number, threads=1)
""",
    "judged vicsek fit": """
demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, seed=1)
def work(number):
    swarmdp.fit(vicsek, demo, seed=number, threads=1)
""",
    "judged ising fit": """
ising = swarmdp.Ising()
demo = swarmdp.rollout(ising, ising.expert, steps=100, seed=1)
def work(number):
    swarmdp.fit(ising, demo, seed=number, threads=1)
""",
    "batch of fits": """
demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, runs={size}, seed=1)
def work(number):
    fit(vicsek, demo, seed=number, separate=True, threads=2)
""",
    "ising shared policy": """
ising = swarmdp.Ising(shape=({side}, {side}))
def work(number):
    swarmdp.rollout(ising, ising.expert, steps={steps}, runs=64, seed=number, threads=1,
                    record=ising.energy)
""",
    "ising learning": """
ising = swarmdp.Ising(shape=({side}, {side}))
reward = swarmdp.Reward(np.linspace(1.0, 0.0, ising.features.size))
learner = swarmdp.learning.HeterogeneousLearning()
def work(number):
    learner(ising, reward, discount=0.9, seed=number)
""",
    "reproduction": """
import tempfile
from swarmdp.cli import main
def work(number):
    with tempfile.TemporaryDirectory() as folder:
        main(["reproduce", "--scale", "{scale}", "--threads", "2", "-o", folder])
""",
}

_WORKER = """
import inspect, json, sys, time, warnings
warnings.simplefilter("ignore")
answers, sys.stdout = sys.stdout, sys.stderr
import numpy as np
import swarmdp
def fit(*what, **how):
    if "judge" in inspect.signature(swarmdp.fit).parameters:
        how["judge"] = False  # 0.1.0 does not judge
    return swarmdp.fit(*what, **how)
vicsek = swarmdp.Vicsek()
{setup}
for line in sys.stdin:
    number, clock = json.loads(line)
    clock = getattr(time, clock)
    began = clock()
    work(number)
    print(clock() - began, file=answers, flush=True)
"""


def contestants(
    work: str,
    sizes: Mapping[str, object],
    clock: str = "process_time",
    version: str = EARLIER,
) -> tuple[Contestant, Contestant]:
    """The present and an earlier version at this work, of this size."""
    setup = WORK[work].format(**sizes)

    def ours() -> Measure:
        return _measure(Path(swarmdp.__file__).parents[1], setup, clock)

    def theirs() -> Measure:
        return _measure(_sources(COMMITS[version]), setup, clock)

    described = {"work": work, "clock": clock, **sizes}
    return (
        Contestant(OURS, ours, described),
        Contestant(version, theirs, {**described, "commit": COMMITS[version]}),
    )


def _measure(sources: Path, setup: str, clock: str) -> Measure:
    """A process that has done the set-up and waits for work; the same seeds for all of them."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WORKER.format(setup=setup)],
        env={**os.environ, "PYTHONPATH": str(sources)},
        cwd=tempfile.gettempdir(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.kill)
    number = iter(range(1, 1_000_000))

    def measure() -> float:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            print(json.dumps([next(number), clock]), file=process.stdin, flush=True)
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            process.wait()
            complaint = process.stderr.read() if process.stderr else ""
            raise Unavailable(f"its process failed: {' '.join(complaint.splitlines()[-1:])}")
        return float(answer)

    return measure


@functools.cache
def _sources(commit: str) -> Path:
    """The package as it was at this commit, in a temporary folder."""
    root = Path(__file__).parents[1]
    command = ["git", "archive", "--format=tar", commit, "src"]
    try:
        packed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"{commit} cannot be taken from git: {error}") from error
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder.name, filter="data")
    return Path(folder.name) / "src"
