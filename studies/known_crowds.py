"""Distance or time to collision? Crowds whose law is known.

Some parameter sets (`studies/simulated_crowds.py`) served to develop the method; the others were
drawn when it was finished and run once: "final" before groups that keep together were compared
within the group, "last" after it. Each is recorded as a crowd whose members come and go, and as a
flock that travels together. Beside the answer of pairs
(`swarmdp.recordings.anticipation`) stands that of the plainest alternative: a regression of changes
of speed on who is near and ahead, and one on the time to collision, whichever predicts blocks of
time better that were left out.
"""

import itertools
import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np

import swarmdp
from studies import command
from studies.rows import Job, Row, collect, conditions, markdown
from studies.simulated_crowds import Crowd, Law, arena_of, draw_crowd, record_crowd, record_flock
from swarmdp.model.streams import derived_seed
from swarmdp.recordings.anticipation import half_interval
from swarmdp.recordings.arena import Periodic
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.speed_rule import SpeedFit, speed_rows
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput

ROWS = "known_crowds.json"
LAWS: tuple[Law, ...] = ("distance", "time to collision")
HALVES = {"development": 83, "final": 7919, "last": 104_729}  # seeds of the parameter sets
SETS = {"development": 5, "final": 5, "last": 10}  # of each law
CROWD, FLOCK = "crowd", "flock"


def crowd_of(law: Law, half: str, number: int) -> tuple[Crowd, int]:
    """A parameter set, and the seed of its recording."""
    seed = derived_seed(HALVES[half], 100 * LAWS.index(law) + number)
    return draw_crowd(law, np.random.default_rng(seed)), seed


def by_regression(decisions: Decisions, arena: Periodic | None, contact: float) -> str:
    """Which of the two predicts changes of speed better."""
    rows = speed_rows(decisions, arena, contact)
    fit = SpeedFit(rows, "speed", contact, float(rows.speed.mean()))
    errors = {
        answer: fit.error(fit.best([name])).sum()
        for answer, name in (("distance", "density ahead"), (LAWS[1], LAWS[1]))
    }
    return min(errors, key=lambda answer: float(errors[answer]))


def measure(law: Law, half: str, number: int, group: str) -> Row:
    """What is found in one crowd or flock."""
    crowd, seed = crowd_of(law, half, number)
    recording = (record_crowd if group == CROWD else record_flock)(crowd, seed)
    arena = arena_of(crowd) if group == CROWD else None
    began = time.process_time()
    usual = recording.decisions()
    fine = recording.decisions(half_interval(usual, recording.fps))
    found = swarmdp.recordings.anticipation(fine, arena, seed=seed)
    plain = {name: value for name, value in found.to_plain().items() if not isinstance(value, list)}
    return {
        **plain,
        "right": found.answer == law,
        "by_regression": by_regression(usual, arena, found.contact),
        "crowd": asdict(crowd),
        "seconds": time.process_time() - began,
    }


def study(output: Path, quick: bool = False, only: Sequence[str] = ()) -> list[Row]:
    """Measure all crowds, or those of one half; write and return the rows.

    Parameters
    ----------
    output
        The folder for `known_crowds.json` (the rows) and `known_crowds.md` (the table).
    quick
        One crowd of each law.
    only
        Halves of the parameter sets.

    """
    unknown = set(only) - set(HALVES)
    if unknown:
        raise InvalidInput(f"halves are {', '.join(HALVES)}, got {', '.join(sorted(unknown))}")
    jobs = [
        Job(
            {"group": group, "law": law, "half": half, "set": number},
            partial(measure, law, half, number, group),
        )
        for half in (only or HALVES)
        for group in (CROWD, FLOCK)
        if not (group == FLOCK and half == "final")  # it was run before there were flocks
        for law in LAWS
        for number in range(1 if quick else SETS[half])
    ]
    done = collect(output / ROWS, jobs, conditions(quick=quick), _line)
    files.write_text(output / "known_crowds.md", table(done))
    return done


def _line(row: Row) -> str:
    return f"{row['group']}, {row['law']}, {row['half']}, set {row['set']}: {row['answer']}"


def table(rows: Sequence[Row]) -> str:
    """How often the law was told, for each half."""
    lines = []
    for group, half, law in itertools.product((CROWD, FLOCK), HALVES, LAWS):
        some = [
            row
            for row in rows
            if row["half"] == half and row["law"] == law and row["group"] == group
        ]
        if not some:
            continue
        right = sum(row["right"] for row in some)
        silent = sum(row["answer"] in ("not told", "no encounters") for row in some)
        regression = sum(row["by_regression"] == law for row in some)
        contact = [abs(row["contact"] / row["crowd"]["contact"] - 1) for row in some]
        lines.append(
            [
                group,
                half,
                law,
                f"{right} of {len(some)}",
                silent,
                f"{regression} of {len(some)}",
                f"{np.median(contact):.0%}",
                f"{np.median([row['seconds'] for row in some]):.1f}",
            ]
        )
    head = ["", "half", "law", "right", "not told", "regression", "error of contact", "seconds"]
    return markdown(head, lines)


if __name__ == "__main__":
    command.main(
        study,
        "known_crowds",
        "Whether distance or time to collision is told in crowds whose law is known. About ten "
        "minutes.",
        only="halves: development, final, last",
    )
