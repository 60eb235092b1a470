"""Full and read-only disks, limits on memory, file sizes and descriptors, no home, no cache, ...

Every situation with every command that it concerns: each ends with the right result, the same bits
as without, or with one clear error. Nothing half-written, nothing left over.
"""

import asyncio
import contextlib
import ctypes
import hashlib
import itertools
import json
import multiprocessing as mp
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import swarmdp
from tests.campaigns.forks import Ended, Fork, command, left_over
from tests.campaigns.framework import ACCEPTED, EXPLAINED, Attempt, Campaign, limit_memory

DIFFERENT = "other bits"
HALF = "half-written file"
LEFT_OVER = "left-over file"
UNSAID = "not said in one line"

SMALL = ("--n-agents", "10", "--seed", "3", "--threads", "1")
# A command's arguments; OUT is where it writes, in a folder that the situation makes narrow.
COMMANDS: dict[str, tuple[str, ...]] = {
    "simulate": ("simulate", "vicsek", *SMALL, "--steps", "50", "-o", "OUT/new"),
    "fit": (
        *("fit", "vicsek", *SMALL, "--demo-steps", "50", "--iterations", "2"),
        *("--resamples", "0", "--no-judge", "-o", "OUT/new"),
    ),
    "evaluate": ("evaluate", "fit", "--runs", "2", "--steps", "5", "-o", "OUT/new"),
    "export": ("export", "fit", "-o", "OUT/controller.json"),
    "animate": ("animate", "--fit", "fit", "--steps", "3", "-o", "OUT/swarm.html"),
    "reproduce": (
        *("reproduce", "--scale", "smoke", "--only", "snapshots", "--threads", "2"),
        *("-o", "OUT/new"),
    ),
    "report": ("report", "OUT/run"),
}
KIBI = 2**10
MEBI = 2**20

whole: dict[str, dict[str, bytes]] = {}
expected: dict[str, str] = {}


@dataclass(frozen=True)
class Situation:
    """What is narrow: the folder, which its context makes and removes, or the process."""

    name: str
    folder: Callable[[Path], contextlib.AbstractContextManager[None]]
    process: Callable[[], None] = lambda: None


# Folders


@contextlib.contextmanager
def plain(path: Path) -> Iterator[None]:
    """A folder in which all is well."""
    path.mkdir(exist_ok=True)
    yield


def full(free: int) -> Callable[[Path], contextlib.AbstractContextManager[None]]:
    """A disk with so many bytes left."""

    @contextlib.contextmanager
    def disk(path: Path) -> Iterator[None]:
        with mounted(path, "size=16m"):
            _run_beside(path)
            left = os.statvfs(path).f_bavail * os.statvfs(path).f_frsize
            with open(path / "filler", "wb") as filler:
                os.posix_fallocate(filler.fileno(), 0, max(1, left - free))
            yield

    return disk


@contextlib.contextmanager
def read_only_disk(path: Path) -> Iterator[None]:
    """A disk that was mounted read-only."""
    with mounted(path, "size=16m"):
        _run_beside(path)
        subprocess.run(["mount", "-o", "remount,ro", path], check=True)
        yield


@contextlib.contextmanager
def read_only_folder(path: Path) -> Iterator[None]:
    """A folder that one may read, but not write to."""
    path.mkdir(exist_ok=True)
    _run_beside(path)
    inner = [inside for inside in path.rglob("*") if inside.is_dir()]
    for inside in (*inner, path):
        inside.chmod(0o555)
    try:
        yield
    finally:
        for inside in (path, *inner):
            inside.chmod(0o755)


@contextlib.contextmanager
def mounted(path: Path, options: str) -> Iterator[None]:
    """A file system in memory, at this path."""
    path.mkdir(exist_ok=True)
    arguments = ["mount", "-t", "tmpfs", "-o", options, "none", str(path)]
    subprocess.run(arguments, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True)


def may_mount() -> bool:
    """Whether this process may mount a file system: not where tests usually run."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with mounted(Path(folder), "size=64k"):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


def _run_beside(path: Path) -> None:
    """The reproduction of which a report is written, where it is written."""
    if Path("run").exists():
        shutil.copytree("run", path / "run", dirs_exist_ok=True)


# Processes


def without_privileges() -> None:
    """Obey permissions although this is root, in this process and in those that it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # to read, write and search against permissions
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    if libc.capset(header, data):
        raise OSError(ctypes.get_errno(), "capset")


def limited(what: int, most: int) -> Callable[[], None]:
    """A limit of the operating system's on this process."""
    return lambda: resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def few_files(more: int) -> Callable[[], None]:
    """So many more files may be open."""

    def process() -> None:
        highest = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + more, highest + more))

    return process


def little_memory(more: int) -> Callable[[], None]:
    """So many bytes of address space more than there are."""
    return lambda: limit_memory(more)


def situations() -> list[Situation]:
    """All that a command may find itself in."""
    listed = [Situation("nothing is narrow", plain)]
    listed += [Situation(f"{kib} KiB of disk are free", full(kib * KIBI)) for kib in DISKS]
    listed += [
        Situation("a read-only disk", read_only_disk),
        Situation("a read-only folder", read_only_folder, without_privileges),
    ]
    listed += [
        Situation(f"files of at most {most} bytes", plain, limited(resource.RLIMIT_FSIZE, most))
        for most in FILE_SIZES
    ]
    listed += [
        Situation(f"{more} more files may be open", plain, few_files(more)) for more in OPEN_FILES
    ]
    listed += [
        Situation(f"{more} MiB more of memory", plain, little_memory(more * MEBI))
        for more in MEMORIES
    ]
    return listed


DISKS = (0, 4, 12, 32, 100, 300, 1000)
FILE_SIZES = (0, 1, 1000, 10_000, 30_000, 100_000, 300_000)
OPEN_FILES = (0, 1, 2, 3, 4, 6, 10)
MEMORIES = (0, 1, 4, 16, 32, 64, 128, 256, 512)


def narrow(situation: Situation, name: str) -> Attempt:
    """A command in a situation."""
    arguments = COMMANDS[name]

    def run() -> str:
        out = Path("OUT")
        try:
            with situation.folder(out):
                if situation.folder is plain:
                    _run_beside(out)

                def work() -> None:
                    situation.process()
                    command(arguments)()

                return judged(name, Fork(work).finished(), out)
        finally:
            shutil.rmtree(out)

    text = f"# {situation.name}: swarmdp {' '.join(arguments)}"
    return Attempt(f"{name}, {situation.name}", text, run)


def judged(name: str, ended: Ended, out: Path) -> str:
    """How a command ended, by its exit code, its words and its files."""
    if left := left_over(out):
        raise RuntimeError(f"{LEFT_OVER}: {left}")
    written, right = contents(out), whole[name]
    broken = [
        path
        for path, image in written.items()
        if not _is_whole(path, image, right) and not (ended.code and _is_checkpoint(out / path))
    ]
    if broken:
        raise RuntimeError(f"{HALF}: {broken} after exit code {ended.code}: {ended.said[-200:]}")
    if ended.code == 0:
        return ACCEPTED if right.keys() <= written.keys() else DIFFERENT
    if ended.code != 2 or len(ended.lines) != 1 or not ended.lines[0].startswith("swarmdp: "):
        raise RuntimeError(f"{UNSAID}: exit code {ended.code}, {ended.said[-300:]}")
    return EXPLAINED


def _is_whole(path: str, image: bytes, right: Mapping[str, bytes]) -> bool:
    """Whether a file is as it should be; one that tells times must at least be complete."""
    if right.get(path):
        return right[path] == image
    if path.endswith(".json"):
        with contextlib.suppress(ValueError):
            json.loads(image)
            return True
        return False
    return not path.endswith(".html") or image.rstrip().endswith(b"</html>")


def _is_checkpoint(path: Path) -> bool:
    """Whether a file is the whole result of a fit, if of fewer iterations than were wanted."""
    with contextlib.suppress(swarmdp.errors.SwarmdpError):
        return isinstance(swarmdp.load(path), swarmdp.Result)
    return False


def contents(out: Path) -> dict[str, bytes]:
    """All files of a command, but for logs, which grow line by line."""
    skipped = {".lock", "log.txt", "timing.jsonl", "filler"}
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name not in skipped
    }


# Many callers at once


def rolled() -> str:
    """The digest of a roll-out."""
    system = swarmdp.Vicsek(n_agents=20)
    return _digest(swarmdp.rollout(system, system.expert, steps=30, runs=3, seed=4)["position"])


def flipped() -> str:
    """The digest of a roll-out of the other system."""
    system = swarmdp.Ising((12, 12))
    return _digest(swarmdp.rollout(system, system.expert, steps=5, runs=3, seed=4)["spin"])


def fitted() -> str:
    """The digest of a fit."""
    system = swarmdp.Vicsek(n_agents=10)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=10, swarms=1)
    result = swarmdp.fit(
        system, demo, seed=1, iterations=2, resamples=0, learner=learner, judge=False
    )
    return _digest(result.reward.weights, result.history.distance)


def _digest(*arrays: Any) -> str:
    return hashlib.sha256(b"".join(np.asarray(a).tobytes() for a in arrays)).hexdigest()


FUNCTIONS: dict[str, Callable[[], str]] = {"rollout": rolled, "ising": flipped, "fit": fitted}


def _named(name: str) -> str:
    return FUNCTIONS[name]()


def eight_threads(names: Sequence[str]) -> list[str]:
    """All at the same moment in threads."""
    barrier = threading.Barrier(len(names))

    def one(name: str) -> str:
        barrier.wait()
        return _named(name)

    with ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(one, names))


def in_asyncio(names: Sequence[str]) -> list[str]:
    """All in one event loop, which goes on meanwhile."""

    async def together() -> list[str]:
        beats = asyncio.create_task(_beat())
        outcomes = await asyncio.gather(*(asyncio.to_thread(_named, name) for name in names))
        beats.cancel()
        return outcomes

    return asyncio.run(together())


async def _beat() -> None:
    while True:
        await asyncio.sleep(0.001)


def in_processes(method: str) -> Callable[[Sequence[str]], list[str]]:
    """Two processes of Python's own."""

    def together(names: Sequence[str]) -> list[str]:
        with mp.get_context(method).Pool(2) as pool:
            return pool.map(_named, names[:2] if method == "spawn" else names)

    return together


def forked_in_the_middle(names: Sequence[str]) -> list[str]:
    """Processes that are forked while threads are in kernels."""
    with ThreadPoolExecutor(2) as pool:
        under_way = [pool.submit(_named, name) for name in names[:2]]
        with mp.get_context("fork").Pool(2) as processes:
            there = processes.map(_named, names)
        return [*there, *(future.result() for future in under_way)]


CALLERS: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "8 threads": eight_threads,
    "asyncio": in_asyncio,
    "fork": in_processes("fork"),
    "fork in the middle": forked_in_the_middle,
    "spawn": in_processes("spawn"),
}


def at_once(caller: str, names: tuple[str, ...]) -> Attempt:
    """Eight calls at once: each has the result that it has alone."""

    def work() -> None:
        outcomes = CALLERS[caller](names)
        if outcomes != [expected[name] for name in (*names, *names)][: len(outcomes)]:
            sys.exit(DIFFERENT)

    def run() -> str:
        ended = Fork(work).finished()
        if ended.code == 1:
            return DIFFERENT
        if ended.code:
            raise RuntimeError(f"exit code {ended.code}: {ended.said[-300:]}")
        return ACCEPTED

    return Attempt(f"{caller}, {names[0]}", f"# {caller}: {', '.join(names)}", run)


# New processes: where a cache and settings are is decided when they start.


PROGRAM = "import sys; from swarmdp.cli import main; main(sys.argv[1:])"


@dataclass(frozen=True)
class Home:
    """Variables of the environment; {} stands for a folder that nobody may write to."""

    name: str
    variables: Mapping[str, str | None]
    sources: str = "as they are"  # or: "read-only", "read-only, nothing compiled"


HOMES = (
    Home("no HOME", {"HOME": None}),
    Home("HOME is not there", {"HOME": "{}/nobody"}),
    Home("HOME is not writable", {"HOME": "{}"}),
    Home("no writable kernel cache", {"NUMBA_CACHE_DIR": "{}/cache"}),
    Home("no folder for temporary files", {"TMPDIR": "{}", "HOME": "{}", "MPLCONFIGDIR": "{}"}),
    Home("read-only sources", {"HOME": "{}", "XDG_CACHE_HOME": "{}"}, "read-only"),
    Home(
        "no writable cache at all",
        {"HOME": "{}", "XDG_CACHE_HOME": "{}", "MPLCONFIGDIR": "{}", "NUMBA_CACHE_DIR": None},
        "read-only, nothing compiled",
    ),
)


def at_home(home: Home, name: str) -> Attempt:
    """A command in a new process with other variables, which obeys permissions."""

    def run() -> str:
        out, closed = Path("OUT"), Path("closed")
        closed.mkdir()
        package = Path(swarmdp.__file__).parent
        if home.sources != "as they are":
            ignored = "__pycache__" if "nothing" in home.sources else "none"
            shutil.copytree(package, closed / "swarmdp", ignore=shutil.ignore_patterns(ignored))
        with plain(out), read_only_folder(closed):
            _run_beside(out)
            changed = {k: v and v.format(closed.absolute()) for k, v in home.variables.items()}
            variables = {k: v for k, v in {**os.environ, **changed}.items() if v is not None}
            if home.sources != "as they are":
                variables["PYTHONPATH"] = str(closed.absolute())
                variables["PYTHONDONTWRITEBYTECODE"] = "1"
            ended = subprocess.run(
                [sys.executable, "-c", PROGRAM, *COMMANDS[name]],
                env=variables,
                preexec_fn=without_privileges,
                capture_output=True,
                text=True,
                check=False,
            )
            try:
                return judged(name, Ended(ended.returncode, ended.stderr), out)
            finally:
                shutil.rmtree(out)

    def cleaned() -> str:
        try:
            return run()
        finally:
            shutil.rmtree("closed")

    text = f"# {home.name}: swarmdp {' '.join(COMMANDS[name])}"
    return Attempt(f"{name}, {home.name}", text, cleaned)


def attempts(commands: Sequence[str], homes: Sequence[Home]) -> list[Attempt]:
    """All of them; without the right to mount, disks are left to the limits on file sizes."""
    mounts = may_mount()
    tried = [
        narrow(situation, name)
        for situation in situations()
        for name in commands
        if mounts or situation.folder in (plain, read_only_folder)
    ]
    names = list(FUNCTIONS)
    for caller in CALLERS:
        mixed = tuple(itertools.islice(itertools.cycle(names), 8))
        tried += [at_once(caller, pair) for pair in ((names[0],) * 8, (names[2],) * 8, mixed)]
    tried += [
        at_home(home, name) for home in homes for name in ("simulate", "fit") if name in commands
    ]
    return tried


def prepare(commands: Sequence[str]) -> None:
    """Do everything once as it should be: what must come out."""
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    if {"evaluate", "export", "animate"} & {*commands}:
        command([*COMMANDS["fit"][:-1], "fit"])()
    if "report" in commands:
        command([*COMMANDS["reproduce"][:-1], "run"])()
    for name in commands:
        arguments, twice = COMMANDS[name], []
        for _ in range(2):
            Path("OUT").mkdir()
            _run_beside(Path("OUT"))
            command(arguments)()
            twice.append(contents(Path("OUT")))
            shutil.rmtree("OUT")
        # What tells times is not compared: nothing stands for it.
        whole[name] = {
            path: image if twice[1][path] == image else b"" for path, image in twice[0].items()
        }
    expect()


def expect() -> None:
    """What each function returns when nothing else is at work."""
    for name in FUNCTIONS:
        expected[name] = _named(name)


def campaign(commands: Sequence[str] = tuple(COMMANDS), homes: Sequence[Home] = HOMES) -> Campaign:
    """The campaign of limits."""
    tried = attempts(commands, homes)
    return Campaign("limits", tried, partial(prepare, commands), 300, memory_bytes=2**40)
