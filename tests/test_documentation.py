"""What the documentation shows is run as written."""

import ast
import inspect
import json
import operator
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import pytest

import swarmdp
from studies import (
    calibration,
    environments,
    learners,
    locality,
    other_bodies,
    small_swarm_tables,
    transfer,
    unseen,
    verdicts,
)
from studies.rows import Row, read
from tests.campaigns.__main__ import CAMPAIGNS
from tests.examples import ROOT, snippets

SAID = {  # what a page tells of its own output
    "docs/your-own-system.md": (
        "('clone of explained actions',) reproduces the demo",
        "('Algorithm 2',) does not reproduce it",
        "what to do: the demo answers the same observation by different actions",
        "try swarmdp.with_history(system) (on the command line --history 1)\n"
        "Verdict: reproduces the demo",
    ),
    "docs/agents.md": (
        "try swarmdp.with_history(system, steps=2)",
        "reproduces the demo right answers: 1.0\nreproduces the demo right answers: 1.0",
        "Locality: local",
        "local energy: 2 of 9",
    ),
}


PAGES = ["README.md", *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").rglob("*.md")))]


@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)])
def test_snippets_run_as_written(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}  # as a script
    for snippet in snippets(page):
        exec(compile(snippet, page, "exec"), namespace)
    printed = capsys.readouterr().out
    assert printed
    for words in SAID.get(page, ()):
        assert words in printed


@pytest.mark.parametrize(
    ("page", "rows", "tables"),
    [
        ("learning.md", "learners.json", learners.table),
        ("updates.md", "transfer.json", transfer.table),
        ("theory.md", "theory.json", small_swarm_tables.tables),
        ("reproduction.md", "calibration.json", calibration.table),
        ("environments.md", "environments.json", environments.table),
        ("unseen.md", "unseen.json", unseen.tables),
        ("agents.md", "locality.json", locality.table),
        ("verdicts.md", "verdicts.json", verdicts.tables),
        ("other-bodies.md", "other-bodies.json", other_bodies.tables),
    ],
)
def test_tables_are_those_of_their_files(
    page: str, rows: str, tables: Callable[[Sequence[Row]], str]
) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    made = tables(read(ROOT / "docs" / rows))
    lines = [line for line in made.splitlines() if line.startswith("|")]
    assert len(lines) > 3
    for line in lines:
        assert line in text, f"{page} does not have what {rows} says: {line}"


def test_claims_are_those_of_their_file() -> None:
    """Measured values and verdicts of the reproduction, but for the verdict that came later."""
    text = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| (.*) \| ([^|]*) \| (holds|\*.*\*) \|$", text, re.MULTILINE)
    summary = json.loads((ROOT / "docs/reproduction/summary.json").read_text(encoding="utf-8"))
    assert len(shown) == len(summary["claims"])
    for (_, measured, verdict), claim in zip(shown, summary["claims"], strict=True):
        value, _, error = measured.partition(" ± ")
        assert float(value) == pytest.approx(claim["value"], rel=0.01)
        if error:
            assert float(error) == pytest.approx(claim["error"], rel=0.05)
        assert (verdict == "holds") == (claim["holds"] is True), claim["name"]


def test_the_example_system_is_short() -> None:
    (source,) = [s for s in snippets("docs/your-own-system.md") if "class Robots" in s]
    ast.parse(source)
    assert len(source.splitlines()) <= 45


def test_the_example_update_is_short() -> None:
    (source,) = [s for s in snippets("docs/updates.md") if "def perceptron" in s]
    ast.parse(source)
    assert len(source.splitlines()) < 30


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "CONTRIBUTING.md", *(ROOT / name for name in PAGES)]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_there_are_at_most_thirty_pages_to_read() -> None:
    """Beside the index of each section, and the lists of names and commands that are generated."""
    docs = ROOT / "docs"
    generated = {"reference/python.md", "reference/command-line.md"}
    pages = {page.removeprefix("docs/") for page in PAGES[1:]} - generated
    pages = {page for page in pages if not page.endswith("index.md") or page == "start/index.md"}
    scripts = [docs / "gallery.py", *(docs / "tutorials").glob("*.py")]
    assert len(pages) + len(scripts) <= 30


def test_every_promise_names_what_holds_it() -> None:
    """Test files, campaigns and studies that are there."""
    text = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    text = text.partition("## What checks each promise\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 10
    for row in rows:
        holds = row.split(" |")[1]
        tests = re.findall(r"`(tests/[^`]+)`", holds)
        campaigns = re.findall(r"`(\w+)`", holds.partition("campaign")[2])
        studies = re.findall(r"`python -m studies\.(\w+)`", holds)
        assert tests or campaigns or studies, row
        assert all((ROOT / name).exists() for name in tests), row
        assert set(campaigns) <= set(CAMPAIGNS), row
        assert all((ROOT / "studies" / f"{name}.py").exists() for name in studies), row


def test_versions_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {swarmdp.__version__}\n" in citation
    assert f"## {swarmdp.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_reference_lists_every_public_name() -> None:
    """Once each, by a spelling that works."""
    text = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   swarmdp\.([\w.]+)$", text, re.MULTILINE)
    items = [operator.attrgetter(name)(swarmdp) for name in listed]
    assert len({id(item) for item in items}) == len(items)
    for item in _public():
        assert any(item is other for other in items), f"the reference lacks {item.__qualname__}"


def _public() -> list[type | Callable[..., object]]:
    """Classes and functions at the top, and in the namespaces that list their names."""
    spaces = [swarmdp, *(value for value in _values(swarmdp) if isinstance(value, ModuleType))]
    protocols = (swarmdp.policies, swarmdp.features)  # they also list what only the package needs
    lists = [space for space in spaces if "__all__" in vars(space) and space not in protocols]
    values = [value for space in lists for value in _values(space)]
    return [value for value in values if inspect.isclass(value) or inspect.isfunction(value)]


def _values(module: ModuleType) -> list[object]:
    return [getattr(module, name) for name in vars(module)["__all__"]]


def test_everything_public_is_there() -> None:
    names = vars(swarmdp)["__all__"]
    for name in names:
        assert getattr(swarmdp, name) is not None
    assert set(names) == set(dir(swarmdp))
    assert len(names) <= 50  # what README and its next pages use; the rest is in namespaces
    with pytest.raises(AttributeError, match="attribute fly"):
        getattr(swarmdp, "fly")  # noqa: B009


def test_the_architecture_page_names_every_room_and_files_that_are_there() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    package = ROOT / "src/swarmdp"
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    assert rooms == set(re.findall(r"^\| \d+ \| `(\w+)/` \|", text, re.MULTILINE))
    recordings = text.partition("## Recordings\n")[2].partition("\n## ")[0]
    for name in re.findall(r"`(\w+\.py|\w+/)`", recordings):
        assert (package / "recordings" / name).exists(), name
    for name in re.findall(r"`(\w+/[\w/]+\.py)`", text):
        assert (package / name).exists() or (ROOT / name).exists(), name
