# %% [markdown]
# # Your own tracks
#
# From a table of positions to the rule behind them. The file here is made up, so that the notebook
# needs no download: twelve fish that turn towards their neighbours' heading, in a tank of 40 by 30
# cm, filmed at 10 frames a second. With your own file, start at 'Read'.

# %%
import numpy as np
import pandas

import swarmdp

rng = np.random.default_rng(7)
n, frames = 12, 6000
place, heading = rng.uniform(5, 25, (n, 2)), rng.uniform(-np.pi, np.pi, n)
pace = np.ones(n)  # speeds vary slowly
rows = []
for frame in range(frames):
    ahead = np.stack([np.cos(heading), np.sin(heading)], axis=1)
    gap = np.linalg.norm(place[:, None] - place, axis=2)
    nearest = np.argsort(gap, axis=1)[:, 1:6]
    towards = ahead[nearest].mean(axis=1)
    turn = np.angle((towards[:, 0] + 1j * towards[:, 1]) * np.exp(-1j * heading))
    heading = heading + 0.06 * turn + rng.normal(0, 0.09, n)
    pace = 1 + 0.9 * (pace - 1) + rng.normal(0, 0.1, n)
    place = place + 0.5 * pace[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    for axis, side in enumerate((40, 30)):  # walls reflect
        out = (place[:, axis] < 0) | (place[:, axis] > side)
        place[:, axis] = np.clip(place[:, axis], 0, side)
        heading = np.where(out, (np.pi - heading) if axis == 0 else -heading, heading)
    rows += [(frame, fish, *place[fish].round(3)) for fish in range(n)]
table = pandas.DataFrame(rows, columns=["frame", "fish", "x_cm", "y_cm"])
table.to_csv("fish.csv", index=False)

# %% [markdown]
# ## Read
#
# Columns are found by their names, and the notes say what was guessed. Frame rate and unit are
# never guessed.

# %%
recording = swarmdp.read_tracks("fish.csv", fps=10, unit="cm")
print(recording)
print(recording.notes)

# %% [markdown]
# ## Look
#
# Look at the summary before anything else: who is seen when, how fast they are, and what cleaning
# leaves out. `swarmdp tracks fish.csv --fps 10 --unit cm` makes a page of it.

# %%
print(recording.summary())

# %% [markdown]
# ## Learn
#
# `analyse` does the rest. It cuts the tracks into decisions, asks whether individuals react to each
# other at all, finds the rule of their turns and the reward behind it, searches for a controller,
# and judges the controller's group on time that was not used for learning. We know the tank, so we
# say where its walls are. By default they are determined from the tracks.

# %%
analysis = swarmdp.analyse(
    recording, seed=1, arena=swarmdp.recordings.Box((0.0, 0.0), (40.0, 30.0)), resamples=0
)
print(analysis)

# %% [markdown]
# Read it from top to bottom. First: is there an interaction? Then the rule, in the units of the
# recording: these fish turn to the mean heading of their five nearest neighbours, which is what we
# made them do. Then the energy distance: the controller's group is as close to the held-out time as
# the recording is to itself. The verdict is more careful. How much the group circles in the tank
# varies from run to run, and one recording says too little about that.

# %% mystnb={"image": {"alt": "The learned reward by misalignment and by the wall, and the distance to the demo in each iteration"}}
analysis.result.plot()

# %% [markdown]
# The reward says which situations the fish turn towards. Only differences within one component mean
# something. `resamples=8`, the default, gives it error bars and takes longer.
#
# ## Tracks without an interaction
#
# A method that always finds something would find something here: the same number of fish, but each
# swims on its own, and the camera loses one now and then.

# %%
alone = np.cumsum(rng.normal(0, 0.4, (301, n)), axis=0) + rng.uniform(-np.pi, np.pi, n)
paths = np.cumsum(np.stack([np.cos(alone), np.sin(alone)], axis=-1), axis=0)
paths[rng.random(paths.shape[:2]) < 0.02] = np.nan
strangers = swarmdp.Recording(paths, fps=1, unit="cm").decisions(dt=1)
swarm = swarmdp.recordings.Swarm.from_recording(strangers.train, arena=None)
print(swarm.interaction_test(seed=1))

# %% [markdown]
# Nothing is found. Where an interaction that matters would have been seen, the test says so;
# otherwise it says that there is too little data. Either way, do not read a reward learned from such
# tracks as a rule of behaviour.
#
# ## One command
#
# `swarmdp fit --tracks fish.csv --fps 10 --unit cm -o runs/fish` does all of this and writes a page;
# `--resamples 0 --no-judge` is the quick look. If the animals did not come near enough to the walls
# to tell where they are, it says so and stops: give `--arena box:0,0,40,30` (two corners), `--arena
# circle:X,Y,RADIUS`, or `--arena open` where there are no walls.
#
# Next: [sheep and zebrafish](../from-file-to-sentence.md), and [which files can be read, what happens
# at each step, and how good it is](../recordings.md).
