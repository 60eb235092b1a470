"""Agents with a memory, a history, noisy or late senses and kinds."""

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.irl.demos import read_demo
from swarmdp.model.augmented.wrapper import Augmented
from swarmdp.model.system import class_map
from swarmdp.model.testing import check_system
from swarmdp.model.traits import settings_of
from swarmdp.policies import Interface
from swarmdp.policies.replicas import table_of
from swarmdp.studio.catalogue import BUILT_IN
from swarmdp.studio.scene import SceneMaker
from swarmdp.support.errors import InvalidInput
from swarmdp.systems.registry import rebuild
from tests.cues import Cues, demo_of, remembering
from tests.policies.compiled import build
from tests.wheels import Wheels

VICSEK = swarmdp.Vicsek(n_agents=20, n_bins=7, turns=(-0.6, -0.3, 0.0, 0.3, 0.6))
ISING = swarmdp.Ising(shape=(5, 5), reach=1)
WRAPPERS: dict[str, Any] = {
    "history": swarmdp.with_history,
    "actions": lambda system: swarmdp.with_history(system, 2, observations=False),
    "seen": lambda system: swarmdp.with_history(system, 2, actions=False),
    "memory": swarmdp.with_memory,
    "noise": lambda system: swarmdp.with_noise(system, 0.2),
    "delay": lambda system: swarmdp.with_delay(system, 2),
    "kinds": lambda system: swarmdp.with_kinds(system, {"one": 0.2, "other": 0.8}),
    "several": lambda system: swarmdp.with_noise(
        swarmdp.with_memory(swarmdp.with_history(swarmdp.with_kinds(system, [0.5, 0.5]))), 0.1
    ),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    "system", [VICSEK, ISING, Wheels(), Cues()], ids=lambda s: type(s).__name__
)
def test_the_contract_is_kept(system: Any, wrapper: str) -> None:
    augmented = WRAPPERS[wrapper](system)
    check_system(augmented)
    assert swarmdp.rollout(augmented, random_table(augmented), steps=3, seed=1).steps == 3


def random_table(system: Any, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    return swarmdp.Policy(
        rng.integers(len(system.actions), size=system.features.size), Interface.of(system)
    )


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_measures_picture_and_expert_are_kept(wrapper: str) -> None:
    system = WRAPPERS[wrapper](VICSEK)
    run = swarmdp.rollout(system, system.expert, steps=30, seed=2)
    order = swarmdp.rollout(system, system.expert, steps=30, seed=2, record="order")["order"]
    np.testing.assert_allclose(order, VICSEK.order(run))
    assert wrapper == "delay" or order[0, -1] > order[0, 0]  # late agents do not align
    assert system.picture(run, 0).positions.shape == (31, 20, 2)
    assert system.mirror is not None


def test_agents_that_do_not_use_what_is_added_do_as_before() -> None:
    plain = swarmdp.rollout(VICSEK, VICSEK.expert, steps=20, seed=3)
    for wrapper in ("history", "memory", "actions"):
        system = WRAPPERS[wrapper](VICSEK)
        same = swarmdp.rollout(system, system.expert, steps=20, seed=3)
        np.testing.assert_array_equal(same["heading"], plain["heading"])


def test_a_history_is_what_was_seen_and_done() -> None:
    system = swarmdp.with_history(VICSEK, 2)
    policy = random_table(system)
    record = ["states", "observations", "actions"]
    run = swarmdp.rollout(system, policy, steps=9, runs=2, seed=4, record=record)
    seen, done = run["observations"], VICSEK.actions
    np.testing.assert_array_equal(seen[:, 1:, :, 1], seen[:, :-1, :, 0])
    np.testing.assert_array_equal(seen[:, 2:, :, 3], seen[:, :-2, :, 0])
    np.testing.assert_array_equal(done[seen[:, 1:, :, 2].astype(int)], run["actions"])
    np.testing.assert_array_equal(done[seen[:, 2:, :, 4].astype(int)], run["actions"][:, :-1])
    np.testing.assert_array_equal(seen[:, 0, :, 1], seen[:, 0, :, 0])


def test_a_memory_is_what_was_chosen() -> None:
    system = swarmdp.with_memory(VICSEK, 3)
    record = ["observations", "actions"]
    run = swarmdp.rollout(system, random_table(system), steps=9, seed=4, record=record)
    np.testing.assert_array_equal(run["observations"][:, 1:, :, 1], run["actions"][..., 1])
    assert not run["observations"][:, 0, :, 1].any()
    assert set(np.unique(run["actions"][..., 1])) == {0.0, 1.0, 2.0}


def test_a_late_sense_shows_the_past() -> None:
    system, steps = swarmdp.with_delay(VICSEK, 3), 9
    run = swarmdp.rollout(
        system, system.expert, steps=steps, seed=4, record=["states", "observations"]
    )
    true = [
        VICSEK.observe({name: run[name][:, t] for name in ("position", "heading")})
        for t in range(steps + 1)
    ]
    for t in range(steps + 1):
        np.testing.assert_array_equal(run["observations"][:, t], true[max(0, t - 3)])


def test_errors_are_as_large_as_asked_for() -> None:
    runs: dict[str, Any] = {"steps": 20, "runs": 20, "seed": 5}
    noisy = swarmdp.with_noise(VICSEK, 0.2)
    error = swarmdp.rollout(noisy, noisy.expert, **runs)["sense_error"]
    assert error.std() == pytest.approx(0.2, abs=5 * 0.2 / np.sqrt(2 * error.size))
    wrong = swarmdp.with_noise(ISING, 0.25)
    shift = swarmdp.rollout(wrong, wrong.expert, **runs)["sense_error"]
    assert (shift != 0).mean() == pytest.approx(0.25, abs=5 * np.sqrt(0.19 / shift.size))
    assert set(np.unique(shift)) == set(map(float, range(9)))


def test_an_amount_must_fit_what_errs() -> None:
    with pytest.raises(InvalidInput, match="no 'heading' that could be seen with an error"):
        swarmdp.with_noise(VICSEK, {"heading": 0.1})
    with pytest.raises(InvalidInput, match="must be a chance from 0 to 1"):
        swarmdp.with_noise(ISING, 1.5)
    with pytest.raises(InvalidInput, match="actions, observations or both"):
        swarmdp.with_history(VICSEK, actions=False, observations=False)


def test_senses_lie_under_memories() -> None:
    one = swarmdp.with_noise(swarmdp.with_memory(VICSEK), 0.1)
    other = swarmdp.with_memory(swarmdp.with_noise(VICSEK, 0.1))
    assert settings_of(one) == settings_of(other)


def test_a_second_history_is_refused() -> None:
    for inner in (swarmdp.with_history(VICSEK), swarmdp.with_memory(swarmdp.with_history(VICSEK))):
        with pytest.raises(InvalidInput, match="has a history already"):
            swarmdp.with_history(inner)


def test_kinds_are_shared_out_and_stay() -> None:
    system = swarmdp.with_kinds(VICSEK, {"leader": 0.15, "follower": 0.85})
    kinds = swarmdp.rollout(system, system.expert, steps=4, runs=40, seed=6)["kind"]
    np.testing.assert_array_equal(kinds.sum(axis=1), 17)
    assert len(np.unique(kinds, axis=0)) > 30
    with pytest.raises(InvalidInput, match="sum to 1"):
        swarmdp.with_kinds(VICSEK, [0.5, 0.4])
    with pytest.raises(InvalidInput, match="each kind needs an agent"):
        swarmdp.with_kinds(VICSEK, [0.001, 0.999])
    with pytest.raises(InvalidInput, match="the kind of each of the 20 agents"):
        swarmdp.with_kinds(VICSEK, assignment=[0, 1])
    with pytest.raises(InvalidInput, match="shares or an assignment"):
        swarmdp.with_kinds(VICSEK)


def test_rewards_are_for_what_is_seen_not_for_what_is_remembered() -> None:
    for wrapper, weights in (("memory", 7), ("history", 7), ("kinds", 14)):
        features = WRAPPERS[wrapper](VICSEK).features
        assert swarmdp.features.n_features(features) == weights
    seen = class_map(swarmdp.with_memory(VICSEK)).matrix
    np.testing.assert_array_equal(seen, np.eye(7).repeat(2, axis=0))


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_systems_are_made_again_from_what_files_keep(wrapper: str, tmp_path: Path) -> None:
    coarse = swarmdp.model.with_features(VICSEK, swarmdp.Angles(5, "misalignment"))
    system = WRAPPERS[wrapper](coarse)
    run = swarmdp.rollout(system, random_table(system), steps=3, seed=1)
    run.save(tmp_path / "run.nc")
    kept = swarmdp.load(tmp_path / "run.nc")
    again = rebuild(kept.system_name, kept.settings)
    same = swarmdp.rollout(again, random_table(again), steps=3, seed=1)
    for name, array in run.items():
        np.testing.assert_array_equal(same[name], array)
    assert [axis.name for axis in again.features.axes] == [
        axis.name for axis in system.features.axes
    ]


def test_a_broken_description_of_a_layer_is_refused() -> None:
    settings = {**settings_of(VICSEK), "layers": [{"layer": "nonsense"}]}
    with pytest.raises(InvalidInput, match="a layer must be one of"):
        rebuild("Vicsek", settings)
    settings["layers"] = [{"layer": "memory", "bits": 2}]
    with pytest.raises(InvalidInput, match="not the settings of a memory"):
        rebuild("Vicsek", settings)


def test_a_demo_without_memory_is_read_with_what_agents_must_have_remembered() -> None:
    for wrapper in ("history", "actions", "seen", "delay"):
        system = WRAPPERS[wrapper](VICSEK)
        record = ["states", "observations", "actions"]
        full = swarmdp.rollout(system, random_table(system), steps=9, runs=2, seed=4, record=record)
        # Turns contain noise, so that only recorded actions tell them.
        plain = {n: v for n, v in full.variables.items() if n in ("position", "heading", "actions")}
        demo = swarmdp.Trajectory(plain, "Vicsek", settings_of(VICSEK), 2, 9)
        read = read_demo(system, demo)
        for name in system.fields:
            np.testing.assert_array_equal(read[name], full[name])
        assert read_demo(system, full) is full


def test_kinds_of_a_demo_must_be_known() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=5, seed=1)
    with pytest.raises(InvalidInput, match="which agents of the demo are of which kind"):
        read_demo(WRAPPERS["kinds"](VICSEK), demo)
    kinds = np.arange(20) % 2
    read = read_demo(swarmdp.with_kinds(VICSEK, assignment=kinds), demo)
    np.testing.assert_array_equal(read["kind"], kinds[None])


@pytest.mark.parametrize("cues", [2, 4])
def test_as_many_bits_as_are_needed_are_learned(cues: int) -> None:
    """With M states of C cues at most M / C answers can be right; with all states all are."""
    demo, right = demo_of(cues), {}
    for states in (cues, cues // 2):
        system = swarmdp.with_memory(Cues(cues=cues), states) if states > 1 else Cues(cues=cues)
        with_alarm = states < cues
        context = pytest.warns(swarmdp.errors.VerdictWarning) if with_alarm else _nothing()
        with context:
            result = swarmdp.fit(system, demo, seed=2)
        assert result.verdicts[0].alarm == with_alarm
        answers = swarmdp.rollout(system, result.policy, steps=60, runs=40, seed=3)["right"][:, 4:]
        right[states] = answers.mean()
    assert right[cues] == 1.0
    assert right[cues // 2] == pytest.approx(0.5, abs=0.03)


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


def test_states_alone_tell_what_must_have_been_remembered() -> None:
    result = swarmdp.fit(swarmdp.with_memory(Cues(cues=2), 2), demo_of(2, actions=False), seed=2)
    assert not result.verdicts[0].alarm


def test_the_verdict_of_agents_that_only_react_asks_for_a_history() -> None:
    demo = demo_of(2)
    with pytest.warns(swarmdp.errors.VerdictWarning, match=r"with_history\(system, steps=2\)"):
        swarmdp.fit(Cues(cues=2), demo, seed=2)
    result = swarmdp.fit(swarmdp.with_history(Cues(cues=2), 2), demo, seed=2)
    assert not result.verdicts[0].alarm


@dataclass(frozen=True)
class Walkers:
    """Agents on a ring that see on which side of a mark they are."""

    n_agents: int = 30
    cells: int = 12

    actions = np.array([-1, 0, 1])
    features = swarmdp.Levels(12, "cell")
    fields = {"cell": swarmdp.model.Field("cell", kind="level")}  # noqa: RUF012

    def initial(self, rng: Any) -> Any:
        return {"cell": rng.integers(self.cells)}

    def observe(self, state: Any) -> Any:
        return state["cell"]

    def transition(self, state: Any, actions: Any, rng: Any) -> Any:
        moved = np.where(rng.uniform() < 0.1, 0, actions)
        return {"cell": (state["cell"] + moved) % self.cells}


def test_kinds_learn_to_do_different_things() -> None:
    def apart(observations: Any) -> Any:
        kind = observations[..., 1].astype(int)
        return np.where(kind == 0, 1, -1)

    kinds = np.arange(30) % 3 // 2
    system = swarmdp.with_kinds(Walkers(), assignment=kinds)
    record = ["states", "actions"]
    demo = swarmdp.rollout(system, apart, steps=60, runs=2, seed=1, record=record)
    result = swarmdp.fit(system, demo, seed=2)
    assert not result.verdicts[0].alarm
    table = table_of(result.policy)[0].reshape(12, 2)
    assert (Walkers.actions[table] == [1, -1]).mean() > 0.9


def test_an_exported_controller_remembers(tmp_path: Path) -> None:
    """The C controller gets what an agent senses, step by step, and does what it did."""
    system = swarmdp.with_memory(swarmdp.with_history(VICSEK, 2), 3)
    policy = random_table(system, seed=7)
    record = ["observations", "actions"]
    run = swarmdp.rollout(system, policy, steps=30, seed=8, record=record)
    policy.export(tmp_path / "robot.h")
    text = (tmp_path / "robot.h").read_text()
    assert "swarmdp_step(swarmdp_memory *memory_, double misalignment, double *action_)" in text
    (tmp_path / "robot.c").write_text(
        '#include "robot.h"\n'
        "void act(long count, const double *seen, double *out);\n"
        "void act(long count, const double *seen, double *out)\n{\n"
        "    swarmdp_memory memory = {0};\n    long i;\n"
        "    for (i = 0; i < count; i++) {\n"
        "        swarmdp_step(&memory, seen[i], out + 2 * i);\n    }\n}\n"
    )
    build("-shared", "-fPIC", str(tmp_path / "robot.c"), "-o", str(tmp_path / "robot.so"), "-lm")
    act = ctypes.CDLL(str(tmp_path / "robot.so")).act
    for agent in range(20):
        seen, out = np.ascontiguousarray(run["observations"][0, :-1, agent, 0]), np.empty((30, 2))
        act(ctypes.c_long(30), *(ctypes.c_void_p(a.ctypes.data) for a in (seen, out)))
        np.testing.assert_array_equal(out, run["actions"][0, :, agent])


def test_a_controller_with_a_history_alone_gives_a_number(tmp_path: Path) -> None:
    system = swarmdp.with_history(VICSEK)
    policy = random_table(system, seed=7)
    run = swarmdp.rollout(system, policy, steps=9, seed=8, record=["observations", "actions"])
    policy.export(tmp_path / "robot.h")
    (tmp_path / "robot.c").write_text(
        '#include "robot.h"\n'
        "double act(swarmdp_memory *memory, double seen);\n"
        "double act(swarmdp_memory *memory, double seen)\n{\n"
        "    return swarmdp_step(memory, seen);\n}\n"
    )
    build("-shared", "-fPIC", str(tmp_path / "robot.c"), "-o", str(tmp_path / "robot.so"), "-lm")
    act = ctypes.CDLL(str(tmp_path / "robot.so")).act
    act.restype, memory = ctypes.c_double, (ctypes.c_double * 3)()
    for step in range(9):
        done = act(memory, ctypes.c_double(run["observations"][0, step, 0, 0]))
        assert done == run["actions"][0, step, 0]
    policy.export(tmp_path / "robot.json")
    interface = swarmdp.policies.load_controller(tmp_path / "robot.json").interface
    assert interface is not None
    assert interface.recalls == system.recalls


def test_a_fit_is_saved_with_its_memory(tmp_path: Path) -> None:
    system = swarmdp.with_memory(VICSEK)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    result = swarmdp.fit(system, demo, seed=2, iterations=2, judge=False)
    result.save(tmp_path / "fit")
    again = swarmdp.load(tmp_path / "fit")
    made = rebuild(again.system_name, again.system_settings)
    assert isinstance(made, Augmented)
    assert Interface.of(made).recalls == system.recalls
    assert "keeps  memory" in repr(again.policy)
    assert swarmdp.rollout(made, again.policy, steps=3, seed=1).steps == 3


def test_the_studio_runs_it(tmp_path: Path) -> None:
    system = swarmdp.with_memory(swarmdp.with_history(VICSEK))
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    result = swarmdp.fit(system, demo, seed=2, iterations=1, judge=False)
    maker = SceneMaker(BUILT_IN, tmp_path)
    for opened in (demo, result):
        scene = maker.from_file("kept", opened, seed=3)
        assert isinstance(scene.system, Augmented)
        assert len(scene.description()["blocks"][0]) == 1  # rewards of the present
        scene.stage.advance()


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_it_is_an_environment(wrapper: str) -> None:
    pytest.importorskip("pettingzoo")
    from tests.envs.official import parallel_api_test

    system = WRAPPERS[wrapper](VICSEK)
    parallel_api_test(swarmdp.envs.parallel_env(system, max_cycles=5), num_cycles=10)
    env = swarmdp.envs.parallel_env(system, max_cycles=5)
    env.reset(seed=1)
    assert env.state().size == env.state_space.shape[0]


def test_what_has_no_classes_is_refused() -> None:
    mdp = swarmdp.FiniteMDP(np.eye(2)[None].repeat(2, 0).transpose(1, 0, 2), [0.5, 0.5], np.eye(2))
    with pytest.raises(InvalidInput, match="need observations of Angles, Levels, Bins"):
        swarmdp.with_memory(mdp)


def test_the_expert_of_the_cues_is_right() -> None:
    system = swarmdp.with_memory(Cues(cues=4), 4)
    run = swarmdp.rollout(system, remembering(4), steps=20, seed=1)
    assert run["right"][:, 4:].all()


def test_decisions_of_a_recording_are_read_for_agents_that_remember() -> None:
    vicsek = swarmdp.Vicsek(n_agents=20, radius=0.3, noise=0.3)
    tracks = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)["position"][0]
    decisions = swarmdp.Recording(tracks, fps=1, unit="1").decisions(dt=1)
    few = swarmdp.recordings.Observation(5, bearing=0, spacing=0, previous_turn=0, neighbours=5)
    arena = swarmdp.recordings.Periodic((1.0, 1.0))
    swarm = swarmdp.recordings.Swarm.from_recording(decisions.train, few, arena=arena)
    system = swarmdp.with_history(swarm, observations=False)
    demo = read_demo(system, decisions.train)
    assert demo["past_actions"].shape[2:] == (swarm.n_agents, 1)
    np.testing.assert_array_equal(demo["observations"].shape[3:], system.features.shape)
