"""The plain C versions, compiled when they are needed."""

import ctypes
import functools
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import swarmdp
from benchmarks.contest import Unavailable
from benchmarks.swarms import SEED, Floats

OPTIMISED = ("-O3", "-march=native", "-ffast-math", "-fPIC")


@dataclass(frozen=True)
class Vicsek:
    """The Vicsek model in C, on a cell list; the radius must be below a third of the box."""

    model: swarmdp.Vicsek

    def misalignment(self, position: Floats, heading: Floats) -> Floats:
        """The misalignment of each agent of one swarm."""
        out = np.empty_like(heading)
        _library("vicsek").misalignment(
            ctypes.c_int32(heading.size),
            ctypes.c_double(self.model.radius),
            _pointer(position),
            _pointer(heading),
            _pointer(out),
        )
        return out

    def simulate(self, position: Floats, heading: Floats, steps: int) -> Floats:
        """The order parameter (runs, steps + 1) of swarms that start from these states."""
        runs, agents = heading.shape
        order = np.empty((runs, steps + 1))
        _library("vicsek").simulate(
            ctypes.c_int32(runs),
            ctypes.c_int32(agents),
            ctypes.c_int32(steps),
            ctypes.c_double(self.model.radius),
            ctypes.c_double(self.model.speed),
            ctypes.c_double(self.model.noise),
            ctypes.c_uint64(SEED),
            _pointer(position),
            _pointer(heading),
            _pointer(order),
        )
        return order


def vicsek(model: swarmdp.Vicsek) -> Vicsek:
    """Compile the C version and wrap it."""
    _library("vicsek")
    return Vicsek(model)


def local_energy(spin: NDArray[np.int8]) -> NDArray[np.uint8]:
    """The local energies of spins (runs, rows, columns) on the paper's grid, in C."""
    energy = np.empty(spin.shape, np.uint8)
    sizes = (ctypes.c_int32(size) for size in spin.shape)
    _library("ising").local_energy(*sizes, _pointer(spin), _pointer(energy))
    return energy


@functools.cache
def _library(name: str) -> ctypes.CDLL:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise Unavailable("there is no C compiler (cc)")
    source = resources.files(__package__).joinpath(f"{name}.c").read_bytes()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        code, part, whole = (Path(folder) / f"{name}.{ending}" for ending in ("c", "o", "so"))
        code.write_bytes(source)
        _build(compiler, *OPTIMISED, "-c", code, "-o", part)
        # Linked without -ffast-math: with it, loading the library would make the whole process
        # flush subnormal numbers to zero.
        _build(compiler, "-shared", part, "-o", whole, "-lm")
        return ctypes.CDLL(str(whole))


def _build(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"the C compiler failed: {done.stderr.strip()}")


def _pointer(array: NDArray[np.generic]) -> ctypes.c_void_p:
    if not array.flags.c_contiguous:
        raise ValueError("C needs a contiguous array")
    return ctypes.c_void_p(array.ctypes.data)
