from . import cells as cells
from . import neighbours as neighbours
from .cells import wraps_onto_itself as wraps_onto_itself
from .graph import hops as hops
