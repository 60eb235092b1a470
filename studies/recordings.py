"""How far recorded swarms can be trusted: zebrafish, and tracks whose rule is known.

The zebrafish are those of the package trajectorytools: 15 (31 s), 100 (9 s) and 8 (18 s); the sheep
come from a file that is named by an environment variable. All is chosen and learned on about two
thirds of a recording and measured on the rest. The known
rule is a reward, from which a policy is learned that moves 40 agents; their tracks get errors of
positions, gaps and swapped identities before anything is estimated from them.
"""

import importlib.util
import itertools
import math
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies import command
from studies.rows import Job, Row, collect, conditions, markdown
from swarmdp import kernels
from swarmdp.irl.frames import recorded_states, started_as
from swarmdp.learning.heterogeneous import HeterogeneousLearning
from swarmdp.model.streams import derived_seed
from swarmdp.model.system import System
from swarmdp.policies import FunctionPolicy, LocalPolicy, TablePolicy
from swarmdp.recordings.calibration import Noise, Wandering, score_grid
from swarmdp.recordings.controller_families import rule_as_it_is
from swarmdp.recordings.controller_search import find_controller
from swarmdp.recordings.controllers import aligning_rule, habitual_policy
from swarmdp.recordings.couzin import Couzin
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.group_distances import group_distance, measured, own_distance
from swarmdp.recordings.interaction import _shift, interaction
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.rule import fit_rule
from swarmdp.recordings.swarm import Swarm
from swarmdp.recordings.view import View
from swarmdp.recordings.zonal import Zonal
from swarmdp.report.analysis_page import write_analysis
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput

Floats = NDArray[np.float64]

ROWS = "recordings.json"
SEEDS = (301, 302, 303, 304, 305)
ITERATIONS = 8  # of Algorithm 1
SHEEP = "SWARMDP_SHEEP"  # environment variable with the file of the sheep
DOG = 14  # among them
RUNS = 40  # of a simulated swarm
BODY = 57.0  # pixels of a body length
LATER = 15.0  # seconds after which the 100 fish are looked at
TANK = swarmdp.recordings.Circle(
    (1751.0, 1741.0), 1617.0
)  # around the border that is marked in the file
SMALL_TANK = swarmdp.recordings.Circle((580.0, 469.0), 400.0)  # likewise
EACH = 8  # data sets of a seed without interaction
NOISE = math.radians(12)
ANGLES = tuple(np.radians([-40.0, -20.0, -8.0, 0.0, 8.0, 20.0, 40.0]).tolist())
STEPS, BEFORE, FRAMES = 300, 40, 4  # of the known rule: decisions, those left out, frames for each


def zebrafish(count: int) -> Recording:
    """A recording of the package trajectorytools; raises InvalidInput if it is not installed."""
    package = importlib.util.find_spec("trajectorytools")
    if package is None or not package.submodule_search_locations:
        raise InvalidInput("the zebrafish come with a package: pip install trajectorytools")
    folder = Path(package.submodule_search_locations[0]) / "data"
    name, fps = {
        8: ("test_trajectories_idtrackerai_with_border.npy", None),
        15: ("trajectories_with_points.npy", None),
        100: ("test_trajectories.npy", 32.0),
    }[count]
    return swarmdp.read_tracks(folder / name, fps=fps, unit="px")


def sheep() -> Recording:
    """The sheep of the file that the environment variable names, without the dog."""
    import pandas

    path = os.environ.get(SHEEP)
    if path is None:
        raise InvalidInput(
            f"set {SHEEP} to the file of the sheep: columns frame (10 a second), individual, x and "
            "y in metres, individual 14 is the dog (github.com/tee-lab, "
            "collective-responses-of-flocking-sheep-to-herding-dog)"
        )
    table = pandas.read_csv(path)
    return Recording.from_frame(table[table.iloc[:, 1] != DOG], fps=10, unit="m")


def autocorrelation(turns: Floats) -> float:
    """Of turns (..., time, individual) from one decision to the next."""
    return float(np.nanmean(turns[..., 1:, :] * turns[..., :-1, :]) / np.nanmean(turns**2))


@cache
def recorded_swarm(count: int) -> tuple[Decisions, Swarm]:
    """The decisions of zebrafish and the swarm that is calibrated from their training part."""
    decisions = zebrafish(count).decisions()
    return decisions, Swarm.from_recording(decisions.train, arena=TANK if count == 15 else "circle")


def fish(count: int, quick: bool, seed: int) -> Row:
    """The controller of zebrafish, and how its swarm compares with the held-out time."""
    decisions, swarm = recorded_swarm(count)
    row = group_of(decisions, swarm, quick, seed)
    controlled = row.pop("controlled")
    row["neighbours"] = swarm.view.nearest
    row["autocorrelation_recorded"] = autocorrelation(decisions.test.turns)
    demo = swarm.demo(decisions.test)
    started = started_as(controlled, demo, recorded_states(swarm, demo))
    steps = round(LATER / swarm.dt)
    later = swarmdp.rollout(
        started, controlled.expert, steps=steps, runs=2 if quick else 10, seed=seed, threads=1
    )
    row["autocorrelation"] = autocorrelation(later["turn"][:, 1:])
    last = measured(swarm, later)
    row["polarisation_later"] = float(last["polarisation"][:, -1].mean())
    row["neighbour_later"] = float(last["nearest_neighbour"][:, -1].mean()) / BODY
    return row


def group_of(decisions: Decisions, swarm: Swarm, quick: bool, seed: int) -> Row:
    """The energy distances of the controller and of what it is compared with."""
    test, runs = decisions.test, 2 if quick else RUNS
    rule = fit_rule(decisions.train, swarm.arena, seed=seed)
    found = find_controller(swarm, rule, seed=derived_seed(seed, 1))
    controlled = Zonal(swarm, found.controller)
    models: dict[str, tuple[System, LocalPolicy]] = {
        "controller": (controlled, FunctionPolicy(controlled.expert)),
        "clone": (swarm, habitual_policy(swarm, swarm.habits)),
        "vicsek": (swarm, FunctionPolicy(aligning_rule(swarm, decisions.train))),
    }
    regression = Zonal(swarm, rule_as_it_is(swarm, rule))
    models["regression"] = regression, FunctionPolicy(regression.expert)
    if not quick:
        couzin = swarm.models["couzin"]()
        assert isinstance(couzin, Couzin)
        models["zone_model"] = couzin, FunctionPolicy(couzin.expert)
    row: Row = {
        f"energy_{name}": group_distance(
            swarm, system, policy, test, seed=derived_seed(seed, 2), runs=runs, threads=1
        )
        for name, (system, policy) in models.items()
    }
    row["energy_recorded"] = own_distance(swarm, decisions.train, test)
    row["reflected"] = found.reflected
    zones = found.controller.model.zones
    row |= {f"reach_of_{name}": zone.reach for name, zone in zones.items()}
    return row | {"family": found.family, "controlled": controlled}


def herd(quick: bool, seed: int) -> Row:
    """The controller of sheep, in the same way."""
    decisions = sheep().decisions()
    row = group_of(decisions, Swarm.from_recording(decisions.train, arena=None), quick, seed)
    row.pop("controlled")
    return row


def analysis(quick: bool, seed: int) -> Row:
    """Processor seconds of the whole analysis of 15 fish, from the file to the page."""
    began = time.process_time()
    usual = swarmdp.recordings.AnalysisSettings(arena=TANK)
    quicker = swarmdp.recordings.AnalysisSettings(arena=TANK, iterations=1, resamples=0)
    analysed = swarmdp.analyse(
        zebrafish(15), seed=seed, settings=quicker if quick else usual, threads=1, progress=False
    )
    with tempfile.TemporaryDirectory() as folder:
        write_analysis(Path(folder), analysed, "fish")
    seconds = time.process_time() - began
    words = "" if analysed.verdict is None else analysed.verdict.words
    return {"processor_seconds": seconds, "answer": analysed.interaction.answer, "verdict": words}


def eight_fish(quick: bool, seed: int) -> Row:
    """What is said of the recording that is too short."""
    decisions = zebrafish(8).decisions()
    swarm = Swarm.from_recording(decisions.train, arena=SMALL_TANK)
    clone = habitual_policy(swarm, swarm.habits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
        verdict = swarmdp.judge(
            clone, decisions.test, system=swarm, seed=seed, quick=True, runs=20, threads=1
        )
    return {"answer": swarm.interaction_test(seed=seed).answer, "verdict": verdict.words}


def interactions_in_shifted(quick: bool, seed: int) -> Row:
    """In how many data sets of 15 fish that are shifted in time an interaction is found."""
    decisions = zebrafish(15).decisions().train
    view = Swarm.from_recording(
        decisions, swarmdp.recordings.Observation(neighbours=3), arena=TANK
    ).view
    rng = np.random.default_rng(seed)
    said = []
    for k in range(1 if quick else EACH):
        offsets = rng.integers(decisions.times, size=decisions.individuals)
        independent = _shift(decisions, offsets)
        test = interaction(
            view, independent, shifts=20, seed=derived_seed(seed, k), any_number=True
        )
        said.append(test.answer)
    return {"sets": len(said), "found": said.count("interaction found")}


def walkers(quick: bool, seed: int) -> Row:
    """In how many swarms of independent walkers in a circle an interaction is found."""
    arena = swarmdp.recordings.Circle((0.0, 0.0), 8.0)
    said = []
    for k in range(1 if quick else EACH):
        rng = np.random.default_rng(derived_seed(seed, k))
        place, heading = rng.uniform(-4, 4, (1, 12, 2)), rng.uniform(-np.pi, np.pi, (1, 12))
        tracks, turn = [place[0]], np.zeros((1, 12))
        for _ in range(200):
            turn = 0.4 * turn + 0.3 * rng.normal(size=turn.shape)
            step = 0.5 * np.exp(0.2 * rng.normal(size=turn.shape))
            place, heading, _ = kernels.recorded.turn_and_move(
                place, heading, turn, step, arena.kind, arena.walls
            )
            tracks.append(place[0])
        decisions = Recording(np.stack(tracks), fps=4, unit="cm").decisions(dt=0.25)
        swarm = Swarm.from_recording(decisions, arena=arena)
        said.append(swarm.interaction_test(seed=derived_seed(seed, k)).answer)
    return {"sets": len(said), "found": said.count("interaction found")}


def swap_identities(positions: Floats, swaps: int, rng: np.random.Generator) -> Floats:
    """Tracks in which identities of nearest neighbours are swapped from some time on."""
    spoiled = positions.copy()
    times, individuals, _ = positions.shape
    for t, n in zip(
        rng.integers(times // 8, times, swaps), rng.integers(individuals, size=swaps), strict=True
    ):
        gaps = np.linalg.norm(spoiled[t] - spoiled[t, n], axis=1)
        gaps[n] = np.inf
        if np.isnan(gaps).all():
            continue
        other = int(np.nanargmin(gaps))
        if np.isfinite(gaps[other]):
            spoiled[t:, [n, other]] = spoiled[t:, [other, n]]
    return spoiled


def swaps(quick: bool, seed: int) -> Row:
    """What 50 swaps of identities do to the gain of the interaction test, in 15 fish."""
    whole = zebrafish(15)
    three = swarmdp.recordings.Observation(neighbours=3)
    rng = np.random.default_rng(seed)
    spoiled = Recording(swap_identities(whole.positions, 50, rng), fps=whole.fps, unit="px")
    gains = []
    for recording in (whole, spoiled):
        swarm = Swarm.from_recording(recording.decisions(dt=0.1875), three, arena=TANK)
        gains.append(swarm.interaction_test(seed=seed).gain)
    return {"gain": gains[0], "gain_swapped": gains[1]}


@cache
def known_rule() -> tuple[Swarm, Floats, LocalPolicy]:
    """A swarm, its additive reward and the policy that was learned for it."""
    features = swarmdp.Product(
        additive=True,
        misalignment=swarmdp.Bins([-np.inf, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, np.inf]),
        bearing=swarmdp.Angles(4),
        spacing=swarmdp.Bins([0.0, 0.6, 1.2, np.inf]),
        wall=swarmdp.Bins(np.arange(-2, 4) - 0.5),
    )
    view = View(features, 7, 0.0, 3.0, swarmdp.recordings.Circle((0.0, 0.0), 12.0), False)
    rng = np.random.default_rng(0)
    angle, away = rng.uniform(0, 2 * np.pi, (40, 40)), 5 * np.sqrt(rng.uniform(size=(40, 40)))
    frames = {
        "position": np.stack([away * np.cos(angle), away * np.sin(angle)], axis=-1),
        "heading": rng.uniform(-np.pi, np.pi, (40, 40)),
        "turn": np.zeros((40, 40)),
        "noise": rng.normal(size=(40, 40)),
        "pace": rng.normal(size=(40, 40)),
    }
    grid = score_grid()
    wobble = Noise(NOISE * grid[None], np.zeros(0), 0.0, NOISE)
    pace = Wandering(3 * np.exp(0.3 * grid), 0.5)
    swarm = Swarm(view, ANGLES, wobble, pace, frames, np.zeros(features.size), 0.25, "BL", None, {})
    aligned, behind = [-0.6, -0.1, 0.4, 1.0, 0.4, -0.1, -0.6], [-0.4, 0.0, 0.4, 0.0]
    weights = np.array([*aligned, *behind, -0.5, 0.4, 0.0, -0.8, -0.2, 0.4, -0.2, -0.8])
    learning = HeterogeneousLearning(steps=200)
    learned = learning(swarm, swarmdp.Reward(weights), discount=0.9, seed=3, threads=1)
    return swarm, weights, learned.policy


def spoiled_tracks(seed: int, steps: int, policy: LocalPolicy | None = None) -> Recording:
    """Tracks of the known rule: errors of 4 % of a step, 5 % gaps, 4 swaps of identities.

    Or of another policy of the same swarm.
    """
    truth, _, usual = known_rule()
    policy = policy or usual
    x = swarmdp.rollout(truth, policy, steps=steps + BEFORE, seed=seed)["position"][0][BEFORE:]
    share = np.arange(FRAMES)[:, None, None] / FRAMES
    between = [a + share * (b - a) for a, b in itertools.pairwise(x)]
    true = np.concatenate([*between, x[-1:]])
    rng = np.random.default_rng(seed)
    tracks = true + 0.03 * rng.normal(size=true.shape)
    times, agents, _ = tracks.shape
    missing = 0
    while missing < 0.05 * times * agents:
        length = int(rng.integers(1, 12))
        t, n = rng.integers(times), rng.integers(agents)
        tracks[t : t + length, n] = np.nan
        missing += length
    return Recording(swap_identities(tracks, 4, rng), fps=FRAMES / truth.dt, unit="BL")


def _means(policy: LocalPolicy, swarm: Swarm) -> Floats:
    assert isinstance(policy, TablePolicy)
    mean: Floats = policy.chances(len(swarm.actions))[0] @ swarm.actions
    return mean


def estimates_of_known_rule(true_classes: bool, quick: bool, seed: int) -> Row:
    """How near what is estimated from spoiled tracks is to the rule that made them.

    Correlations are over the recorded decisions: of the turn that the rule intends in the class of
    the rule with that of a controller in its own class, and of the rewards of both classes.
    """
    truth, weights, policy = known_rule()
    decisions = spoiled_tracks(seed, 100 if quick else STEPS).decisions(dt=truth.dt).train
    if true_classes:
        made = Swarm.seeing(truth.view, decisions, turns=truth.choices)
    else:
        made = Swarm.from_recording(decisions, arena=truth.arena)
    result = swarmdp.fit(
        made, decisions, seed=seed, iterations=1 if quick else ITERATIONS, judge=False, threads=1
    )
    true_class, other = truth.view.classes(decisions), made.view.classes(decisions)
    both = (true_class >= 0) & (other >= 0)
    true_class, other = true_class[both], other[both]
    turns = _means(policy, truth)[true_class]

    def agreement(of_class: Floats) -> float:
        return float(np.corrcoef(turns, of_class[other])[0, 1])

    count = np.maximum(np.bincount(other, minlength=made.features.size), 1)
    best: Floats = np.bincount(other, turns, minlength=made.features.size) / count
    assert truth.features.matrix is not None
    assert made.features.matrix is not None
    rewards = (truth.features.matrix @ weights)[true_class]
    estimated = (made.features.matrix @ result.reward.weights[0])[other]
    return {
        "decisions": decisions.count,
        "neighbours": made.view.nearest,
        "noise": made.wobble.spread / NOISE - 1,
        "turns_learned": agreement(_means(result.policy, made)),
        "turns_habits": agreement(made.habits),
        "turns_possible": agreement(best),  # the most that these classes can tell
        "rewards": float(np.corrcoef(rewards, estimated)[0, 1]),
    }


PARTS: dict[str, Callable[[bool, int], Row]] = {
    "15 fish": partial(fish, 15),
    "100 fish": partial(fish, 100),
    "sheep": herd,
    "8 fish": eight_fish,
    "whole analysis of 15 fish": analysis,
    "shifted in time": interactions_in_shifted,
    "independent walkers": walkers,
    "50 swaps": swaps,
    "known rule": partial(estimates_of_known_rule, False),
    "known rule, its classes": partial(estimates_of_known_rule, True),
}


def study(output: Path, quick: bool = False, only: Sequence[str] = ()) -> list[Row]:
    """Measure all parts, or some; write and return the rows.

    Parameters
    ----------
    output
        The folder for `recordings.json` (the rows) and `recordings.md` (medians over the seeds).
    quick
        One seed, one iteration, few runs.
    only
        Names of parts.

    """
    unknown = set(only) - set(PARTS)
    if unknown:
        raise InvalidInput(f"parts are {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    parts = {name: part for name, part in PARTS.items() if not only or name in only}
    seeds = SEEDS[:1] if quick else SEEDS
    jobs = [
        Job({"part": name, "seed": seed}, partial(part, quick, seed))
        for name, part in parts.items()
        for seed in seeds
    ]
    done = collect(output / ROWS, jobs, conditions(quick=quick), _line)
    files.write_text(output / "recordings.md", table(done))
    return done


def _line(row: Row) -> str:
    return f"{row['part']}, seed {row['seed']}"


def table(rows: Sequence[Row]) -> str:
    """The median of each number over the seeds, and its range, in Markdown."""
    lines = []
    for part in PARTS:
        of_part = [row for row in rows if row["part"] == part]
        for name in of_part[0] if of_part else ():
            if name in ("part", "seed", "quick", "version"):
                continue
            values = [row[name] for row in of_part if name in row]
            if isinstance(values[0], str):
                shown = "; ".join(sorted(set(values)))
            elif name in ("sets", "found"):
                shown = str(sum(values))
            else:
                shown = f"{np.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"
            lines.append([part, name.replace("_", " "), shown])
    return markdown(["part", "number", "median (range) of the seeds, or sum"], lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study from the command line."""
    command.main(
        study,
        "recordings",
        "How far recorded swarms can be trusted: about ten minutes on one core.",
        only=f"parts: {', '.join(PARTS)}",
        arguments=arguments,
    )


if __name__ == "__main__":
    main()
