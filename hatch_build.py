"""Puts kernels that are already compiled into the wheel (see `swarmdp.precompile`).

The wheel is then for this version of Python and this platform. Where code for any processor of a
kind cannot be made, the wheel holds sources alone and is for all.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):  # type: ignore[type-arg]
    """Runs before a wheel is put together."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile what is missing and add it; editable installations compile on first use."""
        if version == "editable":
            return
        sources = Path(self.root) / "src"
        subprocess.run(
            [sys.executable, "-m", "swarmdp.precompile"],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(sources)},
            stdout=sys.stderr,
            check=True,
        )
        compiled = sources / "swarmdp" / "kernels" / "compiled"
        files = sorted(compiled.glob("*.nbc"))
        if not files:
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for path in files:
            build_data["force_include"][str(path)] = f"swarmdp/kernels/compiled/{path.name}"
