"""Docstrings of public names: complete, and their examples run as they stand."""

import doctest
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import swarmdp
from swarmdp import envs, theory
from swarmdp.model import testing

MODULES = {swarmdp: None, theory: None, envs: None, testing: ("check_system", "ContractViolation")}


def named() -> Iterator[tuple[str, Any]]:
    """Every public class and function."""
    for module, names in MODULES.items():
        for name in names or module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found) or inspect.isfunction(found):
                yield f"{module.__name__}.{name}", found


PUBLIC = dict(named())
FINDER = doctest.DocTestFinder(recurse=False)
EXAMPLES = [
    test
    for name, found in PUBLIC.items()
    for test in FINDER.find(found, name, globs={})
    if test.examples
]


def sections(found: Any) -> dict[str, str]:
    """The sections of a docstring in NumPy's style, by title."""
    parts = re.split(r"^(\w+)\n-{3,}\n", inspect.getdoc(found) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def explained(section: str) -> set[str]:
    """The arguments that a section explains; several may share a line."""
    lines = re.findall(r"^(\w.*)$", section, flags=re.MULTILINE)
    return {name.strip() for line in lines for name in line.split(",")}


def arguments(found: Any) -> set[str]:
    """What a caller may give; protocols and errors are made by others."""
    if inspect.isclass(found) and (
        issubclass(found, Exception) or getattr(found, "_is_protocol", False)
    ):
        return set()
    taken = inspect.signature(found).parameters.values()
    names = {p.name for p in taken if p.kind is not p.VAR_KEYWORD}
    return names | {p.name for p in taken if p.kind is p.VAR_KEYWORD}


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings_are_complete(name: str) -> None:
    found = PUBLIC[name]
    written = sections(found)
    missing = arguments(found) - explained(written.get("Parameters", ""))
    assert not missing, f"{name} does not explain {sorted(missing)}"
    assert ">>> " in written.get("Examples", ""), f"{name} has no example"
    assert "+SKIP" not in written["Examples"], f"the example of {name} does not run"
    if inspect.isfunction(found):
        assert "Raises" in written, f"{name} does not say what it raises"
        silent = inspect.signature(found).return_annotation is None
        assert silent or "Returns" in written, f"{name} does not say what it returns"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda test: test.name)
def test_examples_do_what_they_show(
    example: doctest.DocTest, capsys: pytest.CaptureFixture[str]
) -> None:
    found = doctest.DocTestRunner().run(example)
    assert not found.failed, capsys.readouterr().out
