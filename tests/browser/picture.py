"""Takes the README's picture: the page of the newest committed permit of a running server, 1280 pixels wide.

`.venv/bin/python -m tests.browser.picture --url http://127.0.0.1:8000 --username demo`
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.browser.chromium import find_chromium, open_browser

WIDTH, HEIGHT = 1280, 1180
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "permit.png"


def take_picture(*, url: str, username: str, password: str, target: Path, permit_id: str = "") -> Path:
    """Log in, open the permit (the newest committed one by default) and keep the top of its page."""
    path = find_chromium()
    if path is None:
        raise SystemExit("no Chromium here. Fix: install it or set CHROMIUM_PATH")
    with open_browser(path) as browser:
        page = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light").new_page()
        page.goto(f"{url}/admin/login/")
        page.get_by_label("Username").fill(username)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_load_state("networkidle")
        if permit_id:
            page.goto(f"{url}/admin/permits_app/actionpermit/{permit_id}/change/")
        else:
            page.goto(f"{url}/admin/permits_app/actionpermit/?status__exact=COMMITTED")
            page.locator("#result_list th a, #result_list td a").first.click()
        page.wait_for_selector(".gx-story")
        page.wait_for_load_state("networkidle")
        target.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=target)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--username", default="demo")
    parser.add_argument("--password-file", type=Path, default=Path("var/demo_password"))
    parser.add_argument("--permit", default="")
    parser.add_argument("--target", type=Path, default=PICTURE)
    given = parser.parse_args()
    password = given.password_file.read_text(encoding="utf-8").strip()
    done = take_picture(
        url=given.url.rstrip("/"),
        username=given.username,
        password=password,
        target=given.target,
        permit_id=given.permit,
    )
    sys.stdout.write(f"{done}\n")


if __name__ == "__main__":
    main()
