"""The paper's experiments: plans, engine, claims, uncertainty coefficient, figures, report.

`plan` says what is to be done, `tasks` how each unit of it is computed, `store` keeps finished
units, `engine` runs the missing ones in this process and `cluster` on Dask; `outcome` puts the
units together, `claims` asks of the outcome what the paper says.
"""
