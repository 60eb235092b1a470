"""The study of the mirror, on a small swarm."""

from pathlib import Path

import numpy as np
import pytest

import swarmdp
from studies import mirror


def test_a_swarm_that_circles_is_seen() -> None:
    vicsek = swarmdp.Vicsek(n_agents=40, radius=0.3)
    straight = mirror.turn(vicsek, vicsek.expert, 4, 1)
    circling = mirror.turn(vicsek, lambda seen: seen + np.radians(5), 4, 1)
    assert abs(straight) < 0.5
    assert circling == pytest.approx(5.0, abs=0.5)


def test_the_study_compares_tables_and_linear_with_and_without(tmp_path: Path) -> None:
    rows = mirror.study(tmp_path, experiments=2, quick=True)
    assert [(row["learner"], row["mirror"]) for row in rows] == [
        ("table", False),
        ("table", True),
        ("linear", False),
        ("linear", True),
    ]
    assert all(len(row["turns"]) == 2 for row in rows)
    assert "| linear | yes |" in (tmp_path / "mirror.md").read_text()
