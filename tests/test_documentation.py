"""What the documentation shows is run as written."""

import ast
import re
from pathlib import Path

import pytest

import swarmdp
from tests.examples import ROOT, snippets

SAID = {  # what a page tells of its own output
    "docs/your-own-system.md": (
        "Verdict: reproduces the demo",
        "the features do not identify this behaviour",
        "what to do: give the system features that differ",
    ),
}


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/controllers.md",
        "docs/learning.md",
        "docs/theory.md",
        "docs/uncertainty.md",
        "docs/updates.md",
        "docs/verdicts.md",
        "docs/your-own-system.md",
    ],
)
def test_snippets_run_as_written(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for snippet in snippets(page):
        exec(compile(snippet, page, "exec"), namespace)
    printed = capsys.readouterr().out
    assert printed
    for words in SAID.get(page, ()):
        assert words in printed


def test_the_example_system_is_short() -> None:
    (source,) = [s for s in snippets("docs/your-own-system.md") if "class Robots" in s]
    ast.parse(source)
    assert len(source.splitlines()) <= 45


def test_the_example_update_is_short() -> None:
    (source,) = [s for s in snippets("docs/updates.md") if "def perceptron" in s]
    ast.parse(source)
    assert len(source.splitlines()) < 30


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_versions_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {swarmdp.__version__}\n" in citation
    assert f"## {swarmdp.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_everything_public_is_there() -> None:
    for name in swarmdp.__all__:
        assert getattr(swarmdp, name) is not None
    assert set(swarmdp.__all__) == set(dir(swarmdp))
    with pytest.raises(AttributeError, match="no attribute 'fly'"):
        swarmdp.fly  # noqa: B018
