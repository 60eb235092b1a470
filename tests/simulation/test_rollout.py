import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import Levels, Policy
from swarmdp.model import Stream
from swarmdp.model.streams import Purpose, Streams
from swarmdp.model.system import State
from swarmdp.simulation import DiscountedFeatures
from swarmdp.support.errors import InvalidInput, RecordingTooLarge
from swarmdp.support.threads import thread_count

VICSEK = swarmdp.Vicsek(n_agents=60)
ISING = swarmdp.Ising((12, 15))


@dataclass(frozen=True)
class StepByStep:
    """A system as everybody else's: it observes and moves, and takes no whole steps."""

    system: swarmdp.Vicsek

    def __post_init__(self) -> None:
        # Not __getattr__: what it gives, protocols overlook.
        for name in dir(self.system):
            if not name.startswith("_") and name not in ("whole_steps", "fused_measures"):
                object.__setattr__(self, name, getattr(self.system, name))


def rollout_by_hand(system: Any, steps: int, seed: int, run: int) -> list[State]:
    """The loop of the paper for one run, without any machinery."""
    streams = Streams.of(seed, [run], system.n_agents)
    state = system.initial(streams.at(0, Purpose.INITIAL))
    states = [state]
    for step in range(steps):
        actions = system.expert(system.observe(state))
        state = system.transition(state, actions, streams.at(step, Purpose.TRANSITION))
        states.append(state)
    return states


@pytest.mark.parametrize("system", [VICSEK, ISING], ids=["vicsek", "ising"])
def test_states_are_those_of_the_plain_loop(system: Any) -> None:
    trajectory = swarmdp.rollout(system, system.expert, steps=6, runs=3, seed=9)
    for run in range(3):
        for time, state in enumerate(rollout_by_hand(system, 6, 9, run)):
            for name, array in state.items():
                constant = system.fields[name].constant
                actual = trajectory[name][run] if constant else trajectory[name][run, time]
                np.testing.assert_array_equal(actual, array[0])


@pytest.mark.parametrize("system", [VICSEK, ISING], ids=["vicsek", "ising"])
def test_same_bits_for_every_batch_and_number_of_threads(
    system: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = swarmdp.rollout(system, system.expert, steps=8, runs=64, seed=3, threads=1)
    run_bytes = sum(a.nbytes for a in whole.values()) // 64 // 9
    for batch in (1, 7, 64):
        for threads in (1, 2):
            monkeypatch.setattr("swarmdp.simulation.rollout.CHUNK_BYTES", batch * 2 * run_bytes)
            again = swarmdp.rollout(
                system, system.expert, steps=8, runs=64, seed=3, threads=threads
            )
            for name in whole:
                np.testing.assert_array_equal(again[name], whole[name])
    few = swarmdp.rollout(system, system.expert, steps=8, runs=7, seed=3)
    for name in whole:
        np.testing.assert_array_equal(few[name], whole[name][:7])


def test_a_large_swarm_gives_the_same_bits_on_two_threads_and_in_any_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = swarmdp.Vicsek(n_agents=45_000, radius=0.01, speed=0.01)
    record = ["states", system.order, DiscountedFeatures(0.9)]
    swarms: list[Any] = [system, StepByStep(system)]
    arranged = [
        swarmdp.rollout(swarm, system.expert, steps=10, seed=4, record=record, threads=threads)
        for swarm in swarms
        for threads in (1, 2)
    ]
    monkeypatch.setattr("swarmdp.systems.vicsek.REARRANGE_FROM", 10**9)
    plain = swarmdp.rollout(swarms[1], system.expert, steps=10, seed=4, record=record, threads=1)
    for name in plain:
        for other in arranged:
            np.testing.assert_array_equal(other[name], plain[name])


WHOLE = {
    "periodic": VICSEK,
    "few cells": swarmdp.Vicsek(n_agents=30, radius=0.3, speed=0.4),
    "no cells": swarmdp.Vicsek(n_agents=30, radius=0.4),
    "open": swarmdp.Vicsek(n_agents=60, periodic=False, speed=0.02),
    "quiet": swarmdp.Vicsek(n_agents=60, noise=0.0, n_bins=7),
    "dense": swarmdp.Vicsek(n_agents=600, box=0.4, speed=0.01),
    "alone": swarmdp.Vicsek(n_agents=1),
}
RECORDED = ["states", "observations", "actions", "order", DiscountedFeatures(0.7)]


@pytest.mark.parametrize("name", WHOLE)
def test_whole_steps_give_the_bits_of_single_ones(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = WHOLE[name]
    monkeypatch.setattr("swarmdp.simulation.rollout.WHOLE_STEPS", 2 * 5 * system.n_agents)
    rng = np.random.default_rng(5)
    table = Policy(rng.integers(len(system.actions), size=(2, system.n_bins)))
    for policy in (system.expert, table):

        def rolled(moved: Any, threads: int, policy: Any = policy) -> swarmdp.Trajectory:
            return swarmdp.rollout(
                moved, policy, steps=12, runs=2, seed=8, record=RECORDED, threads=threads
            )

        plain, whole = rolled(StepByStep(system), 1), rolled(system, 1)
        with monkeypatch.context() as patched:
            patched.setattr("swarmdp.support.parallel.SMALLEST_SHARE", 5)
            shared = rolled(system, 6)  # three for the kernels of each run
        for variable in plain:
            np.testing.assert_array_equal(whole[variable], plain[variable], variable)
            np.testing.assert_array_equal(shared[variable], plain[variable], variable)


def test_whole_steps_are_taken_where_they_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    class Turned(swarmdp.Vicsek):
        """Nothing but another class: it may have changed what a step is."""

    observed = 0
    observe = swarmdp.Vicsek.observe

    def counted(system: swarmdp.Vicsek, state: State) -> NDArray[np.float64]:
        nonlocal observed
        observed += 1
        return observe(system, state)

    monkeypatch.setattr(swarmdp.Vicsek, "observe", counted)

    def observations(system: swarmdp.Vicsek, policy: Any, **options: Any) -> int:
        nonlocal observed
        observed = 0
        swarmdp.rollout(system, policy, steps=6, seed=1, threads=1, **options)
        return observed

    table = Policy(np.zeros(36, int))
    start = swarmdp.rollout(VICSEK, VICSEK.expert, steps=1, seed=2)
    for policy in (VICSEK.expert, table):
        assert observations(VICSEK, policy) == 1  # the probe
        assert observations(VICSEK, policy, initial=start) == 1
        assert observations(VICSEK, policy, record=VICSEK.order) == 1
    assert observations(VICSEK, lambda angles: 0.5 * angles) == 7
    assert observations(VICSEK, table, record=lambda state: state["heading"].mean(1)) == 7
    assert observations(Turned(n_agents=60), table) == 7


def test_seeds_and_runs_differ() -> None:
    one = swarmdp.rollout(VICSEK, VICSEK.expert, steps=1, runs=2, seed=1)["heading"]
    two = swarmdp.rollout(VICSEK, VICSEK.expert, steps=1, runs=2, seed=2)["heading"]
    assert not np.isin(one, two).any()
    assert not np.isin(one[0], one[1]).any()


def test_observations_actions_measures_and_reductions() -> None:
    trajectory = swarmdp.rollout(
        VICSEK,
        VICSEK.expert,
        steps=5,
        runs=4,
        seed=2,
        record=["states", "observations", "actions", VICSEK.order, DiscountedFeatures(0.7)],
    )
    assert trajectory["observations"].shape == (4, 6, 60)
    assert trajectory["actions"].shape == (4, 5, 60)
    np.testing.assert_array_equal(trajectory["actions"], trajectory["observations"][:, :5])
    np.testing.assert_array_equal(trajectory["order"], VICSEK.order(trajectory))
    index = VICSEK.features.index(trajectory["observations"])
    share = (index[..., None] == np.arange(36)).mean(axis=2)
    expected = (0.7 ** np.arange(6)[:, None] * share).sum(axis=1)
    np.testing.assert_allclose(trajectory["discounted_features"], expected, atol=1e-14)


def test_observations_of_a_rearranged_swarm_are_in_the_agents_own_order() -> None:
    trajectory = swarmdp.rollout(
        ISING, ISING.expert, steps=3, runs=2, seed=5, record=["states", "observations", "actions"]
    )
    for time in range(4):
        state = {"site": trajectory["site"], "spin": trajectory["spin"][:, time].copy()}
        np.testing.assert_array_equal(trajectory["observations"][:, time], ISING.observe(state))
    np.testing.assert_array_equal(trajectory["actions"], trajectory["observations"][:, :3] > 12)


def test_recordings_can_be_named() -> None:
    record = {"alignment": VICSEK.order, "mu": DiscountedFeatures(0.5), "seen": "observations"}
    trajectory = swarmdp.rollout(VICSEK, VICSEK.expert, steps=1, seed=1, record=record)
    assert set(trajectory) == set(record)


def test_a_measure_may_return_several_values_for_each_run() -> None:
    def mean_heading(state: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        angle = state["heading"]
        return np.stack([np.cos(angle).mean(axis=1), np.sin(angle).mean(axis=1)], axis=1)

    trajectory = swarmdp.rollout(
        VICSEK, VICSEK.expert, steps=4, runs=3, seed=1, record=mean_heading
    )
    assert trajectory["mean_heading"].shape == (3, 5, 2)


def test_zero_steps_give_the_initial_state() -> None:
    trajectory = swarmdp.rollout(VICSEK, VICSEK.expert, steps=0, seed=1)
    assert trajectory["heading"].shape == (1, 1, 60)


def test_run_i_follows_replica_i_modulo_r() -> None:
    keep_and_flip = Policy(np.stack([np.zeros(25, int), np.ones(25, int)]))
    spin = swarmdp.rollout(ISING, keep_and_flip, steps=1, runs=4, seed=1)["spin"]
    changed = (spin[:, 0] != spin[:, 1]).all(axis=1)
    np.testing.assert_array_equal(changed, [False, True, False, True])
    with pytest.raises(InvalidInput, match="multiple of the policy's 2 replicas, got 3"):
        swarmdp.rollout(ISING, keep_and_flip, steps=1, runs=3, seed=1)


def test_memory_does_not_grow_with_the_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """10000 runs of states would take 9.7 GB; their order parameter takes 8 MB."""

    class Little:
        available = 100 * 2**20

    monkeypatch.setattr("psutil.virtual_memory", lambda: Little)
    system = swarmdp.Vicsek()
    with pytest.raises(RecordingTooLarge, match=r"needs 4\.515 GiB, but 100 MiB"):
        swarmdp.rollout(system, system.expert, steps=100, runs=10_000, seed=1)
    trajectory = swarmdp.rollout(
        system, system.expert, steps=1, runs=10_000, seed=1, record=system.order
    )
    assert trajectory["order"].shape == (10_000, 2)


def test_a_recording_that_cannot_fit_is_refused_before_it_starts() -> None:
    system = swarmdp.Vicsek(n_agents=100_000)
    with pytest.raises(RecordingTooLarge, match="TiB.*record=vicsek.order"):
        swarmdp.rollout(system, system.expert, steps=10**6, runs=100, seed=1)


def test_progress_can_be_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swarmdp.simulation.rollout.PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr("swarmdp.simulation.rollout.WHOLE_STEPS", 1)
    for threads in (1, 2):
        seen: list[tuple[int, int]] = []
        swarmdp.rollout(
            VICSEK,
            VICSEK.expert,
            steps=20,
            runs=5,
            seed=1,
            threads=threads,
            progress=lambda done, total, seen=seen: seen.append((done, total)),
        )
        assert seen[-1] == (100, 100)
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert len(seen) > 20


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_stops_all_threads(threads: int) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    system = swarmdp.Vicsek(n_agents=2000)
    with pytest.raises(KeyboardInterrupt):
        swarmdp.rollout(
            system,
            system.expert,
            steps=10**5,
            runs=50,
            seed=1,
            record=system.order,
            threads=threads,
            progress=interrupt,
        )
    assert threading.active_count() <= before + 2


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_the_policy_is_raised(threads: int) -> None:
    calls = 0

    def policy(observations: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal calls
        calls += 1
        if calls >= 5:  # of two threads none may see the 5
            raise RuntimeError("the fifth call fails")
        return observations

    with pytest.raises(RuntimeError, match="fifth call"):
        swarmdp.rollout(VICSEK, policy, steps=50, runs=8, seed=1, threads=threads)


class Broken:
    """A system that is right but for what a test breaks."""

    settings: dict[str, Any] = {}  # noqa: RUF012 - never changed

    n_agents = 4
    actions = np.array([0, 1])
    features = swarmdp.Levels(2)

    def initial(self, rng: Stream) -> State:
        return {"x": rng.integers(2)}

    def observe(self, state: State) -> NDArray[Any]:
        return state["x"]

    def transition(self, state: State, actions: NDArray[Any], rng: Stream) -> State:
        return {"x": actions}

    def policy(self, observations: NDArray[Any]) -> NDArray[Any]:
        return observations


def test_wrong_shapes_are_refused_at_once() -> None:
    class WrongState(Broken):
        def initial(self, rng: Stream) -> State:
            return {"x": np.zeros(4)}

    class WrongObservation(Broken):
        def observe(self, state: State) -> NDArray[Any]:
            return np.zeros((1, 3))

    for system, message in (
        (WrongState(), r"state 'x' of one run must be an array of shape \(1, 4, ...\)"),
        (WrongObservation(), r"the observations of one run .* got shape \(1, 3\)"),
    ):
        with pytest.raises(InvalidInput, match=message):
            swarmdp.rollout(system, system.policy, steps=1, seed=1)
    with pytest.raises(InvalidInput, match=r"the policy's actions .* got float"):
        swarmdp.rollout(Broken(), lambda o: 1.0, steps=1, seed=1)  # type: ignore[arg-type, return-value]
    with pytest.raises(InvalidInput, match="the measure 'count'"):
        swarmdp.rollout(
            Broken(),
            Broken().policy,
            steps=1,
            seed=1,
            record={"count": lambda state: np.array(3)},
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": -1}, "steps must be an integer of at least 0"),
        ({"steps": 1.5}, "steps must be an integer"),
        ({"runs": 0}, "runs must be an integer of at least 1"),
        ({"runs": True}, "runs must be an integer"),
        ({"seed": -1}, "seed must be"),
        ({"threads": 0}, "threads must be an integer of at least 1"),
        ({"record": "state"}, 'record must be "states"'),
        ({"record": 3}, 'record must be "states"'),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        swarmdp.rollout(VICSEK, VICSEK.expert, **{"steps": 1, "seed": 1, **change})


def test_what_is_not_a_system_or_policy_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is not a system: it needs n_agents"):
        swarmdp.rollout("vicsek", VICSEK.expert, steps=1, seed=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="the policy must be"):
        swarmdp.rollout(VICSEK, 3, steps=1, seed=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="discount must be in .* Choose one below 1"):
        DiscountedFeatures(1.0)


def test_threads_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARMDP_THREADS", "3")
    assert thread_count() == 3
    assert thread_count(5) == 5
    monkeypatch.setenv("SWARMDP_THREADS", "many")
    with pytest.raises(InvalidInput, match="SWARMDP_THREADS must be a positive integer"):
        thread_count()
    monkeypatch.delenv("SWARMDP_THREADS")
    assert thread_count() >= 1


def test_threads_that_do_not_start_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    system = swarmdp.Ising((6, 6))
    trajectory = swarmdp.rollout(system, system.expert, steps=2, runs=4, seed=1, threads=1)
    for work in (
        lambda: swarmdp.rollout(system, system.expert, steps=2, runs=4, seed=1, threads=2),
        lambda: trajectory.save("nowhere.nc"),
    ):
        with pytest.raises(
            swarmdp.errors.NotEnoughMemory, match="starts no more threads. Use fewer"
        ):
            work()


def test_a_measure_sees_the_agents_in_their_own_order() -> None:
    trajectory = swarmdp.rollout(
        ISING,
        ISING.expert,
        steps=2,
        runs=2,
        seed=1,
        record={"states": "states", "copy": lambda state: state["spin"].copy()},
    )
    np.testing.assert_array_equal(trajectory["copy"], trajectory["spin"])


def test_recordings_of_the_same_name_are_refused() -> None:
    record = [DiscountedFeatures(0.9), DiscountedFeatures(0.1)]
    with pytest.raises(InvalidInput, match="several recordings are called 'discounted_features'"):
        swarmdp.rollout(VICSEK, VICSEK.expert, steps=1, seed=1, record=record)


def test_an_agent_that_is_not_there_is_refused() -> None:
    from swarmdp.simulation.recorders import SingleAgentFeatures

    for agent in (-1, 60):
        with pytest.raises(InvalidInput, match="agent must be from 0 to 59"):
            swarmdp.rollout(
                VICSEK, VICSEK.expert, steps=1, seed=1, record=SingleAgentFeatures(0.9, agent)
            )


@pytest.mark.parametrize("shift", [1, -1, 0.5])
def test_a_feature_map_out_of_range_is_refused(shift: float) -> None:
    class OffByOne:
        size, shape, matrix = 2, (), None
        axes = Levels(2).axes
        blocks = Levels(2).blocks

        def index(self, observations: NDArray[Any]) -> NDArray[Any]:
            return observations + shift

    class System(Broken):
        features = OffByOne()  # type: ignore[assignment]

    system = System()
    with pytest.raises(InvalidInput, match="features.index must return"):
        swarmdp.rollout(
            system, system.policy, steps=3, runs=5, seed=1, record=DiscountedFeatures(0.9)
        )
    with pytest.raises(InvalidInput, match="features.index must return"):
        swarmdp.rollout(system, Policy([0, 1]), steps=3, runs=5, seed=1)
