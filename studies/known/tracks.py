"""Tracks of a swarm whose additive reward is known: how near a learned reward comes to it."""

import itertools

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies.recordings import BEFORE, FRAMES, STEPS, known_rule, spoiled_tracks
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.swarm import Swarm

Floats = NDArray[np.float64]
TOO_MANY = ("policy_matching", "bayesian")  # updates that need hours for as many classes


def clean_tracks(seed: int, steps: int = STEPS) -> Recording:
    """Tracks of the known rule as they are, without errors, gaps and swaps."""
    truth, _, policy = known_rule()
    x = swarmdp.rollout(truth, policy, steps=steps + BEFORE, seed=seed)["position"][0][BEFORE:]
    share = np.arange(FRAMES)[:, None, None] / FRAMES
    between = [a + share * (b - a) for a, b in itertools.pairwise(x)]
    return Recording(np.concatenate([*between, x[-1:]]), fps=FRAMES / truth.dt, unit="BL")


def recorded(seed: int, spoiled: bool) -> tuple[Swarm, Decisions]:
    """The swarm that is calibrated from such tracks, with default settings, and the decisions."""
    truth, _, _ = known_rule()
    tracks = spoiled_tracks(seed, STEPS) if spoiled else clean_tracks(seed)
    decisions = tracks.decisions(dt=truth.dt).train
    return Swarm.from_recording(decisions, arena=truth.arena), decisions


def agreement(swarm: Swarm, decisions: Decisions, weights: Floats) -> float:
    """The correlation of a reward with the true one, over the recorded decisions."""
    truth, true_weights, _ = known_rule()
    true_class, other = truth.view.classes(decisions), swarm.view.classes(decisions)
    both = (true_class >= 0) & (other >= 0)
    assert truth.features.matrix is not None
    assert swarm.features.matrix is not None
    rewards = (truth.features.matrix @ true_weights)[true_class[both]]
    learned = (swarm.features.matrix @ weights)[other[both]]
    return float(np.corrcoef(rewards, learned)[0, 1])
