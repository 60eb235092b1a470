"""Linear algebra uses one thread where its last bits end up in results."""

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import swarmdp
from swarmdp.recordings.turn_prediction import softmax_regression
from swarmdp.support.threads import one_blas_thread
from swarmdp.systems.finite import FiniteMDP


def blas_threads() -> set[int]:
    libraries = ThreadpoolController().select(user_api="blas").info()
    return {library["num_threads"] for library in libraries if "numpy" in library["filepath"]}


def test_the_first_sets_the_limit_and_the_last_takes_it_back() -> None:
    inside, may_end = threading.Event(), threading.Event()

    @one_blas_thread()
    def other() -> None:
        inside.set()
        may_end.wait()

    with threadpool_limits(2, user_api="blas"):
        thread = threading.Thread(target=other)
        with one_blas_thread():
            thread.start()
            inside.wait()
            with one_blas_thread():
                assert blas_threads() == {1}
        assert blas_threads() == {1}  # the other one is still at work
        may_end.set()
        thread.join()
        assert blas_threads() == {2}
        with pytest.raises(ValueError, match="inside"), one_blas_thread():
            raise ValueError("inside")
        assert blas_threads() == {2}


def solved(size: int) -> np.ndarray:
    """A system large enough for BLAS to share the work."""
    rng = np.random.default_rng(1)
    return np.linalg.solve(np.eye(size) + 0.1 * rng.normal(size=(size, size)), np.ones(size))


def test_results_do_not_depend_on_the_number_of_threads_of_blas() -> None:
    rng = np.random.default_rng(0)
    size = 300
    chances = rng.dirichlet(np.ones(size), size=(size, 2))
    mdp = FiniteMDP(chances, initial=0)
    demo = swarmdp.rollout(
        mdp,
        swarmdp.Policy(np.arange(size) % 2),
        steps=60,
        runs=3,
        seed=1,
        record=["states", "actions"],
    )
    matrix, counts = rng.normal(size=(400, 20)), rng.integers(0, 9, (400, 11)).astype(np.float64)
    matrix[:, 0] = 1.0

    def everything() -> list[np.ndarray]:
        fit = swarmdp.fit(mdp, demo, seed=2, update="policy_matching", iterations=2, judge=False)
        return [fit.reward.weights, softmax_regression(matrix, counts)]

    solutions = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            solutions.append([*everything(), solved(size)])
    for one, two in zip(solutions[0][:-1], solutions[1][:-1], strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(solutions[0][-1], solutions[1][-1])  # without the limit they do
