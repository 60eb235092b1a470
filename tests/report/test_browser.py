"""The report in a real browser: a page opened from disk."""

import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import invisibility_of_element, visibility_of
from selenium.webdriver.support.ui import Select, WebDriverWait

from swarmdp.report import style
from swarmdp.report.page import Page, PageFigure, write_page, write_player
from swarmdp.report.player import Player
from tests.browser import PATIENCE, emulate, needed, resize
from tests.browser import opened as opened_browser
from tests.report import pages

pytestmark = needed


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with opened_browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pages.write(tmp_path_factory.mktemp("report"))


@pytest.fixture
def opened(browser: webdriver.Chrome, report: Path) -> Iterator[webdriver.Chrome]:
    """The report, freshly opened in a wide window; it must have caused no error when it is left."""
    resize(browser, 1280)
    emulate(browser)
    yield from visit(browser, report)


def visit(browser: webdriver.Chrome, page: Path) -> Iterator[webdriver.Chrome]:
    for log in ("browser", "performance"):
        browser.get_log(log)  # forget what was before
    browser.get(page.as_uri())
    yield browser
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
        # A browser that was just opened still asks for its own first page.
        and message["params"]["documentURL"].startswith(page.as_uri())
    ]
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    assert [url for url in asked if url.startswith("file")] == [page.as_uri()]


class Shown:
    """A player in an opened page."""

    def __init__(self, browser: webdriver.Chrome, name: str) -> None:
        self.browser = browser
        self.root = browser.find_element(By.ID, f"player-{name}")
        assert self.root.get_attribute("data-ready") is not None

    def one(self, selector: str) -> WebElement:
        return self.root.find_element(By.CSS_SELECTOR, selector)

    @property
    def time(self) -> int:
        shown = self.one(".time").text
        slider = self.one(".slider")
        value = int(str(slider.get_property("value")))
        assert shown == f"t = {value}"
        assert str(slider.get_attribute("aria-valuetext")).startswith(f"time step {value} of ")
        return value

    @property
    def playing(self) -> bool:
        word = self.one(".word").text
        assert word in {"Play", "Pause"}
        return word == "Pause"

    def pictures(self) -> list[str]:
        return [
            str(self.browser.execute_script("return arguments[0].toDataURL()", canvas))
            for canvas in self.root.find_elements(By.CSS_SELECTOR, "canvas")
        ]

    def readings(self) -> list[str]:
        return [e.text for e in self.root.find_elements(By.CSS_SELECTOR, ".reading output")]

    def until(self, condition: Callable[[], bool]) -> None:
        WebDriverWait(self.browser, PATIENCE, poll_frequency=0.02).until(lambda _: condition())


def moved(player: Shown) -> bool:
    """Whether a playing player has left its first time."""
    return same_time(player) > 1


def same_time(player: Shown) -> int:
    """The time of a playing player, read in one go: it moves while it is asked."""
    return int(player.browser.execute_script("return arguments[0].value", player.one(".slider")))


def test_every_figure_is_shown(opened: webdriver.Chrome) -> None:
    images = opened.find_elements(By.CSS_SELECTOR, "figure img")
    assert len(images) == 3
    for image in images:
        assert image.is_displayed()
        assert opened.execute_script("return arguments[0].naturalWidth", image) > 0
        shown = image.rect
        assert shown["width"] > 300
        ratio = shown["width"] / shown["height"]
        assert ratio == pytest.approx(10.2 / 2.75, rel=0.02)


def test_the_claims_are_complete(opened: webdriver.Chrome) -> None:
    for how in opened.find_elements(By.CSS_SELECTOR, ".how summary"):
        how.click()
    rows = opened.find_elements(By.CSS_SELECTOR, ".claims tbody tr")
    texts = [row.text for row in rows]
    verdicts = ("✓ holds", "✗ does not hold", "? not decided at this scale", "– not measured")
    for claim, text, verdict in zip((*pages.CLAIMS, *pages.OTHERS), texts, verdicts, strict=True):
        for part in (claim.statement, verdict, claim.measured, claim.criterion):
            assert part in text


def test_the_contents_lead_there(opened: webdriver.Chrome) -> None:
    for link in opened.find_elements(By.CSS_SELECTOR, ".contents a"):
        target = str(link.get_dom_attribute("href"))
        link.click()
        place = opened.find_element(By.CSS_SELECTOR, target)
        assert opened.execute_script(
            "const at = arguments[0].getBoundingClientRect();"
            "return at.top < innerHeight && at.bottom > 0",
            place,
        )


@pytest.mark.parametrize("width", [1300, 390])
def test_the_verdict_comes_first(browser: webdriver.Chrome, report: Path, width: int) -> None:
    """Verdict, swarms, answer, comparison, the rest: in this order, the verdict in view at once."""
    resize(browser, width)
    emulate(browser)
    for opened in visit(browser, report):
        verdict = opened.find_element(By.CSS_SELECTOR, ".finding")
        assert verdict.rect["y"] < 250
        places = [
            opened.find_element(By.ID, name).rect["y"]
            for name in ("summary", "swarms", "answers", "comparisons", "figures", "details")
        ]
        assert places == sorted(places)


def test_details_are_folded_until_they_are_asked_for(opened: webdriver.Chrome) -> None:
    settings = opened.find_element(By.ID, "fold-settings")
    assert not settings.is_displayed()
    opened.find_element(By.CSS_SELECTOR, ".contents a[href='#fold-settings']").click()
    assert settings.is_displayed()
    how = opened.find_element(By.CSS_SELECTOR, ".finding .how")
    assert not how.find_element(By.TAG_NAME, "li").is_displayed()
    opened.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert how.find_element(By.TAG_NAME, "li").is_displayed()


def test_what_is_wider_than_a_phone_says_so(browser: webdriver.Chrome, report: Path) -> None:
    resize(browser, 390)
    emulate(browser)
    for opened in visit(browser, report):
        wide = opened.find_element(By.CSS_SELECTOR, ".scroll")
        cue = opened.find_element(By.CSS_SELECTOR, ".scroll + .cue")
        wait = WebDriverWait(opened, PATIENCE)
        wait.until(visibility_of(cue))
        opened.execute_script("arguments[0].scrollLeft = 10000", wide)
        wait.until(invisibility_of_element(cue))


def lightness(image: WebElement) -> float:
    """The mean grey level of an element as it is seen, from 0 to 255."""
    with Image.open(io.BytesIO(image.screenshot_as_png)) as picture:
        return float(np.asarray(picture.convert("L")).mean())


@pytest.mark.parametrize("embedded", ["svg+xml", "png"])
def test_figures_follow_a_dark_page(
    browser: webdriver.Chrome, tmp_path: Path, embedded: str
) -> None:
    (file,) = pages.draw(tmp_path)[0].figures
    if embedded == "png":
        file.with_suffix(".svg").unlink()
    page = Page(title="A", figures=[PageFigure("a", "A", "", (file,))])
    report = write_page(tmp_path / "report.html", page)
    resize(browser, 1280)
    seen = {}
    for scheme in ("light", "dark"):
        emulate(browser, scheme)
        for opened in visit(browser, report):
            image = opened.find_element(By.CSS_SELECTOR, "figure img")
            assert str(image.get_attribute("src")).startswith(f"data:image/{embedded}")
            seen[scheme] = lightness(image)
    assert seen["light"] > 200
    assert seen["dark"] < 80


@pytest.mark.parametrize("name", ["vicsek", "ising"])
def test_it_stands_until_played(opened: webdriver.Chrome, name: str) -> None:
    player = Shown(opened, name)
    scene = pages.vicsek_scene() if name == "vicsek" else pages.ising_scene()
    assert player.time == scene.poster
    assert not player.playing
    before = player.pictures()
    opened.execute_async_script("setTimeout(arguments[0], 400)")
    assert player.pictures() == before
    assert player.readings() == [scene.reading(label, scene.poster) for label in scene.swarms]
    for picture, canvas in zip(
        before, player.root.find_elements(By.TAG_NAME, "canvas"), strict=True
    ):
        blank = opened.execute_script(
            "const c = document.createElement('canvas');"
            "[c.width, c.height] = [arguments[0].width, arguments[0].height];"
            "return c.toDataURL()",
            canvas,
        )
        assert picture != blank


@pytest.mark.parametrize("name", ["vicsek", "ising"])
def test_it_moves_when_played_and_stops_when_paused(opened: webdriver.Chrome, name: str) -> None:
    player = Shown(opened, name)
    Select(player.one("select")).select_by_value("1")
    player.one(".first").click()
    assert player.time == 0
    before = player.pictures()
    player.one(".play").click()
    assert player.playing
    player.until(lambda: same_time(player) >= 1)
    player.one(".play").click()
    assert not player.playing
    stopped = player.time
    after = player.pictures()
    assert stopped >= 1
    assert all(one != other for one, other in zip(before, after, strict=True))
    opened.execute_async_script("setTimeout(arguments[0], 1500)")
    assert player.time == stopped
    assert player.pictures() == after


def test_it_plays_to_the_end_and_again_from_the_start(opened: webdriver.Chrome) -> None:
    player = Shown(opened, "vicsek")
    Select(player.one("select")).select_by_value("20")
    player.one(".play").click()
    player.until(lambda: not player.playing)
    assert player.time == 20
    Select(player.one("select")).select_by_value("1")
    player.one(".play").click()
    player.until(lambda: same_time(player) < 20)
    player.one(".play").click()


def test_the_slider_and_the_curve_set_the_time(opened: webdriver.Chrome) -> None:
    player = Shown(opened, "vicsek")
    scene = pages.vicsek_scene()
    pictures = {}
    for time in (0, 7, 20):
        opened.execute_script(
            "arguments[0].value = arguments[1];"
            "arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
            player.one(".slider"),
            time,
        )
        assert player.time == time
        assert player.readings() == [scene.reading(label, time) for label in scene.swarms]
        for cursor in player.root.find_elements(By.CSS_SELECTOR, ".cursor"):
            assert float(str(cursor.get_attribute("x1"))) == time
        pictures[time] = player.pictures()
    assert pictures[0] != pictures[7] != pictures[20]
    player.one(".curve svg").click()  # in its middle
    assert player.time == 10


def test_it_works_by_keyboard(opened: webdriver.Chrome) -> None:
    player = Shown(opened, "vicsek")
    opened.execute_script("arguments[0].scrollIntoView()", player.root)
    scroll = opened.execute_script("return scrollY")
    swarms = player.one(".swarms")
    for key, time in ((Keys.HOME, 0), (Keys.RIGHT, 1), (Keys.RIGHT, 2), (Keys.LEFT, 1)):
        swarms.send_keys(key)
        assert player.time == time
    swarms.send_keys(Keys.END)
    assert player.time == 20
    Select(player.one("select")).select_by_value("1")  # it must not reach its end meanwhile
    for place in (swarms, player.one(".slider"), player.one(".play")):
        swarms.send_keys(Keys.HOME)
        place.send_keys(Keys.SPACE)
        assert player.playing
        place.send_keys(Keys.SPACE)
        assert not player.playing
    opened.execute_script("arguments[0].focus()", player.one(".slider"))
    player.one(".slider").send_keys(Keys.HOME)
    player.one(".slider").send_keys(Keys.RIGHT)
    assert player.time == 1
    player.one(".play").send_keys(Keys.RIGHT)
    assert player.time == 2
    assert opened.execute_script("return scrollY") == pytest.approx(scroll, abs=200)


def test_the_focus_is_seen(opened: webdriver.Chrome) -> None:
    body = opened.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    seen = set()
    for _ in range(60):
        focused = opened.switch_to.active_element
        if focused.tag_name == "body":
            break
        seen.add(str(focused.get_attribute("class") or focused.tag_name))
        assert focused.value_of_css_property("outline-style") != "none"
        assert focused.rect["width"] > 1
        focused.send_keys(Keys.TAB)
    assert {"skip", "play", "slider", "swarms", "summary"} <= seen


PIXELS = """
const [canvas, places] = arguments;
const [width, height] = [canvas.width, canvas.height];
const copy = Object.assign(document.createElement("canvas"), {width, height});
const pen = copy.getContext("2d", {willReadFrequently: true});
pen.drawImage(canvas, 0, 0);
const all = pen.getImageData(0, 0, width, height).data;
return places.map(([x, y]) => {
  const at = 4 * (Math.floor(y * height) * width + Math.floor(x * width));
  return [...all.slice(at, at + 4)];
});
"""  # red, green, blue and alpha at places that are shares of the canvas


def test_agents_are_drawn_where_they_are(opened: webdriver.Chrome) -> None:
    """The pixel under each agent has the colour of an arrow."""
    player = Shown(opened, "vicsek")
    player.one(".swarms").send_keys(Keys.HOME)
    scene = pages.vicsek_scene()
    colours: list[list[int]] = opened.execute_script(
        PIXELS,
        player.one("canvas"),
        [[x, 1 - y] for x, y in scene.positions("expert")[0].tolist()],
    )
    assert all(alpha > 200 and max(rgb) - min(rgb) > 20 for *rgb, alpha in colours)


def test_spins_are_drawn_where_they_are(opened: webdriver.Chrome) -> None:
    player = Shown(opened, "ising")
    scene = pages.ising_scene()
    for key, time in ((Keys.HOME, 0), (Keys.END, scene.steps)):
        player.one(".swarms").send_keys(key)
        colours: list[list[int]] = opened.execute_script(
            PIXELS,
            player.one("canvas"),
            [[(column + 0.5) / 9, (row + 0.5) / 12] for row in range(12) for column in range(9)],
        )
        up = scene.cells("expert")[time].astype(bool).ravel().tolist()
        assert [red > 128 for red, *_ in colours] == up


def test_dots_are_drawn_where_they_are(browser: webdriver.Chrome, tmp_path: Path) -> None:
    scene = pages.dots()
    page = write_player(tmp_path / "dots.html", Player("dots", "Dots", "", scene))
    for opened in visit(browser, page):
        player = Shown(opened, "dots")
        for key, time in ((Keys.HOME, 0), (Keys.END, scene.steps)):
            player.one(".swarms").send_keys(key)
            places = [[x, 1 - y] for x, y in scene.positions("expert")[time].tolist()]
            colours = opened.execute_script(PIXELS, player.one("canvas"), places)
            assert all(blue > red + 50 and alpha > 200 for red, _, blue, alpha in colours)
        assert player.readings() == [scene.reading("expert", scene.steps)]


def test_cells_of_several_colours_and_nothing_measured(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    scene = pages.sand()
    page = write_player(tmp_path / "sand.html", Player("sand", "Sand", "", scene))
    shades = [
        [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
        for colour in style.colours_of(style.SPINS, scene.shades)
    ]
    for opened in visit(browser, page):
        player = Shown(opened, "sand")
        assert player.readings() == []
        player.one(".swarms").send_keys(Keys.END)
        middles = [[(x + 0.5) / 6, (y + 0.5) / 5] for y in range(5) for x in range(6)]
        colours = opened.execute_script(PIXELS, player.one("canvas"), middles)
        cells = scene.cells("expert")[scene.steps].ravel()
        assert [colour[:3] for colour in colours] == [shades[cell] for cell in cells]


@pytest.mark.parametrize("dots", [1, 2.5])
def test_it_is_sharp_on_dense_screens(browser: webdriver.Chrome, report: Path, dots: float) -> None:
    resize(browser, 1000, dots=dots)
    emulate(browser)
    for opened in visit(browser, report):
        canvas = Shown(opened, "vicsek").one("canvas")
        pixels = [float(str(canvas.get_property(size))) for size in ("width", "clientWidth")]
        assert pixels[0] == pytest.approx(dots * pixels[1], abs=1)


def test_with_reduced_motion_it_goes_in_whole_steps(
    browser: webdriver.Chrome, report: Path
) -> None:
    resize(browser, 1280)
    emulate(browser, motion="reduce")
    for opened in visit(browser, report):
        player = Shown(opened, "vicsek")
        assert not player.playing
        assert player.time == pages.vicsek_scene().poster
        player.one(".swarms").send_keys(Keys.HOME)
        start = player.pictures()
        # Between two steps nothing moves: the script looks at each frame as it is drawn.
        between: bool = opened.execute_async_script(
            "const [root, start, done] = arguments;"
            "const [canvas, slider] = ['canvas', '.slider'].map((s) => root.querySelector(s));"
            "const seen = [];"
            "const look = () => { if (slider.value !== '0') return done(seen.every(Boolean));"
            "seen.push(canvas.toDataURL() === start); requestAnimationFrame(look); };"
            "root.querySelector('select').value = '2'; root.querySelector('.play').click();"
            "requestAnimationFrame(look);",
            player.root,
            start[0],
        )
        assert between
        player.one(".play").click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 390, 768, 1280, 2200])
def test_nothing_overflows(
    browser: webdriver.Chrome, report: Path, width: int, scheme: str
) -> None:
    resize(browser, width)
    emulate(browser, scheme)
    for opened in visit(browser, report):
        measured: dict[str, Any] = opened.execute_script(
            "const root = document.documentElement;"
            "return {window: innerWidth, room: root.clientWidth, needed: root.scrollWidth,"
            "background: getComputedStyle(document.body).backgroundColor}"
        )
        assert measured["window"] == width
        assert measured["needed"] <= measured["room"]
        assert (measured["background"] == "rgb(255, 255, 255)") == (scheme == "light")
        for canvas in opened.find_elements(By.TAG_NAME, "canvas"):
            assert canvas.rect["width"] >= 130


def test_a_citation_can_be_copied(opened: webdriver.Chrome) -> None:
    opened.find_element(By.CSS_SELECTOR, ".contents a[href='#fold-citation']").click()
    button = opened.find_element(By.CSS_SELECTOR, "button.copy")
    # The word is there for two seconds only, so it is remembered as it comes.
    opened.execute_script(
        "const button = arguments[0]; window.words = [];"
        "new MutationObserver(() => window.words.push(button.textContent))"
        ".observe(button, {childList: true, characterData: true, subtree: true});",
        button,
    )
    button.click()
    WebDriverWait(opened, PATIENCE).until(
        lambda _: {"Copied", "Selected"} & set(opened.execute_script("return window.words"))
    )


def test_a_player_alone_hears_the_keys(browser: webdriver.Chrome, tmp_path: Path) -> None:
    resize(browser, 1280)
    emulate(browser)
    scene = pages.vicsek_scene()
    page = write_player(tmp_path / "swarm.html", Player("a", "A", "", scene))
    for opened in visit(browser, page):
        player = Shown(opened, "a")
        body = opened.find_element(By.TAG_NAME, "body")
        body.send_keys(Keys.HOME)
        body.send_keys(Keys.RIGHT)
        assert player.time == 1
        Select(player.one("select")).select_by_value("1")
        opened.execute_script("document.activeElement.blur()")
        body.send_keys(Keys.SPACE)
        assert player.playing
        body.send_keys(Keys.SPACE)
        assert not player.playing


def test_a_swarm_of_one_time_is_shown(browser: webdriver.Chrome, tmp_path: Path) -> None:
    resize(browser, 1280)
    emulate(browser)
    page = write_player(tmp_path / "a.html", Player("a", "A", "", pages.vicsek_scene(steps=0)))
    for opened in visit(browser, page):
        player = Shown(opened, "a")
        player.one(".play").click()
        assert not player.playing
        assert player.time == 0


def test_the_reproduction_of_the_paper_is_shown_and_moves(
    browser: webdriver.Chrome, reproduction: Path
) -> None:
    resize(browser, 1280)
    emulate(browser)
    for page in visit(browser, reproduction / "report.html"):
        pictures = page.find_elements(By.CSS_SELECTOR, "figure img")
        assert len(pictures) == len(list((reproduction / "figures").glob("*.png")))
        for picture in pictures:
            assert int(str(picture.get_property("naturalWidth"))) > 0
        claims = json.loads((reproduction / "summary.json").read_text())["claims"]
        assert len(page.find_elements(By.CSS_SELECTOR, ".claims .verdict")) == len(claims)
        for name in ("vicsek", "ising"):
            player = Shown(page, name)
            player.one(".first").click()
            before = player.pictures()
            player.one(".play").click()
            player.until(partial(moved, player))
            player.one(".play").click()
            assert all(one != other for one, other in zip(before, player.pictures(), strict=True))
