"""The study of function approximation, on small sizes."""

from pathlib import Path

import numpy as np

from studies import approximation
from swarmdp.model.testing import check_system


def test_the_school_is_a_system() -> None:
    check_system(approximation.School(n_agents=12, radius=0.3), tolerance=1e-9)


def test_the_expert_uses_all_four_numbers() -> None:
    school = approximation.School()
    usual = np.array([0.3, -0.5, 0.08, 6.0])
    for component, other in enumerate([0.6, 0.5, 0.02, 14.0]):
        changed = usual.copy()
        changed[component] = other
        assert abs(school.expert(usual) - school.expert(changed)) > np.radians(5)


def test_the_study_judges_linear_and_tables_alike(tmp_path: Path) -> None:
    rows = approximation.study(tmp_path, experiments=2, quick=True)
    assert [row["learner"] for row in rows] == [approximation.LINEAR, "8 x 8 x 3 x 3"]
    assert all(np.isfinite(row["true_distance"]) for row in rows)
    assert "linear" in (tmp_path / "approximation.md").read_text()
