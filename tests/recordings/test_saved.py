"""Swarms made from recordings, in files."""

import json
from pathlib import Path

import numpy as np
import pytest

import swarmdp
from swarmdp.recordings.swarm import Swarm
from tests.recordings.test_swarm import ARENAS, decisions_in

SEEN = swarmdp.recordings.Observation(misalignment=5, spacing=0, neighbours=3)  # few classes: quick


@pytest.mark.parametrize("arena", ["box", "polygon", "open"])
def test_a_swarm_comes_back_to_the_last_bit(arena: str, tmp_path: Path) -> None:
    decisions = decisions_in(arena, times=120)
    swarm = Swarm.from_recording(decisions, SEEN, arena=ARENAS[arena])
    again = swarmdp.load(swarm.save(tmp_path))
    assert isinstance(again, Swarm)
    assert isinstance(swarmdp.load(tmp_path), Swarm)
    assert json.dumps(again.settings) == json.dumps(swarm.settings)
    assert (again.touched, dict(again.tried)) == (swarm.touched, dict(swarm.tried))
    assert again.decisions is not None
    assert again.decisions.known.dtype == bool
    for name in ("positions", "headings", "speeds", "turns", "known"):
        assert np.array_equal(
            getattr(again.decisions, name), getattr(decisions, name), equal_nan=name != "known"
        )
    one, other = (
        swarmdp.rollout(saved, lambda seen: 0.3 * seen[..., 0], steps=20, runs=2, seed=4)
        for saved in (swarm, again)
    )
    for name in one:
        assert np.array_equal(one[name], other[name])


def test_files_that_are_not_as_they_were(tmp_path: Path) -> None:
    swarm = Swarm.from_recording(decisions_in("circle", times=120), SEEN, arena=ARENAS["circle"])
    path = swarm.save(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:5000] + b"x" + whole[5001:])
    with pytest.raises(swarmdp.errors.FileError, match="swarm.nc"):
        swarmdp.load(path)

    from swarmdp.recordings.swarm_files import swarm_dataset
    from swarmdp.support.netcdf import write_dataset

    dataset = swarm_dataset(swarm)
    for change, message in (
        ({"habits": swarm.habits + 1}, "settings are not those"),
        ({"habits": swarm.habits[:-1]}, "habits are of"),
        ({"frame_pace": swarm.frames["pace"] * np.nan}, "NaN"),
    ):
        ((name, array),) = change.items()
        axes = tuple(f"{name}_{n}" for n in range(array.ndim))
        write_dataset(path, dataset.drop_vars(name).assign({name: (axes, array)}))
        with pytest.raises(swarmdp.errors.FileError, match=message):
            swarmdp.load(path)
    write_dataset(path, dataset.drop_vars("speeds_table"))
    with pytest.raises(swarmdp.errors.FileError, match="table"):
        swarmdp.load(path)
    dataset.attrs["format"] = 99
    write_dataset(path, dataset)
    with pytest.raises(swarmdp.errors.FileError, match="update swarmdp"):
        swarmdp.load(path)


def test_a_fit_with_a_clone_as_a_prior(tmp_path: Path) -> None:
    decisions = decisions_in("circle", times=120)
    few = swarmdp.recordings.Observation(
        misalignment=5, bearing=0, spacing=0, previous_turn=0, neighbours=3
    )
    swarm = Swarm.from_recording(decisions, few, arena=ARENAS["circle"])
    result = swarmdp.fit(swarm, decisions, seed=1, iterations=1, judge=False, anchor=0.3, threads=1)
    assert isinstance(result.policy, swarmdp.policies.SoftPolicy)
    expected = swarm.anchored(result.mixture, 0.3).probabilities
    assert np.array_equal(result.policy.probabilities, expected)
    result.save(tmp_path)
    assert np.array_equal(swarmdp.load(tmp_path).policy.probabilities, expected)
    assert swarmdp.load(tmp_path).settings["anchor"] == 0.3
    with pytest.raises(swarmdp.errors.InvalidInput, match="anchor"):
        swarmdp.fit(swarm, decisions, seed=1, anchor=1.5)
    vicsek = swarmdp.Vicsek(n_agents=5)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, seed=1)
    with pytest.raises(swarmdp.errors.InvalidInput, match="not made from one"):
        swarmdp.fit(vicsek, demo, seed=1, anchor="auto")
