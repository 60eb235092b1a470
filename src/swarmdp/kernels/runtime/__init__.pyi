from . import events as events
from . import scratch as scratch
