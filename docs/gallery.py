# %% [markdown]
# # Gallery
#
# Figures that the package draws, each with the script that made it. They were made while this
# site was built. Figures of the long runs are on the pages of the [studies](studies/index.md).
#
# ## A swarm becomes ordered

# %% mystnb={"image": {"alt": "A Vicsek swarm at three times, from all directions to one, and its order parameter"}}
import numpy as np

import swarmdp
from swarmdp import report
from swarmdp.report.scenes import Scene
from swarmdp.report.swarms import swarm_figure

vicsek = swarmdp.Vicsek()
expert = swarmdp.rollout(vicsek, vicsek.expert, steps=100, seed=2)
swarm_figure(Scene(vicsek, {"expert": expert}), vicsek.order(expert))

# %% [markdown]
# ## A learned reward, with its errors
#
# Bars are the reward from this demo, dots the mean and spread of those from resampled demos.

# %% mystnb={"image": {"alt": "The learned reward around the circle with its errors, highest at 0 degrees"}}
result = swarmdp.fit(vicsek, expert, seed=2, iterations=6, resamples=4, judge=False)
report.plot_reward(result)

# %% [markdown]
# ## Convergence
#
# Distance to the expert's feature expectations and margin in each iteration of Algorithm 1.

# %% mystnb={"image": {"alt": "Distance and margin in each iteration of Algorithm 1"}}
report.plot_convergence(result)

# %% [markdown]
# ## The learned swarm beside the expert's

# %% mystnb={"image": {"alt": "Order parameter over time, the learned swarm on top of the expert's"}}
swarmdp.evaluate(result, vicsek, runs=30, seed=3).plot()

# %% [markdown]
# ## Spins that follow the majority

# %% mystnb={"image": {"alt": "Spins of an Ising grid at three times, from noise to large domains, and its energy"}}
ising = swarmdp.Ising(shape=(60, 60))
spins = swarmdp.rollout(ising, ising.expert, steps=40, seed=1)
swarm_figure(Scene(ising, {"expert": spins}), ising.energy(spins))

# %% [markdown]
# ## A reward of levels

# %% mystnb={"image": {"alt": "The learned reward by local energy, highest at zero"}}
learned = swarmdp.fit(ising, spins, seed=1, discount=0.85, iterations=4, judge=False)
report.plot_reward(learned)

# %% [markdown]
# ## Order at different levels of noise
#
# The order parameter after 100 steps, for increasing noise: mean of 20 runs with its standard
# error.

# %% mystnb={"image": {"alt": "Order after 100 steps, falling from 1 without noise to near 0 at 90 degrees"}}
from swarmdp.report import style

degrees = np.arange(0, 91, 15)
ends = []
for noise in degrees:
    swarm = swarmdp.Vicsek(noise=float(np.radians(noise)))
    runs = swarmdp.rollout(swarm, swarm.expert, steps=100, runs=20, seed=5, record="order")
    ends.append(runs["order"][:, -1])
errors = np.std(ends, axis=1, ddof=1) / np.sqrt(20)
with style.family():  # the look of all figures
    figure = style.figure(figsize=(6, 3.2))
    axes = figure.add_subplot(xlabel="noise / degrees", ylabel="order after 100 steps", ylim=(0, 1))
    axes.errorbar(degrees, np.mean(ends, axis=1), errors, marker="o", capsize=3)
figure

# %% [markdown]
# ## In motion
#
# `swarmdp.show` plays swarms in a notebook and on a page; `swarmdp.animate` writes .html, .gif or
# .mp4.

# %%
both = {"expert": vicsek.expert, "learned": result.policy}
swarmdp.show(vicsek, both, steps=40, seed=1)
