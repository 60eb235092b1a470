"""Every namespace that the package offers can be imported: `import swarmdp.errors`."""

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

import swarmdp
from swarmdp.irl.updates import max_margin
from swarmdp.support import errors

NAMESPACES = [name for name in dir(swarmdp) if isinstance(getattr(swarmdp, name), ModuleType)]


def run(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_these_are_the_namespaces() -> None:
    rooms = {"envs", "fitting", "irl", "judging", "learning", "model", "policies", "recordings"}
    rooms |= {"simulation", "theory"}
    assert set(NAMESPACES) == rooms | {"errors", "features", "testing", "updates"}


@pytest.mark.parametrize("name", NAMESPACES)
def test_a_namespace_is_imported_as_it_is_named(name: str) -> None:
    assert importlib.import_module(f"swarmdp.{name}") is getattr(swarmdp, name)


def test_the_first_import_may_be_that_of_a_namespace() -> None:
    for name in NAMESPACES:
        run(f"import swarmdp.{name} as imported, swarmdp; assert imported is swarmdp.{name}")


def test_names_are_imported_from_a_namespace() -> None:
    run("from swarmdp.errors import InvalidInput; assert issubclass(InvalidInput, ValueError)")
    run("from swarmdp.features import *; Angles(4)")


def test_modules_below_a_namespace_are_not_loaded_twice() -> None:
    assert importlib.import_module("swarmdp.updates.max_margin") is max_margin


def test_a_module_keeps_its_name_under_its_second_one() -> None:
    assert importlib.import_module("swarmdp.errors") is errors
    assert errors.__name__ == "swarmdp.support.errors"
    assert errors.__spec__ is not None
    assert errors.__spec__.name == "swarmdp.support.errors"


@pytest.mark.parametrize("name", ["swarmdp.nonsense", "swarmdp.updates.nonsense"])
def test_what_is_not_there_is_not_found(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match="nonsense"):
        importlib.import_module(name)


def test_errors_need_nothing_heavy() -> None:
    heavy = ["numpy", "numba", "scipy", "xarray", "matplotlib", "pandas"]
    run(f"import sys, swarmdp.errors; assert not set({heavy!r}) & set(sys.modules)")
