"""A real headless Chromium, driven by Playwright; its pictures stay in build/screenshots, to be looked at."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
PATIENCE_MS = PATIENCE_S * 1000
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def browser() -> Iterator["Browser"]:
    """Skips where there is no Chromium or no Playwright; with CI=true it fails instead, since CI installs them."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        _missing("no chromium on the path: install Debian's, as .ci/run does")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("no playwright: it is in the dev group of pyproject.toml")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        # Containers and root have no sandbox of Chromium's own; the pages are ours.
        made = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"], timeout=PATIENCE_MS)
        try:
            yield made
        finally:
            made.close()


def said_at(page: "Page", place: str) -> str:
    """What a chart says where the mouse is; `place` is JavaScript for [x, y].

    A chart that is not laid out yet has its marks elsewhere, and would never hear of a mouse that moves only once.
    """
    tip, patience_s = page.locator(".bk-Tooltip").first, time.monotonic() + PATIENCE_S
    while not tip.is_visible():
        assert time.monotonic() < patience_s, "the chart says nothing"
        page.mouse.move(0, 0)
        page.mouse.move(*page.evaluate(place))
        page.wait_for_timeout(100)
    return str(tip.evaluate("(tip) => [...tip.shadowRoot.querySelectorAll('div')].map((one) => one.innerText).join()"))


def _missing(what: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)
