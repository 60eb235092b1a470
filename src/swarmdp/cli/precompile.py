"""Compile the kernels before they are needed: `python -m swarmdp.cli.precompile`.

On x86-64 they are compiled for PORTABLE into the package's own folder, from which they go into
the wheel; on other processors into Numba's cache. Which signatures there are is found by doing what
users do: roll-outs, fits, also of a recording, and the smallest reproduction, each in a process of
its own. `--for run` compiles what `make run` needs and leaves out the rest.

What was done is noted beside the kernels, with a digest of their sources and of this file. Other
files of the package are not part of it: a change there can at most ask for one more signature,
which is then compiled when it is first used.
"""

import argparse
import hashlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from swarmdp.kernels.runtime.sources import COMPILED, sources_digest
from swarmdp.support.errors import FileError

STAMP = "complete.json"
_PACKAGE = Path(__file__).parents[1]


def precompile(
    use: str = "all", processes: int | None = None, say: Callable[[str], None] = print
) -> Path | None:
    """Compile the kernels that examples of use need, unless that was done.

    Parameters
    ----------
    use
        Which examples: a key of USES.
    processes
        How many to compile with; one for each core by default.
    say
        Called with a line that says what is done.

    Returns
    -------
    The folder of kernels that run on any processor with the features of PORTABLE; None on other
    processors, where the kernels are in Numba's cache.

    """
    stamp = _stamp()
    before = _read(COMPILED / STAMP)
    current = all(before.get(name) == value for name, value in stamp.items())
    done = [name for name in before.get("done", ()) if current and name in EXAMPLES]
    missing = [name for name in USES[use] if name not in done]
    if not missing:
        return COMPILED
    # Numba is imported only where something is to be done.
    from swarmdp.kernels.runtime.compile import PORTABLE, portable_here

    portable = portable_here()
    began = time.monotonic()
    say(f"swarmdp: compiling kernels for {PORTABLE if portable else 'this machine'}")
    if not portable:
        _do_all(missing, {}, processes)
        say(f"swarmdp: compiled in {time.monotonic() - began:.0f} s")
        return None
    if before.get("kernels") != stamp["kernels"]:
        _clear(COMPILED)
    with tempfile.TemporaryDirectory() as cache:
        target = {"NUMBA_CPU_NAME": PORTABLE, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": cache}
        try:
            _do_all(missing, target, processes)
        finally:
            COMPILED.mkdir(mode=0o755, exist_ok=True)
            for path in Path(cache).rglob("*.nbc"):
                _write(COMPILED / path.name, path.read_bytes())
    record = {**stamp, "done": sorted({*done, *missing})}
    _write(COMPILED / STAMP, json.dumps(record, indent=1).encode())
    count = len(list(COMPILED.glob("*.nbc")))
    say(f"swarmdp: {count} kernels compiled in {time.monotonic() - began:.0f} s")
    return COMPILED


def _vicsek() -> None:
    import swarmdp

    vicsek = swarmdp.Vicsek()
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, seed=1)
    result = swarmdp.fit(vicsek, demo, seed=2)
    swarmdp.evaluate(result, vicsek, runs=64, seed=3)
    swarmdp.rollout(vicsek, result.policy, steps=20, runs=100, seed=3, record=vicsek.order)
    swarmdp.fit(vicsek, demo, seed=2, preset="paper", iterations=2)
    several = swarmdp.rollout(vicsek, vicsek.expert, steps=50, runs=4, seed=1)
    swarmdp.fit(vicsek, several, seed=2, separate=True, iterations=2, judge=False)
    swarmdp.fit(vicsek, several, seed=2, interpolate=True, iterations=2, judge=False)
    large = swarmdp.Vicsek(n_agents=100_000, radius=0.005, speed=0.005)
    for threads in (1, 2):
        swarmdp.rollout(large, large.expert, steps=2, seed=1, threads=threads)
        swarmdp.rollout(large, large.expert, steps=2, seed=1, threads=threads, record=large.order)


def _ising() -> None:
    import swarmdp

    ising = swarmdp.Ising()
    demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    result = swarmdp.fit(ising, demo, seed=2)
    swarmdp.evaluate(result, ising, runs=64, steps=10, seed=3)
    swarmdp.rollout(ising, result.policy, steps=10, runs=100, seed=3, record=ising.energy)
    swarmdp.fit(ising, demo, seed=2, preset="paper", iterations=2)
    small = swarmdp.Ising(shape=(20, 20))
    several = swarmdp.rollout(small, small.expert, steps=50, runs=4, seed=1)
    swarmdp.fit(small, several, seed=2, separate=True, iterations=2, judge=False)
    for periodic in (True, False):
        large = swarmdp.Ising(shape=(400, 400), periodic=periodic)
        for threads in (1, 2):
            swarmdp.rollout(large, large.expert, steps=2, seed=1, threads=threads)


def _use_recordings() -> None:
    import swarmdp
    from swarmdp.recordings.controller_search import find_controller
    from swarmdp.recordings.zonal import Zonal

    vicsek = swarmdp.Vicsek(n_agents=8, radius=0.3, speed=0.03)
    run = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)
    decisions = swarmdp.Recording(run["position"][0], fps=4, unit="m").decisions(dt=0.25)
    arenas = (
        swarmdp.recordings.Circle((0.5, 0.5), 0.8),
        swarmdp.recordings.Periodic((1.0, 1.0)),
        None,
    )
    seen = swarmdp.recordings.Observation(neighbours=3)
    for arena in arenas:
        swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, seen, arena=arena)
        still = swarmdp.Policy([len(swarm.actions) // 2] * swarm.features.size)
        swarmdp.rollout(swarm, still, steps=5, runs=64, seed=1)
    swarmdp.fit(swarm, decisions.train, seed=2, iterations=2)
    controlled = Zonal(swarm, find_controller(swarm, None, seed=1).controller)
    swarmdp.rollout(controlled, controlled.expert, steps=5, runs=4, seed=1)


def _reproduction() -> None:
    from swarmdp.cli import main

    with tempfile.TemporaryDirectory() as folder:
        main(["reproduce", "--scale", "smoke", "-o", folder])


def _command_line() -> None:
    from swarmdp.cli import main

    with tempfile.TemporaryDirectory() as folder:
        main(["fit", "vicsek", "--demo-runs", "5", "-o", folder])


# Those that share few kernels first: what two processes need at the same time, both compile.
EXAMPLES: Mapping[str, Callable[[], None]] = {
    "vicsek": _vicsek,
    "ising": _ising,
    "recorded": _use_recordings,
    "reproduction": _reproduction,
    "fit": _command_line,
}

USES: Mapping[str, Sequence[str]] = {
    "all": ("vicsek", "ising", "recorded", "reproduction"),
    "run": ("fit", "reproduction"),
}


def _do_all(names: Sequence[str], environment: Mapping[str, str], processes: int | None) -> None:
    """Do these examples of use, each in a process of its own."""

    def start(name: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "swarmdp.cli.precompile", "--only", name],
            env={**os.environ, **environment, "PYTHONPATH": _path()},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            last = "\n".join(done.stderr.strip().splitlines()[-3:])
            raise FileError(f"kernels could not be compiled: {name} failed:\n{last}")

    with ThreadPoolExecutor(processes or os.cpu_count()) as pool:
        list(pool.map(start, names))


def _path() -> str:
    return os.pathsep.join(filter(None, (str(_PACKAGE.parent), os.environ.get("PYTHONPATH"))))


def _stamp() -> dict[str, str]:
    """What the compiled kernels depend on, and what decides which signatures occur."""
    libraries = [f"{name} {version(name)}" for name in ("numba", "llvmlite", "numpy")]
    python = f"{sys.implementation.cache_tag} {sys.platform}"
    kernels = hashlib.sha256(" ".join([python, *libraries, sources_digest()]).encode())
    examples = hashlib.sha256(Path(__file__).read_bytes())
    return {"kernels": kernels.hexdigest(), "examples": examples.hexdigest()}


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f"{path.name}.tmp.{secrets.token_hex(8)}")
    temporary.write_bytes(content)
    temporary.replace(path)


def _clear(folder: Path) -> None:
    for path in folder.glob("*"):
        path.unlink(missing_ok=True)


def _main(arguments: Sequence[str] | None = None) -> None:
    """Compile the kernels from the command line.

    Parameters
    ----------
    arguments
        Those of the command line by default.

    """
    parser = argparse.ArgumentParser(prog="python -m swarmdp.cli.precompile", description=__doc__)
    parser.add_argument("--only", choices=EXAMPLES, help="do this example of use, in this process")
    parser.add_argument(
        "--for",
        dest="use",
        choices=USES,
        default="all",
        help="what to compile for: everything (the default), or what `make run` needs",
    )
    options = parser.parse_args(arguments)
    if options.only is None:
        precompile(options.use)
        return
    warnings.simplefilter("ignore")
    EXAMPLES[options.only]()


if __name__ == "__main__":
    _main()
