"""How fast swarmdp is, beside its peers and beside plain C.

`swarmdp.benchmarks.run.run` measures the workloads of `swarmdp.benchmarks.workloads` and shows
each ratio with its spread, beside the goal for it. The contestants of a workload take turns within
every round, in one process, so that a busy machine slows all of them alike; every peer is first
checked to compute the same as swarmdp.
"""
