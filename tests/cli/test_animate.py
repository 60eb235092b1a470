"""`swarmdp animate`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import swarmdp
from swarmdp.cli import main
from swarmdp.learning import HeterogeneousLearning
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene
from tests.terminal import fails, shown_on_terminal

PROGRAM = "import sys; from swarmdp.cli import main; main(sys.argv[1:])"
SMALL = ["--n-agents", "12", "--steps", "4"]


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two experiments with a small swarm."""
    system = swarmdp.Vicsek(n_agents=20)
    demo = swarmdp.rollout(system, system.expert, steps=50, runs=2, seed=1)
    learner = HeterogeneousLearning(steps=10, swarms=1)
    result = swarmdp.fit(
        system, demo, seed=2, separate=True, iterations=2, learner=learner, judge=False
    )
    return result.save(tmp_path_factory.mktemp("fit")).parent


@pytest.mark.parametrize(
    ("arguments", "size"),
    [(["vicsek", *SMALL], 5), (["ising", "--shape", "6", "9", "--steps", "2"], 3)],
)
def test_the_expert_alone(
    arguments: list[str],
    size: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["animate", *arguments])
    file = Path("runs") / f"{arguments[0]}.gif"
    assert f"  {file}  " in capsys.readouterr().out
    with Image.open(file) as image:
        assert image.n_frames == size  # type: ignore[attr-defined]
        assert image.info["duration"] == {"vicsek": 100, "ising": 200}[arguments[0]]


def test_learned_beside_expert(
    fit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Scene] = []

    def packed(player: Player) -> dict[str, object]:
        shown.append(player.scene)
        return {}

    monkeypatch.setattr("swarmdp.report.player.player_data", packed)
    output = str(tmp_path / "swarm.html")
    for options in (["--fit", str(fit)], ["vicsek", "--fit", str(fit), "--experiment", "1"]):
        main(["animate", *options, "--steps", "6", "--seed", "7", "-o", output])
    result = swarmdp.load(fit)
    system = swarmdp.Vicsek(n_agents=20)
    for experiment, scene in enumerate(shown):
        assert scene.system == system
        assert list(scene.swarms) == ["expert", "learned"]
        policy = swarmdp.Policy(result.policy.table[experiment])
        expected = swarmdp.rollout(system, policy, steps=6, seed=7)
        np.testing.assert_array_equal(scene.swarms["learned"]["heading"], expected["heading"])
        expert, learned = (swarm["position"][:, 0] for swarm in scene.swarms.values())
        np.testing.assert_array_equal(expert, learned)
    assert len(shown) == 2
    assert "learned: order parameter" in capsys.readouterr().out


def test_a_soft_policy_is_shown_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = swarmdp.Vicsek(n_agents=20)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    learner = HeterogeneousLearning(steps=10, swarms=1)
    result = swarmdp.fit(
        system, demo, seed=2, iterations=1, update="maxent", learner=learner, judge=False
    )
    shown: list[Scene] = []

    def packed(player: Player) -> dict[str, object]:
        shown.append(player.scene)
        return {}

    monkeypatch.setattr("swarmdp.report.player.player_data", packed)
    fit = str(result.save(tmp_path).parent)
    main(["animate", "--fit", fit, "--steps", "6", "-o", str(tmp_path / "a.html")])
    expected = swarmdp.rollout(system, result.policy, steps=6, seed=3)
    np.testing.assert_array_equal(shown[0].swarms["learned"]["heading"], expected["heading"])


def test_a_gridworld_is_no_swarm_to_be_watched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid = swarmdp.Gridworld(3, 3)
    policy = swarmdp.learning.plan(grid, grid.reward, discount=0.9).policy
    demo = swarmdp.rollout(grid, policy, steps=60, runs=20, seed=1)
    fit = swarmdp.fit(grid, demo, seed=2, iterations=1, judge=False).save(tmp_path).parent
    assert "Gridworld cannot be drawn" in fails(["animate", "--fit", str(fit)], capsys)


def test_the_pace_is_that_of_the_player(tmp_path: Path) -> None:
    file = tmp_path / "a.HTML"
    main(["animate", "--fps", "7", "vicsek", *SMALL, "-o", str(file)])
    assert '<option value="7" selected>7 steps/s</option>' in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["animate"], "needs a system"),
        (["animate", "fish"], "invalid choice: 'fish'"),
        (["animate", "gridworld"], "Gridworld cannot be drawn"),
        (["animate", "vicsek", "-o", "a.avi"], "must end in .gif, .mp4 or .html, got a.avi"),
        (["animate", "vicsek", "-o", "swarm"], "must end in .gif, .mp4 or .html, got swarm"),
        (["animate", "vicsek", "--fps", "0"], "from 1 to 50, got 0"),
        (["animate", "vicsek", "--steps", "-1"], "steps must be an integer of at least 0"),
        (["animate", "--fit", "nowhere"], "there is no such file"),
        (["animate", "ising", "--steps", "1", "-o", "/dev/null/a.gif"], "cannot write"),
        (
            ["animate", "vicsek", "--n-agents", "9000", "--steps", "5000", "-o", "a.html"],
            "a page plays at most",
        ),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fails(arguments, capsys)


def test_a_fit_brings_its_own_system(
    fit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--fit", str(fit), "-o", str(tmp_path / "a.html")]
    assert "is a fit of Vicsek, not of ising" in fails(["animate", "ising", *given], capsys)
    other = ["animate", "vicsek", "--n-agents", "30", *given]
    assert "leave the options of the system out" in fails(other, capsys)
    main(["animate", "vicsek", "--steps", "2", *given])
    assert "--experiment must be from 0 to 1, got 2" in fails(
        ["animate", *given, "--experiment", "2"], capsys
    )
    system = swarmdp.Vicsek(n_agents=3)
    demo = swarmdp.rollout(system, system.expert, steps=5, seed=1).save(tmp_path / "demo.nc")
    assert "is not a fit" in fails(["animate", "--fit", str(demo)], capsys)


def test_without_ffmpeg_nothing_is_begun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun(*args: object, **kwargs: object) -> None:
        raise AssertionError("it must not be begun")

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("swarmdp.report.animation.rollout", begun)
    assert "install it" in fails(["animate", "vicsek", "-o", str(tmp_path / "a.mp4")], capsys)


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    program = f"import swarmdp.support.progress; swarmdp.support.progress.DELAY = 0; {PROGRAM}"
    file = str(tmp_path / "a.gif")
    command = [sys.executable, "-c", program, "animate", "vicsek", *SMALL, "-o", file]
    assert b"drawing 5 frames" in shown_on_terminal(command)
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""
