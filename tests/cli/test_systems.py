"""Systems on the command line: a user's own, given as module:Class, and the built-in ones."""

import json
import math
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.cli import _parser, main
from swarmdp.cli.systems import build, system_in_arguments, system_of
from tests.examples import Robots
from tests.terminal import fails, shown_on_terminal

OWN = ["--system", "tests.examples:Robots"]
QUICK = ["--iterations", "2", "--resamples", "0", "--demo-steps", "50"]


def built(*arguments: str) -> Any:
    """The system that `swarmdp simulate` with these arguments would show."""
    given = ["simulate", *arguments]
    return build(_parser(system_in_arguments(given)).parse_args(given), "simulate")


def test_fields_become_options() -> None:
    assert built(*OWN) == Robots()
    given = ["--n-agents", "5", "--noise", "20", "--additive", "--lamp", "0.25", "-1"]
    given += ["--system-steps", "2", "--no-label"]
    expected = Robots(5, math.radians(20), 0.3, True, (0.25, -1.0), 2, None)
    assert built(*OWN, *given) == expected
    assert built("--system=tests.examples:Robots", "--no-additive", "--label", "b") == Robots(
        label="b"
    )


def test_built_in_systems_are_made_alike() -> None:
    assert built("vicsek") == swarmdp.Vicsek()
    turned = built("vicsek", "--turns", "-30", "0", "30", "--nearest", "4", "--no-periodic")
    turns = tuple(math.radians(angle) for angle in (-30, 0, 30))
    assert turned == swarmdp.Vicsek(turns=turns, nearest=4, periodic=False)
    assert built("ising", "--shape", "7", "9") == swarmdp.Ising((7, 9), periodic=True)
    assert built("ising", "--no-periodic") == swarmdp.Ising(periodic=False)
    assert built("gridworld", "--goal", "0", "1") == swarmdp.Gridworld(goal=(0, 1))
    size = ["--rows", "4", "--columns", "4", "--macrocell", "2"]
    random = built("gridworld", *size, "--reward-seed", "3")
    assert random == swarmdp.Gridworld.macrocells(3, 4, 4, 2)


def test_help_tells_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", *OWN, "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "--n-agents N number of robots (default: 12)" in shown
    assert "--noise X of the wheels, in degrees (default: 5.0)" in shown
    assert "--lamp X X (default: 0.5 0.5)" in shown
    assert "--no-lamp" not in shown
    assert "--no-label no label" in shown
    assert "--additive, --no-additive (default: no)" in shown


@dataclass(frozen=True)
class Odd:
    size: int
    shape: Any
    weight: "tuple[float, ...]" = ()
    hidden: int = field(default=3, init=False)
    choice: int | str = 1  # which of them is meant, nobody knows: no option


class Plain:
    """No dataclass, no options."""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--system", "tests.examples:Robot"], "tests.examples has no class Robot"),
        (["--system", "nowhere.at_all:Robots"], "cannot import nowhere.at_all: there is no such"),
        (["--system", "Robots"], "such as robots:Robots for the class Robots in robots.py"),
        (["vicsek", *OWN], "unrecognized arguments: vicsek"),
        ([*OWN, "--n-agents", "many"], "invalid int value: 'many'"),
        ([*OWN, "--lamp", "1"], "expected 2 arguments"),
        ([*OWN, "--flight", "1"], "unrecognized arguments: --flight"),
        (["--system", "tests.cli.test_systems:Odd"], "'size' of Odd is missing: give --size"),
        (["--system", "tests.cli.test_systems:Odd", "--size", "3"], "'shape' of Odd is missing"),
        (["--system", "tests.cli.test_systems:Odd", "--choice", "3"], "unrecognized arguments"),
        (["--system", "tests.cli.test_systems:Plain"], "is not a system"),
        (["gridworld", "--reward-seed", "1", "--goal", "0", "0"], "cannot make Gridworld from"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fails(["simulate", *arguments], capsys)


def test_a_class_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its own mistakes are shown as they are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "my_robots.py").write_text("from tests.examples import Robots as Mine\n")
    main(["simulate", "--system", "my_robots:Mine", "--runs", "2", "--steps", "3", "-o", "out"])
    assert (tmp_path / "out" / "robots.png").is_file()
    (tmp_path / "broken_robots.py").write_text("import a_missing_module\n")
    with pytest.raises(ModuleNotFoundError, match="a_missing_module"):
        main(["simulate", "--system", "broken_robots:Mine"])


WICKED = "import pathlib; pathlib.Path('ran').touch(); raise SystemExit(7)\n"
LOCAL = ("argparse", "h5py", "matplotlib", "numba", "pandas", "psutil", "rich", "scipy", "xarray")


def in_shared_folder(folder: Path, program: list[str]) -> bytes:
    """What a command shows in a folder where somebody left modules with well-known names."""
    for name in LOCAL:
        (folder / f"{name}.py").write_text(WICKED)
    simulate = [*program, "--runs", "1", "--steps", "1", "-o", "out"]
    shown = shown_on_terminal([sys.executable, *simulate], cwd=folder)
    assert not (folder / "ran").exists()
    assert (folder / "out" / "summary.json").is_file()
    return shown


@pytest.mark.parametrize("program", ["-m", "-c"])
def test_no_module_of_the_current_folder_is_run(tmp_path: Path, program: str) -> None:
    # Python itself puts the folder in front of `-m` and `-c`; the script `swarmdp` has its own.
    script = "import sys; sys.path.pop(0); from swarmdp.cli import main; main(sys.argv[1:])"
    start = ["-m", "swarmdp"] if program == "-m" else ["-c", script]
    in_shared_folder(tmp_path, [*start, "simulate", "ising", "--shape", "6", "6"])


def test_a_system_of_the_current_folder_comes_last_and_is_said(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from swarmdp import Ising as Mine\n")
    simulate = ["-m", "swarmdp", "simulate", "--system", "mine:Mine", "--shape", "6", "6"]
    shown = in_shared_folder(tmp_path, simulate)
    assert f"swarmdp: mine comes from the current folder, {tmp_path}".encode() in shown


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fit of robots with settings of their own."""
    folder = tmp_path_factory.mktemp("fit")
    main(["fit", *OWN, "--noise", "8", *QUICK, "--demo-runs", "2", "-o", str(folder)])
    return folder


def test_simulate_and_fit(tmp_path: Path, fit: Path) -> None:
    main(["simulate", *OWN, "--runs", "3", "--steps", "10", "-o", str(tmp_path)])
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["system"] == "Robots"
    assert summary["measures"]["to_lamp"]["units"] == "m"
    measured = swarmdp.load(tmp_path / "measure.nc")
    rows = summary["measures"]["lit"]["over_time"]
    assert rows[-1]["mean"] == pytest.approx(measured["lit"][:, 10].mean())
    result = swarmdp.load(fit)
    assert result.system_settings["noise"] == pytest.approx(math.radians(8))
    assert system_of(result, "tests.examples:Robots") == Robots(noise=math.radians(8))


def test_the_summary_names_all_axes(fit: Path) -> None:
    (block,) = json.loads((fit / "summary.json").read_text())["reward"]
    light, neighbours = block["axes"]
    assert (light["name"], light["units"]) == ("light", "degrees")
    np.testing.assert_allclose(light["values"], np.arange(-180, 180, 45))
    assert neighbours == {"name": "neighbours", "units": "1", "values": [0, 1, 2, 3]}
    np.testing.assert_array_equal(
        np.array(block["mean"]), swarmdp.load(fit).reward.table().mean("experiment")
    )
    (errors,) = swarmdp.load(fit).reward.tables(swarmdp.load(fit).reward_error)
    np.testing.assert_array_equal(np.array(block["error"]), errors.to_numpy())


def test_an_additive_reward_has_a_table_for_each_component(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["fit", *OWN, "--additive", *QUICK, "-v", "-o", str(tmp_path)])
    shown = capsys.readouterr().out
    assert len(re.findall(r"\blearned reward\b", shown)) == 2
    assert "light / degrees" in shown
    light, neighbours = json.loads((tmp_path / "summary.json").read_text())["reward"]
    assert (len(light["mean"]), len(neighbours["mean"])) == (8, 4)


def test_a_demo_and_a_resume_need_the_class_again(
    fit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = ["fit", "--demo", str(fit / "demo.nc"), *QUICK[:4], "-o", str(tmp_path)]
    assert "say where its class is with --system MODULE:Robots" in fails(demo, capsys)
    main([*demo, *OWN])
    main([*demo, *OWN, "--iterations", "3", "--resume"])
    assert swarmdp.load(tmp_path).system_settings == swarmdp.load(fit).system_settings
    assert "leave --noise out" in fails([*demo, *OWN, "--noise", "8"], capsys)
    other = [*demo, "--system", "tests.examples:Sand"]
    assert "recorded from Robots, not from Sand" in fails(other, capsys)


def test_evaluate_and_animate_need_it_too(
    fit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["evaluate", str(fit), "--runs", "4", "-o", str(tmp_path)]
    assert "--system MODULE:Robots" in fails(command, capsys)
    main([*command, *OWN])
    read = json.loads((tmp_path / "evaluation.json").read_text())
    assert set(read["measures"]) == {"to_lamp", "lit"}
    assert (tmp_path / "evaluation.png").is_file()
    for name in ("a.gif", "a.html"):
        main(["animate", "--fit", str(fit), *OWN, "--steps", "3", "-o", str(tmp_path / name)])
        assert (tmp_path / name).stat().st_size > 1000
    assert "learned: mean distance to the lamp / m from" in capsys.readouterr().out


def test_without_an_expert_the_demo_takes_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.examples import Sand

    system = Sand()
    demo = swarmdp.rollout(system, lambda o: (o > 0).astype(int), steps=50, seed=1)
    demo.save(tmp_path / "recorded.nc")
    named = ["--system", "tests.examples:Sand"]
    assert "Sand has no expert" in fails(["simulate", *named], capsys)
    output = tmp_path / "fit"
    main(["fit", "--demo", str(tmp_path / "recorded.nc"), *named, *QUICK[:4], "-o", str(output)])
    main(["evaluate", str(output), *named, "--runs", "2"])
    main(["animate", "--fit", str(output), *named, "--steps", "5", "-o", str(tmp_path / "a.gif")])
    assert "a.gif" in capsys.readouterr().out
    (output / "demo.nc").unlink()
    assert "no demo.nc beside the fit" in fails(["evaluate", str(output), *named], capsys)


def test_other_features_come_back_from_a_file() -> None:
    system = swarmdp.model.with_features(
        Robots(), swarmdp.Product(a=swarmdp.Angles(4), b=swarmdp.Levels(4))
    )
    demo = swarmdp.rollout(system, Robots().expert, steps=2, seed=1)
    again = system_of(demo, "tests.examples:Robots")
    assert again.features.size == 16
    shown = swarmdp.rollout(Robots(), Robots().expert, steps=2, seed=1, initial=demo)
    with pytest.raises(swarmdp.errors.InvalidInput, match="start states of its own"):
        system_of(shown, "tests.examples:Robots")
