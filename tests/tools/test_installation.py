"""The page on installations names every package that comes along, with its licence."""

import importlib.metadata as metadata
import re
from pathlib import Path

from tools.installation import Package, described, required, table

ROOT = Path(__file__).parents[2]
PERMISSIVE = {"0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "MIT"}
PERMISSIVE |= {"MIT-0", "MIT-CMU", "PSF", "PSF-2.0", "Zlib", "LLVM-exception"}


def test_every_package_and_its_licence_is_on_the_page() -> None:
    page = (ROOT / "docs/reference/stability.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| (\S+) \| [^|]+ \| ([^|]+) \| [\d.]+ \|$", page, re.MULTILINE))
    packages = required()
    assert {"numba", "llvmlite", "scipy", "mdurl"} <= set(packages)  # the last by way of rich
    for name, one in packages.items():
        assert told.get(name) == one.licence


def test_all_licences_are_permissive() -> None:
    for name, one in required().items():
        words = set(re.split(r" (?:AND|OR|WITH|or) ", one.licence))
        assert words <= PERMISSIVE, f"{name}: {one.licence}"


def test_versions_are_those_of_the_lock() -> None:
    lock = (ROOT / "requirements-run.lock").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^(\S+)==(\S+)", lock, re.MULTILINE))
    for name, one in required().items():
        assert (name, one.version) in pinned


def test_sizes_are_those_of_the_files() -> None:
    package = described(metadata.distribution("numpy"))
    assert package.licence.startswith("BSD-3-Clause")
    assert 10 < package.megabytes < 500
    text = table({"numpy": Package("numpy", "2.0", "BSD", 57.44)})
    assert text.endswith("| numpy | 2.0 | BSD | 57.4 |\n| all | | | 57 |")
