"""The eight tools. Each view: parse, one call, render; what a tool does is in `permits_app/actions` and
`memory_app/actions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from archetypes_app.browse_and_load_tools import TIER_KEYS
from archetypes_app.models.api_key import Scope
from golem_project.middleware.request_id import current_request_id
from golem_project.pi import serializers as wire
from golem_project.pi.authentication import Agent
from golem_project.pi.commit_slots import waiting_slot
from golem_project.pi.definitions import define_tools
from golem_project.pi.endpoint import REFUSALS, PiView, has_memory, parse_input, render_answer
from golem_project.pi.exception_handler import PERMIT_PATH
from golem_project.pi.request_preferences import prefers_async
from memory_app.actions.update_directive import update_directive
from memory_app.ask_memory_worker import request_query_grimoire
from permits_app.actions.gather_context import gather_context
from permits_app.actions.query import OWN_QUERIES, OWN_VENUE, query_state
from permits_app.actions.request_cancel import request_cancel
from permits_app.doors.request_commit import CommitAnswer, request_commit
from permits_app.doors.request_halt import request_halt
from permits_app.doors.request_preview import request_preview
from permits_app.errors import PermitNotFound
from permits_app.previews.request_words import WISH_ID
from permits_app.safety.hooks.result_filter import filter_result
from tools_app.core import clock
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.select_tool_for_venue import MemoryNotEnabled, flatten_params, normalize_key
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.registry import UnknownTool, refuse_for_good

DEFAULT_LIMIT = 10
_PREVIEW = PiTool.PREVIEW_ACTION
_OWN_KEYS = frozenset(query.key for query in OWN_QUERIES)
_SEARCH_WORDS = frozenset({"query", "limit", "store"})


class PreviewActionView(PiView):
    """Simulates an action exactly as it would be sent, runs every safety rule and answers a permit; nothing is sent."""

    required_scope = Scope.PREVIEW

    @extend_schema(
        operation_id=PiTool.PREVIEW_ACTION,
        summary="Simulate an action and get a permit",
        request={"application/json": wire.PREVIEW_ACTION_BODY},
        responses={200: wire.PreviewActionOutput, **REFUSALS},
    )
    def post(self, request: Request) -> Response:
        body = flatten_params(self.body)
        agent = self.agent
        action = wire.check_word(body, "action_type", is_required=True, known=partial(agent.shelf.list_words, _PREVIEW))
        venue = wire.check_word(body, "venue")
        tool = agent.shelf.check(pi_tool=_PREVIEW, key=str(action), venue=venue)
        if tool is not None and body.get(WISH_ID) is None:
            # Only one venue is shown for it, though the golem may know others; a wish names its own.
            body = {**body, "venue": tool.venue}
        try:
            permit = request_preview(golem=agent.golem, api_key=agent.key, body=body, request_id=current_request_id())
        except GolemError as error:
            raise _unless_absent(error, PiTool.PREVIEW_ACTION) from None
        return render_answer(permit)


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
            **REFUSALS,
        },
    )
    def post(self, request: Request) -> Response:
        values = parse_input(wire.CommitActionInput, self.body)
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
        refusal = answer.refusal
        if refusal is not None:
            raise refusal
        return _answer_commit(answer, is_async=is_async)


class CancelActionView(PiView):
    """Gives up a permit that was not committed and frees what it had reserved."""

    required_scope = Scope.PREVIEW

    @extend_schema(
        operation_id=PiTool.CANCEL_ACTION,
        summary="Give up a permit",
        request=wire.CancelActionInput,
        responses={200: wire.PermitOutput, **REFUSALS},
    )
    def post(self, request: Request) -> Response:
        values = parse_input(wire.CancelActionInput, self.body)
        agent = self.agent
        try:
            permit = request_cancel(golem=agent.golem, actor=agent.actor, now=clock.now(), **values)
        except PermitNotFound as error:
            raise _unless_writeless(error, agent, PiTool.CANCEL_ACTION) from None
        return render_answer(permit)


def _or_read(name: str, output: type[Serializer[object]]) -> PolymorphicProxySerializer:
    """What is answered to a search, or to the read that was made instead."""
    return PolymorphicProxySerializer(name, [output, wire.ToolResultOutput], None)


class QueryStateView(PiView):
    """Reads one thing: of the golem itself, or of a venue it may use."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id=PiTool.QUERY_STATE,
        summary="Read one thing",
        request={"application/json": wire.QUERY_STATE_BODY},
        responses={200: wire.ToolResultOutput, **REFUSALS},
    )
    def post(self, request: Request) -> Response:
        return Response(_query(self.agent, wire.merge_params(self.body), word="query", pi_tool=PiTool.QUERY_STATE))


class SearchContextView(PiView):
    """Searches PLAYBOOK and STRATEGY, and adds the golem's state and the prices of tokens the query names."""

    required_scope = Scope.READ

    @extend_schema(
        operation_id=PiTool.SEARCH_CONTEXT,
        summary="Find what bears on a question now",
        request=PolymorphicProxySerializer("SearchContextBody", [wire.SearchContextInput, wire.ReadInput], None),
        responses={200: _or_read("SearchContextAnswer", wire.SearchContextOutput), **REFUSALS},
    )
    def post(self, request: Request) -> Response:
        agent = self.agent
        if self.body.get("read") is not None:
            return Response(_query(agent, self.body, word="read", pi_tool=PiTool.SEARCH_CONTEXT))
        values = parse_input(wire.SearchContextInput, _without_nulls(self.body))
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
        request=PolymorphicProxySerializer("QueryGrimoireBody", [wire.QueryGrimoireInput, wire.ReadInput], None),
        responses={200: _or_read("QueryGrimoireAnswer", wire.QueryGrimoireOutput), **REFUSALS},
    )
    def post(self, request: Request) -> Response:
        _check_memory(self.agent)
        if self.body.get("read") is not None:
            return Response(_query(self.agent, self.body, word="read", pi_tool=PiTool.QUERY_GRIMOIRE))
        asked = wire.QueryGrimoireInput(data=_without_nulls(self.body))
        values = asked.check()
        _check_is_no_read(self.agent, values["query"])
        found = request_query_grimoire(
            golem_id=self.agent.golem.pk,
            query=values["query"],
            store=values.get("store") or "episodes",
            limit=values.get("limit") or DEFAULT_LIMIT,
            filters=asked.read_filters(),
            now=clock.now(),
        )
        return render_answer(found)


class UpdateDirectiveView(PiView):
    """Writes one section of the PLAYBOOK as a new version."""

    required_scope = Scope.DIRECTIVE

    @extend_schema(
        operation_id=PiTool.UPDATE_DIRECTIVE,
        summary="Write a section of the PLAYBOOK",
        request=wire.UpdateDirectiveInput,
        responses={200: wire.UpdateDirectiveOutput, **REFUSALS},
    )
    def post(self, request: Request) -> Response:
        values = parse_input(wire.UpdateDirectiveInput, self.body)
        agent = self.agent
        return render_answer(update_directive(golem_id=agent.golem.pk, actor=agent.actor, now=clock.now(), **values))


class EmergencyHaltView(PiView):
    """Stops the golem until its owner resumes it."""

    required_scope = Scope.HALT

    @extend_schema(
        operation_id=PiTool.EMERGENCY_HALT,
        summary="Stop the golem",
        request=wire.EmergencyHaltInput,
        responses={200: wire.EmergencyHaltOutput, **REFUSALS},
    )
    def post(self, request: Request) -> Response:
        values = parse_input(wire.EmergencyHaltInput, self.body)
        agent = self.agent
        return render_answer(
            request_halt(
                golem=agent.golem,
                reason=values["reason"],
                actor=agent.actor,
                now=clock.now(),
                is_drill=bool(values.get("drill")),
            )
        )


class UnknownToolView(PiView):
    """Any other name under /pi/: there is no such tool, whatever it is called."""

    required_scope = Scope.READ

    @extend_schema(exclude=True)
    def get(self, request: Request, name: str) -> Response:
        return self.post(request, name)

    @extend_schema(exclude=True)
    def post(self, request: Request, name: str) -> Response:
        refuse_for_good(name)
        raise UnknownTool(f"no tool is called {name!r}", available=_list_callable(self.agent))


def _query(agent: Agent, body: Mapping[str, object], *, word: str, pi_tool: PiTool) -> dict[str, object]:
    query = wire.check_word(body, word, is_required=True, known=partial(agent.shelf.list_words, pi_tool))
    # query_grimoire filters by venue; the other two choose one with it.
    chooses_venue = pi_tool is not PiTool.QUERY_GRIMOIRE
    own_words = (word, "cursor", "venue") if chooses_venue else (word, "cursor")
    venue = wire.check_word(body, "venue") if chooses_venue else None
    params = {name: value for name, value in body.items() if name not in own_words}
    key, is_own = normalize_key(str(query)), venue is None or normalize_key(venue) == OWN_VENUE
    if pi_tool is PiTool.QUERY_STATE and key in TIER_KEYS and is_own:
        answer: dict[str, object] = filter_result(agent.shelf.answer(key=key, params=_with_cursor(body, params)))
        return answer
    tool = None if key in _OWN_KEYS else agent.shelf.check(pi_tool=pi_tool, key=key, venue=venue)
    return query_state(
        golem=agent.golem,
        query=key,
        venue=venue if tool is None else tool.venue,
        params=params,
        ignored=frozenset() if pi_tool is PiTool.QUERY_STATE else _SEARCH_WORDS,
        cursor=wire.check_word(body, "cursor"),
        now=clock.now(),
        api_key_id=agent.key.pk,
        pi_tool=pi_tool,
    )


def _check_is_no_read(agent: Agent, query: str) -> None:
    """Raises InvalidParams where the question is the name of a read: a search for it is never what was meant."""
    word = normalize_key(query.strip())
    if word in agent.shelf.list_words(PiTool.QUERY_GRIMOIRE):
        text = f'{word} is no question but a read; send {{"read": "{word}"}} and what it takes'
        raise InvalidParams(f"query: {text}", fields={"query": text})


def _with_cursor(body: Mapping[str, object], params: Mapping[str, object]) -> dict[str, object]:
    """A query about tools reads its own pages."""
    return {**params, "cursor": body["cursor"]} if body.get("cursor") is not None else dict(params)


def _list_callable(agent: Agent) -> list[str]:
    """The Pi tools that this golem has and this key may call."""
    golem = agent.golem
    defined = define_tools(
        toolset=agent.shelf.shown,
        permit_ttl_seconds=golem.permit_ttl_seconds,
        has_memory=has_memory(golem),
        has_writes=agent.shelf.toolset.has_writes,
    )
    return [str(tool.name) for tool in defined if tool.scope in agent.key.scopes]


def _check_memory(agent: Agent) -> None:
    if not has_memory(agent.golem):
        raise MemoryNotEnabled("memory is switched off for this golem; its owner can switch it on")


def _answer_commit(answer: CommitAnswer, *, is_async: bool) -> Response:
    body = {
        "status": answer.permit["status"],
        "permit": answer.permit,
        "result": answer.result if answer.is_done and answer.result else None,
    }
    if answer.is_done:
        return render_answer(body)
    headers = {"Location": f"{PERMIT_PATH}{answer.permit['permit_id']}", "Retry-After": "1"}
    if is_async:
        headers["Preference-Applied"] = "respond-async"
    return Response(filter_result(body), status=202, headers=headers)


def _without_nulls(body: Mapping[str, object]) -> dict[str, object]:
    """A strict provider sends every parameter of the union, those not meant as null."""
    return {name: value for name, value in body.items() if value is not None}


def _unless_absent(error: GolemError, name: PiTool) -> GolemError:
    """A golem without write tools has no such tool at all; that it could not do one action is beside the point."""
    problem = error.as_problem()
    if problem.get("code") == "UNKNOWN_ACTION" and problem.get("available") == []:
        return UnknownTool(f"this golem has no tool called {str(name)!r}")
    return error


def _unless_writeless(error: PermitNotFound, agent: Agent, name: PiTool) -> GolemError:
    toolset = agent.shelf.toolset
    if toolset.has_writes or (name is PiTool.CANCEL_ACTION and toolset.cancels_announced):
        return error
    return UnknownTool(f"this golem has no tool called {str(name)!r}")
