"""Policy updates: Algorithm 2, and exact planning where the model is known."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
