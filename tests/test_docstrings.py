"""Examples in docstrings of public names are run as they stand."""

import doctest
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import swarmdp
from swarmdp import theory


def named() -> Iterator[tuple[str, Any]]:
    """Every public class and function."""
    for module in (swarmdp, theory):
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found) or inspect.isfunction(found):
                yield f"{module.__name__}.{name}", found


FINDER = doctest.DocTestFinder(recurse=False)
EXAMPLES = [
    test for name, found in named() for test in FINDER.find(found, name, globs={}) if test.examples
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda test: test.name)
def test_examples_do_what_they_show(
    example: doctest.DocTest, capsys: pytest.CaptureFixture[str]
) -> None:
    found = doctest.DocTestRunner().run(example)
    assert not found.failed, capsys.readouterr().out
