"""The study of known rewards, small."""

from pathlib import Path

import numpy as np

from studies import known_rewards
from studies.known import development, earlier, swarms, tracks, unseen
from swarmdp.irl.updates.registry import UPDATES


def test_the_default_beats_the_histogram_where_visits_mislead(tmp_path: Path) -> None:
    rows = known_rewards.study(tmp_path, only=["development"], quick=True)
    worth = {(row["problem"], row["method"]): row["same"][0] for row in rows}
    for problem in ("conveyor", "mud"):
        assert worth[problem, "default"] > 0.97 > worth[problem, "histogram"]
    assert "| default |" in (tmp_path / "known-rewards.md").read_text()


def test_shares_are_zero_for_chance_and_one_for_the_true_reward() -> None:
    for problem in (*development.problems(), *earlier.problems(), *unseen.problems()):
        for changed in (False, True):
            assert problem.share(problem.reward, changed=changed) == 1.0
        rows = (problem.here.mdp.chain.sum(axis=1) - 1) if problem.name == "maze" else np.zeros(1)
        assert np.abs(rows).max() < 1e-9


def test_small_swarms_are_planned_for_by_enumeration() -> None:
    for problem in (*swarms.development(), *swarms.unseen()):
        for changed in (False, True):
            assert abs(problem.share(problem.reward, changed=changed) - 1.0) < 1e-9
            # A constant reward tells nothing: any policy is as good, which is chance.
            assert abs(problem.share(np.zeros_like(problem.reward), changed=changed)) < 1e-9


def test_all_rows_have_a_histogram_beside_them() -> None:
    rows = known_rewards.settings()
    assert {row.part for row in rows} == set(known_rewards.SEEDS)
    for part in known_rewards.SEEDS:
        methods = {row.method for row in rows if row.part == part}
        assert {"default", "histogram"} <= methods
        if part != known_rewards.SWARM:
            assert set(UPDATES) - methods <= set(tracks.TOO_MANY)
