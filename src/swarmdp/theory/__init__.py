"""The exact theory of small swarms: the paper's propositions as tools (see docs/theory.md)."""

from swarmdp.systems.finite import FiniteSwarm
from swarmdp.systems.finite_ising import FiniteIsing
from swarmdp.systems.random_swarm import RandomSwarm
from swarmdp.systems.vicsek_ring import VicsekRing
from swarmdp.theory.chain import Chain, chain
from swarmdp.theory.enumeration import Enumeration, enumerate_swarm, policy_table
from swarmdp.theory.homogeneity import Homogeneity, check_homogeneity
from swarmdp.theory.limits import Limit, NoLimit

__all__ = [
    "Chain",
    "Enumeration",
    "FiniteIsing",
    "FiniteSwarm",
    "Homogeneity",
    "Limit",
    "NoLimit",
    "RandomSwarm",
    "VicsekRing",
    "chain",
    "check_homogeneity",
    "enumerate_swarm",
    "policy_table",
]
