"""What only a fresh process shows: how long swarmdp takes to start, how much memory it needs."""

import atexit
import functools
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path

import swarmdp
from benchmarks.contest import Measure, Unavailable

_IMPORT = """
import time, numpy
begin = time.perf_counter()
import swarmdp
print(time.perf_counter() - begin)
"""

_HELP = """
import sys
sys.argv = ["swarmdp", "--help"]
from swarmdp.cli import main
sys.exit(main())
"""

FIRST_ROLLOUT = """
import time
begin = time.perf_counter()
import swarmdp
vicsek = swarmdp.Vicsek()
swarmdp.rollout(vicsek, vicsek.expert, steps=100, seed=1)
print(time.perf_counter() - begin)
"""

FIRST_FIT = """
import time, warnings
warnings.simplefilter("ignore")
begin = time.perf_counter()
import swarmdp
vicsek = swarmdp.Vicsek()
demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, seed=1)
swarmdp.fit(vicsek, demo, seed=2)
print(time.perf_counter() - begin)
"""

# The peak of this program alone: getrusage's would count the process that started it as well.
_PEAK_MEMORY = """
import swarmdp
from benchmarks.swarms import vicsek
model = vicsek({agents})
swarmdp.rollout(model, model.expert, steps={steps}, seed=1, record=model.order, threads=1)
for line in open("/proc/self/status"):
    if line.startswith("VmHWM:"):
        print(1024 * int(line.split()[1]))
"""


def import_seconds() -> Measure:
    """What `import swarmdp` adds to importing NumPy."""
    return lambda: _number(_run(_IMPORT))


def help_seconds() -> Measure:
    """The command `swarmdp --help`, from the start of Python to its end."""
    if find_spec("swarmdp.cli") is None:
        raise Unavailable("there is no command line yet")

    def measure() -> float:
        begin = time.perf_counter()
        _run(_HELP)
        return time.perf_counter() - begin

    return measure


def first_rollout_seconds() -> Measure:
    """`import swarmdp` and a first roll-out, of what is installed here."""
    return lambda: _number(_run(FIRST_ROLLOUT))


def first_use_of_the_wheel(program: str) -> Measure:
    """A program with the package of a wheel, on an empty cache of kernels."""
    site = _unpacked_wheel()

    def measure() -> float:
        with tempfile.TemporaryDirectory() as folder:
            environment = {"NUMBA_CACHE_DIR": folder, "PYTHONPATH": str(site)}
            return _number(_run(program, environment))

    return measure


@functools.cache
def _unpacked_wheel() -> Path:
    """The package as a wheel has it, in a temporary folder."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    root = Path(__file__).parents[1]
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder.name]
    done = subprocess.run([*command, str(root)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"the wheel cannot be built: {done.stderr.strip().splitlines()[-1:]}")
    (wheel,) = Path(folder.name).glob("*.whl")
    site = Path(folder.name) / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def bytes_per_agent(agents: int, steps: int) -> Measure:
    """Peak memory of a roll-out that records one number a step, beyond that of a tiny swarm."""
    if not Path("/proc/self/status").exists():
        raise Unavailable("peak memory is read from /proc, which is not here")
    few = 1000

    def peak(count: int) -> float:
        return _number(_run(_PEAK_MEMORY.format(agents=count, steps=steps)))

    return lambda: (peak(agents) - peak(few)) / (agents - few)


def _run(code: str, environment: dict[str, str] | None = None) -> str:
    folders = (str(Path(swarmdp.__file__).parents[1]), str(Path(__file__).parents[1]))
    path = os.pathsep.join(filter(None, (*folders, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unavailable(f"the process failed: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout


def _number(output: str) -> float:
    return float(output.split()[-1])
