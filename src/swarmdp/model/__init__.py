"""The swarMDP (N, A, T, xi): systems, features, rewards, random numbers, trajectories."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
