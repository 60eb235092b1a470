"""The systems that the command line knows, and their options."""

import argparse
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from swarmdp.cli.common import HelpFormatter


def _add_vicsek_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the swarm (the defaults are the paper's)")
    group.add_argument("--n-agents", type=int, default=200, help="number of agents")
    group.add_argument("--radius", type=float, default=0.1, help="interaction radius")
    group.add_argument("--speed", type=float, default=0.1, help="distance flown in a step")
    group.add_argument(
        "--noise", type=float, default=10.0, help="standard deviation of headings, in degrees"
    )
    group.add_argument("--box", type=float, default=1.0, help="side of the square")
    group.add_argument("--n-bins", type=int, default=36, help="classes of misalignment")
    group.add_argument("--open", action="store_true", help="open space, no periodic boundary")
    group.add_argument(
        "--nearest", type=int, help="neighbours are so many nearest agents, instead of by radius"
    )


def _vicsek(options: argparse.Namespace) -> Any:
    from swarmdp.systems.vicsek import Vicsek

    return Vicsek(
        n_agents=options.n_agents,
        radius=options.radius,
        speed=options.speed,
        noise=math.radians(options.noise),
        box=options.box,
        n_bins=options.n_bins,
        periodic=not options.open,
        nearest=options.nearest,
    )


def _add_ising_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the grid (the defaults are the paper's)")
    group.add_argument("--rows", type=int, default=100, help="rows of the grid")
    group.add_argument("--columns", type=int, default=100, help="columns of the grid")
    group.add_argument("--reach", type=int, default=2, help="Chebyshev radius of neighbourhoods")
    group.add_argument("--periodic", action="store_true", help="the grid's edges meet")
    group.add_argument(
        "--magnetisation", type=float, default=0.0, help="expected mean of the initial spins"
    )


def _ising(options: argparse.Namespace) -> Any:
    from swarmdp.systems.ising import Ising

    return Ising(
        (options.rows, options.columns), options.reach, options.periodic, options.magnetisation
    )


def _add_gridworld_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the grid (the defaults are Ng and Russell's)")
    group.add_argument("--rows", type=int, default=5, help="rows of the grid")
    group.add_argument("--columns", type=int, default=5, help="columns of the grid")
    group.add_argument("--wind", type=float, default=0.3, help="chance of a random move")
    group.add_argument(
        "--macrocell",
        type=int,
        default=1,
        help="side of blocks of cells with random rewards, as Abbeel and Ng's, instead of a goal",
    )
    group.add_argument("--reward-seed", type=int, default=1, help="seed of these rewards")


def _gridworld(options: argparse.Namespace) -> Any:
    from swarmdp.systems.gridworld import Gridworld

    shape = options.rows, options.columns
    if options.macrocell == 1:
        return Gridworld(*shape, options.wind)
    return Gridworld.macrocells(options.reward_seed, *shape, options.macrocell, options.wind)


def _own_expert(system: Any, discount: float) -> Any:
    return system.expert


def _planned_expert(system: Any, discount: float) -> Any:
    from swarmdp.learning.planning import plan

    return plan(system, system.reward, discount=discount).policy


@dataclass(frozen=True)
class Choice:
    """A system as the command line knows it."""

    summary: str
    add_options: Callable[[argparse.ArgumentParser], None]
    build: Callable[[argparse.Namespace], Any]
    measure: str
    measure_title: str
    steps: int
    demo_runs: int = 1  # of the expert, that a fit learns from
    expert: Callable[[Any, float], Any] = _own_expert  # given the discount


SYSTEMS = {
    "vicsek": Choice(
        "self-propelled particles that align with their neighbours",
        _add_vicsek_options,
        _vicsek,
        "order",
        "order parameter",
        100,
    ),
    "ising": Choice(
        "spins on a grid that follow the majority of their neighbours",
        _add_ising_options,
        _ising,
        "energy",
        "global energy",
        60,
    ),
    "gridworld": Choice(
        "one agent on a grid with wind: the textbook case",
        _add_gridworld_options,
        _gridworld,
        "collected",
        "true reward of the agent's cell",
        100,
        demo_runs=1000,
        expert=_planned_expert,
    ),
}


def add_systems(
    parser: argparse.ArgumentParser, required: bool, names: Iterable[str] = SYSTEMS
) -> Iterator[tuple[str, Choice, argparse.ArgumentParser]]:
    """A sub-command for each of these systems."""
    systems = parser.add_subparsers(
        title="systems", required=required, metavar="SYSTEM", dest="system"
    )
    for name in names:
        choice = SYSTEMS[name]
        yield (
            name,
            choice,
            systems.add_parser(
                name,
                help=choice.summary,
                formatter_class=HelpFormatter,
                allow_abbrev=False,
            ),
        )


def system_of(recorded: Any) -> Any:
    """The system that a trajectory or fit was made from, rebuilt from its settings."""
    from swarmdp.errors import InvalidInput
    from swarmdp.systems.gridworld import Gridworld
    from swarmdp.systems.ising import Ising
    from swarmdp.systems.vicsek import Vicsek

    kinds: dict[str, Any] = {"Vicsek": Vicsek, "Ising": Ising, "Gridworld": Gridworld}
    settings = getattr(recorded, "system_settings", None) or recorded.settings
    if recorded.system not in kinds:
        raise InvalidInput(
            f"it was recorded from {recorded.system}, which the command line does not know "
            f"(it knows {', '.join(kinds)}): use swarmdp.fit in Python"
        )
    plain = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
    return kinds[recorded.system](**plain)
