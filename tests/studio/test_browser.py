"""The studio in a real browser: watch, paint, learn, keep, and every state with a way out."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

import swarmdp
from swarmdp.studio.presets import presets_of
from swarmdp.studio.server import Studio
from tests.browser import PATIENCE, emulate, needed, opened, resize
from tests.studio.served import served

pytestmark = needed

SMALL = "&system=Vicsek&seed=3&s.n_agents=40"


class Page:
    """The studio's page in a browser."""

    def __init__(self, browser: webdriver.Chrome, studio: Studio) -> None:
        self.browser, self.studio = browser, studio

    def open(self, more: str = SMALL) -> None:
        self.browser.get("about:blank")
        self.browser.get(f"{self.studio.link}{more}")
        self.wait(lambda: self.text("value"))

    def wait(self, done: Callable[[], Any]) -> Any:
        return WebDriverWait(self.browser, PATIENCE, 0.05).until(lambda _: done())

    def one(self, name: str) -> WebElement:
        return self.browser.find_element(By.ID, name)

    def text(self, name: str) -> str:
        return self.one(name).text

    def key(self, *keys: str) -> None:
        ActionChains(self.browser).send_keys(*keys).perform()

    def run(self, script: str) -> Any:
        return self.browser.execute_script(f"return {script}")

    @property
    def time(self) -> int:
        return int(self.text("clock").split(",")[0].removeprefix("t = "))

    @property
    def pixels(self) -> list[int]:
        """How many pixels are drawn on each canvas."""
        return [
            self.run(
                f"(() => {{ const c = document.getElementById('{side}');"
                "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
                "let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })()"
            )
            for side in ("left", "right")
        ]

    def point(self, right: float, up: float) -> WebElement:
        """Point at a place of the first panel, from its middle."""
        panel = self.browser.find_element(By.CSS_SELECTOR, "#panels svg")
        at = ActionChains(self.browser).move_to_element_with_offset(panel, round(right), round(-up))
        at.perform()
        return panel

    @property
    def clear(self) -> list[bool]:
        """Which bars are dark: the others are not identified."""
        bars = self.browser.find_elements(By.CSS_SELECTOR, "#panels .weight")
        return ["pale" not in str(bar.get_attribute("class")) for bar in bars]

    @property
    def weights(self) -> list[float]:
        shown = self.browser.find_elements(By.CSS_SELECTOR, "#panels .weight")
        return [float(str(bar.get_attribute("aria-valuenow"))) for bar in shown]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("folder")


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(
    tmp_path_factory: pytest.TempPathFactory, downloads: Path
) -> Iterator[webdriver.Chrome]:
    with opened(tmp_path_factory.mktemp("profile"), downloads) as driver:
        yield driver


@pytest.fixture(scope="module")
def studio(folder: Path) -> Iterator[Studio]:
    with served(folder) as one:
        yield one


@pytest.fixture
def page(browser: webdriver.Chrome, studio: Studio) -> Iterator[Page]:
    """The page in a wide window; it must cause no error and ask nobody else for anything."""
    resize(browser, 1280, 900)
    emulate(browser)
    for log in ("browser", "performance"):
        browser.get_log(log)
    yield Page(browser, studio)
    assert browser.get_log("browser") == []
    said = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"] for m in said if m["method"] == "Network.requestWillBeSent"]
    home = f"http://127.0.0.1:{studio.port}/"
    for request in asked:
        if request["documentURL"].startswith(home):
            assert request["request"]["url"].startswith((home, "data:", "blob:"))
            assert studio.token not in request["request"]["url"]


def test_watch(page: Page) -> None:
    page.open()
    assert studio_token_is_gone(page)
    assert page.text("status") == "Vicsek: 40 agents"
    page.wait(lambda: page.time >= 2)
    assert min(page.pixels) > 500
    page.key(" ")
    assert "Play" in page.text("play")
    page.wait(lambda: page.run("studio.stats.drawn") > 0)
    here = page.wait(lambda: page.time)
    page.key(".")
    page.wait(lambda: page.time > here)
    page.key("r")
    page.wait(lambda: page.time == 0)
    page.key("R")
    page.wait(lambda: not page.text("clock").endswith("seed 3"))  # but may begin with it
    assert page.run("document.querySelector('#charts output').textContent").startswith("expert")
    for canvas in ("left", "right"):
        assert page.one(canvas).get_attribute("aria-label")


def studio_token_is_gone(page: Page) -> bool:
    """The address bar, and so the history, does not show the token."""
    return page.studio.token not in page.browser.current_url


def test_a_slider_changes_the_swarm(page: Page) -> None:
    page.open()
    slider = page.one("knob-noise")
    before = slider.get_attribute("aria-valuetext")
    slider.send_keys(Keys.ARROW_RIGHT * 3)
    page.wait(lambda: "s.noise=13" in page.browser.current_url)
    assert (before, page.one("knob-noise").get_attribute("aria-valuetext")) == ("10°", "13°")


def test_paint_with_the_pointer_and_the_keys(page: Page) -> None:
    page.open()
    before, link = page.weights, page.browser.current_url
    panel = page.browser.find_element(By.CSS_SELECTOR, "#panels svg")
    stroke = ActionChains(page.browser).move_to_element_with_offset(panel, -90, -40)
    stroke.click_and_hold().move_to_element_with_offset(panel, -100, 40).release().perform()
    page.wait(lambda: page.browser.current_url != link)
    changed = [i for i, (a, b) in enumerate(zip(before, page.weights, strict=True)) if a != b]
    assert len(changed) >= 6
    assert {(36 - i) % 36 for i in changed} == set(changed)  # both sides
    said = page.text("value")
    assert "Each agent collects" in said

    focused = page.browser.switch_to.active_element
    place = str(focused.get_attribute("aria-label"))
    assert focused.get_attribute("role") == "slider"
    value = float(str(focused.get_attribute("aria-valuenow")))
    page.key(Keys.ARROW_DOWN)
    page.wait(lambda: float(str(focused.get_attribute("aria-valuenow"))) < value)
    page.key(Keys.ARROW_RIGHT)
    assert page.browser.switch_to.active_element.get_attribute("aria-label") != place
    page.one("undo").click()
    page.one("undo").click()
    page.wait(lambda: page.weights == before)
    page.one("flat").click()
    page.wait(lambda: set(page.weights) == {0})
    page.key("e")
    page.wait(lambda: page.weights == before)
    page.wait(lambda: page.run("studio.stats.planned.some((one) => one.settled)"))


def test_the_circle_is_that_of_the_reports(page: Page) -> None:
    """Zero is up and +90 degrees on the right; bars go outwards and inwards from zero."""
    page.open()
    page.point(80, 0)
    assert page.text("meaning").startswith("90°: it flies 90° to the right of its neighbours.")
    turned = page.run("document.querySelector('#meaning .one').getAttribute('transform')")
    assert turned.endswith("rotate(90)")
    page.point(0, 80)
    assert "as its neighbours do" in page.text("meaning")
    page.point(0, -80)
    assert "against its neighbours" in page.text("meaning")

    page.one("flat").click()
    page.one("mirror").click()
    for right in (-100, 40):  # near the rim on the left, inside of zero on the right
        panel = page.point(right, 0)
        ActionChains(page.browser).move_to_element_with_offset(panel, right, 0).click().perform()
    page.wait(lambda: min(page.weights) < -0.5 and max(page.weights) > 0.5)
    weights = page.weights
    assert [place for place, weight in enumerate(weights) if weight > 0] == [9]  # -90 degrees
    assert [place for place, weight in enumerate(weights) if weight < 0] == [27]  # +90 degrees
    boxes = page.run(
        "(() => { const svg = document.querySelector('#panels svg');"
        "const zero = svg.querySelector('.zero').getBBox();"
        "return [9, 27].map((place) => { const bar = svg.querySelectorAll('.weight')[place]"
        ".getBBox(); return [bar.x, bar.x + bar.width, zero.x, zero.x + zero.width]; }); })()"
    )
    (left, end, circle, _), (begin, right_end, _, other) = boxes
    assert left < end <= circle + 1  # outwards
    assert (circle + other) / 2 < begin < right_end <= other + 1  # inwards


def test_rewards_with_names(page: Page) -> None:
    page.open()
    system = swarmdp.Vicsek(n_agents=40)
    for preset in presets_of(system):
        name = f"//div[@id='presets']/button[.='{preset.name}']"
        page.browser.find_element(By.XPATH, name).click()
        assert page.weights == list(preset.weights)
        assert page.text("preset-words") == f"{preset.name}: {preset.words}."
    assert not page.one("learned-one").is_enabled()
    page.one("undo").click()
    assert page.text("preset-words") == ""
    iterations = page.one("iterations")
    iterations.clear()
    iterations.send_keys("1")
    page.one("fit").click()
    page.wait(lambda: page.text("fit-words").startswith("Done"))
    learned = page.weights
    page.one("flat").click()
    page.one("learned-one").click()
    assert page.weights == learned


def test_a_level_is_explained(page: Page) -> None:
    page.open("&system=Ising&s.shape=20")
    page.point(0, 0)
    said = page.text("meaning")
    assert "of 24 neighbours have the other spin" in said
    count = int(said.partition(":")[0])
    cells = page.run(
        "[...document.querySelectorAll('#meaning rect[fill]')].map((c) => c.getAttribute('fill'))"
    )
    assert len(cells) == 25
    assert sorted(map(cells.count, set(cells))) == sorted([count, 25 - count])


def test_stopping_tells_what_happened(page: Page) -> None:
    page.open()
    page.one("fit").click()
    page.wait(lambda: page.text("fit-words").startswith("Iteration"))
    page.one("fit").click()
    page.wait(lambda: page.text("fit-words").startswith("Stopped after"))
    assert page.text("fit").startswith("Start learning")
    assert page.one("fit").is_enabled()
    assert page.one("go-on").is_displayed()
    assert page.one("keep-fit").is_displayed()


def in_view(page: Page, name: str) -> bool:
    """Whether the whole of an element is in the window."""
    return bool(
        page.run(
            f"(() => {{ const box = document.querySelector('{name}').getBoundingClientRect();"
            "return box.height > 0 && box.top >= -1 && box.bottom <= innerHeight + 1; })()"
        )
    )


def test_swarms_and_verdict_are_in_view(page: Page) -> None:
    resize(page.browser, 1400, 900)
    page.open()
    iterations = page.one("iterations")
    iterations.clear()
    iterations.send_keys("2")
    page.one("fit").click()
    page.wait(lambda: page.text("fit-words").startswith("Done"))
    page.run("scrollTo(0, 0)")
    for name in (".pair", "#charts", "#panels", "#presets", "#fit", "#verdict"):
        assert in_view(page, name), name
    page.run("scrollTo(0, document.body.scrollHeight)")
    assert in_view(page, "#files")
    assert in_view(page, ".pair")


def swipe(page: Page, x: float, y: float, by: float) -> None:
    """Move a finger upwards."""
    touch = "Input.dispatchTouchEvent"
    for step in range(6):
        kind, point = "touchMove" if step else "touchStart", {"x": x, "y": y - by * step / 5}
        page.browser.execute_cdp_cmd(touch, {"type": kind, "touchPoints": [point]})
    page.browser.execute_cdp_cmd(touch, {"type": "touchEnd", "touchPoints": []})


def test_a_phone_paints_and_scrolls(page: Page) -> None:
    resize(page.browser, 390, 844)
    page.browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        page.open()
        page.run("document.getElementById('panels').scrollIntoView()")
        for name in (".pair", "#panels", "#presets"):
            assert in_view(page, name), name
        bottom = page.run("document.querySelector('.pair').getBoundingClientRect().bottom")
        before, top, box = (
            page.weights,
            page.run("scrollY"),
            page.run("document.querySelector('#panels svg').getBoundingClientRect().toJSON()"),
        )
        assert box["y"] >= bottom  # the swarms do not hide it
        middle = box["y"] + box["height"] / 2
        swipe(page, box["x"] + 0.25 * box["width"], middle, 60)
        assert page.run("scrollY") == top
        page.wait(lambda: page.weights != before)
        swipe(page, box["x"] / 2, middle, 60)
        page.wait(lambda: page.run("scrollY") > top)
        page.run("scrollTo(0, document.body.scrollHeight)")
        assert in_view(page, ".pair")
    finally:
        page.browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_a_page_for_others(page: Page, downloads: Path) -> None:
    """It works from a file, asks for nothing, and shows the expert beside the chosen swarm."""
    page.open()
    page.one("page").click()
    page.wait(lambda: "swarm.html is in your downloads" in page.text("kept"))
    page.wait(lambda: (downloads / "swarm.html").exists())
    for log in ("browser", "performance"):
        page.browser.get_log(log)
    page.browser.get(f"file://{downloads / 'swarm.html'}")
    labels = "[...document.querySelectorAll('.swarm:not([hidden]) .label')].map((l) => l.innerText)"
    assert page.run(labels) == ["expert", "the painted one"]
    choices = page.browser.find_elements(By.CSS_SELECTOR, "#choices button")
    names = [preset.name for preset in presets_of(swarmdp.Vicsek())]
    assert [choice.text for choice in choices] == ["the painted one", *names]
    choices[3].click()
    assert page.run(labels) == ["expert", "circle"]
    assert "turns to the right" in page.text("told")
    page.wait(lambda: page.run("Number(document.querySelector('.slider').value)") > 2)
    page.point(80, 0)
    assert "it flies 90° to the right" in page.text("meaning")
    drawn = page.run(
        "[...document.querySelectorAll('.swarm:not([hidden]) canvas')].map((one) => "
        "one.getContext('2d').getImageData(0, 0, one.width, one.height).data"
        ".filter((value, place) => place % 4 === 3 && value).length)"
    )
    assert min(drawn) > 500
    resize(page.browser, 390, 844)
    assert page.run("document.documentElement.scrollWidth") <= 390
    said = [json.loads(one["message"])["message"] for one in page.browser.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in said if "requestWillBeSent" in m["method"]]
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}


def test_a_painted_reward_changes_what_the_swarm_does(page: Page) -> None:
    """Against the others instead of with them: the order stays low."""
    page.open(f"{SMALL}&weights={','.join(str(round(abs(i - 18) / 18, 2)) for i in range(36))}")
    page.wait(lambda: page.time >= 25)
    shown = "[...document.querySelectorAll('#charts output b')].map((one) => one.textContent)"
    expert, painted, *_ = map(float, page.run(shown))
    assert expert > 0.6 > painted


def test_learn_and_keep(page: Page, folder: Path) -> None:
    page.open()
    iterations = page.one("iterations")
    iterations.clear()
    iterations.send_keys("2")
    page.one("fit").click()
    page.wait(lambda: page.text("fit-words").startswith("Done"))
    assert page.text("verdict").startswith("The learned swarm")
    assert page.text("right-label") == "learned"
    page.one("keep-fit").click()
    assert page.browser.switch_to.active_element.get_attribute("id") == "save-name"
    page.key("first", Keys.ENTER)
    page.wait(lambda: page.text("saved") == "Saved as first.")
    assert swarmdp.load(folder / "first").verdict is not None
    page.key(Keys.TAB)
    page.wait(lambda: "first" in page.text("files"))
    rewards = swarmdp.load(folder / "first")
    assert rewards.identified_weights is not None
    clear = rewards.identified_weights[0].tolist()
    assert page.clear == clear
    assert page.one("pale").is_displayed() == (not all(clear))
    page.browser.find_element(By.CSS_SELECTOR, "#files button").click()
    page.wait(lambda: page.text("opened").startswith("first is open"))
    assert page.text("right-label") == "of the opened fit"
    current = page.browser.find_element(By.CSS_SELECTOR, "#files [aria-current]")
    assert current.text.startswith("first")
    assert page.clear == clear


def test_what_is_taken_away(page: Page, downloads: Path) -> None:
    page.open()
    page.one("script").click()
    page.wait(lambda: "copy it yourself" in page.text("kept") or "copied" in page.text("kept"))
    if page.one("text").is_displayed():
        assert "import swarmdp" in str(page.one("text-area").get_property("value"))
        page.key(Keys.ESCAPE)
    page.one("picture").click()
    page.wait(lambda: (downloads / "swarm.png").exists())
    assert (downloads / "swarm.png").read_bytes().startswith(b"\x89PNG")
    page.one("gif").click()
    page.wait(lambda: (downloads / "swarm.gif").exists())
    assert (downloads / "swarm.gif").read_bytes().startswith(b"GIF89a")


def test_ising_goes_at_most_five_steps_a_second(page: Page) -> None:
    page.open("&system=Ising&s.shape=20")
    paces = [option.text for option in Select(page.one("pace")).options]
    assert paces == ["1 steps/s", "2 steps/s", "5 steps/s"]
    assert min(page.pixels) > 500
    assert len(page.weights) == 25


def test_a_link_brings_settings_and_reward_back(page: Page) -> None:
    weights = [round(i / 36, 3) for i in range(36)]
    page.open(f"{SMALL}&weights={','.join(map(str, weights))}")
    page.wait(lambda: page.weights == weights)
    link = page.browser.current_url
    assert "token" not in link
    page.browser.get("about:blank")
    page.browser.get(link)  # without the token: this browser has it
    page.wait(lambda: page.text("value"))
    assert page.weights == weights


def test_reduced_motion_starts_still(page: Page) -> None:
    emulate(page.browser, motion="reduce")
    page.open()
    assert page.text("play") == "Play"
    assert page.time == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1920])
def test_it_fits_every_screen(page: Page, width: int, scheme: str) -> None:
    emulate(page.browser, scheme)
    resize(page.browser, width)
    if (width, scheme) == (360, "light"):
        page.open()
    assert page.run("document.documentElement.scrollWidth") <= width
    small = page.run(
        "[...document.querySelectorAll('button, select')].filter((e) => e.offsetParent && "
        "e.getBoundingClientRect().height < 32).map((e) => e.id)"
    )
    assert small == []


def test_a_foreign_file_is_explained(page: Page, folder: Path) -> None:
    (folder / "foreign.nc").write_bytes(b"something else")
    page.open()
    page.wait(lambda: "foreign.nc" in page.text("files"))
    rows = page.browser.find_elements(By.CSS_SELECTOR, "#files button")
    next(row for row in rows if "foreign" in row.text).click()
    page.wait(lambda: page.text("notice").startswith("This file cannot be shown"))
    page.one("notice").find_element(By.TAG_NAME, "button").click()
    assert not page.one("notice").is_displayed()
    here = page.time
    page.wait(lambda: page.time > here)
    (folder / "foreign.nc").unlink()


def test_a_system_that_fails_has_a_way_out(page: Page) -> None:
    page.browser.get("about:blank")
    page.browser.get(f"{page.studio.link}&system=Failing")
    page.wait(lambda: "The swarm cannot go on" in page.text("notice"))
    assert "the world ended" in page.text("notice")
    page.one("notice").find_element(By.TAG_NAME, "button").click()
    page.wait(lambda: not page.one("notice").is_displayed() or page.time == 0)


def test_a_tab_without_the_key_can_be_unlocked(page: Page) -> None:
    page.browser.get(f"http://127.0.0.1:{page.studio.port}/")
    page.run("localStorage.clear()")
    page.browser.get(f"http://127.0.0.1:{page.studio.port}/")
    page.wait(lambda: page.one("unlock").is_displayed())
    assert "Open the link" in page.text("unlock")
    page.one("pasted").send_keys("nonsense", Keys.ENTER)
    page.wait(lambda: "not the link" in page.text("notice"))
    page.one("pasted").clear()
    page.one("pasted").send_keys(page.studio.link, Keys.ENTER)
    page.wait(lambda: page.text("value"))
    assert not page.one("unlock").is_displayed()


def test_a_wrong_key_locks_and_a_lost_studio_says_so(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    with served(tmp_path) as server:
        page = Page(browser, server)
        browser.get(f"http://127.0.0.1:{server.port}/#token={'x' * 43}")
        page.wait(lambda: page.one("unlock").is_displayed())
        page.open()
        assert "Nothing yet" in page.text("files")
    page.wait(lambda: "cannot be reached" in page.text("notice"))
    assert page.text("notice").endswith("Connect now")
    assert len(page.weights) == 36  # what was painted stays
