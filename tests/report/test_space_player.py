"""A player of a swarm in space, turned in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

import swarmdp
from swarmdp.report.page import write_player
from swarmdp.report.player import Player
from swarmdp.report.scenes import Scene
from tests.browser import needed
from tests.browser import opened as opened_browser

pytestmark = needed


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    with opened_browser(tmp_path) as driver:
        yield driver


def test_it_is_turned_by_choice_and_by_hand(browser: webdriver.Chrome, tmp_path: Path) -> None:
    system = swarmdp.Vicsek(n_agents=20, dimensions=3)
    run = swarmdp.rollout(system, system.expert, steps=6, seed=1)
    path = tmp_path / "player.html"
    write_player(path, Player("flock", "Flock", "A flock.", Scene(system, {"expert": run})))
    browser.get(path.as_uri())
    canvas = browser.find_element(By.TAG_NAME, "canvas")

    def picture() -> str:
        return str(browser.execute_script("return arguments[0].toDataURL()", canvas))

    views = Select(browser.find_element(By.CSS_SELECTOR, ".view select"))
    seen = {picture()}
    for view in ("from above", "from the front (x, z)", "from the side (y, z)"):
        views.select_by_visible_text(view)
        seen.add(picture())
    assert len(seen) == 4
    ActionChains(browser).click_and_hold(canvas).move_by_offset(40, 25).release().perform()
    assert picture() not in seen
    root = browser.find_element(By.CSS_SELECTOR, "section.player")
    assert root.get_attribute("data-playing") != "true"  # turning is no click
    assert browser.get_log("browser") == []
