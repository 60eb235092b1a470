"""Figures, animations and players of systems that the package does not know."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import swarmdp
from swarmdp import Angles, Bins, Levels, Product
from swarmdp.report import fits, style, swarms
from swarmdp.report.scenes import Scene, axis_limits
from tests.examples import NAMED, Robots, Sand, result_of
from tests.report.pages import dots, robots, sand
from tests.report.test_player import in_page, unpacked


@pytest.mark.parametrize("scene", [robots(), dots(), sand()], ids=["arrows", "dots", "grid"])
def test_they_are_drawn_and_animated(scene: Scene, tmp_path: Path) -> None:
    figure = swarms.swarm_figure(scene)
    assert len(figure.axes) == (3 if isinstance(scene.system, Sand) else 4)
    style.save(figure, tmp_path / "swarm")
    swarm = scene.swarms["expert"]
    for name in ("a.gif", "a.html"):
        shown = swarmdp.animate(tmp_path / name, scene.system, {"recorded": swarm})
        assert shown.steps == 6
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 7  # type: ignore[attr-defined]
        image.seek(6)
        drawn = np.asarray(image.convert("RGB")).reshape(-1, 3)
        assert len(np.unique(drawn, axis=0)) > 3


def test_measures_are_those_that_are_declared() -> None:
    scene = robots()
    system, swarm = scene.system, scene.swarms["expert"]
    assert isinstance(system, Robots)
    live = swarmdp.rollout(system, system.expert, steps=6, seed=1, record="to_lamp")
    np.testing.assert_array_equal(scene.measures["expert"], live["to_lamp"][0])
    assert scene.measure is not None
    assert scene.measure.label == "mean distance to the lamp / m"
    assert scene.measure_limits[0] == 0.0
    assert scene.measure_limits[1] >= live["to_lamp"].max()
    assert float(scene.reading("expert", 0)) == pytest.approx(live["to_lamp"][0, 0], abs=1e-4)
    assert swarm.runs == 1


@pytest.mark.parametrize(
    ("declared", "values", "expected"),
    [
        ((None, None), [0.0123], (0.0, 0.013)),
        ((None, None), [12345, 3], (0.0, 13000.0)),
        ((None, None), [-7.2, 9.9], (-7.2, 9.9)),
        ((0.0, 1.0), [0.5], (0.0, 1.0)),
        ((None, None), [0.0], (0.0, 1.0)),
        ((None, None), [-3.0], (-3.0, 0.0)),
        ((None, 5.0), [np.nan], (0.0, 5.0)),
    ],
)
def test_axes_end_at_round_numbers(declared: Any, values: Any, expected: Any) -> None:
    assert axis_limits(declared, [np.array(values)]) == pytest.approx(expected)


def test_a_grid_of_whole_numbers_comes_back(tmp_path: Path) -> None:
    scene = sand()
    data = in_page(scene, tmp_path)
    cells = unpacked(data["swarms"][0]["cells"], "u1").reshape(7, 5, 6)
    grid = scene.system.picture(scene.swarms["expert"], 0).values  # type: ignore[attr-defined]
    assert len(data["colours"]) == grid.max() + 1 > 2
    np.testing.assert_array_equal(cells, grid)
    assert data["swarms"][0]["readings"] == [""] * 7


def test_many_values_share_colours() -> None:
    class Wide(Sand):
        def picture(self, swarm: Any, run: int = 0) -> swarmdp.model.Grid:
            values = np.arange(7 * 20).reshape(7, 4, 5)
            return swarmdp.model.Grid(values * 10)

    scene = Scene(Wide(), sand().swarms)
    cells = scene.cells("expert")
    assert (scene.shades, cells.min(), cells.max()) == (32, 0, 31)
    assert (np.diff(cells.ravel().astype(int)) >= 0).all()


def test_dots_have_no_headings(tmp_path: Path) -> None:
    scene = dots()
    data = in_page(scene, tmp_path)
    assert data["swarms"][0]["headings"] is None
    assert data["side"] == 1.0
    outside = Scene(scene.system, {"expert": _moved(scene.swarms["expert"], 2.0)})
    assert outside.window[1] != 1.0
    assert 0 <= outside.positions("expert").min() <= outside.positions("expert").max() <= 1


def _moved(swarm: swarmdp.Trajectory, by: float) -> swarmdp.Trajectory:
    from dataclasses import replace

    place = swarm.variables["place"]
    return replace(swarm, variables={"place": replace(place, values=place.values + by)})


def test_what_cannot_be_drawn_says_so(tmp_path: Path) -> None:
    class Unseen(Sand):
        picture = None  # type: ignore[assignment]

    class Strange(Sand):
        def picture(self, swarm: Any, run: int = 0) -> Any:
            return "a picture"

    for system, message in ((Unseen(), "Unseen cannot be drawn"), (Strange(), "got str")):
        with pytest.raises(swarmdp.errors.InvalidInput, match=message):
            Scene(system, sand().swarms)
    with pytest.raises(swarmdp.errors.InvalidInput, match=r"must end in .gif, .mp4 or .html"):
        swarmdp.animate(tmp_path / "a.avi", Robots(), Robots().expert)
    swarm = sand().swarms["expert"]
    with pytest.raises(swarmdp.errors.InvalidInput, match="steps must be from 0 to 6, got 9"):
        swarmdp.animate(tmp_path / "a.gif", Sand(), swarm, steps=9)


def test_policies_and_recordings_side_by_side(tmp_path: Path) -> None:
    system = Robots()
    swarm = swarmdp.rollout(system, system.expert, steps=5, seed=1)
    start = {name: swarm[name][0, 0] for name in swarm}
    straight = swarmdp.Policy(np.ones((2, 32), int))
    shown: dict[str, Any] = {"recorded": swarm, "learned": straight}
    scene = swarmdp.animate(tmp_path / "a.html", system, shown, seed=4, initial=start)
    first, second = (scene.positions(label)[0] for label in shown)
    np.testing.assert_array_equal(first, second)
    assert scene.steps == 5
    page = (tmp_path / "a.html").read_text("utf-8")
    assert "mean distance to the lamp / m" in page
    (data,) = re.findall(r'class="data">(.*?)</script>', page)
    assert json.loads(data)["steps"] == 5


def _heights(ax: Any) -> list[float]:
    return [bar.get_height() for bar in ax.patches]


def test_a_map_for_two_components(tmp_path: Path) -> None:
    result = result_of(Product(light=Angles(8), neighbours=Levels(4)), experiments=2)
    figure = swarmdp.report.plot_reward(result)
    ax = figure.axes[0]
    drawn = np.asarray(ax.collections[0].get_array(), dtype=float)
    expected = result.reward.weights.mean(axis=0).reshape(8, 4).T
    np.testing.assert_array_equal(drawn.reshape(4, 8), expected)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("light / degrees", "neighbours")
    assert ax.get_title().startswith("learned reward, mean of 2 experiments\ns.d. of a class")
    style.save(figure, tmp_path / "map")
    style.save(result.plot(), tmp_path / "result")


def test_a_panel_for_each_component_of_an_additive_reward(tmp_path: Path) -> None:
    features = Product(light=Angles(8), neighbours=Levels(4), additive=True)
    result = result_of(features, experiments=2)
    figure = swarmdp.report.plot_reward(result)
    light, neighbours = figure.axes
    heights = _heights(light)
    np.testing.assert_allclose(heights, result.reward.weights[:, :8].mean(axis=0))
    assert neighbours.get_xlabel() == "neighbours"
    assert light.get_ylim() == neighbours.get_ylim()
    assert figure.get_suptitle() == "learned reward, mean ± s.d. of 2 experiments"
    assert len(light.containers) == 2  # bars, and their errors
    style.save(figure, tmp_path / "additive")
    with pytest.raises(
        swarmdp.errors.InvalidInput, match=r"needs 2 axes \(light, neighbours\), got 1"
    ):
        swarmdp.report.plot_reward(result, light)
    _, axes = style.subplots(1, 2, figsize=(6, 3))
    swarmdp.report.plot_reward(result, axes, colours=("red", "blue"))
    assert axes[0].patches[0].get_facecolor() == (1, 0, 0, 1)


def test_means_over_the_others_for_more_components() -> None:
    @dataclass(frozen=True)
    class Three(Robots):
        def observe(self, state: Any) -> NDArray[np.float64]:
            seen = super().observe(state)
            return np.concatenate([seen, state["place"][..., :1]], axis=2)

    edges = (-np.inf, 0.3, 0.6, np.inf)
    system = swarmdp.model.with_features(
        Three(), Product(light=Angles(4), neighbours=Levels(4), x=Bins(edges, units="m"))
    )
    demo = swarmdp.rollout(system, lambda seen: 0.0 * seen[..., 0], steps=50, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=3)
    result = swarmdp.fit(system, demo, seed=2, iterations=1, learner=learner, judge=False)
    figure = swarmdp.report.plot_reward(result)
    assert [ax.get_xlabel() for ax in figure.axes] == ["light / degrees", "neighbours", "x / m"]
    weights = result.reward.weights[0].reshape(4, 4, 3)
    for ax, others in zip(figure.axes, [(1, 2), (0, 2), (0, 1)], strict=True):
        heights = _heights(ax)
        np.testing.assert_allclose(heights, weights.mean(axis=others))
        assert ax.get_title() == "mean over the other components"


def test_named_features_have_bars_with_their_names(tmp_path: Path) -> None:
    panel = fits.Panel(NAMED.blocks[0], np.array([1.0, -2.0]), np.array([0.1, 0.2]))
    _, ax = style.subplots(figsize=(4, 3))
    fits.draw_panel(ax, panel)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["ahead", "few others"]
    many = np.array([f"a feature called {i}" for i in range(9)])
    _, ax = style.subplots(figsize=(4, 3))
    fits.draw_bars(ax, many, np.arange(9.0), np.zeros(9))
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {45.0}
    style.save(fits.figure_of(ax), tmp_path / "bars")


def test_one_angle_alone_goes_around_the_circle() -> None:
    system = swarmdp.Vicsek(n_agents=10)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=5, swarms=1)
    result = swarmdp.fit(system, demo, seed=2, iterations=1, learner=learner, judge=False)
    assert swarmdp.report.plot_reward(result).axes[0].name == "polar"
    assert [ax.name for ax in result.plot().axes] == ["polar", "rectilinear", "rectilinear"]
    _, ax = style.subplots(figsize=(4, 3))
    swarmdp.report.plot_reward(result, ax)
    assert ax.get_xlabel() == "misalignment / degrees"
    figure = swarmdp.report.plot_convergence(result, ax, colours=("red", "blue"))
    assert figure is ax.get_figure()
    assert ax.lines[-3].get_color() == "red"
