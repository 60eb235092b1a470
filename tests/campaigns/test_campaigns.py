"""A short fixed sample of each campaign, and the framework itself."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from swarmdp.support.errors import InvalidInput
from tests.campaigns import framework
from tests.campaigns.framework import ACCEPTED, CRASH, EXPLAINED, HANG, INTERNAL, MEMORY

SAMPLE = 300


def test_right_calls_are_accepted_and_wrong_ones_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Imported here: making the right values takes a few seconds.
    from tests.campaigns import arguments

    monkeypatch.chdir(tmp_path)
    arguments.write_files()
    campaign = arguments.campaign(warm=False)
    for attempt in (*arguments.right_calls(), *arguments.same_calls()):
        assert framework.perform(attempt)[0] == ACCEPTED, attempt.repeat
    outcome = framework.run(campaign, seed=0, attempts=SAMPLE, workers=1)
    assert not outcome.failures, framework.report(outcome)
    assert outcome.attempts == SAMPLE


def sampled(campaign: framework.Campaign, attempts: int) -> None:
    """A fixed sample of a campaign ends without a failure."""
    outcome = framework.run(campaign, seed=0, attempts=attempts, workers=1)
    assert not outcome.failures, framework.report(outcome)
    assert outcome.attempts == attempts


def test_damaged_files_are_refused_or_read_as_they_were() -> None:
    from tests.campaigns import files

    sampled(files.campaign(), 60)


def test_mutated_pickles_are_refused_or_plain() -> None:
    from tests.campaigns import pickles

    sampled(pickles.campaign(), 2000)


def test_what_was_killed_is_finished_to_the_same_bits() -> None:
    from tests.campaigns import kills

    sampled(kills.campaign(kills.JOBS[:3]), 4)


def test_one_of_several_starts_wins() -> None:
    from tests.campaigns import starts

    sampled(starts.campaign(), 2)


def test_two_of_a_command_that_are_killed_do_not_mix() -> None:
    from tests.campaigns import folders

    sampled(folders.campaign(["fit", "simulate"]), 6)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_other_users_get_one_line_and_change_nothing() -> None:
    from tests.campaigns import foreign

    sampled(foreign.campaign(), 20)


def test_the_studio_serves_its_page_whatever_is_sent() -> None:
    from tests.campaigns import studio

    sampled(studio.campaign(), 60)


def test_tables_in_other_dress_give_the_same_and_damaged_ones_one_line() -> None:
    from tests.campaigns import tables

    sampled(tables.campaign(), 150)


def test_limits_are_met_by_one_error_or_the_right_result() -> None:
    from tests.campaigns import limits

    sampled(limits.campaign(("simulate", "export"), limits.HOMES[:1]), 12)


@pytest.mark.parametrize("caller", ["8 threads", "asyncio", "fork", "fork in the middle"])
def test_many_callers_at_once_have_the_same_results(caller: str) -> None:
    from tests.campaigns import limits

    names = ("rollout", "ising", "fit", "rollout")
    campaign = framework.Campaign("limits", [limits.at_once(caller, names)], limits.expect)
    sampled(campaign, 1)


def test_another_environment_gives_the_same_policies() -> None:
    from tests.campaigns import determinism

    here = determinism.computed(determinism.FEW)
    there = determinism.computed_under(determinism.OTHER_LIBRARIES, determinism.FEW)
    assert determinism.compared(here, there) == ACCEPTED


def test_a_cluster_that_loses_somebody_gives_the_same_bits_or_one_error() -> None:
    from tests.campaigns import dask

    sampled(dask.campaign(), 1)


def _explain() -> str:
    raise InvalidInput("expected this, got that")


def _fail() -> str:
    raise IndexError("somewhere inside")


def _die() -> str:
    os.abort()


def _sleep() -> str:
    time.sleep(60)
    return ACCEPTED


def _hoard() -> str:
    np.ones(2**40)
    return ACCEPTED


@pytest.mark.parametrize(
    ("trial", "kind"),
    [
        (lambda: ACCEPTED, ACCEPTED),
        (_explain, EXPLAINED),
        (_fail, INTERNAL),
        (_die, CRASH),
        (_sleep, HANG),
        (_hoard, MEMORY),
    ],
)
def test_how_attempts_end(trial: Callable[[], str], kind: str) -> None:
    campaign = framework.Campaign(
        "trial",
        lambda rng: framework.Attempt("group", "some lines", trial),
        hang_seconds=0.2,
    )
    outcome = framework.run(campaign, seed=3, attempts=2, workers=1)
    assert outcome.counts == {kind: 2}
    assert kind in framework.table([outcome])
    assert ("--only 0\nsome lines" in framework.report(outcome)) == (kind not in framework.FINE)


def test_attempts_are_the_same_whatever_came_before() -> None:
    campaign = framework.Campaign(
        "trial", lambda rng: framework.Attempt("group", str(rng.random()), lambda: ACCEPTED)
    )
    alone = framework.attempt_of(campaign, 1, 5).repeat
    assert alone == framework.attempt_of(campaign, 1, 5).repeat
    assert alone != framework.attempt_of(campaign, 1, 6).repeat
    assert alone != framework.attempt_of(campaign, 2, 5).repeat


def test_campaigns_share_a_budget_and_those_with_an_end_come_first() -> None:
    tried = [framework.Attempt(f"group {i}", str(i), lambda: ACCEPTED) for i in range(3)]
    endless = framework.Campaign("endless", lambda rng: tried[rng.integers(3)])
    listed = framework.Campaign("listed", tried)
    outcomes = list(framework.shared([endless, listed], seed=1, minutes=60, attempts=5, workers=1))
    assert [(o.name, o.attempts) for o in outcomes] == [("listed", 3), ("endless", 5)]
    groups = {framework.attempt_of(listed, 1, number).group for number in range(3)}
    assert groups == {"group 0", "group 1", "group 2"}


def test_a_child_prepares_in_a_folder_of_its_own_and_as_long_as_it_takes() -> None:
    here = Path.cwd()

    def prepare() -> None:
        time.sleep(0.5)
        Path("prepared").touch()

    def look() -> str:
        assert Path.cwd() != here
        return ACCEPTED if Path("prepared").exists() else INTERNAL

    attempts = [framework.Attempt("look", "", look)]
    campaign = framework.Campaign("trial", attempts, prepare, hang_seconds=0.2)
    outcome = framework.run(campaign, seed=1, workers=1)
    assert outcome.counts == {ACCEPTED: 1}
    broken = framework.Campaign("trial", attempts, lambda: Path("nowhere").unlink())
    with pytest.raises(RuntimeError, match="trial could not be prepared"):
        framework.run(broken, seed=1, workers=1)
