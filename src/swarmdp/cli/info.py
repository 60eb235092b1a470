"""`swarmdp info`: what to add to a bug report."""

import argparse
import platform
from typing import Any

from swarmdp._version import __version__
from swarmdp.cli.common import add_command


def add(commands: Any) -> None:
    """Add the command and its options."""
    add_command(
        commands,
        "info",
        _run,
        summary="print versions, threads and the cache of compiled code",
        description="Print versions, the number of threads and the cache of compiled code, for bug "
        "reports.",
    )


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
