from .animation import animate as animate
from .fits import plot_convergence as plot_convergence
from .fits import plot_reward as plot_reward
from .inline import show as show
