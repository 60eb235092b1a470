"""Players in notebooks: a page in a frame that asks nobody for anything."""

from pathlib import Path

import pytest

import swarmdp
from swarmdp.support.errors import InvalidInput
from tests.examples import Robots, result_of


def test_a_notebook_shows_a_page_in_a_sandbox(tmp_path: Path) -> None:
    vicsek = swarmdp.Vicsek(n_agents=5)
    shown = swarmdp.show(vicsek, {"expert": vicsek.expert, "again": vicsek.expert}, steps=3)
    markup = shown._repr_html_()
    assert markup.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in markup
    assert markup.count("<iframe") == 1
    assert "http" not in markup.replace("http-equiv", "")
    assert shown.scene.steps == 3
    assert "expert and again, 3 steps" in repr(shown)
    path = shown.save(tmp_path / "swarm.html")
    assert path.read_text() == shown.document


def test_trajectories_give_the_number_of_steps() -> None:
    ising = swarmdp.Ising((6, 6))
    recorded = swarmdp.rollout(ising, ising.expert, steps=4, seed=1)
    shown = swarmdp.show(ising, {"recorded": recorded, "expert": ising.expert})
    assert shown.scene.steps == 4


def test_a_result_shows_itself_beside_its_expert() -> None:
    vicsek = swarmdp.Vicsek(n_agents=8)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=50, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=5)
    result = swarmdp.fit(vicsek, demo, seed=1, iterations=1, learner=learner, judge=False)
    shown = result.show(steps=2)
    assert list(shown.scene.swarms) == ["expert", "learned"]
    with pytest.raises(InvalidInput, match="experiment must be from 0 to 0"):
        result.show(experiment=1)


def test_a_result_of_a_users_system_needs_the_system() -> None:
    result = result_of(Robots().features)
    with pytest.raises(InvalidInput, match=r"result\.show\(system\)"):
        result.show()
    assert result.show(Robots(), steps=2).scene.steps == 2
