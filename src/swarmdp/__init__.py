"""Learn the local reward behind a swarm's global behaviour, and a controller that reproduces it.

Names are imported when they are first used, so that `import swarmdp` stays quick. `__init__.pyi` is
the only list of them; what is not needed every day is in the namespaces that it names first.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
