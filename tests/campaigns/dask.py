"""Workers and schedulers of a Dask cluster that die, freeze, come back or are of another version.

A reproduction on a cluster to which something happens ends with the same bits, or with one
`ClusterError`; what was finished is kept, and a second start ends with the same bits.
"""

import importlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import swarmdp
from swarmdp.paper import cluster, engine
from tests.campaigns.forks import Fork, left_over
from tests.campaigns.framework import ACCEPTED, EXPLAINED, Attempt, Campaign
from tests.campaigns.kills import PLAN

DIFFERENT = "other bits"
LOST = "finished units lost"
FIGURES = ("ising-reward",)
WORKERS = ("first", "second")
# A cluster's patience, in seconds instead of minutes: the same happens, sooner.
QUICK = {
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "20s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "4s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "15s",
    "DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "2s",
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "3",
}
FROZEN_SECONDS = 3.0
LOOKS = 4800  # at a log, 0.05 s apart
whole: dict[str, bytes] = {}


@dataclass
class Cluster:
    """A scheduler and its workers, each a process with a log in a folder."""

    folder: Path
    port: int = 0
    running: "dict[str, subprocess.Popen[bytes]]" = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        return f"tcp://127.0.0.1:{self.port}"

    def scheduler(self) -> None:
        """Start the scheduler, at the port where it was before."""
        if not self.port:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
        where = ("--host", "127.0.0.1", "--port", str(self.port))
        self._start("scheduler", "scheduler", *where, "--no-dashboard", "--no-show")
        self._wait_for("scheduler", r"Scheduler at: +(tcp://\S+)")

    def worker(self, name: str, source: Path | None = None) -> None:
        """Start a worker; `source` is where it finds swarmdp."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
        more = {"PYTHONPATH": f"{source}{os.pathsep}{os.environ['PYTHONPATH']}"} if source else {}
        self._start(name, "worker", self.address, *options, **more)

    def ready(self, name: str) -> None:
        """Wait until the scheduler knows a worker."""
        self._wait_for(name, r"Registered to: +(\S+)")

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to one of them."""
        self.running[name].send_signal(number)
        if number == signal.SIGKILL:
            self.running[name].wait()

    def stop(self) -> None:
        """End all of them."""
        for process in self.running.values():
            process.kill()
        for process in self.running.values():
            process.wait()

    def _start(self, name: str, what: str, *arguments: str, **variables: str) -> None:
        if name in self.running:
            self.running[name].kill()
            self.running[name].wait()
        with open(self.folder / f"{name}.log", "wb") as log:
            self.running[name] = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments],
                stdout=log,
                stderr=log,
                env={**os.environ, **variables},
                cwd=self.folder,
            )

    def _wait_for(self, name: str, pattern: str) -> None:
        for _ in range(LOOKS):
            text = (self.folder / f"{name}.log").read_text()
            if re.search(pattern, text):
                return
            if self.running[name].poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"{name} did not start: {text[-500:]}")


# What happens, each when so many units are done


def worker_killed(nodes: Cluster) -> None:
    nodes.signal("second", signal.SIGKILL)


def all_workers_killed(nodes: Cluster) -> None:
    for name in WORKERS:
        nodes.signal(name, signal.SIGKILL)
    nodes.worker("third")


def worker_stopped_politely(nodes: Cluster) -> None:
    nodes.signal("second", signal.SIGTERM)


def worker_frozen(nodes: Cluster) -> None:
    nodes.signal("second", signal.SIGSTOP)


def worker_frozen_for_a_while(nodes: Cluster) -> None:
    nodes.signal("second", signal.SIGSTOP)
    time.sleep(FROZEN_SECONDS)
    nodes.signal("second", signal.SIGCONT)


def scheduler_killed(nodes: Cluster) -> None:
    nodes.signal("scheduler", signal.SIGKILL)


def scheduler_stopped_politely(nodes: Cluster) -> None:
    nodes.signal("scheduler", signal.SIGTERM)


def scheduler_restarted(nodes: Cluster) -> None:
    nodes.signal("scheduler", signal.SIGKILL)
    nodes.scheduler()
    nodes.worker("third")


def scheduler_frozen_for_a_while(nodes: Cluster) -> None:
    nodes.signal("scheduler", signal.SIGSTOP)
    time.sleep(FROZEN_SECONDS)
    nodes.signal("scheduler", signal.SIGCONT)


def other_version_joins(nodes: Cluster) -> None:
    nodes.worker("other", source=Path("other").absolute())
    nodes.signal("second", signal.SIGKILL)


EVENTS: dict[str, Callable[[Cluster], None]] = {
    event.__name__.replace("_", " "): event
    for event in (
        worker_killed,
        all_workers_killed,
        worker_stopped_politely,
        worker_frozen,
        worker_frozen_for_a_while,
        scheduler_killed,
        scheduler_stopped_politely,
        scheduler_restarted,
        scheduler_frozen_for_a_while,
        other_version_joins,
    )
}


def outcome(folder: Path) -> dict[str, bytes]:
    """The units and the plan."""
    names = [*folder.glob("units/*/*"), *folder.glob("plan.json")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(names)}


def prepare() -> None:
    """What must come out, and the sources of another version."""
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    os.environ.update(QUICK)  # before Dask is imported
    importlib.import_module("distributed")
    engine.reproduce(PLAN, Path("whole"), figures=FIGURES, executor=engine.in_threads(1))
    whole.update(outcome(Path("whole")))
    source = Path(swarmdp.__file__).parent
    shutil.copytree(source, "other/swarmdp", ignore=shutil.ignore_patterns("__pycache__"))
    version = Path("other/swarmdp/_version.py")
    version.write_text(version.read_text().replace(swarmdp.__version__, "0.0.99"))


def campaign() -> Campaign:
    """The campaign of clusters."""
    return Campaign("dask", attempt, prepare, hang_seconds=120, memory_bytes=2**40)


def attempt(rng: np.random.Generator) -> Attempt:
    """A reproduction on two workers, to which one thing happens."""
    name = list(EVENTS)[rng.integers(len(EVENTS))]
    after = int(rng.integers(0, 6))  # units

    def run() -> str:
        folder = Path(tempfile.mkdtemp(dir=".")).absolute()
        nodes = Cluster(folder)
        try:
            nodes.scheduler()
            for worker in WORKERS:
                nodes.worker(worker)
            for worker in WORKERS:
                nodes.ready(worker)
            return _run(nodes, EVENTS[name], after)
        finally:
            nodes.stop()
            shutil.rmtree(folder, ignore_errors=True)

    return Attempt(name, f"# {name} after {after} units", run)


def _run(nodes: Cluster, event: Callable[[Cluster], None], after: int) -> str:
    """The reproduction in a fork; the event happens here, once so many units are done."""
    output = nodes.folder / "out"
    fork = Fork(lambda: _reproduce(nodes.address, output))
    ended = None
    while ended is None and len(list(output.glob("units/*/*.nc"))) < after:
        ended = fork.ended(0.02)
    if ended is None:
        event(nodes)
    ended = ended or fork.finished()
    kept = outcome(output)
    if any(whole.get(path) != image for path, image in kept.items()):
        return DIFFERENT
    if ended.code == 0:
        return ACCEPTED if kept == whole else DIFFERENT
    error = [line for line in ended.said.splitlines() if line.startswith("ClusterError: ")]
    if ended.code != 2 or len(error) != 1:
        raise RuntimeError(f"exit code {ended.code}: {ended.said[-300:]}")
    before = {path: (output / path).stat().st_mtime_ns for path in kept}
    engine.reproduce(PLAN, output, figures=FIGURES, executor=engine.in_threads(1))
    if {path: (output / path).stat().st_mtime_ns for path in kept} != before:
        return LOST
    if left_over(output) or outcome(output) != whole:
        return DIFFERENT
    return EXPLAINED


def _reproduce(address: str, output: Path) -> None:
    """What the fork does."""
    with cluster.on_cluster(address) as executor:
        engine.reproduce(PLAN, output, figures=FIGURES, executor=executor)
