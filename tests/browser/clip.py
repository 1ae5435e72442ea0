"""Records the README's moving picture from a running server: a golem, the permit of its swap, and its call tree.

`.venv/bin/python -m tests.browser.clip --url http://127.0.0.1:8000 --username demo`
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from playwright.sync_api import ViewportSize

from tests.browser.chromium import find_chromium, open_browser
from tests.browser.picture import IMAGES

if TYPE_CHECKING:
    from playwright.sync_api import Page

SIZE: ViewportSize = {"width": 1120, "height": 700}
CLIP = "clip.webp"
_SHOWN_AT = (800, 500)
"""Pixels of the clip."""
_STILL_MS, _MOVING_MS, _STEPS = 1600, 90, 10


class Film:
    """The frames, each with how long it is seen."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, milliseconds: int) -> None:
        picture = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB")
        self.frames.append(picture.resize(_SHOWN_AT, Image.Resampling.LANCZOS))
        self.times.append(milliseconds)

    def stay(self) -> None:
        self._page.wait_for_load_state("load")
        self._page.wait_for_timeout(500)
        self.take(_STILL_MS)

    def scroll(self, pixels: int) -> None:
        for _ in range(_STEPS):
            self._page.mouse.wheel(0, pixels // _STEPS)
            self._page.wait_for_timeout(60)
            self.take(_MOVING_MS)
        self.times[-1] = _STILL_MS

    def write(self, path: Path) -> None:
        first, *others = self.frames
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=self.times,
            loop=0,
            quality=60,
            method=4,
            minimize_size=True,
        )


def record_clip(*, url: str, username: str, password: str, path: Path) -> None:
    """Log in, look at the golem, its newest committed permit and the call tree."""
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("no Chromium here. Fix: install it or set CHROMIUM_PATH")
    with open_browser(chromium) as browser:
        page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
        page.goto(f"{url}/admin/login/")
        page.get_by_label("Username").fill(username)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_load_state("load")
        film = Film(page)
        film.stay()
        page.goto(f"{url}/admin/archetypes_app/golem/")
        page.locator("#result_list tbody a[href*='/golem/']").first.click()
        film.stay()
        page.mouse.move(600, 400)
        film.scroll(600)
        page.goto(f"{url}/admin/permits_app/actionpermit/?status__exact=COMMITTED")
        page.locator("#result_list tbody a[href*='/actionpermit/']").first.click()
        page.wait_for_selector(".gx-story")
        film.stay()
        page.mouse.move(600, 400)
        film.scroll(600)
        film.scroll(600)
        page.get_by_role("link", name="Call tree").click()
        page.wait_for_selector(".gx-frame")
        film.stay()
        film.write(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--username", default="demo")
    parser.add_argument("--password-file", type=Path, default=Path("var/demo_password"))
    parser.add_argument("--path", type=Path, default=IMAGES / CLIP)
    given = parser.parse_args()
    password = given.password_file.read_text(encoding="utf-8").strip()
    record_clip(url=given.url.rstrip("/"), username=given.username, password=password, path=given.path)
    sys.stdout.write(f"{given.path}\n")


if __name__ == "__main__":
    main()
