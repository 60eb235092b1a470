"""Studies: which learner, which reward update, what transfers, what local rewards can do.

They use the package but are not part of it. Each is a module that is run from the root of the
repository, such as `python -m studies.learners --quick`, and goes on where it was stopped.
"""
