"""`python -m swarmdp` is the command `swarmdp`."""

from swarmdp.cli import main

if __name__ == "__main__":
    main()
