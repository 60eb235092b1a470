"""Roll-outs: the loop over time, what is recorded of it, and how often each class is visited."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
