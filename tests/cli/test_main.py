"""What all commands share: help, version, errors, a quick start."""

import re
import subprocess
import sys

import pytest

import swarmdp
from swarmdp.cli import main
from tests.terminal import fails


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn"], "invalid choice: 'learn'"),
        (["--bogus"], "required: COMMAND"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in fails(arguments, capsys)


def test_a_misspelt_option_leads_to_the_help_of_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = fails(["fit", "vicsek", "--raduis", "0.1"], capsys)
    assert said == (
        "swarmdp fit: unrecognized arguments: --raduis 0.1; did you mean --radius? "
        "(see swarmdp fit vicsek --help)\n"
    )
    said = fails(["evaluate", "runs/fit", "--zzz=3", "more"], capsys)
    assert (
        said
        == "swarmdp evaluate: unrecognized arguments: --zzz=3 more (see swarmdp evaluate --help)\n"
    )


def test_an_interrupt_exits_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    # Not a function of a module: whatever is first imported meanwhile would keep it.
    monkeypatch.setattr(swarmdp.Vicsek, "initial", interrupted)
    with pytest.raises(SystemExit) as exit_:
        main(["simulate", "vicsek"])
    assert exit_.value.code == 130
    said = capsys.readouterr().err
    assert said == "swarmdp: interrupted: nothing was saved; run the command again\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert exit_.value.code == 0
    assert capsys.readouterr().out == f"swarmdp {swarmdp.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        *(
            [command]
            for command in [
                "simulate",
                "fit",
                "evaluate",
                "export",
                "animate",
                "reproduce",
                "report",
                "tracks",
                "info",
            ]
        ),
        *([command, "vicsek"] for command in ("simulate", "fit", "animate")),
        ["simulate", "ising"],
        ["fit", "gridworld"],
    ],
)
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([*arguments, "--help"])
    assert exit_.value.code == 0
    shown = capsys.readouterr().out
    assert re.match(rf"usage: swarmdp {' '.join(arguments[:1])}", shown)
    assert ("the system Vicsek:" in shown) == ("vicsek" in arguments)
    for nothing in ("None", "[]", "False"):
        assert f"(default: {nothing})" not in shown
    if arguments == ["simulate", "ising"]:
        assert "expected mean of the initial spins (default: 0.0)" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("program", "heavy"),
    [
        ("import swarmdp", "numpy numba scipy xarray matplotlib pandas rich jinja2"),
        ("import swarmdp; swarmdp.Vicsek()", "numba scipy xarray matplotlib pandas rich jinja2"),
        (
            "import swarmdp.cli\ntry: swarmdp.cli.main(['--help'])\nexcept SystemExit: pass",
            "numpy numba scipy xarray matplotlib pandas rich jinja2",
        ),
    ],
)
def test_starting_imports_nothing_heavy(program: str, heavy: str) -> None:
    check = f"{program}\nimport sys\nassert not set({heavy.split()!r}) & set(sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
