"""The study of locality, on two kinds of swarms."""

from pathlib import Path

import pytest

from studies import locality
from studies.rows import read


def test_rows_and_the_table_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locality, "LOCAL", ("middle range",))
    monkeypatch.setattr(locality, "CUES", ("clock",))
    locality.study(tmp_path, quick=True)
    rows = read(tmp_path / "locality.json")
    assert [row["led"] for row in rows] == [False, False, True, True]
    text = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "| led by a clock | 2 of 2 |" in text
    assert "| area under the curve | 1.000 |" in text
