"""Signatures of runs against plain loops: visits in windows, changes, feature expectations."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.irl.expectations import feature_expectations
from swarmdp.model.adapted import with_features
from swarmdp.simulation import signatures
from swarmdp.simulation.signatures import Signature, index_over_time

ISING = swarmdp.Ising(shape=(6, 6), reach=1)
VICSEK = swarmdp.Vicsek(n_agents=12)
WAVES = swarmdp.features.Basis(
    lambda angle: np.stack([np.cos(angle), np.sin(angle)], axis=-1),
    ("cos", "sin"),
    (swarmdp.features.Axis("misalignment", units="rad", periodic=True),),
    scalar=True,
)
DISCOUNT = 0.8


def observed(system: Any, policy: Any, steps: int, runs: int = 3, seed: int = 1) -> NDArray[Any]:
    seen = swarmdp.rollout(
        system, policy, steps=steps, runs=runs, seed=seed, record="observations", progress=False
    )
    return seen["observations"]


def windows(times: int) -> list[list[int]]:
    """Four windows of nearly equal length, the longer ones first."""
    lengths = [times // 4 + (w < times % 4) for w in range(4)]
    ends = np.cumsum(lengths)
    return [list(range(end - length, end)) for end, length in zip(ends, lengths, strict=True)]


def plain_row(
    index: NDArray[np.int64], size: int, shown: list[tuple[int, int]]
) -> NDArray[np.float64]:
    """The row of one run of classes (times, agents)."""
    times, agents = index.shape
    mu, visits = np.zeros(size), np.zeros((4, size))
    other, changes = np.zeros(size), np.zeros(len(shown))
    for time in range(times):
        for agent in range(agents):
            mu[index[time, agent]] += DISCOUNT**time / agents
    for w, window in enumerate(windows(times)):
        for time in window:
            for agent in range(agents):
                visits[w, index[time, agent]] += 1 / (agents * len(window))
    for time in range(times - 1):
        for agent in range(agents):
            change = int(index[time, agent]), int(index[time + 1, agent])
            share = 1 / (agents * (times - 1))
            if change in shown:
                changes[shown.index(change)] += share
            else:
                other[change[0]] += share
    return np.concatenate([mu, visits.ravel(), other, changes])


@pytest.mark.parametrize("system", [ISING, VICSEK], ids=lambda system: type(system).__name__)
@pytest.mark.parametrize("steps", [3, 10, 13])
def test_rows_agree_with_plain_loops(system: Any, steps: int) -> None:
    demo = index_over_time(system, observed(system, system.expert, steps))
    other = observed(system, swarmdp.Policy(np.zeros(system.features.size, np.int64)), steps)
    signature = Signature.of(system, steps, DISCOUNT, demo)
    pairs = zip(demo[:, :-1].ravel().tolist(), demo[:, 1:].ravel().tolist(), strict=True)
    shown = sorted(set(pairs))
    assert signature.places == system.features.size + len(shown)
    rows = signature.rows(other)
    assert rows.shape == (3, system.features.size + signature.size)
    index = index_over_time(system, other)
    for r in range(3):
        expected = plain_row(index[r].astype(np.int64), system.features.size, shown)
        np.testing.assert_allclose(rows[r], expected, atol=1e-12)


def test_all_blocks_are_shares() -> None:
    seen = observed(ISING, ISING.expert, 20)
    signature = Signature.of(ISING, 20, DISCOUNT, index_over_time(ISING, seen))
    rows = signature.rows(seen)[:, 9:]
    np.testing.assert_allclose(rows[:, : 4 * 9].reshape(3, 4, 9).sum(axis=2), 1)
    np.testing.assert_allclose(rows[:, 4 * 9 :].sum(axis=1), 1)
    # All changes of the demo itself are told apart.
    assert not rows[:, 4 * 9 : 5 * 9].any()


def test_mu_is_that_of_feature_expectations() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=15, runs=3, seed=2, record="observations")
    signature = Signature.of(VICSEK, 15, DISCOUNT)
    mu = signature.mu(signature.rows(demo["observations"]))
    expected = feature_expectations(VICSEK, demo, discount=DISCOUNT)
    np.testing.assert_allclose(mu, expected)
    assert signature.changes is None
    assert signature.size == 4 * VICSEK.features.size


def test_distances_are_those_of_hellinger() -> None:
    seen = observed(ISING, ISING.expert, 12)
    signature = Signature.of(ISING, 12, DISCOUNT, index_over_time(ISING, seen))
    rows = signature.rows(seen)
    distance = signature.distance(rows, rows[0])
    assert distance[0] == 0
    for r in (1, 2):
        pairs = zip(rows[r, 9:].tolist(), rows[0, 9:].tolist(), strict=True)
        plain = sum((x**0.5 - y**0.5) ** 2 for x, y in pairs)
        assert distance[r] == pytest.approx(plain)
    # Five blocks, each at most 2.
    nothing = np.zeros_like(rows[0])
    assert signature.distance(rows[:1], nothing) == pytest.approx(5)


def test_a_march_backwards_differs_in_its_changes_alone() -> None:
    """Classes 0, 1, 2 one after another, or in the opposite order: the same visits."""
    system = swarmdp.Ising(shape=(3, 3), reach=1)
    times = np.arange(13)[None, :, None]
    agents = np.arange(9)
    ahead, back = (times + agents) % 3, (agents - times) % 3
    signature = Signature.of(system, 12, DISCOUNT, ahead)
    size = system.features.size
    one, other = (signature._of_classes(index)[0] for index in (ahead, back))
    np.testing.assert_allclose(one[: 5 * size], other[: 5 * size])
    assert signature.distance(other, one) == pytest.approx(2)


def test_features_without_classes_have_means_in_windows() -> None:
    smooth = with_features(VICSEK, WAVES)
    seen = observed(smooth, VICSEK.expert, 9)
    signature = Signature.of(smooth, 9, DISCOUNT, None)
    rows = signature.rows(seen)
    values = np.stack([np.cos(seen), np.sin(seen)], axis=-1).mean(axis=2)  # (runs, times, 2)
    weights = DISCOUNT ** np.arange(10)
    parts = [np.einsum("t,rtd->rd", weights, values)]
    parts += [values[:, window].mean(axis=1) for window in windows(10)]
    np.testing.assert_allclose(rows, np.concatenate(parts, axis=1), atol=1e-12)
    scale = np.full(rows.shape[1], 2.0)
    expected = ((rows[1, 2:] - rows[0, 2:]) ** 2).sum() / 4
    assert signature.distance(rows, rows[0], scale)[1] == pytest.approx(expected)


def test_runs_of_no_or_one_step_have_empty_windows() -> None:
    for steps in (0, 1):
        seen = observed(ISING, ISING.expert, steps)
        signature = Signature.of(ISING, steps, DISCOUNT, index_over_time(ISING, seen))
        rows = signature.rows(seen)
        assert np.isfinite(rows).all()
        shares = rows[:, 9 : 9 + 36].reshape(3, 4, 9).sum(axis=2)
        np.testing.assert_allclose(shares, np.tile(np.arange(4) <= steps, (3, 1)))


def test_changes_of_very_many_classes_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signatures, "_MOST_CLASSES", 8)
    seen = observed(ISING, ISING.expert, 5)
    signature = Signature.of(ISING, 5, DISCOUNT, index_over_time(ISING, seen))
    assert (signature.changes, signature.places) == (None, 0)
    assert signature.rows(seen).shape == (3, 9 + 36)
