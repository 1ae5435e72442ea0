"""The headers of every kind of answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from golem_project.middleware.security_headers import ADMIN_POLICY, DATA_POLICY, PAGE_POLICY, PERMISSIONS

ROOT = Path(__file__).resolve().parents[2]
KINDS = [
    ("/admin/login/", "text/html", 200, ADMIN_POLICY),
    ("/about", "text/html", 200, PAGE_POLICY),
    ("/errors/", "text/html", 200, PAGE_POLICY),
    ("/api/v1/docs", "text/html", 200, PAGE_POLICY),
    ("/api/v1/docs?script=", "*/*", 200, DATA_POLICY),
    ("/nothing", "text/html", 404, PAGE_POLICY),
    ("/about", "application/json", 200, DATA_POLICY),
    ("/healthz", "application/json", 200, DATA_POLICY),
    ("/api/v1/pi/manifest", "application/json", 401, DATA_POLICY),
    ("/api/v1/nothing", "application/json", 404, DATA_POLICY),
]


@pytest.mark.parametrize(("path", "accept", "status", "policy"), KINDS, ids=lambda value: str(value)[:40])
def test_every_kind_of_answer_says_what_a_browser_may_do_with_it(
    db: None, client: Client, path: str, accept: str, status: int, policy: str
) -> None:
    answer = client.get(path, headers={"Accept": accept})
    assert answer.status_code == status
    assert answer.headers["Content-Security-Policy"] == policy
    assert answer.headers["Permissions-Policy"] == PERMISSIONS
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert answer.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("policy", [ADMIN_POLICY, DATA_POLICY, PAGE_POLICY])
def test_no_policy_lets_anything_in_from_elsewhere_or_out_into_a_frame(policy: str) -> None:
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    assert directives["frame-ancestors"] == directives["object-src"] == directives["base-uri"] == "'none'"
    assert directives["form-action"] in ("'self'", "'none'")
    assert {source for sources in directives.values() for source in sources.split()} <= {
        "'self'",
        "'none'",
        "data:",
        "'unsafe-eval'",
    }


def test_no_template_or_script_of_ours_styles_inline() -> None:
    written = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "golem_project" / "static" / "golem").glob("*.js")]
    inline = re.compile(r"""<style|\sstyle=|setAttribute\(.style""")
    assert len(written) > 50
    assert [str(path.relative_to(ROOT)) for path in written if inline.search(path.read_text(encoding="utf-8"))] == []


def test_the_theme_writes_no_style_into_a_page(admin_client: Client) -> None:
    for path in (
        "/admin/",
        "/admin/login/",
        "/admin/permits_app/actionpermit/",
        "/admin/auth/user/add/",
        "/api/v1/docs",
    ):
        page = admin_client.get(path, follow=True, headers={"Accept": "text/html"}).content.decode()
        assert "golem/" in page, path
        assert not re.search(r"<style|\sstyle=", page), path
