"""One table of the kinds of saved files."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.support.errors import FileError, InvalidInput
from swarmdp.support.netcdf import read_dataset, write_dataset
from swarmdp.support.saved import (
    ANALYSIS,
    FIT,
    IN_FOLDERS,
    SAVED_KINDS,
    SPACE_ANALYSIS,
    SWARM,
    TRAJECTORY,
    Packed,
    SavedKind,
    load,
)

NAMES = [kind.name for kind in SAVED_KINDS]


@cache
def analysed() -> Any:
    vicsek = swarmdp.Vicsek(n_agents=15, radius=0.3, noise=0.3)
    tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)["position"][0]
    few = swarmdp.recordings.Observation(5, bearing=0, spacing=0, previous_turn=0, neighbours=3)
    recording = swarmdp.Recording(tracks, fps=1, unit="1")
    return swarmdp.analyse(
        recording,
        seed=1,
        dt=1,
        observation=few,
        arena=swarmdp.recordings.Periodic((1.0, 1.0)),
        iterations=1,
        resamples=0,
        judge=False,
    )


@cache
def analysed_in_space() -> Any:
    steps = np.random.default_rng(1).normal(size=(240, 6, 3)).cumsum(axis=0)
    recording = swarmdp.Recording(steps, fps=1, unit="m")
    return swarmdp.analyse(recording, seed=1, dt=1, arena=None, judge=False)


def save(kind: SavedKind, folder: Path) -> Path:
    """A file of this kind, with what belongs to it beside it."""
    if kind is SPACE_ANALYSIS:
        saved: Path = analysed_in_space().save(folder)
        return saved
    analysis = analysed()
    path: Path = analysis.save(folder)
    if kind is TRAJECTORY:
        demo: Path = analysis.swarm.demo(analysis.decisions.test).save(folder / "demo.nc")
        return demo
    return path.with_name(kind.file)


@pytest.mark.parametrize("kind", SAVED_KINDS, ids=NAMES)
def test_a_file_of_each_kind_is_read_by_its_row(kind: SavedKind, tmp_path: Path) -> None:
    path = save(kind, tmp_path)
    dataset, _ = read_dataset(path)
    assert dataset.attrs | kind.attributes() == dataset.attrs
    assert type(load(path)).__name__ in kind.reader or kind is SWARM


@pytest.mark.parametrize("kind", SAVED_KINDS, ids=NAMES)
def test_a_newer_format_is_refused(kind: SavedKind, tmp_path: Path) -> None:
    path = save(kind, tmp_path)
    dataset, _ = read_dataset(path)
    newer = kind.formats[-1] + 1
    dataset.attrs |= {"format": newer, "swarmdp_version": "9.1"}
    write_dataset(path, dataset)
    words = (
        rf"written by swarmdp 9\.1 in format {newer}, this is .* reads format .*: update swarmdp"
    )
    with pytest.raises(FileError, match=words):
        load(path)


def test_formats_of_this_version_stay_readable() -> None:
    """Add a format at the end when a file changes; take none away."""
    readable = {kind: set(kind.formats) for kind in SAVED_KINDS}
    assert readable[TRAJECTORY] >= {1}
    assert readable[SWARM] >= {1}
    assert readable[ANALYSIS] >= {1}
    assert readable[FIT] >= {5}


def test_a_folder_is_read_by_the_whole_of_what_it_holds(tmp_path: Path) -> None:
    assert IN_FOLDERS == ("analysis.nc", "space_analysis.nc", "result.nc", "swarm.nc")
    save(ANALYSIS, tmp_path)
    for kind, made in ((ANALYSIS, swarmdp.Analysis), (FIT, swarmdp.Result)):
        assert isinstance(load(tmp_path), made)
        (tmp_path / kind.file).unlink()
    assert isinstance(load(tmp_path), swarmdp.recordings.Swarm)
    (tmp_path / SWARM.file).unlink()
    with pytest.raises(FileError, match=r"the folder has no result\.nc"):
        load(tmp_path)


def test_another_kind_is_named() -> None:
    packed = Packed({"numbers": np.arange(3.0)}, {"seed": np.int64(3)})
    dataset = packed.dataset(SWARM)
    again = Packed.of(dataset, SWARM)
    np.testing.assert_array_equal(again.arrays["numbers"], np.arange(3.0))
    assert again.plain == {"seed": 3}
    with pytest.raises(InvalidInput, match="must be 'swarmdp analysis', got 'swarmdp swarm'"):
        Packed.of(dataset, ANALYSIS)
    with pytest.raises(InvalidInput, match="part 'view' is missing"):
        packed.take(dict, "view")
