"""The reproduction of the paper: its experiments, its uncertainty coefficient, what it claims.

In the order of the work:

- `plan` says what is to be computed at which scale, `tasks` how each unit of it is computed,
  `store` keeps finished units; `engine` computes the missing ones in this process, `cluster` on
  Dask;
- `outcome` puts units together; `pairs`, `density` and `uncertainty` estimate the uncertainty
  coefficient of two agents' headings;
- `claims` asks of the outcome what the paper says; `figures` and `uncertainty_figures` draw the
  paper's figures; `claim_tables` and `report` put all of it on a page (`swarmdp.report.page` knows
  pages, but nothing of the paper).

Decisions:

- A reproduction is a set of units that depend on the plan and their own number alone, not on each
  other: a unit that needs a learned policy learns it. So units can be computed in any order and
  anywhere, and a killed run goes on without a journal: what is on disk is done. Their files hold
  no times, so the same unit is the same bytes.
- A reproduction's plan, units and report are read and written only under its lock (`.lock`).
  Temporary files are locked while they are written, so the next run recognises and removes those of
  a killed process.
- Units run on threads, one each, not in processes: kernels release the interpreter lock, and units
  are large (ten experiments at the paper's scale), so little of their time is spent in Python. On a
  cluster the arrays of a unit travel back; workers need no disk.
- A claim is decided by the standard error of the number that it is about. At a scale that is too
  small for it, it is neither true nor false but "not decided".
- The uncertainty coefficient is that of intervals, from a smoothed density (docs/reproduction.md).
  The kernel's two widths separate in Fourier space, so cross-validating a whole table of widths
  costs one transform.
"""
