from pathlib import Path

import numpy as np
import pytest

import swarmdp
from swarmdp.report import style, swarms
from swarmdp.report.scenes import Scene


@pytest.mark.parametrize("steps", [0, 1, 2, 30])
@pytest.mark.parametrize("periodic", [True, False])
def test_vicsek_figure(steps: int, periodic: bool, tmp_path: Path) -> None:
    system = swarmdp.Vicsek(n_agents=10, periodic=periodic)
    trajectory = swarmdp.rollout(system, system.expert, steps=steps, runs=2, seed=1)
    scene = Scene(system, {"expert": trajectory})
    figure = swarms.swarm_figure(scene, system.order(trajectory))
    curve = figure.axes[3]
    drawn = np.asarray(curve.lines[0].get_ydata(), dtype=float)
    np.testing.assert_allclose(drawn, system.order(trajectory).mean(axis=0))
    assert figure.axes[2].get_title().startswith(f"t = {steps}")
    png, svg = style.save(figure, tmp_path / "swarm")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in svg.read_text()


def test_figures_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    system = swarmdp.Ising((8, 8))
    trajectory = swarmdp.rollout(system, system.expert, steps=4, runs=2, seed=1)
    drawn = [
        [
            path.read_bytes()
            for path in style.save(
                swarms.swarm_figure(Scene(system, {"expert": trajectory})),
                tmp_path / str(i),
            )
        ]
        for i in range(2)
    ]
    assert drawn[0] == drawn[1]


def test_the_band_is_that_of_the_quantiles() -> None:
    values = np.random.default_rng(0).normal(size=(1000, 7))
    _, ax = style.subplots(figsize=(3, 3))
    swarms.draw_band(ax, values, "expert", "black")
    low, high = np.quantile(values, [0.1, 0.9], axis=0)
    vertices = ax.collections[0].get_paths()[0].vertices
    assert np.isin(low, vertices).all()
    assert np.isin(high, vertices).all()
