"""Other people's simulators in, our swarms out.

`parallel_env` and `env` are ours in theirs: any system as a PettingZoo environment.
`from_pettingzoo` and `from_step` are theirs in ours: a black-box simulator as a system.

Names are imported when they are first used; PettingZoo is needed by the first two only.
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
        found = getattr(importlib.import_module(f"swarmdp.envs.{_HOMES[name]}"), name)
    except ModuleNotFoundError as missing:
        if missing.name not in ("pettingzoo", "gymnasium"):
            raise
        raise InvalidInput(
            f"swarmdp.envs.{name} needs PettingZoo: pip install 'swarmdp[envs]'"
        ) from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
