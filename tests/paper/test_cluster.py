"""The same units on a real Dask scheduler with real worker processes."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import swarmdp
from swarmdp.cli import main
from swarmdp.paper import cluster, engine
from swarmdp.paper.plan import make_plan
from swarmdp.paper.tasks import Unit, units_of
from swarmdp.support.errors import ClusterError, InvalidInput

from .test_engine import contents

PLAN = make_plan("smoke", seed=3)
FIGURES = ["snapshots", "ising-reward"]
PATIENCE = 2400  # looks at a log, 0.05 s apart


class Processes:
    """A scheduler and its workers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--port", "0", "--no-dashboard", "--no-show")
        self.address = self._wait_for("scheduler", r"Scheduler at: +(tcp://\S+)")

    def worker(self, name: str, source: Path | None = None) -> "subprocess.Popen[bytes]":
        """Start a worker process; `source` is where it finds swarmdp."""
        environment = {**os.environ, **({"PYTHONPATH": str(source)} if source else {})}
        process = self._start(
            f"worker {name}",
            self.address,
            *("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name),
            environment=environment,
        )
        self._wait_for(f"worker {name}", r"Registered to: +(\S+)")
        return process

    def stop(self) -> None:
        for process in self.running:
            process.kill()
        for process in self.running:
            process.wait()

    def _start(
        self, what: str, *arguments: str, environment: dict[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        module = f"distributed.cli.dask_{what.split()[0]}"
        with open(self.folder / f"{what}.log", "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdout=log,
                stderr=log,
                env=environment,
                cwd=self.folder,
            )
        self.running.append(process)
        return process

    def _wait_for(self, what: str, pattern: str) -> str:
        for _ in range(PATIENCE):
            text = (self.folder / f"{what}.log").read_text()
            if match := re.search(pattern, text):
                return match[1]
            assert self.running[-1].poll() is None, text
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} did not come: {text}")


@contextmanager
def started(folder: Path) -> Iterator[Processes]:
    processes = Processes(folder)
    try:
        yield processes
    finally:
        processes.stop()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    with started(folder) as running:
        yield running


@pytest.fixture
def other_version(tmp_path: Path) -> Path:
    """The sources of swarmdp with another version number."""
    source = Path(swarmdp.__file__).parent
    target = tmp_path / "other" / "swarmdp"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    version = target / "_version.py"
    version.write_text(version.read_text().replace(swarmdp.__version__, "0.0.99"))
    return target.parent


def test_a_cluster_gives_the_same_bits_although_a_worker_is_killed(
    processes: Processes, tmp_path: Path
) -> None:
    engine.reproduce(PLAN, tmp_path / "here", figures=FIGURES)
    processes.worker("first")
    doomed = processes.worker("second")

    def kill(progress: engine.Progress) -> None:
        doomed.kill()

    with cluster.on_cluster(processes.address) as executor:
        there = tmp_path / "there"
        engine.reproduce(PLAN, there, figures=FIGURES, executor=executor, progress=kill)
    assert doomed.wait() != 0
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_a_killed_scheduler_is_one_clear_error_and_the_rest_is_kept(
    processes: Processes, tmp_path: Path
) -> None:
    import dask

    processes.worker("only")

    def kill(progress: engine.Progress) -> None:
        processes.running[0].kill()

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
        pytest.raises(ClusterError, match="connection to the scheduler was lost.*start again"),
        cluster.on_cluster(processes.address) as executor,
    ):
        engine.reproduce(
            PLAN, tmp_path / "there", figures=["order"], executor=executor, progress=kill
        )
    assert contents(tmp_path / "there")


def test_a_task_that_raises_is_named_and_the_rest_is_kept(processes: Processes) -> None:
    processes.worker("only")
    good, bad = units_of(PLAN, "snapshots")[0], Unit("no-such-task", 0)
    with cluster.on_cluster(processes.address) as executor:
        with pytest.raises(ClusterError, match="unit no-such-task 0 failed on the cluster"):
            list(executor(PLAN, [bad]))
        done = list(executor(PLAN, [good]))  # the cluster is still of use
    assert done[0][:2] == engine.compute_unit(PLAN, good)[:2]


def test_a_worker_of_another_version_is_refused(processes: Processes, other_version: Path) -> None:
    processes.worker("other", other_version)
    with (
        pytest.raises(ClusterError, match=r"has swarmdp 0\.0\.99.*install the same version"),
        cluster.on_cluster(processes.address),
    ):
        pass


def test_a_worker_of_another_version_that_joins_later_is_refused(
    processes: Processes, other_version: Path
) -> None:
    with cluster.on_cluster(processes.address) as executor:
        processes.worker("other", other_version)
        with pytest.raises(ClusterError, match=r"this worker has swarmdp 0\.0\.99"):
            list(executor(PLAN, units_of(PLAN, "snapshots")))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:9", "no Dask scheduler answers at"),
        ("nonsense", "is not the address of a Dask scheduler"),
        ("tcp://host", "is not the address of a Dask scheduler"),
        ("nonsense://host:1", "is not the address of a Dask scheduler"),
    ],
)
def test_a_wrong_address_is_a_clear_error(
    address: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with pytest.raises(ClusterError, match=message), cluster.on_cluster(address):
        pass


def test_waiting_for_workers_is_said(
    processes: Processes, caplog: pytest.LogCaptureFixture
) -> None:
    unit = units_of(PLAN, "snapshots")[0]

    def come() -> None:
        for _ in range(PATIENCE // 4):
            if "no workers at" in caplog.text:
                break
            time.sleep(0.05)
        processes.worker("late")

    with (
        caplog.at_level("WARNING", "swarmdp.paper"),
        cluster.on_cluster(processes.address) as executor,
    ):
        done = executor(PLAN, [unit])
        late = threading.Thread(target=come)
        late.start()
        finished = list(done)
        late.join()
    assert [one for one, _, _ in finished] == [unit]
    assert f"start some with 'dask worker {processes.address}'" in caplog.text


def test_local_workers_give_the_same_bits_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, more in (("here", []), ("workers", ["--workers", "2"])):
        arguments = ["reproduce", "--scale", "smoke", "--seed", "3", "--only", "snapshots", *more]
        main([*arguments, "-o", str(tmp_path / folder)])
    assert contents(tmp_path / "here") == contents(tmp_path / "workers")
    with (
        pytest.raises(InvalidInput, match="workers must be an integer of at least 1"),
        cluster.on_local_workers(0),
    ):
        pass
