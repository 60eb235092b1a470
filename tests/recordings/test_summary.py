"""The summary on groups whose order, rotation and distances are known."""

import numpy as np
import pytest

import swarmdp


def recording_of(positions: object, **changes: object) -> swarmdp.Recording:
    return swarmdp.Recording(positions, **({"fps": 20, "unit": "cm"} | changes))  # type: ignore[arg-type]


def test_a_line_that_marches() -> None:
    positions = np.zeros((50, 4, 2))
    positions[..., 0] = np.arange(50)[:, None]
    positions[..., 1] = 3 * np.arange(4)
    positions[10:15, 2] = np.nan
    summary = recording_of(positions).summary()
    np.testing.assert_allclose(summary.polarisation[1:], 1)
    assert np.isnan(summary.polarisation[0])
    assert summary.gaps == 1
    assert summary.present.min() == 3
    np.testing.assert_allclose(summary.nearest, 3)
    np.testing.assert_allclose(summary.speeds, 20)
    np.testing.assert_allclose(summary.extent, [[0, 49], [0, 9]])
    assert summary.remarks == ()
    text = str(summary)
    assert "median 20 cm/s" in text
    assert "nearest neighbour: median 3 cm" in text
    assert "5 missing points in gaps up to 0.3 s: for seeing neighbours only" in text
    assert "nearest neighbour" in summary._repr_html_()


@pytest.mark.parametrize("axes", [2, 3])
def test_a_mill(axes: int) -> None:
    angle = 0.05 * np.arange(200)[:, None] + 2 * np.pi * np.arange(8) / 8
    positions = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=2)[..., :axes]
    summary = recording_of(positions).summary(smooth=0)
    np.testing.assert_allclose(summary.rotation[1:], np.cos(0.025), rtol=1e-9)
    np.testing.assert_allclose(summary.polarisation[1:], 0, atol=1e-9)


@pytest.mark.parametrize(
    ("positions", "words"),
    [
        (np.full((30, 3, 2), np.nan), "no individual is seen in any frame"),
        (np.ones((30, 3, 2)), "nobody moves: there are no headings"),
        (np.cumsum(np.ones((30, 1, 2)), axis=0), "there is one individual"),
        (
            np.cumsum(np.ones((30, 5, 2)), axis=0) * [[[1], [1], [1], [1], [0.01]]],
            "individual 4 is more than 30 times faster or slower than most (1 such): is it "
            "recorded in another unit?",
        ),
        (
            np.random.default_rng(1).normal(size=(500, 3, 2)) ** 9,
            "steps are jumps, more than 1 %",
        ),
    ],
)
def test_what_looks_wrong_is_said(positions: object, words: str) -> None:
    summary = recording_of(positions).summary()
    assert any(words in remark for remark in summary.remarks)
    assert words in str(summary)
    assert summary.to_plain()["remarks"]
