"""What is measured, against whom, and how good it has to be."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

import swarmdp
from benchmarks import compiled, earlier, gail, optional_peers, peers, processes
from benchmarks.contest import (
    OURS,
    Contestant,
    Goal,
    Measure,
    Unavailable,
    Workload,
    exponent,
    nanoseconds_each,
    no_more_than,
    times_faster,
    times_slower,
)
from benchmarks.earlier import EARLIER, LAST
from benchmarks.swarms import SEED, in_grid_order, states_at, vicsek
from swarmdp.model.adapted import starting_from

CKDTREE = "SciPy cKDTree"
FREUD = "freud AABBQuery"
NUMPY = "NumPy O(N^2)"
NUMPY_BEST = "NumPy O(N^2), fixed point"
C = "C, same cell list"
PLAIN_C = "plain C"
FILTER = "SciPy uniform_filter"
JAX, TORCH, MESA, VMAS = "JAX O(N^2)", "PyTorch O(N^2)", "Mesa", "VMAS flocking, its own model"


@dataclass(frozen=True)
class Swarms:
    """Several swarms of equal size, simulated for a number of steps from a certain age."""

    agents: int
    runs: int
    steps: int
    age: int = 0


@dataclass(frozen=True)
class Share:
    """The part of the work that a slow peer does: a few steps at several ages, of `runs` runs.

    The ages are spread evenly over the time that the others simulate; one leg of all the steps
    is the whole evolution.
    """

    runs: int
    steps: int
    legs: int = 1

    def ages(self, whole: Swarms) -> tuple[int, ...]:
        """When the legs start."""
        stretch = whole.steps / self.legs
        return tuple(
            whole.age + round((leg + 0.5) * stretch - self.steps / 2) for leg in range(self.legs)
        )


SimulatorOf = Callable[[swarmdp.Vicsek], peers.Simulator]


def workloads(quick: bool = False, long: bool = False) -> list[Workload]:
    """All workloads; `quick` makes them small and leaves out those that cannot be.

    `long` adds those that take an hour.
    """
    small = [*_vicsek(quick), *_ising(quick), *_cores(quick), *_recording(quick)]
    if quick:
        return small
    return [
        *small,
        *_earlier(),
        *_calibrated_steps(),
        *_million(),
        *_start(),
        *_peers_that_learn(),
        *_long(long),
    ]


def _vicsek(quick: bool) -> list[Workload]:
    many = Swarms(200, 8, 10) if quick else Swarms(200, 256, 100)
    few, fewer, one = Share(min(many.runs, 8), many.steps), Share(4, many.steps), Share(1, 5)
    medium = Swarms(1000, 1, 10) if quick else Swarms(10_000, 1, 100)
    large = Swarms(2000, 1, 10) if quick else Swarms(100_000, 1, 50)
    clustered = Swarms(1000, 1, 10, age=20) if quick else Swarms(10_000, 1, 50, age=300)
    flocks = Share(2, 1) if quick else Share(32, 1)
    return [
        Workload(
            _title("Vicsek", many),
            "ns",
            (
                _ours(many),
                _peer(CKDTREE, peers.ckdtree, many, few),
                _peer(FREUD, peers.freud, many, fewer, tolerance=1e-4),
                _peer(NUMPY_BEST, peers.numpy_fixed_point, many, few),
                _peer(NUMPY, peers.numpy_all_pairs, many, few),
                _peer(C, compiled.vicsek, many, Share(many.runs, many.steps)),
                _peer(JAX, optional_peers.jax_all_pairs, many, few),
                _peer(TORCH, optional_peers.torch_all_pairs, many, few),
                _peer(MESA, optional_peers.mesa_agents, many, one),
                _flocking(many.agents, flocks),
            ),
            (
                times_faster(CKDTREE, 22),
                times_faster(FREUD, 120),
                times_faster(NUMPY_BEST, 13),
                times_faster(NUMPY),
                times_slower(C, 1.15),
                times_faster(JAX),
                times_faster(TORCH),
                times_faster(MESA),
                times_faster(VMAS),
            ),
        ),
        *(
            Workload(
                _title("Vicsek", swarm),
                "ns",
                (
                    _ours(swarm),
                    _peer(CKDTREE, peers.ckdtree, swarm, share),
                    _peer(FREUD, peers.freud, swarm, share, tolerance=1e-4),
                    _peer(C, compiled.vicsek, swarm, Share(1, swarm.steps)),
                ),
                (times_faster(CKDTREE, 8), times_faster(FREUD, 25), times_slower(C, 1.15)),
            )
            for swarm, share in ((medium, Share(1, 1, legs=5)), (large, Share(1, 1, legs=3)))
        ),
        Workload(
            _title("Vicsek", clustered),
            "ns",
            (
                _ours(clustered),
                _peer(CKDTREE, peers.ckdtree, clustered, Share(1, 1, legs=5)),
                _peer(C, compiled.vicsek, clustered, Share(1, clustered.steps)),
            ),
            (times_faster(CKDTREE, 10), times_slower(C)),
        ),
    ]


def _million() -> list[Workload]:
    swarm = Swarms(1_000_000, 1, 16)
    # Several runs of the smaller swarms, so that fixed costs of a step do not flatter the exponent.
    sizes = [Swarms(1000, 200, 8), Swarms(10_000, 20, 8), Swarms(100_000, 2, 8), swarm]
    ladder = [_ours(Swarms(s.agents, s.runs, 8), name=f"N={_size(s.agents)}") for s in sizes]
    return [
        Workload(
            _title("Vicsek", swarm),
            "ns",
            (
                _ours(swarm),
                _peer(CKDTREE, peers.ckdtree, swarm, Share(1, 1, legs=2)),
                _peer(C, compiled.vicsek, swarm, Share(1, swarm.steps)),
            ),
            (times_faster(CKDTREE, 6), times_slower(C, 1.15)),
        ),
        Workload(
            "Vicsek, exponent of time against N",
            "ns",
            tuple(ladder),
            (exponent({rung.name: s.agents for rung, s in zip(ladder, sizes, strict=True)}, 1.12),),
        ),
        Workload(
            "Vicsek N=1e6, memory for each agent",
            "B",
            (Contestant(OURS, partial(processes.bytes_per_agent, 1_000_000, 10), {"steps": 10}),),
            (no_more_than(130),),
            warm_up=False,
        ),
    ]


def _ising(quick: bool) -> list[Workload]:
    small, large = ((20, 20), (50, 50)) if quick else ((100, 100), (1000, 1000))
    runs, share, steps, repeats = (4, 2, 5, 2) if quick else (64, 16, 200, 20)
    return [
        _ising_step(small, runs, share, steps),
        _ising_step(large, 1, 1, steps),
        _ising_observation(small, runs, steps, repeats),
        _ising_observation(large, 1, steps, repeats),
    ]


def _cores(quick: bool) -> list[Workload]:
    many = Swarms(200, 8, 10) if quick else Swarms(200, 256, 100)
    pairs = [(many, 1.7)] if quick else [(many, 1.7), (Swarms(1_000_000, 1, 8), 1.75)]
    one, two = f"{OURS}, 1 thread", f"{OURS}, 2 threads"
    return [
        Workload(
            f"two cores: {_title('Vicsek', swarm)}",
            "ns",
            (_ours(swarm, name=one), _ours(swarm, threads=2, name=two)),
            (times_faster(one, limit, ours=two),),
        )
        for swarm, limit in pairs
    ]


def _recording(quick: bool) -> list[Workload]:
    """What recording the states of a large swarm adds to a step."""
    swarm = Swarms(2000, 1, 10) if quick else Swarms(100_000, 1, 20)
    model = vicsek(swarm.agents)

    def recording(record: object) -> Callable[[], Measure]:
        def prepare() -> Measure:
            def work() -> None:
                swarmdp.rollout(
                    model,
                    model.expert,
                    steps=swarm.steps,
                    seed=SEED,
                    record=record,  # type: ignore[arg-type]
                    threads=1,
                )

            return nanoseconds_each(work, swarm.steps * swarm.agents)

        return prepare

    states, order = "states recorded", "order parameter recorded"
    added = Goal(states, order, lambda r: r[states] / r[order] - 1, "at most", 0.2, (states, order))
    return [
        Workload(
            f"recording states of {_title('Vicsek', swarm)}: added share",
            "ns",
            (
                Contestant(states, recording("states"), asdict(swarm)),
                Contestant(order, recording(model.order), asdict(swarm)),
            ),
            (added,),
        )
    ]


def _earlier() -> list[Workload]:
    """Steps of Ising, fits and batches of fits beside version 0.1.0; judged fits beside 0.2.0."""
    on_one: list[tuple[str, str, dict[str, object], float]] = [
        (
            "Ising 100x100, 64 runs that share a policy",
            "ising shared policy",
            {"side": 100, "steps": 100},
            8,
        ),
        ("Ising 100x100, learning runs", "ising learning", {"side": 100}, 2.5),
        ("one default Vicsek fit, one core", "vicsek fit", {}, 3.5),
        ("one default Ising fit, one core", "ising fit", {}, 5),
    ]
    judged = [("Vicsek", "judged vicsek fit"), ("Ising", "judged ising fit")]
    batch = earlier.contestants("batch of fits", {"size": 100}, "perf_counter")
    return [
        *(
            Workload(name, "s", earlier.contestants(work, sizes), (times_faster(EARLIER, limit),))
            for name, work, sizes, limit in on_one
        ),
        *(
            Workload(
                f"one default {name} fit with its verdict, one core",
                "s",
                earlier.contestants(work, {}, version=LAST),
                (times_slower(LAST, 2),),
            )
            for name, work in judged
        ),
        Workload(
            "100 Vicsek fits as one batch, two cores",
            "s",
            batch,
            (times_faster(EARLIER, 3),),
            most_rounds=2,
        ),
    ]


def _calibrated_steps() -> list[Workload]:
    """A step of a swarm calibrated from a recording beside Vicsek's, same number of agents."""
    swarm = Swarms(200, 16, 50)
    name = "Vicsek"

    def ours() -> Measure:
        model = swarmdp.Vicsek(n_agents=swarm.agents, radius=0.1, speed=0.03, noise=0.35)
        run = swarmdp.rollout(model, model.expert, steps=240, seed=SEED)
        decisions = swarmdp.Recording(run["position"][0], fps=4, unit="m").decisions(dt=0.25)
        calibrated = swarmdp.recordings.Swarm.from_recording(
            decisions.train,
            swarmdp.recordings.Observation(neighbours=7),
            arena=swarmdp.recordings.Periodic((1.0, 1.0)),
        )
        policy = swarmdp.Policy(np.arange(calibrated.features.size) % len(calibrated.actions))

        def work() -> None:
            swarmdp.rollout(
                calibrated,
                policy,
                steps=swarm.steps,
                runs=swarm.runs,
                seed=SEED,
                record=swarmdp.simulation.DiscountedFeatures(0.9),
                threads=1,
            )

        return nanoseconds_each(work, swarm.runs * swarm.steps * swarm.agents)

    return [
        Workload(
            f"calibrated {_title('swarm', swarm)}",
            "ns",
            (Contestant(OURS, ours, asdict(swarm)), _ours(swarm, name=name)),
            (times_slower(name, 2.5),),
        )
    ]


def _peers_that_learn() -> list[Workload]:
    """GAIL with shared parameters on the same demo: processor time to the distance of a fit."""
    return [
        Workload(
            "learning the Vicsek swarm: processor time to the same distance",
            "s",
            (
                Contestant(gail.OURS_LEARNS, gail.time_fit, {"needs_actions": False}),
                Contestant(gail.GAIL, gail.time_gail, {"needs_actions": True}),
            ),
            (times_faster(gail.GAIL, ours=gail.OURS_LEARNS),),
            warm_up=False,
            most_rounds=1,
        )
    ]


def _long(included: bool) -> list[Workload]:
    """What takes an hour: the paper's scale, and fits of very large swarms."""
    if not included:
        return []
    sizes = {f"N={_size(agents)}": agents for agents in (10_000, 100_000, 1_000_000)}

    def fitting(agents: int) -> Callable[[], Measure]:
        def prepare() -> Measure:
            model = vicsek(agents)
            demo = swarmdp.rollout(
                model,
                model.expert,
                steps=50,
                seed=SEED,
                record=swarmdp.simulation.DiscountedFeatures(0.9),
            )
            features = demo["discounted_features"]

            def work() -> None:
                swarmdp.fit(model, features, seed=SEED, iterations=3, judge=False)

            return nanoseconds_each(work, agents)

        return prepare

    return [
        Workload(
            "reproduce --scale paper, two cores",
            "s",
            earlier.contestants("reproduction", {"scale": "paper"}, "perf_counter"),
            (times_faster(EARLIER, 2.6),),
            warm_up=False,
            most_rounds=1,
        ),
        Workload(
            "fit of large Vicsek swarms, exponent of time against N",
            "ns",
            tuple(Contestant(name, fitting(n), {"agents": n}) for name, n in sizes.items()),
            (exponent(sizes, 1.1),),
            warm_up=False,
            most_rounds=1,
        ),
    ]


def _start() -> list[Workload]:
    return [
        _single("start: import swarmdp, beside NumPy", processes.import_seconds, 0.3),
        _single("start: swarmdp --help", processes.help_seconds, 0.6),
        _single(
            "start: first rollout, kernels cached",
            processes.first_rollout_seconds,
            1.0,
        ),
        _single(
            "start: first rollout of the wheel, no cache",
            partial(processes.first_use_of_the_wheel, processes.FIRST_ROLLOUT),
            1.5,
        ),
        _single(
            "start: first fit of the wheel, no cache",
            partial(processes.first_use_of_the_wheel, processes.FIRST_FIT),
            3.0,
        ),
    ]


def _single(
    name: str, prepare: Callable[[], Measure], limit: float, warm_up: bool = True
) -> Workload:
    return Workload(name, "s", (Contestant(OURS, prepare),), (no_more_than(limit),), warm_up)


def _title(model: str, swarm: Swarms) -> str:
    runs = "one run" if swarm.runs == 1 else f"{swarm.runs} runs"
    age = f" after {swarm.age} steps" if swarm.age else ""
    return f"{model} N={_size(swarm.agents)}{age}, {runs} x {swarm.steps} steps"


def _size(agents: int) -> str:
    return str(agents) if agents < 1000 else f"{agents:.0e}".replace("e+0", "e")


def _ours(swarm: Swarms, threads: int = 1, name: str = OURS) -> Contestant:
    """Our roll-out that records the order parameter."""

    def prepare() -> Measure:
        if threads > (os.cpu_count() or 1):
            raise Unavailable(f"there are fewer than {threads} cores")
        model = vicsek(swarm.agents)
        start = states_at(model, swarm.runs, (swarm.age,))[0] if swarm.age else None
        continued = starting_from(model, start)

        def work() -> None:
            swarmdp.rollout(
                continued,
                model.expert,
                steps=swarm.steps,
                runs=swarm.runs,
                seed=SEED,
                record=model.order,
                threads=threads,
            )

        return nanoseconds_each(work, swarm.runs * swarm.steps * swarm.agents)

    return Contestant(name, prepare, {**asdict(swarm), "threads": threads})


def _peer(
    name: str, simulator_of: SimulatorOf, swarm: Swarms, share: Share, tolerance: float = 1e-9
) -> Contestant:
    """A peer's simulation that computes the order parameter, on states of the same age."""
    ages = share.ages(swarm)

    def prepare() -> Measure:
        peers.check_vicsek(simulator_of, tolerance)
        model = vicsek(swarm.agents)
        simulator = simulator_of(model)
        starts = states_at(model, share.runs, ages)

        def work() -> None:
            for start in starts:
                simulator.simulate(start["position"], start["heading"], share.steps)

        return nanoseconds_each(work, len(starts) * share.runs * share.steps * swarm.agents)

    done = {"agents": swarm.agents, "runs": share.runs, "steps": share.steps, "from_steps": ages}
    return Contestant(name, prepare, done)


def _flocking(agents: int, share: Share) -> Contestant:
    def prepare() -> Measure:
        simulate = optional_peers.vmas_flocking(share.runs, agents, share.steps)
        return nanoseconds_each(simulate, share.runs * share.steps * agents)

    return Contestant(VMAS, prepare, {"agents": agents, "runs": share.runs, "steps": share.steps})


def _ising_step(shape: tuple[int, int], runs: int, share: int, steps: int) -> Workload:
    """Whole steps that record the global energy, ours with all runs, the peer with a share."""
    model = swarmdp.Ising(shape=shape)
    spins = model.n_agents

    def ours() -> Measure:
        (start,) = states_at(model, runs, (0,))
        continued = starting_from(model, in_grid_order(model, start))

        def work() -> None:
            swarmdp.rollout(
                continued,
                model.expert,
                steps=steps,
                runs=runs,
                seed=SEED,
                record=model.energy,
                threads=1,
            )

        return nanoseconds_each(work, runs * steps * spins)

    def theirs() -> Measure:
        peer = peers.UniformFilter(model)
        peers.check_ising(lambda model: peers.UniformFilter(model).energies)
        (start,) = states_at(model, share, (0,))
        grid = model.grid(start)
        return nanoseconds_each(lambda: peer.simulate(grid, steps), share * steps * spins)

    return Workload(
        f"Ising {shape[0]}x{shape[1]}, {runs} run{'s' * (runs > 1)} x {steps} steps",
        "ns",
        (
            Contestant(OURS, ours, {"spins": spins, "runs": runs, "steps": steps, "threads": 1}),
            Contestant(FILTER, theirs, {"spins": spins, "runs": share, "steps": steps}),
        ),
        (times_faster(FILTER, 8),),
    )


def _ising_observation(shape: tuple[int, int], runs: int, steps: int, repeats: int) -> Workload:
    """The observation alone, at several ages of the grid."""
    model = swarmdp.Ising(shape=shape)
    ages = (0, 1, steps // 2, steps)
    calls = repeats * len(ages)

    def ours() -> Measure:
        states = [in_grid_order(model, state) for state in states_at(model, runs, ages)]

        def work() -> None:
            for _ in range(repeats):
                for state in states:
                    model.observe(state)

        return nanoseconds_each(work, calls * runs * model.n_agents)

    def theirs() -> Measure:
        peers.check_ising(lambda _: compiled.local_energy)
        grids = [np.ascontiguousarray(model.grid(state)) for state in states_at(model, runs, ages)]

        def work() -> None:
            for _ in range(repeats):
                for grid in grids:
                    compiled.local_energy(grid)

        return nanoseconds_each(work, calls * runs * model.n_agents)

    covers = {"spins": model.n_agents, "runs": runs, "calls": calls, "at_steps": ages}
    return Workload(
        f"Ising {shape[0]}x{shape[1]}, observation of {runs} run{'s' * (runs > 1)}",
        "ns",
        (Contestant(OURS, ours, covers), Contestant(PLAIN_C, theirs, covers)),
        (times_slower(PLAIN_C, 1.6),),
    )
