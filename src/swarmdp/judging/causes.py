"""Why a demo cannot be reproduced by agents that only react: what their observations lack.

Where the same observation is answered by different actions, something else decides. If it is what
the agent did or saw before, a memory is missing; if it is what the others do at the same time, a
common cue or a command. How much each explains is a mutual information, given the observation.
"""

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.inference import MIXED, Explanation

_LONGEST = 15  # steps: how far back the past is looked at
_STEPS_BACK = 3  # how far back observations are looked at
_SHARE = 0.2  # of what is unexplained: a cause that explains more is named
CUE = "a common cue, a leader or a command is missing from the observations"
UNKNOWN = "something decides that is not observed, or the classes are too coarse"


def missing_cause(decisions: Explanation) -> str:
    """What the observations lack, in words; empty if they determine what agents do."""
    if decisions.mixed <= MIXED:
        return ""
    words = (
        "the demo answers the same observation by different actions "
        f"({decisions.mixed:.2g} nats a decision)"
    )
    unexplained = _entropy(decisions)
    before, together = dependence_on_the_past(decisions), dependence_on_others(decisions)
    if together >= _SHARE * unexplained and together >= before:
        return (
            f"{words}, and what the others do at the same time explains {together:.2g} nats of it: "
            f"{CUE}"
        )
    if before >= _SHARE * unexplained:
        return (
            f"{words}, and what the agent did before explains {before:.2g} nats of it: a memory is "
            "missing from the observations, try swarmdp.with_history(system) (on the command line "
            "--history 1)"
        )
    seen, steps = dependence_on_what_was_seen(decisions)
    if seen >= _SHARE * unexplained:
        return (
            f"{words}, and what the agent saw {steps} step{'s' * (steps > 1)} before explains "
            f"{seen:.2g} nats of it: a memory is missing from the observations, try "
            f"swarmdp.with_history(system, steps={steps}) (on the command line --history {steps})"
        )
    return f"{words}: {UNKNOWN}"


def dependence_on_the_past(decisions: Explanation) -> float:
    """The information that an agent's past has on its action, given the observation.

    The past is the action before, and for how many steps it was taken without a break.
    """
    actions = decisions.actions
    moments = zip(decisions.run.tolist(), decisions.time.tolist(), strict=True)
    place = {moment: m for m, moment in enumerate(moments)}
    lasted = np.zeros(actions.shape, np.int64)
    now, before = [], []
    for (run, time), m in sorted(place.items()):
        last = place.get((run, time - 1))
        if last is None:
            continue
        now.append(m)
        before.append(last)
        earlier = place.get((run, time - 2))
        if earlier is not None:
            same = actions[last] == actions[earlier]
            lasted[m] = np.where(same, np.minimum(lasted[last] + 1, _LONGEST), 0)
    if not now:
        return 0.0
    past = actions[before] * (_LONGEST + 1) + lasted[now]
    index = decisions.index.reshape(actions.shape)
    return conditional_information(index[now], actions[now], past)


def dependence_on_what_was_seen(decisions: Explanation) -> tuple[float, int]:
    """The information that an earlier observation has on an action, given the present one.

    The largest of a few steps back, and how many steps back it is.
    """
    actions = decisions.actions
    index = decisions.index.reshape(actions.shape)
    moments = zip(decisions.run.tolist(), decisions.time.tolist(), strict=True)
    place = {moment: m for m, moment in enumerate(moments)}
    best = (0.0, 1)
    for steps in range(1, _STEPS_BACK + 1):
        pairs = [
            (m, place[run, time - steps])
            for (run, time), m in place.items()
            if (run, time - steps) in place
        ]
        if pairs:
            now, before = (list(side) for side in zip(*pairs, strict=True))
            told = conditional_information(index[now], actions[now], index[before])
            best = max(best, (told, steps), key=lambda pair: pair[0])
    return best


def dependence_on_others(decisions: Explanation) -> float:
    """The information that the commonest action of the others has on an agent's action."""
    actions = decisions.actions
    if actions.shape[1] < 2:
        return 0.0
    count = decisions.likelihood.shape[1]
    counts = np.stack([(actions == a).sum(axis=1) for a in range(count)], axis=1)
    others = counts[:, None, :] - (actions[:, :, None] == np.arange(count))
    return conditional_information(
        decisions.index.reshape(actions.shape), actions, others.argmax(axis=2)
    )


def conditional_information(
    given: NDArray[np.integer], one: NDArray[np.integer], other: NDArray[np.integer]
) -> float:
    """The mutual information of two labels given a third, in nats, less its bias by chance."""
    x, y, z = (np.unique(labels, return_inverse=True)[1].ravel() for labels in (one, other, given))
    counts = np.zeros((z.max() + 1, x.max() + 1, y.max() + 1))
    np.add.at(counts, (z, x, y), 1.0)
    total = counts.sum()
    expected = (
        counts.sum(axis=2, keepdims=True)
        * counts.sum(axis=1, keepdims=True)
        / np.maximum(counts.sum(axis=(1, 2), keepdims=True), 1.0)
    )
    there = counts > 0
    information = (counts[there] * np.log(counts[there] / expected[there])).sum() / total
    levels = [(counts.sum(axis=axis) > 0).sum(axis=1) - 1 for axis in (2, 1)]
    bias = np.maximum(levels[0], 0) @ np.maximum(levels[1], 0) / (2 * total)
    return float(max(0.0, information - bias))


def _entropy(decisions: Explanation) -> float:
    """What is left open of an action, given the observation, in nats."""
    visits = np.bincount(decisions.index, minlength=decisions.size) / len(decisions.index)
    chances = decisions.chances
    logarithm = np.log(np.where(chances > 0, chances, 1.0))
    return float(-(visits[:, None] * chances * logarithm).sum())
