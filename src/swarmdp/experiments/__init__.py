"""The paper's experiments as frozen plans, and the one engine that runs them.

`plan` says what is to be done, `tasks` how each unit of it is computed, `store` keeps finished
units, `engine` runs the missing ones in this process and `cluster` on Dask; `outcome` puts the
units together, `claims` asks of the outcome what the paper says.
"""
