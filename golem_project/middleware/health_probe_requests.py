"""Lets balancers and orchestrators ask whether a server lives and is ready by its bare address, over plain HTTP, and
whoever has the operator's token scrape its figures there.

They know no host name of it. What they are answered holds nothing of the host that was asked, and no address.
"""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware

PATHS: Final = frozenset({"/healthz", "/readyz", "/metrics"})


class HostChecked(CommonMiddleware):
    """Django's own, which refuses a host that is not allowed, but for these paths."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        """Refuse or redirect, or go on with None."""
        return None if request.path_info in PATHS else super().process_request(request)
