"""`python -m tools.studio_pictures`: the pictures of the studio in docs/images, made again.

They are taken in headless Chromium from a studio with the default settings and seed.
"""

import tempfile
import time
from io import BytesIO
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from swarmdp.studio.catalogue import BUILT_IN
from swarmdp.studio.export import export
from tests.browser import PATIENCE, emulate, opened, resize
from tests.studio.served import served

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DESKTOP, PHONE = (1400, 900), (390, 844)
MOVING = 4.0  # seconds, until there is something to see


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = export(folder / "page.html", BUILT_IN, "Vicsek", None)
        with opened(folder / "profile") as browser, served(folder) as studio:
            _painted(browser, studio.link)
            _learned(browser)
            _on_a_phone(browser, studio.link)
            _exported(browser, page)


def _painted(browser: webdriver.Chrome, link: str) -> None:
    """A reward with a name, and what an angle means."""
    _open(browser, f"{link}&system=Vicsek&seed=1", DESKTOP)
    browser.find_element(By.XPATH, "//div[@id='presets']/button[.='circle']").click()
    time.sleep(MOVING)
    _point(browser, 60, -60)
    _take(browser, "studio.png")


def _learned(browser: webdriver.Chrome) -> None:
    """A learned reward with its errors, and the verdict."""
    browser.find_element(By.ID, "errors").click()
    browser.find_element(By.ID, "fit").click()
    _wait_for(browser, "document.getElementById('fit-words').innerText.startsWith('Done')")
    browser.find_element(By.ID, "restart").click()
    time.sleep(MOVING)
    _point(browser, 0, -80)
    emulate(browser, "dark")
    time.sleep(0.5)
    _take(browser, "studio-learned.png")


def _on_a_phone(browser: webdriver.Chrome, link: str) -> None:
    """The swarms stay in view above what is painted."""
    _open(browser, f"{link}&system=Ising&seed=1&s.shape=60", PHONE)
    browser.find_element(By.XPATH, "//div[@id='presets']/button[.='spots']").click()
    browser.execute_script("document.getElementById('panels').scrollIntoView()")
    time.sleep(MOVING)
    _point(browser, 0, 0)
    _take(browser, "studio-phone.png")


def _exported(browser: webdriver.Chrome, page: Path) -> None:
    """The page for others."""
    resize(browser, *DESKTOP)
    emulate(browser)
    browser.get(f"file://{page}")
    browser.find_element(By.XPATH, "//div[@id='choices']/button[.='fan out']").click()
    time.sleep(MOVING)
    _point(browser, 60, -60)
    _take(browser, "studio-page.png")


def _open(browser: webdriver.Chrome, address: str, size: tuple[int, int]) -> None:
    resize(browser, *size)
    emulate(browser)
    browser.get("about:blank")
    browser.get(address)
    _wait_for(browser, "document.getElementById('value').innerText")


def _take(browser: webdriver.Chrome, name: str) -> None:
    """Save what is seen, with few colours: a third of the bytes."""
    seen = Image.open(BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    seen.quantize(256, dither=Image.Dither.NONE).save(IMAGES / name, optimize=True)


def _point(browser: webdriver.Chrome, right: int, down: int) -> None:
    panel = browser.find_element(By.CSS_SELECTOR, "#panels svg")
    ActionChains(browser).move_to_element_with_offset(panel, right, down).perform()


def _wait_for(browser: webdriver.Chrome, condition: str) -> None:
    waiting = WebDriverWait(browser, PATIENCE, 0.1)
    waiting.until(lambda driver: driver.execute_script(f"return Boolean({condition})"))


if __name__ == "__main__":
    main()
