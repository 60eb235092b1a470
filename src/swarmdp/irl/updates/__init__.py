"""Reward updates, step 3 of Algorithm 1: one file for each.

`evidence.py` says what they are given and give back, `registry.py` is their only list: a new update
is a file and a row. `boltzmann.py` (soft policies) and `priors.py` serve several of them.

Decisions:

- The interior point is polished: Clarabel is exact in the margin, but only to its square root in
  the weights. On the active set that it finds, the nearest point of the hull
  solves a linear system.
- An update whose answer does not depend on policies is asked once (`Wants.at_once`); the iterations
  of Algorithm 1 are then attempts at its policy.
- Elliptical slices sample the posterior: exact for any prior, without a step size, all weights at
  once. Priors are maps from normal numbers, so one sampler serves them all. Chains walk side by
  side in NumPy; planning is the kernel, from the policy of the point before.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
