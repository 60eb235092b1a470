"""`swarmdp evaluate`."""

import json
from pathlib import Path
from typing import Any

import pytest

import swarmdp
from swarmdp.cli import main
from swarmdp.support.netcdf import write_dataset
from tests.terminal import fails


def test_evaluate_vicsek(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = swarmdp.Vicsek(n_agents=30)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=10, swarms=1)
    result = swarmdp.fit(system, demo, seed=4, iterations=2, learner=learner, judge=False)
    folder = result.save(tmp_path).parent
    main(["evaluate", str(folder), "--runs", "20"])
    assert "learned" in capsys.readouterr().out
    evaluation = json.loads((folder / "evaluation.json").read_text())
    assert [row["time"] for row in evaluation["measures"]["order"]["over_time"]] == [
        0,
        1,
        2,
        5,
        10,
        20,
        50,
    ]
    assert (folder / "evaluation.png").exists()
    page = (folder / "evaluation.html").read_text(encoding="utf-8")
    for words in ("order parameter ω of the learned swarms is within", 'id="player-swarm"'):
        assert words in page
    assert page.index('class="finding') < page.index('id="player-swarm"') < page.index("<figure")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "nowhere"], "there is no such file"),
        (["evaluate"], "required: fit"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fails(arguments, capsys)


def test_a_recording_is_not_a_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = swarmdp.Vicsek(n_agents=3)
    file = swarmdp.rollout(system, system.expert, steps=5, seed=1).save(tmp_path / "demo.nc")
    assert "is not a fit" in fails(["evaluate", str(file)], capsys)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_bins": 10**6}, "has 36 observations, but Vicsek has 1000000"),
        ({"n_agents": 10**11}, "needs 5.821 TiB"),
        ({"wings": 2}, "unexpected keyword argument 'wings'"),
        ({"noise": "much"}, "noise must be a finite number"),
        ({"n_bins": None}, "n_bins must be an integer"),
    ],
)
def test_settings_of_a_file_that_no_system_has_get_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changed: dict[str, Any], message: str
) -> None:
    system = swarmdp.Vicsek(n_agents=3)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=2, swarms=1)
    result = swarmdp.fit(system, demo, seed=4, iterations=1, learner=learner, judge=False)
    dataset = result.to_xarray()
    settings = json.loads(dataset.attrs["system_settings"]) | changed
    dataset.attrs["system_settings"] = json.dumps(settings)
    write_dataset(tmp_path / "result.nc", dataset)
    assert message in fails(["evaluate", str(tmp_path)], capsys)


def test_more_classes_than_memory_can_hold_are_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = swarmdp.Vicsek(n_agents=3, n_bins=10**6)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1).save(tmp_path / "demo.nc")
    said = fails(
        ["fit", "--demo", str(demo), "--update", "policy_matching", "-o", str(tmp_path)], capsys
    )
    assert "TiB" in said
    assert "fewer classes" in said
