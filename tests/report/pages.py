"""A small report with real swarms and figures, for the tests of the page."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

import swarmdp
from swarmdp.paper.claim_tables import claim_counts, claim_table
from swarmdp.paper.claims import Claim
from swarmdp.policies import Policy
from swarmdp.report import style, swarms
from swarmdp.report.page import Finding, Page, PageFigure, PageTable, write_page
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene
from tests.examples import Robots, Sand

NAN = math.nan
CLAIMS = (
    Claim(
        "close",
        "Vicsek",
        "paper",
        "The learned swarm is close.",
        True,
        0.97,
        0.01,
        "of order",
        "At t = 99.",
    ),
    Claim(
        "symmetric",
        "Vicsek",
        "default",
        "The reward is symmetric.",
        False,
        3.1,
        NAN,
        "standard errors",
        "",
    ),
    Claim("beats", "Vicsek", "", "One beats the other.", None, 0.01, 0.02, "", ""),
)
OTHERS = (
    Claim("far", "Vicsek", "", "It falls with distance.", None, NAN, NAN, "", "Too few pairs."),
)
FINDINGS = (
    Finding("The swarm does what its demo did.", "good", ("By 8 statistics.",), ("By p.",)),
    Finding("The other one does not.", "bad"),
)
TABLE = PageTable(
    "near",
    "How near",
    "Less is nearer.",
    ("swarm", "distance", "what it is"),
    (
        ("learned", "0.10", "what was found"),
        ("random", "0.80", "agents that act at random, whatever they observe of the others"),
    ),
    (12.5, 100.0),
)
VICSEK = swarmdp.Vicsek(n_agents=30)
ISING = swarmdp.Ising((12, 9))


def vicsek_scene(system: swarmdp.Vicsek = VICSEK, steps: int = 20) -> Scene:
    """The expert beside a swarm that never turns."""
    straight = Policy([len(system.turns) // 2] * system.features.size)
    policies: dict[str, Any] = {"expert": system.expert, "learned": straight}
    return Scene(
        system,
        {name: swarmdp.rollout(system, p, steps=steps, seed=1) for name, p in policies.items()},
    )


def ising_scene(system: swarmdp.Ising = ISING, steps: int = 8) -> Scene:
    """The expert alone."""
    return Scene(system, {"expert": swarmdp.rollout(system, system.expert, steps=steps, seed=1)})


@dataclass(frozen=True)
class Dots(Robots):
    """Robots of which nobody sees where they head."""

    def picture(self, swarm: Mapping[str, NDArray[Any]], run: int = 0) -> swarmdp.model.Arrows:
        return swarmdp.model.Arrows(swarm["place"][run], window=(0.0, 0.0, 1.0))


def robots(system: Robots = Robots(), steps: int = 6) -> Scene:  # noqa: B008
    """A user's system that is drawn as arrows."""
    return Scene(system, {"expert": swarmdp.rollout(system, system.expert, steps=steps, seed=1)})


def dots(steps: int = 6) -> Scene:
    """One that is drawn as dots."""
    return robots(Dots(), steps)


def sand(steps: int = 6) -> Scene:
    """One that is a grid of whole numbers, of which nothing is measured."""

    def topple(heights: NDArray[Any]) -> NDArray[Any]:
        return (heights > 0).astype(int)

    return Scene(Sand(), {"expert": swarmdp.rollout(Sand(), topple, steps=steps, seed=1)})


def players() -> list[Player]:
    """One of each system."""
    return [
        Player("vicsek", "Vicsek swarms", "Arrows fly.", vicsek_scene()),
        Player("ising", "Ising grid", "Spins flip.", ising_scene()),
    ]


def draw(folder: Path) -> list[PageFigure]:
    """Two figures, one of them in two parts."""
    runs = swarmdp.rollout(VICSEK, VICSEK.expert, steps=20, runs=3, seed=1)
    figure = swarms.swarm_figure(Scene(VICSEK, {"expert": runs}), VICSEK.order(runs))
    swarm = style.save(figure, folder / "swarm")
    grids = swarmdp.rollout(ISING, ISING.expert, steps=8, runs=3, seed=1)
    figure = swarms.swarm_figure(Scene(ISING, {"expert": grids}), ISING.energy(grids))
    grid = style.save(figure, folder / "grid")
    return [
        PageFigure(
            "swarm",
            "The expert swarm",
            "It finds its order.",
            (swarm[0],),
            below=claim_table(CLAIMS),
        ),
        PageFigure(
            "both",
            "Both systems",
            "Side by side.",
            (swarm[1], grid[0]),
            ("Vicsek", "Ising"),
            claim_table(OTHERS),
        ),
    ]


def write(folder: Path) -> Path:
    """The whole report."""
    first, *others = draw(folder / "figures")
    page = Page(
        title="A small report",
        introduction=["What it is about.", "How it was made."],
        summary=claim_counts([*CLAIMS, *OTHERS]),
        findings=FINDINGS,
        players=players(),
        answers=[first],
        comparisons=[TABLE],
        figures=others,
        settings={"seed": 1, "scale": "smoke", "vicsek": {"radius": 0.1, "turns": [-1.5, 0, 1.5]}},
        timing=[("simulation", 12.34), ("learning", 75.0)],
    )
    return write_page(folder / "report.html", page)
