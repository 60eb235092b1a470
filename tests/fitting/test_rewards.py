"""Which reward a fit returns, what it says of it, and which differences are identified."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.irl.expectations import exact_expectations
from swarmdp.support.errors import InvalidInput

ISING = swarmdp.Ising(shape=(8, 8), reach=1)


def swamp() -> tuple[swarmdp.FiniteMDP, Any]:
    """A ring of eight places: 4 is mud that is hard to leave, and 0, the goal, leads anywhere."""
    kernel = np.zeros((3, 8, 8))
    for s in range(8):
        for a, step in enumerate((0, 1, -1)):
            kernel[a, s, (s + step) % 8] += 0.9
            kernel[a, s] += 0.1 / 8
    kernel[:, 4] = 0.1 * kernel[:, 4] + 0.9 * np.eye(8)[4]
    kernel[:, 0] = 1 / 8
    mdp = swarmdp.FiniteMDP(list(kernel), initial=np.full(8, 1 / 8))
    return mdp, swarmdp.Reward(np.eye(8)[0])


def test_decisions_tell_the_goal_where_visits_mislead() -> None:
    mdp, true = swamp()
    expert = swarmdp.learning.plan(mdp, true).policy
    demo = swarmdp.rollout(mdp, expert, steps=60, runs=30, seed=1)
    result = swarmdp.fit(mdp, demo, seed=1)
    choice = result.reward_choice
    assert choice is not None
    assert choice.taken == ("decisions",)

    def worth(reward: Any) -> float:
        policy = swarmdp.learning.plan(mdp, reward).policy
        mu = exact_expectations(mdp, policy, discount=0.9, steps=None)
        return float(mu[0] @ true.weights[0])

    histogram = swarmdp.Reward(choice.candidates[choice.names.index("histogram")])
    assert worth(result.reward) >= 0.99 * worth(true) > 1.05 * worth(histogram)
    assert result.reward.weights[0].argmax() == 0
    table = result.identified()
    assert table.loc[table["identified"], "one"].str.contains("0").any()


def test_errors_of_the_dynamics_are_not_taken_for_rewards() -> None:
    """Noise leads from 0 to 10 degrees and back: which is better cannot be seen in decisions."""
    vicsek = swarmdp.Vicsek()
    for seed in (1, 2):
        demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, seed=seed)
        choice = swarmdp.fit(vicsek, demo, seed=seed, iterations=2).reward_choice
        assert choice is not None
        weights = choice.candidates[choice.names.index("decisions"), 0]
        np.testing.assert_allclose(weights[1:], weights[:0:-1], atol=1e-9)  # the mirror
        # A hill around 0 degrees.
        assert weights.argmax() == 18
        assert (np.diff(weights[15:19]) > 0).all()


def test_single_agents_get_a_verdict() -> None:
    grid = swarmdp.Gridworld()
    expert = swarmdp.learning.plan(grid, grid.reward).policy
    demo = swarmdp.rollout(grid, expert, steps=60, runs=20, seed=1)
    result = swarmdp.fit(grid, demo, seed=1)
    assert result.verdict is not None
    assert not result.verdict.alarm
    still = swarmdp.Policy(np.zeros(25, np.int64))
    with pytest.warns(swarmdp.errors.VerdictWarning):
        assert swarmdp.judge(still, demo, system=grid, seed=2).alarm


def test_the_reward_is_chosen_by_planning_again(tmp_path: Path) -> None:
    demo = swarmdp.rollout(ISING, ISING.expert, steps=50, runs=3, seed=1)
    result = swarmdp.fit(ISING, demo, seed=1, judge=False, reward="replanned", iterations=5)
    choice = result.reward_choice
    assert choice is not None
    assert choice.names == ("decisions", "centre", "histogram", "nearest")
    assert choice.as_good[np.nanargmin(choice.gaps[:, 0]), 0]
    np.testing.assert_array_equal(result.reward.weights, choice.weights)
    place = choice.names.index("histogram")
    histogram = result.expert_mu / np.linalg.norm(result.expert_mu)
    np.testing.assert_allclose(choice.candidates[place], histogram)
    assert "histogram" in choice.words[0] or "no reward" in choice.words[0]
    assert result.reward_error is not None
    result.save(tmp_path)
    again = swarmdp.load(tmp_path)
    np.testing.assert_array_equal(again.reward.weights, result.reward.weights)
    assert again.reward_choice.words == choice.words
    assert again.identified().equals(result.identified())
    plain = swarmdp.fit(ISING, demo, seed=1, judge=False, iterations=5)
    assert plain.reward_choice is None
    with pytest.raises(InvalidInput, match="no other rewards are known"):
        plain.identified()


def test_actions_can_be_ignored() -> None:
    demo = swarmdp.rollout(ISING, ISING.expert, steps=50, runs=3, seed=1)
    ignoring = swarmdp.fit(
        ISING, demo, seed=1, judge=False, reward="replanned", iterations=3, actions="ignore"
    )
    assert ignoring.reward_choice is not None
    assert ignoring.reward_choice.names == ("centre", "histogram", "nearest")


def test_other_updates_keep_their_own_reward() -> None:
    demo = swarmdp.rollout(ISING, ISING.expert, steps=50, runs=3, seed=1)
    result = swarmdp.fit(ISING, demo, seed=1, iterations=3, update="projection")
    assert result.reward_choice is None
    with pytest.raises(InvalidInput, match='reward="replanned" is for updates'):
        swarmdp.fit(ISING, demo, seed=1, iterations=3, update="maxent", reward="replanned")


def test_resamples_of_decisions_are_rewards_that_explain_them() -> None:
    mdp, true = swamp()
    expert = swarmdp.learning.plan(mdp, true).policy
    demo = swarmdp.rollout(mdp, expert, steps=60, runs=30, seed=1)
    result = swarmdp.fit(mdp, demo, seed=1, resamples=8)
    assert result.reward_choice is not None
    assert result.resamples is not None
    np.testing.assert_array_equal(result.resamples, result.reward_choice.alternatives[:8])


def test_the_same_reward_whatever_the_threads() -> None:
    demo = swarmdp.rollout(ISING, ISING.expert, steps=50, runs=3, seed=1)
    one, two = (
        swarmdp.fit(ISING, demo, seed=1, reward="replanned", judge=False, iterations=3, threads=n)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.reward.weights, two.reward.weights)
    assert one.reward_choice is not None
    assert two.reward_choice is not None
    np.testing.assert_array_equal(one.reward_choice.gaps, two.reward_choice.gaps)


def test_a_constant_reward_is_warned_of() -> None:
    grid = swarmdp.Gridworld(rows=3, columns=3)
    expert = swarmdp.learning.plan(grid, grid.reward).policy
    demo = swarmdp.rollout(grid, expert, steps=50, runs=10, seed=1)
    with pytest.warns(swarmdp.errors.SwarmdpWarning, match="the same for all observations"):
        swarmdp.fit(grid, demo, seed=1, update="mwal", iterations=1, judge=False)


def test_policy_matching_arrives_at_a_goal_that_leads_elsewhere() -> None:
    mdp, true = swamp()
    expert = swarmdp.learning.plan(mdp, true).policy
    record = ["observations", "actions"]
    demo = swarmdp.rollout(mdp, expert, steps=60, runs=30, seed=1, record=record)
    result = swarmdp.fit(mdp, demo, seed=1, update="policy_matching", judge=False)
    assert result.reward.weights[0].argmax() == 0


def test_pages_and_notebooks_say_what_the_reward_tells(tmp_path: Path, capsys: Any) -> None:
    """With and without resamples: the words of the choice, and which weights are identified."""
    from swarmdp.cli import main

    options = "--shape 8 8 --reach 1 --iterations 4 --demo-runs 3 --resamples 8 -v -o"
    main(["fit", "ising", *options.split(), str(tmp_path)])
    printed = " ".join(capsys.readouterr().out.split())
    result = swarmdp.load(tmp_path)
    words = result.reward_choice.words[0]
    assert words in printed
    page = " ".join((tmp_path / "report.html").read_text(encoding="utf-8").split())
    assert words[1:60] in page
    assert "which are pale" in page
    shown = result._repr_html_()
    assert "identified" in shown
    flags = result.identified_weights
    assert shown.count(">yes<") == flags.sum()
    if result.is_of_decisions:
        assert "rewards that do as well" in repr(result)
        assert "identified" in printed


def choice_with(**changes: Any) -> Any:
    """A choice between two rewards for which swarms were planned."""
    from swarmdp.irl.result import RewardChoice

    parts: dict[str, Any] = {
        "weights": np.eye(2)[:1],
        "taken": ("centre",),
        "names": ("centre", "histogram"),
        "candidates": np.eye(2)[:, None],
        "gaps": np.array([[0.2], [0.9]]),
        "errors": np.full((2, 1), 0.01),
        "as_good": np.array([[True], [False]]),
        "policy_gaps": np.array([0.2]),
        "alternatives": np.eye(2)[:, None],
        "without_margin": np.array([False]),
    }
    return RewardChoice(**(parts | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "comes nearer to the demo than the visit histogram"),
        (
            {"as_good": np.array([[True], [True]])},
            "the demo shows no more than how often each observation is sought",
        ),
        ({"policy_gaps": np.array([0.1])}, "no reward on these features explains the policy"),
        ({"without_margin": np.array([True])}, "margin zero"),
        (
            {
                "without_margin": np.array([True]),
                "taken": ("decisions",),
                "names": ("decisions", "histogram"),
            },
            "margin zero",
        ),
        ({"gaps": np.full((2, 1), np.nan)}, "nothing was planned for it again"),
    ],
)
def test_a_choice_in_words(changes: dict[str, Any], words: str) -> None:
    assert words in choice_with(**changes).words[0]


def test_unclear_cells_of_a_gridworld_are_pale() -> None:
    from swarmdp import report

    grid = swarmdp.Gridworld(rows=4, columns=4)
    expert = swarmdp.learning.plan(grid, grid.reward).policy
    demo = swarmdp.rollout(grid, expert, steps=50, runs=10, seed=1)
    result = swarmdp.fit(grid, demo, seed=1)
    flags = result.identified_weights
    assert flags is not None
    assert not flags.all()
    shade = np.asarray(report.plot_reward(result).axes[1].images[0].get_alpha())
    np.testing.assert_array_equal(shade.ravel() == 1.0, flags[0])
