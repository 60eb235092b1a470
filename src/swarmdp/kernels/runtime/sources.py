"""What the machine code of the kernels depends on in this package, found without Numba."""

import functools
import hashlib
from pathlib import Path

KERNELS = Path(__file__).parents[1]
COMPILED = KERNELS / "compiled"
"""Kernels that came with the package: `swarmdp.cli.precompile` fills it."""


@functools.cache
def sources_digest() -> str:
    """The digest of all kernel sources; lines that are comments alone change nothing.

    Packages' `__init__.py` hold no kernels and do not count.
    """
    digest = hashlib.sha256()
    for source in sorted(set(KERNELS.rglob("*.py")) - set(KERNELS.rglob("__init__.py"))):
        lines = source.read_bytes().splitlines()
        digest.update(b"\n".join(line for line in lines if not line.lstrip().startswith(b"#")))
    return digest.hexdigest()
