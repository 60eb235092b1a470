"""The study of the learners, on small sizes."""

from pathlib import Path

import numpy as np
import pytest

from studies import learners
from studies.rows import read
from swarmdp.support.errors import InvalidInput


def test_the_study_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [
        learners.Setting("vicsek", learners.DEFAULT, 50, "expert"),
        learners.Setting("vicsek", learners.PAPER, 50, "random", temperature=0.3),
        learners.Setting("ising", learners.DEFAULT, 50, "expert"),
    ]
    monkeypatch.setattr(learners, "settings", lambda: few[:1])
    learners.study(tmp_path, experiments=2, quick=True)
    monkeypatch.setattr(learners, "settings", lambda: few)
    measured = []
    original = learners.measure_learner

    def counted(setting: learners.Setting, *args: object) -> object:
        measured.append(setting)
        return original(setting, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(learners, "measure_learner", counted)
    rows = learners.study(tmp_path, experiments=2, quick=True)
    assert measured == few[1:]
    assert len(rows) == 3
    table = (tmp_path / "learners.md").read_text()
    assert "## Vicsek" in table
    assert "## Ising" in table
    assert read(tmp_path / "learners.json") == rows
    with pytest.raises(InvalidInput, match="no system 'fish' in this study"):
        learners.study(tmp_path, only=["fish"])


def test_the_study_has_every_row_that_was_asked_for() -> None:
    rows = learners.settings()
    assert len(set(rows)) == len(rows)
    for system in ("vicsek", "ising"):
        for iterations in (50, 200, 1000):
            for start in ("expert", "random"):
                for learner in learners.LEARNERS:
                    if (system, learner) == ("ising", learners.DEFAULT):
                        continue  # the local model under another name
                    assert learners.Setting(system, learner, iterations, start) in rows
    assert {s.temperature for s in rows if s.learner == learners.PAPER} >= {0.1, 0.9}
    assert {s.learning_rate for s in rows} >= {0.3, 0.6, 0.8}


def test_an_energy_can_be_wrong_on_both_sides() -> None:
    case = learners.case_of("ising", quick=True)
    learned = np.array([0.7, 0.9, 1.0, 1.1, 1.3])[:, None] * case.expert
    np.testing.assert_array_equal(
        case.fails(learned, case.expert), [True, False, False, False, True]
    )
