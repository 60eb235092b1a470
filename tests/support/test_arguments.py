"""Arguments are checked against annotations, and what cannot be is refused before it does harm."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas
import pytest

import swarmdp
from swarmdp import report, theory
from swarmdp.model.streams import Purpose
from swarmdp.model.trajectory import Variable
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput
from swarmdp.support.ranges import Positive, PositiveInteger, Seed, Share, at_least, below_power
from tests.results import MAY_BE_CONSTANT

VICSEK = swarmdp.Vicsek(n_agents=4, n_bins=6)
OPEN = swarmdp.Vicsek(n_agents=4, n_bins=6, periodic=False)
ISING = swarmdp.Ising((5, 6))
GRID = swarmdp.Gridworld(rows=2, columns=2)
RING = theory.FiniteIsing((3,))
RUNS = np.arange(2)
STREAMS = swarmdp.model.Streams.of(1, RUNS, 4)
RNG = STREAMS.at(0, Purpose.INITIAL)
STATE = VICSEK.initial(RNG)
SEEN = VICSEK.observe(STATE)
POLICY = swarmdp.Policy([6] * 6)
SOFT = swarmdp.policies.SoftPolicy(np.full((6, 13), 1 / 13))
REWARD = swarmdp.Reward(np.arange(6.0))
ISING_STATE = ISING.initial(swarmdp.model.Streams.of(1, RUNS, 30).at(0, Purpose.INITIAL))


def _demo(**changed: np.ndarray[Any, Any]) -> swarmdp.Trajectory:
    recorded = swarmdp.rollout(VICSEK, VICSEK.expert, steps=50, runs=2, seed=1, progress=False)
    variables = dict(recorded.variables)
    for name, values in changed.items():
        axes = variables[name].axes[: values.ndim]
        variables[name] = Variable(values, axes, variables[name].units)
    return swarmdp.Trajectory(variables, "Vicsek", recorded.settings, 2, 50)


@checked
def sample(
    count: int = 1,
    size: float = 1.0,
    flag: bool = True,
    numbers: "np.typing.NDArray[np.float64] | None" = None,
    pair: tuple[int, int] = (1, 2),
) -> tuple[Any, ...]:
    return count, size, flag, numbers, pair


def test_numbers_of_numpy_become_pythons() -> None:
    given: list[Any] = [np.int8(3), np.float32(0.5), np.True_, None, np.array([3, 4])]
    actual = sample(*given)
    assert actual == (3, 0.5, True, None, (3, 4))
    assert [type(value) for value in actual[:3]] == [int, float, bool]


@pytest.mark.parametrize(
    "array",
    [
        [1, 2],
        np.array([1, 2], np.int16),
        np.array([1.0, 2.0], ">f8"),
        np.array([1.0, 2.0], np.float16),
        pandas.Series([1.0, 2.0]),
        np.array([1.0, 2.0]).view(type("Own", (np.ndarray,), {})),
    ],
)
def test_arrays_are_converted_without_loss(array: Any) -> None:
    converted = sample(numbers=array)[3]
    assert type(converted) is np.ndarray
    assert converted.dtype == np.float64
    assert converted.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": 2.0}, r"count must be an integer, got 2\.0"),
        ({"count": True}, "count must be an integer"),
        ({"count": np.timedelta64(1, "s")}, "count must be an integer"),
        ({"count": 10**30}, "64 bits"),
        ({"size": math.nan}, "size must be a number, got nan"),
        ({"size": 10**400}, "too large"),
        ({"flag": "no"}, "flag must be True or False, got 'no'"),
        ({"numbers": np.ma.array([1.0], mask=[True])}, "mask would be lost"),
        ({"numbers": [1j]}, "imaginary part"),
        ({"numbers": [1.0, math.nan]}, "contains NaN"),
        ({"numbers": [[1.0], [2.0, 3.0]]}, "different lengths"),
        ({"numbers": [2**60 + 1]}, "do not fit into float64"),
        ({"numbers": "12"}, "numbers must be an array of numbers or None, got '12'"),
        ({"pair": (1, 2, 3)}, r"pair must be a tuple \(an integer, an integer\)"),
    ],
)
def test_other_kinds_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        sample(**change)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "fewer runs, reward": (lambda: REWARD.of(VICSEK, SEEN, RUNS[:1]), "numbers of the 2 runs"),
    "fewer runs, policy": (lambda: POLICY.act(VICSEK, SEEN, RUNS[:1]), "numbers of the 2 runs"),
    "fewer runs, soft": (lambda: SOFT.act(VICSEK, SEEN, RUNS[:1], RNG), "numbers of the 2 runs"),
    "another system's table": (
        lambda: swarmdp.Policy([0, 1]).act(VICSEK, SEEN, RUNS),
        "table has 2 observations",
    ),
    "another system's chances": (
        lambda: swarmdp.policies.SoftPolicy(np.ones((2, 1))).act(VICSEK, SEEN, RUNS, RNG),
        "soft policy has",
    ),
    "sizes": (
        lambda: VICSEK.observe({**STATE, "heading": np.zeros((2, 9))}),
        r"'heading' of a state must have the shape \(2, 4, ...\)",
    ),
    "one coordinate": (
        lambda: VICSEK.observe({**STATE, "position": STATE["position"][..., :1]}),
        "shape",
    ),
    "NaN in open space": (
        lambda: OPEN.observe({**STATE, "position": np.full((2, 4, 2), np.nan)}),
        "positions must be from",
    ),
    "order of NaN": (lambda: VICSEK.order({"heading": np.full((1, 4), np.nan)}), "finite angles"),
    "turns of NaN": (lambda: VICSEK.transition(STATE, np.full((2, 4), np.nan), RNG), "finite"),
    "a stream of other runs": (
        lambda: VICSEK.transition(
            STATE, np.zeros((2, 4)), swarmdp.model.Streams.of(1, [0], 4).at(0, Purpose.TRANSITION)
        ),
        "rng is for",
    ),
    "degrees": (lambda: swarmdp.Vicsek(noise=20), "radians.*math.radians"),
    "periodic": (lambda: swarmdp.Vicsek(periodic="no"), "True or False"),  # type: ignore[arg-type]
    "spin 100": (
        lambda: ISING.observe({**ISING_STATE, "spin": np.full((2, 30), 100, np.int8)}),
        r"spins must be \+1 or -1",
    ),
    "sites twice": (
        lambda: ISING.observe({**ISING_STATE, "site": np.zeros((2, 30), np.int32)}),
        "each of 0 to 29 once",
    ),
    "macrocells": (
        lambda: swarmdp.Gridworld.macrocells(1, rows=8, columns=1, macrocell=2),
        "multiples of macrocell",
    ),
    "wind": (lambda: swarmdp.Gridworld(wind="0.5"), "wind must be a number"),  # type: ignore[arg-type]
    "complex rewards": (lambda: swarmdp.Reward([1j, 2.0]), "imaginary part|finite numbers"),
    "half a run": (lambda: swarmdp.Trajectory({}, "x", {}, 2.5, -7), "runs must be an integer"),  # type: ignore[arg-type]
    "negative steps": (lambda: swarmdp.Trajectory({}, "x", {}, 2, -7), "steps must be an integer"),
    "bare arrays": (
        lambda: swarmdp.Trajectory({"x": np.zeros((1, 2))}, "x", {}, 1, 1),  # type: ignore[dict-item]
        "dictionary of Variable",
    ),
    "a list as a variable": (lambda: Variable([1, 2], ("run", "time")), "plain"),  # type: ignore[arg-type]
    "a masked variable": (
        lambda: Variable(np.ma.array([1.0], mask=[True]), ("run",)),
        "plain array",
    ),
    "plan of a text": (lambda: swarmdp.learning.plan(GRID, "x"), "reward must be a Reward"),  # type: ignore[arg-type]
    "softness": (
        lambda: swarmdp.learning.plan(GRID, GRID.reward, softness="x"),  # type: ignore[arg-type]
        "softness must be a number",
    ),
    "no steps to plan": (
        lambda: swarmdp.learning.plan_to_horizon(GRID, GRID.reward, steps=-3),
        "steps",
    ),
    "the class": (lambda: swarmdp.rollout(swarmdp.Vicsek, len, steps=1, seed=1), "is not a system"),  # type: ignore[arg-type]
    "theory without a system": (lambda: theory.chain("x", [0]), "system must be"),  # type: ignore[arg-type]
    "a game of nothing": (lambda: theory.game(None), "system must be"),  # type: ignore[arg-type]
    "endless time": (lambda: theory.chain(RING, RING.expert).law(2**31), "at most"),
    "a null character": (lambda: _demo().save("\0"), "null character"),
    "occupancy of ages": (
        lambda: GRID.mdp.occupancy(np.full((4, 4), 0.25), 0.9, 3 * 10**9),
        "steps must be at most",
    ),
    "a dictionary as a dataset": (lambda: swarmdp.Trajectory.from_xarray({}), "xarray.Dataset"),  # type: ignore[arg-type]
    "a level out of range": (
        lambda: theory.RandomSwarm().observe({"level": np.full((1, 3), 7)}),
        "'level' must be from 0 to 2",
    ),
    "no memory": (
        lambda: swarmdp.learning.HeterogeneousLearning(steps=2, swarms=1)(
            VICSEK, REWARD, discount=0.9, seed=1, memory={"x": np.zeros(1)}
        ),
        "with 'counts'",
    ),
    "no way to update Q": (
        lambda: swarmdp.learning.HeterogeneousLearning(q_update=math.nan),  # type: ignore[arg-type]
        "q_update must be",
    ),
    "a frame to record": (
        lambda: swarmdp.rollout(
            VICSEK, VICSEK.expert, steps=1, seed=1, record=pandas.DataFrame({"a": [1]})
        ),
        "record must be",
    ),
    "an update that gives nothing": (
        lambda: swarmdp.fit(
            VICSEK,
            _demo(),
            seed=1,
            update=lambda evidence: None,
            learner=swarmdp.learning.HeterogeneousLearning(steps=2, swarms=1),
            evaluations=1,
            progress=False,
        ),
        "Update",
    ),
    "no such verdict": (lambda: swarmdp.Verdict.from_json({}), "not a verdict"),
    "colours": (lambda: report.plot_reward(None), "result must be a Result"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(
    "call",
    [
        lambda: swarmdp.Gridworld.macrocells(1, rows=2**63, columns=4, macrocell=2),
        lambda: theory.draw_rewards(theory.Cone(np.eye(2)), 2**63, seed=1),
        lambda: POLICY.chances(10**12),
    ],
)
def test_what_would_not_fit_is_refused_before_it_is_asked_for(call: Callable[[], Any]) -> None:
    with pytest.raises(swarmdp.errors.NotEnoughMemory, match="of memory are free"):
        call()


def test_a_path_that_is_too_long_is_told() -> None:
    with pytest.raises(swarmdp.errors.FileError, match="too long"):
        swarmdp.load("x" * 300)


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_campaign_found_is_refused(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(InvalidInput, match=message):
        call()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": np.zeros((2, 51, 4, 1))}, r"'position' must have the shape"),
        ({"position": np.zeros((2, 51, 4, 3))}, r"'position' must have the shape"),
        ({"heading": np.zeros((2, 51, 4), complex)}, "'heading' must be float64, got complex128"),
        ({"heading": np.full((2, 51, 4), np.nan)}, "NaN or infinite"),
        ({"heading": np.zeros((2, 51, 4), "U1")}, "must be numbers"),
    ],
)
def test_demos_of_other_shapes_and_kinds_are_refused(
    change: dict[str, Any], message: str, tmp_path: Any
) -> None:
    demo = _demo(**change)
    with pytest.raises(InvalidInput, match=message):
        swarmdp.fit(VICSEK, demo, seed=1, iterations=1, progress=False)
    with pytest.raises(InvalidInput, match=message):
        swarmdp.judging.suggested_discount(VICSEK, demo)
    if demo["heading"].dtype.kind == "f":
        demo.save(tmp_path / "demo.nc")
        with pytest.raises(InvalidInput, match=message):
            swarmdp.irl.clone(VICSEK, swarmdp.load(tmp_path / "demo.nc"))


def test_integer_positions_are_the_same_as_floats() -> None:
    whole = _demo(position=np.zeros((2, 51, 4, 2), np.int64))
    same = _demo(position=np.zeros((2, 51, 4, 2)))
    clones = [swarmdp.irl.clone(VICSEK, demo).probabilities for demo in (whole, same)]
    np.testing.assert_array_equal(clones[0], clones[1])


@MAY_BE_CONSTANT
def test_what_pretends_to_be_axes_is_refused() -> None:
    class Pretending:
        def __array__(self, *args: Any, **kwargs: Any) -> Any:
            raise RuntimeError("no array")

    grid = swarmdp.fit(GRID, [[2.5] * 4], seed=1, iterations=1, progress=False)
    with pytest.raises(InvalidInput, match="ax must be Matplotlib axes"):
        report.plot_reward(grid, Pretending())


def test_few_rewards_are_drawn_from_a_narrow_cone() -> None:
    cone = theory.Cone(np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]) / math.sqrt(2))
    drawn = theory.draw_rewards(cone, 3, seed=2**63)
    assert all(cone.contains(reward) for reward in drawn)


def test_an_array_that_was_observed_and_then_changed_is_refused() -> None:
    state = VICSEK.initial(STREAMS.at(0, Purpose.INITIAL))
    VICSEK.observe(state)
    state["heading"][0, 0] = np.nan
    with pytest.raises(InvalidInput, match="headings must be finite"):
        VICSEK.observe(state)


def test_ranges_are_part_of_annotations() -> None:
    @checked
    def move(
        seed: Seed,
        steps: PositiveInteger = 1,
        share: Share | None = None,
        *,
        speeds: tuple[Positive, ...] = (),
    ) -> tuple[object, ...]:
        return seed, steps, share, speeds

    assert move(np.int64(3), 2, 0.5, speeds=[1, 2.0]) == (3, 2, 0.5, (1, 2.0))  # type: ignore[arg-type]
    assert move(0) == (0, 1, None, ())
    with pytest.raises(InvalidInput, match="^steps must be an integer of at least 1, got 0$"):
        move(1, 0)
    with pytest.raises(InvalidInput, match="^steps must be an integer of at least 1, got 1.5$"):
        move(1, 1.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="^share must be a number from 0 to 1, got 2$"):
        move(1, 1, 2)
    with pytest.raises(InvalidInput, match="^share must be a number or None, got 'a'$"):
        move(1, 1, "a")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="^speeds must be positive, got 0$"):
        move(1, speeds=(1, 0))
    with pytest.raises(InvalidInput, match=r"^seed must be from 0 to 2\*\*64 - 1, got -1$"):
        move(-1)


def test_a_declared_range_comes_before_what_the_constructor_says() -> None:
    @checked
    @dataclass(frozen=True)
    class Grid:
        rows: PositiveInteger
        seeds: Annotated[int, at_least(0), below_power(8)] = 0

        def __post_init__(self) -> None:
            raise InvalidInput("something else is wrong, too")

    with pytest.raises(InvalidInput, match="rows must be an integer of at least 1, got 0"):
        Grid(0)
    with pytest.raises(InvalidInput, match=r"seeds must be below 2\*\*8, got 256"):
        Grid(1, 256)
