"""The headers of every kind of answer."""

from __future__ import annotations

import pytest
from django.test import Client

from golem_project.page_headers import ADMIN_POLICY, DATA_POLICY, PAGE_POLICY, PERMISSIONS

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
        "'unsafe-inline'",
        "'unsafe-eval'",
    }
    assert "'unsafe-inline'" not in directives.get("script-src", "")
