# %% [markdown]
# # Your own simulator
#
# There are two ways to make your simulator a system. If you can write down what an agent observes
# and what an action does, write a class: [about 30 lines](../your-own-system.md), fast, and checked
# by `check_system`. If you have a simulator that already runs, with `reset` and `step`, wrap it
# without changing it. This notebook does the second.
#
# ## A simulator that knows nothing about swarmdp
#
# Twenty robots on a line look for each other. A robot senses on which side the middle of the
# others is: left (0), here (1) or right (2). It can move left, stay or move right; one step in ten
# fails.

# %%
import numpy as np

import swarmdp


class Line:
    """Robots on a line of 41 cells."""

    def reset(self, seed):
        """Put the robots anywhere, and return what they sense."""
        self.rng = np.random.default_rng(seed)
        self.cells = self.rng.integers(-20, 21, size=20)
        return self.sense()

    def step(self, moves):
        """Move them by -1, 0 or 1, and return what they sense."""
        works = self.rng.random(20) > 0.1
        self.cells = np.clip(self.cells + works * moves, -20, 20)
        return self.sense()

    def sense(self):
        """On which side of each robot the middle of the others is."""
        middle = (self.cells.sum() - self.cells) / 19
        return (np.sign(np.round(middle - self.cells)) + 1).astype(int)


# %% [markdown]
# ## Make it a system
#
# `features` says which observations are distinguished, `actions` lists what a robot can do. The
# expert to learn from moves towards the others.

# %%
line = swarmdp.envs.from_step(
    Line,
    features=swarmdp.Levels(3, "side of the others"),
    actions=[-1, 0, 1],
    expert=lambda side: side - 1,
    name="Line",
)
demo = swarmdp.rollout(line, line.expert, steps=50, runs=5, seed=1)
print(
    "share of robots that sense the others here:",
    (demo["observation"][:, [0, 25, 50]] == 1).mean(axis=(0, 2)),
)

# %% [markdown]
# ## Learn
#
# A fit simulates many swarms, and a simulator in Python is slow, so keep the learning short at first.

# %%
learner = swarmdp.learning.HeterogeneousLearning(steps=60)
result = swarmdp.fit(line, demo, seed=1, iterations=3, learner=learner)
print(result.verdict)

# %%
names = ["left", "here", "right"]
for name, weight, action in zip(
    names, result.reward.weights[0], result.policy.table[0], strict=True
):
    print(f"the others are {name:5}: reward {weight:+.2f}, move {line.actions[action]:+d}")

# %% [markdown]
# The reward is highest where the others are 'here', and the robots move towards each other, which is
# the rule that we put in. The difference need not be large: a robot that steps away from the others
# comes back later, and loses what it would have collected here.
#
# If your verdict says no, here is [what to try, in
# order](../your-own-system.md#what-to-do-when-the-verdict-says-no). For episodes that end, PettingZoo
# environments and several processes, see [other people's simulators](../environments.md).
