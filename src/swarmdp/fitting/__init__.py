"""`swarmdp.fit`: from a demo to a reward, a policy and a verdict; Algorithms 1 and 2 meet here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
