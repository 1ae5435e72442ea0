"""The eight tools and the pages around them. Each view: parse, one call, render.

Authentication, scopes, parsing and errors are the framework's classes named in `settings/rest.py`. What a tool does is
in `permits_app/actions` and `memory_app/actions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from archetypes_app.models import Golem
from archetypes_app.models.api_key import Scope
from archetypes_app.toolset import resolve_toolset, view_golem
from golem_project.pi import serializers as wire
from golem_project.pi.authentication import Agent
from golem_project.pi.commit_slots import waiting_slot
from golem_project.pi.dialects import Dialect
from golem_project.pi.exception_handler import PERMIT_PATH
from golem_project.pi.idempotency import IdempotentView
from golem_project.pi.manifest import build_manifest
from golem_project.pi.preferences import prefers_async, read_dialect
from golem_project.request_id import current_request_id
from memory_app.actions.request_query_grimoire import request_query_grimoire
from memory_app.actions.update_directive import update_directive
from permits_app.actions.gather_context import gather_context
from permits_app.actions.query import query_state
from permits_app.actions.request_cancel import request_cancel
from permits_app.actions.request_commit import CommitAnswer, request_commit
from permits_app.actions.request_halt import request_halt
from permits_app.actions.request_preview import request_preview
from permits_app.errors import PermitNotFound
from permits_app.safety.hooks.result_filter import filter_result
from permits_app.selectors import get_permit, list_permits
from tools_app.adapters import MemoryNotEnabled, flatten_params
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import UnknownTool

DEFAULT_LIMIT = 10
_SEARCH_WORDS = frozenset({"query", "limit", "store"})
PROBLEM = OpenApiResponse(wire.ProblemOutput, description="A refusal: application/problem+json")
_REFUSALS = {(status, "application/problem+json"): PROBLEM for status in (400, 401, 403, 404, 409, 422, 429, 503)}


class PiView(IdempotentView):
    """An endpoint of one golem's agent. `required_scope` must be set, or nobody gets in."""

    required_scope: Scope | None = None

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        if request.headers.get("Transfer-Encoding") and not request.META.get("CONTENT_LENGTH"):
            # The framework takes a body of unstated length for an empty one.
            request.META["CONTENT_LENGTH"] = str(len(request.body))
        return super().initialize_request(request, *args, **kwargs)

    @property
    def agent(self) -> Agent:
        return cast("Agent", self.request.user)

    @property
    def body(self) -> dict[str, Any]:
        """The body, which the strict parser made an object."""
        return cast("dict[str, Any]", self.request.data)


class PreviewActionView(PiView):
    """Simulates an action exactly as it would be sent, runs every safety rule and answers a permit; nothing is sent."""

    required_scope = Scope.PREVIEW

    @extend_schema(
        operation_id=PiTool.PREVIEW_ACTION,
        summary="Simulate an action and get a permit",
        request={"application/json": wire.PREVIEW_ACTION_BODY},
        responses={200: wire.PreviewActionOutput, **_REFUSALS},
    )
    def post(self, request: Request) -> Response:
        body = flatten_params(self.body)
        wire.check_word(body, "action_type", is_required=True)
        wire.check_word(body, "venue")
        try:
            permit = request_preview(
                golem=self.agent.golem, api_key=self.agent.key, body=body, request_id=current_request_id()
            )
        except GolemError as error:
            raise _unless_absent(error, PiTool.PREVIEW_ACTION) from None
        return _answer(permit)


class CommitActionView(PiView):
    """Signs and sends a permit's calls once. Answers the outcome, or 202 when it takes longer than 15 s."""

    required_scope = Scope.COMMIT

    @extend_schema(
        operation_id=PiTool.COMMIT_ACTION,
        summary="Use a permit once",
        request=wire.CommitActionInput,
        parameters=[
            OpenApiParameter(
                "Prefer", str, OpenApiParameter.HEADER, description="`respond-async`: do not wait for the outcome"
            )
        ],
        responses={
            200: OpenApiResponse(wire.CommitActionOutput, description="The outcome is known"),
            202: OpenApiResponse(wire.CommitActionOutput, description="Under way; look at Location"),
            **_REFUSALS,
        },
    )
    def post(self, request: Request) -> Response:
        values = _parse(wire.CommitActionInput, self.body)
        is_async = prefers_async(request)
        slot = nullcontext() if is_async else waiting_slot(self.agent.key.pk, request_id=current_request_id())
        try:
            with slot:
                answer = request_commit(
                    golem=self.agent.golem,
                    api_key=self.agent.key,
                    permit_id=values["permit_id"],
                    wait_seconds=0 if is_async else settings.GOLEM_COMMIT_WAIT_SECONDS,
                    request_id=current_request_id(),
                )
        except PermitNotFound as error:
            raise _unless_writeless(error, self.agent, PiTool.COMMIT_ACTION) from None
        return _answer_commit(answer, is_async=is_async)


class CancelActionView(PiView):
    """Gives up a permit that was not committed and frees what it had reserved."""

    required_scope = Scope.PREVIEW

    @extend_schema(
        operation_id=PiTool.CANCEL_ACTION,
        summary="Give up a permit",
        request=wire.CancelActionInput,
        responses={200: wire.PermitOutput, **_REFUSALS},
    )
    def post(self, request: Request) -> Response:
        values = _parse(wire.CancelActionInput, self.body)
        agent = self.agent
        try:
            permit = request_cancel(golem=agent.golem, actor=agent.actor, now=clock.now(), **values)
        except PermitNotFound as error:
            raise _unless_writeless(error, agent, PiTool.CANCEL_ACTION) from None
        return _answer(permit)


class QueryStateView(PiView):
    """Reads one thing: of the golem itself, or of a venue it may use."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id=PiTool.QUERY_STATE,
        summary="Read one thing",
        request={"application/json": wire.QUERY_STATE_BODY},
        responses={200: wire.ToolResultOutput, **_REFUSALS},
    )
    def post(self, request: Request) -> Response:
        return Response(_query(self.agent, wire.merge_params(self.body), word="query", pi_tool=PiTool.QUERY_STATE))


class SearchContextView(PiView):
    """Searches PLAYBOOK and STRATEGY, and adds the golem's state and the prices of tokens the query names."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id=PiTool.SEARCH_CONTEXT,
        summary="Find what bears on a question now",
        request=wire.SearchContextInput,
        responses={200: wire.SearchContextOutput, **_REFUSALS},
    )
    def post(self, request: Request) -> Response:
        agent = self.agent
        if self.body.get("read") is not None:
            return Response(_query(agent, self.body, word="read", pi_tool=PiTool.SEARCH_CONTEXT))
        values = _parse(wire.SearchContextInput, _without_nulls(self.body))
        limit = values.get("limit") or DEFAULT_LIMIT
        found = gather_context(
            golem=agent.golem, query=values["query"], limit=limit, now=clock.now(), api_key_id=agent.key.pk
        )
        return Response(found)


class QueryGrimoireView(PiView):
    """Recalls past episodes like the present situation."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id=PiTool.QUERY_GRIMOIRE,
        summary="Recall past episodes",
        request=wire.QueryGrimoireInput,
        responses={200: wire.QueryGrimoireOutput, **_REFUSALS},
    )
    def post(self, request: Request) -> Response:
        _check_memory(self.agent)
        if self.body.get("read") is not None:
            return Response(_query(self.agent, self.body, word="read", pi_tool=PiTool.QUERY_GRIMOIRE))
        asked = wire.QueryGrimoireInput(data=_without_nulls(self.body))
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        found = request_query_grimoire(
            golem_id=self.agent.golem.pk,
            query=values["query"],
            store=values.get("store") or "episodes",
            limit=values.get("limit") or DEFAULT_LIMIT,
            filters=asked.read_filters(),
            now=clock.now(),
        )
        return _answer(found)


class UpdateDirectiveView(PiView):
    """Writes one section of the PLAYBOOK as a new version."""

    required_scope = Scope.DIRECTIVE

    @extend_schema(
        operation_id=PiTool.UPDATE_DIRECTIVE,
        summary="Write a section of the PLAYBOOK",
        request=wire.UpdateDirectiveInput,
        responses={200: wire.UpdateDirectiveOutput, **_REFUSALS},
    )
    def post(self, request: Request) -> Response:
        values = _parse(wire.UpdateDirectiveInput, self.body)
        agent = self.agent
        return _answer(update_directive(golem_id=agent.golem.pk, actor=agent.actor, now=clock.now(), **values))


class EmergencyHaltView(PiView):
    """Stops the golem until its owner resumes it."""

    required_scope = Scope.HALT

    @extend_schema(
        operation_id=PiTool.EMERGENCY_HALT,
        summary="Stop the golem",
        request=wire.EmergencyHaltInput,
        responses={200: wire.EmergencyHaltOutput, **_REFUSALS},
    )
    def post(self, request: Request) -> Response:
        values = _parse(wire.EmergencyHaltInput, self.body)
        agent = self.agent
        return _answer(
            request_halt(
                golem=agent.golem,
                reason=values["reason"],
                actor=agent.actor,
                now=clock.now(),
                is_drill=bool(values.get("drill")),
            )  # fmt: skip
        )


class UnknownToolView(PiView):
    """Any other name under /pi/: there is no such tool, whatever it is called."""

    required_scope = Scope.READ

    @extend_schema(exclude=True)
    def get(self, request: Request, name: str) -> Response:
        return self.post(request, name)

    @extend_schema(exclude=True)
    def post(self, request: Request, name: str) -> Response:
        raise UnknownTool(f"no tool is called {name!r}", available=[str(tool) for tool in PiTool])


class ManifestView(PiView):
    """The tools this golem has, made from its own toolset; unchanged answers cost 304 with the ETag."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id="manifest",
        summary="The golem's tools, for its model",
        parameters=[
            OpenApiParameter("dialect", str, enum=[d.value for d in Dialect], description="A provider's own shape"),
            OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER),
        ],
        responses={200: wire.ManifestOutput, 304: OpenApiResponse(description="Unchanged"), **_REFUSALS},
    )
    def get(self, request: Request) -> Response:
        golem = self.agent.golem
        manifest = build_manifest(
            golem=view_golem(golem),
            toolset=resolve_toolset(golem),
            permit_ttl_seconds=golem.permit_ttl_seconds,
            has_memory=has_memory(golem),
            dialect=read_dialect(request),
        )
        headers = {"ETag": manifest.etag, "Cache-Control": "private, no-cache", "Vary": "Authorization"}
        known = [tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")]
        if manifest.etag in known or "*" in known:
            return Response(status=304, headers=headers)
        return Response(manifest.body, headers=headers)


class PermitListView(PiView):
    """The golem's own permits, newest first."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id="list_permits",
        summary="The golem's permits, newest first",
        parameters=[wire.PermitListQuery],
        responses={200: wire.PermitListOutput, **_REFUSALS},
    )
    def get(self, request: Request) -> Response:
        values = _parse(wire.PermitListQuery, request.query_params.dict())
        if "cursor" in values:
            values["cursor"] = str(values["cursor"])
        return _answer(list_permits(golem=self.agent.golem, **values))


class PermitView(PiView):
    """One permit; another golem's answers as if it did not exist."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id="get_permit",
        summary="One permit of the golem",
        responses={200: wire.PermitOutput, **_REFUSALS},
    )
    def get(self, request: Request, permit_id: UUID) -> Response:
        return _answer(get_permit(golem=self.agent.golem, permit_id=permit_id))


def _parse(kind: type[wire.StrictInput], data: Any) -> dict[str, Any]:
    serializer = kind(data=data)
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = dict(serializer.validated_data)
    return values


def _query(agent: Agent, body: Mapping[str, Any], *, word: str, pi_tool: PiTool) -> dict[str, Any]:
    query = wire.check_word(body, word, is_required=True)
    # query_grimoire filters by venue; the other two choose one with it.
    chooses_venue = pi_tool is not PiTool.QUERY_GRIMOIRE
    own_words = (word, "cursor", "venue") if chooses_venue else (word, "cursor")
    return query_state(
        golem=agent.golem,
        query=str(query),
        venue=wire.check_word(body, "venue") if chooses_venue else None,
        params={name: value for name, value in body.items() if name not in own_words},
        ignored=frozenset() if pi_tool is PiTool.QUERY_STATE else _SEARCH_WORDS,
        cursor=wire.check_word(body, "cursor"),
        now=clock.now(),
        api_key_id=agent.key.pk,
        pi_tool=pi_tool,
    )


def has_memory(golem: Golem) -> bool:
    """Whether the golem remembers: its own switch and the server's."""
    return bool(golem.is_memory_enabled and settings.GOLEM_MEMORY_ENABLED)


def _check_memory(agent: Agent) -> None:
    if not has_memory(agent.golem):
        raise MemoryNotEnabled("memory is switched off for this golem; its owner can switch it on")


def _answer(data: dict[str, Any]) -> Response:
    return Response(filter_result(data))


def _answer_commit(answer: CommitAnswer, *, is_async: bool) -> Response:
    body = {
        "status": answer.permit["status"],
        "permit": answer.permit,
        "result": answer.result if answer.is_done and answer.result else None,
    }
    if answer.is_done:
        return _answer(body)
    headers = {"Location": f"{PERMIT_PATH}{answer.permit['permit_id']}", "Retry-After": "1"}
    if is_async:
        headers["Preference-Applied"] = "respond-async"
    return Response(filter_result(body), status=202, headers=headers)


def _without_nulls(body: Mapping[str, Any]) -> dict[str, Any]:
    """A strict provider sends every parameter of the union, those not meant as null."""
    return {name: value for name, value in body.items() if value is not None}


def _unless_absent(error: GolemError, name: PiTool) -> GolemError:
    """A golem without write tools has no such tool at all; that it could not do one action is beside the point."""
    problem = error.as_problem()
    if problem.get("code") == "UNKNOWN_ACTION" and problem.get("available") == []:
        return UnknownTool(f"this golem has no tool called {str(name)!r}")
    return error


def _unless_writeless(error: PermitNotFound, agent: Agent, name: PiTool) -> GolemError:
    if resolve_toolset(agent.golem).has_writes:
        return error
    return UnknownTool(f"this golem has no tool called {str(name)!r}")
