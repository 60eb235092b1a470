"""Compiled inner loops: plain arrays and scalars in, arrays out.

The only place that imports Numba. Every kernel has a plain NumPy twin in `tests/oracles.py`.

No kernel uses fast-math, the C library's transcendental functions or floating-point sums whose
order depends on the layout: the same input gives the same bits for every batch size and number of
threads, and a permutation of the agents permutes the result exactly.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
