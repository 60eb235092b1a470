"""The table of slow tests names tests that exist, and marks these alone."""

import ast

import pytest

from tests.examples import ROOT
from tests.slow import SLOW, is_left_out, reason


@pytest.mark.parametrize("row", SLOW)
def test_every_row_names_tests(row: str) -> None:
    path, _, name = row.partition("::")
    assert (ROOT / path).exists()
    if name:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_folders_files_and_tests_are_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"tests/a": "folder", "tests/b.py": "file", "tests/c.py::test_d": "test"}
    monkeypatch.setattr("tests.slow.SLOW", rows)
    assert reason("tests/a/deep/test_x.py::test_y[1::2]") == "folder"
    assert reason("tests/b.py::test_y") == "file"
    assert reason("tests/c.py::test_d[tests/a]") == "test"
    for quick in ("tests/ab/test_x.py::test_y", "tests/c.py::test_dd", "tests/test_b.py::test_y"):
        assert reason(quick) is None


@pytest.mark.parametrize("marks", ["slow", "not slow", "", "slow or not slow"])
def test_only_files_without_a_chosen_test_are_left_out(marks: str) -> None:
    nodes = {"tests/benchmarks/test_x.py": {True}, "tests/test_slow.py": {False}}
    nodes["tests/paper/test_engine.py"] = {True, False}
    chosen = {"slow": {True}, "not slow": {False}}.get(marks, {True, False})
    for path, slow in nodes.items():
        assert is_left_out(path, marks) == (not slow & chosen)


def test_the_marker_is_set(request: pytest.FixtureRequest) -> None:
    marked = {item.nodeid for item in request.session.items if item.get_closest_marker("slow")}
    assert marked == {item.nodeid for item in request.session.items if reason(item.nodeid)}
