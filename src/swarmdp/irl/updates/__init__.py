"""Reward updates: one file each, what they are given (evidence.py), their list (registry.py)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
