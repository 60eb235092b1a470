"""Swarms that are watched do what roll-outs do, and arrive in a browser as they are."""

import struct
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.model.rewards import Reward
from swarmdp.policies import Policy
from swarmdp.studio import frames
from swarmdp.studio.live import Live, Replay, measure_now, picture_of, start_of
from swarmdp.studio.stage import MOST_MEASUREMENTS, Play, StudioStage
from swarmdp.support.errors import InvalidInput
from tests.examples import Robots, Sand

SYSTEMS: list[Any] = [swarmdp.Vicsek(n_agents=30), swarmdp.Ising((7, 9)), Robots()]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_live_swarm_is_a_roll_out_of_its_seed(system: Any) -> None:
    live = Live(system, system.expert, 5)
    rolled = swarmdp.rollout(system, system.expert, steps=6, seed=5)
    for step in range(7):
        assert live.step == step
        swarm = {n: a if a.ndim == 2 else a[:, step : step + 1] for n, a in rolled.items()}
        shown, expected = picture_of(live), system.picture(swarm, 0)
        for name, array in vars(expected).items():
            assert np.array_equal(vars(shown)[name], array)
        live.advance()


def test_a_large_swarm_is_a_roll_out_though_its_agents_are_rearranged() -> None:
    system = swarmdp.Vicsek(n_agents=20_000, box=10.0)
    live = Live(system, system.expert, 5)
    for _ in range(9):
        live.advance()
    rolled = swarmdp.rollout(system, system.expert, steps=9, seed=5)
    assert np.array_equal(np.sort(live.state["heading"][0]), np.sort(rolled["heading"][0, -1]))


def test_another_policy_takes_over_at_once() -> None:
    system = swarmdp.Vicsek(n_agents=30, noise=0.0)
    live = Live(system, system.expert, 5)
    live.advance()
    straight = Policy([len(system.turns) // 2] * system.features.size)
    live.follow(straight)
    before = live.state["heading"].copy()
    live.advance()
    assert np.allclose(live.state["heading"], before)
    with pytest.raises(InvalidInput, match="observations"):
        live.follow(Policy([0, 1]))


def test_a_replay_is_the_recording_and_ends_with_it() -> None:
    system = swarmdp.Ising((6, 6))
    recorded = swarmdp.rollout(system, system.expert, steps=3, seed=2)
    replay = Replay(system, recorded)
    live = Live(start_of(system, recorded), system.expert, 99)
    assert np.array_equal(system.grid(replay.state), system.grid(live.state))
    assert [replay.advance() for _ in range(4)] == [True, True, True, False]
    assert np.array_equal(replay.state["spin"], recorded["spin"][:, 3])


@pytest.mark.parametrize("system", SYSTEMS)
def test_measures_and_collected_reward_are_those_of_the_state(system: Any) -> None:
    live = Live(system, system.expert, 1)
    weights = np.arange(float(swarmdp.features.n_features(system.features)))
    *values, collected = measure_now(live, Reward(weights))
    expected = [measure.function(live.state)[0] for measure in system.measures.values()]
    assert values == pytest.approx(expected)
    classes = system.features.index(live.observations())
    assert collected == pytest.approx(weights[classes].mean())
    assert np.isnan(measure_now(live, None)[-1])


def unpacked(frame: bytes, agents: int) -> dict[str, Any]:
    """What the page's script reads from a frame of agents."""
    head = struct.unpack_from("<BBHIIHHfff", frame)
    names = (
        "kind",
        "flags",
        "scene",
        "step",
        "number",
        "rows",
        "columns",
        "left",
        "bottom",
        "side",
    )
    fields: dict[str, Any] = dict(zip(names, head, strict=True))
    at = struct.calcsize("<BBHIIHHfff")
    fields["measures"] = np.frombuffer(frame, "<f4", fields["rows"] * fields["columns"], at)
    at += fields["measures"].nbytes
    fields["places"] = np.frombuffer(frame, "<u2", 4 * agents, at).reshape(2, agents, 2)
    fields["headings"] = np.frombuffer(frame, np.uint8, 2 * agents, at + 8 * agents).reshape(2, -1)
    assert len(frame) == at + 10 * agents
    return fields


def test_a_frame_has_both_swarms_in_few_bytes() -> None:
    system = swarmdp.Vicsek(n_agents=50)
    stage = StudioStage(Play(system, system.expert, 3), system.expert, scene=7)
    first = unpacked(stage.frame(), 50)
    assert (first["kind"], first["flags"], first["scene"], first["step"]) == (1, 1, 7, 0)
    stage.advance()
    stage.advance()
    frame = unpacked(stage.frame(), 50)
    assert (frame["flags"], frame["step"], frame["number"]) == (0, 2, 2)
    assert frame["measures"].shape == (2 * 4,)  # two steps, two swarms, order and reward
    rolled = swarmdp.rollout(system, system.expert, steps=2, seed=3)
    for side in range(2):
        assert np.abs(frame["places"][side] / 65536 - rolled["position"][0, 2]).max() < 2**-16
        turn = frame["headings"][side] * (np.pi / 128) - rolled["heading"][0, 2]
        assert np.abs(np.remainder(turn + np.pi, 2 * np.pi) - np.pi).max() <= np.pi / 256 + 1e-9
    assert frame["measures"][4] == pytest.approx(system.order(rolled)[0, 2])


def test_frames_of_grids_are_bits_or_shades() -> None:
    ising = swarmdp.Ising((6, 9))
    stage = StudioStage(Play(ising, ising.expert, 3), ising.expert, 0)
    frame = stage.frame()
    kind, rows, columns = frame[0], *struct.unpack_from("<HH", frame, 12)
    assert kind == frames.BITS
    bits = np.unpackbits(np.frombuffer(frame, np.uint8, 7, 28 + 4 * rows * columns))[:54]
    first = Live(ising, ising.expert, 3)
    assert np.array_equal(
        bits.reshape(6, 9),
        ising.picture(
            {"site": first.state["site"], "spin": first.state["spin"][:, None]}, 0
        ).values[0],
    )
    assert stage.fastest == 5

    sand = Sand()
    still = Policy([1, 1, 1])
    stage = StudioStage(Play(sand, still, 3), still, 0)
    frame = stage.frame()
    assert frame[0] == frames.CELLS
    assert stage.description()["measures"] == []
    assert max(frame[-30:]) == frames.SHADES - 1


def test_a_window_grows_when_somebody_leaves_it() -> None:
    view = frames.Window()
    at = lambda x: [swarmdp.model.Arrows(np.array([[[0.0, 0.0], [x, 1.0]]]))]  # noqa: E731
    assert view.show(at(1.0))
    assert not view.show(at(1.05))
    side = view.side
    assert view.show(at(3.0))
    assert view.side > side
    assert view.low is not None
    assert (view.low <= 0).all()


def test_measures_that_nobody_fetches_do_not_pile_up() -> None:
    system = swarmdp.Vicsek(n_agents=2)
    stage = StudioStage(Play(system, system.expert, 3), system.expert, 0)
    for _ in range(MOST_MEASUREMENTS + 5):
        stage.advance()
    assert unpacked(stage.frame(), 2)["rows"] == MOST_MEASUREMENTS


def test_too_many_agents_are_refused() -> None:
    system = swarmdp.Vicsek(n_agents=300_000)
    with pytest.raises(InvalidInput, match="at most 200000 agents"):
        Play(system, system.expert, 1)
