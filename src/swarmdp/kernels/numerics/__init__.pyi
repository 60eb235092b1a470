from . import elementary as elementary
from . import streams as streams
from . import vectors as vectors
