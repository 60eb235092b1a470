"""Learn the local reward behind a swarm's global behaviour, and a controller that reproduces it.

Names are imported when they are first used, so that `import swarmdp` stays quick. `__init__.pyi` is
the only list of them; what is not needed every day is in the namespaces that it names first.
"""

import importlib
import sys

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# Namespaces that are modules of a room; the others are rooms, which Python finds by itself.
_NAMESPACES = {
    "errors": "support.errors",
    "features": "model.features",
    "testing": "model.testing",
    "updates": "irl.updates",
}


class _Namespaces:
    """Lets `import swarmdp.errors` find `swarmdp.support.errors`, and likewise the others.

    Both names stand for the same module, which is imported when it is asked for.
    """

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        """Where a module of a namespace comes from; None for all other modules."""
        package, _, inner = name.partition(".")
        namespace, dot, below = inner.partition(".")
        if package != __name__ or namespace not in _NAMESPACES:
            return None
        from importlib.machinery import ModuleSpec  # not loaded before a namespace is imported

        return ModuleSpec(name, cls, origin=f"{package}.{_NAMESPACES[namespace]}{dot}{below}")

    @staticmethod
    def create_module(spec):
        """Python makes an empty module, which is replaced at once."""

    @staticmethod
    def exec_module(module):
        """Put the module itself under its second name."""
        sys.modules[module.__name__] = importlib.import_module(module.__spec__.origin)


# Before Python's own finders: they would load files of `updates` a second time, under this name.
sys.meta_path.insert(0, _Namespaces)
