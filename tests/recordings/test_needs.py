"""Large recordings: what they need is said before the work starts; too large ones are refused."""

import re
from pathlib import Path

import numpy as np
import pytest

import swarmdp
from swarmdp.recordings import needs, reading
from swarmdp.support.errors import NotEnoughMemory
from tests.recordings.corpus import table

ADVISED = r"--time 0:(\d+)\)"  # seconds that would fit


def recording(frames: int, individuals: int) -> swarmdp.Recording:
    return swarmdp.Recording(np.zeros((frames, individuals, 2)), fps=1, unit="m")


def test_small_recordings_need_no_word() -> None:
    said: list[str] = []
    needs.check_needs(recording(1000, 20), said.append)
    assert said == []


def test_a_large_recording_is_told_of_its_memory() -> None:
    said: list[str] = []
    needs.check_needs(recording(100_000, 10), said.append)
    assert len(said) == 1
    assert said[0].startswith("1,000,000 positions of 10 individuals: the analysis needs about 1")
    assert "1.219 GiB of memory" in said[0]


def test_too_many_individuals_are_refused_before_the_work() -> None:
    """Each is compared with each: 10^5 of them need hundreds of GiB."""
    words = "the analysis of 1,000,000 positions of 100,000 individuals needs 1[.,0-9]+ TiB"
    with pytest.raises(NotEnoughMemory, match=f"{words}.*about [0-9,]+ of them would fit"):
        swarmdp.analyse(recording(10, 100_000), seed=1)


def test_too_many_frames_are_refused_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swarmdp.support.memory.free_memory", lambda: 2**31)
    words = r"10,000,000 positions .* needs 4\.\d+ GiB"
    with pytest.raises(NotEnoughMemory, match=f"{words}.*{ADVISED}") as refused:
        needs.check_needs(recording(200_000, 50), print)
    found = re.search(ADVISED, str(refused.value))
    assert found is not None
    needs.check_needs(recording(int(found[1]), 50), print)
    with pytest.raises(NotEnoughMemory):
        needs.check_needs(recording(int(found[1]) + 100, 50), print)


def test_a_large_table_is_told_of_its_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text(table())
    assert reading.needed_to_read([tmp_path / "t.csv", tmp_path / "none.csv"]) == []
    monkeypatch.setattr(reading, "LARGE_TABLE", 100)
    (line,) = reading.needed_to_read([tmp_path / "t.csv"])
    assert line.startswith("t.csv has about 37 rows: reading it needs ")


def test_the_interaction_test_says_how_far_it_is() -> None:
    angle = np.random.default_rng(1).normal(0, 0.3, (200, 4)).cumsum(axis=0)
    places = np.stack([np.cos(angle), np.sin(angle)], axis=2).cumsum(axis=0)
    decisions = swarmdp.Recording(places, fps=1, unit="m").decisions(1)
    swarm = swarmdp.recordings.Swarm.from_recording(decisions, arena=None)
    told: list[tuple[int, int]] = []
    with_progress = swarm.interaction_test(seed=1, progress=lambda *how: told.append(how))
    assert told == [(number, 20) for number in range(20)]
    assert with_progress.gain == swarm.interaction_test(seed=1).gain
