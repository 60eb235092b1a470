from pathlib import Path

import numpy as np
import pytest

import swarmdp
from swarmdp import HeterogeneousLearning
from swarmdp.report import fits, style


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("name", ["vicsek", "ising"])
def test_figures_of_a_fit(name: str, runs: int, tmp_path: Path) -> None:
    system = swarmdp.Vicsek(n_agents=20) if name == "vicsek" else swarmdp.Ising((8, 8))
    demo = swarmdp.rollout(system, system.expert, steps=50, runs=runs, seed=1)
    result = swarmdp.fit(
        system,
        demo,
        seed=2,
        separate=True,
        iterations=3,
        learner=HeterogeneousLearning(iterations=10, swarms=1),
    )
    reward = fits.reward_figure(result)
    drawn = reward.axes[0]
    assert (drawn.name == "polar") == (name == "vicsek")
    assert len(drawn.patches) >= system.features.size
    convergence = fits.convergence_figure(result)
    line = np.asarray(convergence.axes[0].lines[0].get_ydata(), dtype=float)
    np.testing.assert_allclose(line, result.history.distance.mean(axis=1))
    for figure, stem in ((reward, "reward"), (convergence, "convergence")):
        assert all(path.stat().st_size > 1000 for path in style.save(figure, tmp_path / stem))


def test_learned_beside_expert(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    figure = fits.comparison_figure(rng.random((20, 8)), rng.random((30, 8)), "order parameter")
    legend = figure.axes[0].get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["expert, 20 runs", "learned, 30 runs"]
    style.save(figure, tmp_path / "comparison")
