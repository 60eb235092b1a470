"""'Copy as Python': a script that repeats what was seen on the page."""

import math
from dataclasses import MISSING, fields, is_dataclass

import numpy as np

from swarmdp._version import __version__
from swarmdp.learning.heterogeneous import HeterogeneousLearning
from swarmdp.model.augmented.wrapper import Augmented
from swarmdp.model.system import System
from swarmdp.model.traits import Resizable, measures_of
from swarmdp.studio import learning, planning
from swarmdp.studio.catalogue import Entry
from swarmdp.studio.scene import StudioScene
from swarmdp.support.errors import InvalidInput

_WIDTH = 92  # of a line of numbers


def script_of(
    scene: StudioScene, entry: Entry, fit: learning.StudioFit | None, recording: str | None
) -> str:
    """The script: the system, the expert or a recording, then what the right swarm follows.

    Parameters
    ----------
    scene
        What is shown.
    entry
        How its system is made.
    fit
        The latest fit of the tab; None if there is none.
    recording
        The path of the recording on the left; None for the expert.

    """
    system = scene.system
    lines = [
        f'"""What was seen in the studio of swarmdp {__version__}."""',
        "",
        *_imports(entry, recording is not None or entry.recording is not None),
        *(
            ["from swarmdp.model.augmented import augmented_from"]
            if isinstance(system, Augmented)
            else []
        ),
        "",
        f"system = {entry.source or _constructor_call(system, entry.path)}",
        f"seed, steps = {scene.stage.seed}, {scene.stage.step}",
        "",
    ]
    source = None if recording is None else f"swarmdp.load({recording!r})"
    if entry.recording is not None:
        source = "system.demo(system.decisions)"
    lines += [*_left_lines(source), ""]
    if scene.moved_by == "learned" and fit is not None:
        lines += _learned_lines(system, source, fit)
    elif scene.moved_by == "opened":
        lines += [f"policy, name = {scene.opened}, 'opened'"]
    elif scene.moved_by == "painted" and scene.weights is not None:
        lines += _painted_lines(system, scene.weights)
    else:
        lines += ["policy, name = system.expert, 'expert'"]
    lines += ["", *_comparison_lines(system, source)]
    return "\n".join(lines) + "\n"


def _imports(entry: Entry, recorded: bool) -> list[str]:
    module, _, name = entry.path.partition(":")
    lines = ["import swarmdp"]
    if recorded:
        lines += ["from swarmdp.model.streams import Purpose, Streams"]
    if module and not module.startswith("swarmdp."):
        lines += [f"from {module} import {name}"]
    return lines


def _constructor_call(system: System, path: str) -> str:
    """The call that makes the system: only what is not a default."""
    if isinstance(system, Augmented):
        inner = _constructor_call(system.system, path)
        return f"augmented_from({inner}, {system.layer.plain()!r})"
    module, _, name = path.partition(":")
    if not is_dataclass(system) or isinstance(system, type):
        raise InvalidInput(
            f"{name} is not a dataclass, so no script can make it: use Python, where you have it"
        )
    given = {}
    for field in fields(system):
        value = vars(system)[field.name]
        default = field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        if field.init and (default is MISSING or value != default):
            given[field.name] = value
    arguments = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return f"{'swarmdp.' if module.startswith('swarmdp.') else ''}{name}({arguments})"


def _left_lines(recording: str | None) -> list[str]:
    if recording is None:
        return ["expert = swarmdp.rollout(system, system.expert, steps=steps, seed=seed)"]
    return [
        f"expert = {recording}.only(0)",
        "steps = min(steps, expert.steps)",
        "streams = Streams.of(0, [0], system.n_agents)",
        "state = system.initial(streams.at(0, Purpose.INITIAL))",
        "start = {",
        "    name: expert[name][0, 0] if 'time' in expert.variables[name].axes",
        "    else expert[name][0]",
        "    for name in state",
        "}",
    ]


def _painted_lines(system: System, weights: tuple[float, ...]) -> list[str]:
    where = planning.small_swarm(system)
    even = planning.is_even(where, np.array(weights))
    learner = planning.learner_for(where)
    discount, seed = planning.PAINTING_DISCOUNT, planning.PLANNING_SEED
    lines = ["# The reward that was painted, and the policy that collects most of it."]
    lines += _number_list("weights", weights)
    lines += [_smaller(system, where)]
    if not isinstance(learner, HeterogeneousLearning):
        return [
            *lines,
            "reward = swarmdp.Reward(weights)",
            f"planned = swarmdp.learning.plan(small, reward, discount={discount})",
            "policy, name = planned.policy, 'painted'",
        ]
    changed = ", ".join(f"{k}={v!r}" for k, v in planning.changed_fields(learner).items())
    return [
        *lines,
        f"learner = swarmdp.learning.HeterogeneousLearning({changed})",
        "learned = learner(",
        f"    small, swarmdp.Reward(weights), discount={discount}, seed={seed},",
        f"    wants=swarmdp.updates.Wants(mirror={even}),",
        ")",
        "policy, name = learned.policy, 'painted'",
    ]


def _learned_lines(system: System, recording: str | None, fit: learning.StudioFit) -> list[str]:
    request, done = fit.request, len(fit.done)
    lines = ["# The reward that was learned."]
    if recording is None:
        lines += [
            _smaller(system, planning.small_swarm(system)),
            f"demo = swarmdp.rollout(small, small.expert, steps={learning.DEMO_STEPS}, "
            f"runs={learning.DEMO_RUNS}, seed={request.seed})",
        ]
    else:
        lines += [f"small, demo = system, {recording}"]
    resamples = (
        f", resamples={learning.ERROR_RESAMPLES}"
        if request.errors and done == request.iterations
        else ""
    )
    return [
        *lines,
        f"result = swarmdp.fit(small, demo, seed={request.seed}, iterations={done}{resamples})",
        "print(result)",
        "policy, name = result.policy, 'learned'",
    ]


def _smaller(system: System, where: System) -> str:
    if where is system or not isinstance(system, Resizable):
        return "small = system"
    return f"small = system.resized({planning.PLANNING_AGENTS})  # at the same density"


def _comparison_lines(system: System, recording: str | None) -> list[str]:
    start = "" if recording is None else ", initial=start"
    lines = [f"swarm = swarmdp.rollout(system, policy, steps=steps, seed=seed{start})"]
    for key, measure in measures_of(system).items():
        lines += [
            f"measure = system.measures[{key!r}].function",
            "last = [",
            "    measure({k: one[k][:, -1] if 'time' in one.variables[k].axes else one[k]",
            "             for k in swarm})[0]",
            "    for one in (expert.until(steps), swarm)",
            "]",
            f'print(f"{measure.title} after {{steps}} steps: {{last[0]:.6g}} and {{last[1]:.6g}}")',
        ]
    return [*lines, "swarmdp.show(system, {'expert': expert.until(steps), name: swarm})"]


def _number_list(name: str, values: tuple[float, ...]) -> list[str]:
    """A list of numbers, wrapped."""
    lines, line = [f"{name} = ["], "   "
    for value in values:
        text = f" {_short(value)},"
        if len(line) + len(text) > _WIDTH:
            lines.append(line)
            line = "   "
        line += text
    return [*lines, line, "]"]


def _short(value: float) -> str:
    return repr(int(value)) if value == math.floor(value) else repr(value)
