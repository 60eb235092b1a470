"""What every room uses: errors, checks, files, memory, threads, progress. Nothing about swarms."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
