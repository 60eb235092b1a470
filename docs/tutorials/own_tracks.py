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
n, frames = 12, 3000
place, heading = rng.uniform(5, 25, (n, 2)), rng.uniform(-np.pi, np.pi, n)
rows = []
for frame in range(frames):
    ahead = np.stack([np.cos(heading), np.sin(heading)], axis=1)
    gap = np.linalg.norm(place[:, None] - place, axis=2)
    nearest = np.argsort(gap, axis=1)[:, 1:6]
    towards = ahead[nearest].mean(axis=1)
    turn = np.angle((towards[:, 0] + 1j * towards[:, 1]) * np.exp(-1j * heading))
    heading = heading + 0.06 * turn + rng.normal(0, 0.09, n)
    place = place + 0.5 * np.stack([np.cos(heading), np.sin(heading)], axis=1)
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
# Which fish are seen when, how fast they are, and what cleaning drops. `swarmdp tracks fish.csv
# --fps 10 --unit cm` makes a page of it.

# %%
print(recording.summary())

# %% [markdown]
# ## Learn
#
# `analyse` does everything: it cuts the tracks into decisions, calibrates a swarm on the first two
# thirds of the time, asks whether there is an interaction at all, learns the reward, and judges
# the learned swarm on the last third. Here we say where the walls are and how many neighbours
# count; by default both are determined from the tracks.

# %%
seen = swarmdp.recordings.Observation(
    misalignment=7, bearing=0, spacing=0, previous_turn=0, neighbours=5
)
analysis = swarmdp.analyse(
    recording,
    seed=1,
    dt=1.0,
    observation=seen,
    arena=swarmdp.recordings.Box((0.0, 0.0), (40.0, 30.0)),
    iterations=2,
    resamples=0,
    judge=False,
)
print(analysis.interaction)

# %% mystnb={"image": {"alt": "The learned reward by misalignment and by the wall, and the distance to the demo in each iteration"}}
analysis.result.plot()

# %%
weights = analysis.result.reward.tables()[0].isel(experiment=0)
print(weights.to_series().round(2))

# %% [markdown]
# The reward by misalignment is highest where the fish are in line with their neighbours, which is
# what we made them do. With `judge=True` (the default) `analysis.verdict` compares the learned swarm
# with the time that was held out; `resamples=8` gives the reward its error bars. Both take longer.
#
# The same as one command, with a page at its end:
# `swarmdp fit --tracks fish.csv --fps 10 --unit cm -o runs/fish`.
#
# That takes some minutes, most of them for the errors and the verdict; `--resamples 0 --no-judge` is
# the quick look.
#
# Where the walls are is determined from the tracks, if the animals came near to most of them. If
# they did not, it says so and stops: give `--arena box:0,0,40,30` (two corners), `--arena circle:X,Y,RADIUS`, or
# `--arena open` where there are no walls.
#
# Next: [real fish](zebrafish.py), [how far such an answer can be trusted](known_rule.py), [file
# formats](../recordings.md), and [what happens at each step](../recordings.md#what-happens-at-each-step).
