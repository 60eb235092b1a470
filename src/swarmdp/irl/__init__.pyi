from . import updates as updates
from .algorithm import Iteration as Iteration
from .cloning import clone as clone
from .result import Result as Result
