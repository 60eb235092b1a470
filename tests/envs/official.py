"""PettingZoo's own tests; importing them imports a module that is deprecated."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import (
        api_test,
        max_cycles_test,
        parallel_api_test,
        parallel_seed_test,
        render_test,
        seed_test,
    )
    from pettingzoo.test.state_test import state_test

__all__ = [
    "api_test",
    "max_cycles_test",
    "parallel_api_test",
    "parallel_seed_test",
    "render_test",
    "seed_test",
    "state_test",
]
