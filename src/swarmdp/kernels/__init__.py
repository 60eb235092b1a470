"""Compiled inner loops: plain arrays and scalars in, arrays out.

The only place that imports Numba, and one folder for each subject: `runtime` (compiling, memory),
`numerics` (elementary functions, random numbers, fixed point, vectors), `space` (cells, neighbours,
hops), `vicsek`, `ising`, `recorded` (swarms calibrated from recordings) and `tables` (classes,
counts, learning and planning). Every kernel has a plain NumPy twin in `tests/oracles.py`, and every
file begins with its layout in memory.

Decisions:

- The same input gives the same bits for every batch size and number of threads, and a permutation
  of the agents permutes the result exactly. So no kernel uses fast-math, the C library's
  transcendental functions (they are polynomials in `numerics/elementary.py`, which also vectorise)
  or floating-point sums whose order depends on the layout: headings are summed in 64-bit fixed
  point, exact in any order, with a resolution of 2^-54 for 200 agents and 2^-42 for 10^6.
- Random numbers are Philox4x32-10 with the seed as key and (agent, run, step, purpose and draw) as
  counter, one block of 128 bits for each number; only who explores is drawn from 32 bits, four
  agents to a block. No state, no hashing, no collisions.
- There is no Numba threading layer. Kernels release the interpreter lock; many runs are divided
  among Python threads, one large swarm by `support/parallel.py`.
- The cache is Numba's in files of our own: one for each signature, keyed by the digest of all
  kernel sources, with a digest that is checked before anything is unpickled. A damaged or
  unreadable cache means compiling again.
- A step of a model exists in three versions with the same bits: by observation and transition, for
  any policy; whole steps (`steps`), for tables; and `exploring`, for learning. Without the last a
  default fit takes 37 % (Vicsek) or 60 % (Ising) more of the processor. Learning in the same kernel
  saved 6 to 9 % and nothing in batches, and 64 Ising runs as bits of words saved nothing of a fit:
  both were removed.
- Kernels are split into parts by `inlined`, or by `borrowing` where these take named tuples of
  arrays: counting references at every agent made the search for neighbours twice as slow.
- Wheels carry machine code (see `runtime.compile`): a first roll-out takes 4 s of the processor
  instead of 28 s, a first fit 5 s instead of 49 s. Such a wheel pins Numba and llvmlite exactly.
- Kernels are compiled when they are first used, or before by `swarmdp.cli.precompile`, which does
  what users do instead of keeping a list of signatures.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
