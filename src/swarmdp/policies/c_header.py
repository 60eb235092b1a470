"""A controller as a C header: it computes as Python does, to the last bit of the index.

The header is C99 (and C++), needs nothing but <math.h> and calls nothing that allocates. Products
that are added to something are kept in volatile variables: a compiler may otherwise fuse both into
one operation with another rounding, and an angle on an edge would fall into the next interval.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from swarmdp._version import __version__
from swarmdp.model.features import Angles, Bins
from swarmdp.model.features.classes import FARTHEST_ANGLE
from swarmdp.policies.blueprint import Blueprint, ExportedPart
from swarmdp.support.errors import InvalidInput

# Words that a parameter cannot be called by, in C or C++, or that compilers define as macros.
KEYWORDS = """
alignas alignof and and_eq asm atomic auto bitand bitor bool break case catch char class compl
complex concept const constexpr continue decltype default delete do double else enum errno explicit
export extern false final float for friend goto i386 if imaginary import inline int linux long
module mutable namespace new noexcept not not_eq null nullptr operator or or_eq private protected
public register reinterpret_cast requires restrict return short signed sizeof static static_assert
struct switch template this throw true try typedef typeid typename typeof uniform union unix
unsigned using virtual void volatile wchar_t while xor xor_eq
"""

CLASS_OF = {
    "Angles": """
/* The interval of an angle, with number bins / 2 centred on zero. */
static inline long swarmdp_angle(double angle, long bins, double scale)
{
    volatile double place = angle * scale;
    double number;
    if (!(fabs(angle) <= SWARMDP_FARTHEST)) {
        return -1;
    }
    place = place + 0.5;
    number = floor(place) + (double)(bins / 2);
    number -= (double)bins * floor(number / (double)bins);
    return number < 0.0 ? 0 : number > (double)(bins - 1) ? bins - 1 : (long)number;
}
""",
    "Bins": """
/* The interval of a number between rising edges; each has its lower edge, the last one both. */
static inline long swarmdp_bin(double value, long bins, const double *edges)
{
    long low = 0, high = bins;
    if (!(value >= edges[0] && value <= edges[bins])) {
        return -1;
    }
    while (high - low > 1) {
        const long middle = low + (high - low) / 2;
        if (value >= edges[middle]) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
""",
    "Levels": """
/* A whole number from 0 to levels - 1. */
static inline long swarmdp_level(double value, long levels)
{
    if (!(value >= 0.0 && value <= (double)(levels - 1)) || floor(value) < value) {
        return -1;
    }
    return (long)value;
}
""",
}

BETWEEN = {
    "Angles": """
/* The two intervals whose centres are around an angle, and how much each counts. */
static inline int swarmdp_around_angle(double angle, long bins, double scale, long *place,
                                       double *share)
{
    volatile double at = angle * scale;
    double lower;
    int i;
    if (!(fabs(angle) <= SWARMDP_FARTHEST)) {
        return 0;
    }
    at = at + (double)(bins / 2);
    lower = floor(at);
    share[1] = at - lower;
    share[0] = 1.0 - share[1];
    for (i = 0; i < 2; i++) {
        const double number = lower + (double)i;
        place[i] = (long)(number - (double)bins * floor(number / (double)bins));
    }
    return 2;
}
""",
    "Bins": """
/* The two intervals whose middles are around a number, and how much each counts. */
static inline int swarmdp_around_bin(double value, long bins, double lowest, double highest,
                                     const double *middles, long *place, double *share)
{
    long low = 0, high = bins - 1;
    double part;
    if (!(value >= lowest && value <= highest)) {
        return 0;
    }
    place[0] = 0;
    share[0] = 1.0;
    if (bins == 1) {
        return 1;
    }
    while (high - low > 1) {
        const long middle = low + (high - low) / 2;
        if (value >= middles[middle]) {
            low = middle;
        } else {
            high = middle;
        }
    }
    part = (value - middles[low]) / (middles[low + 1] - middles[low]);
    part = part < 0.0 ? 0.0 : part > 1.0 ? 1.0 : part;
    place[0] = low;
    place[1] = low + 1;
    share[0] = 1.0 - part;
    share[1] = part;
    return 2;
}
""",
    "Levels": """
/* A whole number itself: there is nothing between levels. */
static inline int swarmdp_around_level(double value, long levels, long *place, double *share)
{
    if (!(value >= 0.0 && value <= (double)(levels - 1)) || floor(value) < value) {
        return 0;
    }
    place[0] = (long)value;
    share[0] = 1.0;
    return 1;
}
""",
}


def c_header(blueprint: Blueprint) -> str:
    """The text of the header."""
    names = identifiers([name for name, _ in blueprint.components])
    kinds = list(dict.fromkeys(type(part).__name__ for _, part in blueprint.components))
    smooth = blueprint.kind == "interpolated"
    helpers = [(BETWEEN if smooth else CLASS_OF)[kind] for kind in kinds]
    body = _interpolating(blueprint, names) if smooth else _choosing(blueprint, names)
    return "\n".join(
        [
            _opening(blueprint, names),
            "#ifndef SWARMDP_CONTROLLER_H",
            "#define SWARMDP_CONTROLLER_H",
            "",
            "#include <math.h>",
            "",
            f"#define SWARMDP_CLASSES {blueprint.size}L",
            f"#define SWARMDP_ACTIONS {len(blueprint.actions)}",
            f"#define SWARMDP_NULL_INDEX {blueprint.null}",
            *_null_action(blueprint),
            *([f"#define SWARMDP_FARTHEST {_number(FARTHEST_ANGLE)}"] if "Angles" in kinds else []),
            *helpers,
            *body,
            *_remembering(blueprint, names),
            "#endif",
            "",
        ]
    )


def identifiers(names: Sequence[str]) -> list[str]:
    """A different valid identifier of C for each name.

    Only keywords get an underscore at the end; the functions' own variables all have one.
    """
    words: list[str] = []
    for i, name in enumerate(names):
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        word = re.sub("[^0-9a-z]+", "_", plain).strip("_")
        if not word or word[0].isdigit() or word.startswith("swarmdp"):
            word = f"component_{word or i}"
        if word in KEYWORDS.split():
            word += "_"
        while word in words:
            word += f"_{i}"
        words.append(word)
    return words


def _choosing(blueprint: Blueprint, names: list[str]) -> list[str]:
    """The functions of a controller that chooses one of the listed actions."""
    parameters = ", ".join(f"double {name}" for name in names)
    arguments = ", ".join(names)
    places = [f"place_{i}_" for i in range(len(names))]
    tables, calls = [], []
    for i, (place, name, (_, part)) in enumerate(
        zip(places, names, blueprint.components, strict=True)
    ):
        if isinstance(part, Bins):
            tables.append(_array("double", f"edges_{i}_", map(_number, part.edges)))
            call = f"swarmdp_bin({name}, {part.size}, edges_{i}_)"
        elif isinstance(part, Angles):
            call = f"swarmdp_angle({name}, {part.size}, {_scale(part)})"
        else:
            call = f"swarmdp_level({name}, {part.size})"
        calls.append(f"    const long {place} = {call};")
    missing = " || ".join(f"{place} < 0" for place in places)
    index = _index(places, [part for _, part in blueprint.components])
    lines = [
        "/* The class of an observation, from 0 to SWARMDP_CLASSES - 1; -1 if it has none. */",
        f"static inline long swarmdp_class({parameters})",
        "{",
        *tables,
        *calls,
        f"    return {missing} ? -1 : {index};",
        "}",
        "",
    ]
    likeliest = _array(_small(len(blueprint.actions)), "table_", map(str, blueprint.indices))
    look_up = [
        "{",
        likeliest,
        f"    const long found_ = swarmdp_class({arguments});",
        "    return found_ < 0 ? SWARMDP_NULL_INDEX : (int)table_[found_];",
        "}",
        "",
    ]
    if blueprint.kind == "table":
        lines += [
            "/* The index of the action to take. */",
            f"static inline int swarmdp_action_index({parameters})",
            *look_up,
        ]
    else:
        lines += [
            "/* The index of the likeliest action. */",
            f"static inline int swarmdp_likeliest_index({parameters})",
            *look_up,
        ]
        sums = np.cumsum(blueprint.arrays["probabilities"], axis=1)
        parameters, arguments = f"{parameters}, double uniform", f"{arguments}, uniform"
        lines += [
            "/* The index of the action drawn with a random number, at least 0 and below 1. */",
            f"static inline int swarmdp_action_index({parameters})",
            "{",
            _array("double", "sums_", map(_number, sums.reshape(-1))),
            f"    const long found_ = swarmdp_class({', '.join(names)});",
            "    const double *row_;",
            "    double luck_;",
            "    int i_ = 0;",
            "    if (found_ < 0 || !(uniform >= 0.0 && uniform < 1.0)) {",
            "        return SWARMDP_NULL_INDEX;",
            "    }",
            "    row_ = sums_ + found_ * SWARMDP_ACTIONS;",
            "    luck_ = uniform * row_[SWARMDP_ACTIONS - 1];",
            "    while (i_ + 1 < SWARMDP_ACTIONS && row_[i_] <= luck_) {",
            "        i_++;",
            "    }",
            "    while (i_ > 0 && !(row_[i_] > row_[i_ - 1])) {",
            "        i_--; /* an impossible action is never drawn */",
            "    }",
            "    return i_;",
            "}",
            "",
        ]
    return lines + _valuing(blueprint, parameters, arguments)


def _valuing(blueprint: Blueprint, parameters: str, arguments: str) -> list[str]:
    """The function that gives the action itself: a number, or components in an array."""
    values = _array("double", "values_", map(_number, blueprint.actions.reshape(-1)))
    if blueprint.actions.ndim == 1:
        return [
            "/* The physical value of the action to take. */",
            f"static inline double swarmdp_action({parameters})",
            "{",
            values,
            f"    return values_[swarmdp_action_index({arguments})];",
            "}",
            "",
        ]
    return [
        "/* The components of the action with this index. */",
        "static inline void swarmdp_components(int index_, double *action_)",
        "{",
        values,
        "    int i_;",
        "    for (i_ = 0; i_ < SWARMDP_COMPONENTS; i_++) {",
        "        action_[i_] = values_[index_ * SWARMDP_COMPONENTS + i_];",
        "    }",
        "}",
        "",
        "/* The action to take: SWARMDP_COMPONENTS numbers. */",
        f"static inline void swarmdp_action({parameters}, double *action_)",
        "{",
        f"    swarmdp_components(swarmdp_action_index({arguments}), action_);",
        "}",
        "",
    ]


def _null_action(blueprint: Blueprint) -> list[str]:
    nothing = blueprint.actions[blueprint.null]
    if nothing.ndim == 0:
        return [f"#define SWARMDP_NULL_ACTION {_number(nothing)}"]
    return [f"#define SWARMDP_COMPONENTS {len(nothing)}"]


def _remembering(blueprint: Blueprint, names: list[str]) -> list[str]:
    """What the controller keeps from one step to the next, and the function of a step.

    Past observations are at first the present one, the past action is that which does nothing, and
    a memory begins with 0: as in Python.
    """
    if not blueprint.recalls:
        return []
    if blueprint.kind == "interpolated" and any(r.source != "seen" for r in blueprint.recalls):
        raise InvalidInput(
            "a controller that remembers its actions and acts between the listed ones cannot be "
            "exported to C: export a table"
        )
    word = dict(zip((name for name, _ in blueprint.components), names, strict=True))
    kept = [word[recall.component] for recall in blueprint.recalls]
    sensed = [name for name in names if name not in kept]
    drawn = ["uniform"] if blueprint.kind == "soft" else []
    several = blueprint.actions.ndim > 1
    arguments = ", ".join([f"memory_->{name}" if name in kept else name for name in names] + drawn)
    places = {axis.name: i for i, axis in enumerate(blueprint.action_axes)}
    first, after = [], []
    for recall in blueprint.recalls:
        own = word[recall.component]
        if recall.source == "seen":
            before = word[recall.name]
            before = f"memory_->{before}" if before in kept else before
            first.append(f"        memory_->{own} = {before};")
            after.append(f"    memory_->{own} = {before};")
        elif recall.source == "index":
            per = f" / {recall.per}" if recall.per > 1 else ""
            first.append(f"        memory_->{own} = SWARMDP_NULL_INDEX{per};")
            after.append(f"    memory_->{own} = index_{per};")
        else:
            first.append(f"        memory_->{own} = 0.0;")
            place = f"[{places[recall.name]}]" if several else ""
            after.append(f"    memory_->{own} = action_{place};")
    parameters = ["swarmdp_memory *memory_", *(f"double {name}" for name in [*sensed, *drawn])]
    smooth = blueprint.kind == "interpolated"
    act = [f"    const int index_ = swarmdp_action_index({arguments});"]
    value = "    const double action_ = swarmdp_action("
    if several:
        parameters.append("double *action_")
        act = [*act, "    swarmdp_components(index_, action_);"]
    else:
        act = [value + f"{arguments});"] if smooth else [*act, value + f"{arguments});"]
        act += [] if smooth or "index_" in "".join(after) else ["    (void)index_;"]
    return [
        "/* What the controller remembers; start with all zeros: swarmdp_memory memory = {0}; */",
        "typedef struct {",
        "    int started;",
        *(f"    double {name};" for name in kept),
        "} swarmdp_memory;",
        "",
        "/* One step: the action to take, with what is remembered, which is then renewed. */",
        f"static inline {'void' if several else 'double'} swarmdp_step({', '.join(parameters)})",
        "{",
        "    if (!memory_->started) {",
        "        memory_->started = 1;",
        *first,
        "    }",
        "    {",
        *("    " + line for line in act),
        # The oldest first: it takes what is about to be renewed.
        *("    " + line for line in reversed(after)),
        *([] if several else ["        return action_;"]),
        "    }",
        "}",
        "",
    ]


def _interpolating(blueprint: Blueprint, names: list[str]) -> list[str]:
    """The function of a controller that interpolates between the centres of classes."""
    count = len(names)
    lines = [
        "/* The physical value of the action to take. */",
        f"static inline double swarmdp_action({', '.join(f'double {name}' for name in names)})",
        "{",
        _array("double", "values_", map(_number, blueprint.arrays["values"])),
    ]
    calls = []
    for i, (name, (_, part)) in enumerate(zip(names, blueprint.components, strict=True)):
        where = f"place_[{i}], share_[{i}]"
        if isinstance(part, Bins):
            middles = part.axes[0].values
            lines.append(_array("double", f"middles_{i}_", map(_number, middles)))
            limits = f"{_number(part.edges[0])}, {_number(part.edges[-1])}"
            call = f"bin({name}, {part.size}, {limits}, middles_{i}_, {where})"
        elif isinstance(part, Angles):
            call = f"angle({name}, {part.size}, {_scale(part)}, {where})"
        else:
            call = f"level({name}, {part.size}, {where})"
        calls.append(f"    const int count_{i}_ = swarmdp_around_{call};")
    places = [f"place_[{i}][i_{i}_]" for i in range(count)]
    shares = " * ".join(f"share_[{i}][i_{i}_]" for i in range(count))
    index = _index(places, [part for _, part in blueprint.components])
    missing = " || ".join(f"count_{i}_ == 0" for i in range(count))
    lines += [
        f"    long place_[{count}][2];",
        f"    double share_[{count}][2];",
        *calls,
        "    double total_ = 0.0;",
        f"    int {', '.join(f'i_{i}_' for i in range(count))};",
        f"    if ({missing}) {{",
        "        return SWARMDP_NULL_ACTION;",
        "    }",
        *(
            "    " * (i + 1) + f"for (i_{i}_ = 0; i_{i}_ < count_{i}_; i_{i}_++) {{"
            for i in range(count)
        ),
        "    " * (count + 1) + f"const long found_ = {index};",
        "    " * (count + 1) + f"const double weight_ = {shares};",
        "    " * (count + 1) + "volatile double term_ = values_[found_] * weight_;",
        "    " * (count + 1) + "total_ += term_;",
        *("    " * (i + 1) + "}" for i in reversed(range(count))),
        "    return total_;",
        "}",
        "",
    ]
    return lines


def _opening(blueprint: Blueprint, names: list[str]) -> str:
    """A comment that says what the controller sees and does."""
    drawn = ", uniform" if blueprint.kind == "soft" else ""
    angles = any(isinstance(part, Angles) for _, part in blueprint.components)
    axes = blueprint.action_axes
    null = ", ".join(_measured(axis.values[blueprint.null], axis.units) for axis in axes)
    several = blueprint.actions.ndim > 1
    into = ", action" if several else ""
    result = f"returns the action to take{_in_units(axes[0].units)}."
    if several:
        result = "writes the components of the action to take:"
    lines = [
        f"A controller for {blueprint.system}, exported by swarmdp {__version__}.",
        "",
        f"swarmdp_action({', '.join(names)}{drawn}{into}) {result}",
        *(
            f"  action[{i}]: {axis.name}{_in_units(axis.units)}"
            for i, axis in enumerate(axes)
            if several
        ),
        *(
            f"  {identifier}: {name}, {_seen(part)}"
            for identifier, (name, part) in zip(names, blueprint.components, strict=True)
        ),
        *(["  uniform: a random number, at least 0 and below 1"] if drawn else []),
        *(
            ["swarmdp_step(&memory, ...) keeps what is remembered, and takes the others."]
            if blueprint.recalls
            else []
        ),
        "",
        f"An observation that is not a number or out of range gets the null action, {null},",
        "where Python raises an error.",
        *([f"So does an angle beyond {FARTHEST_ANGLE:g} rad."] if angles else []),
    ]
    return "/*\n" + "\n".join(f" * {_comment(line)}".rstrip() for line in lines) + "\n */"


def _seen(part: ExportedPart) -> str:
    units = "" if part.units == "1" else f" {part.units}"
    if isinstance(part, Bins):
        return f"from {part.edges[0]:g} to {part.edges[-1]:g}{units}"
    if isinstance(part, Angles):
        return f"any angle in {part.units}"
    return f"a whole number from 0 to {part.size - 1}{units}"


def _comment(text: str) -> str:
    """A text that cannot end a comment, nor be warned about inside of one."""
    plain = re.sub(r"[^\x20-\x7e]", lambda match: f"&#{ord(match[0])};", text.replace("\\", "/"))
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


def _index(places: Sequence[str], parts: Sequence[ExportedPart]) -> str:
    """The class of these places along each component, as an expression."""
    text = places[0]
    for place, (_, part) in zip(places[1:], pairwise(parts), strict=True):
        inner = text if " " not in text else f"({text})"
        text = f"{inner} * {part.size} + {place}"
    return text


def _scale(part: Angles) -> str:
    return _number(part.size / (2.0 * math.pi))


def _number(value: Any) -> str:
    """A double that reads back to the same bits."""
    number = float(value)
    if math.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    return repr(number)


def _in_units(units: str) -> str:
    return "" if units == "1" else f", in {units}"


def _measured(value: Any, units: str) -> str:
    return f"{float(value):g}" + ("" if units == "1" else f" {units}")


def _small(actions: int) -> str:
    """The smallest type that holds action indices."""
    return "unsigned char" if actions <= 2**8 else "unsigned short" if actions <= 2**16 else "long"


def _array(kind: str, name: str, entries: Iterable[str]) -> str:
    """The definition of a static array, in lines of at most 100 characters."""
    lines, line = [], "       "
    for entry in entries:
        if len(line) + len(entry) + 2 > 100:
            lines.append(line)
            line = "       "
        line += f" {entry},"
    return "\n".join([f"    static const {kind} {name}[] = {{", *lines, line, "    };"])
