"""Services outside that owners switch on: where an operator sends their questions instead, as to a stand-in."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured

from golem_project.settings.environment import read_flag, read_text


def _read_urls(text: str) -> dict[str, str]:
    pairs = [each.strip().partition("=") for each in text.split(",") if each.strip()]
    if any(not name or not url.startswith(("https://", "http://")) for name, _, url in pairs):
        raise ImproperlyConfigured("GOLEM_SERVICE_URLS is name=https://address, separated by commas")
    return {name: url for name, _, url in pairs}


GOLEM_SERVICE_URLS = _read_urls(read_text("GOLEM_SERVICE_URLS"))
# Loopback and private addresses, also with plain http: for a stand-in of a service only.
GOLEM_SERVICES_ALLOW_PRIVATE_ADDRESSES = read_flag("GOLEM_SERVICES_ALLOW_PRIVATE_ADDRESSES", False)
