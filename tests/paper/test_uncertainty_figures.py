import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from studies.calibration import calibrate, calibration_figure
from swarmdp.paper.pairs import sample_pairs
from swarmdp.paper.uncertainty import Uncertainty, uncertainty
from swarmdp.paper.uncertainty_figures import uncertainty_figure
from swarmdp.report import style


def measured(radius: float, times: list[int], least: int = 20) -> Uncertainty:
    system = swarmdp.Vicsek(n_agents=30, radius=radius)
    pairs = sample_pairs(
        system, system.expert, numbers=np.arange(40), times=times, seed=1, max_hops=4
    )
    return uncertainty(pairs, least=least)


@pytest.mark.parametrize("times", [[0], [0, 1, 2, 5, 9]])
def test_time_and_distance(times: list[int], tmp_path: Path) -> None:
    results = {radius: measured(radius, times) for radius in (0.2, 0.1)}
    figure = uncertainty_figure(results)
    assert [ax.get_title() for ax in figure.axes[:2]] == ["ρ = 0.2,  40 runs", "ρ = 0.1,  40 runs"]
    for column, result in enumerate(results.values()):
        apart, connected = (figure.axes[row + column].collections[0] for row in (0, 2))
        for mesh, rows in ((apart, slice(4, 5)), (connected, slice(0, 4))):
            drawn: Any = np.ma.asarray(mesh.get_array())
            expected = np.ma.masked_invalid(result.corrected[:, rows].T)
            np.testing.assert_array_equal(drawn.mask, expected.mask)
            np.testing.assert_array_equal(drawn.compressed(), expected.compressed())
            assert mesh.get_clim() == figure.axes[2].collections[0].get_clim()
    assert all(path.stat().st_size > 1000 for path in style.save(figure, tmp_path / "map"))


def test_nothing_measured_can_be_drawn(tmp_path: Path) -> None:
    empty = measured(0.1, [0, 1], least=1000)
    assert np.isnan(empty.corrected).all()
    style.save(uncertainty_figure({0.1: empty}), tmp_path / "empty")


@pytest.mark.parametrize("repeats", [1, 4])
def test_calibration(repeats: int, tmp_path: Path) -> None:
    calibration = calibrate(50, seed=1, repeats=repeats, spreads=[0.5, math.inf])
    figure = calibration_figure(calibration)
    off = np.asarray(figure.axes[0].containers[1][0].get_ydata(), dtype=float)
    np.testing.assert_allclose(
        off, (calibration.corrected - calibration.truth[:, None]).mean(axis=1)
    )
    style.save(figure, tmp_path / "calibration")
