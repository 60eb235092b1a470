"""Recorded swarms, from tracks to an interaction, a calibrated swarm, a fit and its verdict."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
