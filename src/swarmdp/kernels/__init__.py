"""Compiled inner loops: plain arrays and scalars in, arrays out.

The only place that imports Numba. Each submodule is imported when it is first used, so that
`import swarmdp` stays quick. Every kernel has a plain NumPy twin in `tests/oracles.py`.

No kernel uses fast-math, the C library's transcendental functions or floating-point sums whose
order depends on the layout: the same input gives the same bits for every batch size and number of
threads, and a permutation of the agents permutes the result exactly.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmdp.kernels import (
        calibrated,
        calibrated_steps,
        cells,
        events,
        exploring,
        graph,
        ising,
        lanes,
        linear,
        neighbours,
        parallel,
        planning,
        sparse_counts,
        streams,
        tabular,
        vicsek,
        zones,
    )

__all__ = [
    "calibrated",
    "calibrated_steps",
    "cells",
    "events",
    "exploring",
    "graph",
    "ising",
    "lanes",
    "linear",
    "neighbours",
    "parallel",
    "planning",
    "sparse_counts",
    "streams",
    "tabular",
    "vicsek",
    "zones",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
