"""`swarmdp.judge`: what it takes, what it says, and what it leaves behind."""

import json
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import swarmdp
from studies.verdict_cases import Rendezvous
from swarmdp.judging.judge import one_run

VICSEK = swarmdp.Vicsek(n_agents=50, radius=0.2)
DEMO = swarmdp.rollout(VICSEK, VICSEK.expert, steps=60, seed=1)


def circling(observations: np.ndarray) -> np.ndarray:
    return observations + math.radians(9)


def quick(policy: Any, demo: swarmdp.Trajectory = DEMO, **options: Any) -> swarmdp.Verdict:
    return swarmdp.judge(policy, demo, **{"system": VICSEK, "seed": 3, "quick": True, **options})


def test_the_expert_reproduces_its_own_demo() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=60, seed=2)
    verdict = quick(VICSEK.expert, demo)
    assert verdict.words == "reproduces the demo"  # one in twenty would have an exception
    assert verdict.reproduces
    assert not verdict.alarm
    assert verdict.auc is None
    assert verdict.as_near == 0
    assert verdict.power == 1.0


def test_a_circling_swarm_is_warned_of_and_the_turn_is_named() -> None:
    with pytest.warns(
        swarmdp.errors.SwarmdpWarning, match="does not reproduce it.*turning to one side"
    ):
        verdict = quick(circling)
    assert verdict.alarm
    assert not verdict.reproduces
    row = verdict.table.loc[("turning to one side (heading)", "later")]
    assert row["learned"] == pytest.approx(math.radians(9), rel=0.05)
    assert row["adjusted_p"] <= 0.05
    assert {"random", "nothing", "clone"} <= set(verdict.table.columns)
    assert "net displacement over path" in repr(verdict)
    assert "<table>" in verdict._repr_html_()


def test_rounded_turns_are_an_exception_not_an_alarm() -> None:
    table = np.clip(np.round(np.degrees(VICSEK.features.values) / 10), -6, 6).astype(int) + 6
    verdict = quick(swarmdp.Policy(table))
    assert verdict.words.startswith("reproduces it, except: ")
    assert "turns" in verdict.words
    assert verdict.reproduces
    assert not verdict.alarm


def test_the_same_seed_gives_the_same_verdict_whatever_the_threads() -> None:
    one, two = (quick(VICSEK.expert, threads=n).to_json() for n in (1, 2))
    assert one == two
    assert quick(VICSEK.expert, seed=4).to_json() != one


def test_plain_data_bring_a_verdict_back() -> None:
    verdict = swarmdp.judge(VICSEK.expert, DEMO, system=VICSEK, seed=3, runs=40)
    again = swarmdp.Verdict.from_json(json.loads(json.dumps(verdict.to_json())))
    assert again.to_json() == verdict.to_json()
    assert repr(again) == repr(verdict)
    assert again.telling == verdict.telling


def test_the_classifier_tells_circles_but_not_experts() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=60, runs=8, seed=1)
    same = swarmdp.judge(VICSEK.expert, demo, system=VICSEK, seed=3, runs=80)
    with pytest.warns(swarmdp.errors.SwarmdpWarning):
        other = swarmdp.judge(circling, demo, system=VICSEK, seed=3, runs=80)
    assert same.telling is not None
    assert other.telling is not None
    assert same.telling.samples == "runs"
    # The standard deviation of an AUC of 8 against 80 equal samples is sqrt(89 / (12 * 640)).
    assert same.telling.auc < 0.5 + 4 * math.sqrt(89 / (12 * 640))
    assert other.telling.auc > 0.99
    assert "turning" in " ".join(name for name, _ in other.telling.telltale)


def test_blocks_of_time_are_told_apart_where_there_is_one_run() -> None:
    with pytest.warns(swarmdp.errors.SwarmdpWarning):
        verdict = swarmdp.judge(circling, DEMO, system=VICSEK, seed=3, runs=40)
    assert verdict.telling is not None
    assert verdict.telling.samples == "blocks of time"
    assert verdict.telling.auc > 0.95 > verdict.telling.chance


def test_observations_alone_are_compared_and_it_is_said() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=60, seed=1, record="observations")
    verdict = quick(VICSEK.expert, demo)
    assert not any("heading" in line.title for line in verdict.lines)
    assert "only observations were recorded" in repr(verdict)


def test_measures_alone_are_compared() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=60, seed=1, record="order")
    assert quick(VICSEK.expert, demo).as_near is None
    with pytest.warns(swarmdp.errors.SwarmdpWarning, match="order parameter"):
        quick(lambda o: 0 * o, demo)


def test_too_little_data_is_said() -> None:
    """From four agents and three steps nobody can tell a policy."""
    few = swarmdp.Vicsek(n_agents=4, radius=0.05, noise=math.radians(40))
    demo = swarmdp.rollout(few, few.expert, steps=3, seed=5, record="observations")
    with pytest.warns(swarmdp.errors.SwarmdpWarning, match=r"too little data|do not identify"):
        verdict = quick(few.expert, demo, system=few)
    assert verdict.power < 0.5
    assert verdict.advice


def test_a_fit_whose_features_do_not_identify_the_behaviour() -> None:
    ring = Rendezvous()
    demo = swarmdp.rollout(ring, ring.expert, steps=100, seed=100)
    result = swarmdp.fit(ring, demo, seed=0, iterations=2, progress=False, judge=False)
    with pytest.warns(swarmdp.errors.SwarmdpWarning, match="do not identify|does not reproduce"):
        verdict = swarmdp.judge(result, demo, system=ring, seed=1, quick=True)
    assert verdict.as_near is not None
    assert verdict.as_near > 2


def test_a_discount_that_sees_too_little_is_named() -> None:
    sparse = swarmdp.Vicsek(n_agents=50, radius=0.05, noise=math.radians(5))
    demo = swarmdp.rollout(sparse, sparse.expert, steps=200, seed=2)
    said = repr(quick(sparse.expert, demo, system=sparse, discount=0.8))
    assert "a discount of 0.8 sees about 5 steps" in said
    assert "try discount=0.9" in said
    fine = repr(quick(sparse.expert, demo, system=sparse, discount=0.97))
    assert "discount" not in fine


def test_each_experiment_is_judged_against_its_own_run() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=60, runs=2, seed=2)
    turn = np.round(np.degrees(VICSEK.features.values) / 10).clip(-6, 6).astype(int) + 6
    both = swarmdp.Policy([turn, np.minimum(turn + 1, 12)])  # the second one turns to one side
    with pytest.raises(swarmdp.errors.InvalidInput, match="judge_each"):
        quick(both, demo)
    with pytest.warns(swarmdp.errors.SwarmdpWarning, match="turning to one side"):
        first, second = swarmdp.judging.judge_each(both, demo, system=VICSEK, seed=3, quick=True)
    assert (first.alarm, second.alarm) == (False, True)
    with pytest.raises(swarmdp.errors.InvalidInput, match="as many runs"):
        swarmdp.judging.judge_each(both, DEMO, system=VICSEK, seed=3)


def test_a_result_knows_its_system() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=60, seed=1)
    result = swarmdp.fit(VICSEK, demo, seed=1, iterations=1, progress=False, judge=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", swarmdp.errors.SwarmdpWarning)
        alone = swarmdp.judge(result, demo, seed=2, quick=True)
        given = swarmdp.judge(result, demo, system=VICSEK, seed=2, quick=True)
    assert alone.to_json() == given.to_json()


def test_undeclared_fields_of_any_system_are_compared() -> None:
    ring = Rendezvous()
    demo = swarmdp.rollout(ring, ring.expert, steps=40, seed=1)
    titles = {line.title for line in quick(ring.expert, demo, system=ring).lines}
    assert {"share that changes (cell)", "different levels (cell)"} <= titles


@dataclass(frozen=True)
class Lamps:
    """Agents with a brightness of no declared kind, and features without classes."""

    n_agents: int = 10
    actions = np.array([-0.1, 0.0, 0.1])
    features = swarmdp.features.Basis(
        lambda o: np.stack([o, o**2], axis=-1), ("light", "square"), scalar=True
    )

    def initial(self, rng: swarmdp.model.Stream) -> dict[str, np.ndarray]:
        return {"light": rng.uniform()}

    def observe(self, state: dict[str, np.ndarray]) -> np.ndarray:
        return state["light"]

    def transition(
        self, state: dict[str, np.ndarray], actions: np.ndarray, rng: swarmdp.model.Stream
    ) -> dict[str, np.ndarray]:
        return {"light": state["light"] + actions + rng.normal(scale=0.02)}

    def expert(self, observations: np.ndarray) -> np.ndarray:
        return np.clip(0.5 - observations, -0.1, 0.1)


def test_systems_without_classes_or_declarations_are_judged_too() -> None:
    lamps = Lamps()
    demo = swarmdp.rollout(lamps, lamps.expert, steps=30, seed=1)
    assert not quick(lamps.expert, demo, system=lamps).alarm
    with pytest.warns(swarmdp.errors.SwarmdpWarning, match="does not reproduce"):
        quick(lambda o: 0 * o + 0.1, demo, system=lamps)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(swarmdp.errors.InvalidInput, match="which system was recorded"):
        swarmdp.judge(VICSEK.expert, DEMO, seed=1)
    with pytest.raises(swarmdp.errors.InvalidInput, match='"random", "nothing", "clone"'):
        quick(VICSEK.expert, baselines=("expert",))
    with pytest.raises(swarmdp.errors.InvalidInput, match="runs must be an integer of at least 20"):
        quick(VICSEK.expert, runs=5)
    with pytest.raises(swarmdp.errors.InvalidInput, match="at least two steps"):
        quick(VICSEK.expert, swarmdp.rollout(VICSEK, VICSEK.expert, steps=1, seed=1))
    with pytest.raises(swarmdp.errors.InvalidInput, match="not from Ising"):
        quick(VICSEK.expert, system=swarmdp.Ising())
    with pytest.raises(
        swarmdp.errors.InvalidInput, match='kind must be "angle" or "direction" or "position"'
    ):
        swarmdp.model.Field(kind="colour")  # type: ignore[arg-type]
    with pytest.raises(swarmdp.errors.InvalidInput, match="has a period"):
        swarmdp.model.Field(kind="level", period=1.0)


def test_progress_counts_runs() -> None:
    reported: list[tuple[int, int]] = []
    quick(VICSEK.expert, progress=lambda done, total, text: reported.append((done, total)))
    assert reported[-1][0] == reported[-1][1]


def test_one_run_of_a_demo_is_a_demo() -> None:
    demo = swarmdp.rollout(VICSEK, VICSEK.expert, steps=5, runs=3, seed=1)
    assert np.array_equal(one_run(demo, 2)["heading"], demo["heading"][2:])


@pytest.mark.parametrize("seed", [7, 20])
def test_what_one_demo_hides_is_found_from_other_starts(seed: int) -> None:
    """Two grids of 60 that end alike, though flipping at the tie ends elsewhere on others."""
    ising = swarmdp.Ising((30, 30))
    demo = swarmdp.rollout(ising, ising.expert, steps=60, seed=seed)
    with pytest.warns(swarmdp.errors.VerdictWarning, match="from other starts the global energy"):
        verdict = swarmdp.judge(lambda o: o >= 12, demo, system=ising, seed=1, quick=True)
    assert verdict.alarm
    assert not verdict.reproduces
    energy = verdict.table.loc[("global energy E", "later")]
    assert abs(energy["learned"] - energy["demo"]) < 0.01 * (energy["random"] - energy["demo"])
    unseen = swarmdp.judge(
        lambda o: o >= 12, demo, system=ising, seed=1, quick=True, baselines=("random", "nothing")
    )
    assert not unseen.alarm
    assert not swarmdp.judge(ising.expert, demo, system=ising, seed=1, quick=True).alarm


def test_a_measure_that_varies_too_much_is_not_believed() -> None:
    """One run of a slow, sparse swarm says little about its order; twenty runs do."""
    slow = swarmdp.Vicsek(n_agents=50, radius=0.05, speed=0.03, noise=math.radians(5))
    demos = swarmdp.rollout(slow, slow.expert, steps=100, runs=20, seed=1)
    with pytest.warns(
        swarmdp.errors.VerdictWarning, match="too little data to tell: the order parameter"
    ):
        alone = swarmdp.judge(slow.expert, one_run(demos, 1), system=slow, seed=2, quick=True)
    assert alone.alarm
    assert not alone.reproduces
    many = swarmdp.judge(slow.expert, demos, system=slow, seed=2, quick=True)
    assert many.words == "reproduces the demo"
