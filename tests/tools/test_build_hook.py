"""What building a wheel does beside copying files."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hatch_build


@pytest.mark.parametrize("before", ["", "overlay"])
def test_kernels_are_compiled_with_what_the_build_environment_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    """Isolated builds have their dependencies on the path of Python."""
    seen: dict[str, Any] = {}

    def run(command: list[str], **options: Any) -> None:
        seen.update(options["env"])

    monkeypatch.setenv("PYTHONPATH", before)
    monkeypatch.setattr(subprocess, "run", run)
    hook: Any = SimpleNamespace(root=str(tmp_path))
    hatch_build.CompiledKernels.initialize(hook, "standard", {})
    expected = [str(tmp_path / "src"), *filter(None, [before])]
    assert seen["PYTHONPATH"].split(os.pathsep) == expected
