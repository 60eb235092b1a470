"""`swarmdp fit --tracks`: from a file of tracks to the report."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray
from numpy.typing import NDArray

import swarmdp
from swarmdp.cli import main
from swarmdp.recordings.zonal_files import read_zonal
from swarmdp.support.saved import ANALYSIS, Packed
from tests.terminal import fails

READING = ["--fps", "1", "--unit", "cm", "--dt", "1", "--neighbours", "5"]
PERIODIC = ["--arena", "periodic:100,100"]
SMALL = ["--iterations", "1", "--resamples", "0", "--threads", "1"]
FILES = {
    "report.html",
    "summary.json",
    "result.nc",
    "swarm.nc",
    "analysis.nc",
    *(
        f"{name}.{kind}"
        for name in ("paths", "group", "calibration", "interaction", "reward", "rule")
        for kind in ("png", "svg")
    ),
}


@pytest.fixture(scope="module")
def tracks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve agents that align, in a box without walls, as a long table."""
    vicsek = swarmdp.Vicsek(n_agents=12, radius=0.4, speed=0.05, noise=0.3)
    places = swarmdp.rollout(vicsek, vicsek.expert, steps=90, seed=3)["position"][0] * 100
    return written(tmp_path_factory.mktemp("tracks") / "fish.csv", places)


@pytest.fixture(scope="module")
def analysed(tracks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an analysis."""
    folder = tmp_path_factory.mktemp("analysis") / "one"
    main(["fit", "--tracks", str(tracks), *READING, *PERIODIC, *SMALL, "-o", str(folder)])
    return folder


def written(path: Path, places: NDArray[np.float64]) -> Path:
    """Places (time, individual, 2) as a long table."""
    lines = ["frame,fish,x,y"]
    lines += [
        f"{t},{k},{places[t, k, 0]:.5f},{places[t, k, 1]:.5f}"
        for t in range(len(places))
        for k in range(places.shape[1])
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_report(analysed: Path) -> None:
    assert {path.name for path in analysed.iterdir()} == FILES
    page = (analysed / "report.html").read_text()
    for words in (
        "The rule behind fish.csv",
        "Recorded and simulated",
        "Is there an interaction?",
        "The rule of turns",
        "Held-out statistics",
        "What the reward prefers",
        "How close the groups are",
        "Which controllers were tried",
        "How to cite",
    ):
        assert words in page
    assert "<script src" not in page
    summary = json.loads((analysed / "summary.json").read_text())
    assert summary["swarm"]["arena"]["kind"] == "Periodic"
    assert summary["decisions"]["train"] > summary["decisions"]["test"]
    assert summary["verdict"]["words"] in page


def test_the_analysis_can_be_loaded(analysed: Path) -> None:
    summary = json.loads((analysed / "summary.json").read_text())
    loaded = swarmdp.load(analysed)
    assert isinstance(loaded, swarmdp.Analysis)
    assert json.loads(json.dumps(loaded.to_plain())).items() <= summary.items()
    assert len(summary["reward"]) == len(loaded.result.blocks)
    assert loaded.controller.to_plain() == summary["controller"]["controller"]
    names = {"controller", "zone model", "regression", "clone", "recording itself"}
    assert set(loaded.distances) == set(summary["energy_distances"]) == names
    assert {"random", "nothing", "clone", "vicsek", "couzin", "regression"} <= set(loaded.table)
    track = swarmdp.rollout(
        loaded.controlled_swarm, loaded.controlled_swarm.expert, steps=3, seed=1
    )
    assert track.steps == 3


def test_an_analysis_of_an_earlier_version(analysed: Path) -> None:
    found = swarmdp.load(analysed)
    with xarray.open_dataset(analysed / "analysis.nc", engine="h5netcdf") as dataset:
        packed = Packed.of(dataset.load(), ANALYSIS)
    for name in ("found", "distances", "rule"):
        del packed.plain[name]
    old = packed.dataset(ANALYSIS).assign_attrs(format=1)
    loaded = swarmdp.Analysis.from_xarray(old, found.swarm, found.result)
    assert loaded.found.family == "not searched"
    assert loaded.verdict is None
    assert not loaded.distances
    assert loaded.controlled_swarm.n_agents == found.swarm.n_agents


def test_the_same_seed_gives_the_same_files(
    tracks: Path, analysed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [*READING, *PERIODIC, *SMALL, "--no-judge", "--json", "-o", str(tmp_path)]
    main(["fit", "--tracks", str(tracks), *options])
    printed = json.loads(capsys.readouterr().out)
    assert printed["folder"] == str(tmp_path)
    assert printed.get("verdict") is None
    assert "Held-out statistics" not in (tmp_path / "report.html").read_text()
    for name in FILES - {"report.html", "summary.json", "analysis.nc"}:
        assert (analysed / name).read_bytes() == (tmp_path / name).read_bytes(), name


@pytest.mark.parametrize("at", ["the fit", "the verdict"])
def test_an_interrupted_analysis_keeps_its_fit(
    at: str,
    tracks: Path,
    analysed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from swarmdp.irl import expectations
    from swarmdp.recordings import analysis_steps

    estimate, calls = expectations.simulated_runs, []

    def interrupted(*args: object, **kwargs: object) -> object:
        calls.append(1)
        if at == "the verdict" or len(calls) == 2:
            raise KeyboardInterrupt
        return estimate(*args, **kwargs)  # type: ignore[arg-type]

    place = (
        (expectations, "simulated_runs")
        if at == "the fit"
        else (analysis_steps, "verdict_of_model")
    )
    monkeypatch.setattr(*place, interrupted)
    # An earlier analysis in the same folder does not stay beside the fit of this one.
    (tmp_path / "analysis.nc").write_bytes((analysed / "analysis.nc").read_bytes())
    iterations = "2" if at == "the fit" else "1"
    options = [
        *READING,
        *PERIODIC,
        "--iterations",
        iterations,
        "--resamples",
        "0",
        "--threads",
        "1",
    ]
    options += [] if at == "the verdict" else ["--no-judge"]
    arguments = ["fit", "--tracks", str(tracks), *options, "-o", str(tmp_path)]
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 130
    said = capsys.readouterr().err
    assert f"interrupted: 1 of {iterations} iterations are kept in {tmp_path}" in said
    assert ("what follows the fit is missing" in said) == (at == "the verdict")
    assert said.rstrip().endswith("--resume")
    assert len(swarmdp.load(tmp_path).iterations) == 1
    monkeypatch.undo()
    main([*arguments, "--resume"])
    assert len(swarmdp.load(tmp_path).result.iterations) == int(iterations)
    if at == "the verdict":
        assert (tmp_path / "result.nc").read_bytes() == (analysed / "result.nc").read_bytes()


def test_other_commands_on_an_analysis(
    analysed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["export", str(analysed), "-o", str(tmp_path / "controller.json")])
    # What other commands use is the controller that was judged.
    assert read_zonal(tmp_path / "controller.json") == swarmdp.load(analysed).controller
    main(["evaluate", str(analysed), "--runs", "2", "-o", str(tmp_path), "--threads", "1"])
    evaluation = json.loads((tmp_path / "evaluation.json").read_text())
    assert "polarisation" in evaluation["measures"]
    main(["animate", "--fit", str(analysed), "--steps", "3", "-o", str(tmp_path / "swarm.html")])
    assert "learned: polarisation" in capsys.readouterr().out


def test_a_fit_without_its_swarm(
    analysed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "result.nc").write_bytes((analysed / "result.nc").read_bytes())
    assert "no swarm.nc beside it" in fails(["evaluate", str(tmp_path)], capsys)
    main(["export", str(tmp_path), "-o", str(tmp_path / "controller.csv")])
    (tmp_path / "analysis.nc").write_bytes((analysed / "analysis.nc").read_bytes())
    with pytest.raises(swarmdp.errors.FileError, match="swarm.nc"):
        swarmdp.load(tmp_path)


def test_the_same_from_python(tracks: Path) -> None:
    recording = swarmdp.read_tracks(tracks, fps=1, unit="cm")
    said: list[str] = []
    reanalysed = swarmdp.analyse(
        recording,
        seed=1,
        dt=1,
        observation=swarmdp.recordings.Observation(neighbours=5, bearing=0, previous_turn=0),
        arena=swarmdp.recordings.Periodic((100.0, 100.0)),
        iterations=1,
        resamples=2,
        judge=False,
        threads=1,
        say=said.append,
    )
    assert len(said) == 6  # decisions, swarm, interaction, rule, other reactions, controller
    assert reanalysed.verdict is None
    assert f"{reanalysed.interaction.gain:+.3f} nats" in reanalysed.conclusions[0]
    assert reanalysed.rule is not None
    assert reanalysed.conclusions[1] == reanalysed.rule.sentences[0]
    assert "reward" in reanalysed.conclusions[-2]
    assert reanalysed.conclusions[-1].startswith("The controller: ")
    tested = reanalysed.result.differences().set_index(["one", "other"])
    sizes = [reanalysed.result.reward.weights[0][part] for part in (slice(0, 7), slice(7, 10))]
    assert [preference.component for preference in reanalysed.preferences] == [
        "misalignment",
        "spacing",
    ]
    for preference, weights in zip(reanalysed.preferences, sizes, strict=True):
        assert preference.difference == pytest.approx(np.ptp(weights))
        same = np.isclose(tested["difference"].abs(), preference.difference)
        assert preference.p in tested["p"][same].tolist()
        assert preference.error in tested["error"][same].tolist()
    assert "±" in reanalysed.preferences[0].best + reanalysed.preferences[0].worst
    assert reanalysed.recording is recording
    assert set(reanalysed.turn_gains) == {
        "recorded habits",
        "policy of the fit",
    }
    assert repr(reanalysed).startswith("Analysis of a recording")
    assert "<table" in reanalysed._repr_html_()
    json.dumps(reanalysed.to_plain())
    with pytest.raises(swarmdp.errors.InvalidInput, match="judge=True"):
        _ = reanalysed.table


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--arena", "circle:1,2"], "--arena must be circle:X,Y,RADIUS, got '1,2'"),
        (["--arena", "ring"], "--arena must be"),
        (["--arena", "polygon:0,0,1"], "--arena must be polygon:"),
        (["--arena", "open", "--neighbours", "many"], "--neighbours must be"),
        (["--arena", "open", "--neighbours", "40"], "neighbours must be at most 10"),
        (["--dt", "soon"], "--dt must be seconds"),
        (["--arena", "open", "--resamples", "1"], "resamples must be 0 or at least 2"),
        (["--demo", "run.nc"], "leave --demo out"),
        (["--resume"], "there is no such file"),
        (["--estimator", "single"], "leave --estimator out"),
        (["--unit", ""], "unit"),
    ],
)
def test_one_line_for_what_is_wrong(
    tracks: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
) -> None:
    folder = tmp_path / "out"
    arguments = ["fit", "--tracks", str(tracks), *READING, *SMALL, "-o", str(folder), *options]
    assert message in fails(arguments, capsys)
    assert not folder.exists()


def test_an_arena_that_is_not_to_be_believed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Individuals that pace up and down along a diagonal: no rim is touched but at its ends."""
    rng = np.random.default_rng(1)
    along = 10 * np.sin(np.arange(300)[:, None] / 9 + np.arange(6))
    places = along[:, :, None] + rng.normal(0, 0.3, (300, 6, 2))
    path = written(tmp_path / "pacing.csv", places)
    reading = ["--fps", "1", "--unit", "m", "--dt", "1", "-o", str(tmp_path / "out")]
    error = fails(["fit", "--tracks", str(path), *reading], capsys)
    assert "at least 70% are needed to believe it" in error
    assert "--arena open for open space" in error
    assert "--arena circle:X,Y,RADIUS" in error
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_noticed_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    arguments = ["fit", "--tracks", "missing.csv", "-o", str(tmp_path / "file")]
    assert "it is a file, not a folder" in fails(arguments, capsys)
    assert "missing.csv" in fails(["fit", "--tracks", "missing.csv", "-o", str(tmp_path)], capsys)


def test_a_system_does_not_go_with_tracks(capsys: pytest.CaptureFixture[str]) -> None:
    assert "leave SYSTEM out" in fails(["fit", "vicsek", "--tracks", "fish.csv"], capsys)
