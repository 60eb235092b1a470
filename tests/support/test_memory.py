"""What does not fit into memory is said before it starts; many classes of observations fit."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import Reward
from swarmdp.irl.updates import Wants
from swarmdp.learning import HeterogeneousLearning
from swarmdp.learning.local_kernel import local_kernel
from swarmdp.support.errors import NotEnoughMemory
from swarmdp.support.memory import check_memory, readable
from tests.examples import ROOT

CLASSES = 20_000


@dataclass(frozen=True)
class Ring:
    """Agents that walk around a ring of many places, and see where they are."""

    n_agents: int = 100
    features: ClassVar[swarmdp.Levels] = swarmdp.Levels(CLASSES, "place")
    actions: ClassVar[NDArray[np.int64]] = np.arange(-4, 5)

    def initial(self, rng: swarmdp.model.Stream) -> dict[str, NDArray[Any]]:
        return {"place": rng.integers(CLASSES)}

    def observe(self, state: Any) -> NDArray[Any]:
        place: NDArray[Any] = state["place"]
        return place

    def transition(self, state: Any, actions: NDArray[Any], rng: Any) -> dict[str, NDArray[Any]]:
        return {"place": (state["place"] + 50 * actions + rng.integers(20)) % CLASSES}


def to_the_middle(place: NDArray[Any]) -> NDArray[np.int64]:
    return np.where(place < CLASSES // 2, 4, -4)


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 4 GiB of free memory."""

    class Little:
        available = 4 * 2**30

    monkeypatch.setattr("psutil.virtual_memory", lambda: Little)


@pytest.mark.parametrize(
    ("size", "words"),
    [(3, "3 bytes"), (1536, "1.5 KiB"), (4 * 2**30, "4 GiB"), (2**53, "8,192 TiB")],
)
def test_sizes_are_readable(size: int, words: str) -> None:
    assert readable(size) == words


@pytest.mark.usefixtures("little")
def test_what_does_not_fit_says_how_much_it_needs() -> None:
    check_memory(3 * 2**30, "this", "Do that")
    with pytest.raises(NotEnoughMemory, match=r"^this needs 5 GiB, but 4 GiB .* free\. Do that$"):
        check_memory(5 * 2**30, "this", "Do that")


@pytest.mark.usefixtures("little")
def test_kernels_that_do_not_fit_are_refused_before_any_work() -> None:
    """8 bytes for each of 20 000 x 9 x 20 000 are 26.82 GiB."""
    system = Ring()
    demo = swarmdp.rollout(system, to_the_middle, steps=50, seed=1, record=("states", "actions"))
    with pytest.raises(NotEnoughMemory, match=r"needs 53\.65 GiB.*fewer classes.*max_margin"):
        swarmdp.fit(system, demo, seed=1, update="policy_matching", iterations=1, judge=False)
    reward, policy = Reward(np.zeros((1, CLASSES))), np.full((1, CLASSES, 9), 1 / 9)
    with pytest.raises(NotEnoughMemory, match=r"kernel.* needs 53\.\d+ GiB.*needs no kernel"):
        HeterogeneousLearning()(system, reward, discount=0.9, seed=1, wants=Wants(kernel=True))
    with pytest.raises(NotEnoughMemory, match=r"classes of observations: 20000.*26\.82 GiB"):
        local_kernel(system, swarmdp.policies.SoftPolicy(policy), steps=10, seed=1)


@pytest.mark.usefixtures("little")
def test_learning_that_does_not_fit_is_refused_before_it_starts() -> None:
    """12 bytes for each of 10 million agents' 300 transitions: 33.5 GiB, more than a full table."""
    system, reward = Ring(n_agents=10**7), Reward(np.zeros((1, CLASSES)))
    with pytest.raises(NotEnoughMemory, match=r"learning with 20000 classes.*needs 26\.\d+ GiB"):
        HeterogeneousLearning()(system, reward, discount=0.9, seed=1)


def test_tables_that_no_swarm_can_fill_are_refused_before_they_are_learned() -> None:
    system = swarmdp.Vicsek(n_agents=10, n_bins=10**6)
    demo = swarmdp.rollout(system, system.expert, steps=44, seed=1)
    with pytest.raises(swarmdp.errors.InvalidInput, match=r"1,000,000 classes .* and 13 .*coarser"):
        swarmdp.fit(system, demo, seed=1, iterations=1, evaluations=None, judge=False)


LIMITED = """
import resource, psutil
import swarmdp
from swarmdp.support import memory, threads
room = 12 * 2**20  # bytes: one more thread could begin, and die for want of memory
limit = psutil.Process().memory_info().vms + room
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
assert memory.free_memory() <= room
try:
    threads.over_chunks(2, 1, 2, lambda *_: None)
except swarmdp.errors.NotEnoughMemory as error:
    print(error)
"""


def test_threads_are_not_started_without_memory_to_begin_with() -> None:
    """Python waits for such a thread for ever."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, check=False
    )
    assert re.match(r"starting 2 threads needs 32 MiB, but .* free\. Use fewer", done.stdout), done


LEARNING = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
import swarmdp
from tests.peaks import peak
from tests.support.test_memory import Ring, to_the_middle
system = Ring()
demo = swarmdp.rollout(system, to_the_middle, runs=2, steps=50, seed=1)
learner = swarmdp.learning.HeterogeneousLearning(steps=100)
result = swarmdp.fit(system, demo, seed=2, iterations=2, learner=learner, threads=1)
seen = sum(int(iteration.seen.sum()) for iteration in result.iterations)
print(json.dumps([peak(), result.history.margin.ravel().tolist(), seen]))
"""


def test_many_classes_learn_in_little_memory() -> None:
    """A whole fit of 20 000 classes x 9 actions, where the system gives no more than 4 GiB."""
    done = subprocess.run(
        [sys.executable, "-c", LEARNING], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    peak, margins, seen = json.loads(done.stdout)
    assert peak < 2**30  # a quarter of the limit
    assert len(margins) == 2
    assert 0 < margins[1] < margins[0]
    assert seen > CLASSES
