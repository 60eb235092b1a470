"""Is the rule behind a recording found, and its group reproduced? Swarms whose rule is known.

Parameter sets are drawn at random for each kind of rule (`studies/simulated_rules.py`). The first
half of the sets served to develop the method; the second half was drawn when it was finished and
run once. Each recording is read by `swarmdp.recordings.fit_rule` and, in the part "analysis", by
`swarmdp.analyse`, in the tank that is known. The part "no interaction" asks the interaction test
about walkers that ignore each other, and about the other kinds with every individual shifted in
time. The part "seconds" is the whole analysis with its defaults, of one recording of each half.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import swarmdp
from studies import command
from studies.rows import Job, Row, collect, conditions, markdown
from studies.simulated_rules import KINDS, KnownRule, draw_rule, record_rule
from swarmdp.model.streams import derived_seed
from swarmdp.recordings.arena import Circle
from swarmdp.recordings.interaction import shifted_decisions
from swarmdp.recordings.rule import Rule, fit_rule
from swarmdp.recordings.swarm import Swarm
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput

ROWS = "known_rules.json"
COMPONENTS = ("repulsion", "alignment", "attraction")
HALVES = {"development": 71, "final": 2907}  # seeds of the parameter sets
SETS = 5  # of each kind, in each half
UNUSED = 10  # the number of the first set that no other part reads
LEAST_GAIN = 0.02  # radians, below which a component of a controller does nothing
RULE_SAID = 3  # the number of the sentence with the rule: decisions, swarm, interaction, rule


def truth_of(rule: KnownRule) -> dict[str, float]:
    """The reach of each component that the rule has."""
    reaches = {name: float(getattr(rule, name)) for name in COMPONENTS}
    return {name: reach for name, reach in reaches.items() if reach > 0}


def compare(rule: KnownRule, found: Rule) -> Row:
    """What was found beside what is true."""
    truth = truth_of(rule)
    parts = {part.component: part for part in found.parts}
    row: Row = {
        "right": sum((name in truth) == (name in parts) for name in COMPONENTS),
        "missed": sorted(set(truth) - set(parts)),
        "invented": sorted(set(parts) - set(truth)),
        "reach_errors": {},
        "told_kind": None,
    }
    for name, reach in truth.items():
        nearest = rule.topological and name == "alignment"
        if name in parts:
            zone = parts[name].zone
            rival = parts[name].rival
            same = zone if bool(zone.nearest) == nearest else rival
            if same is not None:
                row["reach_errors"][name] = same.reach / reach - 1
    if "alignment" in parts and "alignment" in truth:
        part = parts["alignment"]
        right = bool(part.zone.nearest) == rule.topological
        row["told_kind"] = "right" if right else "wrong" if part.kind_is_clear else "not told"
    leaders = {str(k) for k in range(rule.leaders)}
    ignoring = set(found.individuals.ignoring)
    row["leaders"] = rule.leaders
    row["leaders_found"] = len(leaders & ignoring)
    row["leaders_invented"] = len(ignoring - leaders)
    return row


def rules(kind: str, half: str, number: int) -> Row:
    """The rule that is read from one recording."""
    rule, seed = rule_of(kind, half, number)
    recording = record_rule(rule, seed)
    began = time.process_time()
    found = fit_rule(recording.decisions().train, Circle((0.0, 0.0), rule.tank), seed=seed)
    return {**compare(rule, found), "structure": found.structure, "seconds": _since(began)}


def analysis(kind: str, half: str, number: int, resamples: int = 0) -> Row:
    """The group of the controller that is found in one recording, and what is said of it."""
    rule, seed = rule_of(kind, half, number)
    recording = record_rule(rule, seed)
    began = time.process_time()
    first: list[float] = []

    def say(text: str) -> None:
        first.append(_since(began))

    usual = swarmdp.recordings.AnalysisSettings()
    found = swarmdp.analyse(
        recording,
        seed=seed,
        settings=replace(
            usual,
            arena=Circle((0.0, 0.0), rule.tank),
            iterations=usual.iterations if resamples else 1,
            resamples=resamples,
        ),
        threads=1,
        progress=False,
        say=say,
    )
    assert found.rule is not None
    assert found.verdict is not None
    reaches = {
        name: zone.reach
        for name, zone in found.controller.model.zones.items()
        if found.controller.gains[found.controller.model.column_of(name)] > LEAST_GAIN
    }
    return {
        "energy": dict(found.distances),
        "family": found.found.family,
        "reflected": found.found.reflected,
        "reaches": reaches,
        "truth": truth_of(rule),
        "interaction": found.interaction.answer,
        "parts": len(found.rule.parts),
        "reproduces": found.verdict.reproduces,
        "verdict": found.verdict.words,
        "first_answer": first[RULE_SAID],
        "seconds": _since(began),
    }


def seconds(kind: str, half: str, number: int) -> Row:
    """The processor seconds of a whole analysis with its defaults, with errors of the reward."""
    found = analysis(kind, half, number, swarmdp.recordings.AnalysisSettings().resamples)
    return {name: found[name] for name in ("first_answer", "seconds")}


def no_interaction(kind: str, half: str, number: int) -> Row:
    """What the interaction test says of individuals of which none reacts to another."""
    rule, seed = rule_of(kind, half, UNUSED + number)
    decisions = record_rule(rule, seed).decisions().train
    if kind != "independent":
        (decisions,) = shifted_decisions(decisions, 1, derived_seed(seed, 1))
    swarm = Swarm.from_recording(decisions, arena=Circle((0.0, 0.0), rule.tank))
    test = swarm.interaction_test(seed=derived_seed(seed, 2))
    usual = float(test.shifted.mean())
    return {"answer": test.answer, "gain": test.gain, "gain_shifted": usual, "p": test.p}


def rule_of(kind: str, half: str, number: int) -> tuple[KnownRule, int]:
    """A parameter set, and the seed of its recording."""
    seed = derived_seed(HALVES[half], 100 * list(KINDS).index(kind) + number)
    return draw_rule(kind, np.random.default_rng(seed)), seed


def _since(began: float) -> float:
    return time.process_time() - began


PARTS: dict[str, Callable[[str, str, int], Row]] = {
    "rules": rules,
    "analysis": analysis,
    "no interaction": no_interaction,
    "seconds": seconds,
}
SETS_OF = {"rules": SETS, "analysis": 3, "seconds": 1}  # each takes its time
WALKERS, SHIFTED = 52, 6  # sets without interaction: of walkers, and of each other kind, shifted
KINDS_OF = {"seconds": ("zones, middle",)}  # all of them, where none are named


def sets_of(part: str, kind: str) -> int:
    """The number of parameter sets of a kind in each half."""
    if part == "no interaction":
        return WALKERS if kind == "independent" else SHIFTED
    return SETS_OF[part]


def study(
    output: Path, quick: bool = False, only: Sequence[str] = (), halves: Sequence[str] = ()
) -> list[Row]:
    """Measure all parts, or some; write and return the rows.

    Parameters
    ----------
    output
        The folder for `known_rules.json` (the rows) and `known_rules.md` (the tables).
    quick
        One set of each kind.
    only
        Names of parts, or of halves of the parameter sets.
    halves
        Halves of the parameter sets; both by default.

    """
    unknown = set(only) - set(PARTS) - set(HALVES)
    if unknown:
        raise InvalidInput(
            f"parts are {', '.join([*PARTS, *HALVES])}, got {', '.join(sorted(unknown))}"
        )
    parts = {name: part for name, part in PARTS.items() if name in only} or PARTS
    chosen = [half for half in HALVES if half in only] or list(halves) or list(HALVES)
    jobs = [
        Job(
            {"part": name, "kind": kind_of, "half": half, "set": number},
            partial(part, kind_of, half, number),
        )
        for half in chosen
        for name, part in parts.items()
        for kind_of in KINDS_OF.get(name, KINDS)
        for number in range(1 if quick else sets_of(name, kind_of))
    ]
    done = collect(output / ROWS, jobs, conditions(quick=quick), _line)
    files.write_text(output / "known_rules.md", table(done))
    return done


def _line(row: Row) -> str:
    return f"{row['part']}, {row['kind']}, {row['half']}, set {row['set']}"


def table(rows: Sequence[Row]) -> str:
    """The goals and what was reached, for each half."""
    lines = []
    for half in HALVES:
        of_half = [row for row in rows if _is_of(row, half, "rules")]
        if of_half:
            lines += [[half, *line] for line in _rule_lines(of_half)]
        of_half = [row for row in rows if _is_of(row, half, "analysis")]
        if of_half:
            lines += [[half, *line] for line in _analysis_lines(of_half)]
        said = [row["answer"] for row in rows if _is_of(row, half, "no interaction")]
        if said:
            invented = f"{said.count('interaction found')} of {len(said)}"
            lines.append([half, "interaction invented where there is none", invented])
        for row in rows:
            if _is_of(row, half, "seconds"):
                told = f"{row['seconds']:.0f}, first answer after {row['first_answer']:.0f}"
                lines.append([half, "processor seconds of a whole analysis", told])
    return markdown(["half", "what", "value"], lines)


def _is_of(row: Row, half: str, part: str) -> bool:
    return (row["half"], row["part"]) == (half, part)


def _rule_lines(rows: Sequence[Row]) -> list[list[str]]:
    right = sum(row["right"] for row in rows)
    invented = sum(len(row["invented"]) for row in rows)
    absent = sum(
        len(COMPONENTS) - len(truth_of(rule_of(row["kind"], row["half"], row["set"])[0]))
        for row in rows
    )
    errors = [abs(error) for row in rows for error in row["reach_errors"].values()]
    kinds = [row["told_kind"] for row in rows if row["told_kind"] is not None]
    leaders = sum(row["leaders"] for row in rows)
    followers = sum(30 - row["leaders"] for row in rows)
    return [
        ["signs and presence right", f"{right} of {len(COMPONENTS) * len(rows)}"],
        ["components invented", f"{invented} of {absent} that are absent"],
        ["error of reaches", f"median {np.median(errors):.1%}, largest {max(errors):.0%}"],
        [
            "k against radius",
            f"right {kinds.count('right')}, wrong {kinds.count('wrong')}, not told "
            f"{kinds.count('not told')} of {len(kinds)}",
        ],
        ["leaders found", f"{sum(row['leaders_found'] for row in rows)} of {leaders}"],
        ["leaders invented", f"{sum(row['leaders_invented'] for row in rows)} of {followers}"],
        ["processor seconds", f"median {np.median([row['seconds'] for row in rows]):.1f}"],
    ]


def _analysis_lines(rows: Sequence[Row]) -> list[list[str]]:
    """The energy distances of each kind, and what was said of all."""
    lines = []
    for kind in KINDS:
        of_kind = [row["energy"] for row in rows if row["kind"] == kind]
        if of_kind:
            told = [
                f"{name} {np.median(values):.2f} ({max(values):.2f})"
                for name in of_kind[0]
                for values in [[energy[name] for energy in of_kind]]
            ]
            lines.append([f"{kind}: energy distance, median (largest)", ", ".join(told)])
    at_its_level = [
        row for row in rows if row["energy"]["controller"] <= row["energy"]["recording itself"]
    ]
    good = sum(row["reproduces"] for row in at_its_level)
    alone = [row for row in rows if row["kind"] == "independent"]
    silent = sum(row["interaction"] != "interaction found" and not row["parts"] for row in alone)
    errors = [
        abs(row["reaches"][name] / reach - 1)
        for row in rows
        for name, reach in row["truth"].items()
        if name in row["reaches"] and row["kind"] != "alignment, nearest"
    ]
    return [
        *lines,
        [
            "'reproduces' where the energy distance is that of the recording itself or less",
            f"{good} of {len(at_its_level)}",
        ],
        ["'reproduces' of all", f"{sum(row['reproduces'] for row in rows)} of {len(rows)}"],
        ["independent walkers: no interaction and no rule", f"{silent} of {len(alone)}"],
        ["error of the controller's reaches", f"median {np.median(errors):.1%}"],
        ["share of steps that a wall reflects", f"at most {max(r['reflected'] for r in rows):.2%}"],
        [
            "processor seconds, without errors of the reward",
            f"median {np.median([row['seconds'] for row in rows]):.0f}, first answer after "
            f"{np.median([row['first_answer'] for row in rows]):.0f}",
        ],
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    command.main(
        study,
        "known_rules",
        "Are rules behind recordings found, and their groups? About an hour on one core.",
        only=f"parts: {', '.join([*PARTS, *HALVES])}",
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
