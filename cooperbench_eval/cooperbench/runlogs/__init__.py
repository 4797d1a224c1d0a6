"""Agents' patches in CooperBench's run logs.

There are three layouts:

- the paper's pipeline: `<setting>/<repo>/task<id>/feature<i>_feature<j>/` with
  `patch_<model>_k<k>_feature<n>.patch`;
- today's runner: `<run>/<setting>/<repo>/<id>/f<i>_f<j>/` with `agent<n>.patch`
  or, for a solo agent, `solo.patch`; the folder of more agents has more numbers;
- the runner's first versions: the same, but without `<setting>`.

`find_work` reads the patches of one pair, and what its agents cost. `discover_run` lists
every pair or team of a run. In all settings of a run the files have the same names.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
