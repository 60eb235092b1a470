# %% [markdown]
# # Fifteen zebrafish
#
# From the tracks of real fish to an answer: do they react to each other, which reward explains
# how they turn, and does a swarm with this reward behave as they did on time that was not learned
# from?
#
# The tracks come with the Python package `trajectorytools` (`pip install trajectorytools`; its
# data are under the GPL and stay in that package). They are of 15 juvenile zebrafish in a round
# tank, tracked with idtracker.ai for half a minute.

# %%
import warnings
from importlib.util import find_spec
from pathlib import Path

import swarmdp

warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)  # the verdict is printed below

package = find_spec("trajectorytools")
assert package is not None, "pip install trajectorytools"
tracks = Path(str(package.origin)).parent / "data" / "trajectories_with_points.npy"
recording = swarmdp.read_tracks(tracks, unit="BL")
print(recording)

# %% [markdown]
# The format was recognised by its content, and the file itself gives the frame rate and the body
# length, so `unit="BL"` is all that had to be said. Look at the summary before anything else: how
# many were seen, how often one was lost, how fast they were, and what cleaning will leave
# out.

# %%
print(recording.summary())

# %% [markdown]
# ## Decisions
#
# A frame is not a decision: from one thirtieth of a second to the next a fish hardly turns, and what
# looks like a turn is the error of its position. `decisions` chooses how often a fish decides, and
# estimates that error. The last third of the time is put away. Nothing below sees it before the
# verdict.

# %%
decisions = recording.decisions()
print(decisions)
print(f"{decisions.train.count} to learn from, {decisions.test.count} to judge by")

# %% [markdown]
# ## A swarm that moves as the fish do
#
# Speeds, the noise of turns and its memory are taken from the recording. What remains open is how
# an individual turns in response to what it observes. Here that is the angle to the mean heading of its five
# nearest neighbours, the direction in which they are, and the wall.
#
# In half a minute the fish came near to less than half of the rim of their tank. By default the
# package would not trust a circle fitted to that, and would ask. We know that the tank is
# round.

# %%
observation = swarmdp.recordings.Observation(
    misalignment=5, bearing=4, spacing=0, wall=3, previous_turn=0, neighbours=5
)
swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, observation, arena="circle")
print(swarm)

# %% [markdown]
# ## Do they react to each other at all?
#
# The question comes before any reward. How much better are turns predicted with knowledge of the
# neighbours? The same is computed for the same tracks with every fish shifted in time, where no
# fish can react to another.

# %%
interaction = swarm.interaction_test(seed=1)
print(interaction)

# %% [markdown]
# Twenty seconds of fifteen fish are not much. Whatever the answer is, the interval beside it says
# how sure it is; read the reward only as far as that goes.
#
# ## The reward
#
# `resamples` repeats the fit with blocks of time drawn again, which gives the reward its errors.
# `anchor` mixes the recorded habits into the learned controller, so that its single turns stay
# plausible.

# %%
result = swarmdp.fit(
    swarm, decisions.train, seed=1, iterations=2, resamples=4, anchor="auto", judge=False
)
print(result)

# %%
result.differences().nsmallest(4, "p").round(3)

# %% mystnb={"image": {"alt": "The learned reward by misalignment, bearing and wall with its errors, and the distance to the demo in each iteration"}}
result.plot()

# %% [markdown]
# Only differences within one component mean something. The table has the four that chance explains
# least well; `p` takes into account that many pairs were looked at. Where `significant` says False, four
# resamples on so short a recording do not tell.
#
# ## The verdict
#
# Now the time that was put away. Swarms with the learned controller start where the fish were and
# are compared with them as a group. For comparison: random policies, no turns at all, a clone of the
# mean turns, and two models of the literature that were fitted to the same training part.

# %%
beside = ("random", "clone", "vicsek", "couzin")
verdict = swarmdp.judge(result, decisions.test, system=swarm, seed=1, baselines=beside, quick=True)
print(verdict.words)
later = verdict.table.xs("later", level="when")
later[["demo", "learned", *beside]].head().round(2)

# %% [markdown]
# ## What this means, and what it does not
#
# - The learned swarm is not these fish: it falls apart where they stay together. The verdict says
#   that random policies are as near, so it should not be relied on. Unless warnings are switched
#   off, as in the first cell, `judge` warns of that. Two iterations on twenty seconds with three
#   components are a lesson in the method, not a result. On this recording
#   Couzin's model keeps distances better.
# - Ten seconds were judged. A verdict on so short a time is about these ten seconds: the real
#   fish differ from themselves a minute later.
# - The reward says what the fish act as if they wanted, in a model with three components. It does
#   not say what they perceive.
# - For your own tracks, start with one command, which does all of this with more care and writes
#   a page: `swarmdp fit --tracks FILE -o DIR`.
