"""What to do about an alarm. `studies/verdicts.py` measures how often it helps to follow it."""

from collections.abc import Sequence
from dataclasses import replace

from swarmdp.judging import baselines as simple
from swarmdp.model.verdict import Line, Verdict

NEARER = 0.5  # times the learned swarm's difference from the demo: a clone that stands for it

MORE_DATA = "more runs of the demo, or longer ones (runs=10; on the command line --demo-runs 10)"
MORE_RECORDED = "more recordings of the same kind, or longer ones"
OTHER_FEATURES = (
    "give the system features that differ between this behaviour and others, such as how near or "
    "how many the others are"
)
TOO_COARSE = (
    "a copy of the demo's own decisions on these classes does no better, so the classes or the "
    "actions are too coarse: finer ones (of Vicsek swarms n_bins and turns; on the command line "
    "--n-bins, --turns)"
)
TOO_COARSE_FOR_TRACKS = (
    "a copy of the recorded turns on these classes does no better, so what individuals react to is "
    "not among the observations, or these are too coarse: other components or neighbours (of "
    "swarmdp.recordings.Observation; on the command line --components, --neighbours)"
)
OTHER_LEARNERS = (
    "let other learners take over (policy_search=True, without a learner or a preset; on the "
    "command line without --no-policy-search and --preset)"
)
CLONE_IS_NEARER = f"a copy of the demo's own decisions comes much nearer: {OTHER_LEARNERS}"
FINER = f"{OTHER_LEARNERS}; where they did, finer classes of observations or finer actions"
LEARNERS_TRIED = (
    "other learners were tried, and none reproduces it: swarmdp.locality_test(demo, system, "
    "seed=1) tells whether a common cue is missing from the observations; if none is, finer "
    "classes of observations or finer actions"
)

CLASSES = (FINER, TOO_COARSE, TOO_COARSE_FOR_TRACKS)
"""Advice that a cause which is missing from the observations makes pointless."""


def clone_is_nearer(lines: Sequence[Line]) -> bool | None:
    """Whether a clone is much nearer to the demo than the learned swarm, in all statistics.

    None if there is no clone.
    """
    if not any(simple.CLONE in line.baselines for line in lines):
        return None
    learned, copied = 0.0, 0.0
    for line in lines:
        gaps = [
            abs(line.baselines[name] - line.demo)
            for name in simple.IGNORANT
            if name in line.baselines
        ]
        if any(gaps):
            learned += abs(line.learned - line.demo) / max(gaps)
            copied += abs(line.baselines[simple.CLONE] - line.demo) / max(gaps)
    return copied < NEARER * learned


def about_another_behaviour(lines: Sequence[Line], recorded: bool = False) -> str:
    """What to try where the learned swarm does something else; of a recording or a simulation."""
    nearer = clone_is_nearer(lines)
    if nearer is None:
        return FINER
    if nearer:
        return CLONE_IS_NEARER
    return TOO_COARSE_FOR_TRACKS if recorded else TOO_COARSE


def after_other_learners(verdict: Verdict) -> Verdict:
    """The verdict of a fit that has tried other learners: it does not advise to try them."""
    advice = [
        LEARNERS_TRIED if text in (FINER, CLONE_IS_NEARER) else text for text in verdict.advice
    ]
    return replace(verdict, advice=tuple(advice))
