"""Recordings in three dimensions: what differs from those in the plane.

`arena.py` has the arenas, `rows.py` the rows of the rule (two for each decision: turns to the left
and upwards), `interaction.py` the test, `controller.py` agents that follow a rule, `groups.py` what
is measured of groups, `search.py` the search for a controller, and `analysis.py` what
`swarmdp.analyse` returns. Headings are unit vectors (`swarmdp.model.sphere`); the frame of a
heading has a horizontal "left", so that gravity is known, and climbing can be a cue.
"""
