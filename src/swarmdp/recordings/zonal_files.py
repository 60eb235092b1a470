"""Zonal controllers as files: JSON to read again, CSV to look at, a C header for a robot."""

import csv
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmdp._version import __version__
from swarmdp.support import files
from swarmdp.support.errors import FileError, InvalidInput

if TYPE_CHECKING:
    from swarmdp.recordings.zonal import ZonalController

_KIND = "swarmdp zonal controller"
ENDINGS = (".json", ".csv", ".h")

C_CODE = """\
#include <math.h>

/* What an individual sees of another one, as unit vectors in its own frame: x is ahead, y left. */
typedef struct {
    double distance; /* in the unit above */
    double to_x, to_y; /* the direction in which the other is */
    double heading_x, heading_y; /* the direction in which the other moves */
    double speed; /* of the other, in the unit above a second */
} swarmdp_neighbour;

static inline double swarmdp_sine(double x, double y)
{
    const double size = sqrt(x * x + y * y);
    return size > 0.0 ? y / size : 0.0;
}

/* Seconds until an individual with this speed touches another one, if both go on as they move;
   infinite if they never do. *side is +1 if a turn to the left avoids it, -1 to the right. */
static inline double swarmdp_seconds_to_contact(const swarmdp_neighbour *other, double speed,
                                                double *side)
{
    const double u = other->distance * other->to_x, v = other->distance * other->to_y;
    const double along = other->speed * other->heading_x - speed;
    const double across = other->speed * other->heading_y;
    const double apart = other->distance * other->distance - SWARMDP_CONTACT * SWARMDP_CONTACT;
    const double closing = -(u * along + v * across);
    const double square = along * along + across * across;
    const double root = closing * closing - square * apart;
    *side = v * along - u * across > 0.0 ? 1.0 : -1.0;
    if (apart < 0.0)
        return 0.0;
    return closing > 0.0 && square > 0.0 && root > 0.0 ? (closing - sqrt(root)) / square : HUGE_VAL;
}

/* The soonest of all collisions; of two at the same time that with the nearer one. */
static inline double swarmdp_soonest(const swarmdp_neighbour *others, long count, double speed,
                                     double *side)
{
    double first = HUGE_VAL;
    long i;
    *side = 0.0;
    for (i = 0; i < count; i++) {
        double away;
        const double tau = swarmdp_seconds_to_contact(&others[i], speed, &away);
        if (tau < first) {
            first = tau;
            *side = away;
        }
    }
    return first;
}

/* By how much the speed changes because of others until the next decision, in the unit above a
   second, beyond what it does on average. It also returns to the usual speed, keeping
   SWARMDP_SPEED_MEMORY of the difference, and noise is to be added: its standard deviation is
   SWARMDP_SPEED_NOISE. */
static inline double swarmdp_speed_change(const swarmdp_neighbour *others, long count, double speed)
{
    double near = 0.0, faster = 0.0, ahead = 0.0, change = SWARMDP_SPEED_REST, side, first;
    long matched = 0, pulled = 0, i;
    for (i = 0; i < count; i++) {
        const swarmdp_neighbour *other = &others[i];
        if (other->to_x > SWARMDP_AHEAD && SWARMDP_NEAR_REACH > 0.0)
            near = fmax(near, 1.0 - other->distance / SWARMDP_NEAR_REACH);
        if (other->distance < SWARMDP_MATCH_REACH) {
            faster += other->speed - speed;
            matched++;
        }
        if (other->distance < SWARMDP_PULL_REACH) {
            ahead += other->to_x;
            pulled++;
        }
    }
    change += SWARMDP_NEAR_GAIN * near;
    change += matched ? SWARMDP_MATCH_GAIN * faster / (double)matched : 0.0;
    change += pulled ? SWARMDP_PULL_GAIN * ahead / (double)pulled : 0.0;
    first = swarmdp_soonest(others, count, speed, &side);
    if (first < SWARMDP_SOON_REACH)
        change += SWARMDP_SOON_GAIN * (1.0 - first / SWARMDP_SOON_REACH);
    return change;
}

/* The mean turn in radians, to the left positive. Neighbours are sorted by their distance. The wall
   is its distance (infinite without one) and the angle to its nearest point. Noise is to be added:
   its standard deviation is SWARMDP_NOISE. */
static inline double swarmdp_turn(const swarmdp_neighbour *others, long count, double speed,
                                  double last_turn, double wall_distance, double wall_angle)
{
    double away_x = 0.0, away_y = 0.0, along_x = 0.0, along_y = 0.0, to_x = 0.0, to_y = 0.0;
    long avoided = 0, followed = 0, approached = 0, i;
    double turn = SWARMDP_LAST_TURN * last_turn, near, side, first;
    for (i = 0; i < count; i++) {
        const swarmdp_neighbour *other = &others[i];
        const int close = other->distance <= SWARMDP_AWAY_RADIUS;
        const int follow = SWARMDP_ALONG_NEAREST > 0 ? i < SWARMDP_ALONG_NEAREST
                                                     : other->distance <= SWARMDP_ALONG_RADIUS;
        int approach = SWARMDP_TO_NEAREST > 0 ? i < SWARMDP_TO_NEAREST
                                              : other->distance <= SWARMDP_TO_RADIUS;
        approach = approach && other->distance > SWARMDP_TO_INNER;
        if (close) {
            away_x -= other->to_x;
            away_y -= other->to_y;
            avoided++;
        }
        if (follow && !(SWARMDP_PRIORITY && close)) {
            along_x += other->heading_x;
            along_y += other->heading_y;
            followed++;
        }
        if (approach && !(SWARMDP_PRIORITY && (close || follow))) {
            to_x += other->to_x;
            to_y += other->to_y;
            approached++;
        }
    }
    if (SWARMDP_PRIORITY) {
        turn += avoided ? SWARMDP_AWAY_GAIN * swarmdp_sine(away_x, away_y)
                        : SWARMDP_ALONG_GAIN * swarmdp_sine(along_x + to_x, along_y + to_y);
    } else {
        turn += avoided ? SWARMDP_AWAY_GAIN * away_y / (double)avoided : 0.0;
        turn += followed ? SWARMDP_ALONG_GAIN * along_y / (double)followed : 0.0;
        turn += approached ? SWARMDP_TO_GAIN * to_y / (double)approached : 0.0;
    }
    first = swarmdp_soonest(others, count, speed, &side);
    if (first < SWARMDP_SIDESTEP_REACH)
        turn += SWARMDP_SIDESTEP_GAIN * side * (1.0 - first / SWARMDP_SIDESTEP_REACH);
    near = SWARMDP_WALL_REACH > 0.0 ? 1.0 - wall_distance / SWARMDP_WALL_REACH : 0.0;
    if (near > 0.0 && cos(wall_angle) > SWARMDP_WALL_BEHIND) {
        turn += wall_angle > 0.0 ? -SWARMDP_WALL_GAIN * near
                                 : wall_angle < 0.0 ? SWARMDP_WALL_GAIN * near : 0.0;
    }
    return turn;
}
"""


def write_zonal(
    controller: "ZonalController", path: str | os.PathLike[str], unit: str, spread: float
) -> Path:
    """Write a controller to a file, atomically; return the path.

    Parameters
    ----------
    controller
        Its numbers.
    path
        Its ending chooses the format: .json (`read_zonal` reads it), .csv or .h.
    unit
        Of lengths.
    spread
        The standard deviation of the recorded noise of turns, in radians.

    """
    target = Path(path)
    if target.suffix not in ENDINGS:
        raise InvalidInput(
            f"a controller's file must end in {', '.join(ENDINGS)}, got {str(path)!r}"
        )
    if target.suffix == ".json":
        plain: dict[str, Any] = {"kind": _KIND, "swarmdp_version": __version__, "unit": unit}
        plain |= {"noise_spread": spread, "controller": controller.to_plain()}
        plain[files.DIGEST] = files.digest_of(plain)
        text = json.dumps(plain, indent=2, allow_nan=False) + "\n"
    elif target.suffix == ".csv":
        text = _csv(controller, unit, spread)
    else:
        text = _header(controller, unit, spread)
    files.write_text(target, text)
    return target


def read_zonal(path: str | os.PathLike[str]) -> "ZonalController":
    """The controller that `write_zonal` wrote as JSON; raises FileError for any other file."""
    from swarmdp.recordings.zonal import ZonalController

    source = Path(path)
    plain = files.parse_json(files.read_text(source))
    if not isinstance(plain, dict) or plain.get("kind") != _KIND:
        raise FileError(5, f"cannot read {source}: it is not a zonal controller")
    files.check_digest(plain)
    return ZonalController.from_plain(plain["controller"])


def _csv(controller: "ZonalController", unit: str, spread: float) -> str:
    """One row for each number."""
    from swarmdp.recordings.speed_rule import SPEED_COMPONENTS

    rows: list[tuple[str, float, str]] = []
    for name, zone in controller.model.zones.items():
        rows.append((f"{name}: gain", controller.gains[controller.model.column_of(name)], "rad"))
        if zone.nearest:
            rows.append((f"{name}: nearest neighbours", zone.nearest, "1"))
        else:
            rows += [(f"{name}: from", zone.inner, unit), (f"{name}: to", zone.outer, unit)]
    rows += [
        ("share of the last turn", controller.previous, "1"),
        ("turn at the wall", controller.wall, "rad"),
        ("wall is avoided from", controller.wall_reach, unit),
        ("noise of turns", controller.noise * spread, "rad"),
        ("correlation of speeds", controller.together, "1"),
        ("faster where others are ahead", controller.hurry, "1"),
    ]
    for part in controller.responses:
        kind = SPEED_COMPONENTS[part.component]
        rows.append((f"{part.component}: gain", part.gain, kind.unit.format(unit=unit)))
        reach_unit = unit if kind.kind == "length" else "s"
        rows.append((f"{part.component}: reach", part.reach, reach_unit))
    if controller.responses:
        rows.append(("contact", controller.contact, unit))
    if controller.speed_noise:
        rows += [
            (
                "share of the speed's difference to the usual one that stays",
                controller.speed_memory,
                "1",
            ),
            ("noise of speeds", controller.speed_noise * controller.speed_spread, f"{unit}/s"),
            (
                "change of speed at rest",
                controller.speed_rest * controller.speed_spread,
                f"{unit}/s",
            ),
        ]
    for reaction in controller.reactions:
        units = "1" if reaction.way == "pace" else "rad"
        rows.append((f"{reaction.kind}: {reaction.way}", reaction.gain, units))
        rows.append((f"{reaction.kind}: {reaction.way} within", reaction.reach, unit))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("number", "value", "unit"))
    writer.writerows(rows)
    return text.getvalue()


def _header(controller: "ZonalController", unit: str, spread: float) -> str:
    """C functions from what an individual sees to its mean turn and its change of speed."""
    from swarmdp.kernels.recorded import zonal

    row = controller.row
    defined = {
        name: repr(float(row[getattr(zonal, name)]))
        for name in (
            *("AWAY_RADIUS", "ALONG_RADIUS", "TO_INNER", "TO_RADIUS", "AWAY_GAIN", "ALONG_GAIN"),
            *("TO_GAIN", "LAST_TURN", "WALL_GAIN", "WALL_REACH", "CONTACT", "NEAR_REACH"),
            *("MATCH_REACH", "PULL_REACH", "SOON_REACH", "SIDESTEP_REACH", "SIDESTEP_GAIN"),
        )
    }
    # The kernel has changes of normal scores; a robot has speeds.
    for name in ("NEAR_GAIN", "MATCH_GAIN", "PULL_GAIN", "SOON_GAIN"):
        defined[name] = repr(float(row[getattr(zonal, name)] * controller.speed_spread))
    defined["SPEED_MEMORY"] = repr(controller.speed_memory)
    defined["SPEED_NOISE"] = repr(controller.speed_noise * controller.speed_spread)
    defined["SPEED_REST"] = repr(controller.speed_rest * controller.speed_spread)
    defined["AHEAD"] = repr(zonal.AHEAD)
    for name in ("ALONG_NEAREST", "TO_NEAREST", "PRIORITY"):
        defined[name] = str(int(row[getattr(zonal, name)]))
    defined["WALL_BEHIND"] = repr(zonal.WALL_BEHIND)
    defined["NOISE"] = repr(controller.noise * spread)
    lines = [
        f"/* A zonal controller, written by swarmdp {__version__}. Lengths in {unit}, angles in "
        "radians.",
        *(
            ["   Reactions to outsiders are not in the function below."]
            if controller.reactions
            else []
        ),
        f"   {controller.words(unit)} */".replace("*/ */", "*/"),
        "#ifndef SWARMDP_CONTROLLER_H",
        "#define SWARMDP_CONTROLLER_H",
        *(f"#define SWARMDP_{name} {value}" for name, value in defined.items()),
        C_CODE,
        "#endif",
    ]
    return "\n".join(lines) + "\n"
