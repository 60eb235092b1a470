"""`make release-check`: everything that must hold before a version is released.

Each check is one function that returns what it found, or raises `Problem`. All of them are run, and
the exit code is the number of problems.
"""

import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import hatch_build

ROOT = Path(__file__).parent.parent
VERSION = re.compile(r"\d+\.\d+\.\d+")
FREE = ("BSD", "MIT", "Apache", "Python Software Foundation", "PSF", "ISC", "MPL", "HPND", "Zlib")
LARGEST_WHEEL = 30 << 20  # bytes


class Problem(Exception):
    """What keeps this version from being released."""


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """The output of a command; its end if it fails."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd or ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise Problem(f"{' '.join(map(str, command[:4]))} ... failed:\n{last}")
    return done.stdout


def text(name: str) -> str:
    """A file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    """Version, citation, changelog and tag agree."""
    written = VERSION.search(text("src/swarmdp/_version.py"))
    if written is None:
        raise Problem("src/swarmdp/_version.py has no version like 1.2.3")
    number = written.group()
    if f"\nversion: {number}\n" not in text("CITATION.cff"):
        raise Problem(f"CITATION.cff does not say version: {number}")
    heading = re.search(rf"^## {re.escape(number)} \((.*)\)$", text("CHANGELOG.md"), re.MULTILINE)
    if heading is None:
        raise Problem(f"CHANGELOG.md has no heading '## {number} (date)'")
    date = heading.group(1)
    if f"\ndate-released: {date}\n" not in text("CITATION.cff"):
        raise Problem(f"CHANGELOG.md says {number} ({date}), CITATION.cff another date")
    tags = run("git", "tag", "--points-at", "HEAD").split()
    if tags and f"v{number}" not in tags:
        raise Problem(f"HEAD has the tags {tags}, but not v{number}")
    return f"{number} of {date}" + ("" if tags else ", no tag yet")


def committed() -> str:
    """Nothing is left uncommitted."""
    left = run("git", "status", "--porcelain").splitlines()
    if left:
        raise Problem(f"{len(left)} files are not committed: {', '.join(left[:5])}")
    return run("git", "rev-parse", "--short", "HEAD").strip()


def checks() -> str:
    """Linter, types and import contracts."""
    run("make", "-s", "check")
    return "ruff, mypy and import contracts pass"


def documentation() -> str:
    """The site builds without a warning, and none of its pages asks for anything elsewhere."""
    run("make", "-s", "docs")
    site = ROOT / "docs" / "_build" / "html"
    pages = sorted(site.rglob("*.html"))
    loads = re.compile(r"""<(?:script|img|link|iframe)[^>]*\s(?:src|href)=["'](https?:)?//""")
    asking = [page for page in pages if loads.search(page.read_text(encoding="utf-8"))]
    if asking:
        raise Problem(f"{asking[0].relative_to(site)} loads something from elsewhere")
    broken = sorted(set(_broken_links(site, pages)))
    if broken:
        raise Problem(f"{len(broken)} links lead nowhere: {'; '.join(broken[:5])}")
    return f"{len(pages)} pages, all links lead somewhere"


def _broken_links(site: Path, pages: list[Path]) -> Iterator[str]:
    for page in pages:
        for target in re.findall(r'<a[^>]*\shref="([^"#]+)', page.read_text(encoding="utf-8")):
            if not re.match(r"\w+:", target) and not (page.parent / target).exists():
                yield f"{page.relative_to(site)} -> {target}"


def archives() -> str:
    """The sdist is built, the wheel from it, and that is used in an empty environment."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", place, ROOT)
        (wheel,) = place.glob("*.whl")
        if wheel.stat().st_size > LARGEST_WHEEL:
            raise Problem(f"{wheel.name} has {wheel.stat().st_size >> 20} MiB")
        environment = place / "environment"
        venv.create(environment, with_pip=True)
        python = next(path for path in environment.glob("*/python*") if path.stem == "python")
        run(python, "-m", "pip", "install", "--quiet", wheel, cwd=place)
        printed = run(python, "-m", "swarmdp", "--version", cwd=place).strip()
        run(python, "-m", "swarmdp", "simulate", "vicsek", "--runs", "2", cwd=place)
        if not (place / "runs" / "vicsek" / "summary.json").is_file():
            raise Problem("swarmdp simulate of the installed wheel left no summary.json")
        size = wheel.stat().st_size / (1 << 20)
        return f"{printed} from {wheel.name}, {size:.1f} MiB"


def licences() -> str:
    """All that an installation brings along may be used as freely as this package."""
    waiting, seen, other = ["swarmdp"], set(), []
    while waiting:
        name = waiting.pop()
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # needed on other systems only
        for line in package.requires or ():
            needed = re.match(r"[\w.-]+", line)
            if needed and "extra ==" not in line and needed.group().lower() not in seen:
                seen.add(needed.group().lower())
                waiting.append(needed.group())
        said = package.metadata.get_all
        classified = [
            classifier
            for classifier in said("Classifier") or ()
            if classifier.startswith("License")
        ]
        license_text = " ".join(
            [*(said("License-Expression") or ()), *(said("License") or ()), *classified]
        )
        if not any(word in license_text for word in FREE):
            other.append(f"{name} ({license_text.strip()[:60] or 'says nothing'})")
    if other:
        raise Problem(f"other licences: {', '.join(other)}")
    return f"{len(seen)} packages, all under BSD, MIT, Apache and the like"


def readme() -> str:
    """Short, and readable on a package index: pictures and links can be made absolute."""
    lines = text("README.md").splitlines()
    if len(lines) > 120:
        raise Problem(f"README.md has {len(lines)} lines, more than 120")
    left = hatch_build.LINK.findall(
        hatch_build.absolute(text("README.md"), "https://example.org/x")
    )
    if left:
        raise Problem(f"README.md has links that do not become absolute: {left[:3]}")
    declared = re.search(r'^repository = "(.*)"$', text("pyproject.toml"), re.MULTILINE)
    address = declared.group(1) if declared else ""
    links = f"links to {address}" if address else "no address yet: set repository in pyproject.toml"
    return f"{len(lines)} lines, {links}"


CHECKS: tuple[Callable[[], str], ...] = (
    version,
    committed,
    readme,
    licences,
    checks,
    documentation,
    archives,
)


def main() -> None:
    """Run all checks and say what each found."""
    problems = 0
    for check in CHECKS:
        name = check.__name__
        print(f"{name:<14}", end=" ", flush=True)
        try:
            print(check())
        except Problem as problem:
            problems += 1
            print(f"PROBLEM: {problem}")
    print(f"{problems} problems" if problems else "ready to be released")
    sys.exit(problems)


if __name__ == "__main__":
    main()
