"""PPO of Stable-Baselines3, parameters shared by SuperSuit, on a reward that was learned here.

An independent check: a learner that knows nothing of the demo should come to the same behaviour.
Neither package is among the project's own: `pip install stable-baselines3 supersuit` first.
"""

import time

import numpy as np

import swarmdp
from swarmdp import envs


def main(steps: int = 150_000) -> None:
    """Learn a reward from majority votes on a grid, train PPO on it, and judge what it does."""
    import supersuit
    from stable_baselines3 import PPO
    from stable_baselines3.common.utils import set_random_seed

    ising = swarmdp.Ising(shape=(8, 8), reach=1)
    demo = swarmdp.rollout(ising, ising.expert, steps=45, runs=2, seed=1)
    reward = swarmdp.fit(ising, demo, seed=2, iterations=4, judge=False).reward
    env = supersuit.pettingzoo_env_to_vec_env_v1(
        envs.parallel_env(ising, reward=reward, max_cycles=16)
    )
    env = supersuit.concat_vec_envs_v1(env, 1, num_cpus=1, base_class="stable_baselines3")
    began = time.process_time()
    set_random_seed(3)
    ppo = PPO(
        "MlpPolicy",
        env,
        gamma=0.9,
        n_steps=32,
        batch_size=512,
        n_epochs=5,
        learning_rate=3e-3,
        device="cpu",
    )
    ppo.learn(steps)
    table, _ = ppo.predict(np.eye(ising.features.size, dtype=np.float32), deterministic=True)
    print("table", table.tolist(), f"{time.process_time() - began:.0f} processor seconds")
    policy = swarmdp.Policy(table.astype(np.int64)[None])
    print(swarmdp.judge(policy, demo, system=ising, seed=5, quick=True))


if __name__ == "__main__":
    main()
