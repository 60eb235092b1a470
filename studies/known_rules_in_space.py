"""Is the rule behind a recording in three dimensions found? Swarms whose rule is known.

As `studies/known_rules.py`, in a spherical tank (`studies/simulated_rules_in_space.py`). The first
half of the parameter sets served to develop the method; the second was run once. Each recording is
read by `fit_rule` and asked for an interaction in the tank that is known; in the part "analysis" it
goes through `swarmdp.analyse`.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import swarmdp
from studies import command
from studies.known_rules import COMPONENTS, compare, truth_of
from studies.rows import Job, Row, collect, conditions, markdown
from studies.simulated_rules_in_space import KINDS, SpaceRule, draw_space_rule, record_space_rule
from swarmdp.model.streams import derived_seed
from swarmdp.recordings.rule import fit_rule
from swarmdp.recordings.space.analysis import SpaceAnalysis
from swarmdp.recordings.space.arena import Sphere
from swarmdp.recordings.space.interaction import interaction_in_space
from swarmdp.support import files

ROWS = "known_rules_in_space.json"
HALVES = {"development": 83, "final": 4409}  # seeds of the parameter sets
SETS = 3  # of each kind, in each half


def rules(kind: str, half: str, number: int) -> Row:
    """The rule that is read from one recording, and whether an interaction is found."""
    known, seed = _drawn(kind, half, number)
    decisions = record_space_rule(known, seed).decisions()
    arena = Sphere((0.0, 0.0, 0.0), known.rule.tank)
    began = time.process_time()
    found = fit_rule(decisions.train, arena, seed=seed)
    seconds = time.process_time() - began
    test = interaction_in_space(decisions, arena, seed=seed)
    climb, error = found.climb
    return {
        **compare(known.rule, found),
        "structure": found.structure,
        "interaction": test.answer,
        "climb_found": climb > 3 * error,
        "seconds": seconds,
    }


def analysis(kind: str, half: str, number: int) -> Row:
    """The group of the controller that is found in one recording, and what is said of it."""
    known, seed = _drawn(kind, half, number)
    began = time.process_time()
    found = swarmdp.analyse(
        record_space_rule(known, seed),
        seed=seed,
        arena=Sphere((0.0, 0.0, 0.0), known.rule.tank),
        progress=False,
    )
    assert isinstance(found, SpaceAnalysis)
    assert found.verdict is not None
    return {
        "energy": dict(found.distances),
        "family": found.found.family,
        "interaction": found.interaction.answer,
        "parts": 0 if found.rule is None else len(found.rule.parts),
        "reproduces": found.verdict.reproduces,
        "verdict": found.verdict.words,
        "seconds": time.process_time() - began,
    }


def _drawn(kind: str, half: str, number: int) -> tuple[SpaceRule, int]:
    seed = derived_seed(HALVES[half], 100 * KINDS.index(kind) + number)
    return draw_space_rule(kind, np.random.default_rng(seed)), seed


PARTS: dict[str, Callable[[str, str, int], Row]] = {"rules": rules, "analysis": analysis}


def study(output: Path, quick: bool = False, only: Sequence[str] = ()) -> list[Row]:
    """Measure all parts, or some; write and return the rows.

    Parameters
    ----------
    output
        The folder for `known_rules_in_space.json` (the rows) and its table (`.md`).
    quick
        One set of each kind.
    only
        Names of parts, of halves or of kinds.

    """
    chosen = {
        names: [name for name in every if name in only] or list(every)
        for names, every in (("part", PARTS), ("half", HALVES), ("kind", KINDS))
    }
    jobs = [
        Job(
            {"part": part, "kind": kind, "half": half, "set": number},
            partial(PARTS[part], kind, half, number),
        )
        for half in chosen["half"]
        for part in chosen["part"]
        for kind in chosen["kind"]
        for number in range(1 if quick else SETS)
    ]
    done = collect(output / ROWS, jobs, conditions(quick=quick), _line)
    files.write_text(output / "known_rules_in_space.md", table(done))
    return done


def _line(row: Row) -> str:
    return f"{row['part']}, {row['kind']}, {row['half']}, set {row['set']}"


def table(rows: Sequence[Row]) -> str:
    """What was reached, for each half."""
    lines: list[list[str]] = []
    for half in HALVES:
        read = [row for row in rows if row["half"] == half and row["part"] == "rules"]
        lines += [[half, *line] for line in (_rule_lines(read) if read else [])]
        for row in rows:
            if row["half"] == half and row["part"] == "analysis":
                told = ", ".join(f"{name} {value:.2f}" for name, value in row["energy"].items())
                words = "reproduces" if row["reproduces"] else "does not reproduce"
                lines.append([half, f"{row['kind']}: energy distances", f"{told}; {words}"])
    return markdown(["half", "what", "value"], lines)


def _rule_lines(rows: Sequence[Row]) -> list[list[str]]:
    absent = sum(
        len(COMPONENTS) - len(truth_of(_drawn(row["kind"], row["half"], row["set"])[0].rule))
        for row in rows
    )
    errors = [abs(error) for row in rows for error in row["reach_errors"].values()]
    kinds = [row["told_kind"] for row in rows if row["told_kind"] is not None]
    alone = [row for row in rows if row["kind"] == "independent"]
    others = [row for row in rows if row["kind"] != "independent"]
    found = "interaction found"
    return [
        ["recordings", str(len(rows))],
        [
            "signs and presence right",
            f"{sum(row['right'] for row in rows)} of {len(COMPONENTS) * len(rows)}",
        ],
        [
            "components invented",
            f"{sum(len(row['invented']) for row in rows)} of {absent} that are absent",
        ],
        ["error of reaches", f"median {np.median(errors):.1%}, largest {max(errors):.0%}"],
        [
            "k against radius",
            f"right {kinds.count('right')}, wrong {kinds.count('wrong')}, not told "
            f"{kinds.count('not told')} of {len(kinds)}",
        ],
        [
            "leaders found / invented",
            f"{sum(row['leaders_found'] for row in rows)} of "
            f"{sum(row['leaders'] for row in rows)} / "
            f"{sum(row['leaders_invented'] for row in rows)} of "
            f"{sum(30 - row['leaders'] for row in rows)}",
        ],
        ["level flight found", f"{sum(row['climb_found'] for row in rows)} of {len(rows)}"],
        [
            "interaction found, where there is one / where there is none",
            f"{sum(row['interaction'] == found for row in others)} of {len(others)} / "
            f"{sum(row['interaction'] == found for row in alone)} of {len(alone)}",
        ],
        ["processor seconds", f"median {np.median([row['seconds'] for row in rows]):.1f}"],
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    command.main(
        study,
        "known_rules_in_space",
        "Are rules behind recordings in three dimensions found? About half an hour on one core.",
        only=f"parts, halves and kinds: {', '.join([*PARTS, *HALVES, *KINDS])}",
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
