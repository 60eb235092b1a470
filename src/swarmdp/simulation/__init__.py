"""Roll-outs: the loop over time (`rollout.py`), what is recorded of it (`recorders.py`).

`visits.py` counts how often each class is observed, for feature expectations, and records nothing.

Decisions:

- Memory is the caller's choice: a roll-out records the states by default, and no more than a
  measure or a running sum if that is all that was asked for.
- Many runs: each thread takes chunks of runs that fit the cache, and does their whole loop over
  time. One large swarm: its kernels are divided. The bits are the same.
- Systems in plain NumPy get a thread for every 1000 agents: below that the interpreter lock makes
  two threads slower than one.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
