"""Times as people write them: seconds, dates in several habits, times of day."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.cells import place_of, plain
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput

_CLOCK = re.compile(r"(\d{1,3}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s*([AaPp])?\.?[Mm]?\.?")
_DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[ T,]+(.*))?")
_DAY = 86400.0
_PAUSE = _DAY / 4  # without a time, in the night in which a clock begins again at 0:00
_PEEK = 5  # rows by which it is known how times are written


def seconds_since_first(
    name: str, values: Any, first: int
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """A column of dates or times of day in seconds since the first, and what was guessed."""
    import pandas

    array = plain(values)
    said: tuple[str, ...] = ()
    if array.dtype.kind in "OUST":
        series = pandas.Series(array)
        known = series.dropna().astype(str).str.strip()
        if len(known) and known.head(_PEEK).map(lambda text: bool(_CLOCK.fullmatch(text))).all():
            return _of_clock(name, series, first)
        if len(known) and known.head(_PEEK).map(lambda text: bool(_DATE.fullmatch(text))).all():
            array, said = _of_local_dates(name, series, first)
        else:
            array = _of_iso_dates(name, series, first)
    if array.dtype.kind not in "mM":
        raise InvalidInput(f"column {name!r} must hold dates or times of day, got {array.dtype}")
    missing = np.isnat(array)
    if missing.any():
        raise InvalidInput(f"{place_of(missing, name, first)} is empty, not a time")
    seconds = (array - array.min()) / np.timedelta64(1, "ns") * 1e-9
    return np.asarray(seconds, dtype=np.float64), said


def is_clock(values: Any) -> bool:
    """Whether a column begins with times of day, without a date."""
    texts = [str(value).strip() for value in plain(values)[:_PEEK]]
    return bool(texts) and all(_CLOCK.fullmatch(text) for text in texts)


def _of_clock(name: str, series: Any, first: int) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Times such as 12:34:56.7; 12:34 is hours and minutes, or minutes and seconds."""
    parts = series.astype(str).str.strip().str.extract(_CLOCK.pattern + r"\Z")
    wrong = np.asarray(parts[0].isna())
    if wrong.any():
        raise InvalidInput(_not_a_time(wrong, name, series, first))
    short = bool(parts[2].isna().all())
    if not short and parts[2].isna().any():
        raise InvalidInput(
            f"{place_of(np.asarray(parts[2].isna()), name, first)} has no seconds, and others have"
        )
    large, small = (parts[column].astype(float).to_numpy() for column in (0, 1))
    if short:
        if (large > 23).any():
            return _since(60 * large + small), ("times such as 75:30 are minutes and seconds",)
        raise InvalidInput(
            f"column {name!r} has times such as {brief(series.iloc[0])}: minutes and seconds, or "
            "hours and minutes? Write them as 0:12:34 or 12:34:00, or as seconds"
        )
    seconds = parts[2].str.replace(",", ".").astype(float).to_numpy()
    late = parts[3].str.lower()
    if late.notna().any():
        large = large % 12 + 12 * (late == "p").to_numpy()
    times = 3600 * large + 60 * small + seconds
    said = ("times have no date: they are taken to be of one day",)
    distinct = np.unique(times)
    if len(distinct) > 1 and np.diff(distinct).max() > _PAUSE and np.ptp(times) > _DAY / 2:
        raise InvalidInput(
            f"the times in column {name!r} have no date, and go past midnight: give dates, or "
            "seconds"
        )
    return _since(times), said


def _since(times: NDArray[np.float64]) -> NDArray[np.float64]:
    # Decimal fractions of a second are not exact after the hours were added.
    return np.asarray(np.round(times - times.min(), 6))


def _of_iso_dates(name: str, series: Any, first: int) -> NDArray[Any]:
    import pandas

    dates = pandas.to_datetime(series, errors="coerce", format="ISO8601", utc=True)
    wrong = np.asarray(dates.isna())
    if wrong.any():
        raise InvalidInput(_not_a_time(wrong, name, series, first))
    return np.asarray(dates.dt.tz_localize(None))


def _of_local_dates(name: str, series: Any, first: int) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Dates such as 31.5.2026 12:00:00 or 5/31/2026 12:00:00 PM."""
    import pandas

    parts = series.astype(str).str.strip().str.extract(_DATE.pattern + r"\Z")
    wrong = np.asarray(parts[0].isna())
    if wrong.any():
        raise InvalidInput(_not_a_time(wrong, name, series, first))
    one, two = parts[0].astype(int), parts[2].astype(int)
    mark = str(parts[1].iloc[0])
    one_day = len(pandas.concat([one, two, parts[3]], axis=1).drop_duplicates()) == 1
    if (one > 12).any() or mark == ".":
        days, months, order = one, two, "day, month, year"
    elif (two > 12).any() or one_day:
        days, months, order = two, one, "month, day, year"
    else:
        raise InvalidInput(
            f"column {name!r} has dates such as {brief(series.iloc[0])}: is the day or the month "
            "first? Write them as 2026-05-31 12:00:00"
        )
    if one_day and int(months.iloc[0]) > 12:
        days, months = months, days
    clock = parts[4].fillna("0:00:00").str.replace(",", ".")
    texts = parts[3] + "-" + months.astype(str).str.zfill(2) + "-" + days.astype(str).str.zfill(2)
    times = clock.str.extract(_CLOCK.pattern + r"\Z")
    wrong = np.asarray(times[0].isna())
    if wrong.any():
        raise InvalidInput(_not_a_time(wrong, name, series, first))
    hours = times[0].astype(int)
    late = times[3].str.lower()
    hours = hours.where(late.isna(), hours % 12 + 12 * (late == "p").astype(int))
    texts += "T" + hours.astype(str).str.zfill(2) + ":" + times[1] + ":" + times[2].fillna("00")
    dates = pandas.to_datetime(texts, errors="coerce", format="ISO8601")
    wrong = np.asarray(dates.isna())
    if wrong.any():
        raise InvalidInput(_not_a_time(wrong, name, series, first))
    said = () if one_day else (f"dates such as {series.iloc[0]} are read as {order}",)
    return np.asarray(dates), said


def _not_a_time(wrong: NDArray[np.bool_], name: str, series: Any, first: int) -> str:
    value = series.iloc[int(np.argmax(wrong))]
    return (
        f"{place_of(wrong, name, first)} is {brief(value)}, not a time: give seconds, or dates as "
        "2026-05-01T12:00:00.040"
    )
