"""Is the learned swarm the recorded one? Statistics of both, a test, and a verdict in words."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
