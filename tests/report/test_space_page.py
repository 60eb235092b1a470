"""Players that can be turned, and the page of an analysis in three dimensions."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import swarmdp
from studies.simulated_rules import KnownRule
from studies.simulated_rules_in_space import SpaceRule, record_space_rule
from swarmdp.cli import main
from swarmdp.report.player import Player, view_of
from swarmdp.report.scenes import Scene
from tests.terminal import fails


def test_a_swarm_in_space_has_a_third_coordinate() -> None:
    system = swarmdp.Vicsek(n_agents=7, dimensions=3)
    run = swarmdp.rollout(system, system.expert, steps=4, seed=1)
    view = view_of(Player("one", "One", "A swarm.", Scene(system, {"expert": run})))
    assert view.in_space
    assert view.data["kind"] == "space"
    packed = base64.b64decode(view.data["swarms"][0]["positions"])
    places = np.frombuffer(packed, "<u2").reshape(5, 7, 3) / 65536
    np.testing.assert_allclose(places, run["position"][0], atol=2e-5)
    angles = np.frombuffer(base64.b64decode(view.data["swarms"][0]["headings"]), np.uint8)
    azimuth, climb = (angles.reshape(5, 7, 2).astype(np.int8) * np.pi / 128).transpose(2, 0, 1)
    heading = np.stack(
        [np.cos(climb) * np.cos(azimuth), np.cos(climb) * np.sin(azimuth), np.sin(climb)], axis=2
    )
    np.testing.assert_allclose(heading, run["heading"][0], atol=0.03)


def test_a_swarm_in_the_plane_is_not_turned() -> None:
    system = swarmdp.Vicsek(n_agents=7)
    run = swarmdp.rollout(system, system.expert, steps=4, seed=1)
    view = view_of(Player("one", "One", "A swarm.", Scene(system, {"expert": run})))
    assert not view.in_space
    assert view.data["kind"] == "agents"


def test_who_is_absent_is_not_drawn() -> None:
    places = np.arange(12.0).reshape(2, 3, 2)
    present = np.array([[True, False, True], [True, True, True]])
    picture = swarmdp.model.Arrows(
        places, heights=np.zeros((2, 3)), climbs=np.zeros((2, 3)), present=present
    )

    class Shown:
        n_agents = 3

        def picture(self, swarm: object, run: int = 0) -> swarmdp.model.Arrows:
            return picture

    run = swarmdp.Trajectory({}, "shown", {}, 1, 1)
    view = view_of(Player("one", "One", "Some.", Scene(Shown(), {"some": run})))  # type: ignore[arg-type]
    packed = base64.b64decode(view.data["swarms"][0]["positions"])
    absent = (np.frombuffer(packed, "<u2").reshape(2, 3, 3) == 65535).all(axis=2)
    np.testing.assert_array_equal(absent, ~present)


def test_from_a_file_to_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = KnownRule(
        "alignment, radius",
        8.0,
        repulsion=2.0,
        alignment=6.0,
        weights=(1.0, 1.2, 0.0),
        noise=0.15,
        individuals=8,
        seconds=45.0,
    )
    places = record_space_rule(SpaceRule(rule, 0.08), 3).positions
    frames, individuals, _ = places.shape
    rows = ["frame,fish,x_cm,y_cm,z_cm"]
    for frame in range(frames):
        rows += [
            f"{frame},{fish}," + ",".join(f"{x:.4f}" for x in places[frame, fish])
            for fish in range(individuals)
            if np.isfinite(places[frame, fish]).all()
        ]
    (tmp_path / "fish.csv").write_text("\n".join(rows) + "\n")
    output = tmp_path / "out"
    given = ["fit", "--tracks", str(tmp_path / "fish.csv"), "--fps", "10", "--seed", "1"]
    given += ["--dt", "0.5", "--arena", "sphere:0,0,0,8", "-o", str(output)]
    main(given)
    page = (output / "report.html").read_text()
    assert "from above" in page
    assert '"kind": "space"' in page or "kind&#34;: &#34;space" in page or '"kind":"space"' in page
    plain = json.loads((output / "summary.json").read_text())
    assert plain["dimensions"] == 3
    assert plain["arena"]["kind"] == "Sphere"
    assert "analysis in three dimensions" in fails(["evaluate", str(output)], capsys)
