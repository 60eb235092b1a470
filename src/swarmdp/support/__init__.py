"""What every room uses; nothing about swarms.

`errors.py` has all errors and warnings, `notices.py` lines for the person who waits, `progress.py`
bars. `arguments.py` checks arguments against annotations, `ranges.py` has the ranges that
annotations may declare, `checks.py` the same as functions, `arrays.py` names of arrays. `files.py`
writes atomically, `folders.py` puts the files of a run in place together, `netcdf.py` NetCDF with a
digest, `markup.py` pieces of HTML. `memory.py` asks whether something fits before it starts,
`threads.py` runs chunks on several threads and BLAS on one, `parallel.py` divides a loop,
`rounding.py` writes numbers with the digits that errors allow.

Decisions:

- Annotations are contracts: `checked` makes a public function or class refuse what is not of the
  annotated kind and range, and pass on what is (NumPy's numbers as Python's, lists as arrays, exact
  conversions only). Shapes and what fits together are checked by hand. What runs in every step
  (`observe`, `transition`, `act`) is left out (`but=`) and checks itself, in one pass.
- Python threads, no Numba threading layer: kernels release the interpreter lock. A thread's budget
  is 1 unless a roll-out raises it, so roll-outs may be started from any number of threads at once.
- One thread of BLAS (`one_blas_thread`) where small systems are solved: with more, the last bits
  depend on the number of cores, and threads that wait for each other on a busy machine took 25
  times as long.
- NetCDF files are made in memory and then written: HDF5 crashes the process when the disk fills up.
  A file's digest stands behind the HDF5 data and is checked before HDF5 parses anything, since a
  flipped bit can make HDF5 loop for ever; other libraries ignore it there.
- Temporary files are locked while they are written, so that the next writer recognises and removes
  those that a killed process left.
- No bar stands at 100 % while something runs: it ends at 99 % and vanishes with its work.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
