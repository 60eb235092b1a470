"""'Copy as Python': a script that repeats what was seen on the page."""

import math
from dataclasses import MISSING, fields, is_dataclass

from swarmdp._version import __version__
from swarmdp.learning.heterogeneous import HeterogeneousLearning
from swarmdp.model.system import System
from swarmdp.model.traits import Resizable, measures_of
from swarmdp.studio import learning, planning
from swarmdp.studio.catalogue import Entry
from swarmdp.support.errors import InvalidInput

WIDTH = 92  # of a line of numbers


def script_of(
    system: System,
    *,
    entry: Entry,
    seed: int,
    steps: int,
    recording: str | None,
    weights: tuple[float, ...] | None,
    wish: learning.Wish | None,
    done: int,
    policy: str | None,
) -> str:
    """The script: the system, the expert or a recording, then what the right swarm follows.

    Parameters
    ----------
    system
        What is shown.
    entry
        How it is made.
    seed, steps
        Of the swarms that are seen.
    recording
        The file of the recording on the left; None for the expert.
    weights
        The reward that was painted; None if none was.
    wish, done
        What was learned, in so many iterations; None if nothing was.
    policy
        The expression of a policy that was opened; None if none was.

    """
    lines = [
        f'"""What was seen in the studio of swarmdp {__version__}."""',
        "",
        *_imports(entry, recording is not None or entry.recording is not None),
        "",
        f"system = {entry.source or _made(system, entry.path)}",
        f"seed, steps = {seed}, {steps}",
        "",
    ]
    kept = None if recording is None else f"swarmdp.load({recording!r})"
    if entry.recording is not None:
        kept = "system.demo(system.decisions)"
    lines += _left(kept)
    if wish is not None:
        lines += ["", *_learned(system, kept, wish, done)]
    elif policy is not None:
        lines += ["", f"policy, name = {policy}, 'opened'"]
    elif weights is not None:
        lines += ["", *_painted(system, weights)]
    else:
        lines += ["", "policy, name = system.expert, 'expert'"]
    lines += ["", *_compared(system, kept)]
    return "\n".join(lines) + "\n"


def _imports(entry: Entry, recorded: bool) -> list[str]:
    module, _, name = entry.path.partition(":")
    lines = ["import swarmdp"]
    if recorded:
        lines += ["from swarmdp.streams import Purpose"]
    if module and not module.startswith("swarmdp."):
        lines += [f"from {module} import {name}"]
    return lines


def _made(system: System, path: str) -> str:
    """The call that makes the system: only what is not a default."""
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


def _left(recording: str | None) -> list[str]:
    if recording is None:
        return ["expert = swarmdp.rollout(system, system.expert, steps=steps, seed=seed)"]
    return [
        f"expert = {recording}.only(0)",
        "steps = min(steps, expert.steps)",
        "streams = swarmdp.model.Streams.of(0, [0], system.n_agents)",
        "own = system.initial(streams.at(0, Purpose.INITIAL))",
        "start = {",
        "    name: expert[name][0, 0] if 'time' in expert.variables[name].axes",
        "    else expert[name][0]",
        "    for name in own",
        "}",
    ]


def _painted(system: System, weights: tuple[float, ...]) -> list[str]:
    import numpy as np

    where = planning.small(system)
    even = planning.is_even(where, np.array(weights))
    learner = planning.learner_for(where)
    lines = ["# The reward that was painted, and the policy that collects most of it."]
    lines += _numbers("weights", weights)
    lines += [_smaller(system, where)]
    if not isinstance(learner, HeterogeneousLearning):
        return [
            *lines,
            "reward = swarmdp.Reward(weights)",
            f"planned = swarmdp.learning.plan(small, reward, discount={planning.DISCOUNT})",
            "policy, name = planned.policy, 'painted'",
        ]
    changed = ", ".join(f"{k}={v!r}" for k, v in planning.changed_fields(learner).items())
    return [
        *lines,
        f"learner = swarmdp.learning.HeterogeneousLearning({changed})",
        "learned = learner(",
        f"    small, swarmdp.Reward(weights), discount={planning.DISCOUNT}, seed={planning.SEED},",
        f"    wants=swarmdp.updates.Wants(mirror={even}),",
        ")",
        "policy, name = learned.policy, 'painted'",
    ]


def _learned(system: System, recording: str | None, wish: learning.Wish, done: int) -> list[str]:
    lines = ["# The reward that was learned."]
    if recording is None:
        lines += [
            _smaller(system, planning.small(system)),
            f"demo = swarmdp.rollout(small, small.expert, steps={learning.DEMO_STEPS}, "
            f"seed={wish.seed})",
        ]
    else:
        lines += [f"small, demo = system, {recording}"]
    resamples = (
        f", resamples={learning.RESAMPLES}" if wish.errors and done == wish.iterations else ""
    )
    return [
        *lines,
        f"result = swarmdp.fit(small, demo, seed={wish.seed}, iterations={done}{resamples})",
        "print(result)",
        "policy, name = result.policy, 'learned'",
    ]


def _smaller(system: System, where: System) -> str:
    if where is system or not isinstance(system, Resizable):
        return "small = system"
    return f"small = system.resized({planning.ENOUGH_AGENTS})  # at the same density"


def _compared(system: System, recording: str | None) -> list[str]:
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


def _numbers(name: str, values: tuple[float, ...]) -> list[str]:
    """A list of numbers, wrapped."""
    lines, line = [f"{name} = ["], "   "
    for value in values:
        text = f" {_short(value)},"
        if len(line) + len(text) > WIDTH:
            lines.append(line)
            line = "   "
        line += text
    return [*lines, line, "]"]


def _short(value: float) -> str:
    return repr(int(value)) if value == math.floor(value) else repr(value)
