# %% [markdown]
# # Comparing reward updates
#
# The third step of Algorithm 1, the reward update, can be any method of inverse reinforcement
# learning for a single agent. `swarmdp` has seven. Which should you take? Compare them on your own
# swarm; here on a small Ising grid.

# %%
import pandas

import swarmdp

ising = swarmdp.Ising(shape=(20, 20), reach=1)
demo = swarmdp.rollout(ising, ising.expert, steps=50, runs=3, seed=1, record=["states", "actions"])
print(demo)

# %% [markdown]
# ## One table
#
# The same demo, the same seed, the same number of iterations. The first four need only feature
# expectations; `policy_matching` also needs to know what the expert did.

# %%
learner = swarmdp.learning.HeterogeneousLearning(steps=100)
updates = ["max_margin", "projection", "mwal", "maxent", "policy_matching"]
results = {
    name: swarmdp.fit(ising, demo, seed=2, update=name, iterations=5, learner=learner, judge=False)
    for name in updates
}


def with_error(runs):
    """Mean and standard error of the energy at the end."""
    return f"{runs[:, -1].mean():.0f} ± {runs[:, -1].std(ddof=1) / len(runs) ** 0.5:.0f}"


rows = []
for name, result in results.items():
    evaluation = swarmdp.evaluate(result, ising, runs=20, seed=3)
    row = {"update": name, "distance": f"{result.distance[0]:.2f}"}
    row |= {"energy": with_error(evaluation.learned["energy"])}
    rows.append(row | {"of the expert": with_error(evaluation.expert["energy"])})
print(pandas.DataFrame(rows).to_string(index=False))

# %% [markdown]
# `distance` is how far the feature expectations are from the demo's. The energy at the end shows
# where the swarm ends up; it played no part in the fit. Energies that are less than about two standard
# errors apart are the same to this comparison. `maxent` has soft policies: its agents draw their
# actions, so the swarm ends at another energy than the expert's, at a small distance.
#
# ## Their rewards
#
# Scaled to a largest weight of one. Rewards differ more than swarms do: many rewards explain the
# same behaviour.

# %%
scaled = {
    name: result.reward.weights[0] / abs(result.reward.weights[0]).max()
    for name, result in results.items()
}
print(pandas.DataFrame(scaled).round(2).rename_axis("unlike neighbours"))

# %% mystnb={"image": {"alt": "The reward of max_margin by local energy, highest at zero, and the distance in each iteration"}}
results["max_margin"].plot()

# %% [markdown]
# ## One of your own
#
# An update is a function from what is known (`swarmdp.updates.Evidence`) to the next reward. This one
# rewards what the expert sees more often than the newest policy:


# %%
def towards(evidence):
    """More of what the expert sees more often."""
    return swarmdp.updates.Update(evidence.weights[-1] + evidence.expert - evidence.learned[-1])


result = swarmdp.fit(ising, demo, seed=2, update=towards, iterations=5, learner=learner)
print(result.verdict.words)

# %% [markdown]
# What each method promises, and what it needs: [reward updates](../updates.md). How they compare
# over a hundred experiments, and in changed swarms: [the study](../updates-study.md).
