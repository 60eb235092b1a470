# %% [markdown]
# # Reading a verdict
#
# Every fit ends with a verdict: is the learned swarm the one that was recorded? This notebook
# meets the three kinds of answers, on a small Vicsek swarm.

# %%
import warnings

import numpy as np

import swarmdp

warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)  # verdicts are printed here
vicsek = swarmdp.Vicsek(n_agents=60)
demo = swarmdp.rollout(vicsek, vicsek.expert, steps=60, runs=3, seed=1)

# %% [markdown]
# ## Yes
#
# The expert itself, judged against its own recording, with other random numbers:

# %%
good = swarmdp.judge(vicsek.expert, demo, system=vicsek, seed=2, quick=True)
print(good)

# %% [markdown]
# The first line is the verdict in words. `p` is the probability of such differences if both were the
# same swarm: large means that no difference was found. All statistics that were compared are in a
# table, each at the beginning, on the way and later: its value in the demo, in the learned swarm
# with the spread over its runs, and the probability of such a difference, adjusted for their number.

# %%
good.table[["demo", "learned", "learned_spread", "adjusted_p"]].head(9).round(2)

# %% [markdown]
# ## No
#
# Agents that do nothing. The verdict names what is different, the worst first:

# %%
nothing = swarmdp.policies.FunctionPolicy(np.zeros_like)
bad = swarmdp.judge(nothing, demo, system=vicsek, seed=2, quick=True)
print(bad.words)
print("alarm:", bad.alarm)

# %% [markdown]
# ## Impossible to tell
#
# Five agents that hardly see each other. Random policies come as near to what they observe, so a
# match means nothing. The verdict says that, instead of yes.

# %%
sparse = swarmdp.Vicsek(n_agents=5, radius=0.01)
short = swarmdp.rollout(sparse, sparse.expert, steps=50, seed=3)
unsure = swarmdp.judge(nothing, short, system=sparse, seed=4, quick=True)
print(unsure.words)
for advice in unsure.advice:
    print("-", advice)

# %% [markdown]
# ## In a fit
#
# A fit whose verdict is an alarm issues a warning. Do not use its reward; do what the warning says.
# This one has too little to learn from: a single iteration, from a random reward. Other learners,
# which would [take over](../learning.md), are switched off.

# %%
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", swarmdp.errors.VerdictWarning)
    starved = swarmdp.fit(
        vicsek, demo, seed=5, iterations=1, first_reward="random", policy_search=False
    )
print(starved.verdict.words)
print("warned:", bool(caught))

# %% [markdown]
# ## And the reward?
#
# A good verdict says that the swarm is right. How sure the reward is, is another question:
# `resamples=8` repeats the fit with resampled demos, `result.reward_error` is the spread, and
# `result.differences()` lists which differences between observations would come out again. How
# often verdicts are right was [measured](../verdicts.md).
