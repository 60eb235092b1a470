"""Figures of the study of small swarms: complete, and true to the rows."""

import json
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from studies import small_swarm_figures as figures
from tests.examples import ROOT


def rows(part: str) -> list[dict[str, object]]:
    everything = json.loads((ROOT / "docs" / "theory.json").read_text())
    return [row for row in everything if row["part"] == part]


def test_shares_show_every_row() -> None:
    drawn = figures.shares_figure(rows("shares"))
    axes = np.array(drawn.axes).reshape(3, 4)
    for column, varied in enumerate(figures.LABELS):
        shares = [row for row in rows("shares") if row["varied"] == varied]
        lines = [
            line.get_ydata() for line in axes[0, column].lines if line.get_marker() not in "_|"
        ]
        points = sum(int(np.isfinite(np.asarray(y, float)).sum()) for y in lines)
        assert points == 2 * len(shares)  # R_L and R_G
        assert axes[2, column].get_xlabel() == figures.LABELS[varied]
    plt.close(drawn)


def test_equilibria_show_every_swarm() -> None:
    drawn = figures.equilibria_figure(rows("learners"))
    labels = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert len(labels) == len(rows("learners"))
    assert len(set(labels)) == len(labels)
    plt.close(drawn)


def test_a_part_without_rows_has_no_figure() -> None:
    assert list(figures.study_figures([])) == []
    names = []
    for name, figure in figures.study_figures(rows("learners")):
        names.append(name)
        plt.close(figure)
    assert names == ["equilibria"]


def test_ratios_have_their_intervals() -> None:
    shares = [row for row in rows("shares") if row["varied"] == "discount"]
    drawn = figures.shares_figure(rows("shares"))
    bars = np.array(drawn.axes).reshape(3, 4)[1, 3].containers
    segments = [s for bar in bars for lines in bar.lines[2] for s in lines.get_segments()]
    heights = sorted(float(np.ptp(s[:, 1])) for s in segments if s.size and np.isfinite(s).all())
    spans = [row["ratio"]["high"] - row["ratio"]["low"] for row in shares if row["ratio"]]  # type: ignore[index]
    np.testing.assert_allclose(heights, sorted(spans), atol=1e-12)
    assert heights[-1] > 0
    plt.close(drawn)


def test_prices_that_no_reward_has_are_left_out() -> None:
    some: list[dict[str, Any]] = [dict(row) for row in rows("learners")]
    some[0]["anarchy"] = None
    drawn = figures.equilibria_figure(some)
    prices: Any = drawn.axes[1].containers
    medians = {str(bars.get_label()): bars.lines[0].get_xdata() for bars in prices}
    assert [label.split(":")[0] for label in medians] == ["stability", "anarchy", "locality"]
    for label, shown in medians.items():
        name = label.split(":")[0]
        expected = [row[name][2] if row[name] else np.nan for row in some]
        np.testing.assert_array_equal(shown, expected)
        assert np.isnan(shown[0]) == (name == "anarchy")
    plt.close(drawn)
