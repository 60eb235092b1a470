"""What an installation of swarmdp brings along: packages, their licences and sizes.

`python -m tools.installation` prints the tables of docs/reference/stability.md, as they are on
this machine.
"""

import importlib.metadata as metadata
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_WORDS = {  # of classifiers, in the short form that newer packages use
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


@dataclass(frozen=True)
class Package:
    """A package that is installed."""

    name: str
    version: str
    licence: str
    megabytes: float


def required(name: str = "swarmdp", extra: str = "") -> dict[str, Package]:
    """All packages that a package needs, directly or not, by name; without itself."""
    found: dict[str, Package] = {}
    _collect(name, extra, found)
    found.pop(canonicalize_name(name), None)
    return dict(sorted(found.items()))


def _collect(name: str, extra: str, found: dict[str, Package]) -> None:
    distribution = metadata.distribution(name)
    found[canonicalize_name(name)] = described(distribution)
    for needed in _needs(distribution, extra):
        if canonicalize_name(needed) not in found:
            _collect(needed, "", found)


def _needs(distribution: metadata.Distribution, extra: str) -> Iterator[str]:
    for line in distribution.requires or []:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement.name


def described(distribution: metadata.Distribution) -> Package:
    """A package as its own metadata describe it."""
    told = distribution.metadata.json
    classifiers = [
        line.rsplit("::", 1)[-1].strip()
        for line in told.get("classifier", [])
        if line.startswith("License ::")
    ]
    written, licence = (str(told.get(key, "")) for key in ("license", "license_expression"))
    if not licence and classifiers:
        licence = " or ".join(_WORDS.get(word, word) for word in classifiers)
    if not licence and len(written) < 40:  # else it is the text of a licence
        licence = written
    files = [file.locate() for file in distribution.files or []]
    size = sum(file.stat().st_size for file in files if file.is_file())  # type: ignore[attr-defined]
    return Package(str(told["name"]), distribution.version, licence or "not told", size / 1e6)


def table(packages: dict[str, Package]) -> str:
    """One line for each package, in Markdown."""
    lines = ["| package | version | licence | MB |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {name} | {one.version} | {one.licence} | {one.megabytes:.1f} |"
        for name, one in packages.items()
    ]
    total = sum(one.megabytes for one in packages.values())
    return "\n".join([*lines, f"| all | | | {total:.0f} |"])


if __name__ == "__main__":
    print(table(required()))
