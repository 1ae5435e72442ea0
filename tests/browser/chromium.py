"""The machine's Chromium, for tests and for the picture in the README. Nothing is downloaded.

Chromium without a window of its own comes first: the same pages of the same version for a third of the processor time.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

USUAL_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A whole Chromium loads two pages of its own for the line of addresses of each window, half a second each time.
PAGES_OF_ITS_OWN = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup")
# What Playwright switches off by itself and these tests rely on; the last list is the one that Chromium reads.
SWITCHED_OFF_BY_PLAYWRIGHT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)
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
    f"--disable-features={','.join((*SWITCHED_OFF_BY_PLAYWRIGHT, *PAGES_OF_ITS_OWN))}",
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
