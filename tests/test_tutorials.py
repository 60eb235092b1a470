"""Tutorials are scripts; their notebooks are made from them, and run."""

import re
from pathlib import Path

import jupytext
import nbclient
import nbformat
import pytest

from tests.examples import ROOT

SCRIPTS = sorted((ROOT / "docs" / "tutorials").glob("*.py"))
SAID = {  # what readers are told to see
    "own_tracks": (
        "12 individuals in 6000 frames",
        "An interaction was found",
        "among the 5.0 ± 0.5 nearest",
        "interaction not found",
    ),
    "own_system": ("Verdict: reproduces the demo", "the others are left : reward"),
    "paper": ("5 of 5 learned swarms reproduce", "highest at 0 degrees"),
}


def sources(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_notebook_is_the_script_and_runs(script: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    assert sources(notebook) == sources(jupytext.read(script))
    assert not any(cell.get("outputs") for cell in notebook.cells)
    run = nbclient.NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    printed = re.sub(r"\s+", " ", str([cell.get("outputs", "") for cell in run.cells]))
    assert ("image/png" in printed) == (".plot()" in script.read_text(encoding="utf-8"))
    for words in SAID[script.stem]:
        assert words in printed
