"""The ASGI entry point. Views and middleware are synchronous, so a request crosses into a thread once.

Event streams are served in front of Django, on the event loop alone.
"""

from __future__ import annotations

import os
import warnings

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http.response import HttpResponseBase

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")
# WhiteNoise answers a file block by block; Django says that a thread reads it, which is what is wanted.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")


class ThreadedHandler(ASGIHandler):
    """Runs the whole middleware chain in the request's own thread; Django's default hops for every sync middleware."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def get_response_async(self, request: ASGIRequest) -> HttpResponseBase:  # type: ignore[override]
        """The response of the synchronous chain."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


django.setup(set_prefix=False)

# Its models need the apps to be loaded.
from golem_project.stream.sse import EventStream  # noqa: E402

application = EventStream(ThreadedHandler())
