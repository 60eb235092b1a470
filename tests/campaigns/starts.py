"""Two to four starts at once on one folder, with the same and with different settings.

One wins; the others say so in one line, or end with the same result after it. Nothing is mixed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.campaigns.framework import ACCEPTED, Attempt, Campaign

MIXED = "mixed results"
UNSAID = "not said in one line"
LEFT_OVER = "left-over file"
PROGRAM = "import sys; from swarmdp.cli import main; main(sys.argv[1:])"
SEEDS = (1, 2, 3)
EXPECTED = ("another run is at work in", "holds results of other settings")
whole: dict[int, dict[str, bytes]] = {}


def command(folder: Path, seed: int) -> list[str]:
    """A start: seconds of work, and the report."""
    arguments = ["reproduce", "--scale", "smoke", "--only", "snapshots", "--seed", str(seed)]
    return [sys.executable, "-c", PROGRAM, *arguments, "-o", str(folder)]


def outcome(folder: Path) -> dict[str, bytes]:
    """What must be of one seed alone."""
    names = [*folder.glob("units/*/*"), folder / "plan.json", folder / "summary.json"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(names)}


def prepare() -> None:
    """Do it once for each seed, alone."""
    os.chdir(tempfile.mkdtemp(prefix="swarmdp-starts-"))
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    for seed in SEEDS:
        folder = Path(f"whole-{seed}")
        subprocess.run(command(folder, seed), check=True, capture_output=True)
        whole[seed] = outcome(folder)


def campaign() -> Campaign:
    """The campaign of starts."""
    return Campaign("starts", attempt, prepare, hang_seconds=300)


def attempt(rng: np.random.Generator) -> Attempt:
    """Some starts, a fraction of a second apart."""
    count = int(rng.integers(2, 5))
    seeds = rng.choice(SEEDS, count) if rng.random() < 0.7 else np.full(count, rng.choice(SEEDS))
    pauses = rng.choice([0.0, 0.05, 0.5], count)

    def run() -> str:
        folder = Path(tempfile.mkdtemp(dir=".")) / "new"
        try:
            return _started(folder, [int(seed) for seed in seeds], pauses.tolist())
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)

    alike = "the same settings" if len(set(seeds.tolist())) == 1 else "different settings"
    return Attempt(f"{count} starts, {alike}", f"# seeds {seeds}, pauses {pauses}", run)


def _started(folder: Path, seeds: list[int], pauses: list[float]) -> str:
    processes = []
    for seed, pause in zip(seeds, pauses, strict=True):
        processes.append(
            subprocess.Popen(
                command(folder, seed),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        time.sleep(pause)
    said = [process.communicate()[1] for process in processes]
    winner = json.loads((folder / "plan.json").read_text())["seed"]
    for seed, process, text in zip(seeds, processes, said, strict=True):
        if process.returncode == 0 and seed != winner:
            return MIXED
        lines = text.strip().splitlines()
        told = len(lines) == 1 and any(each in lines[0] for each in EXPECTED)
        if process.returncode != 0 and not (process.returncode == 2 and told):
            raise RuntimeError(f"{UNSAID}: exit code {process.returncode}, {text[-300:]}")
    if all(process.returncode for process in processes):
        raise RuntimeError("nobody won")
    if [path for path in folder.rglob(".*") if path.name != ".lock"]:
        return LEFT_OVER
    return ACCEPTED if outcome(folder) == whole[winner] else MIXED
