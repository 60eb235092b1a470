"""Which agents are near each other: cells, nearest neighbours, and hops between agents."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
