"""Handles what all endpoints of an agent share: the caller, parsed input, filtered answer.

Authentication, scopes, parsing and errors are the framework's classes named in `settings/rest.py`.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import cast

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from archetypes_app.models import Golem
from archetypes_app.models.api_key import Scope
from golem_project.pi import serializers as wire
from golem_project.pi.authentication import Agent
from golem_project.pi.idempotency import IdempotentView
from golem_project.pi.owner_share_of_threads import PLACES
from permits_app.safety.hooks.result_filter import filter_result
from tools_app.core.taint import name_golem

PROBLEM = OpenApiResponse(wire.ProblemOutput, description="A refusal: application/problem+json")
REFUSALS = {
    (status, "application/problem+json"): PROBLEM for status in (400, 401, 403, 404, 409, 413, 415, 422, 429, 503)
}


class PiView(IdempotentView):
    """An endpoint of one golem's agent. `required_scope` must be set, or nobody gets in."""

    required_scope: Scope | None = None
    _caller: Agent | None = None
    """Who calls, once that is known."""

    def initialize_request(self, request: HttpRequest, *args: object, **kwargs: object) -> Request:
        if request.headers.get("Transfer-Encoding") and not request.META.get("CONTENT_LENGTH"):
            # The framework takes a body of unstated length for an empty one.
            request.META["CONTENT_LENGTH"] = str(len(request.body))
        return super().initialize_request(request, *args, **kwargs)

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        with ExitStack() as self._held:
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        self._caller = self.agent
        name_golem(self.agent.golem.pk)

    def finalize_response(self, request: Request, response: Response, *args: object, **kwargs: object) -> Response:
        caller = self._caller
        unseen = None if caller is None else caller.shelf.describe_unseen()
        if unseen is not None and isinstance(response.data, dict):
            # Loading is about what a model reads: what it called unread comes with its schema, refused or not.
            response.data = {**response.data, "tool_schema": unseen}
        return super().finalize_response(request, response, *args, **kwargs)

    def check_throttles(self, request: Request) -> None:
        # The framework asks once it knows who calls, and before a key of idempotency is claimed.
        super().check_throttles(request)
        if self.required_scope is not Scope.HALT:
            self._held.enter_context(PLACES.hold(self.agent.golem.owner_id))

    @property
    def agent(self) -> Agent:
        return cast("Agent", self.request.user)

    @property
    def body(self) -> dict[str, object]:
        """The body, which the strict parser made an object."""
        return cast("dict[str, object]", self.request.data)


def parse_input(kind: type[wire.StrictInput], data: object) -> wire.Values:
    """The validated values of `data`. Raises InvalidParams."""
    return kind(data=data).check()


def has_memory(golem: Golem) -> bool:
    """Whether the golem remembers: its own switch and the server's."""
    return bool(golem.is_memory_enabled and settings.GOLEM_MEMORY_ENABLED)


def render_answer(data: dict[str, object]) -> Response:
    """`data` as an agent may see it: every answer passes the result filter."""
    return Response(filter_result(data))
