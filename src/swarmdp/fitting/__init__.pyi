from .fit import Fit as Fit
from .fit import FitInterrupted as FitInterrupted
from .nearest import nearest_policy as nearest_policy
from .settings import FitSettings as FitSettings
