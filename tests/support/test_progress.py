"""Progress bars appear where somebody looks, and nowhere else."""

import sys
from typing import Any

import pytest

import swarmdp
from swarmdp.support import progress
from swarmdp.support.errors import InvalidInput
from tests.terminal import shown_on_terminal


def test_nothing_is_shown_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.shown(None, "working") as tell:
        assert tell is None
    swarmdp.rollout(swarmdp.Vicsek(), swarmdp.Vicsek().expert, steps=2, seed=1)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_a_function_is_told_instead() -> None:
    reported: list[Any] = []
    with progress.shown(lambda *what: reported.append(what), "working") as tell:
        assert tell is not None
        tell(1, 2)
    assert reported == [(1, 2)]
    with pytest.raises(InvalidInput, match="progress must be True"), progress.shown(3, "x"):  # type: ignore[arg-type]
        pass


def test_a_notebook_counts_as_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    class ZMQInteractiveShell:
        pass

    class IPython:
        @staticmethod
        def get_ipython() -> object:
            return ZMQInteractiveShell()

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    for widgets in (None, "there"):  # without widgets there would be a warning, and no bar
        monkeypatch.setattr(progress, "find_spec", lambda name, spec=widgets: spec)
        with progress.shown(None, "working") as tell:
            assert (tell is not None) == (widgets is not None)
    with progress.shown(False, "working") as tell:
        assert tell is None


WORK = """
import importlib
import swarmdp, swarmdp.support.progress
rollout = importlib.import_module("swarmdp.simulation.rollout")
swarmdp.support.progress.DELAY = rollout.PROGRESS_SECONDS = 0.0
vicsek = swarmdp.Vicsek(n_agents=50)
demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, runs=50, seed=1, threads=2{quiet})
quick = swarmdp.learning.HeterogeneousLearning(steps=20, swarms=1)
swarmdp.fit(vicsek, demo, seed=2, iterations=3, learner=quick, judge=False{quiet})
"""


def test_on_a_terminal_roll_outs_and_fits_show_how_far_they_are() -> None:
    shown = shown_on_terminal([sys.executable, "-c", WORK.format(quiet="")])
    assert b"simulating 50 runs of Vicsek" in shown
    assert b"iteration 3 of 3" in shown  # the last one is always drawn
    assert b"100%" not in shown  # since something always follows
    quiet = shown_on_terminal([sys.executable, "-c", WORK.format(quiet=", progress=False")])
    assert quiet == b""


RECORDED = """
import swarmdp
vicsek = swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3)
tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)["position"][0]
few = swarmdp.recordings.Observation(
    misalignment=5, bearing=0, spacing=0, previous_turn=0, neighbours=5
)
swarmdp.analyse(
    swarmdp.Recording(tracks, fps=1, unit="1"), seed=1, dt=1, observation=few, iterations=1,
    arena=swarmdp.recordings.Periodic((1.0, 1.0)), resamples=0, judge=False{quiet}
)
"""


def test_on_a_terminal_an_analysis_says_what_it_does_before_it_fits() -> None:
    shown = shown_on_terminal([sys.executable, "-c", RECORDED.format(quiet="")])
    for part in (b"reading the recording", b"calibrating a swarm", b"testing for an interaction"):
        assert part in shown
    quiet = shown_on_terminal([sys.executable, "-c", RECORDED.format(quiet=", progress=False")])
    assert quiet == b""
