"""One file for others: rewards with names, and the swarms that were simulated for them.

It needs no installation, no server and no network: policies are planned and swarms simulated when
it is written, and the page plays them beside the expert.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np

from swarmdp.irl.result import Result
from swarmdp.model.pictures import Grid
from swarmdp.model.system import feature_count, name_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller, LocalPolicy
from swarmdp.policies.replicas import select_replicas
from swarmdp.report.page import player_document
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene
from swarmdp.simulation.rollout import rollout
from swarmdp.studio.catalogue import Entry
from swarmdp.studio.folder import Opened
from swarmdp.studio.learning import StudioFit, identified_weights
from swarmdp.studio.messages import Learn
from swarmdp.studio.planning import plan_painted
from swarmdp.studio.presets import presets_of
from swarmdp.studio.scene import SceneMaker, StudioScene, axes_of
from swarmdp.support import files as written
from swarmdp.support.errors import InvalidInput
from swarmdp.support.saved import load
from swarmdp.systems.registry import built_in

LEARNED, PAINTED = "the learned one", "the painted one"
ITERATIONS = 20  # of the fit that finds the learned reward, as the page of the studio has it
_STEPS = 100  # of a system that does not say after how many little happens
_LEAST_STEPS = 20
_LARGEST_DATA = 3_000_000  # bytes of all swarms
_SCRIPTS = ("words.js", "bars.js", "polar.js", "panels.js", "meaning.js", "exported.js")
_INTRO = (
    "On the left is the {left}. Each agent on the right was given a reward for what it observes, "
    "and has learned by itself how to collect it. Choose a reward."
)


@dataclass(frozen=True, eq=False)
class ShownReward:
    """A reward of the page, and the policy of its swarm."""

    name: str
    words: str  # what its swarm does, or where it is from
    weights: Sequence[float]
    policy: LocalPolicy
    collected: str = ""  # what its agents collect
    clear: Sequence[bool] | None = None  # which weights are identified; None if that is not asked

    def to_json(self) -> Mapping[str, object]:
        """What the page has to know of it, as plain data."""
        return {
            "name": self.name,
            "words": self.words,
            "weights": list(self.weights),
            "collected": self.collected,
            "clear": None if self.clear is None else list(self.clear),
        }


def page_of(scene: StudioScene, own: Sequence[ShownReward] = ()) -> str:
    """The page with a scene's named rewards, after those of one's own."""
    rewards = [*own, *_planned_presets(scene)]
    if not rewards:
        raise InvalidInput(
            f"{name_of(scene.system)} has no rewards with names: paint one, learn one, or give a "
            "saved fit"
        )
    player = Player(
        "swarms",
        name_of(scene.system),
        "",
        Scene(scene.system, _simulated(scene, rewards)),
        scene.stage.usual,
        fastest=scene.stage.fastest,
    )
    return player_document(
        player,
        "studio/templates/exported.html.j2",
        script=_bundled(),
        look=_asset("panels.css") + _asset("exported.css"),
        title=f"{name_of(scene.system)}: what rewards make of a swarm",
        intro=_INTRO.format(left=scene.stage.left_name),
        blocks=[] if scene.not_paintable else axes_of(scene.system),
        colours=scene.stage.description()["colours"],
        rewards=[reward.to_json() for reward in rewards],
    )


def own_reward(scene: StudioScene, result: Result | None = None) -> list[ShownReward]:
    """What moves the right swarm of a scene now: painted, learned or opened; none if nothing does.

    The result is that of the latest fit.
    """
    if scene.moved_by == "nothing" or scene.weights is None:
        return []
    if scene.moved_by == "learned" and result is not None:
        return [_of_result(result, scene)]
    painted = scene.moved_by == "painted"
    words = "painted by hand" if painted else f"learned from the {scene.stage.left_name}"
    name = PAINTED if painted else LEARNED
    return [ShownReward(name, words, scene.weights, scene.stage.policy)]


def export(path: Path, entries: Mapping[str, Entry], first: str, given: str | None) -> Path:
    """Write the page of a system, of a painted reward's link, or of a saved fit.

    Parameters
    ----------
    path
        The file to write.
    entries
        The systems that are known.
    first
        The name of the system that is shown where nothing else is given.
    given
        A link of the studio, or the folder of a fit, whose reward is the first on the page; the
        system is theirs then.

    """
    maker, own = SceneMaker(entries, Path()), []
    if given is None:
        scene = maker.from_system(first, {}, 1, None)
    elif "#" in given or "weights=" in given:
        scene, painted = _scene_of_link(given, maker, first)
        own = [painted]
    else:
        opened = load(given)
        if not isinstance(opened, Opened):
            raise InvalidInput(f"{given} is a {type(opened).__name__}, which has no reward")
        scene = maker.from_file(given, opened, 1)
        own = [_of_result(opened, scene)] if isinstance(opened, Result) else own_reward(scene)
    if not any(reward.name == LEARNED for reward in own):
        own = [*own, learned_reward(scene)]
    written.write_text(path, page_of(scene, own))
    return path


def learned_reward(scene: StudioScene) -> ShownReward:
    """Learn the reward of the left swarm, as the studio does."""
    fit = StudioFit(scene.stage.play, Learn(scene.stage.seed, ITERATIONS, errors=False))
    fit.run(lambda facts: None, lambda policy: None)
    assert fit.result is not None
    return _of_result(fit.result, scene)


def _of_result(result: Result, scene: StudioScene) -> ShownReward:
    verdict = result.verdict
    return ShownReward(
        LEARNED,
        f"learned from the {scene.stage.left_name}",
        result.reward.weights[0].tolist(),
        select_replicas(result.policy, slice(0, 1)),
        "" if verdict is None else f"The verdict: this swarm {verdict.words}.",
        identified_weights(result),
    )


def _scene_of_link(link: str, maker: SceneMaker, first: str) -> tuple[StudioScene, ShownReward]:
    """The scene and the reward of a link that the studio copied."""
    asked = dict(parse_qsl(link.rpartition("#")[2]))
    try:
        settings = {
            name.removeprefix("s."): float(text)
            for name, text in asked.items()
            if name.startswith("s.")
        }
        seed = int(asked.get("seed", "1"))
        weights = tuple(float(text) for text in asked.get("weights", "").split(",") if text)
    except ValueError:
        raise InvalidInput(
            f"this is not a link of the studio: {link[:200]!r} has something that is not a number"
        ) from None
    scene = maker.from_system(asked.get("system", first), settings, seed, None)
    if not weights:
        raise InvalidInput(
            "this link has no reward: choose 'Copy link' in the studio, and put it in quotes"
        )
    count = feature_count(scene.system)
    if scene.not_paintable:
        raise InvalidInput(scene.not_paintable)
    if len(weights) != count or not np.isfinite(weights).all():
        raise InvalidInput(f"the reward of this link must have {count} weights, got {len(weights)}")
    return scene, _planned(scene, PAINTED, "painted by hand", weights)


def _planned_presets(scene: StudioScene) -> list[ShownReward]:
    if scene.not_paintable:
        return []
    return [
        _planned(scene, preset.name, preset.words, preset.weights)
        for preset in presets_of(scene.system)
    ]


def _planned(scene: StudioScene, name: str, words: str, weights: tuple[float, ...]) -> ShownReward:
    planned = plan_painted(scene.system, np.array(weights), scene.expert_mu)
    collected = (
        f"Each agent collects {planned.value:.3g} a step (discounted mean); the highest reward is "
        f"{planned.best:.3g}."
    )
    if planned.expert_value is not None:
        collected += f" The {scene.stage.left_name} would collect {planned.expert_value:.3g}."
    return ShownReward(name, words, weights, planned.policy, collected)


def _simulated(scene: StudioScene, rewards: Sequence[ShownReward]) -> dict[str, Trajectory]:
    """The left swarm, and one for each reward, from the same start."""
    stage = scene.stage
    left, started = stage.play.left, stage.play.started
    steps = _steps_of(scene, len(rewards) + 1)
    if isinstance(left, Trajectory):
        steps = min(steps, left.steps)

    def roll_out(policy: Controller) -> Trajectory:
        return rollout(started, policy, steps=steps, seed=stage.seed, threads=1, progress=False)

    first = left.until(steps) if isinstance(left, Trajectory) else roll_out(left)
    return {
        stage.left_name: first,
        **{reward.name: roll_out(reward.policy) for reward in rewards},
    }


def _steps_of(scene: StudioScene, swarms: int) -> int:
    """As many steps as something happens in, and as the page has room for."""
    known = built_in(name_of(scene.system))
    usual = _STEPS if known is None else known.steps
    first = scene.stage.first_picture
    agents = scene.system.n_agents
    bytes_per_step = agents // 8 + 1 if isinstance(first, Grid) else 5 * agents
    return max(_LEAST_STEPS, min(usual, _LARGEST_DATA // (swarms * bytes_per_step)))


def _bundled() -> str:
    """The scripts of the page as one: modules without their imports and exports, in order."""
    texts = [re.sub(r"^import .*;\n|^export ", "", _asset(name), flags=re.M) for name in _SCRIPTS]
    return "(() => {\n" + "".join(texts) + "})();\n"


def _asset(name: str) -> str:
    return files("swarmdp.studio.assets").joinpath(name).read_text(encoding="utf-8")
