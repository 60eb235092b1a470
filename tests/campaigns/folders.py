"""Two of every command that writes a folder, on one folder, killed at any operation on a file.

A command that is to be killed counts its operations on the files of its output, and ends itself at
one of them. What is there afterwards is of one run alone; another run then gives its own result,
and nothing is left over. (Those of `reproduce` are in the campaigns of kills and starts.)
"""

import itertools
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from swarmdp.support import folders
from tests.campaigns.forks import Ended, Fork, command, left_over
from tests.campaigns.framework import ACCEPTED, Attempt, Campaign

MIXED = "mixed results"
LEFT_OVER = "left-over file"
WAITING = "another run is at work in"
EVENTS = {"open": 1, "os.rename": 2, "os.remove": 1, "os.mkdir": 1, "os.rmdir": 1}  # with paths
SEEDS = ("1", "2")
OPEN = ["--arena", "open"]
TRACKS = ["--fps", "1", "--unit", "cm"]
FIT = [*("fit", "vicsek", "--n-agents", "5", "--iterations", "1", "--demo-steps", "50")]
FIT += ["--resamples", "0", "--no-judge", "--no-policy-search"]
COMMANDS: dict[str, Callable[[str], list[str]]] = {  # of a seed, without the folder
    "fit": lambda seed: [*FIT, "--seed", seed],
    "evaluate": lambda seed: ["evaluate", "../fit", "--seed", seed, "--runs", "2"],
    "replan": lambda seed: ["replan", "../fit", "--attempts", "1", "--no-judge", "--seed", seed],
    "simulate": lambda seed: ["simulate", "vicsek", "--n-agents", "5", "--seed", seed],
    "tracks": lambda seed: ["tracks", f"../tracks-{seed}.csv", *TRACKS],
    "fit --tracks": lambda seed: [*("fit", "--tracks", f"../tracks-{seed}.csv"), *TRACKS, *OPEN],
}
_SECONDS = re.compile(rb'"seconds": [0-9.e-]+')
SHARES = {"fit --tracks": 0.1}  # of a command among the others; it takes ten times as long
whole: dict[tuple[str, str], dict[str, bytes]] = {}
names: dict[tuple[str, str], list[str]] = {}
operations: dict[str, int] = {}


def work(name: str, seed: str, folder: Path, killed_at: int | None) -> Callable[[], None]:
    """A command that ends itself at an operation; without one it says how many there were."""

    def run() -> None:
        counter = itertools.count()
        place = folder.name

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event not in EVENTS or not _concerns(place, arguments[: EVENTS[event]]):
                return
            if next(counter) == killed_at:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        command([*COMMANDS[name](seed), "-o", str(folder)])()
        if killed_at is None:
            os.write(2, f"operations: {next(counter)}\n".encode())

    return run


def _concerns(place: str, arguments: tuple[Any, ...]) -> bool:
    """Whether an operation is one on the folder; of files that are removed only names are known."""
    paths = [str(argument) for argument in arguments if isinstance(argument, str | os.PathLike)]
    return any(place in path or os.sep not in path for path in paths)


def content(folder: Path) -> dict[str, bytes]:
    """All visible files; of summaries without the seconds that the work took.

    Two runs that took the same milliseconds would otherwise let a third one look like another's.
    """
    return {
        path.relative_to(folder).as_posix(): _SECONDS.sub(b"", path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part[0] == "." for part in path.relative_to(folder).parts)
    }


def prepare(commands: Sequence[str]) -> None:
    """Do each command twice for each seed, alone: what must come out, in which files."""
    Path("work").mkdir()
    os.chdir("work")
    for seed in SEEDS:
        _write_tracks(Path(f"../tracks-{seed}.csv"), int(seed))
    command([*FIT, "-o", "../fit"])()
    for name in commands:  # all of them first: what a process has imported may show in pictures
        command([*COMMANDS[name]("1"), "-o", "warm"])()
        shutil.rmtree("warm")
    for name, seed in itertools.product(commands, SEEDS):
        folder = Path(tempfile.mkdtemp(dir=".")) / "out"
        both = []
        for _ in range(2):
            ended = Fork(work(name, seed, folder, None)).finished()
            if ended.code:
                raise RuntimeError(f"{name}: {ended.said}")
            both.append(content(folder))
            operations[name] = int(ended.said.rpartition("operations: ")[2])
            shutil.rmtree(folder)
        folder.parent.rmdir()
        same = {file: data for file, data in both[0].items() if both[1].get(file) == data}
        if not same:
            raise RuntimeError(f"{name}: no file is the same the second time")
        whole[name, seed], names[name, seed] = same, sorted(both[0])
    for name in commands:
        if whole[name, "1"] == whole[name, "2"]:
            raise RuntimeError(f"{name}: both seeds give the same")


def _write_tracks(path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = np.cumsum(rng.normal(0, 1, (120, 4, 2)), axis=0)
    lines = [f"{t},{n},{places[t, n, 0]},{places[t, n, 1]}" for t in range(120) for n in range(4)]
    path.write_text("frame,id,x,y\n" + "\n".join(lines) + "\n")


def others(name: str, seed: str, found: dict[str, bytes]) -> list[str]:
    """Files that are not what a command with this seed writes, too many or too few."""
    wrong = {file for file, data in whole[name, seed].items() if found.get(file) != data}
    return sorted(wrong | set(found) ^ set(names[name, seed]))


def check_is_one(name: str, found: dict[str, bytes], seeds: Sequence[str]) -> None:
    """Raises an error that names the files if what was found is of none of the seeds alone."""
    wrong = {seed: others(name, seed, found) for seed in seeds}
    if all(wrong.values()):
        raise RuntimeError(f"{MIXED}: {wrong}")


def attempt(commands: Sequence[str], rng: np.random.Generator) -> Attempt:
    """Two starts of a command, of which one or both are killed, then a third."""
    shares = np.array([SHARES.get(name, 1.0) for name in commands])
    name = str(rng.choice(list(commands), p=shares / shares.sum()))
    before = str(rng.choice(["", *SEEDS]))
    points = rng.random(2)
    killed = [True, bool(rng.random() < 0.5)]
    pause = float(rng.choice([0.0, 0.01, 0.1, 0.5]))

    def run() -> str:
        folder = Path(tempfile.mkdtemp(dir=".")) / "out"
        try:
            if before:
                _succeed(Fork(work(name, before, folder, None)).finished())
            forks = []
            for seed, point, dies in zip(SEEDS, points, killed, strict=True):
                at = int(point * operations[name]) if dies else None
                forks.append(Fork(work(name, seed, folder, at)))
                time.sleep(pause)
            ends = [fork.finished() for fork in forks]
            for ended in ends:
                _check_end(ended)
            if folder.exists():
                folders.settle(folder)
                found = content(folder)
                if found or before or any(ended.code == 0 for ended in ends):
                    check_is_one(name, found, SEEDS)
            _succeed(Fork(work(name, "1", folder, None)).finished())
            check_is_one(name, content(folder), "1")
            return LEFT_OVER if left_over(folder) else ACCEPTED
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)

    shown = f"# {name}: killed at {points} of {killed}, {pause} s apart, {before!r} before"
    return Attempt(f"two of {name}", shown, run)


def _succeed(ended: Ended) -> None:
    if ended.code:
        raise RuntimeError(f"exit code {ended.code}: {ended.said[-300:]}")


def _check_end(ended: Ended) -> None:
    lines = [line for line in ended.lines if not line.startswith("operations: ")]
    waited = ended.code == 2 and len(lines) == 1 and WAITING in lines[0]
    if not (waited or ended.code in (0, -signal.SIGKILL)):
        raise RuntimeError(f"exit code {ended.code}: {ended.said[-300:]}")


def campaign(commands: Sequence[str] = tuple(COMMANDS)) -> Campaign:
    """The campaign of folders."""
    work = partial(attempt, commands)
    return Campaign("folders", work, partial(prepare, commands), hang_seconds=300)
