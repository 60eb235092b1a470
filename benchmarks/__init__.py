"""How fast swarmdp is, beside its peers and beside plain C.

They use the package but are not part of it: `python -m benchmarks`, from the root of the
repository, measures the workloads of `benchmarks.workloads` and shows each ratio with its spread,
beside the goal for it. The contestants of a workload take turns within every round, in one process,
so that a busy machine slows all of them equally; every peer is first checked to compute the same as
swarmdp.
"""
