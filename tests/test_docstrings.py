"""Docstrings of public names: complete, and their examples run as they stand."""

import doctest
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import swarmdp
import swarmdp.report

NAMESPACES = [
    swarmdp,
    *(value for name in dir(swarmdp) if inspect.ismodule(value := getattr(swarmdp, name))),
    swarmdp.report,
]


def names_in(namespace: ModuleType) -> list[str]:
    """The public names of a namespace: all that it lists, or else all that it defines."""
    if hasattr(namespace, "__all__"):
        return list(namespace.__all__)
    return [
        name
        for name, value in vars(namespace).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == namespace.__name__
    ]


def named() -> Iterator[tuple[str, Any]]:
    """Every public class and function, once."""
    seen: set[int] = set()
    for namespace in NAMESPACES:
        for name in names_in(namespace):
            member = getattr(namespace, name)
            if (inspect.isclass(member) or inspect.isfunction(member)) and id(member) not in seen:
                seen.add(id(member))
                yield f"{namespace.__name__}.{name}", member


PUBLIC = dict(named())
FINDER = doctest.DocTestFinder(recurse=False)
EXAMPLES = [
    test
    for name, public in PUBLIC.items()
    for test in FINDER.find(public, name, globs={})
    if test.examples
]


def sections(member: Any) -> dict[str, str]:
    """The sections of a docstring in NumPy's style, by title."""
    parts = re.split(r"^(\w+)\n-{3,}\n", inspect.getdoc(member) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def explained(section: str) -> set[str]:
    """The arguments that a section explains; several may share a line."""
    lines = re.findall(r"^(\w.*)$", section, flags=re.MULTILINE)
    return {name.strip() for line in lines for name in line.split(",")}


def arguments(member: Any) -> set[str]:
    """What a caller may give; protocols and errors are made by others."""
    if inspect.isclass(member) and (
        issubclass(member, BaseException) or getattr(member, "_is_protocol", False)
    ):
        return set()
    taken = inspect.signature(member).parameters.values()
    names = {p.name for p in taken if p.kind is not p.VAR_KEYWORD}
    return names | {p.name for p in taken if p.kind is p.VAR_KEYWORD}


def test_all_namespaces_are_covered() -> None:
    rooms = "envs fitting irl judging learning model policies recordings report simulation"
    attributes = "errors features testing theory updates"
    covered = {namespace.__name__.rpartition(".")[2] for namespace in NAMESPACES}
    assert covered == {"swarmdp", *rooms.split(), *attributes.split()}
    assert len(PUBLIC) > 110


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings_are_complete(name: str) -> None:
    member = PUBLIC[name]
    written = sections(member)
    missing = arguments(member) - explained(written.get("Parameters", ""))
    assert not missing, f"{name} does not explain {sorted(missing)}"
    assert ">>> " in written.get("Examples", ""), f"{name} has no example"
    assert "+SKIP" not in written["Examples"], f"the example of {name} does not run"
    if inspect.isfunction(member):
        assert "Raises" in written, f"{name} does not say what it raises"
        silent = inspect.signature(member).return_annotation is None
        assert silent or "Returns" in written, f"{name} does not say what it returns"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda test: test.name)
def test_examples_do_what_they_show(
    example: doctest.DocTest, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = doctest.DocTestRunner().run(example)
    assert not outcome.failed, capsys.readouterr().out
