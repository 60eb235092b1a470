import base64
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp.report import player, style
from swarmdp.report.page import player_document, write_player
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene
from swarmdp.support.errors import InvalidInput
from tests.examples import Sand
from tests.report import pages


def unpacked(text: str, dtype: str) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(text), dtype)


def in_page(scene: Scene, folder: Path) -> dict[str, Any]:
    """The data of a player, read back from its page."""
    page = write_player(folder / "page.html", Player("a", "A", "", scene)).read_text("utf-8")
    (data,) = re.findall(r'<script type="application/json" class="data">(.*?)</script>', page)
    parsed: dict[str, Any] = json.loads(data)
    return parsed


@pytest.mark.parametrize("periodic", [True, False])
def test_agents_come_back(periodic: bool, tmp_path: Path) -> None:
    system = swarmdp.Vicsek(n_agents=25, box=2.5, periodic=periodic)
    scene = pages.vicsek_scene(system, steps=15)
    data = in_page(scene, tmp_path)
    assert (data["kind"], data["steps"], data["agents"]) == ("agents", 15, 25)
    assert data["periodic"] is periodic
    for (label, swarm), drawn in zip(scene.swarms.items(), data["swarms"], strict=True):
        assert drawn["label"] == label
        shares = unpacked(drawn["positions"], "<u2").reshape(16, 25, 2) / 65536
        position = np.array(data["low"]) + data["side"] * shares
        error = swarm["position"][0] - position
        assert error.min() > -1e-12
        assert error.max() < data["side"] / 65536 + 1e-12
        heading = unpacked(drawn["headings"], "u1").reshape(16, 25) * (2 * math.pi / 256)
        wrapped = np.angle(np.exp(1j * (heading - swarm["heading"][0])))
        assert np.abs(wrapped).max() <= math.pi / 256 + 1e-12
        order = [f"{value:.3f}" for value in system.order(swarm)[0]]
        assert drawn["readings"] == order


def test_spins_come_back(tmp_path: Path) -> None:
    system = swarmdp.Ising((7, 5))  # 35 sites: no whole number of bytes
    scene = pages.ising_scene(system, steps=6)
    data = in_page(scene, tmp_path)
    assert (data["kind"], data["rows"], data["columns"]) == ("grid", 7, 5)
    (drawn,) = data["swarms"]
    bits = np.unpackbits(unpacked(drawn["cells"], "u1"))[: 7 * 35].reshape(7, 7, 5)
    np.testing.assert_array_equal(2 * bits.astype(int) - 1, system.grid(scene.swarms["expert"])[0])
    energy = system.energy(scene.swarms["expert"])[0]
    assert drawn["readings"] == [str(value) for value in energy]
    assert scene.measure_limits[1] >= energy.max()


def test_another_run_can_be_shown() -> None:
    system = swarmdp.Vicsek(n_agents=5)
    swarm = swarmdp.rollout(system, system.expert, steps=4, runs=3, seed=1)
    scene = Scene(system, {"expert": swarm}, run=2)
    np.testing.assert_array_equal(scene.measures["expert"], system.order(swarm)[2])
    np.testing.assert_array_equal(scene.headings("expert"), swarm["heading"][2])


def test_it_starts_half_way() -> None:
    scene = pages.vicsek_scene(swarmdp.Vicsek(n_agents=200), steps=60)
    order = scene.measures["expert"]
    middle = (order[0] + order[-1]) / 2
    assert order[scene.poster] >= middle > order[: scene.poster].max()
    assert pages.vicsek_scene(steps=0).poster == 0


def test_the_speed_can_be_given() -> None:
    scene = pages.vicsek_scene()
    chosen = [
        re.findall(
            r'<option value="(\d+)" selected', player_document(Player("a", "A", "", s, pace))
        )
        for s, pace in ((scene, None), (pages.ising_scene(), None), (scene, 7))
    ]
    assert chosen == [["10"], ["5"], ["7"]]


def test_what_cannot_be_shown_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    system = swarmdp.Vicsek(n_agents=5)
    swarm, longer = (swarmdp.rollout(system, system.expert, steps=s, seed=1) for s in (3, 4))
    order = swarmdp.rollout(system, system.expert, steps=3, seed=1, record=system.order)
    cases: list[tuple[Any, dict[str, swarmdp.Trajectory], int, str]] = [
        (Sand(), {"a": swarm}, 0, "has 5 agents, expected 20"),
        (system, {}, 0, "at least one swarm"),
        (system, {"a": order}, 0, "'a' cannot be drawn: 'position' was not recorded"),
        (swarmdp.Vicsek(n_agents=6), {"a": swarm}, 0, "has 5 agents, expected 6"),
        (system, {"a": swarm}, 1, "run must be from 0 to 0"),
        (system, {"a": swarm, "b": longer}, 0, r"same number of steps, got \[3, 4\]"),
    ]
    for wrong, swarms, run, message in cases:
        with pytest.raises(InvalidInput, match=message):
            Scene(wrong, swarms, run)
    with pytest.raises(InvalidInput, match="make 96 MiB, a page plays at most 64 MiB"):
        player.check_size(pages.vicsek_scene(swarmdp.Vicsek(n_agents=100_000), steps=0), 100)
    player.check_size(pages.ising_scene(swarmdp.Ising((1000, 1000)), steps=0), 100)


def test_headings_are_equally_light() -> None:
    """Seen in grey, no heading is paler than another; on white and on black all are seen."""
    colours = style.heading_colours(64)
    assert len(set(colours)) == 64
    rgb = np.array([[int(c[at : at + 2], 16) / 255 for at in (1, 3, 5)] for c in colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    assert ((1.05 / (luminance + 0.05)) > 3).all()
    assert (((luminance + 0.05) / 0.05) > 3).all()
