"""The machine's Chromium, for tests and for the picture in the README. Nothing is downloaded."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

USUAL_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
]


def find_chromium() -> str | None:
    """CHROMIUM_PATH, else the first of the usual names on the path."""
    given = os.environ.get("CHROMIUM_PATH")
    if given:
        return given if os.access(given, os.X_OK) else None
    return next((path for name in USUAL_NAMES if (path := shutil.which(name))), None)


@contextmanager
def open_browser(path: str) -> Iterator[Browser]:
    """A headless Chromium that ends with the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
