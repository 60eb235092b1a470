"""The exact theory of small swarms: the paper's propositions as tools (see docs/theory.md).

`finite_swarm.py` is what a swarm must have to be enumerated; `finite_ising.py`, `vicsek_ring.py`
and `random_swarm.py` are such swarms. `enumeration.py` lists the joint states, `chain.py` has the
laws and values under a policy, `limits.py` where it ends up, `homogeneity.py` Proposition 1,
`characterization.py` Proposition 2 with its `cones.py` and their `volumes.py`, `games.py`
equilibria and what locality costs. `lumping.py` finds symmetry, `solvers.py` solves linear systems,
`vectors.py` reads rewards.

Decisions:

- Finite swarms have laws (`finite_swarm.py`) and are simulated from them: what the theory computes
  and what a roll-out does cannot drift apart. A law is one agent's, given the joint state and its
  action; joint transitions are products of laws, or one agent's at a time.
- Symmetry is found, not declared: partitions of joint states are refined until they are stable. It
  makes laws and values of 2^16 states solvable by dense factorisation. Every solution is checked by
  its residual.
- No number depends on a solver: whether a limit exists is decided from the chain's classes and
  phases; stationary laws come from an elimination without subtractions (Grassmann, Taksar, Heyman),
  exact however rare a transition is; other delicate linear systems are refused; the central reward
  of a cone is unique.
- Proofs do not depend on tolerances: that one cone lies in another is certified by multipliers from
  nonnegative least squares, exact to rounding, and a refutation has to show a reward. Inequalities
  are computed from differences of laws and carry their rounding error: near pure chance they are
  refused rather than wrong.
"""

from swarmdp.theory.chain import Chain, chain
from swarmdp.theory.characterization import Characterization, characterize
from swarmdp.theory.cones import Cone
from swarmdp.theory.enumeration import Enumeration, enumerate_swarm, policy_table
from swarmdp.theory.finite_ising import FiniteIsing
from swarmdp.theory.finite_swarm import FiniteSwarm
from swarmdp.theory.games import (
    BestResponses,
    Game,
    Judgement,
    Prices,
    best_response,
    best_responses,
    game,
    joint_control,
)
from swarmdp.theory.homogeneity import Homogeneity, check_homogeneity
from swarmdp.theory.limits import Limit, NoLimit
from swarmdp.theory.random_swarm import RandomSwarm
from swarmdp.theory.vicsek_ring import VicsekRing
from swarmdp.theory.volumes import Share, draw_rewards, share

__all__ = [
    "BestResponses",
    "Chain",
    "Characterization",
    "Cone",
    "Enumeration",
    "FiniteIsing",
    "FiniteSwarm",
    "Game",
    "Homogeneity",
    "Judgement",
    "Limit",
    "NoLimit",
    "Prices",
    "RandomSwarm",
    "Share",
    "VicsekRing",
    "best_response",
    "best_responses",
    "chain",
    "characterize",
    "check_homogeneity",
    "draw_rewards",
    "enumerate_swarm",
    "game",
    "joint_control",
    "policy_table",
    "share",
]
