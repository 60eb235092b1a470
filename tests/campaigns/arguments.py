"""Wrong arguments to every public name, generated from signatures.

An attempt is a call written as Python: a right one (`calls.py`) in which one argument, sometimes
two, is replaced by something hostile. What may come of it: an error of swarmdp that explains
itself, or a result. A NaN that is accepted is a failure, and so is a number of NumPy's that is
refused where Python's is accepted.
"""

import itertools
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.campaigns.calls import CALLS, MAY_BE_NAN, NAMESPACE, Call
from tests.campaigns.framework import ACCEPTED, Attempt, Campaign, perform

NAN_ACCEPTED = "NaN accepted"
NUMPY_REFUSED = "NumPy refused"


@dataclass(frozen=True)
class Hostile:
    """Something to put in the place of an argument; `{}` stands for the right one."""

    text: str
    nan: bool = False


# In the place of anything.
ANYTHING = [
    *("None", "True", "False", "0", "1", "-1", "2", "3.5", "-0.0", "1e308", "1e-320", "10**12"),
    *("2**31", "2**32", "2**63", "2**64", "10**30", "10**400", "-(2**63)", "1j", "''", "'x'"),
    *("'states'", "'\\0'", "'x' * 300", "b'x'", "[]", "()", "{}", "set()", "[1, 2]", "(1, 2)"),
    *("{'x': 1}", "[[1], [2, 3]]", "['a', 'b']", "[None]", "object()", "object", "int"),
    *("print", "lambda *a, **k: None", "lambda *a, **k: a[0]", "lambda *a, **k: 'x'", "..."),
    *("lambda *a, **k: np.nan", "lambda *a, **k: np.zeros((1, 1))", "iter([1, 2])", "range(3)"),
    *("np.array(1.0)", "np.zeros(0)", "np.zeros((0, 3))", "np.zeros(3)", "np.ones((2, 2))"),
    *("np.ones((2, 3, 4))", "np.zeros((2, 3, 4, 5))", "np.arange(4)", "np.ones(3, complex)"),
    *("np.array(['a', 'b'])", "np.array([None, 1])", "np.ones(3, bool)", "np.array([1, 'x'])"),
    *(
        "np.ma.array([1.0, 2.0], mask=[0, 1])",
        "np.array(['2020-01-01'], 'M8[D]')",
        "np.timedelta64(1, 's')",
    ),
    *("np.matrix([[1.0, 2.0]])", "np.zeros(2, [('a', float)])", "np.uint8(7)", "np.float16(1)"),
    *("np.longdouble(1) / 3", "np.str_('x')", "np.bool_(True)", "pandas.Series([1.0, 2.0])"),
    *("pandas.DataFrame({'a': [1.0]})", "pandas.NA", "pandas.Timestamp('2020')", "Decimal('0.5')"),
    *(
        "Fraction(1, 2)",
        "Path('nowhere')",
        "Path('.')",
        "'nowhere.nc'",
        "'file.json'",
        "io.BytesIO()",
    ),
    *("VICSEK", "ISING", "GRID", "MDP", "RING", "POLICY", "SOFT", "REWARD", "DEMO", "RESULT"),
    *("swarmdp.Vicsek", "swarmdp.Policy", "swarmdp", "STREAM", "STREAMS", "EVIDENCE", "STATE"),
    *("ISING_STATE", "ENUMERATION", "CONE", "AXIS", "Refusing()", "Raising()", "Endless()"),
    *(
        "WrongSystem()",
        "swarmdp.Angles(36)",
        "swarmdp.Levels(3)",
        "BASIS",
        "np.random.default_rng(1)",
    ),
    *("np.inf", "-np.inf", "np.full(3, np.inf)", "SubInt(3)", "SubFloat(0.5)", "SubStr('x')"),
    *(
        "Colour.RED",
        "type('T', (), {})()",
        "memoryview(b'ab')",
        "bytearray(8)",
        "array('d', [1, 2])",
    ),
]
NOT_A_NUMBER = ["np.nan", "float('nan')", "np.float32('nan')", "[np.nan]", "np.full(3, np.nan)"]

# Made from the right one, where that is a number ...
NUMBERS = [
    *(
        "-({})",
        "({}) * 10",
        "({}) * 10**9",
        "({}) + 0.5",
        "({}) * 1e300",
        "({}) / 3",
    ),
    *(
        "str({})",
        "[{}]",
        "np.array({})",
        "np.array([{}])",
        "complex({})",
        "bool({})",
        "SubFloat({})",
    ),
    *("({}) + 1", "({}) - 1", "({}) * 0", "float({})", "int({})", "({}, {})", "Decimal({})"),
]
# ... of which these are the same, so that they have to be accepted ...
SAME_INTEGERS = ["np.int64({})", "np.uint32({})", "np.int32({})"]
SAME_FLOATS = ["np.float64({})", "np.float32({})", "np.array([float({})])[0]"]
# ... or an array, or arrays by name ...
ARRAYS = [
    *(
        "byteswapped({})",
        "readonly({})",
        "masked({})",
        "subclassed({})",
        "framed({})",
        "reversed_({})",
    ),
    *("shorter({})", "longer({})", "flattened({})", "deeper({})", "transposed({})", "emptied({})"),
    *("narrowed({})", "widened({})", "as_integers({})", "as_complex({})", "as_objects({})"),
    *(
        "as_texts({})",
        "as_booleans({})",
        "as_lists({})",
        "strided({})",
        "negated({})",
        "scaled({})",
    ),
    *("one_less_agent({})", "one_more_run({})", "one_coordinate({})", "three_coordinates({})"),
    *("infinite({})", "one_changed({})", "without_one({})", "with_another({})", "swapped({})"),
]
BROKEN = ["with_nan({})", "all_nan({})"]
# ... or a text.
TEXTS = [
    "({}).upper()",
    "({}) + 'x'",
    "({})[:-1]",
    "({}).encode()",
    "[{}]",
    "SubStr({})",
    "np.str_({})",
]


def hostile(right: str | None, value: object, which: int) -> list[Hostile]:
    """All that may be put in the place of an argument; of several arrays one is changed."""
    values = [Hostile(text) for text in ANYTHING] + [
        Hostile(text, nan=True) for text in NOT_A_NUMBER
    ]
    if right is None:
        return values
    if isinstance(value, int | float) and not isinstance(value, bool):
        texts = NUMBERS + SAME_FLOATS + (SAME_INTEGERS if isinstance(value, int) else [])
        return values + 2 * [Hostile(text.replace("{}", right)) for text in texts]
    if isinstance(value, str):
        return values + 2 * [Hostile(text.replace("{}", right)) for text in TEXTS]
    if isinstance(value, np.ndarray | list | tuple | dict) or hasattr(value, "variables"):
        if isinstance(value, Mapping):
            right = f"{right}, {which}"
        made = [Hostile(text.replace("{}", right)) for text in ARRAYS]
        made += [Hostile(text.replace("{}", right), nan=True) for text in BROKEN]
        return values + 4 * made
    return values


def campaign(warm: bool = True) -> Campaign:
    """The campaign of wrong arguments; if `warm`, what compiles does so before children start."""
    if warm:
        here = Path.cwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            write_files()
            for attempt in right_calls():
                perform(attempt)
            os.chdir(here)
    return Campaign("arguments", _attempt, prepare=write_files)


def right_calls() -> Iterator[Attempt]:
    """Every call as it should be: each must be accepted, or nothing is learned from it."""
    for call in CALLS:
        yield _of(call, dict(call.arguments), nan=False, same=False)


def same_calls() -> Iterator[Attempt]:
    """Every call with one of NumPy's numbers in the place of Python's."""
    for call in CALLS:
        for name, text in call.arguments.items():
            value = eval(text, NAMESPACE) if text[:1].isdigit() else None
            if isinstance(value, int | float):
                makers = SAME_INTEGERS[:1] if isinstance(value, int) else SAME_FLOATS[:1]
                for make in makers:
                    changed = {**call.arguments, name: make.replace("{}", text)}
                    yield _of(call, changed, nan=False, same=True)


def _attempt(rng: np.random.Generator) -> Attempt:
    call = CALLS[rng.integers(len(CALLS))]
    arguments = dict(call.arguments)
    names = [*call.parameters]
    if not names or rng.random() < 0.01:
        arguments["unknown"] = "1"
        return _of(call, arguments, nan=False, same=False)
    broken: dict[str, bool] = {}
    for _ in range(1 + int(rng.random() < 0.15)):
        name = names[rng.integers(len(names))]
        if rng.random() < 0.01:
            arguments.pop(name, None)
            broken[name] = False
            continue
        right = call.arguments.get(name)
        value = None if right is None else eval(right, NAMESPACE)
        choices = hostile(right, value, int(rng.integers(3)))
        chosen = choices[rng.integers(len(choices))]
        arguments[name] = chosen.text
        broken[name] = chosen.nan and not MAY_BE_NAN & {call.name, f"{call.name} {name}"}
    return _of(call, arguments, any(broken.values()), same=False)


def _of(call: Call, arguments: dict[str, str], nan: bool, same: bool) -> Attempt:
    text = call.written(arguments)

    def run() -> str:
        try:
            value = eval(text, NAMESPACE)
        except ValueError as error:
            if same and "swarmdp" in type(error).__module__:
                return NUMPY_REFUSED
            raise
        if isinstance(value, Iterator):
            list(itertools.islice(value, 2))
        return NAN_ACCEPTED if nan else ACCEPTED

    return Attempt(call.name, f"from tests.campaigns.calls import *\n{text}", run)


def write_files() -> None:
    """Files that right calls read, in the present folder."""
    for make in (
        "DEMO.save('demo.nc')",
        "RESULT.save('result')",
        "POLICY.export('file.json', system=VICSEK)",
        "FRAME.to_csv('tracks.csv', index=False)",
    ):
        eval(make, NAMESPACE)
