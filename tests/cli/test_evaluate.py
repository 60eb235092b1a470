"""`swarmdp evaluate`."""

import json
from pathlib import Path

import pytest

import swarmdp
from swarmdp.cli import main
from tests.terminal import fails


def test_evaluate_vicsek(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = swarmdp.Vicsek(n_agents=30)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    learner = swarmdp.HeterogeneousLearning(iterations=10, swarms=1)
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
