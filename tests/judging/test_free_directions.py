"""Directions that a symmetric law leaves to the start are no reason for an alarm."""

import warnings

import numpy as np
import pytest

import swarmdp
from swarmdp.judging import stretches
from swarmdp.judging.judge import Judge

VICSEK = swarmdp.Vicsek()
TURNS = np.degrees(VICSEK.features.values.clip(-1.0472, 1.0472))
ROUNDED = swarmdp.Policy((TURNS / 10).round().astype(int) + 6)


@pytest.mark.parametrize("seed", [0, 7, 19])
def test_another_way_is_no_other_behaviour(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rounded expert goes another way from these starts, as in 9 of 60 that were tried.

    Stretches of the demo tell that. Where there are none, runs from other starts do.
    """
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=100, seed=700 + seed)
    assert not swarmdp.judge(ROUNDED, demo, system=VICSEK, seed=seed, quick=True).alarm
    monkeypatch.setattr(stretches, "can_begin_anywhere", lambda *_: False)
    assert not swarmdp.judge(ROUNDED, demo, system=VICSEK, seed=seed, quick=True).alarm
    monkeypatch.setattr(Judge, "_left_to_the_start", lambda *_: frozenset())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
        assert swarmdp.judge(ROUNDED, demo, system=VICSEK, seed=seed, quick=True).alarm
