"""Runs tests on a merged tree and reads their results.

`TestRunner` writes the tree to disk, has a `Sandbox` run a `TestSuite`'s command on it,
and reads the framework's own result file. If the framework writes no file, the command's
output is read, although any code can write to it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
