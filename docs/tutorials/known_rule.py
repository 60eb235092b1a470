# %% [markdown]
# # Tracks whose rule is known
#
# How far can an analysis of tracks be trusted? Here the rule is known, because we simulate it. We
# spoil the tracks as a camera would, analyse them, and compare the answer with the truth. Then we
# do the same with individuals that do not react to each other.

# %%
import warnings

import numpy as np

import swarmdp

warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)  # the verdict is printed here
rng = np.random.default_rng(1)


def seen_by_a_camera(places):
    """Tracks with errors of positions, gaps, and two identities swapped half-way."""
    tracks = places + rng.normal(0, 0.002, places.shape)
    tracks[rng.random(tracks.shape[:2]) < 0.02] = np.nan
    half = len(tracks) // 2
    tracks[half:, [0, 1]] = tracks[half:, [1, 0]]
    return swarmdp.Recording(tracks, fps=1, unit="m")


# %% [markdown]
# ## Individuals that align
#
# Thirty particles of Vicsek's model turn towards the mean heading of those within 0.3 m, with
# some noise.

# %%
vicsek = swarmdp.Vicsek(n_agents=30, radius=0.3, speed=0.03, noise=0.4)
places = swarmdp.rollout(vicsek, vicsek.expert, steps=180, seed=1)["position"][0]
recording = seen_by_a_camera(places)
print(recording)

# %% [markdown]
# The box is periodic: an individual that leaves on one side comes back on the other. Cleaning sees
# that as a jump and begins a new segment, so nothing is learned from it.

# %%
observation = swarmdp.recordings.Observation(
    misalignment=7, bearing=0, spacing=0, previous_turn=0, neighbours=0.3
)
box = swarmdp.recordings.Periodic((1.0, 1.0))
decisions = recording.decisions(dt=1)
swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, observation, arena=box)
print(swarm.interaction_test(seed=1))

# %% [markdown]
# An interaction is found. Which reward explains it?

# %% mystnb={"image": {"alt": "The learned reward by misalignment with its errors, and the distance to the demo in each iteration"}}
result = swarmdp.fit(swarm, decisions.train, seed=1, iterations=2, resamples=4, judge=False)
result.plot()

# %%
print(f"the reward is highest at {result.highest}")
print(f"noise of turns: {swarm.wobble.spread:.2f} rad, truth {vicsek.noise:.2f} rad")

# %% [markdown]
# Individuals are rewarded where they go about the same way as their neighbours (classes have their
# edges where turns change; the two around zero have the same reward, by symmetry): this is the
# rule, read from tracks. The last third of the tracks was not learned from. The learned swarm is
# tested on it:

# %%
verdict = swarmdp.judge(
    result,
    decisions.test,
    system=swarm,
    seed=1,
    baselines=("random", "clone", "vicsek"),
    quick=True,
)
print(verdict.words)
later = verdict.table.xs("later", level="when")
print(later.loc["polarisation", ["demo", "learned", "random", "clone", "vicsek"]].round(2))

# %% [markdown]
# The polarisation is close to that of the recording. The verdict asks for more: it compares turns,
# speeds and distances as well, and its words name what is off after two iterations.
# `print(verdict)` has a line for each.

# %% [markdown]
# ## Individuals that do not react to each other
#
# The same individuals, each on its own. A method that always finds something would find something
# here.

# %%
alone = np.cumsum(rng.normal(0, 0.4, (181, 30)), axis=0) + rng.uniform(-np.pi, np.pi, 30)
steps = 0.03 * np.stack([np.cos(alone), np.sin(alone)], axis=-1)
strangers = seen_by_a_camera((rng.random((30, 2)) + np.cumsum(steps, axis=0)) % 1.0)
decisions = strangers.decisions(dt=1)
swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, observation, arena=box)
print(swarm.interaction_test(seed=1))

# %% [markdown]
# Nothing is found. Where an interaction that matters would have been seen, the test says so;
# otherwise it says that there is too little data. Either way, a reward learned from such tracks
# should not be read as a rule of behaviour.
