"""House rules that no linter checks: how long functions are, and how many parameters they have."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.examples import ROOT

MOST_LINES = 100  # of a function, with its docstring
MOST_PARAMETERS = 14

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    """Every function and method of the package, with its place."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                yield f"{path.relative_to(ROOT)}: {node.name}", node


def lines_of(function: Function) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def parameters_of(function: Function) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return len(named) + (arguments.vararg is not None) + (arguments.kwarg is not None)


def test_all_of_the_package_is_looked_at() -> None:
    files = {place.split(":")[0] for place, _ in functions()}
    rooms = {Path(file).parts[2] for file in files if len(Path(file).parts) > 3}
    assert {"cli", "fitting", "irl", "judging", "kernels", "recordings", "report"} <= rooms
    assert "src/swarmdp/recordings/analysis.py" in files


def test_no_function_is_longer_than_a_hundred_lines() -> None:
    long = {place: lines_of(f) for place, f in functions() if lines_of(f) > MOST_LINES}
    assert not long, f"split into named steps: {long}"


def test_no_function_has_more_than_fourteen_parameters() -> None:
    many = {
        place: parameters_of(f) for place, f in functions() if parameters_of(f) > MOST_PARAMETERS
    }
    assert not many, f"put some of them into a dataclass: {many}"
