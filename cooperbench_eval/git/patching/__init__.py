"""Patches: reading them, classifying their paths, and applying them to a tree."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
