"""Kinds of individuals, and mixtures against what they were drawn from."""

import numpy as np
import pytest

import swarmdp
from swarmdp.recordings.kinds import Kinds, find_kinds, fit_mixture
from swarmdp.recordings.rule import fit_rule
from swarmdp.support.errors import InvalidInput

PERIODIC = swarmdp.recordings.Periodic((10.0, 10.0))


def aligned(deaf: int, fast: int = 0, seed: int = 1, steps: int = 500) -> swarmdp.Recording:
    """Twenty individuals that align within a radius; some do not, some are faster."""
    rng = np.random.default_rng(seed)
    place, heading = rng.uniform(0, 10, (20, 2)), rng.uniform(-3, 3, 20)
    listening = np.arange(20) >= deaf
    speed = np.where(np.arange(20) >= 20 - fast, 0.3, 0.2)
    kept = []
    for _ in range(steps):
        gap = place[None] - place[:, None]
        gap -= 10 * np.round(gap / 10)
        near = (np.hypot(*np.moveaxis(gap, 2, 0)) < 3) & ~np.eye(20, dtype=bool)
        ahead, left = (
            near @ part / np.maximum(near.sum(1), 1) for part in (np.cos(heading), np.sin(heading))
        )
        turn = 0.6 * (left * np.cos(heading) - ahead * np.sin(heading))
        heading = heading + np.where(listening, turn, 0.0) + 0.3 * rng.standard_normal(20)
        way = speed * np.exp(0.1 * rng.standard_normal(20))
        place = place + way[:, None] * np.stack([np.cos(heading), np.sin(heading)], -1)
        kept.append(place)
    return swarmdp.Recording(np.stack(kept), fps=1, unit="m")


def kinds_of(recording: swarmdp.Recording, **options: object) -> Kinds:
    decisions = recording.decisions(1)
    rule = fit_rule(decisions, PERIODIC, seed=1)
    return find_kinds(decisions, PERIODIC, rule, seed=1, **options)  # type: ignore[arg-type]


def test_a_mixture_is_found_again() -> None:
    rng = np.random.default_rng(1)
    kind = np.repeat([0, 1], [20, 10])
    errors = rng.uniform(0.05, 0.15, (30, 2))
    means = np.array([[0.0, 1.0], [1.0, 1.0]])
    values = means[kind] + errors * rng.standard_normal((30, 2))
    fit = fit_mixture(values[None], errors[None], 2)
    order = np.argsort(fit.means[0, :, 0])
    np.testing.assert_allclose(fit.means[0, order], means, atol=0.1)
    np.testing.assert_allclose(fit.shares[0, order], [2 / 3, 1 / 3], atol=1e-3)
    assert ((fit.chances[0, :, order[1]] > 0.5) == (kind == 1)).all()
    one = fit_mixture(values[None], errors[None], 1)
    assert fit.likelihood[0] > one.likelihood[0] + 20


def test_likelihoods_of_draws_side_by_side_are_those_of_each_alone() -> None:
    rng = np.random.default_rng(2)
    values, errors = rng.normal(size=(3, 12, 2)), rng.uniform(0.1, 0.3, (3, 12, 2))
    together = fit_mixture(values, errors, 2).likelihood
    alone = [
        fit_mixture(v[None], e[None], 2).likelihood[0] for v, e in zip(values, errors, strict=True)
    ]
    np.testing.assert_allclose(together, alone, rtol=1e-9)


def test_deaf_individuals_are_a_kind() -> None:
    found = kinds_of(aligned(deaf=6))
    assert found.count == 2
    assert set(found.named(1)) == {str(n) for n in range(6)}
    assert found.p <= 0.02
    assert "gain of alignment" in found.differing
    heeding, deaf = found.rules
    assert heeding is not None
    assert deaf is not None
    assert [part.component for part in heeding.parts][:1] == ["alignment"]
    assert not deaf.parts
    assert any("There are 2 kinds" in line for line in found.sentences)
    assert Kinds.from_plain(found.to_plain()).sentences == found.sentences


def test_fast_ones_are_a_kind_and_one_kind_is_enough_where_all_are_the_same() -> None:
    fast = kinds_of(aligned(deaf=0, fast=8))
    assert fast.count == 2
    assert set(fast.named(1)) == {str(n) for n in range(12, 20)}
    assert fast.differing == ("log of speed",) or "log of speed" in fast.differing
    same = kinds_of(aligned(deaf=0, seed=4))
    assert same.count == 1
    assert same.sentences[0].startswith("One kind of individuals is enough")


def test_given_kinds_and_bad_numbers() -> None:
    recording = aligned(deaf=6)
    given = ["deaf"] * 6 + ["heeding"] * 14
    found = kinds_of(recording, kinds="given", given=given)
    assert found.titles == ("deaf", "heeding")
    assert found.members.tolist() == [0] * 6 + [1] * 14
    with pytest.raises(InvalidInput, match="the kind 'dog' has one member"):
        kinds_of(recording, kinds="given", given=["dog"] + ["sheep"] * 19)
    with pytest.raises(InvalidInput, match='kinds="given" needs a recording that says'):
        kinds_of(recording, kinds="given")
    with pytest.raises(InvalidInput, match='kinds must be "auto", "given", or from 1 to 10'):
        kinds_of(recording, kinds=11)
