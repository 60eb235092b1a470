"""`swarmdp info`: what to add to a bug report."""

import argparse
import platform
from typing import Any

from swarmdp._version import __version__


def add(commands: Any) -> None:
    """Add the command and its options."""
    info = commands.add_parser(
        "info",
        help="versions, threads and where compiled code is kept",
        description="Show versions, threads and where compiled code is kept: what to add to a "
        "bug report.",
        allow_abbrev=False,
    )
    info.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> dict[str, str]:
    from importlib.metadata import version

    from swarmdp.kernels.numerics import streams
    from swarmdp.kernels.runtime.compile import cache_directory, shipped_kernels
    from swarmdp.support.threads import thread_count

    packages = ("numpy", "numba", "scipy", "xarray", "h5netcdf", "matplotlib")
    rows = {
        "swarmdp": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
        "platform": platform.platform(),
        "threads": str(thread_count()),
        "shipped kernels": shipped_kernels(),
        "compiled code": cache_directory(streams.uniform_runs),
    }
    width = max(map(len, rows))
    for name, value in rows.items():
        print(f"{name:<{width}}  {value}")
    return rows
