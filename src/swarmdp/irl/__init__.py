"""Algorithm 1: generic inverse reinforcement learning.

`algorithm.py` is the loop, `steps.py` its steps, `updates/` the reward updates. `demos.py` turns a
demo into expert data, `frames.py` goes through a recorded swarm time by time, `pairs.py` counts
actions, `expectations.py` estimates feature expectations. `search.py` says which reward is tried
next and which policy is the result, `resampling.py` draws demos that might have been recorded
instead, `result.py` is the outcome and its file, `cloning.py` the baseline without a reward.

Decisions:

- A reward update is given everything and remembers nothing. The evidence holds all policies so far,
  so an update is a pure function of it, even a quasi-Newton method with a line search: fits resume
  to the same bits, and a user's own update is a function.
- All policies are evaluated with the same random numbers where the search compares them; in the
  paper each evaluation has its own.
- The result is the nearest policy by fresh, longer roll-outs, not the last one: margins never rise,
  so they cannot select.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
