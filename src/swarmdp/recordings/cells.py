"""Cells of tables: columns as plain arrays, numbers in them, and where a wrong one stands."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput


def plain(values: Any) -> NDArray[Any]:
    """A column as an array: pandas' own types as NumPy's."""
    import pandas

    if isinstance(values, np.ndarray):
        return values
    series = pandas.Series(values)
    if isinstance(series.dtype, np.dtype):
        return np.asarray(series)
    if isinstance(series.dtype, pandas.DatetimeTZDtype):
        return np.asarray(series.dt.tz_convert("UTC").dt.tz_localize(None))
    if isinstance(series.dtype, pandas.CategoricalDtype):
        return np.asarray(series.astype(object))
    kind = series.dtype.kind
    if kind in "iuf":
        if series.isna().any():
            return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(series.to_numpy(dtype=f"{kind}8"))
    return np.asarray(series.to_numpy(dtype=object))


def numbers(name: str, values: Any, first: int) -> NDArray[np.float64]:
    """A column of numbers; an empty cell is NaN."""
    import pandas

    array = plain(values)
    if array.dtype.kind in "iuf":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind not in "OUST":
        raise InvalidInput(f"column {name!r} must hold numbers, got {array.dtype}")
    series = pandas.Series(array)
    values = pandas.to_numeric(series, errors="coerce")
    booleans = series.map(lambda entry: isinstance(entry, bool))
    wrong = np.asarray(values.isna() & series.notna() | booleans)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidInput(
            f"{place_of(wrong, name, first)} is {brief(series.iloc[row])}, not a number"
        )
    return np.asarray(values, dtype=np.float64)


def place_of(wrong: NDArray[np.bool_], name: str, first: int) -> str:
    """Where the first wrong value stands."""
    return f"row {int(np.argmax(wrong)) + first} of column {name!r}"
