"""Two to four starts at once on one folder, with the same and with different settings.

One wins; the others say so in one line, or end with the same result after it. Nothing is mixed.
"""

import json
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.campaigns.forks import Fork, command, left_over
from tests.campaigns.framework import ACCEPTED, Attempt, Campaign

MIXED = "mixed results"
UNSAID = "not said in one line"
LEFT_OVER = "left-over file"
SEEDS = (1, 2, 3)
EXPECTED = ("another run is at work in", "holds results of other settings")
whole: dict[int, dict[str, bytes]] = {}


def start(folder: Path, seed: int) -> Fork:
    """A start: a second of work, and the report."""
    arguments = ["reproduce", "--scale", "smoke", "--only", "snapshots", "--threads", "1"]
    work = command([*arguments, "--seed", str(seed), "-o", str(folder)])
    return Fork(work)


def outcome(folder: Path) -> dict[str, bytes]:
    """What must be of one seed alone."""
    names = [*folder.glob("units/*/*"), folder / "plan.json", folder / "summary.json"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(names)}


def prepare() -> None:
    """Do it once for each seed, alone."""
    command(["reproduce", "--scale", "smoke", "--only", "snapshots", "-o", "warm"])()
    for seed in SEEDS:
        folder = Path(f"whole-{seed}/new")
        ended = start(folder, seed).finished()
        if ended.code:
            raise RuntimeError(ended.said)
        whole[seed] = outcome(folder)


def campaign() -> Campaign:
    """The campaign of starts."""
    return Campaign("starts", attempt, prepare, hang_seconds=300)


def attempt(rng: np.random.Generator) -> Attempt:
    """Some starts, a fraction of a second apart."""
    count = int(rng.integers(2, 5))
    seeds = rng.choice(SEEDS, count) if rng.random() < 0.7 else np.full(count, rng.choice(SEEDS))
    pauses = rng.choice([0.0, 0.0, 0.002, 0.01, 0.05, 0.5], count)

    def run() -> str:
        folder = Path(tempfile.mkdtemp(dir=".")) / "new"
        try:
            return _started(folder, [int(seed) for seed in seeds], pauses.tolist())
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)

    settings = "the same settings" if len(set(seeds.tolist())) == 1 else "different settings"
    return Attempt(f"{count} starts, {settings}", f"# seeds {seeds}, pauses {pauses}", run)


def _started(folder: Path, seeds: list[int], pauses: list[float]) -> str:
    forks = []
    for seed, pause in zip(seeds, pauses, strict=True):
        forks.append(start(folder, seed))
        time.sleep(pause)
    ends = [fork.finished() for fork in forks]
    winner = json.loads((folder / "plan.json").read_text())["seed"]
    for seed, ended in zip(seeds, ends, strict=True):
        if ended.code == 0 and seed != winner:
            return MIXED
        explained = len(ended.lines) == 1 and any(phrase in ended.lines[0] for phrase in EXPECTED)
        if ended.code != 0 and not (ended.code == 2 and explained):
            raise RuntimeError(f"{UNSAID}: exit code {ended.code}, {ended.said[-300:]}")
    if all(ended.code for ended in ends):
        raise RuntimeError("nobody won")
    if left_over(folder):
        return LEFT_OVER
    return ACCEPTED if outcome(folder) == whole[winner] else MIXED
