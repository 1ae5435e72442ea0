"""Takes the documents' pictures from a running server: the newest committed permit and its call tree, 1280 pixels wide.

`.venv/bin/python -m tests.browser.picture --url http://127.0.0.1:8000 --username demo`
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.browser.chromium import find_chromium, open_browser

WIDTH = 1280
PERMIT, CALL_TREE = ("permit.png", 1180), ("call-tree.png", 900)
"""Name and height of each."""
IMAGES = Path(__file__).parents[2] / "docs" / "images"


def take_pictures(*, url: str, username: str, password: str, folder: Path, permit_id: str = "") -> list[Path]:
    """Log in, open the permit (the newest committed one by default) and its tree; keep the top of each page."""
    path = find_chromium()
    if path is None:
        raise SystemExit("no Chromium here. Fix: install it or set CHROMIUM_PATH")
    folder.mkdir(parents=True, exist_ok=True)
    taken: list[Path] = []
    with open_browser(path) as browser:
        page = browser.new_context(viewport={"width": WIDTH, "height": PERMIT[1]}, color_scheme="light").new_page()

        def shoot(name: str, height: int) -> None:
            page.set_viewport_size({"width": WIDTH, "height": height})
            page.wait_for_load_state("networkidle")
            page.screenshot(path=folder / name)
            taken.append(folder / name)

        page.goto(f"{url}/admin/login/")
        page.get_by_label("Username").fill(username)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_load_state("networkidle")
        if permit_id:
            page.goto(f"{url}/admin/permits_app/actionpermit/{permit_id}/change/")
        else:
            page.goto(f"{url}/admin/permits_app/actionpermit/?status__exact=COMMITTED")
            page.locator("#result_list tbody a[href*='/actionpermit/']").first.click()
        page.wait_for_selector(".gx-story")
        shoot(*PERMIT)
        page.get_by_role("link", name="Call tree").click()
        page.wait_for_selector(".gx-frame")
        shoot(*CALL_TREE)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--username", default="demo")
    parser.add_argument("--password-file", type=Path, default=Path("var/demo_password"))
    parser.add_argument("--permit", default="")
    parser.add_argument("--folder", type=Path, default=IMAGES)
    given = parser.parse_args()
    password = given.password_file.read_text(encoding="utf-8").strip()
    taken = take_pictures(
        url=given.url.rstrip("/"),
        username=given.username,
        password=password,
        folder=given.folder,
        permit_id=given.permit,
    )
    for each in taken:
        sys.stdout.write(f"{each}\n")


if __name__ == "__main__":
    main()
