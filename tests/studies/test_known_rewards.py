"""The study of known rewards, small."""

from pathlib import Path

import numpy as np

from studies import known_rewards
from studies.known import development, final


def test_the_default_beats_the_histogram_where_visits_mislead(tmp_path: Path) -> None:
    rows = known_rewards.study(tmp_path, only=["development"], quick=True)
    worth = {(row["problem"], row["method"]): row["same"][0] for row in rows}
    for problem in ("conveyor", "mud"):
        assert worth[problem, "default"] > 0.97 > worth[problem, "histogram"]
    assert "| default |" in (tmp_path / "known-rewards.md").read_text()


def test_shares_are_zero_for_chance_and_one_for_the_true_reward() -> None:
    for problem in (*development.problems(), *final.problems()):
        for changed in (False, True):
            assert problem.share(problem.reward, changed=changed) == 1.0
        rows = (problem.here.mdp.chain.sum(axis=1) - 1) if problem.name == "maze" else np.zeros(1)
        assert np.abs(rows).max() < 1e-9
