"""Serves events as JSON pages with a cursor (GET /api/v1/events)."""

from __future__ import annotations

import json
from typing import Any, cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from golem_project.pi import serializers as wire
from golem_project.stream.callers import CallerAuthentication, EventFollower, IsCaller
from golem_project.stream.errors import StreamUnavailable
from golem_project.stream.parameters import (
    CURSOR_PATTERN,
    DEFAULT_PER_PAGE,
    GOLEMS_PATTERN,
    MOST_PER_PAGE,
    TYPES_PATTERN,
    read_question,
)
from tools_app.core import event_log
from tools_app.core.event_log import EventFilter, LogHead

_CURSOR = {"type": "string", "pattern": CURSOR_PATTERN}
_PROBLEM = OpenApiResponse(wire.ProblemOutput, description="A refusal: application/problem+json")


class EventOutput(serializers.Serializer[Any]):  # Any: it is written out, never read in
    """One event; what `payload` holds depends on `type`, see docs/events.md."""

    cursor = serializers.CharField(help_text="The place of this event; send it as Last-Event-ID or `cursor`")
    event_id = serializers.UUIDField()
    type = serializers.CharField()
    version = serializers.IntegerField()
    golem_id = serializers.UUIDField()
    sequence = serializers.IntegerField(help_text="Counts the events of this golem without gaps")
    heartbeat_tick = serializers.IntegerField()
    occurred_at = serializers.DateTimeField()
    payload = serializers.DictField()


class EventPageOutput(serializers.Serializer[Any]):  # Any: it is written out, never read in
    """Events in order, and where to go on."""

    events = EventOutput(many=True)
    next_cursor = serializers.CharField()
    has_more = serializers.BooleanField()


class EventPageView(APIView):
    """Events of the caller's golems, oldest first. The same path streams them to who accepts text/event-stream."""

    authentication_classes = (CallerAuthentication,)
    permission_classes = (IsCaller,)

    @extend_schema(
        operation_id="events",
        summary="Events as pages, or as a stream (Accept: text/event-stream, resumed by Last-Event-ID)",
        parameters=[
            OpenApiParameter(
                "golem",
                {"type": "string", "pattern": GOLEMS_PATTERN},
                description="Ids of golems, separated by commas; default: all you may see",
            ),
            OpenApiParameter(
                "types",
                {"type": "string", "pattern": TYPES_PATTERN},
                description="Wire names or families (`tool:*`), separated by commas",
            ),
            OpenApiParameter("since", OpenApiTypes.DATETIME, description="RFC 3339 time to start from"),
            OpenApiParameter("cursor", _CURSOR, description="Start after this place; wins over `since`"),
            OpenApiParameter("last_event_id", _CURSOR, description="The same, by the name an EventSource uses"),
            OpenApiParameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": MOST_PER_PAGE},
                description=f"1 to {MOST_PER_PAGE}, default {DEFAULT_PER_PAGE}",
            ),
            OpenApiParameter("Last-Event-ID", _CURSOR, OpenApiParameter.HEADER),
        ],
        responses={
            (200, "application/json"): EventPageOutput,
            (200, "text/event-stream"): OpenApiResponse(str, description="id, event and data lines"),
            **{
                (status, "application/problem+json"): _PROBLEM
                for status in (401, 403, 404, 406, 409, 410, 422, 429, 503)
            },
        },
    )
    def get(self, request: Request) -> Response:
        if "text/event-stream" in request.headers.get("Accept", "").lower():
            raise StreamUnavailable("ask for application/json here, or serve golem_project.asgi with an ASGI server")
        caller = cast("EventFollower", request.user)
        query = {name: ",".join(request.query_params.getlist(name)) for name in request.query_params}
        question = read_question(query, caller=caller, last_event_id=request.headers.get("Last-Event-ID"))
        head = event_log.read_head()
        start = question.start(head=head, default=head.forgotten)
        body = read_page(start, head=head, wanted=question.wanted, limit=question.limit)
        return Response(body, headers={"Cache-Control": "private, no-store", "Vary": "Accept, Authorization, Cookie"})

    def perform_content_negotiation(
        self, request: Request, force: bool = False
    ) -> Any:  # Any: the framework leaves it open
        # The stream is refused by name above, not as an unknown format.
        return super().perform_content_negotiation(request, force=True)


def read_page(position: int, *, head: LogHead, wanted: EventFilter, limit: int) -> dict[str, object]:
    """At most `limit` events after `position`, and the cursor behind the last thing looked at."""
    found: list[dict[str, object]] = []
    while len(found) < limit and position < head.position:
        page = event_log.read_after(position, head=head, wanted=wanted, limit=limit - len(found))
        found += [{"cursor": head.cursor(event.position), **json.loads(event.body)} for event in page.events]
        position = page.reached
    return {"events": found, "next_cursor": head.cursor(position), "has_more": position < head.position}
