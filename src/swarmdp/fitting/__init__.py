"""`swarmdp.fit`: from a demo to a reward, a policy and a verdict.

`fit.py` drives a fit, `settings.py` has its options (one field for each), `setup.py` reads the demo
and fills in the defaults, `resampled.py` repeats a fit with other demos. Algorithm 1 (`irl`) and
Algorithm 2 (`learning`) do not import each other: they meet here.

Decisions:

- Algorithm 1 asks for its expert data when it begins. So `fit` is a straight way to it, and reading
  the demo is a step that can be stepped into or over.
- Random numbers come from seeds derived for (part, iteration), and experiment e uses the run
  numbers e * swarms + m. An experiment is the same alone, in any batch and after a resume.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
