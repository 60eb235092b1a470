"""Benchmarks are chosen by name; how fast anything is, is not a test's business."""

from pathlib import Path

import pytest

import swarmdp
from benchmarks import earlier
from benchmarks.contest import (
    OURS,
    Contestant,
    Measure,
    Unavailable,
    Workload,
    compete,
    times_faster,
)
from benchmarks.run import run
from benchmarks.scaling import START_SECONDS, simulate
from swarmdp.support.errors import InvalidInput


def test_unknown_workloads_are_refused() -> None:
    with pytest.raises(InvalidInput, match="flying"):
        run(None, ["flying"])


def broken() -> Measure:
    raise ZeroDivisionError("a peer with an error of its own")


def breaks_later() -> Measure:
    return lambda: 1 / 0


def test_a_peer_that_fails_is_named_and_the_others_go_on() -> None:
    contestants = (
        Contestant(OURS, lambda: lambda: 1.0),
        Contestant("broken", broken),
        Contestant("breaks later", breaks_later),
        Contestant("works", lambda: lambda: 3.0),
    )
    goals = tuple(times_faster(name) for name in ("broken", "breaks later", "works"))
    report = compete(Workload("all", "s", contestants, goals), 3, lambda: None)
    assert "an error of its own" in report.skipped["broken"]
    assert "ZeroDivisionError" in report.skipped["breaks later"]
    assert report.outcomes[-1].values == (3.0, 3.0, 3.0)


def test_our_own_failure_is_no_peer_that_is_skipped() -> None:
    with pytest.raises(ZeroDivisionError):
        compete(Workload("ours", "s", (Contestant(OURS, broken),), ()), 1, lambda: None)


def test_long_workloads_take_fewer_rounds() -> None:
    ours = (Contestant(OURS, lambda: lambda: 1.0),)
    report = compete(Workload("long", "s", ours, (), most_rounds=1), 7, lambda: None)
    assert len(report.readings[OURS]) == 1


def test_a_version_does_its_work_in_a_process_of_its_own() -> None:
    sources = Path(swarmdp.__file__).parents[1]
    setup = "def work(number):\n    assert number < 3, 'it has done enough'"
    measure = earlier._measure(sources, setup, "process_time")
    assert [measure() < 1 for _ in range(2)] == [True, True]
    with pytest.raises(Unavailable, match="it has done enough"):
        measure()


def test_a_commit_that_is_not_there_makes_its_version_unavailable() -> None:
    with pytest.raises(Unavailable, match="cannot be taken from git"):
        earlier._sources("no-such-commit")


def test_workers_are_simulated() -> None:
    plenty = simulate(100, [2.0] * 100, 0.0)
    assert plenty.seconds == START_SECONDS + 2
    assert simulate(1, [2.0] * 100, 0.0).seconds == pytest.approx(START_SECONDS + 200)
    # However many workers, results come one after the other.
    assert simulate(1000, [1e-3] * 1000, 0.01).seconds >= 10
    few, many = (simulate(workers, [1.0] * 120, 0.01) for workers in (3, 30))
    assert few.efficiency > many.efficiency
