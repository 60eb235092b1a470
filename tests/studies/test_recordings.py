from pathlib import Path

import numpy as np
import pytest

from studies import recordings
from swarmdp.support.errors import InvalidInput


def test_swaps_keep_all_places() -> None:
    rng = np.random.default_rng(0)
    tracks = rng.normal(size=(80, 6, 2))
    actual = recordings.swap_identities(tracks, 9, rng)
    assert not np.array_equal(tracks, actual)
    np.testing.assert_array_equal(np.sort(tracks, axis=1), np.sort(actual, axis=1))
    np.testing.assert_array_equal(tracks[:10], actual[:10])


def test_rows_of_walkers(tmp_path: Path) -> None:
    rows = recordings.study(tmp_path, quick=True, only=["independent walkers"])
    assert [row["sets"] for row in rows] == [1]
    assert "independent walkers" in (tmp_path / "recordings.md").read_text()
    with pytest.raises(InvalidInput, match="parts are"):
        recordings.study(tmp_path, only=["birds"])
