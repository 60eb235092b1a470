import json

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.recordings import arena
from swarmdp.support.errors import InvalidInput


def places(kind: str, count: int = 3000) -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    if kind == "box":
        return rng.uniform((-3, 1), (5, 6), (count, 2))
    angle, radius = rng.uniform(0, 2 * np.pi, count), 4 * np.sqrt(rng.random(count))
    if kind == "half":
        angle = angle / 2
    away = np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius[:, None]
    moved: NDArray[np.float64] = away + np.array([1.0, -2.0])
    return moved


def test_a_circle_and_a_box_are_told_apart() -> None:
    fitted, touched = arena.fit_arena(places("circle"), "auto")
    assert isinstance(fitted, swarmdp.recordings.Circle)
    assert touched == 1.0
    # The largest of 3000 radii falls short of 4 by about 4 / (2 * 3000) on each side.
    assert fitted.radius == pytest.approx(4, abs=0.02)
    assert fitted.centre == pytest.approx((1, -2), abs=0.02)
    fitted, touched = arena.fit_arena(places("box"), "auto")
    assert isinstance(fitted, swarmdp.recordings.Box)
    assert touched == 1.0
    assert (*fitted.lower, *fitted.upper) == pytest.approx((-3, 1, 5, 6), abs=0.02)


def test_the_user_is_asked_where_little_of_the_rim_was_touched() -> None:
    with pytest.raises(InvalidInput, match=r'at least 70% .* give arena="'):
        arena.fit_arena(places("half"), "auto")
    assert arena.fit_arena(places("half"), "circle")[1] < 0.7
    with pytest.raises(InvalidInput, match='arena must be "auto"'):
        arena.fit_arena(places("circle"), "hexagon")
    with pytest.raises(InvalidInput, match="on one line"):
        arena.fit_arena(np.zeros((100, 2)), "auto")


def test_the_enclosing_circle_is_the_smallest() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        points = rng.normal(size=(rng.integers(3, 40), 2))
        circle = arena.enclosing_circle(points)
        away = np.linalg.norm(points - circle.centre, axis=1)
        assert away.max() == pytest.approx(circle.radius, rel=1e-9)
        # Moved anywhere it would have to be larger.
        for angle in np.linspace(0, 2 * np.pi, 16):
            moved = np.array(circle.centre) + 1e-3 * np.array([np.cos(angle), np.sin(angle)])
            assert np.linalg.norm(points - moved, axis=1).max() > circle.radius


@pytest.mark.parametrize(
    ("shape", "count", "reflections"),
    [
        (swarmdp.recordings.Box((0.0, 0.0), (2.0, 2.0)), 8, 4),
        (swarmdp.recordings.Box((0.0, 0.0), (3.0, 2.0)), 4, 2),
        (swarmdp.recordings.Periodic((2.0, 2.0)), 8, 4),
        (swarmdp.recordings.Polygon(((0.0, 0.0), (4.0, 0.0), (1.0, 2.0))), 1, 0),
        (swarmdp.recordings.Polygon(((0.0, 0.0), (4.0, 0.0), (2.0, 3.0))), 2, 1),
    ],
)
def test_symmetries(
    shape: swarmdp.recordings.Box | swarmdp.recordings.Periodic | swarmdp.recordings.Polygon,
    count: int,
    reflections: int,
) -> None:
    symmetries = shape.symmetries
    assert len(symmetries) == count
    assert sum(sign < 0 for _, sign in symmetries) == reflections


@pytest.mark.parametrize(
    "shape",
    [
        swarmdp.recordings.Circle((1.0, 2.0), 3.0),
        swarmdp.recordings.Box((0.0, 0.0), (3.0, 2.0)),
        swarmdp.recordings.Periodic((3.0, 2.0)),
        swarmdp.recordings.Polygon(((0.0, 0.0), (4.0, 0.0), (1.0, 2.0))),
        None,
    ],
)
def test_an_arena_as_plain_data(shape: arena.Arena | None) -> None:
    assert arena.restore_arena(json.loads(json.dumps(arena.describe_arena(shape)))) == shape


def test_wrong_arenas() -> None:
    with pytest.raises(InvalidInput, match="radius must be positive"):
        swarmdp.recordings.Circle((0.0, 0.0), 0.0)
    with pytest.raises(InvalidInput, match="enclose an area"):
        swarmdp.recordings.Polygon(((0.0, 0.0), (1.0, 1.0), (2.0, 2.0)))
    with pytest.raises(InvalidInput, match="upper corner"):
        swarmdp.recordings.Box((0.0, 0.0), (1.0, -1.0))
