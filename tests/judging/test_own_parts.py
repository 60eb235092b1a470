"""Verdicts by a part of a recording know what its other parts differ by."""

from dataclasses import dataclass

import numpy as np

import swarmdp
from swarmdp.judging.judge import Judge
from swarmdp.model.trajectory import Trajectory
from swarmdp.model.verdict import Verdict


@dataclass(frozen=True)
class Setting:
    vicsek: swarmdp.Vicsek
    demo: Trajectory

    def verdict(self, policy: swarmdp.Policy, parts: tuple[Trajectory, ...]) -> Verdict:
        judge = Judge(
            self.vicsek,
            self.demo,
            discount=0.9,
            seed=5,
            names=("random",),
            runs=None,
            quick=True,
            threads=1,
            parts=parts,
        )
        return judge.verdict(policy, by_features=False, progress=False)


def turning(vicsek: swarmdp.Vicsek, share: float) -> swarmdp.Policy:
    """Agents that turn by this share of the misalignment."""
    centres = vicsek.features.axes[0].values
    return swarmdp.Policy(np.abs(vicsek.actions - share * centres[:, None]).argmin(axis=1))


def test_a_swarm_as_near_as_other_parts_is_not_another_one() -> None:
    vicsek = swarmdp.Vicsek(n_agents=30, radius=0.2)
    deaf, weak, strong = (turning(vicsek, share) for share in (0.0, 0.2, 1.0))
    demo = swarmdp.rollout(vicsek, strong, steps=60, seed=1)
    setting = Setting(vicsek, demo)
    alike = swarmdp.rollout(vicsek, strong, steps=60, seed=2)
    for parts in ((), (alike,)):
        assert "share of misalignment 0 degrees" in setting.verdict(weak, parts).words
    # Where parts of the recording are farther from each other, it is no other behaviour.
    other = swarmdp.rollout(vicsek, deaf, steps=60, seed=3)
    assert "share of misalignment 0 degrees" not in setting.verdict(weak, (alike, other)).words
    assert setting.verdict(strong, (alike, other)).reproduces
