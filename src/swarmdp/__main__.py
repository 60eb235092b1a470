"""`python -m swarmdp` is the command `swarmdp`."""

import os
import sys

if __name__ == "__main__":
    # Python puts the current folder first for `-m`, where somebody else's psutil.py may be.
    if sys.path[:1] == [os.getcwd()]:  # noqa: PTH109
        del sys.path[0]

    from swarmdp.cli import main

    main()
