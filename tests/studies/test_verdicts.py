"""The study of verdicts, in small."""

from pathlib import Path

import pytest

from studies.verdict_advice import ADVICE
from studies.verdicts import DIRECTIONS, EXPERTS, settings, study, tables
from swarmdp.support.errors import InvalidInput


def test_a_few_rows_and_their_tables(tmp_path: Path) -> None:
    rows = study(tmp_path, only=[DIRECTIONS], quick=True)
    assert len(rows) == 3
    assert all(row["alarms"] == row["judged"] == 2 for row in rows)
    assert all(row["of_these_alarms"] == row["fits_the_other_way"] for row in rows)
    text = (tmp_path / "verdicts.md").read_text(encoding="utf-8")
    assert "| Convoy that marches backwards | 2 of 2 |" in text
    # A second start measures nothing again.
    assert study(tmp_path, only=[DIRECTIONS], quick=True) == rows
    with pytest.raises(InvalidInput, match="there is no part"):
        study(tmp_path, only=["nothing"], quick=True)


def test_every_row_has_a_place_in_a_table() -> None:
    rows = settings()
    assert len({(row.part, row.name, row.demos) for row in rows}) == len(rows)
    assert sum(row.part == EXPERTS for row in rows) == 10
    judged = {"judged": 20, "alarms": 1, "told_apart": 1, "by_whole_runs": 4}
    text = tables([{"part": EXPERTS, "name": "a", **judged}] * 2)
    assert "| all | 2 of 40 | 2 | 8 |" in text
    followed = {"tried": 4, "given": 3, "turned": 3, "elsewhere": 2, "given_elsewhere": 0}
    text = tables([{"part": "advice", "name": name, **followed} for name in ADVICE])
    assert text.count("| 3 of 4 | 3 of 3 | 0 of 2 |") == len(ADVICE)
