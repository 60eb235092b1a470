"""`swarmdp demo`: a swarm is recorded, its reward is learned, and both swarms move side by side."""

import argparse
import sys
import time
import warnings
from typing import Any

from swarmdp.cli.common import add_command, add_seed, add_threads
from swarmdp.support.errors import VerdictWarning

_RUNS, _STEPS = 5, 100  # of the demo
_FRAMES = 60  # that are played
_PAUSE = 0.08  # seconds between them
_WIDE, _HIGH = 36, 16  # characters of a swarm
_NEXT = """Next:
  swarmdp fit vicsek --demo-runs 5 -o runs/fit  the same, with a page to look at
  swarmdp fit --tracks FILE --fps 25            your own tracks: CSV, idtracker.ai, SLEAP, ...
  swarmdp fit --system MODULE:CLASS             your own simulator
  swarmdp reproduce                             the paper's figures
  swarmdp studio                                paint a reward and watch the swarm follow it"""


def add(commands: Any) -> None:
    """Add the command and its options."""
    demo = add_command(
        commands,
        "demo",
        _run,
        summary="watch a swarm being learned, in ten seconds; writes nothing",
        description="Record a simulated swarm, learn the reward behind it, and show the recorded "
        "and the learned swarm side by side in the terminal. Nothing is written.",
    )
    add_seed(demo)
    add_threads(demo)


def _run(options: argparse.Namespace) -> None:
    """Record, learn, play, and say what was found."""
    from swarmdp.cli.terminal_plots import reward_plot
    from swarmdp.fitting.fit import fit
    from swarmdp.simulation.rollout import rollout
    from swarmdp.systems.vicsek import Vicsek

    system = Vicsek()
    how = {"steps": _STEPS, "threads": options.threads}
    demo = rollout(system, system.expert, runs=_RUNS, seed=options.seed, **how)
    print(
        f"Recorded: {_RUNS} runs of {system.n_agents} agents that turn to the mean heading of "
        "their neighbours.\nLearning, from states alone, the reward that makes agents do this ..."
    )
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VerdictWarning)  # the verdict is printed
        result = fit(system, demo, seed=options.seed, threads=options.threads)
    seconds = time.perf_counter() - began
    learned = rollout(system, result.policy, seed=options.seed, **how)
    _play(demo, learned)
    assert result.verdict is not None
    print(f"\nLearned in {seconds:.1f} s. Verdict: {result.verdict.words}\n")
    print(reward_plot(result))
    print(f"\n{_NEXT}")


def _frame(demo: Any, learned: Any, step: int) -> str:
    """Both swarms at one time, side by side."""
    from swarmdp.cli.terminal_plots import arrows

    sides = [
        arrows(swarm["position"][0, step], swarm["heading"][0, step], _WIDE, _HIGH)
        for swarm in (demo, learned)
    ]
    title = f"{'recorded':<{_WIDE}} │ learned, t = {step}"
    rows = [f"{one} │ {other}".rstrip() for one, other in zip(*sides, strict=True)]
    return "\n".join([title, *rows])


def _play(demo: Any, learned: Any) -> None:
    """Both swarms from the same start: moving on a terminal, elsewhere the first and last frame."""
    if not sys.stdout.isatty():
        print(_frame(demo, learned, 0), _frame(demo, learned, _FRAMES), sep="\n\n")
        return
    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False) as live:
        for step in range(_FRAMES + 1):
            live.update(Text(_frame(demo, learned, step)), refresh=True)
            time.sleep(_PAUSE)
