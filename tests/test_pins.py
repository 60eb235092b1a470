"""What is computed and written beyond the simulated systems, pinned: a new structure keeps it.

`pins.json` has numbers: calibrated swarms, fits to decisions, the test for an interaction,
verdicts, mixed, anchored, interpolated and linear policies, and what saved files are made of.
`pins/` has texts: C headers, and what one reads on each page. A change is a correction (and stands
in the CHANGELOG) or a mistake. `python -m tests.test_pins` writes all of them again.
"""

import json
import math
import re
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from numpy.typing import NDArray

import swarmdp
from swarmdp.cli import main
from tests.test_digests import DIGITS, digest

FILE = Path(__file__).parent / "pins.json"
TEXTS = Path(__file__).parent / "pins"

Case = Callable[[], dict[str, Any]]

VICSEK = swarmdp.Vicsek(n_agents=30)
ISING = swarmdp.Ising((8, 8), reach=1)
QUICK = swarmdp.learning.HeterogeneousLearning(steps=25, swarms=2)
SEEN = swarmdp.recordings.Observation(neighbours=3, wall_distance=0.1)
FEW = swarmdp.recordings.Observation(5, bearing=0, spacing=0, previous_turn=3, neighbours=3)
UNIT = swarmdp.recordings.Periodic((1.0, 1.0))
ARENAS: dict[str, Any] = {
    "circle": swarmdp.recordings.Circle((0.5, 0.5), 0.8),
    "box": swarmdp.recordings.Box((-0.1, -0.1), (1.1, 1.1)),
    "polygon": swarmdp.recordings.Polygon(
        ((-0.2, -0.2), (1.3, -0.2), (1.2, 1.2), (0.4, 1.4), (-0.2, 1.2))
    ),
    "periodic": UNIT,
    "open": None,
}


class Bare(swarmdp.recordings.Swarm):
    """A swarm whose steps are taken one by one: the kernel of whole steps is not for subclasses."""


# Plain data


def plain(value: Any) -> Any:
    """Numbers as JSON has them: short, and None in place of what is not finite."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def compare(found: Any, expected: Any, where: str) -> None:
    """Numbers to the digits that do not belong to the linear algebra library, all else as it is."""
    assert type(found) is type(expected), where
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for name, item in expected.items():
            compare(found[name], item, f"{where}, {name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for n, item in enumerate(expected):
            compare(found[n], item, f"{where}, {n}")
    elif isinstance(expected, float):
        tolerance = 10.0 ** (1 - DIGITS)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-9, err_msg=where)
    else:
        assert found == expected, where


def digests(arrays: swarmdp.Trajectory) -> dict[str, str]:
    """Of real numbers to nine decimals: the last bits of a calibration belong to the processor."""
    return {
        name: digest(np.round(array, 9) + 0.0 if array.dtype.kind == "f" else array)
        for name, array in sorted(arrays.items())
    }


def without_digest(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a swarm but for the digest of its calibration, to the last bit."""
    return {name: value for name, value in settings.items() if name != "calibration"}


# Calibrated swarms


@cache
def recorded() -> swarmdp.recordings.Decisions:
    vicsek = swarmdp.Vicsek(n_agents=8, radius=0.3, speed=0.03, noise=0.4)
    run = swarmdp.rollout(vicsek, vicsek.expert, steps=120, seed=1)
    return swarmdp.Recording(jittered(run, 0.004), fps=4, unit="m").decisions(dt=0.25)


def jittered(run: swarmdp.Trajectory, size: float) -> NDArray[np.float64]:
    """Places of a run with an error: otherwise speeds would vary by their last bits only."""
    places: NDArray[np.float64] = run["position"][0]
    return places + size * np.random.default_rng(7).normal(size=places.shape)


def table_for(swarm: swarmdp.recordings.Swarm) -> swarmdp.Policy:
    return swarmdp.Policy(np.arange(swarm.features.size) % len(swarm.actions))


def calibrated(
    arena: str, kind: type[swarmdp.recordings.Swarm] = swarmdp.recordings.Swarm
) -> dict[str, Any]:
    swarm = kind.from_recording(recorded().train, SEEN, arena=ARENAS[arena])
    policy = table_for(swarm)
    found = swarmdp.rollout(
        swarm, policy, steps=20, runs=3, seed=5, record=["states", "observations", "actions"]
    )
    measured = swarmdp.rollout(swarm, policy, steps=5, seed=6, record=list(swarm.measures.values()))
    return {
        "arrays": digests(found),
        "measures": {name: measured[name] for name in sorted(measured)},
        "settings": without_digest(swarm.settings),
        "turns": swarm.actions,
        "habits": swarm.habits[::17],
        "recorded means": swarm.recorded_means(),
    }


def trained_by(speed: Any, reward: Any) -> dict[str, Any]:
    """The ways to calibrate that the other cases do not take."""
    seen = swarmdp.recordings.Observation(3, bearing=2, spacing=2, previous_turn=0, reward=reward)
    swarm = swarmdp.recordings.Swarm.from_recording(
        recorded().train, seen, arena="box", speed=speed, n_agents=5
    )
    return {
        "settings": without_digest(swarm.settings),
        "habits": swarm.habits,
        "tried": dict(swarm.tried),
    }


@cache
def small_swarm() -> swarmdp.recordings.Swarm:
    return swarmdp.recordings.Swarm.from_recording(recorded().train, FEW, arena=UNIT)


def interacting(observation: swarmdp.recordings.Observation, seed: int) -> dict[str, Any]:
    swarm = swarmdp.recordings.Swarm.from_recording(recorded().train, observation, arena=UNIT)
    found = swarm.interaction_test(seed=seed)
    return {
        "gain": found.gain,
        "interval": found.interval,
        "shifted": found.shifted,
        "p": found.p,
        "decisions": found.decisions,
        "blocks": found.blocks,
        "answer": found.answer,
        "excess": found.excess,
        "excess interval": found.excess_interval,
        "words": repr(found),
    }


# Fits


@cache
def decided(**options: Any) -> swarmdp.Result:
    return swarmdp.fit(
        small_swarm(),
        recorded().train,
        seed=2,
        iterations=3,
        learner=QUICK,
        **{"judge": False, **options},
    )


@cache
def simulated(name: str, **options: Any) -> tuple[Any, swarmdp.Trajectory, swarmdp.Result]:
    system: Any = {"vicsek": VICSEK, "ising": ISING, "waves": waves()}[name]
    expert = VICSEK.expert if name == "waves" else system.expert
    demo = swarmdp.rollout(system, expert, steps=50, runs=3, seed=1, record=["states", "actions"])
    how = {"iterations": 3, "learner": QUICK, "judge": False, **options}
    return system, demo, swarmdp.fit(system, demo, seed=2, **how)


def waves() -> Any:
    """Vicsek's model with smooth features, for a learner without classes."""
    axis = swarmdp.features.Axis("misalignment", units="rad", periodic=True)

    def seen(angle: NDArray[Any]) -> NDArray[np.float64]:
        return np.stack([np.cos(angle), np.sin(angle), np.cos(2 * angle)], axis=-1)

    basis = swarmdp.features.Basis(seen, ("cos", "sin", "cos 2"), (axis,), scalar=True)
    return swarmdp.model.with_features(VICSEK, basis)


def told(result: swarmdp.Result) -> dict[str, Any]:
    """All numbers of a fit."""
    policy: Any = result.policy
    found = {
        "kind": policy.kind,
        "chosen": result.chosen,
        "weights": result.reward.weights,
        "all weights": result.history.weights,
        "distances": result.history.distance,
        "margins": result.history.margin,
        "mu": result.mixture_mu,
        "mixture": result.history.mixture,
        "expert": result.expert_mu,
        "expert error": result.expert_mu_error,
        "reward error": result.reward_error,
        "words": repr(result),
    }
    for name, array in policy.to_arrays().items():
        exact = array.dtype.kind in "iub"
        found[f"policy {name}"] = digest(array.astype(np.int64)) if exact else array
    if result.resamples is not None:
        found["differences"] = result.differences()[::17].to_dict("list")
    return found


def fitted_to_decisions(**options: Any) -> dict[str, Any]:
    return told(decided(**options))


def fitted(name: str, **options: Any) -> dict[str, Any]:
    return told(simulated(name, **options)[2])


def rolled(system: Any, policy: Any) -> dict[str, Any]:
    found = swarmdp.rollout(
        system, policy, steps=20, runs=3, seed=5, record=["states", "observations", "actions"]
    )
    return {"arrays": digests(found)}


def rolled_numbers(system: Any, policy: Any) -> dict[str, Any]:
    """Of a policy that is made of real numbers: the linear algebra library has the last bits."""
    found = swarmdp.rollout(system, policy, steps=5, runs=2, seed=5, record="actions")
    return {name: found[name][:, :, :5] for name in sorted(found)}


def predicted() -> dict[str, Any]:
    """How well what was learned predicts single turns."""
    swarm, result = small_swarm(), decided()
    gains = {
        f"{weight}": swarm.turn_gain(swarm.anchored(result.mixture, weight), recorded().test)
        for weight in (0.0, 0.3, 1.0, "auto")
    }
    return {"gains": gains, "policy": swarm.turn_gain(result.policy, recorded().test)}


# Verdicts


def judged(name: str, quick: bool) -> dict[str, Any]:
    system, demo, result = simulated(name)
    verdict = swarmdp.judge(result, demo, system=system, seed=3, quick=quick, runs=20)
    return {**verdict.to_json(), "shown": repr(verdict)}


def judged_recording(quick: bool) -> dict[str, Any]:
    verdict = swarmdp.judge(
        decided(anchor=0.3), recorded().test, system=small_swarm(), seed=3, quick=quick, runs=20
    )
    return {**verdict.to_json(), "shown": repr(verdict)}


def judged_wrong() -> dict[str, Any]:
    """Agents that turn away from the others."""
    _, demo, _ = simulated("vicsek")
    away = swarmdp.policies.FunctionPolicy(lambda angle: np.clip(-angle, -1.0, 1.0))
    verdict = swarmdp.judge(away, demo, system=VICSEK, seed=3, quick=True)
    assert verdict.alarm
    return {**verdict.to_json(), "shown": repr(verdict)}


# Saved files


def made_of(path: Path) -> dict[str, Any]:
    """Names, axes and types of what is in a file."""
    with xarray.open_dataset(path, engine="h5netcdf", decode_times=False) as found:
        variables = {
            str(name): [str(v.dtype), list(map(str, v.dims)), sorted(map(str, v.attrs))]
            for name, v in sorted(found.variables.items(), key=lambda item: str(item[0]))
        }
        sizes = {str(name): size for name, size in sorted(found.sizes.items())}
        return {
            "variables": variables,
            "coordinates": sorted(map(str, found.coords)),
            "sizes": sizes,
            "attributes": sorted(map(str, found.attrs)),
        }


def shape_of(value: Any) -> Any:
    """The keys of JSON, and the types of what they have."""
    if isinstance(value, dict):
        return {name: shape_of(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shape_of(value[0])] if value else []
    return type(value).__name__


def same_content(one: Path, other: Path) -> None:
    """Both files hold the same arrays and texts."""
    how: dict[str, Any] = {"engine": "h5netcdf", "decode_times": False}
    with xarray.open_dataset(one, **how) as first, xarray.open_dataset(other, **how) as second:
        xarray.testing.assert_identical(first, second)


def saved_fit(result: swarmdp.Result, folder: Path) -> dict[str, Any]:
    path = result.save(folder / "one")
    again = swarmdp.load(folder / "one")
    xarray.testing.assert_equal(result.to_xarray(), again.to_xarray())
    for name, value in result.to_xarray().attrs.items():
        # A function of features is not in the file.
        if name != "interface" or result.policy.kind != "linear":
            assert again.to_xarray().attrs[name] == value
    return {path.name: made_of(path)}


def saved_trajectory(folder: Path) -> dict[str, Any]:
    found = swarmdp.rollout(
        VICSEK,
        VICSEK.expert,
        steps=5,
        runs=2,
        seed=1,
        record=[
            "states",
            "observations",
            "actions",
            VICSEK.order,
            swarmdp.simulation.DiscountedFeatures(0.8),
        ],
    )
    path = found.save(folder / "run.nc")
    again = swarmdp.load(path)
    for name in found:
        np.testing.assert_array_equal(again[name], found[name])
    xarray.testing.assert_identical(found.to_xarray(), again.to_xarray())
    return {path.name: made_of(path)}


def saved_swarm(folder: Path) -> dict[str, Any]:
    swarm = small_swarm()
    path = swarm.save(folder / "one")
    again = swarmdp.load(folder / "one")
    for name, array in swarm.frames.items():
        np.testing.assert_array_equal(again.frames[name], array)
    np.testing.assert_array_equal(again.habits, swarm.habits)
    policy = table_for(swarm)
    assert rolled(again, policy) == rolled(swarm, policy)
    same_content(path, again.save(folder / "other"))
    return {path.name: made_of(path)}


def saved_analysis(folder: Path) -> dict[str, Any]:
    source = analysis_folder(folder)
    again = swarmdp.load(source)
    again.save(folder / "other")
    names = ("analysis.nc", "swarm.nc", "result.nc")
    for name in names:
        same_content(source / name, folder / "other" / name)
    summary = json.loads((source / "summary.json").read_text(encoding="utf-8"))
    found = {name: made_of(source / name) for name in names}
    files = sorted(path.name for path in source.iterdir())
    return {**found, "summary.json": shape_of(summary), "files": files}


def saved_by_command(folder: Path) -> dict[str, Any]:
    source = fit_folder(folder)
    summary = json.loads((source / "summary.json").read_text(encoding="utf-8"))
    found = {name: made_of(source / name) for name in ("result.nc", "demo.nc")}
    xarray.testing.assert_identical(
        swarmdp.load(source).to_xarray(), swarmdp.load(source / "result.nc").to_xarray()
    )
    files = sorted(path.name for path in source.iterdir())
    return {**found, "summary.json": shape_of(summary), "files": files}


def in_folder(case: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return case(Path(folder))


def analysed() -> dict[str, Any]:
    """The numbers of an analysis."""
    with tempfile.TemporaryDirectory() as folder:
        found = swarmdp.load(analysis_folder(Path(folder)))
    numbers = found.to_plain()
    numbers["swarm"] = without_digest(numbers["swarm"])
    return {"numbers": numbers, "turn gains": found.turn_gains, "shifted": found.shifted}


# Pages


@cache
def _contents(command: tuple[str, ...]) -> dict[str, bytes]:
    """The files that a command leaves in its folder."""
    with tempfile.TemporaryDirectory() as folder:
        if "FISH" in command:
            tracks = Path(folder) / "fish.csv"
            tracks.write_text(fish(), encoding="utf-8")
            command = tuple(str(tracks) if part == "FISH" else part for part in command)
        output = Path(folder) / "out"
        main([*command, "-o", str(output)])
        return {
            path.relative_to(output).as_posix(): path.read_bytes()
            for path in sorted(output.rglob("*"))
            if path.is_file()
        }


def left_by(folder: Path, name: str, *command: str) -> Path:
    """The folder of a command that is run once for all tests."""
    place = folder / name
    for path, content in _contents(command).items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    return place


def fish() -> str:
    """Tracks of agents that align, in a box without walls; one is not seen for a while."""
    vicsek = swarmdp.Vicsek(n_agents=10, radius=0.4, speed=0.05, noise=0.3)
    places = 100 * jittered(swarmdp.rollout(vicsek, vicsek.expert, steps=70, seed=3), 0.004)
    lines = ["frame,fish,x,y"]
    lines += [
        f"{t},{k},{places[t, k, 0]:.5f},{places[t, k, 1]:.5f}"
        for t in range(len(places))
        for k in range(places.shape[1])
        if not (k == 2 and 30 <= t < 35)
    ]
    return "\n".join(lines) + "\n"


def fit_folder(folder: Path) -> Path:
    few = ("--n-agents", "20", "--demo-steps", "50", "--iterations", "3", "--resamples", "2")
    return left_by(folder, "fit", "fit", "vicsek", *few, "--seed", "4")


def analysis_folder(folder: Path) -> Path:
    how = ("--fps", "1", "--unit", "cm", "--dt", "1", "--neighbours", "5")
    few = ("--arena", "periodic:100,100", "--iterations", "1", "--resamples", "2")
    return left_by(folder, "analysis", "fit", "--tracks", "FISH", *how, *few)


def tracks_folder(folder: Path) -> Path:
    return left_by(folder, "tracks", "tracks", "FISH", "--fps", "1", "--unit", "cm")


class Reader(HTMLParser):
    """What one reads on a page: a line for each block, a bar between the cells of a row."""

    UNSEEN = ("script", "style", "head", "svg", "template", "canvas")
    INLINE = ("a", "span", "strong", "em", "b", "i", "code", "sub", "sup", "label", "output")
    CELLS = ("td", "th", "option")

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.line = ""
        self.inside: list[str] = []  # elements that are not shown
        self.pre = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.UNSEEN:
            self.inside.append(tag)
        if tag in self.CELLS:
            self.line += " | "
        elif tag not in self.INLINE:
            self.end()
        if tag == "img":
            self.lines.append(f"[picture: {dict(attrs).get('alt')}]")
        if tag == "section":
            self.lines.append("")
        self.pre = self.pre or tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()
        elif tag not in self.INLINE and tag not in self.CELLS:
            self.end()
        self.pre = self.pre and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self.inside:
            return
        if self.pre:
            self.lines += [line.rstrip() for line in data.strip("\n").split("\n")]
        else:
            self.line += data

    def end(self) -> None:
        line = " ".join(self.line.split()).removeprefix("| ")
        if line:
            self.lines.append(line)
        self.line = ""


def read(page: Path) -> str:
    """The text of a page, without what differs from one computer or day to another."""
    text = page.read_text(encoding="utf-8")
    # Tasks stand in the order of the time that they took.
    text = re.sub(r'<table class="plain timing">.*?</table>', "<p>TIMES</p>", text, flags=re.S)
    reader = Reader()
    reader.feed(text)
    reader.close()
    reader.end()
    lines = "\n".join(reader.lines).strip().replace(swarmdp.__version__, "VERSION") + "\n"
    return re.sub(r"in \d+ (seconds|minutes) of one core", "in TIME of one core", lines)


# C headers


def header(policy: Any, system: Any) -> Callable[[Path], str]:
    def written(folder: Path) -> str:
        path = policy().export(folder / "controller.h", system=system())
        assert b"\r" not in path.read_bytes()
        text: str = path.read_bytes().decode("utf-8")
        return text.replace(swarmdp.__version__, "VERSION")

    return written


def not_exported() -> dict[str, Any]:
    """What is said of a policy that has no table."""
    policy: Any = simulated("waves", learner=LINEAR)[2].policy
    with pytest.raises(swarmdp.errors.SwarmdpError) as error:
        policy.export("controller.h")
    return {"error": str(error.value)}


LINEAR = swarmdp.learning.HeterogeneousLearning(
    swarmdp.learning.LinearQ(features=15), steps=40, swarms=2
)


def numbers() -> dict[str, Case]:
    each: dict[str, Case] = {}
    for arena in ARENAS:
        each[f"calibrated {arena}"] = partial(calibrated, arena)
        each[f"calibrated {arena}, single steps"] = partial(calibrated, arena, Bare)
    each["calibrated constant speed"] = partial(trained_by, "constant", "additive")
    each["calibrated product"] = partial(trained_by, "wandering", "product")
    each["interaction"] = partial(interacting, FEW, 1)
    each["interaction, any neighbours"] = partial(
        interacting, swarmdp.recordings.Observation(3, spacing=0, previous_turn=0), 2
    )
    each["decisions"] = fitted_to_decisions
    each["decisions anchored"] = partial(fitted_to_decisions, anchor=0.3)
    each["decisions anchored auto"] = partial(fitted_to_decisions, anchor="auto")
    each["decisions resamples"] = partial(fitted_to_decisions, resamples=2)
    each["decisions judged"] = lambda: decided(judge=True).verdicts[0].to_json()
    each["turn gains"] = predicted
    for name in ("vicsek", "ising"):
        each[f"fit {name}"] = partial(fitted, name)
        each[f"fit {name} resamples"] = partial(fitted, name, resamples=2, iterations=2)
        for quick in (True, False):
            how = "quick" if quick else "full"
            each[f"verdict {name} {how}"] = partial(judged, name, quick)
    each["verdict recording quick"] = partial(judged_recording, True)
    each["verdict recording full"] = partial(judged_recording, False)
    each["verdict wrong"] = judged_wrong
    each["rolled mixture"] = lambda: rolled_numbers(VICSEK, simulated("vicsek")[2].mixture)
    each["rolled mixture of decisions"] = lambda: rolled_numbers(small_swarm(), decided().mixture)
    each["rolled policy of decisions"] = lambda: rolled(small_swarm(), decided().policy)
    each["rolled anchored"] = lambda: rolled_numbers(small_swarm(), decided(anchor=0.3).policy)
    each["fit interpolated"] = partial(fitted, "vicsek", interpolate=True)
    each["rolled interpolated"] = lambda: rolled_numbers(
        VICSEK, simulated("vicsek", interpolate=True)[2].policy
    )
    # Their actions are real numbers, by which weights differ more from processor to processor.
    each["decisions interpolated"] = lambda: {"words": repr(decided(interpolate=True))}
    each["fit linear"] = partial(fitted, "waves", learner=LINEAR)
    each["rolled linear"] = lambda: rolled_numbers(
        waves(), simulated("waves", learner=LINEAR)[2].policy
    )
    each["export linear"] = not_exported
    saved: dict[str, Callable[[Path], dict[str, Any]]] = {
        "saved fit": lambda folder: saved_fit(simulated("vicsek")[2], folder),
        "saved anchored": lambda folder: saved_fit(decided(anchor=0.3), folder),
        "saved resamples": lambda folder: saved_fit(decided(resamples=2), folder),
        "saved interpolated": lambda folder: saved_fit(
            simulated("vicsek", interpolate=True)[2], folder
        ),
        "saved linear": lambda folder: saved_fit(simulated("waves", learner=LINEAR)[2], folder),
        "saved trajectory": saved_trajectory,
        "saved swarm": saved_swarm,
        "saved by swarmdp fit": saved_by_command,
        "saved analysis": saved_analysis,
    }
    for name, case in saved.items():
        each[name] = partial(in_folder, case)
    each["analysis"] = analysed
    return each


def chances(classes: int, actions: int) -> swarmdp.policies.SoftPolicy:
    each = 1.0 + (np.arange(classes)[:, None] + np.arange(actions)) % 4
    return swarmdp.policies.SoftPolicy(each / each.sum(axis=1, keepdims=True))


CASES = numbers()
PAGES: dict[str, Callable[[Path], str]] = {
    "controller-table": header(lambda: swarmdp.Policy(np.arange(36) % 13), lambda: VICSEK),
    "controller-levels": header(lambda: swarmdp.Policy(np.arange(9) % 2), lambda: ISING),
    "controller-soft": header(lambda: chances(36, 13), lambda: VICSEK),
    "controller-interpolated": header(
        lambda: swarmdp.policies.InterpolatedPolicy(np.linspace(-1.0, 1.0, 36)), lambda: VICSEK
    ),
    "controller-recording": header(lambda: table_for(small_swarm()), small_swarm),
    "page-fit": lambda folder: read(fit_folder(folder) / "report.html"),
    "page-analysis": lambda folder: read(analysis_folder(folder) / "report.html"),
    "page-tracks": lambda folder: read(tracks_folder(folder) / "index.html"),
}
REPRODUCTION = "page-reproduction"


@pytest.mark.filterwarnings("ignore::swarmdp.support.errors.SwarmdpWarning")
@pytest.mark.parametrize("name", CASES)
def test_numbers_stay(name: str) -> None:
    expected = json.loads(FILE.read_text(encoding="utf-8"))[name]
    compare(plain(CASES[name]()), expected, name)


@pytest.mark.filterwarnings("ignore::swarmdp.support.errors.SwarmdpWarning")
@pytest.mark.parametrize("name", PAGES)
def test_texts_stay(name: str, tmp_path: Path) -> None:
    assert PAGES[name](tmp_path) == (TEXTS / f"{name}.txt").read_text(encoding="utf-8")


def test_the_text_of_the_reproduction_stays(reproduction: Path) -> None:
    expected = (TEXTS / f"{REPRODUCTION}.txt").read_text(encoding="utf-8")
    assert read(reproduction / "report.html") == expected


def write() -> None:
    """Write all files again."""
    warnings.simplefilter("ignore", swarmdp.errors.SwarmdpWarning)
    cases = []
    for name, case in CASES.items():
        parts = [f"  {json.dumps(part)}: {json.dumps(v)}" for part, v in plain(case()).items()]
        cases.append(f"{json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n}")
    FILE.write_text("{\n" + ",\n".join(cases) + "\n}\n", encoding="utf-8")
    TEXTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        texts = {name: page(Path(folder) / name) for name, page in PAGES.items()}
        main(["reproduce", "--scale", "smoke", "-o", str(Path(folder) / "all")])
        texts[REPRODUCTION] = read(Path(folder) / "all" / "report.html")
    for name, text in texts.items():
        (TEXTS / f"{name}.txt").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
