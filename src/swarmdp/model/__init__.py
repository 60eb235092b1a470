"""The swarMDP (N, A, T, xi): systems, features, rewards, random numbers, trajectories.

`system.py` is what every system has, `traits.py` what it may have besides, `testing.py` the
contract that it must meet (`check_system`). `features/` is phi, `rewards.py` R(o) = w . phi(o),
`harmonics.py` the smooth features psi of Q-functions without classes, `symmetry.py` a mirror of
the system. `streams.py` has the random numbers, `trajectory.py` what was recorded, `pictures.py`
what a swarm looks like, `verdict.py` what a judge says, as plain data. `adapted.py` is a system
with other start states or features than its own, `augmented/` one whose agents remember, err or are
of several kinds, `actions.py` what is known of actions; `recorded.py` what the rooms above know of
recordings.

Decisions:

- Randomness is Philox4x32-10 with the seed as key and (agent, run, step, purpose and draw) as
  counter: a number depends on its coordinates alone, whatever the batch, the threads, or what was
  drawn before. `Part` lists the parts of the work that have seeds of their own.
- Agents may be rearranged. They are interchangeable, so a roll-out keeps them in the order that a
  system prefers (`arrange`). Random numbers follow the agent; recordings are in the agents' order.
- Whole steps are a trait (`Fused`, `FusedLearning`): a system may observe, act and move in one
  kernel, many steps at a time, where nothing but the usual is recorded. Everything else goes step
  by step, with the same bits (`tests/simulation` and `tests/learning/test_fused.py` run both).
- Traits are protocols, asked for by `isinstance` and never probed with getattr.
- Features are classes, or vectors of classes. `features.matrix` (classes, d) is None for the
  paper's indicators, so that 10000 states need no identity matrix.
- A system says what it looks like (`picture`) and what is measured of it (`measures`): figures and
  players know no system. A measure that follows from the observations says so (`of_observations`),
  and the swarm is observed once a step, not twice.
- A demo from a recording has a mask (`Trajectory.of_recording`): `present` says which observations
  count, `acting` which turns. Gaps in states are filled in, so that it is used as any other.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
