from .compare import Comparison as Comparison
from .fit import Fit as Fit
from .fit import FitInterrupted as FitInterrupted
from .nearest import nearest_policy as nearest_policy
from .replan import Replanned as Replanned
from .settings import FitSettings as FitSettings
from .smallest import SmallestAgent as SmallestAgent
