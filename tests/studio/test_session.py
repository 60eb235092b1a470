"""What a tab can do: watch, paint, learn, keep."""

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.studio import planning
from swarmdp.studio.folder import Folder
from swarmdp.studio.server import Studio
from tests.examples import ROOT, Robots
from tests.studio.served import Tab, places, served, step_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("folder")


@pytest.fixture(scope="module")
def studio(folder: Path) -> Iterator[Studio]:
    with served(folder) as one:
        yield one


@pytest.fixture
def tab(studio: Studio) -> Iterator[Tab]:
    with Tab(studio) as one:
        yield one


def frames_until(tab: Tab, step: int) -> dict[str, Any]:
    while step_of(frame := tab.hear("frame")) < step:
        pass
    return frame


# Watch


def test_a_scene_tells_all_that_the_page_needs(tab: Tab) -> None:
    hello = tab.hear("hello")
    assert hello["systems"][:2] == ["Vicsek", "Ising"]
    scene = tab.show(n_agents=30, noise=20, seed=5)
    assert (scene["name"], scene["agents"], scene["seed"]) == ("Vicsek", 30, 5)
    assert scene["given"] == {"n_agents": 30, "noise": 20}
    knobs = {knob["name"]: knob for knob in scene["knobs"]}
    assert [*knobs][:4] == ["n_agents", "radius", "speed", "noise"]
    assert knobs["noise"]["value"] == pytest.approx(20)
    assert scene["measures"][0] == {"name": "order", "label": "order parameter ω", "limits": [0, 1]}
    assert len(scene["weights"]) == len(scene["blocks"][0][0]["values"]) == 36
    assert scene["mirror"][0] == 0
    assert scene["mirror"][1] == 35


def test_both_swarms_start_from_the_same_state(tab: Tab) -> None:
    tab.say("run", playing=False)
    tab.show(n_agents=30, seed=8)
    left, right = places(tab.hear("frame"), 30)
    assert np.array_equal(left, right)


def test_step_restart_and_seed(tab: Tab) -> None:
    tab.say("run", playing=False)
    tab.show(n_agents=30, seed=8)
    first = tab.hear("frame")
    tab.say("step")
    assert step_of(frames_until(tab, 1)) == 1
    tab.say("restart", seed=8)
    again = tab.hear("frame")
    assert (step_of(again), again["data"][1]) == (0, 1)
    assert np.array_equal(places(again, 30), places(first, 30))
    tab.say("restart", seed=9)
    assert not np.array_equal(places(tab.hear("frame"), 30), places(first, 30))


def test_a_tab_that_draws_nothing_gets_two_frames_and_no_more(tab: Tab) -> None:
    tab.show(n_agents=30)
    tab.say("pace", pace=60)
    last = [tab.hear("frame", draw=False) for _ in range(2)][-1]
    tab.say("list")
    tab.say("script")
    tab.hear("script", draw=False)
    assert len(tab.frames) == 2
    time.sleep(0.5)  # 30 steps at this pace; one and a half of them would do
    tab.say("drawn", frame=2)
    late = tab.hear("frame", draw=False)
    assert step_of(late) > step_of(last) + 1  # those in between were dropped
    rows, columns = np.frombuffer(late["data"], "<u2", 2, 12)
    # But their measures are there, all of them: since the last frame, or since a restart.
    restarted = late["data"][1] & 1
    assert rows == (step_of(late) + 1 if restarted else step_of(late) - step_of(last))
    assert columns == 4


def test_the_swarm_of_a_hidden_tab_rests(tab: Tab) -> None:
    tab.show(n_agents=30)
    frames_until(tab, 2)
    tab.say("visible", visible=False)
    tab.say("script")
    tab.hear("script")
    here = step_of({"data": tab.frames[-1]})
    tab.say("script")
    tab.hear("script")
    assert step_of({"data": tab.frames[-1]}) <= here + 1
    tab.say("visible", visible=True)
    assert step_of(frames_until(tab, here + 2)) <= here + 4  # it did not go on meanwhile


@pytest.mark.parametrize(("system", "kind"), [("Ising", 3), ("Robots", 1)])
def test_every_system_with_a_picture_is_shown(tab: Tab, system: str, kind: int) -> None:
    scene = tab.show(system)
    assert scene["kind"] == "scene"
    assert tab.hear("frame")["data"][0] == kind
    assert tab.hear("planned")["value"] <= tab.heard[-1]["best"] + 1e-9


def test_a_system_without_an_expert_says_so(tab: Tab) -> None:
    assert "no expert" in tab.show("Sand")["text"]
    assert "there is no system" in tab.show("Nobody")["text"]


def test_settings_that_cannot_be_are_explained(tab: Tab) -> None:
    tab.show(n_agents=30)
    assert "radius must be positive" in tab.show(radius=0)["text"]
    assert "has no setting 'wings'" in tab.show(wings=2)["text"]
    assert "from 2 to 100000" in tab.show(n_agents=1)["text"]
    assert tab.hear("frame")  # the swarm goes on as it was


def test_more_agents_keep_their_density(tab: Tab) -> None:
    scene = tab.show(n_agents=5000)
    box = next(knob["value"] for knob in scene["knobs"] if knob["name"] == "box")
    assert box == pytest.approx(np.sqrt(5000 / 200))
    assert scene["planned_with"] == 1000


def test_a_system_that_fails_stops_and_can_be_restarted(tab: Tab) -> None:
    tab.show("Failing")
    assert "ZeroDivisionError: the world ended" in tab.hear("failed")["text"]
    tab.say("restart", seed=2)
    assert step_of(tab.hear("frame")) == 0


# Paint


def test_a_painted_reward_moves_the_swarm_and_says_what_it_collects(tab: Tab) -> None:
    scene = tab.show(n_agents=40, seed=2)
    assert tab.hear("planned")["settled"]
    angles = np.radians(scene["blocks"][0][0]["values"])
    weights = [round(float(w), 3) for w in -np.cos(angles)]  # against the others
    tab.say("paint", weights=weights, number=7)
    planned = tab.hear("planned")
    assert planned["number"] == 7
    assert planned["best"] == pytest.approx(1, abs=0.01)
    assert planned["value"] < 0.9  # nobody can be misaligned with everybody
    assert len(planned["visited"]) == 36
    while not planned["settled"]:
        planned = tab.hear("planned")
    expected = planning.plan_painted(
        swarmdp.Vicsek(n_agents=40, box=np.sqrt(40 / 200)), np.array(weights), None
    )
    assert planned["value"] == pytest.approx(expected.value)
    frame = tab.hear("frame")
    rows = int.from_bytes(frame["data"][12:14], "little")
    measures = np.frombuffer(frame["data"], "<f4", 4 * rows, 28).reshape(rows, 4)
    assert measures[-1, 3] > measures[-1, 1]  # the painted swarm collects more than the expert


def test_the_settled_policy_does_not_depend_on_how_it_was_painted(tab: Tab) -> None:
    def settled(*strokes: list[float]) -> float:
        tab.show(n_agents=40, seed=2)
        for number, weights in enumerate(strokes):
            tab.say("paint", weights=weights, number=number + 100)
            tab.hear("planned")
        planned = tab.heard[-1]
        while not planned["settled"] or planned["number"] != 99 + len(strokes):
            planned = tab.hear("planned")
        return float(planned["value"])

    one, other = [1.0] * 18 + [0.0] * 18, list(np.linspace(-1, 1, 36))
    assert settled(one) == settled(other, one)


def test_weights_that_do_not_fit_are_refused(tab: Tab) -> None:
    tab.show(n_agents=30)
    tab.say("paint", weights=[1, 2], number=1)
    assert "must have 36 weights" in tab.hear("error")["text"]


def test_sliders_keep_what_was_painted(tab: Tab) -> None:
    tab.show(n_agents=30)
    weights = [0.5] * 12 + [1.0] * 12 + [0.0] * 12
    tab.say("paint", weights=weights, number=1)
    tab.hear("planned")
    scene = tab.show(n_agents=30, noise=30)
    assert scene["weights"] == weights


# Learn


def learned(tab: Tab, **wish: Any) -> list[dict[str, Any]]:
    tab.say("learn", **{"seed": 3, "iterations": 2, "errors": False, **wish})
    messages = [tab.hear("learning")]
    while messages[-1]["phase"] not in ("done", "stopped", "failed"):
        messages.append(tab.hear("learning"))
    return messages


def test_a_fit_is_watched_from_its_first_iteration_to_its_verdict(tab: Tab, folder: Path) -> None:
    tab.show(n_agents=40)
    messages = learned(tab)
    phases = [message["phase"] for message in messages]
    assert phases == ["demo", "iterating", "iterating", "choosing", "judging", "done"]
    assert [message["iteration"] for message in messages[1:3]] == [1, 2]
    assert messages[-1]["verdict"]
    system = swarmdp.Vicsek(n_agents=40, box=np.sqrt(40 / 200))
    demo = swarmdp.rollout(system, system.expert, steps=100, runs=5, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)
        expected = swarmdp.fit(system, demo, seed=3, iterations=2)
    assert messages[-1]["weights"] == expected.reward.weights[0].tolist()
    assert messages[-1]["distance"] == expected.distance[0]
    tab.say("save", what="fit", name="watched")
    assert tab.hear("saved", "error")["name"] == "watched"
    kept = swarmdp.load(folder / "watched")
    assert kept.verdict is not None
    assert np.array_equal(kept.reward.weights, expected.reward.weights)


def test_a_fit_is_stopped_and_goes_on(tab: Tab) -> None:
    tab.show(n_agents=40)
    tab.say("learn", seed=3, iterations=4, errors=False)
    tab.say("stop")  # after the iteration that is under way, the first
    while (message := tab.hear("learning"))["phase"] != "stopped":
        pass
    done = message["iteration"]
    assert done == 1
    tab.say("go-on")
    numbers = []
    while (message := tab.hear("learning"))["phase"] != "done":
        if message["phase"] == "iterating":
            numbers.append(message["iteration"])
    assert numbers == list(range(done + 1, 5))


def test_errors_of_the_reward_come_from_resampled_demos(tab: Tab) -> None:
    tab.show(n_agents=10)
    messages = learned(tab, iterations=1, errors=True)
    assert "errors" in [message["phase"] for message in messages]
    assert len(messages[-1]["error"]) == 36
    assert max(messages[-1]["error"]) > 0


def test_what_cannot_be_learned_is_told(tab: Tab) -> None:
    tab.say("save", what="fit", name="nothing")
    assert "no fit to be kept" in tab.hear("error")["text"]
    tab.show(n_agents=10)
    tab.say("go-on")
    assert "start one" in tab.hear("error")["text"]


# Keep


def test_a_trajectory_is_saved_opened_and_replayed(tab: Tab, folder: Path) -> None:
    tab.show(n_agents=30, seed=6)
    frames_until(tab, 3)
    tab.say("run", playing=False)
    tab.say("save", what="left", name="seen")
    assert tab.hear("saved", "error")["name"] == "seen.nc"
    saved = swarmdp.load(folder / "seen.nc")
    system = swarmdp.Vicsek(n_agents=30, box=np.sqrt(30 / 200))
    rolled = swarmdp.rollout(system, system.expert, steps=saved.steps, seed=6)
    assert np.array_equal(saved["heading"], rolled["heading"])
    tab.say("run", playing=True)
    tab.say("open", name="seen.nc")
    scene = tab.hear("scene", "error")
    assert (scene["left"], scene["recording"]) == ("recording", "seen.nc")
    left, right = places(tab.hear("frame"), 30)
    assert np.array_equal(left, right)
    assert tab.hear("over")["steps"] == saved.steps


def test_a_fit_is_opened_with_its_own_settings(tab: Tab, folder: Path) -> None:
    system = swarmdp.Vicsek(n_agents=15, noise=0.3)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    quick = swarmdp.learning.HeterogeneousLearning(steps=20)
    result = swarmdp.fit(system, demo, seed=1, iterations=1, learner=quick, judge=False)
    result.save(folder / "own")
    tab.say("open", name="own")
    scene = tab.hear("scene", "error")
    assert (scene["agents"], scene["moved_by"]) == (15, "opened")
    assert scene["weights"] == pytest.approx(result.reward.weights[0].tolist())
    assert tab.hear("opened")["what"] == "fit"


@pytest.mark.parametrize("name", ["foreign.nc", "../outside", "nothing"])
def test_files_that_cannot_be_opened_are_explained(tab: Tab, folder: Path, name: str) -> None:
    (folder / "foreign.nc").write_bytes(b"something else")
    tab.show(n_agents=10)
    tab.say("open", name=name)
    assert tab.hear("error")["about"] == "open"
    assert tab.hear("frame")  # the swarm goes on


def test_a_gif_of_what_is_seen(tab: Tab) -> None:
    tab.show(n_agents=10)
    tab.say("gif")
    data = tab.hear("file", "error")["data"]
    assert data[2 : 2 + data[1]] == b"swarm.gif"
    assert data[2 + data[1] :][:6] == b"GIF89a"


def run_script(text: str, folder: Path) -> str:
    program, paths = folder / "script.py", [os.environ.get("PYTHONPATH")]
    program.write_text(text)
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, paths)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + text
    return done.stdout


def measures_of(frame: dict[str, Any], columns: int) -> np.ndarray[Any, Any]:
    rows = int.from_bytes(frame["data"][12:14], "little")
    values = np.frombuffer(frame["data"], "<f4", columns * rows, 28)
    last: np.ndarray[Any, Any] = values.reshape(rows, columns)[-1]
    return last


@pytest.mark.parametrize(
    ("system", "settings"),
    [("Vicsek", {"n_agents": 1200}), ("Ising", {"shape": 12}), ("Robots", {})],
)
def test_the_script_repeats_a_painted_swarm(
    tab: Tab, tmp_path: Path, system: str, settings: dict[str, float]
) -> None:
    tab.say("run", playing=False)
    scene = tab.show(system, seed=4, **settings)
    while not tab.hear("planned")["settled"]:
        pass
    tab.say("restart", seed=4)
    tab.hear("restarted")
    for _ in range(3):
        tab.say("step")
    last = measures_of(frames_until(tab, 3), 2 * (len(scene["measures"]) + 1))
    tab.say("script")
    printed = run_script(tab.hear("script")["text"], tmp_path)
    line = next(line for line in printed.splitlines() if "after 3 steps" in line)
    left, _, right = line.rpartition(": ")[2].partition(" and ")
    assert float(left) == pytest.approx(float(last[0]), rel=1e-4)
    assert float(right) == pytest.approx(float(last[len(scene["measures"]) + 1]), rel=1e-4)


def test_the_script_repeats_what_was_learned(tab: Tab, tmp_path: Path) -> None:
    tab.show(n_agents=20, seed=4)
    message = learned(tab, iterations=1)[-1]
    tab.say("script")
    text = tab.hear("script")["text"]
    assert "swarmdp.fit(small, demo, seed=3, iterations=1)" in text
    printed = run_script(text + "print(result.reward.weights[0].tolist())\n", tmp_path)
    assert printed.splitlines()[-1] == str(message["weights"])


def test_the_script_of_a_recording_starts_where_it_does(
    tab: Tab, folder: Path, tmp_path: Path
) -> None:
    robots = Robots(n_agents=5)
    swarmdp.rollout(robots, robots.expert, steps=4, seed=2).save(folder / "robots.nc")
    tab.say("run", playing=False)
    tab.say("open", name="robots.nc")
    scene = tab.hear("scene", "error")
    while not tab.hear("planned")["settled"]:
        pass
    tab.say("restart", seed=4)
    tab.hear("restarted")
    for _ in range(2):
        tab.say("step")
    last = measures_of(frames_until(tab, 2), 2 * (len(scene["measures"]) + 1))
    tab.say("script")
    printed = run_script(tab.hear("script")["text"], tmp_path)
    line = next(line for line in printed.splitlines() if "after 2 steps" in line)
    assert float(line.rpartition(" and ")[2]) == pytest.approx(float(last[3]), rel=1e-4)


def test_a_swarm_calibrated_from_tracks_is_shown_beside_its_recording(
    tab: Tab, folder: Path, tmp_path: Path
) -> None:
    vicsek = swarmdp.Vicsek(n_agents=12, noise=0.3)
    tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=150, seed=1)["position"][0]
    decisions = swarmdp.Recording(tracks, fps=1, unit="1").decisions(dt=1)
    observation = swarmdp.recordings.Observation(neighbours=3)
    arena = swarmdp.recordings.Periodic((1.0, 1.0))
    swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, observation, arena=arena)
    swarm.save(folder / "fish")
    assert {"name": "fish", "kind": "calibrated swarm"}.items() <= next(
        entry for entry in Folder(folder).entries() if entry["name"] == "fish"
    ).items()
    tab.say("run", playing=False)
    tab.say("open", name="fish")
    scene = tab.hear("scene", "error")
    assert (scene["left"], scene["agents"], scene["knobs"]) == ("recording", 12, [])
    assert tab.hear("planned")["value"] <= tab.heard[-1]["best"]
    tab.say("restart", seed=4)
    tab.hear("restarted")
    tab.say("step")
    last = measures_of(frames_until(tab, 1), 2 * (len(scene["measures"]) + 1))
    tab.say("script")
    printed = run_script(tab.hear("script")["text"], tmp_path)
    line = next(line for line in printed.splitlines() if "after 1 steps" in line)
    left, _, right = line.rpartition(": ")[2].partition(" and ")
    assert float(left) == pytest.approx(float(last[0]), rel=1e-4)
    assert float(right) == pytest.approx(float(last[len(scene["measures"]) + 1]), rel=1e-4)
