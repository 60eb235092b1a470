"""The calibration of the uncertainty coefficient as a study, with few repeats."""

from pathlib import Path

from studies import calibration


def test_the_rows_say_how_far_estimates_are_from_the_truth(tmp_path: Path) -> None:
    many, few = calibration.study(tmp_path, quick=True)
    assert (many["samples"], few["samples"]) == calibration.SAMPLES
    for row in many["estimates"]:
        assert abs(row["corrected"]) < 0.01
        assert 0 <= row["within"] <= 1
    assert many["estimates"][-1]["spread"] is None  # independent headings
    assert "| independent | 0.0000 |" in (tmp_path / "calibration.md").read_text()
