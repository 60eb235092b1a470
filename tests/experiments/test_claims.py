"""Claims are judged as they say: true where the numbers say so, false where they do not."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from swarmdp.analysis.uncertainty import Uncertainty
from swarmdp.experiments.claims import (
    Claim,
    ising_reward_claims,
    swarm_claims,
    uncertainty_claims,
    vicsek_reward_claims,
)
from swarmdp.experiments.outcome import Band, Fits
from swarmdp.systems.ising import Ising
from swarmdp.systems.vicsek import Vicsek

RNG = np.random.default_rng(7)
TIMES = np.arange(101)


def by_name(claims: Iterable[Claim]) -> dict[str, bool | None]:
    return {claim.name.split("-", 2)[-1]: claim.holds for claim in claims}


def band(mean: NDArray[np.float64], spread: float = 0.01, count: int = 30) -> Band:
    each = mean + spread * RNG.normal(size=(count, 1))
    return Band(each.mean(axis=0), each.min(axis=0), each.max(axis=0), each, count)


def curves(learned: float, single: float, hand: float, random: float = 0.1) -> dict[str, Band]:
    rise = 1 - np.exp(-TIMES / 8)
    levels = {"expert": 1.0, "swarm": learned, "single": single, "hand": hand, "random": random}
    return {name: band(level * rise) for name, level in levels.items()}


def test_the_paper_s_ordering_holds_where_it_is_there() -> None:
    verdicts = by_name(swarm_claims("vicsek", "paper", curves(0.98, 0.7, 0.3)))
    assert all(verdicts.values())
    assert len(verdicts) == 7


def test_claims_come_out_false() -> None:
    verdicts = by_name(swarm_claims("vicsek", "paper", curves(0.6, 0.7, 0.6, 0.65)))
    assert not verdicts["close-transient"]
    assert not verdicts["close-stationary"]
    assert not verdicts["swarm-beats-single"]
    assert not verdicts["swarm-beats-random"]
    assert not verdicts["hand-beats-random"]
    assert verdicts["single-beats-random"]


def test_a_lead_within_its_error_does_not_count() -> None:
    same = curves(0.9, 0.9, 0.9)
    noisy = {name: band(one.mean, spread=0.2, count=5) for name, one in same.items()}
    verdicts = [
        claim
        for claim in swarm_claims("vicsek", "default", noisy)
        if claim.name.endswith(("single", "hand"))
    ]
    for claim in verdicts:
        assert claim.holds == (claim.value > 2 * claim.error)


def test_less_energy_is_better() -> None:
    fall = np.exp(-TIMES / 8)
    levels = {"expert": 0.0, "swarm": 0.01, "single": 0.2, "hand": 0.5, "random": 0.9}
    bands = {name: band(level + (1 - level) * fall, 0.001) for name, level in levels.items()}
    assert all(by_name(swarm_claims("ising", "default", bands)).values())


def test_a_learned_curve_that_crosses_the_expert_is_not_close() -> None:
    """Gaps above and below must not cancel."""
    bands = curves(1.0, 0.7, 0.3)
    wave = bands["expert"].mean + 0.3 * np.where(TIMES % 2, 1.0, -1.0)
    verdicts = by_name(swarm_claims("vicsek", "paper", {**bands, "swarm": band(wave)}))
    assert not verdicts["close-stationary"]


def fits(weights: NDArray[np.float64]) -> Fits:
    count, size = weights.shape
    return Fits(
        weights, np.zeros((count, size), int), np.zeros(count), np.ones((count, size), np.uint8)
    )


def angles(lean: float, peak: float = 0.0) -> Fits:
    degrees = np.degrees(Vicsek().features.axes[0].values)
    shape = np.cos(np.radians(degrees - peak)) + lean * np.sin(np.radians(degrees))
    return fits(shape + 0.02 * RNG.normal(size=(100, 36)))


def test_peak_and_symmetry_of_the_vicsek_reward() -> None:
    system = Vicsek()
    assert all(c.holds for c in vicsek_reward_claims(system, "paper", angles(0.0)))
    leaning = {c.name: c.holds for c in vicsek_reward_claims(system, "paper", angles(0.2))}
    assert not leaning["vicsek-paper-reward-symmetry"]
    moved = {c.name: c for c in vicsek_reward_claims(system, "paper", angles(0.0, 30.0))}
    assert not moved["vicsek-paper-reward-peak"].holds
    assert "+30°" in moved["vicsek-paper-reward-peak"].criterion


def test_symmetry_is_rejected_by_chance_about_once_in_a_hundred() -> None:
    rejected = sum(
        not claim.holds
        for _ in range(400)
        for claim in vicsek_reward_claims(Vicsek(), "paper", fits(RNG.normal(size=(10, 36))))
        if claim.name.endswith("symmetry")
    )
    # 400 trials at 1 %: mean 4, standard deviation 2; above 12 has a chance of 1 in 10000.
    assert rejected <= 12


def test_shape_of_the_ising_reward() -> None:
    energy = np.arange(25)
    right = np.where(energy <= 6, 0.5, np.where(energy <= 12, 0.1, np.where(energy <= 18, -0.3, 0)))
    noisy = right + 0.02 * RNG.normal(size=(50, 25))
    assert all(c.holds for c in ising_reward_claims(Ising(), "default", fits(noisy)))
    turned = by_name(ising_reward_claims(Ising(), "default", fits(-noisy)))
    assert not turned["reward-low-energy"]
    assert not turned["reward-past-majority"]
    high = np.where(energy > 18, 0.4, noisy)
    assert not by_name(ising_reward_claims(Ising(), "default", fits(high)))["reward-high-energy"]


def coefficients(levels: list[float], error: float = 0.001) -> Uncertainty:
    times, classes = np.array([0, 5, 10]), len(levels)
    value = np.tile(levels, (3, 1))
    filled = np.full((3, classes), error)
    zero = np.zeros((3, classes))
    hops = np.append(np.arange(1, classes), -1)
    return Uncertainty(
        times=times,
        hops=hops,
        runs=1000,
        least=500,
        samples=np.full((3, classes), 1000),
        coefficient=value,
        loss=zero,
        gain=zero,
        corrected=value,
        bias=zero,
        error=filled,
        width=np.zeros((3, classes, 2)),
    )


def test_uncertainty_falls_with_distance_and_grows_with_radius() -> None:
    wide, narrow = coefficients([0.5, 0.4, 0.3, 0.2]), coefficients([0.3, 0.2, 0.1, 0.05])
    assert all(c.holds for c in uncertainty_claims({0.125: wide, 0.05: narrow}))
    turned = {c.name: c.holds for c in uncertainty_claims({0.125: narrow, 0.05: wide})}
    assert not turned["uncertainty-grows-near"]
    assert not turned["uncertainty-grows-unconnected"]
    rising = coefficients([0.3, 0.4, 0.5, 0.2])
    verdicts = {c.name: c.holds for c in uncertainty_claims({0.125: rising, 0.05: narrow})}
    assert not verdicts["uncertainty-falls-0.125"]
    assert verdicts["uncertainty-falls-0.05"]


def test_what_could_not_be_measured_is_said() -> None:
    wide = coefficients([0.5, 0.4, math.nan, 0.2])
    narrow = coefficients([0.3, 0.2, 0.1, math.nan])
    claims = {claim.name: claim for claim in uncertainty_claims({0.125: wide, 0.05: narrow})}
    assert claims["uncertainty-grows-unconnected"].holds is None
    assert math.isnan(claims["uncertainty-grows-unconnected"].value)
    assert claims["uncertainty-grows-near"].holds
