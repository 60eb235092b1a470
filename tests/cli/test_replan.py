"""`swarmdp replan`."""

import json
from pathlib import Path

import numpy as np
import pytest

import swarmdp
from swarmdp.cli import main

SMALL = ["--shape", "8", "8", "--reach", "1"]


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("replan") / "fit"
    few = ["--demo-runs", "3", "--resamples", "0", "--no-judge", "--reward", "replanned"]
    main(["fit", "ising", *SMALL, *few, "-o", str(folder)])
    return folder


def test_the_same_swarm_and_a_larger_one(fit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["replan", str(fit)])
    assert "Verdict: " in capsys.readouterr().out
    summary = json.loads((fit / "replan" / "replan.json").read_text())
    page = (fit / "replan" / "report.html").read_text(encoding="utf-8")
    assert "was planned for its own swarm from the reward" in page
    assert page.index('class="finding') < page.index('id="player-swarm"') < page.index("<figure")
    assert summary["system_settings"]["shape"] == [8, 8]
    assert len(summary["attempts"]) == 4
    assert summary["spread"] == pytest.approx(np.std(summary["attempts"], ddof=1))
    controller = swarmdp.policies.load_controller(fit / "replan" / "controller.json")
    assert isinstance(controller, swarmdp.Policy)
    assert controller(8) in (0, 1)
    larger = ["ising", "--shape", "12", "12", "--reach", "1"]
    main(["replan", str(fit), *larger, "--no-judge", "-o", str(fit / "larger")])
    assert "Verdict" not in capsys.readouterr().out
    page = (fit / "larger" / "report.html").read_text(encoding="utf-8")
    assert "was planned for a changed Ising swarm" in page
    assert "There was nothing to compare" in page
    summary = json.loads((fit / "larger" / "replan.json").read_text())
    assert summary["system_settings"]["shape"] == [12, 12]
    assert summary["verdict"] is None


def test_it_is_compared_with_a_given_demo(fit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo = ["--demo", str(fit / "demo.nc"), "--attempts", "1", "-o", str(fit / "as demo")]
    main(["replan", str(fit), *demo])
    printed = capsys.readouterr().out
    assert "Verdict: " in printed
    assert "s.d. of all attempts" in printed
    with pytest.raises(SystemExit) as stop:
        main(["replan", str(fit), "--demo", str(fit / "result.nc")])
    assert stop.value.code == 2
    assert "not a recording" in capsys.readouterr().err


def test_a_swarm_that_observes_something_else(
    fit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["replan", str(fit), "vicsek"])
    assert stop.value.code == 2
    assert "does not observe" in capsys.readouterr().err
