"""Recorded swarms, from tracks to an interaction, a calibrated swarm, a fit and its verdict.

`reading.py` lists the formats of files, `formats/` has one file for each; `raw_tracks.py`,
`long_tables.py` and `datasets.py` serve them. `recording.py` is the checked recording,
`cleaning.py` cleans it, `summary.py` says what it is like. `decisions.py` has decisions at even
times, `arena.py` where they were, `components.py` what an individual may see (one row for each
component), `view.py` and `view_calibration.py` the classes of it. `swarm.py` is the swarm
calibrated from decisions, with `calibration.py`, `whole_steps.py` and `swarm_files.py`;
`controllers.py` are its controllers, `couzin.py` the model to compare them with. `outsiders.py` are
those that are seen and played back, `outsider_rules.py` how individuals turn for them, `kinds.py`
how many kinds of individuals there are. `interaction.py`
and `turn_prediction.py` ask whether there is an interaction. `rule.py` reads the rule of turns,
with `neighbour_rows.py`, `zone_models.py`, `rule_search.py` and `rule_individuals.py`; `zonal.py`
is a controller with the same zones, `controller_families.py` and `controller_search.py` find it,
`zonal_files.py` writes it, `group_distances.py` says how near its group is. `space/` has what
differs in three dimensions. `analysis.py` is `swarmdp.analyse`, `analysis_steps.py` has its steps.

Decisions:

- A demo from a recording has a mask (`Trajectory.of_recording`): its variable `present` says which
  observations count, `acting` which turns do. Its feature expectations are means over time divided
  by 1 - gamma, and resampled demos are drawn from blocks of its time. Missing states are filled in
  by interpolation, so that everything else takes it as any other trajectory.
- Noise is what differs among individuals that observe the same: the variance within classes needs
  no model of the rule. A regression would add what it misses of the rule to the noise.
- A step is a jump compared with the median step, not with a quantile, which the jumps would raise.
  Steps of length zero do not count: animals that rest in whole pixels would make the median zero.
- The controller of an analysis is searched for such that its group does as the recorded one, and
  begins with the rule of turns. Regression alone gives groups that fall apart (errors of positions
  and the time between decisions weaken gains), search alone is a lottery where data are few: so
  numbers far from the rule cost the more, the less alike two halves of the training part are.
- Speeds of individuals are correlated as recorded, and individuals hurry after others where the
  recording shows it. Herds that only turn fall apart in open space when decisions are a second
  apart (energy distance of sheep 1.4 without, 0.17 with it).
- Outsiders are played back: a state has the time of the recording (`clock`), and swarms that start
  from it meet them where they were. Symmetries of the arena are not used then. How far a group is
  from an outsider that moves is not compared: a dog follows its flock, and one that is played back
  cannot.
- Foreign files are read with care: pickles may name only what arrays are made of, HDF5 links and
  external storage are not followed, and what a file declares is compared with what it holds and
  with free memory before anything is allocated.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
