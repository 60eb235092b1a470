"""A whole reproduction at the smallest scale: figures, claims, summary and page."""

import json
import re
import shutil
from pathlib import Path

import pytest

from swarmdp.cli import main
from swarmdp.experiments.engine import reproduce
from swarmdp.experiments.plan import make_plan
from swarmdp.experiments.tasks import FIGURES
from swarmdp.report.reproduction import PARTS, write_report


def test_every_figure_is_there_in_the_paper_s_order(reproduction: Path) -> None:
    page = (reproduction / "report.html").read_text(encoding="utf-8")
    places = [page.index(f'id="figure-{name}"') for name in FIGURES]
    assert places == sorted(places)
    assert set(PARTS) == set(FIGURES)
    for name in FIGURES:
        for suffix in (".png", ".svg"):
            assert (reproduction / "figures" / name).with_suffix(suffix).stat().st_size > 1000


def test_the_summary_has_every_claim_with_figure_error_and_verdict(reproduction: Path) -> None:
    summary = json.loads((reproduction / "summary.json").read_text())
    names = [claim["name"] for claim in summary["claims"]]
    assert len(set(names)) == len(names)
    for system in ("vicsek", "ising"):
        for which in ("paper", "default"):
            for end in (
                "close-transient",
                "close-stationary",
                "swarm-beats-single",
                "swarm-beats-hand",
                "swarm-beats-random",
                "single-beats-random",
                "hand-beats-random",
            ):
                assert f"{system}-{which}-{end}" in names
    for which in ("paper", "default"):
        assert f"vicsek-{which}-reward-peak" in names
        assert f"vicsek-{which}-reward-symmetry" in names
        assert f"ising-{which}-reward-low-energy" in names
        assert f"ising-{which}-reward-past-majority" in names
        assert f"ising-{which}-reward-high-energy" in names
    assert any(name.startswith("uncertainty-falls") for name in names)
    for claim in summary["claims"]:
        assert claim["criterion"]
        if claim["holds"] is None:
            assert claim["value"] is None
            assert claim["error"] is None
            assert claim["name"].startswith("uncertainty")  # too few pairs at this scale
            continue
        assert isinstance(claim["holds"], bool)
        assert isinstance(claim["value"], float)
        assert claim["error"] is not None or claim["name"].endswith("symmetry")
    assert len(names) == 43  # those that could not be measured included
    assert summary["plan"]["seed"] == 1


def test_the_page_tells_what_the_summary_tells(reproduction: Path) -> None:
    page = (reproduction / "report.html").read_text(encoding="utf-8")
    claims = json.loads((reproduction / "summary.json").read_text())["claims"]
    for claim in claims:
        row = re.search(rf'id="claim-{re.escape(claim["name"])}" class="([^"]*)"', page)
        assert row is not None
        words = {True: "holds", False: "does-not-hold", None: "not-measured"}
        assert row[1] == words[claim["holds"]]
    held = sum(claim["holds"] is True for claim in claims)
    assert f"Of {len(claims)} claims: {held} hold, " in page
    assert 'id="player-vicsek"' in page
    assert 'id="player-ising"' in page


def test_a_second_start_gives_the_same_bytes(reproduction: Path) -> None:
    before = (reproduction / "summary.json").read_bytes()
    figure = (reproduction / "figures" / "order.svg").read_bytes()
    main(["reproduce", "--scale", "smoke", "-o", str(reproduction)])
    assert (reproduction / "summary.json").read_bytes() == before
    assert (reproduction / "figures" / "order.svg").read_bytes() == figure
    log = (reproduction / "log.txt").read_text()
    assert "0 of " in log.splitlines()[-1]


def test_only_the_wanted_figures_are_made(tmp_path: Path) -> None:
    plan = make_plan("smoke")
    store = reproduce(plan, tmp_path, figures=["snapshots"])
    page = write_report(store).read_text(encoding="utf-8")
    assert "1 of the figures of the paper" in page
    assert 'id="figure-snapshots"' in page
    assert 'id="figure-order"' not in page
    assert "player-vicsek" not in page
    computed = sorted(path.name for path in (tmp_path / "units").iterdir())
    assert computed == ["snapshots-default", "snapshots-paper"]


def test_some_figures_anew_leave_the_others_in_the_report(
    reproduction: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(reproduction, folder)
    main(["reproduce", "--scale", "smoke", "--only", "energy", "-o", str(folder)])
    assert (folder / "summary.json").read_bytes() == (reproduction / "summary.json").read_bytes()
    timing = json.loads((folder / "timing.json").read_text())
    assert timing["wall_seconds_of_last_start"] > 0
    assert "vicsek-expert" in timing["core_seconds"]


def test_a_report_is_drawn_anew_from_what_is_finished(
    reproduction: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    shutil.copy(reproduction / "plan.json", folder)
    with pytest.raises(SystemExit):
        main(["report", str(folder)])
    assert "no figure of" in capsys.readouterr().err
    for task in ("snapshots-paper", "snapshots-default", "vicsek-expert"):
        shutil.copytree(reproduction / "units" / task, folder / "units" / task)
    main(["report", str(folder)])
    assert capsys.readouterr().out == f"{folder / 'report.html'}\n"
    assert json.loads((folder / "summary.json").read_text())["figures"] == ["snapshots"]
    with pytest.raises(SystemExit):
        main(["report", str(tmp_path)])
    assert "not the folder of a reproduction" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_gets_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for output in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SystemExit) as stop:
            main(["reproduce", "--scale", "smoke", "-o", str(output)])
        assert stop.value.code == 2
        assert "a part of the path is a file" in capsys.readouterr().err


def test_wrong_arguments_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("swarmdp.experiments.cluster.CONNECT_SECONDS", 1)
    for arguments, message in (
        (["--only", "entropy"], "there is no 'entropy'"),
        (["--scale", "huge"], "invalid choice"),
        (["--workers", "2", "--threads", "2"], "not allowed with"),
        (["--cluster", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["reproduce", "-o", str(tmp_path / "x"), *arguments])
        assert stop.value.code == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
