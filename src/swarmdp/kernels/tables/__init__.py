"""Tables over classes of observations, planning with them, and functions linear in features."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
