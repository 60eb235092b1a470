from . import ising as ising
from . import numerics as numerics
from . import recorded as recorded
from . import runtime as runtime
from . import space as space
from . import tables as tables
from . import vicsek as vicsek
