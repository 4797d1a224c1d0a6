"""The laws that plug-ins must keep, and checks of these laws for the authors of plug-ins.

`check_strategy` and `check_sandbox` check an object and return a result for each law.
`StrategyLaws` and `SandboxLaws` are base classes for pytest. The extra `testing` installs
Hypothesis and pytest, which are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
