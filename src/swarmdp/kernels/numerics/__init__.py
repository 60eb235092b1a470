"""What all kernels compute with: elementary functions, random numbers, four numbers at once."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
