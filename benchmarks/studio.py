"""`python -m benchmarks.studio`: how quick the studio is, in headless Chromium on this machine."""

import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from swarmdp.cli.common import HelpFormatter, Parser, run_guarded
from swarmdp.support.errors import InvalidInput
from swarmdp.support.files import write_text

SIZES = (200, 10_000, 100_000)
PACE = {200: 10, 10_000: 10, 100_000: 30}  # steps a second; only small swarms move in between
PATIENCE = 180.0
COMPILING = 1200.0  # seconds until all kernels that are needed must be compiled
OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1400,950"
)
WATCH = """
globalThis.blocked = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) {
    globalThis.blocked = Math.max(globalThis.blocked, duration);
  }
}).observe({ type: "longtask" });
"""
SET_PACE = """
const pace = document.getElementById("pace");
pace.value = arguments[0];
pace.dispatchEvent(new Event("change"));
"""
STROKE = """
const names = ["flat", "as-expert", "opposite", "smooth"];
document.getElementById(names[arguments[0] % names.length]).click();
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the studio from the command line.

    Parameters
    ----------
    arguments
        Those of the command line by default.

    """
    parser = Parser(
        prog="python -m benchmarks.studio",
        description="Measure the studio in headless Chromium: frames a second, strokes of paint, "
        "the start, memory. Prints a table, and writes it as studio.md and all numbers as "
        "studio.json. Close other programs first.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--seconds", type=float, default=10, help="of watching each swarm")
    parser.add_argument("--strokes", type=int, default=40, help="of paint")
    parser.add_argument("--minutes", type=float, default=60, help="of use, for its memory")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("runs/studio"), help="folder for the results"
    )

    def work() -> None:
        options = parser.parse_args(arguments)
        measurements = measure_all(options.seconds, options.strokes, options.minutes)
        print(table(measurements))
        write_text(options.output / "studio.json", json.dumps(measurements, indent=1) + "\n")
        write_text(options.output / "studio.md", table(measurements))

    run_guarded(parser.prog, work)


def measure_all(seconds: float, strokes: int, minutes: float) -> dict[str, Any]:
    """All measurements, as plain data."""
    before = os.getloadavg()
    with _browser() as browser:
        with _studio() as (_, link):  # what is not compiled yet is compiled now
            _open(browser, link)
            _until(browser, "document.getElementById('value').textContent", COMPILING)
        starts = [_start(browser) for _ in range(5)]
        with _studio() as (process, link):
            frames = {size: _frames(browser, link, process, size, seconds) for size in SIZES}
            paint = {
                name: _paint(browser, f"{link}&system={name}&s.{field}={size}", strokes)
                for name, field, size in (("Vicsek", "n_agents", 200), ("Ising", "shape", 100))
            }
            slow = _slow(browser, link, seconds)
            hidden = _measure_hidden_tab(browser, link, process, seconds)
            memory = _memory(browser, link, process, minutes)
    return {
        "machine": {"processors": os.cpu_count(), "platform": platform.platform()},
        "load": [before, os.getloadavg()],
        "start": starts,
        "frames": frames,
        "paint": paint,
        "slow": slow,
        "hidden": hidden,
        "memory": memory,
    }


@contextmanager
def _browser() -> Iterator[webdriver.Chrome]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        raise InvalidInput("the studio is measured in chromium: install it, and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    with tempfile.TemporaryDirectory() as profile:
        for option in (*OPTIONS.split(), f"--user-data-dir={profile}"):
            options.add_argument(option)
        browser = webdriver.Chrome(options=options, service=Service(driver))
        try:
            yield browser
        finally:
            browser.quit()


@contextmanager
def _studio() -> Iterator[tuple[psutil.Process, str]]:
    """A studio in a process of its own, and its link."""
    command = [str(Path(sys.executable).with_name("swarmdp")), "studio"]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [*command, folder, "--no-browser"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            link = re.search(r"http://\S+", process.stdout.readline())
            assert link is not None
            yield psutil.Process(process.pid), link.group()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)


def _open(browser: webdriver.Chrome, link: str) -> None:
    browser.get("about:blank")
    browser.get(link)


def _until(browser: webdriver.Chrome, condition: str, patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while not browser.execute_script(f"return Boolean(globalThis.studio && ({condition}))"):
        if time.monotonic() > end:
            raise InvalidInput(f"this never came true in the page: {condition}")
        time.sleep(0.01)


def _start(browser: webdriver.Chrome) -> dict[str, float]:
    """Seconds from the command to the page and to the first drawn frame; processor seconds."""
    began = time.perf_counter()
    with _studio() as (process, link):
        _open(browser, link)
        page = time.perf_counter() - began
        _until(browser, "studio.stats.drawn > 0")
        return {
            "page": page,
            "first_frame": time.perf_counter() - began,
            "processor": _processor(process),
        }


def _processor(process: psutil.Process) -> float:
    """Seconds that the processors have worked for it."""
    times = process.cpu_times()
    return float(times.user + times.system)


def _frames(
    browser: webdriver.Chrome, link: str, process: psutil.Process, size: int, seconds: float
) -> dict[str, float]:
    """Frames that are drawn and steps that arrive in a second, the longest block, the work."""
    _open(browser, f"{link}&system=Vicsek&s.n_agents={size}")
    _until(browser, "studio.stats.frames > 5 && document.getElementById('value').textContent")
    browser.execute_script(SET_PACE, PACE[size])
    time.sleep(2)
    browser.execute_script(WATCH)
    before = browser.execute_script("return [studio.stats.drawn, studio.stats.frames]")
    began, worked = time.perf_counter(), _processor(process)
    time.sleep(seconds)
    after = browser.execute_script(
        "return [studio.stats.drawn, studio.stats.frames, globalThis.blocked, studio.stats.last]"
    )
    passed, worked = time.perf_counter() - began, _processor(process) - worked
    steps = after[1] - before[1]
    return {
        "drawn": (after[0] - before[0]) / passed,
        "steps": steps / passed,
        "blocked_ms": after[2],
        "draw_ms": after[3],
        "step_processor_ms": 1e3 * worked / max(steps, 1),
        "load": os.getloadavg()[0],
    }


def _paint(browser: webdriver.Chrome, link: str, strokes: int) -> dict[str, Any]:
    """Milliseconds from a stroke to the first drawn frame of a swarm that follows it."""
    _open(browser, link)
    _until(browser, "document.getElementById('value').textContent")
    time.sleep(1)
    for stroke in range(strokes):
        browser.execute_script(STROKE, stroke)
        _until(browser, f"studio.stats.behaved.length > {stroke}")
        time.sleep(0.15 if stroke % 2 else 1.0)  # while the hand moves on, or after a rest
    took = sorted(browser.execute_script("return studio.stats.behaved"))
    return {
        "median_ms": statistics.median(took),
        "p95_ms": took[min(len(took) - 1, round(0.95 * len(took)))],
        "all_ms": took,
    }


def _measure_hidden_tab(
    browser: webdriver.Chrome, link: str, process: psutil.Process, seconds: float
) -> dict[str, float]:
    """What the studio does for a tab behind another one."""
    _open(browser, f"{link}&system=Vicsek&s.n_agents=10000")
    _until(browser, "document.getElementById('value').textContent")
    time.sleep(2)
    first_tab = browser.current_window_handle
    browser.switch_to.new_window("tab")
    time.sleep(1)
    worked = _processor(process)
    time.sleep(seconds)
    worked = _processor(process) - worked
    browser.close()
    browser.switch_to.window(first_tab)
    return {"processor_share": worked / seconds}


def _slow(browser: webdriver.Chrome, link: str, seconds: float) -> dict[str, float]:
    """What a tab on a processor of a twentieth of the speed is behind, and a hidden one does."""
    _open(browser, f"{link}&system=Vicsek&s.n_agents=10000")
    _until(browser, "studio.stats.frames > 5")
    browser.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 20})
    behind = 0
    for _ in range(round(seconds)):
        time.sleep(1)
        behind = max(behind, browser.execute_script("return studio.stats.waiting"))
    browser.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 1})
    return {"frames_waiting": behind}


def _memory(
    browser: webdriver.Chrome, link: str, process: psutil.Process, minutes: float
) -> dict[str, Any]:
    """Megabytes of the studio over time, in use with 10000 agents."""
    _open(browser, f"{link}&system=Vicsek&s.n_agents=10000")
    _until(browser, "document.getElementById('value').textContent")
    end, rows, number = time.monotonic() + 60 * minutes, [], 0
    while time.monotonic() < end:
        browser.execute_script(STROKE, number)
        if number % 10 == 9:
            browser.execute_script("document.getElementById('reseed').click()")
        heap = browser.execute_script("return performance.memory.usedJSHeapSize")
        rows.append(
            [
                round(time.monotonic() - end + 60 * minutes),
                process.memory_info().rss / 1e6,
                heap / 1e6,
            ]
        )
        number += 1
        time.sleep(6)
    late = [row for row in rows if row[0] >= 60 * minutes / 2]
    slope = statistics.linear_regression([row[0] for row in late], [row[1] for row in late]).slope
    return {
        "minutes": minutes,
        "megabytes": rows[-1][1],
        "middle_megabytes": late[0][1],
        "megabytes_an_hour": 3600 * slope,
        "page_megabytes": rows[-1][2],
        "rows": rows,
    }


def table(measurements: dict[str, Any]) -> str:
    """The measurements beside their goals, as Markdown."""
    frames, paint, memory = measurements["frames"], measurements["paint"], measurements["memory"]
    sizes = [frames[size] if size in frames else frames[str(size)] for size in SIZES]
    drawn = " / ".join(f"{one['drawn']:.0f}" for one in sizes)
    blocked = max(one["blocked_ms"] for one in sizes)
    work = " / ".join(f"{one['step_processor_ms']:.1f}" for one in sizes)
    rows = [
        ("drawn frames a second, N = 200 / 10 000 / 100 000", "50 / 30 / 10", drawn),
        ("the same: processor time of the studio for a step of both swarms, ms", "", work),
        ("the page is never blocked for longer than", "100 ms", f"{blocked:.0f} ms"),
    ]
    for name, one in paint.items():
        rows.append(
            (
                f"from a stroke to changed behaviour, {name}: median, 95 %",
                "500 ms, 1000 ms",
                f"{one['median_ms']:.0f} ms, {one['p95_ms']:.0f} ms",
            )
        )
    starts = {
        name: statistics.median(one[name] for one in measurements["start"])
        for name in ("page", "first_frame", "processor")
    }
    rows += [
        (
            "from the command to the page / to the first frame, kernels cached (median of 5)",
            "2 s",
            f"{starts['page']:.1f} / {starts['first_frame']:.1f} s "
            f"({starts['processor']:.1f} s of processor time)",
        ),
        (
            f"memory after {memory['minutes']:.0f} minutes of use, N = 10 000 (in the middle)",
            "400 MB, not growing",
            f"{memory['megabytes']:.0f} MB ({memory['middle_megabytes']:.0f} MB)",
        ),
        (
            "its growth in the second half",
            "none",
            f"{memory['megabytes_an_hour']:.0f} MB an hour",
        ),
        (
            "frames that wait in a tab at a twentieth of the speed",
            "at most 2",
            f"{measurements['slow']['frames_waiting']}",
        ),
        (
            "work for a hidden tab, share of a processor",
            "none",
            f"{100 * measurements['hidden']['processor_share']:.1f} %",
        ),
        ("load of the machine before and after", "", _loads(measurements)),
    ]
    lines = ["| | goal | measured |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {a} | {b} | {c} |" for a, b, c in rows)]) + "\n"


def _loads(measurements: dict[str, Any]) -> str:
    return " and ".join(f"{one[0]:.1f}" for one in measurements["load"])


if __name__ == "__main__":
    main()
