"""Searches for controllers: priors, choices inside the training part, sums within radii."""

import math

import numpy as np

import swarmdp
from swarmdp.recordings.controller_families import Family
from swarmdp.recordings.controller_search import (
    Drawn,
    Prior,
    Trial,
    _first_good,
    squared_distances,
)
from swarmdp.recordings.neighbour_rows import neighbour_rows
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.zonal import ZonalController
from swarmdp.recordings.zone_models import Zone, ZoneModel, ZoneTable

MODEL = ZoneModel("sum", {"repulsion": Zone(outer=0.1), "alignment": Zone(outer=0.3)})
START = ZonalController(MODEL, (0.3, 0.4), 0.1, 0.0, 0.0, 1.0)
PERIODIC = swarmdp.recordings.Periodic((1.0, 1.0))


def recorded(steps: int = 150) -> swarmdp.recordings.Decisions:
    vicsek = swarmdp.Vicsek(n_agents=10, radius=0.3, noise=0.3)
    tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=steps, seed=1)["position"][0]
    return swarmdp.Recording(tracks, fps=1, unit="1").decisions(1).train


def test_a_stronger_prior_chooses_candidates_nearer_to_the_rule() -> None:
    family = Family("all", START, True, 9)
    rng = np.random.default_rng(1)
    low, high = family.limits.T
    numbers = np.concatenate([family.numbers(START)[None], rng.uniform(low, high, (200, len(low)))])
    drawn = Drawn(family, numbers, rng.random(201))
    away = []
    for weight in (0.0, 1.0, 100.0):
        best = drawn.best(Prior(weight, 1.0))
        rows = np.stack([family.numbers(one) for one in best[1:]])
        away.append(float(squared_distances(family, rows).mean()))
    assert away[0] > away[1] > away[2]
    # Without a prior only the losses count.
    first = drawn.best(Prior(0.0, 0.0))[1]
    np.testing.assert_allclose(family.numbers(first), numbers[drawn.losses.argmin()], atol=1e-9)


def test_noise_is_held_more_strongly_than_other_numbers() -> None:
    away = np.zeros((2, 4))
    away[0, 1] = away[1, 2] = 1.0
    noisy, other = Prior(2.0, 10.0).of(away)
    assert (noisy, other) == (5.0, 0.5)


def test_what_is_simpler_is_kept_unless_another_is_clearly_better() -> None:
    assert _first_good(np.array([0.10, 0.095, 0.099])) == 0
    assert _first_good(np.array([0.10, 0.08, 0.075])) == 1
    assert _first_good(np.array([0.10, 0.08, 0.05])) == 2


def test_distances_of_sights_are_those_of_distribution_functions() -> None:
    decisions = recorded()
    swarm = Swarm.from_recording(decisions, arena=PERIODIC)
    trial = Trial(swarm, np.ones(len(swarm.frames["heading"]), dtype=bool), 1, 0.0)
    _, apart, _ = trial.distances([START, START])
    _, sights, _ = trial.simulate([START, START])
    _, quantiles = trial.recorded
    expected = []
    for values, places in zip(sights, quantiles, strict=True):
        shares = (np.arange(len(places)) + 0.5) / len(places)
        below = np.stack([(values <= place).mean(axis=1) for place in places], axis=1)
        expected.append(2 * ((below - shares) ** 2).mean(axis=1))
    np.testing.assert_allclose(apart, np.mean(expected, axis=0))


def test_sums_within_radii_are_those_over_ranks() -> None:
    table = ZoneTable(neighbour_rows(recorded(), PERIODIC))
    zone = Zone(inner=0.1, outer=0.3)
    first, last = table.ends(zone)
    _, left = table.total("alignment", first, last)
    expected = left / np.maximum(last - first, 1)
    np.testing.assert_allclose(table.mean_left("alignment", zone), expected, atol=1e-12)
    zones = {"repulsion": Zone(outer=0.1), "alignment": zone, "attraction": Zone(outer=0.4)}
    endless = zones | {"attraction": Zone(outer=math.inf)}
    far = zones | {"attraction": Zone(outer=1e6)}
    # Zones without end are summed over ranks, those with one within radii.
    one, other = (table.columns(ZoneModel("priority", some)) for some in (endless, far))
    np.testing.assert_allclose(one, other, atol=1e-12)
