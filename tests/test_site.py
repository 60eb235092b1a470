"""The site in a real browser: pages that lead to others, on a desk and on a phone."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser import PATIENCE, emulate, needed, opened, resize
from tests.examples import ROOT

pytestmark = needed

INDEXES = ("tutorials/index", "how-to/index", "explanation/index", "studies/index")
LOADED = """
    return Array.from(document.querySelectorAll("main img"))
        .every(picture => picture.complete && picture.naturalWidth > 0)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without the outputs of its notebooks and the pages of single names."""
    folder = tmp_path_factory.mktemp("site")
    quick = ["-D", "nb_execution_mode=off", "-D", "autosummary_generate=0"]
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", *quick]
    subprocess.run([*command, str(ROOT / "docs"), str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with opened(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def visit(browser: webdriver.Chrome, page: Path) -> None:
    browser.get(page.as_uri())
    WebDriverWait(browser, PATIENCE).until(lambda driver: driver.execute_script(LOADED))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1300])
def test_landing_and_index_pages_fit_and_show_a_picture_for_each_entry(
    browser: webdriver.Chrome, site: Path, width: int, scheme: str
) -> None:
    resize(browser, width)
    emulate(browser, scheme)
    for name in ("index", *INDEXES):
        visit(browser, site / f"{name}.html")
        cards = browser.find_elements(By.CSS_SELECTOR, "main .sd-card")
        assert len(cards) >= 4, name
        for card in cards:
            assert card.find_element(By.TAG_NAME, "img").is_displayed()
            assert len(card.text.splitlines()) >= 2  # a title and a sentence
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width, name


def test_the_doors_of_the_landing_page_lead_somewhere(
    browser: webdriver.Chrome, site: Path
) -> None:
    resize(browser, 1300)
    emulate(browser)
    visit(browser, site / "index.html")
    links = browser.find_elements(By.CSS_SELECTOR, "main .sd-card a")
    places = [Path(str(link.get_attribute("href")).removeprefix("file://")) for link in links]
    assert len(places) == 4
    assert all(place.exists() for place in places)


def test_long_tables_are_folded_until_they_are_asked_for(
    browser: webdriver.Chrome, site: Path
) -> None:
    resize(browser, 1300)
    visit(browser, site / "updates.html")
    fold = browser.find_element(By.CSS_SELECTOR, "details.sd-dropdown:has(table)")
    table = fold.find_element(By.TAG_NAME, "table")
    assert not table.is_displayed()
    fold.find_element(By.TAG_NAME, "summary").click()
    WebDriverWait(browser, PATIENCE).until(lambda _: table.is_displayed())


def test_the_studio_page_moves_within_the_site(browser: webdriver.Chrome, site: Path) -> None:
    resize(browser, 1300)
    visit(browser, site / "studio.html")
    frame = browser.find_element(By.CSS_SELECTOR, "iframe.studio")
    browser.execute_script("arguments[0].scrollIntoView()", frame)
    browser.switch_to.frame(frame)
    buttons = WebDriverWait(browser, PATIENCE).until(
        lambda driver: driver.find_elements(By.CSS_SELECTOR, "button")
    )
    assert len(buttons) > 4  # rewards with names
    browser.switch_to.default_content()
