"""The same seed under other hash seeds, threads, BLAS kernels and processors.

Roll-outs, learned tables and policies must be the same everywhere, bit for bit. Weights come from
solvers that use the linear algebra library (LAPACK, Clarabel, HiGHS): where that computes in
another order their last digits may differ, by no more than `TOLERANCE` of the largest weight.
`python -m tests.campaigns.determinism` prints how much they do.
"""

import contextlib
import functools
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import swarmdp
from swarmdp.irl.updates.registry import UPDATES
from swarmdp.policies.replicas import table_of
from tests.campaigns.framework import ACCEPTED, Attempt, Campaign

OTHER = "other policies"
FAR = "weights further apart than stated"
TOLERANCE = 1e-12  # of the largest weight

Found = dict[str, Any]  # "exact": a digest; each other entry: numbers


@dataclass(frozen=True)
class Variation:
    """Variables of the environment under which the same must come out."""

    name: str
    variables: Mapping[str, str]
    compiles: bool = False  # for another processor: all kernels again


OTHER_LIBRARIES = {  # than on this machine, but for the kernels
    "PYTHONHASHSEED": "7",
    "SWARMDP_THREADS": "3",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512_SKX AVX2 FMA3",
}
VARIATIONS = (
    *(Variation(f"hash seed {seed}", {"PYTHONHASHSEED": seed}) for seed in ("0", "1", "4242")),
    *(Variation(f"{n} threads", {"SWARMDP_THREADS": n}) for n in ("1", "2", "8")),
    *(Variation(f"{n} threads of BLAS", {"OPENBLAS_NUM_THREADS": n}) for n in ("1", "2", "8")),
    *(
        Variation(f"BLAS for {core}", {"OPENBLAS_CORETYPE": core})
        for core in ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
    ),
    *(
        Variation(f"NumPy without {names}", {"NPY_DISABLE_CPU_FEATURES": names})
        for names in ("AVX512F AVX512_SKX", "AVX512F AVX512_SKX AVX2 FMA3")
    ),
    *(
        Variation(
            f"kernels for {name}", {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}, compiles=True
        )
        for name in ("generic", "x86-64-v3", "skylake-avx512")
    ),
    Variation(
        "another machine",
        {**OTHER_LIBRARIES, "NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": ""},
        compiles=True,
    ),
)
NEEDS = {  # what a processor must know for BLAS to take these
    "Sandybridge": "avx",
    "Haswell": "avx2",
    "Zen": "avx2",
    "SkylakeX": "avx512f",
    "x86-64-v3": "avx2",
    "skylake-avx512": "avx512bw",
}


def possible(variation: Variation) -> bool:
    """Whether this machine's processor can do it."""
    flags = Path("/proc/cpuinfo").read_text().split()
    return all(
        flag in flags for name, flag in NEEDS.items() if name in variation.variables.values()
    )


# What is computed


def rolled(system: Any, policy: Any) -> Found:
    """A roll-out: every number."""
    names = ["states", "observations", "actions", swarmdp.simulation.DiscountedFeatures(0.8)]
    recorded = swarmdp.rollout(system, policy, steps=30, runs=4, seed=5, record=names)
    return {"exact": _digest(*(recorded[name] for name in sorted(recorded)))}


def fitted(system: Any, update: str, **options: Any) -> Found:
    """A fit: the policies of all iterations exactly, weights and distances as numbers."""
    expert = getattr(system, "expert", None) or swarmdp.learning.plan(system, system.reward).policy
    recorded = ["states", "actions"]
    demo = swarmdp.rollout(system, expert, steps=50, runs=2, seed=1, record=recorded)
    learner = swarmdp.learning.HeterogeneousLearning(steps=25, swarms=2)
    result = swarmdp.fit(
        system,
        demo,
        seed=2,
        update=swarmdp.updates.Bayesian(chains=2, draws=60, warm_up=40)
        if update == "bayesian"
        else update,
        iterations=4,
        separate=True,
        **{"judge": False, "learner": learner, **options},
    )
    return {
        "exact": _digest(np.asarray(table_of(result.policy), np.int64)),
        "weights": [float(w).hex() for w in np.ravel(result.reward.weights)],
        "distances": [float(d).hex() for d in np.ravel(result.history.distance)],
        "verdict": str(result.verdicts) if options.get("judge") else "",
    }


def _digest(*arrays: Any) -> str:
    together = hashlib.sha256()
    for array in arrays:
        together.update(np.ascontiguousarray(array).tobytes())
    return together.hexdigest()


VICSEK = swarmdp.Vicsek(n_agents=40)
ISING = swarmdp.Ising((10, 10))
CASES: dict[str, Callable[[], Found]] = {
    "roll-out vicsek": lambda: rolled(VICSEK, VICSEK.expert),
    "roll-out ising": lambda: rolled(ISING, ISING.expert),
    "roll-out nearest": lambda: rolled(swarmdp.Vicsek(n_agents=60, nearest=5), VICSEK.expert),
    **{f"fit vicsek {u}": functools.partial(fitted, VICSEK, u) for u in UPDATES},
    **{f"fit ising {u}": functools.partial(fitted, ISING, u) for u in list(UPDATES)[:5]},
    "fit gridworld max_margin": lambda: fitted(swarmdp.Gridworld(4, 4), "max_margin", learner=None),
    "fit vicsek paper": lambda: fitted(VICSEK, "max_margin", preset="paper", learner=None),
    "fit ising judged": lambda: fitted(ISING, "max_margin", judge=True),
}
FEW = ("roll-out vicsek", "roll-out ising", "fit vicsek max_margin", "fit ising max_margin")


def computed(names: Sequence[str]) -> dict[str, Found]:
    """What this process computes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: CASES[name]() for name in names}


def computed_under(
    variables: Mapping[str, str], names: Sequence[str], cache: str | None = None
) -> dict[str, Found]:
    """What a new process computes under these variables of the environment."""
    cached = {"NUMBA_CACHE_DIR": cache} if cache else {}
    ended = subprocess.run(
        [sys.executable, "-m", "tests.campaigns.determinism", *names],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **cached, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise RuntimeError(f"exit code {ended.returncode}: {ended.stderr[-300:]}")
    results: dict[str, Found] = json.loads(ended.stdout)
    return results


def apart(one: Found, other: Found) -> float:
    """The largest difference of weights and distances, relative to the largest of them."""
    most = 0.0
    for part in ("weights", "distances"):
        a, b = (
            np.array([float.fromhex(x) for x in outcome.get(part, ())]) for outcome in (one, other)
        )
        if a.shape != b.shape:
            return float("inf")
        if a.size and not np.array_equal(a, b):
            most = max(most, float(np.abs(a - b).max() / np.abs(a).max()))
    return most


def compared(one: Mapping[str, Found], other: Mapping[str, Found]) -> str:
    """How two processes' numbers differ, as an attempt ends."""
    for name, result in one.items():
        there = other[name]
        if result["exact"] != there["exact"] or result.get("verdict") != there.get("verdict"):
            return f"{OTHER}: {name}"
        if apart(result, there) > TOLERANCE:
            return f"{FAR}: {name}"
    return ACCEPTED


reference: dict[str, Found] = {}


def prepare() -> None:
    """What everybody must compute."""
    reference.update(computed_under({}, list(CASES)))


def attempt(variation: Variation) -> Attempt:
    """The same cases under one variation."""

    def run() -> str:
        with tempfile.TemporaryDirectory(dir=".") as folder:
            cache = str(Path(folder).absolute()) if variation.compiles else None
            return compared(reference, computed_under(variation.variables, list(CASES), cache))

    shown = " ".join(f"{name}={value!r}" for name, value in variation.variables.items())
    line = f"env {shown} python -m tests.campaigns.determinism '{next(iter(CASES))}' ..."
    return Attempt(variation.name, line, run)


def campaign() -> Campaign:
    """The campaign of determinism."""
    attempts = [attempt(variation) for variation in VARIATIONS if possible(variation)]
    return Campaign("determinism", attempts, prepare, hang_seconds=600, memory_bytes=2**40)


def _show() -> None:
    """The largest difference under each variation, and of which case."""
    here = computed_under({}, list(CASES))
    for variation in filter(possible, VARIATIONS):
        with tempfile.TemporaryDirectory() as folder:
            cache = folder if variation.compiles else None
            there = computed_under(variation.variables, list(CASES), cache)
        differences = {name: apart(here[name], there[name]) for name in CASES}
        worst = max(differences, key=lambda name: differences[name])
        some = sum(value > 0 for value in differences.values())
        print(
            f"{variation.name}: {compared(here, there)}; {some} of {len(CASES)} differ, at most "
            f"{differences[worst]:.1g} ({worst})",
            flush=True,
        )


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        if names := sys.argv[1:]:
            print(json.dumps(computed(names)))
        else:
            _show()
