"""A real browser for tests: headless Chromium.

Where none is installed these tests are skipped, unless the environment says
SWARMDP_BROWSER=required: then that is a failure.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
REQUIRED = os.environ.get("SWARMDP_BROWSER") == "required"
PATIENCE = 120  # seconds until something that never happens is a failure
OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage"
)

needed = pytest.mark.skipif(
    not (BROWSER and DRIVER) and not REQUIRED,
    reason="no browser: install chromium and chromium-driver (chromedriver)",
)


@contextmanager
def opened(profile: Path, downloads: Path | None = None) -> Iterator[webdriver.Chrome]:
    """A browser with a new profile."""
    if not (BROWSER and DRIVER):
        pytest.fail("SWARMDP_BROWSER=required, but chromium and chromedriver are not on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for option in (*OPTIONS.split(), f"--user-data-dir={profile}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        if downloads is not None:
            driver.execute_cdp_cmd(
                "Browser.setDownloadBehavior",
                {"behavior": "allow", "downloadPath": str(downloads)},
            )
        yield driver
    finally:
        driver.quit()


def resize(browser: webdriver.Chrome, width: int, height: int = 900, dots: float = 1) -> None:
    """Give the window another size."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": dots, "mobile": False},
    )


def emulate(browser: webdriver.Chrome, scheme: str = "light", motion: str = "") -> None:
    """Say what the person at the browser prefers."""
    features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": name, "value": value} for name, value in features.items()]},
    )
