"""Batches: many pairs are evaluated in parallel, and their reports are stored.

Each name is imported on first use, so that a worker process loads only what it needs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
