"""The exact theory of small swarms: the paper's propositions as tools (see docs/theory.md)."""

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
