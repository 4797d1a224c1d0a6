"""Merge what two coding agents wrote, run both features' tests, and say how it went.

The evaluation phase of the CooperBench benchmark (arXiv 2601.13295) as a library: a base
commit and two patches go in, a typed `MergeReport` comes out.

`__init__.pyi` lists the public names. Each is imported from its module on first use, so
that importing the library is fast and a script loads only what it needs.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
