from .finite import FiniteMDP as FiniteMDP
from .gridworld import Gridworld as Gridworld
from .ising import Ising as Ising
from .vicsek import Vicsek as Vicsek
