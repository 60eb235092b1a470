"""The kinds of space that agents move in; without Numba, since arenas name theirs when imported."""

OPEN, CIRCLE, POLYGON, PERIODIC = range(4)
