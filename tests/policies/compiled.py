"""Exported C headers, compiled and called."""

import ctypes
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror")
CALLER = """
#include "{header}"
void act(long count, const double *seen, const double *uniform, double *out);
void act(long count, const double *seen, const double *uniform, double *out)
{{
    long i;
    (void)uniform;
    for (i = 0; i < count; i++) {{
        out[i] = swarmdp_action({arguments});
    }}
}}
"""


def build(*arguments: str) -> None:
    """Call the C compiler; a warning is an error."""
    command = [os.environ.get("CC", "cc"), *WARNINGS, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def actions(
    header: Path, observations: Floats, uniform: Floats | None = None, *flags: str
) -> Floats:
    """What the C function of a header does for observations (n, components)."""
    return library(header, observations.shape[1], uniform is not None, *flags)(
        observations, uniform
    )


def library(header: Path, width: int, soft: bool = False, *flags: str) -> Callable[..., Floats]:
    """The C function of a header, compiled, for observations (n, width)."""
    arguments = [f"seen[{width} * i + {column}]" for column in range(width)]
    source, shared = header.with_suffix(".c"), header.with_suffix(".so")
    drawn = ["uniform[i]"] if soft else []
    code = CALLER.format(header=header.name, arguments=", ".join(arguments + drawn))
    source.write_text(code, encoding="utf-8")
    build(*flags, "-shared", "-fPIC", str(source), "-o", str(shared), "-lm")
    loaded = ctypes.CDLL(str(shared))

    def act(observations: Floats, uniform: Floats | None = None) -> Floats:
        out = np.empty(len(observations))
        seen = np.ascontiguousarray(observations, np.float64)
        chances = np.zeros(1) if uniform is None else np.ascontiguousarray(uniform, np.float64)
        loaded.act(
            ctypes.c_long(len(observations)),
            *(ctypes.c_void_p(array.ctypes.data) for array in (seen, chances, out)),
        )
        return out

    return act
