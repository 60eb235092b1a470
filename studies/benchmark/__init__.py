"""The parts of `studies.swarm_benchmark`: what is asked, who answers.

`columns.py` has the problems and how an answer is scored, `methods.py` the methods, one adapter
each, `imitation.py` those of the package imitation, which run in an environment of their own.
"""
