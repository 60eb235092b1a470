"""How often the verdict raises an alarm, on small swarms; `studies/verdicts.py` has large ones."""

import numpy as np
import pytest
from scipy import stats

from studies.verdict_cases import Case, cases, verdicts
from swarmdp.judging.comparison import LEVEL

CASES = {case.name: case for case in cases(small=True)}
RUNS = 40  # of the learned swarm, in the quick form


def alarms(case: Case, starts: int, demos: int) -> tuple[int, int]:
    """How many verdicts raise an alarm, and how many there are."""
    actual = [verdict.alarm for verdict in verdicts(case, starts=starts, demos=demos, seed=77)]
    return sum(actual), len(actual)


def most_false_alarms(starts: int, demos: int) -> float:
    """What chance allows of false alarms, all but one time in a thousand.

    Demos of one start are compared with the same runs. The demo is among the k most unusual of
    RUNS + 1 runs with the probability k / (RUNS + 1); given the runs, that is a beta variable.
    """
    k = int(LEVEL * (RUNS + 1))
    rng = np.random.default_rng(0)
    chance = rng.beta(k, RUNS + 1 - k, (100_000, starts))
    return float(np.quantile(rng.binomial(demos, chance).sum(axis=1), 0.999))


def test_a_hundred_pairs_of_experts_raise_few_alarms() -> None:
    alarmed, pairs = alarms(CASES["Vicsek: the expert itself"], 10, 10)
    assert pairs == 100
    assert alarmed <= most_false_alarms(10, 10)
    assert stats.binom.ppf(0.999, 100, LEVEL) <= most_false_alarms(10, 10) < 0.15 * pairs


@pytest.mark.parametrize(
    "name", [case.name for case in CASES.values() if not case.wrong and "sparse" not in case.name]
)
def test_what_is_right_but_for_details_raises_no_alarm(name: str) -> None:
    alarmed, _ = alarms(CASES[name], 4, 5)
    assert alarmed <= most_false_alarms(4, 5)


@pytest.mark.parametrize("name", [case.name for case in CASES.values() if case.wrong])
def test_what_is_wrong_raises_an_alarm(name: str) -> None:
    # An Ising swarm decides nothing by chance: demos from one start are all the same.
    alarmed, pairs = alarms(CASES[name], *((20, 1) if "Ising" in name else (5, 4)))
    # Fewer than this would contradict 95 % (one time in a thousand it does so by chance).
    assert alarmed >= stats.binom.ppf(0.001, pairs, 0.95)
