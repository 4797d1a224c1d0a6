"""Agents' patches in CooperBench's run logs.

There are three layouts:

- the paper's pipeline: `<setting>/<repo>/task<id>/feature<i>_feature<j>/` with
  `patch_<model>_k<k>_feature<n>.patch`;
- today's runner: `<run>/<setting>/<repo>/<id>/f<i>_f<j>/` with `agent<n>.patch`
  or, for a solo agent, `solo.patch`; the folder of more agents has more numbers;
- the runner's first versions: the same, but without `<setting>`.

`find_patches` reads the patches of one pair. `discover_run` lists every pair or team of a
run.
"""

from cooperbench_eval.runlogs.choices import PatchLocation, Setting
from cooperbench_eval.runlogs.discovery import RunTeam, discover_run
from cooperbench_eval.runlogs.finding import find_patches

__all__ = ["PatchLocation", "RunTeam", "Setting", "discover_run", "find_patches"]
