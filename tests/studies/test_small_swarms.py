"""The study of small swarms runs, goes on where it stopped, and draws what it found."""

import json
from pathlib import Path

import numpy as np
import pytest

from studies import small_swarms
from studies.rows import read
from swarmdp import theory
from swarmdp.model.streams import derived_seed


def test_the_study_runs_and_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small_swarms.study(tmp_path, quick=True)
    shown = capsys.readouterr().out
    assert "R_L 0.5, R_G 0.5" in shown
    rows = json.loads((tmp_path / "theory.json").read_text())
    assert {row["part"] for row in rows} == {"shares", "learners", "rewards"}
    assert all(row["contained"] for row in rows if row["part"] == "shares")
    for name in ("shares", "equilibria"):
        assert (tmp_path / f"{name}.png").exists()
        assert (tmp_path / f"{name}.svg").exists()
    table = (tmp_path / "theory.md").read_text()
    for heading in ("### By agents", "### Algorithm 2", "### Prices", "### Algorithm 1"):
        assert heading in table

    (tmp_path / "theory.json").write_text(json.dumps(rows[1:]))
    done = []
    original = small_swarms.measure_shares

    def counted(question: small_swarms.Question, quick: bool) -> object:
        done.append(question)
        return original(question, quick)

    monkeypatch.setattr(small_swarms, "measure_shares", counted)
    again = small_swarms.study(tmp_path, quick=True)
    assert len(done) == 1
    same = {name: value for name, value in rows[0].items() if name != "seconds"}
    assert {name: value for name, value in again[0].items() if name != "seconds"} == same


def test_the_study_asks_what_it_should() -> None:
    questions = small_swarms.questions()
    assert len(set(questions)) == len(questions)
    assert {q.varied for q in questions} == {"radius", "agents", "noise", "discount"}
    for kind in ("ising", "vicsek"):
        radii = [q.swarm.radius for q in questions if q.swarm.kind == kind and q.varied == "radius"]
        assert None in radii
        whole = small_swarms.Swarm(kind, 6 if kind == "ising" else 3, max(r or 0 for r in radii), 0)
        system = whole.system()
        if kind == "ising":
            assert system.n_neighbours == system.n_agents - 1  # from nothing to the whole swarm
        else:
            assert system.radius == system.cells // 2
    for question in questions:
        assert isinstance(question.swarm.system(), theory.FiniteSwarm)


def test_shares_of_all_policies_count_equilibria() -> None:
    """The shares of R_L add up to the mean number of equilibria of a random reward."""
    question = small_swarms.Question("agents", small_swarms.Swarm("ising", 4, 1, 0.1))
    row = small_swarms.measure_shares(question)
    game = theory.game(question.swarm.system())
    rewards = small_swarms.random_rewards(2000, 3, seed=5)
    counts = np.array([len(game.equilibria(reward)) for reward in rewards])
    error = counts.std(ddof=1) / np.sqrt(len(counts))
    assert abs(counts.mean() - row["local_equilibria"]) <= 5 * error


def test_numbers_of_questions_do_not_change_between_processes() -> None:
    assert small_swarms.hash_of(small_swarms.Swarm("ising", 6, 1, 0.1)) == 3668911763


def test_quick_rows_are_no_answer_to_the_full_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = small_swarms.questions(quick=True)[:1]
    monkeypatch.setattr(small_swarms, "questions", lambda quick=False: question)
    monkeypatch.setattr(small_swarms, "players", lambda quick=False: [])
    for quick in (True, True, False):
        shown = small_swarms.study(tmp_path, quick)
        assert [row["quick"] for row in shown] == [quick]
    assert [row["quick"] for row in read(tmp_path / "theory.json")] == [False, True]


def test_regrets_are_told_apart_by_whether_an_equilibrium_exists() -> None:
    row = small_swarms.measure_learners(small_swarms.Swarm("vicsek", 2, 1, 0.2), 12)
    system = theory.VicsekRing(2, cells=5, radius=1, noise=0.2)
    game = theory.game(system, small_swarms.DISCOUNT)
    seed = derived_seed(
        small_swarms.SEED, small_swarms.hash_of(small_swarms.Swarm("vicsek", 2, 1, 0.2))
    )
    rewards = small_swarms.random_rewards(12, 3, seed)
    with_one = sum(len(game.equilibria(reward)) > 0 for reward in rewards)
    assert row["with_equilibrium"] == row["prices_with_equilibrium"] == with_one
    assert row["locality_of"] == row["prices_of"] == 12
    for name in ("default", "paper", "best_responses"):
        numbers = row[name]
        assert numbers["found"] + numbers["missed"] == with_one
        parts = ((numbers["missed"], "missed_mean"), (12 - with_one, "without_mean"))
        total = sum(count * numbers[f"regret_{part}"] for count, part in parts if count)
        assert total / 12 == pytest.approx(numbers["regret_mean"], abs=1e-9)
        assert all((numbers[f"regret_{part}"] is None) == (count == 0) for count, part in parts)


def test_prices_that_no_reward_has_leave_a_gap() -> None:
    none = small_swarms._quantiles("anarchy", np.array([np.nan, np.inf]))
    assert none == {"anarchy": None, "anarchy_mean": None, "anarchy_of": 0}
    some = small_swarms._quantiles("anarchy", np.array([np.nan, 1.0, 2.0]))
    assert some["anarchy_of"] == 2
    assert some["anarchy_mean"] == 1.5
