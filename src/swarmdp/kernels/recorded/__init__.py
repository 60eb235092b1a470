"""Swarms calibrated from recordings: arenas, what agents see, how they move, Couzin's zones."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
