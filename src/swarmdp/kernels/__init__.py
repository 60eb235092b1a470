"""Compiled inner loops: plain arrays and scalars in, arrays out.

The only place that imports Numba, one folder for each subject: `runtime` (compiling, caching),
`numerics` (random numbers, elementary functions, fixed point), `space` (cells, neighbours, the
interaction graph), `vicsek`, `ising`, `recorded` (calibrated swarms) and `tables` (binning, counts,
Q-functions, planning). Every kernel has a plain NumPy twin in `tests/oracles.py`.

Decisions:

- The same input gives the same bits for every batch size and number of threads, and a permutation
  of the agents permutes the result exactly. So no kernel uses fast-math, the C library's
  transcendental functions (they are polynomials in `numerics/elementary.py`, which also vectorise)
  or floating-point sums whose order depends on the layout: headings are summed in 64-bit fixed
  point, exact in any order, with a resolution of 2^-54 for 200 agents and 2^-42 for 10^6.
- Random numbers are Philox4x32-10 with the seed as key and (agent, run, step, purpose and draw) as
  counter, one block of 128 bits for each number; only who explores is drawn from 32 bits, four
  agents to a block. No state, no hashing, no collisions.
- Whole steps (observe, act, move) are kernels of their own, since a step of 200 agents takes less
  than calling it from Python. They have the bits of the step-by-step path, which the tests compare.
- There is no Numba threading layer. Kernels release the interpreter lock; many runs are divided
  among Python threads, one large swarm by `support/parallel.py`.
- The cache is Numba's in files of our own: one for each signature, keyed by the digest of all kernel
  sources, with a digest that is checked before anything is unpickled. A damaged or unreadable cache
  means compiling again.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
