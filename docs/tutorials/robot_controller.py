# %% [markdown]
# # A controller for robots
#
# Record what a swarm does, learn the rule, and take it to a robot as a file without dependencies.

# %%
import json
from pathlib import Path

import numpy as np

import swarmdp

vicsek = swarmdp.Vicsek(n_agents=50)
demo = swarmdp.rollout(vicsek, vicsek.expert, steps=100, seed=1)
result = swarmdp.fit(vicsek, demo, seed=2, iterations=5)
print(result.verdict.words)

# %% [markdown]
# ## Look before it flies
#
# The controller maps a misalignment to a turn. Is it sensible everywhere, or only where the demo
# went?

# %%
table = result.policy.to_dataframe()
print(table.head())
print(
    "observations that were visited while learning:",
    int(result.seen.sum()),
    "of",
    vicsek.features.size,
)

# %% [markdown]
# ## Try it in other swarms than the one it was learned in
#
# More noise, fewer robots, half the range of sight. A controller that only works in one simulation is not
# ready for a robot.

# %%
for words, other in {
    "as learned": vicsek,
    "twice the noise": swarmdp.Vicsek(n_agents=50, noise=np.radians(20)),
    "20 robots": swarmdp.Vicsek(n_agents=20),
    "half the sight": swarmdp.Vicsek(n_agents=50, radius=0.05),
}.items():
    learned = swarmdp.rollout(other, result.policy, steps=200, runs=20, seed=3)
    expert = swarmdp.rollout(other, other.expert, steps=200, runs=20, seed=3)
    orders = [other.order(run)[:, -1].mean() for run in (expert, learned)]
    print(f"{words:16} expert {orders[0]:.2f}, learned {orders[1]:.2f}")

# %% [markdown]
# ## As a file
#
# JSON is complete and can be read back; the C header has one function and allocates nothing.

# %%
result.policy.export("controller.json")
result.policy.export("controller.h")
print(sorted(json.loads(Path("controller.json").read_text(encoding="utf-8"))))
header = Path("controller.h").read_text(encoding="utf-8").splitlines()
print("\n".join(line for line in header if "swarmdp_action(" in line))

# %% [markdown]
# The file can be read as a policy again, with the same bits:

# %%
again = swarmdp.policies.load_controller("controller.json")
same = swarmdp.rollout(vicsek, again, steps=100, seed=4)["heading"]
print(
    "the same swarm:",
    np.array_equal(same, swarmdp.rollout(vicsek, result.policy, steps=100, seed=4)["heading"]),
)

# %% [markdown]
# A soft policy draws its actions; in C you give it a uniform random number. All formats, and what
# happens to an observation out of range: [taking a controller to a robot](../controllers.md). How
# a robot's own sensors and motors enter the simulation: [robots](../robots.md).
