"""A short fixed sample of each campaign, and the framework itself."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from swarmdp import InvalidInput
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
