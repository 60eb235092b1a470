"""Algorithm 1: generic inverse reinforcement learning, and its steps."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
