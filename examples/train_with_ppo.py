"""Another learner, given only the learned reward: PPO of Stable-Baselines3, all agents sharing it.

    python -m venv ppo && . ppo/bin/activate
    pip install 'swarmdp[envs]' stable-baselines3 supersuit      # brings PyTorch, about a gigabyte
    python examples/train_with_ppo.py                            # a minute; --seed for another demo

A reward is learned from a demo of the Ising model. PPO never sees the demo: it sees the class of
its observation and rewarded by that reward. Then `swarmdp.judge` asks whether its swarm does what
the demo did.

A swarm in which every spin flips in every step has the same local energies as one at rest, so the
reward cannot tell them apart. `swarmdp` starts from doing nothing, and ties go there; so PPO is
started near doing nothing, too. With `--anywhere` it starts at random.
"""

import argparse

import numpy as np
import supersuit
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.utils import set_random_seed

import swarmdp
from swarmdp import envs
from swarmdp.model.traits import null_action

CYCLES = 30  # of an episode: new swarms are seen often enough


def main() -> None:
    """Learn a reward, train on it, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rollouts", type=int, default=60, help=f"of {CYCLES} steps each")
    parser.add_argument("--anywhere", action="store_true", help="start from a random policy")
    options = parser.parse_args()
    seed = options.seed

    ising = swarmdp.Ising(shape=(10, 10), reach=1)
    demo = swarmdp.rollout(ising, ising.expert, steps=100, runs=4, seed=seed)
    result = swarmdp.fit(ising, demo, seed=seed, iterations=8)
    print("learned here:", result.verdict)

    env = envs.parallel_env(ising, reward=result.reward, max_cycles=CYCLES)
    env.reset(seed=seed)
    swarm = supersuit.pettingzoo_env_to_vec_env_v1(env)  # each agent is one copy of the learner's
    swarm = supersuit.concat_vec_envs_v1(swarm, 1, num_cpus=0, base_class="stable_baselines3")
    torch.set_num_threads(1)
    set_random_seed(seed)
    learner = PPO(
        "MlpPolicy",
        swarm,
        gamma=0.9,  # the discount that the reward was learned with
        gae_lambda=0.8,  # what an agent does shows in its next observation
        n_steps=CYCLES,
        batch_size=1000,
        n_epochs=5,
        learning_rate=3e-3,
        ent_coef=0.01,
        policy_kwargs={"net_arch": []},  # one preference for each observation and action
        device="cpu",
    )
    if not options.anywhere:
        with torch.no_grad():
            learner.policy.action_net.bias[null_action(ising)] += 2  # 88 % of the time, nothing
    learner.learn(options.rollouts * CYCLES * ising.n_agents)

    observations = np.eye(ising.features.size, dtype=np.float32)
    table, _ = learner.predict(observations, deterministic=True)
    print("the learner's table:", table.tolist())
    verdict = swarmdp.judge(swarmdp.Policy(table), demo, system=ising, seed=seed + 50)
    print("learned there:", verdict)


if __name__ == "__main__":
    main()
