from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.learning import HeterogeneousLearning
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
        learner=HeterogeneousLearning(steps=10, swarms=1),
        judge=False,
    )
    reward = fits.plot_reward(result)
    drawn = reward.axes[0]
    assert (drawn.name == "polar") == (name == "vicsek")
    assert len(drawn.patches) >= system.features.size
    convergence = fits.plot_convergence(result)
    line = np.asarray(convergence.axes[0].lines[0].get_ydata(), dtype=float)
    np.testing.assert_allclose(line, result.history.distance.mean(axis=1))
    for figure, stem in ((reward, "reward"), (convergence, "convergence")):
        assert all(path.stat().st_size > 1000 for path in style.save(figure, tmp_path / stem))


def test_a_bound_far_above_the_distances_does_not_hide_them(tmp_path: Path) -> None:
    system = swarmdp.Ising((8, 8))
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    learner = HeterogeneousLearning(steps=10, swarms=1)
    for update, scale in (("mwal", "log"), ("max_margin", "linear")):
        result = swarmdp.fit(
            system, demo, seed=2, iterations=3, learner=learner, update=update, judge=False
        )
        figure = fits.plot_convergence(result)
        assert figure.axes[0].get_yscale() == scale
        style.save(figure, tmp_path / update)


@pytest.mark.parametrize("size", [5, 30])
def test_maps_of_gridworlds(size: int, tmp_path: Path) -> None:
    """The true reward and the learned one, as they are; arrows where there is room."""
    from matplotlib.quiver import Quiver

    from swarmdp.report import gridworlds

    grid = swarmdp.Gridworld(size, size)
    expert = swarmdp.learning.plan(grid, grid.reward).policy
    demo = swarmdp.rollout(grid, expert, steps=50, runs=6, seed=1)
    result = swarmdp.fit(grid, demo, seed=2, iterations=2, judge=False)
    figure = fits.plot_reward(result)
    true, learned = figure.axes[:2]
    for ax, weights in ((true, grid.reward.weights), (learned, result.reward.weights)):
        drawn = np.asarray(ax.images[0].get_array(), dtype=float)
        np.testing.assert_array_equal(drawn, weights.reshape(size, size))
    arrows = [part for part in learned.collections if isinstance(part, Quiver)]
    assert len(arrows) == (size == 5)
    assert all(part.N == 24 for part in arrows)
    paths = gridworlds.gridworld_paths_figure(grid, demo, grid.collected(demo))
    for made, stem in ((figure, "reward"), (paths, "paths")):
        assert all(path.stat().st_size > 1000 for path in style.save(made, tmp_path / stem))


def test_an_error_of_the_only_experiment_is_drawn() -> None:
    system = swarmdp.Ising((8, 8))
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)

    def sure(evidence: swarmdp.updates.Evidence) -> swarmdp.updates.Update:
        return swarmdp.updates.Update(
            evidence.weights[-1], error=np.full_like(evidence.expert, 0.3)
        )

    learner = HeterogeneousLearning(steps=10, swarms=1)
    result = swarmdp.fit(
        system, demo, seed=2, iterations=2, learner=learner, update=sure, judge=False
    )
    figure = fits.plot_reward(result)
    assert "± posterior s.d." in figure.axes[0].get_title()
    plain = swarmdp.fit(system, demo, seed=2, iterations=2, learner=learner, judge=False)
    without = fits.plot_reward(plain)
    assert "±" not in without.axes[0].get_title()
    assert len(figure.axes[0].containers) == len(without.axes[0].containers) + 1


def test_a_gridworld_s_error_is_a_map_of_its_own(tmp_path: Path) -> None:
    grid = swarmdp.Gridworld(3, 4)
    demo = swarmdp.rollout(
        grid, swarmdp.learning.plan(grid, grid.reward).policy, steps=50, runs=2, seed=1
    )

    class Sure:
        wants = swarmdp.updates.Wants(at_once=True)

        def __call__(self, evidence: swarmdp.updates.Evidence) -> swarmdp.updates.Update:
            error = np.broadcast_to(np.arange(1.0, 13), evidence.expert.shape)
            return swarmdp.updates.Update(evidence.expert, error=error)

    def maps(**options: Any) -> list[Any]:
        figure = fits.plot_reward(
            swarmdp.fit(grid, demo, seed=2, iterations=2, **options, judge=False)
        )
        style.save(figure, tmp_path / "reward")
        return [ax for ax in figure.axes if ax.images]

    *_, learned, error = maps(update=Sure())
    assert learned.get_title().startswith("learned reward, arrows")
    assert error.get_title() == "posterior s.d."
    drawn = np.asarray(error.images[0].get_array(), dtype=float)
    np.testing.assert_array_equal(drawn, np.arange(1.0, 13).reshape(3, 4))
    assert error.images[0].get_clim()[0] == 0
    assert len(maps()) == 2
    *_, spread = maps(separate=True)
    assert spread.get_title() == "s.d. of 2 experiments"


def test_a_notebook_shows_a_figure_without_pyplot() -> None:
    figure = style.figure(figsize=(2, 2))
    figure.add_subplot()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_what_is_not_identified_is_pale_in_maps_and_in_means_over_components() -> None:
    """The reward of two components is a map; of three, means with errors of other rewards."""
    from dataclasses import replace

    system = swarmdp.Ising((6, 6), reach=1)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    made = swarmdp.fit(system, demo, seed=1, iterations=1, judge=False, reward="replanned")
    choice = made.reward_choice
    assert choice is not None
    axis = swarmdp.features.Axis
    rng = np.random.default_rng(1)
    weights = np.array([5.0, 5, 0, -5, -5, 0, 0, 0])[None]
    drawn = weights + rng.normal(size=(200, 1, 8))
    shapes = {2: (4, 2), 3: (2, 2, 2)}
    for count, shape in shapes.items():
        blocks = (tuple(axis(f"c{k}", np.arange(size)) for k, size in enumerate(shape)),)
        result = replace(
            made,
            blocks=blocks,
            expert_mu=np.ones((1, 8)),
            reward_choice=replace(choice, weights=weights, alternatives=drawn),
        )
        panels = fits.panels_of(result)
        figure = fits.plot_reward(result)
        if count == 2:
            expected = np.array([[True, True], [False, True], [True, False], [False, False]])
            np.testing.assert_array_equal(panels[0].clear, expected)
            mesh = figure.axes[0].collections[0]
            np.testing.assert_array_equal(np.asarray(mesh.get_alpha()) == 1.0, expected.T)
            assert "pale" in figure.axes[0].get_title()
            continue
        table = drawn[:, 0].reshape(200, 2, 2, 2)
        for place, panel in enumerate(panels):
            others = tuple(k + 1 for k in range(3) if k != place)
            means = table.mean(axis=others)
            np.testing.assert_allclose(panel.spread, means.std(axis=0, ddof=1))
        assert [None if p.clear is None else bool(p.clear.all()) for p in panels] == [
            *(True, True, False)
        ]
