"""Other people's simulators in, our swarms out.

`parallel.py` makes any system a PettingZoo environment (`parallel_env`, `env`), `drawing.py` draws
it. `adapters.py` makes a black-box simulator a system (`from_pettingzoo`, `from_step`),
`black_box.py` is that system, `simulators.py` a live copy of a simulator, `copies.py` many of them.
The only place that imports PettingZoo, Gymnasium and pygame. Names are imported when they are first
used; PettingZoo is needed by `parallel_env` and `env` only.

Decisions:

- A black box's state is its history: the seed of the episode and all actions since, an array of
  fixed length. A token for a live copy would be shorter, but it would mean nothing in a file or in
  another process. Copies are found by the history's bytes; equal questions are asked once; a replay
  is compared with what was observed the first time.
- A simulator is tried before it becomes a system: whether it repeats itself for the same seed,
  keeps its agents, and treats each observation on its own.
"""

import importlib
from typing import TYPE_CHECKING, Any

from swarmdp.support.errors import InvalidInput

if TYPE_CHECKING:
    from swarmdp.envs.adapters import from_pettingzoo, from_step
    from swarmdp.envs.black_box import BlackBox
    from swarmdp.envs.parallel import SwarmEnv, env, parallel_env

_HOMES = {
    "BlackBox": "black_box",
    "SwarmEnv": "parallel",
    "env": "parallel",
    "from_pettingzoo": "adapters",
    "from_step": "adapters",
    "parallel_env": "parallel",
}

__all__ = ["BlackBox", "SwarmEnv", "env", "from_pettingzoo", "from_step", "parallel_env"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'swarmdp.envs' has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(f"swarmdp.envs.{_HOMES[name]}"), name)
    except ModuleNotFoundError as missing:
        if missing.name not in ("pettingzoo", "gymnasium"):
            raise
        raise InvalidInput(
            f"swarmdp.envs.{name} needs PettingZoo: pip install 'swarmdp[envs]'"
        ) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
