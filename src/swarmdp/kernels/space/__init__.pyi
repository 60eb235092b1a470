from . import cells as cells
from . import neighbours as neighbours
from .cells import wraps_onto_itself as wraps_onto_itself
from .graph import hops as hops
from .kinds import CIRCLE as CIRCLE
from .kinds import OPEN as OPEN
from .kinds import PERIODIC as PERIODIC
from .kinds import POLYGON as POLYGON
