"""Long tables, a row for each individual in each frame: which column is what, and into an array.

Which column is what is guessed by its name, and it is said what was guessed. Units are taken from
a name that tells them ("x_cm", "y [mm]", "time_ms"), and otherwise not at all.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.recordings.cells import numbers, place_of, plain
from swarmdp.recordings.clock_times import is_clock, seconds_since_first
from swarmdp.recordings.logged_headings import logged_headings
from swarmdp.recordings.raw_tracks import Tracks, check_table_fits
from swarmdp.support.checks import brief
from swarmdp.support.errors import InvalidInput

ROLES = ("frame", "time", "individual", "x", "y", "z", "heading")
KIND = "kind"  # a role that is never guessed: what each individual is
GUESSES = {
    "frame": "frame frame_id frameid frame_number framenumber frame_no frame_nr frame_idx "
    "frame_index framenum frames fr image image_number",
    "time": "time t timestamp time_stamp datetime date_time seconds sec clock utc_time local_time "
    "gps_time fix_time time_utc timestamp_utc",
    "individual": "individual individuals individual_id id ids particle particle_id track track_id "
    "trackid tracks animal animal_id fish fish_id agent agent_id robot robot_id ped ped_id "
    "pedestrian pedestrian_id person person_id persid object object_id identity bird bird_id cell "
    "cell_id name label tag tag_id sheep sheep_id cow cow_id animal_no individual_local_identifier",
}
GUESSES["heading"] = (
    "heading heading_rad heading_deg heading_angle orientation orientation_rad orientation_deg "
    "theta theta_rad theta_deg yaw yaw_rad yaw_deg bearing_deg course"
)
DATES = "date day datum gps_date utc_date local_date"
_AXES = (
    "{0} {0}_pos pos_{0} {0}pos pos{0} position_{0} {0}_position {0}_coord coord_{0} {0}_center "
)
_AXES += "{0}_centre center_{0} centroid_{0} {0}_centroid {0}_coordinate {0}coord location_{0} p{0}"
GUESSES |= {axis: _AXES.format(axis) for axis in "xyz"}
GUESSES["x"] += " easting"
GUESSES["y"] += " northing"
LENGTHS = {
    "px": "px pixel pixels pix",
    "um": "um µm μm micron microns micrometer micrometre",
    "mm": "mm millimeter millimetre",
    "cm": "cm centimeter centimetre",
    "m": "m meter metre meters metres",
    "km": "km",
    "BL": "bl bodylength bodylengths",
}
SPANS = {1.0: "s sec secs second seconds", 1e-3: "ms msec millisecond milliseconds"}
SPANS |= {1e-6: "us µs μs microsecond microseconds", 1e-9: "ns nanosecond nanoseconds"}
_OFF = 0.25  # of a frame that a time may lie beside it
LARGE, LEAST_FILLED = 10**7, 1e-3  # places, and the share of them that has a row at least
MANY = 20  # steps from one point of an individual to the next that show how far apart frames are
ALONE = "1"  # the name of an individual that is alone
EXACT = 2**53  # from here on floats do not hold all whole numbers
PAUSE = 3  # spacings of frames without anybody: after a pause other frames may be counted
_DENSE = 16  # a lookup table may be this many times as long as there are rows


@dataclass(frozen=True)
class ChosenColumns:
    """Which column is what, and the units that their names tell."""

    columns: Mapping[str, str]  # from role to name
    unit: str | None
    seconds: float | None  # of one unit of time; None if unknown
    notes: tuple[str, ...]
    date: str | None = None  # a column with the dates of which `time` has the times of day


def choose_columns(
    names: Sequence[Any],
    columns: Mapping[str, str] | None,
    peek: Callable[[str], Any] | None = None,
) -> ChosenColumns:
    """Which column is what; those in `columns` are given, others are guessed by their names.

    With the first rows of a column (`peek`), the only column of labels is the individual.

    Raises InvalidInput if one is missing, or if several would do.
    """
    given = dict(columns or {})
    for role, name in given.items():
        if role not in (*ROLES, KIND):
            raise InvalidInput(
                f"columns names what there is of {', '.join((*ROLES, KIND))}, got {brief(role)}: "
                'such as columns={"individual": "fish", "x": "x_cm"}'
            )
        if list(names).count(name) != 1:
            problem = "there is no" if name not in names else "there are several columns with the"
            raise InvalidInput(f"{problem} column {brief(name)} ({role}): {_list_names(names)}")
    guessed = {}
    for role in ROLES:
        if role in given:
            continue
        fitting = [name for name in names if name not in given.values() and fits(name, role)]
        exact = [name for name in fitting if str(name).strip().lower() == role]
        if len(fitting) > 1 and len(exact) == 1 and not _lengths_differ(fitting, role):
            fitting = exact
        if len(fitting) > 1 and role == "heading":
            continue  # it can be done without
        if len(fitting) > 1:
            raise InvalidInput(
                f"columns {' and '.join(map(repr, fitting))} may each be the {role}: choose one, "
                f'columns={{"{role}": {fitting[0]!r}}}'
            )
        if fitting:
            guessed[role] = fitting[0]
    roles = given | guessed
    if "individual" not in roles and peek is not None:
        others = [name for name in names if name not in roles.values() and not _is_date(name)]
        labels = [name for name in others if _is_label(peek(name))]
        if not labels:
            labels = [name for name in others if _tells_apart(roles, peek, name)]
        if len(labels) == 1:
            roles["individual"] = guessed["individual"] = labels[0]
        elif not labels and {"x", "y"} <= set(roles) and _no_frame_twice(roles, peek):
            roles["individual"] = ALONE
    for role in ("individual", "x", "y"):
        if role not in roles:
            raise InvalidInput(
                f"no column looks like the {role}: name it, "
                f'columns={{"{role}": ...}}; {_list_names(names)}'
            )
    if "frame" not in roles and "time" not in roles:
        raise InvalidInput(
            "no column looks like the frame or the time: name one, "
            f'columns={{"frame": ...}} or columns={{"time": ...}}; {_list_names(names)}'
        )
    if "time" in given and "frame" not in given:
        roles.pop("frame", None)
    if "frame" in roles and "time" in guessed and seconds_of(roles["time"]) is None:
        del roles["time"]  # it would tell nothing
    words = [
        f"{role} is column {roles[role]!r}"
        for role in guessed
        if role in roles and role != "heading"  # of which more is said
    ]
    notes = (f"guessed: {', '.join(words)}",) if words else ()
    if roles["individual"] == ALONE:
        del roles["individual"]
        notes = (*notes, "no column tells individuals apart: all rows are of one")
    date = None
    if "time" in roles and "frame" not in roles and peek is not None:
        dates = [name for name in names if name not in roles.values() and _is_date(name)]
        if len(dates) == 1 and is_clock(peek(roles["time"])):
            date = dates[0]
            notes = (*notes, f"dates are in column {date!r}, times of day in {roles['time']!r}")
    unit = _unit_of({role: roles[role] for role in "xyz" if role in roles})
    seconds = seconds_of(roles["time"]) if "time" in roles else None
    return ChosenColumns(roles, unit, seconds, notes, date)


def _is_label(values: Any) -> bool:
    """Whether a column holds texts, each of them in several rows."""
    array = plain(values)
    if array.dtype.kind not in "OUST" or not len(array):
        return False
    texts = [str(value) for value in array]
    numeric = sum(re.fullmatch(r"[-+.,:\d\sTZ/eE]*", text) is not None for text in texts)
    return numeric < len(texts) / 2 and 2 * len(set(texts)) <= len(texts)


def _is_date(name: Any) -> bool:
    return fits(name, DATES)


def _tells_apart(roles: Mapping[str, str], peek: Callable[[str], Any], name: str) -> bool:
    """Whether whole numbers in a column tell rows of the same frame apart."""
    clock = roles.get("frame") or roles.get("time")
    values = plain(peek(name))
    if clock is None or values.dtype.kind not in "iu" or not len(values):
        return False
    frames = [str(value) for value in plain(peek(clock))]
    if len(set(frames)) == len(frames) or 2 * len(np.unique(values)) > len(values):
        return False
    return len(set(zip(frames, values.tolist(), strict=True))) == len(frames)


def _no_frame_twice(roles: Mapping[str, str], peek: Callable[[str], Any]) -> bool:
    clock = roles.get("frame") or roles.get("time")
    if clock is None:
        return False
    values = plain(peek(clock))
    return len({str(value) for value in values}) == len(values)


def _list_names(names: Sequence[Any]) -> str:
    shown = ", ".join(repr(name) for name in list(names)[:12])
    return f"there {'are' if len(names) != 1 else 'is'} {shown or 'none'}" + (
        f" and {len(names) - 12} more" if len(names) > 12 else ""
    )


def length_unit(text: str) -> str | None:
    """The unit of length that a word names."""
    word = text.strip().lower()
    return next((unit for unit, words in LENGTHS.items() if word in words.split()), None)


def parts(name: Any) -> tuple[str, str]:
    """A column's name without its unit, and the unit, both in lower case: 'x [cm]', 'x_cm'."""
    text = str(name).strip().lower()
    match = re.fullmatch(r"(.*?)\s*(?:\[\s*(.+?)\s*\]|\(\s*(.+?)\s*\)|/\s*(\S+)|_([^_]+))", text)
    base, unit = text, ""
    if match:
        unit = next(part for part in match.groups()[1:] if part)
        if match.group(5) is None or _is_unit(unit):
            base = match.group(1)
        else:
            unit = ""
    return re.sub(r"[\s.\-]+", "_", base.strip()), unit


def _is_unit(unit: str) -> bool:
    return any(unit in words.split() for words in (*LENGTHS.values(), *SPANS.values()))


def fits(name: Any, role: str) -> bool:
    """Whether a column's name is one of a role, or one of several words between blanks."""
    words = GUESSES.get(role, role).split()
    base, _ = parts(name)
    written = re.sub(r"[\s.\-]+", "_", str(name).strip().lower())
    return base in words or written in words


def _lengths_differ(names: Sequence[str], role: str) -> bool:
    """Whether these columns are the same coordinate in several units."""
    return role in "xyz" and len({parts(name)[1] for name in names}) > 1


def _unit_of(columns: Mapping[str, str]) -> str | None:
    units: dict[str, str | None] = {}
    for name in columns.values():
        units[name] = length_unit(parts(name)[1])
    if len(set(units.values())) > 1:
        words = " and ".join(
            f"{name!r} in {unit or 'an unknown unit'}" for name, unit in units.items()
        )
        raise InvalidInput(
            f"the coordinates are in several units, by their names: {words}; choose columns of one "
            "unit by columns="
        )
    return next(iter(units.values()))


def seconds_of(name: str) -> float | None:
    """How many seconds the unit has that a column's name tells; None if it tells none."""
    base, unit = parts(name)
    unit = unit or base
    return next((span for span, words in SPANS.items() if unit in words.split()), None)


def tracks_of(
    chosen: ChosenColumns,
    column: Callable[[str], Any],
    *,
    fps: float | None,
    first: int,
    notes: Sequence[str] = (),
) -> Tracks:
    """The positions in a table.

    Parameters
    ----------
    chosen
        Which column is what.
    column
        A column by its name, as a series of pandas or an array.
    fps
        Frames per second, if given.
    first
        The number of the first row in messages.
    notes
        What to say besides.

    """
    roles = chosen.columns
    said = [*chosen.notes, *notes]
    if "individual" in roles:
        name = roles["individual"]
        who, individuals = _individuals(name, column(name), first)
    else:
        who, individuals = np.zeros(len(column(roles["x"])), np.int64), (ALONE,)
    if not len(who):
        raise InvalidInput("the table has no rows")
    frames, own_fps = _frames(chosen, column, fps, first, said)
    start = int(frames.min())
    frames = _minus_lowest(frames, start)
    count, every = _spacing(frames)
    if every == 1 and (coarse := _coarse_spacing(frames, who)) is not None:
        frames, every = coarse
        count = int(frames.max()) // every + 1
        said.append(f"pauses between frames are rounded to multiples of {every} frames")
    if every > 1:
        _check_spacing(chosen, every, fps)
        frames = frames // every
        said.append(f"only every {_ordinal(every)} frame is there: fps is divided by {every}")
    axes = [role for role in "xyz" if role in roles]
    clock = roles.get("frame") or roles["time"]
    check_table_fits(
        count,
        len(individuals),
        len(axes),
        f"Is {clock!r} the frame and {roles.get('individual')!r} the individual? If so, read a "
        "part of it, or drop short tracks",
    )
    _check_not_sparse(len(who), count, len(individuals), roles, start)
    cells = frames * len(individuals)
    cells += who
    ordered = bool((cells[1:] > cells[:-1]).all())
    if not ordered:
        _check_no_cell_twice(
            cells, (count, len(individuals)), chosen, start, every, individuals, first
        )
        if (np.diff(frames) < 0).any() and not _one_by_one(who, frames):
            said.append("rows were not in the order of frames: sorted")
    if start and "frame" in roles:
        said.append(f"the first frame is {start}")
    positions = np.empty((count * len(individuals), len(axes)))
    full = ordered and len(cells) == len(positions)
    if not full:
        positions.fill(np.nan)
    rows = positions if full else np.empty((len(cells), len(axes)))
    for axis, role in enumerate(axes):
        values = numbers(roles[role], column(roles[role]), first)
        if not np.isfinite(values).any():
            raise InvalidInput(f"column {roles[role]!r} holds no number in any row")
        rows[:, axis] = values
    if not full:
        _scatter(rows, cells, positions)
    places = positions.reshape(count, len(individuals), len(axes))
    headings = None
    if "heading" in roles and len(axes) == 2:
        name = roles["heading"]
        angles = np.full(count * len(individuals), np.nan)
        angles[cells] = numbers(name, column(name), first)
        headings, note = logged_headings(name, angles.reshape(places.shape[:2]), places)
        said.append(note)
    kinds = None
    if KIND in roles:
        kinds = _kinds(roles[KIND], column(roles[KIND]), who, individuals, first)
    return Tracks(
        places,
        individuals,
        own_fps,
        chosen.unit,
        notes=tuple(said),
        every=every,
        headings=headings,
        kinds=kinds,
        first=start if "frame" in roles else None,
    )


def _kinds(
    name: str,
    values: Any,
    who: NDArray[np.int64],
    individuals: Sequence[str | int],
    first: int,
) -> tuple[str, ...]:
    """What each individual is; raises InvalidInput if that changes in time."""
    import pandas

    array = plain(values)
    missing = np.asarray(pandas.isna(array))
    if missing.any():
        raise InvalidInput(f"{place_of(missing, name, first)} is empty: what is this individual?")
    if array.dtype.kind == "f" and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    codes, unique = pandas.factorize(array.astype(str))
    rows = np.full(len(individuals), -1, np.int64)
    rows[who[::-1]] = np.arange(len(who))[::-1]  # the first row of each individual
    wrong = codes != codes[rows[who]]
    if wrong.any():
        row = int(np.argmax(wrong))
        early = int(rows[who[row]])
        raise InvalidInput(
            f"kinds must not change in time: individual {individuals[who[row]]!r} is "
            f"{str(unique[codes[early]])!r} in row {early + first} and "
            f"{str(unique[codes[row]])!r} in row "
            f"{row + first} (column {name!r})"
        )
    return tuple(str(unique[codes[row]]) for row in rows)


def _individuals(
    name: str, values: Any, first: int
) -> tuple[NDArray[np.int64], tuple[str | int, ...]]:
    """The individual of each row as an index, and their names in order."""
    import pandas

    array = plain(values)
    missing = np.asarray(pandas.isna(array))
    if missing.any():
        raise InvalidInput(f"{place_of(missing, name, first)} is empty: whose point is it?")
    if array.dtype.kind == "f" and (array == np.floor(array)).all():
        if float(np.abs(array).max(initial=0)) >= EXACT:
            raise InvalidInput(
                f"column {name!r} has numbers of {EXACT} and more as floats, which cannot be told "
                "apart: store them as whole numbers or as texts"
            )
        array = array.astype(np.int64)
    if array.dtype.kind in "iu" and len(array):
        lowest, span = int(array.min()), int(array.max()) - int(array.min()) + 1
        if (
            span <= _DENSE * len(array) and int(array.max()) < 2**63
        ):  # looked up, which is quicker than hashing
            shifted = _minus_lowest(array, lowest)
            there = np.zeros(span, dtype=bool)
            there[shifted] = True
            indices = np.cumsum(there) - 1
            integers = tuple(int(value) + lowest for value in np.flatnonzero(there))
            return (shifted if there.all() else indices[shifted]), integers
    try:
        codes, unique = pandas.factorize(array, sort=True)
    except TypeError:
        raise InvalidInput(f"column {name!r} mixes numbers and texts as names") from None
    integer = unique.dtype.kind in "iu"
    names = tuple(int(entry) if integer else str(entry) for entry in unique)
    return codes.astype(np.int64), names


def _minus_lowest(array: NDArray[Any], lowest: int) -> NDArray[np.int64]:
    """Integers less the lowest; the array itself if that is zero."""
    whole: NDArray[np.int64] = array.astype(np.int64, copy=False)
    return whole - lowest if lowest else whole


def _scatter(
    rows: NDArray[np.float64], cells: NDArray[np.int64], positions: NDArray[np.float64]
) -> None:
    """Put each row of coordinates into its cell; a row of two is moved as one number."""
    if rows.shape[1] == 2:
        positions.view(np.complex128).ravel()[cells] = rows.view(np.complex128).ravel()
    else:
        positions[cells] = rows


def _frames(
    chosen: ChosenColumns,
    column: Callable[[str], Any],
    fps: float | None,
    first: int,
    said: list[str],
) -> tuple[NDArray[np.int64], float | None]:
    """The frame of each row, and the frame rate if times tell it; `said` gets guesses."""
    roles = chosen.columns
    seconds: NDArray[np.float64] | None = None
    in_seconds = False
    if "time" in roles:
        seconds, in_seconds = row_times(chosen, column, first, said)
    if "frame" in roles:
        frames = _whole(roles["frame"], column(roles["frame"]), first)
        return frames, _rate_over(frames, seconds) if in_seconds and seconds is not None else None
    assert seconds is not None
    rate_of_times = _rate_of(seconds) if in_seconds else None
    rate = fps if fps is not None else rate_of_times
    if rate is None:
        raise InvalidInput(
            f"fps is missing: give the number of frames per second if column {roles['time']!r} is "
            "in seconds, or a column whose name tells its unit, such as 'time_ms'"
        )
    exact = (seconds - seconds.min()) * rate
    frames = np.rint(exact).astype(np.int64)
    off = np.abs(exact - frames) > _OFF
    if off.any():
        row = int(np.argmax(off))
        raise InvalidInput(
            f"{place_of(off, roles['time'], first)} lies between two frames: {exact[row]:.2f} "
            f"frames after the first at {rate:g} frames per second. Give the right fps=, or a "
            "column of frames"
        )
    return frames, rate_of_times


def _times(
    name: str, values: Any, unit: float | None, first: int, said: list[str]
) -> tuple[NDArray[np.float64], bool]:
    """Times in seconds since the first, and whether their unit is known; `said` gets guesses."""
    import pandas

    array = plain(values)
    if array.dtype.kind in "OUST":
        series = pandas.Series(array)
        as_numbers = pandas.to_numeric(series, errors="coerce")
        if as_numbers.isna().sum() > series.isna().sum():
            seconds, told = seconds_since_first(name, series, first)
            said.extend(told)
            return seconds, True
    if array.dtype.kind in "mM":
        return seconds_since_first(name, array, first)[0], True
    times = numbers(name, array, first)
    wrong = ~np.isfinite(times)
    if wrong.any():
        raise InvalidInput(f"{place_of(wrong, name, first)} is {times[wrong][0]}, not a time")
    return times * (unit or 1.0), unit is not None


def row_times(
    chosen: ChosenColumns, column: Callable[[str], Any], first: int, said: list[str]
) -> tuple[NDArray[np.float64], bool]:
    """The time of each row in seconds, and whether their unit is known; `said` gets guesses."""
    name = chosen.columns["time"]
    times = column(name)
    if chosen.date is not None:
        times = _with_dates(column(chosen.date), times)
    return _times(name, times, chosen.seconds, first, said)


def _with_dates(dates: Any, times: Any) -> NDArray[Any]:
    """Dates and times of day of two columns as one text each."""
    both = zip(plain(dates), plain(times), strict=True)
    return np.array([f"{str(date)[:10].strip()} {time}" for date, time in both], dtype=object)


def _rate_of(seconds: NDArray[np.float64]) -> float | None:
    """Frames per second by the median step of distinct times."""
    steps = np.diff(np.unique(seconds))
    return float(1 / np.median(steps)) if len(steps) else None


def _rate_over(frames: NDArray[np.int64], seconds: NDArray[np.float64]) -> float | None:
    """Frames per second by the first and the last frame."""
    early, late = int(np.argmin(frames)), int(np.argmax(frames))
    span = float(seconds[late] - seconds[early])
    return float(frames[late] - frames[early]) / span if span > 0 else None


def _spacing(frames: NDArray[np.int64]) -> tuple[int, int]:
    """The number of frames from the first to the last that is there, and how far apart they are."""
    last = int(frames.max())
    if last < _DENSE * len(frames):
        there = np.zeros(last + 1, dtype=bool)
        there[frames] = True
        distinct = np.flatnonzero(there)
    else:
        distinct = np.unique(frames)
    every = int(np.gcd.reduce(distinct)) if len(distinct) > 2 else 1
    return last // every + 1, every


def _coarse_spacing(
    frames: NDArray[np.int64], who: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int] | None:
    """Frames rounded to a spacing that all individuals have, and the spacing.

    None if there is no such spacing, or if not only pauses are no multiples of it.
    """
    order = np.lexsort((frames, who))
    waited = np.diff(frames[order])[np.diff(who[order]) == 0]
    every = int(np.gcd.reduce(waited)) if len(waited) >= MANY else 1
    if (waited == every).sum() < len(waited) / 2:
        return None
    distinct, place = np.unique(frames, return_inverse=True)
    steps = np.diff(distinct)
    if every < 2 or not (steps[steps % every != 0] > PAUSE * every).all():
        return None
    rounded = np.append(0, np.cumsum(np.rint(steps / every).astype(np.int64)))
    return rounded[place] * every, every


def _check_spacing(chosen: ChosenColumns, every: int, fps: float | None) -> None:
    if "frame" not in chosen.columns and fps is not None and chosen.seconds is None:
        raise InvalidInput(
            f"the times in column {chosen.columns['time']!r} are {every / fps:g} apart, but "
            f"fps={fps:g} means {1 / fps:.4g} seconds: give the right fps=, and times in seconds"
        )


def _check_not_sparse(
    rows: int, frames: int, individuals: int, roles: Mapping[str, str], start: int
) -> None:
    """Raises InvalidInput if individuals are missing in nearly all frames."""
    places = frames * individuals
    if places > LARGE and rows < LEAST_FILLED * places:
        clock = roles.get("frame") or roles["time"]
        raise InvalidInput(
            f"{rows:,} rows for {individuals:,} individuals in {frames:,} frames, from {start:,} "
            f"on: hardly anybody would be there at any time. Is {clock!r} the frame and "
            f"{roles.get('individual')!r} the individual? If so, drop rows far from the others, or "
            "short tracks"
        )


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def _check_no_cell_twice(
    cells: NDArray[np.int64],
    shape: tuple[int, int],
    chosen: ChosenColumns,
    start: int,
    every: int,
    individuals: Sequence[str | int],
    first: int,
) -> None:
    """Raises InvalidInput if an individual is twice in a frame, and names both rows."""
    seen = np.zeros(shape[0] * shape[1], dtype=bool)
    seen[cells] = True
    if int(np.count_nonzero(seen)) == len(cells):
        return
    order = np.argsort(cells, kind="stable")
    twice = np.flatnonzero(np.diff(cells[order]) == 0)
    one, other = order[twice[0]], order[twice[0] + 1]
    frame, who = divmod(int(cells[one]), shape[1])
    clock = "frame" if "frame" in chosen.columns else "frame number"
    raise InvalidInput(
        f"rows {one + first} and {other + first} are both individual {individuals[who]!r} in "
        f"{clock} {frame * every + start}, and {len(twice) - 1} more rows are such a repetition: "
        "drop them, or is the individual another column?"
    )


def _one_by_one(who: NDArray[np.int64], frames: NDArray[np.int64]) -> bool:
    """Whether each individual's rows stand together and in order."""
    same = np.diff(who) == 0
    blocks = int(np.count_nonzero(~same)) + 1
    return blocks == len(np.unique(who)) and bool((np.diff(frames)[same] > 0).all())


def _whole(name: str, values: Any, first: int) -> NDArray[np.int64]:
    """Frame numbers."""
    array = plain(values)
    if array.dtype.kind in "iu":
        if array.dtype.kind == "u" and int(array.max(initial=0)) >= 2**63:
            raise InvalidInput(f"column {name!r} has frames of 2**63 and more")
        return array.astype(np.int64, copy=False)
    if array.dtype.kind in "mM":
        raise InvalidInput(f'column {name!r} holds times: give columns={{"time": {name!r}}}')
    frames = numbers(name, array, first)
    wrong = ~np.isfinite(frames) | (np.abs(frames) > 2**53)
    wrong |= frames != np.floor(np.where(wrong, 0.0, frames))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidInput(
            f"{place_of(wrong, name, first)} is {frames[row]}, not a whole number: frames are. If "
            f'it is a time, give columns={{"time": {name!r}}}'
        )
    return frames.astype(np.int64)
