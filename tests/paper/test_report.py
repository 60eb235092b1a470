"""A whole reproduction at the smallest scale: figures, claims, summary and page."""

import json
import re
from pathlib import Path

from swarmdp.paper.claim_tables import CLAIM_VERDICTS
from swarmdp.paper.engine import reproduce
from swarmdp.paper.plan import make_plan
from swarmdp.paper.report import PAPER_FIGURES, write_report
from swarmdp.paper.tasks import FIGURE_TASKS


def test_every_figure_is_there_in_the_paper_s_order(reproduction: Path) -> None:
    page = (reproduction / "report.html").read_text(encoding="utf-8")
    places = [page.index(f'id="figure-{name}"') for name in FIGURE_TASKS]
    assert places == sorted(places)
    assert set(PAPER_FIGURES) == set(FIGURE_TASKS)
    for name in FIGURE_TASKS:
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
        if claim["verdict"] == "not measured":
            assert claim["holds"] is None
            assert claim["value"] is None
            assert claim["error"] is None
            assert claim["name"].startswith("uncertainty")  # too few pairs at this scale
            continue
        words = {True: "holds", False: "does not hold", None: "not decided at this scale"}
        assert claim["verdict"] == words[claim["holds"]]
        assert isinstance(claim["value"], float)
        assert claim["error"] is not None or claim["name"].endswith("symmetry")
    assert len(names) == 43  # those that could not be measured included
    assert summary["plan"]["seed"] == 1


def test_the_page_tells_what_the_summary_tells(reproduction: Path) -> None:
    page = (reproduction / "report.html").read_text(encoding="utf-8")
    claims = json.loads((reproduction / "summary.json").read_text())["claims"]
    for claim in claims:
        cell = re.search(rf'id="claim-{re.escape(claim["name"])}" class="([^"]*)"', page)
        assert cell is not None
        assert cell[1] == CLAIM_VERDICTS[claim["verdict"]].style
    held = sum(claim["holds"] is True for claim in claims)
    assert f"Of {len(claims)} claims:" in page
    assert f"<strong>{held}</strong> hold</li>" in page


def test_the_swarms_come_first_and_claims_stand_with_their_figure(reproduction: Path) -> None:
    page = (reproduction / "report.html").read_text(encoding="utf-8")
    places = [
        page.index(f'id="{name}"')
        for name in (
            "summary",
            "player-vicsek",
            "figure-uncertainty",
            "claim-uncertainty-grows-near",
            "figure-order",
            "claim-vicsek-paper-close-transient",
            "claim-vicsek-default-close-transient",
            "figure-energy",
            "claim-ising-paper-close-transient",
            "fold-settings",
        )
    ]
    assert places == sorted(places)
    assert "noise</th><td>10°</td>" in page
    assert 'id="player-vicsek"' in page
    assert 'id="player-ising"' in page


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
