"""What building an archive does beside copying files.

Kernels that are already compiled go into the wheel (`swarmdp.cli.precompile`). The wheel is then
for this version of Python and this platform, and asks for exactly the Numba and llvmlite that
compiled them: with others the code would be dead weight, and the first roll-out of a fresh
installation would take 29 s of the processor instead of 4 s. Whoever needs another Numba builds a
wheel from the sources. Where code for any processor of a kind cannot be made, the wheel holds
sources alone, is for all, and pins nothing.

The README's links and pictures become absolute, so that a package index shows them.
"""

import os
import re
import subprocess
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

COMPILERS = ("numba", "llvmlite")  # whose version machine code depends on
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)")  # [text](relative target)


class CompiledKernels(BuildHookInterface):  # type: ignore[type-arg]
    """Runs before a wheel is put together."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile what is missing and add it; editable installations compile on first use."""
        if version == "editable":
            return
        sources = Path(self.root) / "src"
        # Isolated builds find their dependencies by the path that is there already.
        places = [str(sources), *filter(None, [os.environ.get("PYTHONPATH")])]
        subprocess.run(
            [sys.executable, "-m", "swarmdp.cli.precompile"],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
            stdout=sys.stderr,
            check=True,
        )
        compiled = sources / "swarmdp" / "kernels" / "compiled"
        files = sorted(compiled.glob("*.nbc"))
        if not files:
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["dependencies"] += [f"{name}=={installed_version(name)}" for name in COMPILERS]
        for path in files:
            build_data["force_include"][str(path)] = f"swarmdp/kernels/compiled/{path.name}"


class Readme(MetadataHookInterface):
    """Gives the archives their long description and project links."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README and, where an address is known, links to what stands there."""
        repository = str(self.config.get("repository", "")).rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute(text, repository) if repository else text,
        }
        metadata["urls"] = project_links(repository) if repository else {}


def absolute(text: str, repository: str) -> str:
    """A text of Markdown whose relative links lead to a repository."""

    def whole(found: re.Match[str]) -> str:
        picture, label, target = found.groups()
        kind = "raw" if picture else "blob"
        return f"{picture}[{label}]({repository}/{kind}/HEAD/{target})"

    return LINK.sub(whole, text)


def project_links(repository: str) -> dict[str, str]:
    """What a package index shows beside the description."""
    return {
        "Source": repository,
        "Documentation": f"{repository}/blob/HEAD/docs/index.md",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
