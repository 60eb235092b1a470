"""A public learner, given only the learned reward, comes to the same behaviour."""

import cma
import numpy as np
from numpy.typing import NDArray

import swarmdp
from swarmdp import envs


def test_cma_learns_the_expert_from_the_learned_reward() -> None:
    """Parameters are shared: one chance to flip for each observation, the same for all agents."""
    ising = swarmdp.Ising(shape=(8, 8), reach=1)
    demo = swarmdp.rollout(ising, ising.expert, steps=45, runs=2, seed=1)
    reward = swarmdp.fit(ising, demo, seed=2, iterations=4, judge=False).reward
    env = envs.parallel_env(ising, reward=reward, max_cycles=12)

    def cost(parameters: NDArray[np.float64]) -> float:
        """Minus the discounted reward of an episode, averaged over agents."""
        flips = np.where(np.asarray(parameters) > 0, 1, 0)
        observed, _ = env.reset(seed=3)
        total = 0.0
        for cycle in range(12):
            seen = np.stack(list(observed.values())).argmax(axis=1)
            observed, rewards, *_ = env.step(
                dict(zip(env.agents, flips[seen].tolist(), strict=True))
            )
            total += 0.9**cycle * float(np.mean(list(rewards.values())))
        return -total

    options = {"seed": 4, "maxfevals": 300, "verbose": -9, "popsize": 12}
    best, _ = cma.fmin2(cost, np.full(9, -0.1), 0.5, options)
    table = (np.asarray(best) > 0).astype(np.int64)
    policy = swarmdp.Policy(table[None])
    verdict = swarmdp.judge(policy, demo, system=ising, seed=5, quick=True)
    assert verdict.reproduces, (verdict.words, table)
