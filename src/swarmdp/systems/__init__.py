"""The systems that come with swarmdp, each with its expert and measures.

`vicsek.py` and `ising.py` are the paper's, `finite.py` is any finite MDP with one agent,
`gridworld.py` the textbook case of it. `registry.py` is the only list of built-in systems: a new
one is a file here and a row there. It also builds a system again from what a file says of it.

Decisions:

- Ising agents sit on random sites. A swarm's initial distribution must not change when agents are
  permuted (Proposition 1 of the paper); with agent n always on site n, agent 0 would always sit in
  the corner, and an estimate from that one agent would be biased.
- Ising is a torus by default: 'each agent interacts with its 24 closest neighbours' is true only
  there. At an open boundary half of the missing neighbours, rounded up, count as unlike in what an
  agent observes. The full number of neighbours is even, so 'more than 12' still is the majority of
  those that exist, and there are 25 classes. The global energy counts existing neighbours only.
- Up to 64 Ising runs are the bits of words where only energies are counted (`kernels`); with fewer
  than 20 runs arrays are quicker.
- Vicsek keeps sines and cosines from step to step, and leaves up to 20000 agents in their own
  order; larger swarms are brought into the order of cells every fourth step.
- Linear systems of many states (`finite.py`) are factorised where an order of the states with a
  small bandwidth exists (grids); elsewhere factors would fill the memory, and GMRES needs few
  iterations.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
