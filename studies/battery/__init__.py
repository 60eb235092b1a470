"""Swarms of many kinds, each with an expert and a score of its own that says what is right.

`case.py` says what a case is. `development.py` has the cases with which the learner was developed,
`final.py` those that were written last and run once: nothing was tuned to them.
"""
