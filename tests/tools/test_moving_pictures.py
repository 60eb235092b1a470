"""README's moving picture: it moves, it is small, and making it again gives the same."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tools import moving_pictures


def test_it_moves_and_is_small() -> None:
    assert moving_pictures.PLACE.stat().st_size <= moving_pictures.LARGEST
    with Image.open(moving_pictures.PLACE) as picture:
        assert picture.n_frames == moving_pictures.STEPS + 1  # type: ignore[attr-defined]
        first = np.array(picture.convert("RGB"))
        picture.seek(20)
        assert (np.array(picture.convert("RGB")) != first).mean() > 0.02


def test_it_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(moving_pictures, "PLACE", tmp_path / "learned.gif")
    monkeypatch.setattr(moving_pictures, "STEPS", 3)
    moving_pictures.main()
    assert "learned.gif: " in capsys.readouterr().out
    with Image.open(tmp_path / "learned.gif") as picture:
        assert picture.n_frames == 4  # type: ignore[attr-defined]
        assert picture.width == moving_pictures.WIDE
