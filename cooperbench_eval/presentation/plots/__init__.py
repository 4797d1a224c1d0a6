"""Figures of many reports. They need the extra `plots`, which is imported on first use.

`canvas.py` is the adapter to matplotlib. Each other module makes one kind of figure: it
first collects what to draw in records, and then draws it. Nothing here uses pyplot, so a
figure is only returned; showing and keeping it is up to the caller.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
