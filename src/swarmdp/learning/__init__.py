"""Policy updates, step 1 of Algorithm 1: Algorithm 2, planning, policy search.

`heterogeneous.py` is Algorithm 2. `exploration.py` says who explores, `schedules.py` how that
decays. `q_functions.py` has the protocol of Q-functions and the paper's updates, `tables.py` and
`local_model.py` the default one, `linear_q.py` one without classes, `local_kernel.py` the local
dynamics P(o' | o, a). `planning.py` is exact, for finite MDPs. `policy_search.py` searches families
of policies (`families.py`) for what is best if all agents follow it; `equilibrium.py` measures what
one agent alone would gain by deviating.

Decisions:

- In doubt, do nothing: ties in Q, observations never visited and the start of learning go to the
  action whose physical value is zero. In the Ising model this selects the majority vote, not its
  mirror image, which collects the same rewards.
- Several swarms (about 1000 agents) teach one shared Q-function: the same scheme, more experience
  in each step, and the Python loop costs little.
- Counts are sparse where that is smaller (`local_model.py`), with the bits of full tables: both add
  from left to right, and adding zero changes nothing. At most one entry comes with each transition,
  so the memory is known before learning starts.
- A Q-function without classes keeps moments, not transitions (`linear_q.py`): for each action the
  next features are a linear function of the present ones, so the sums of psi psi^T and psi psi'^T
  are all that experience leaves behind. Only the maximum over actions needs observations: 2048
  recent ones.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
