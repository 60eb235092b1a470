import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import swarmdp
from swarmdp.support import parallel


def test_ranges_cover_everything_once() -> None:
    seen = np.zeros(1001, int)
    parts = []

    def work(part: int, begin: int, end: int) -> None:
        parts.append(part)
        seen[begin:end] += 1

    parallel.divide(1001, 3, work)
    assert (seen == 1).all()
    assert sorted(parts) == [0, 1, 2]


def test_one_thread_unless_a_budget_is_given() -> None:
    assert parallel.shares(10**9) == 1
    with parallel.budget(4):
        assert parallel.shares(10**9) == 4
        assert parallel.shares(1) == 1
    assert parallel.shares(10**9) == 1


def test_an_error_in_another_thread_is_raised() -> None:
    def work(part: int, begin: int, end: int) -> None:
        if part == 1:
            raise ValueError("in part 1")

    with pytest.raises(ValueError, match="in part 1"):
        parallel.divide(10, 2, work)


def test_roll_outs_from_many_threads_at_once() -> None:
    system = swarmdp.Vicsek(n_agents=40_000, radius=0.01)
    expected = swarmdp.rollout(system, system.expert, steps=2, seed=1, record=system.order)

    def again(_: int) -> bool:
        trajectory = swarmdp.rollout(
            system, system.expert, steps=2, seed=1, record=system.order, threads=2
        )
        return np.array_equal(trajectory["order"], expected["order"])

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(again, range(12)))
    assert threading.active_count() < 40
