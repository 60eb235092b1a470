"""Swarms of points, and other bodies that observe the same: the systems of `studies.other_bodies`.

`groups` has two swarms of points that turn at will: a flock that aligns (the Vicsek model), and a
school with attraction and repulsion. `bodies` has what else could move: wheels, torques, limited
accelerations, delays, biases, wrong wiring. A body carries a group's observations, adds what it
knows of itself, and turns its own actions into a turn and a pace.
"""
