"""What keeps a version from being released is found."""

from pathlib import Path

import pytest

import hatch_build
from tools import release_check
from tools.release_check import Problem


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is ready, but for what a test changes."""
    (tmp_path / "src" / "swarmdp").mkdir(parents=True)
    (tmp_path / "src" / "swarmdp" / "_version.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CITATION.cff").write_text("a: b\nversion: 1.2.3\ndate-released: 2030-01-02\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 (2030-01-02)\n")
    (tmp_path / "README.md").write_text("# swarmdp\n")
    (tmp_path / "pyproject.toml").write_text('repository = "https://example.org/x"\n')
    monkeypatch.setattr(release_check, "ROOT", tmp_path)
    release_check.run("git", "init", "-q", cwd=tmp_path)
    name = ("-c", "user.name=a", "-c", "user.email=a@b")
    release_check.run("git", "add", "-A", cwd=tmp_path)
    release_check.run("git", *name, "commit", "-qm", "all", cwd=tmp_path)
    return tmp_path


def test_a_version_that_agrees_everywhere(project: Path) -> None:
    assert release_check.version() == "1.2.3 of 2030-01-02, no tag yet"
    release_check.run("git", "tag", "v1.2.3")
    assert release_check.version() == "1.2.3 of 2030-01-02"
    assert len(release_check.committed()) >= 7
    assert release_check.readme() == "1 lines, links to https://example.org/x"


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("CITATION.cff", "a: b\nversion: 1.2.2\n", "CITATION.cff does not say version: 1.2.3"),
        ("CHANGELOG.md", "## 1.2.2 (2030-01-01)\n", "no heading"),
        ("CHANGELOG.md", "## 1.2.3 (unreleased)\n", "another date"),
        ("src/swarmdp/_version.py", "", "has no version"),
    ],
)
def test_versions_that_disagree(project: Path, file: str, text: str, words: str) -> None:
    (project / file).write_text(text)
    with pytest.raises(Problem, match=words):
        release_check.version()
    with pytest.raises(Problem, match="1 files are not committed"):
        release_check.committed()


def test_a_tag_of_another_version(project: Path) -> None:
    release_check.run("git", "tag", "v1.2.4")
    with pytest.raises(Problem, match=r"not v1\.2\.3"):
        release_check.version()


def test_a_long_readme(project: Path) -> None:
    (project / "README.md").write_text("line\n" * 121)
    with pytest.raises(Problem, match="121 lines"):
        release_check.readme()


def test_links_and_pictures_of_the_readme_become_absolute() -> None:
    text = "[a](docs/a.md) ![b](b.png) [c](https://c.org) [d](#d)"
    assert hatch_build.absolute(text, "https://h.org/x") == (
        "[a](https://h.org/x/blob/HEAD/docs/a.md) ![b](https://h.org/x/raw/HEAD/b.png) "
        "[c](https://c.org) [d](#d)"
    )
    assert set(hatch_build.project_links("https://h.org/x")) >= {"Source", "Issues", "Changelog"}


def test_a_readme_without_an_address_says_so(project: Path) -> None:
    (project / "pyproject.toml").write_text('repository = ""\n')
    assert "no address yet" in release_check.readme()


def test_licences(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "packages" in release_check.licences()
    monkeypatch.setattr(release_check, "FREE", ("Nobody's",))
    with pytest.raises(Problem, match="numpy"):
        release_check.licences()


def test_pages_that_ask_for_something_or_lead_nowhere(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_check, "run", lambda *_, **__: "")
    site = project / "docs" / "_build" / "html"
    site.mkdir(parents=True)
    page = site / "index.html"
    page.write_text('<a href="https://example.org">out</a> <a href="index.html#x">in</a>')
    assert release_check.documentation() == "1 pages, all links lead somewhere"
    page.write_text('<a class="x" href="nowhere.html">in</a>')
    with pytest.raises(Problem, match=r"index.html -> nowhere.html"):
        release_check.documentation()
    page.write_text('<script src="https://example.org/a.js"></script>')
    with pytest.raises(Problem, match="loads something"):
        release_check.documentation()


def test_failures_are_told_and_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Problem, match="failed"):
        release_check.run("git", "no-such-command")

    def bad() -> str:
        raise Problem("no")

    monkeypatch.setattr(release_check, "CHECKS", (bad, lambda: "well"))
    with pytest.raises(SystemExit) as left:
        release_check.main()
    assert left.value.code == 1
    assert "PROBLEM: no" in capsys.readouterr().out
