"""Is the learned swarm the recorded one? Statistics of both, a test, and a verdict in words.

`judge.py` is `swarmdp.judge`; `stage.py` rolls swarms out from the demo's starts, `statistics.py`,
`motion.py`, `neighbours.py` and `blocks.py` measure them, `comparison.py` and `classifier.py` test,
`stretches.py` compares short stretches of the demo, `weighing.py` finds the words, `advice.py` says
what to do, `baselines.py` has the simple policies beside the learned one.
`elsewhere.py` compares from other starts, `drift.py` asks whether the recording itself changed,
`discounts.py` which discount suits a demo. `evaluation.py` is `swarmdp.evaluate`, `locality.py`
`swarmdp.locality_test`; `price.py` tells what a central expert gets that local agents cannot.

Decisions:

- A verdict is a permutation test, then a yardstick. If the learned swarm is the expert's, a run of
  the demo and learned runs from the same start are exchangeable, so the test is exact with a single
  run, whatever the statistics: heavy tails and correlations change its power, not its false alarms.
  What needs all runs (groups of classes, the reach of clusters) is made from the pooled ones,
  whatever their labels.
- A run as a whole is one draw, which may be unusual for its own expert. So the demo is also cut
  into stretches, and swarms begin where these begin. Whole runs tell how large a difference is,
  both together that it is there.
- A difference that is there may not matter: how much it does is measured by what random policies
  and doing nothing differ from the demo.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
