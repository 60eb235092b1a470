"""Whether the recording itself stayed what it was: a swarm learns only what it was shown.

A swarm that was made from the first part of a recording is judged on the last part. Where the
recorded swarm had changed by then, more than any learned swarm could be blamed for, the last part
tells little about what was learned from the first.
"""

from dataclasses import replace

import numpy as np

from swarmdp.judging.statistics import recorded_measure
from swarmdp.model.recorded import KnowsItsRecording
from swarmdp.model.system import Measure, System
from swarmdp.model.traits import measures_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.model.verdict import Verdict

FACTOR = 1.5  # between the means of a measure in both parts, from which on it has changed
_SHARE = 0.25  # of a measure's range, where it has one: likewise


def add_drift(verdict: Verdict, system: System, demo: Trajectory) -> Verdict:
    """The verdict, or 'too little data' if the recording itself changed before the demo."""
    if not isinstance(system, KnowsItsRecording) or not demo.of_recording:
        return verdict
    before = system.recorded_means()
    if not before or not set(system.fields) <= set(demo):
        return verdict
    changed = []
    for name, measure in measures_of(system).items():
        values = recorded_measure(system, demo, name)
        if values is None:
            continue
        now = float(np.mean(values))
        if _changed(measure, before[name], now):
            changed.append(f"{measure.title} from {before[name]:.3g} to {now:.3g}")
    if not changed:
        return verdict
    words = (
        "too little data to tell: the recording itself changed, compared with the time that was "
        f"learned from, {', '.join(changed)}"
    )
    advice = "add recordings of the same kind: what is held out is unlike what was learned from"
    return replace(verdict, words=words, reproduces=False, alarm=True, advice=(advice,))


def _changed(measure: Measure, before: float, now: float) -> bool:
    low, high = measure.limits
    if low is not None and high is not None:
        return abs(now - before) > _SHARE * (high - low)
    small, large = sorted((abs(before), abs(now)))
    return large > FACTOR * small
