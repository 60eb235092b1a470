"""`swarmdp export`."""

from pathlib import Path

import numpy as np
import pytest

import swarmdp
from swarmdp.cli import main
from tests.terminal import fails


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a fit of two experiments."""
    system = swarmdp.Vicsek(n_agents=30)
    demo = swarmdp.rollout(system, system.expert, steps=50, runs=2, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=10, swarms=1)
    result = swarmdp.fit(
        system, demo, seed=4, iterations=1, learner=learner, separate=True, judge=False
    )
    return result.save(tmp_path_factory.mktemp("fit")).parent


@pytest.mark.parametrize("experiment", [0, 1])
def test_export(
    fit: Path, experiment: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "controller.json"
    main(["export", str(fit), "-o", str(path), "--experiment", str(experiment)])
    shown = capsys.readouterr().out
    assert str(path) in shown
    assert "Vicsek" in shown
    table = swarmdp.load(fit).policy.table
    assert not np.array_equal(table[0], table[1])
    again = swarmdp.policies.load_controller(path)
    np.testing.assert_array_equal(again.to_arrays()["table"], table[experiment][None])


def test_all_formats(fit: Path, tmp_path: Path) -> None:
    for name in ("c.json", "c.csv", "c.h"):
        main(["export", str(fit), "-o", str(tmp_path / name)])
        assert "misalignment" in (tmp_path / name).read_text(encoding="utf-8")


def test_bad_input_gets_one_line(fit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["nowhere", "-o", "c.h"], "there is no such file"),
        ([str(fit)], "required: -o/--output"),
        ([str(fit), "-o", "c.txt"], "must end in .json, .csv, .h, got 'c.txt'"),
        ([str(fit), "-o", "c.h", "--experiment", "2"], "--experiment must be from 0 to 1, got 2"),
        ([str(fit), "-o", "c.h", "--experiment", "-1"], "--experiment must be from 0 to 1, got -1"),
    ):
        assert message in fails(["export", *arguments], capsys)


def test_a_recording_is_not_a_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = swarmdp.Vicsek(n_agents=3)
    file = swarmdp.rollout(system, system.expert, steps=5, seed=1).save(tmp_path / "demo.nc")
    assert "is not a fit" in fails(["export", str(file), "-o", "c.h"], capsys)
