from .fit import Fit as Fit
from .fit import FitInterrupted as FitInterrupted
from .settings import FitSettings as FitSettings
