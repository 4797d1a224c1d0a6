"""Merges conflicts by the syntax trees of the three versions, and checks what the merge changed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
