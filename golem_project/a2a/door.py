"""The A2A door in front of Django: admits a caller, reads the body strictly, and hands both to the official SDK.

/a2a/<golem>/ speaks JSON-RPC, /a2a/<golem>/rest/ HTTP+JSON; each in 1.0 and 0.3. Whatever else is asked of it goes on
to Django: cards, keys, challenges.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from a2a.compat.v0_3.versions import is_legacy_version
from a2a.server.context import ServerCallContext
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.server.routes.jsonrpc_dispatcher import JSONRPC03Adapter, JsonRpcDispatcher
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.types import a2a_pb2 as wire
from a2a.utils.constants import PROTOCOL_VERSION_0_3, VERSION_HEADER
from a2a.utils.errors import InvalidParamsError
from a2a.utils.proto_utils import validate_proto_required_fields
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from google.protobuf.json_format import ParseDict, ParseError
from pydantic import ValidationError
from starlette.requests import Request
from starlette.routing import Mount, Router

from golem_project.a2a.callers import A2ACaller, identify_caller
from golem_project.a2a.errors import PartNotTaken
from golem_project.a2a.message_parsing import check_parts, read_body
from golem_project.a2a.request_handler import BASE_URL, CALLER, IS_LEGACY, GolemRequestHandler
from golem_project.a2a.task_streams import TaskStreams
from golem_project.front.shutdown_responses import ENDS_WITH_SERVER
from golem_project.middleware.request_id import set_request_id
from golem_project.pi.errors import BadRequest, BodyNotJson, BodyTooLarge, UnsupportedContentType
from golem_project.pi.exception_handler import describe_problem
from golem_project.pi.problem_members import Problem
from golem_project.runtime.asgi_types import AskedRequest, goes_on, read_piece, read_request, read_start
from golem_project.stream.in_thread import run_blocking
from golem_project.stream.sse import EventStream, send_problem
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored

_PATH = re.compile(r"/a2a/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(/?|/rest(/.*))")
_STATE = "a2a"
_CONTENT_TYPES = ("application/json", "application/a2a+json")
_ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
_NOT_JSON, _INVALID_REQUEST, _INVALID_PARAMS = -32700, -32600, -32602
# google.rpc.Code of an HTTP status, where it is not one of the two general ones.
_RPC_STATUS = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}

_NO_STATE = "status: there is no such state of a task"
_NO_HEADERS: Mapping[str, str] = {}

Scope = MutableMapping[str, Any]  # Any: ASGI's messages are of no fixed type
Send = Callable[[dict[str, Any]], Awaitable[None]]  # Any: ASGI's messages are of no fixed type
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]  # Any: ASGI's messages are of no fixed type
App = Callable[[Any, Any, Any], Awaitable[None]]  # Any: ASGI's messages are of no fixed type


@dataclass(frozen=True, slots=True)
class _ToldCall:
    """A call of JSON-RPC before anything of it is checked."""

    jsonrpc: object = None
    method: object = None
    id: object = None
    params: object = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _ToldFilter:
    status: object = None


class A2ADoor:
    """An ASGI application around another: serves the protocol itself and hands everything else on."""

    def __init__(self, inner: App, *, events: EventStream) -> None:
        self._inner, self._events = inner, events
        handler = GolemRequestHandler(TaskStreams(events))
        builder = _ContextBuilder()
        self._json_rpc: App = Router(
            create_jsonrpc_routes(handler, "/", context_builder=builder, enable_v0_3_compat=True)
        )
        rest = create_rest_routes(handler, context_builder=builder, enable_v0_3_compat=True)
        # The SDK's mount for tenants would take every path; here a golem's address says whose it is.
        self._rest: App = Router([route for route in rest if not isinstance(route, Mount)])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = read_request(scope)
        match = _PATH.fullmatch(asked.path) if asked is not None else None
        if asked is None or match is None or (match.group(3) is None and asked.method != "POST"):
            await self._inner(scope, receive, send)
        else:
            await self._serve(scope, receive, send, asked, golem_id=UUID(match.group(1)), rest_path=match.group(3))

    async def _serve(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        asked: AskedRequest,
        *,
        golem_id: UUID,
        rest_path: str | None,
    ) -> None:
        # Streams of tasks are among the event streams of this process.
        state = scope.setdefault("state", {})
        state[ENDS_WITH_SERVER] = self._events.end_all
        request_id = uuid.uuid4().hex
        set_request_id(request_id)
        sender = _with_headers(send, request_id=request_id)
        try:
            request = ASGIRequest(scope, BytesIO())
            base_url = _read_base_url(request)
            caller = await run_blocking(partial(_admit, request, golem_id))
            raw = await _read_raw(receive)
            if asked.method == "POST":
                _check_type(request)
        except Exception as error:  # noqa: BLE001  (rendered as every error of the API)
            if rest_path is None:
                await send_problem(error, send, request_id=request_id, instance=asked.path)
            else:
                await _send_rest_error(error, sender, instance=asked.path, request_id=request_id)
            return
        refusal: GolemError | dict[str, object] | None = _check_query(asked) if rest_path == "/tasks" else None
        if refusal is None and (raw or rest_path is None):
            refusal = _check_body(raw, is_rest=rest_path is not None)
        if isinstance(refusal, GolemError):
            await _send_rest_error(refusal, sender, instance=asked.path, request_id=request_id)
            return
        if refusal is not None:
            await _send_json(refusal, sender)
            return
        path = rest_path or "/"
        inner = {
            **scope,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "state": {**state, _STATE: (caller, base_url)},
        }
        await _answer_whole(self._rest if rest_path else self._json_rpc, inner, _replay(raw, receive), sender)


class _ContextBuilder(DefaultServerCallContextBuilder):
    """Hands the admitted caller to the request handler."""

    def build(self, request: Request) -> ServerCallContext:
        context = super().build(request)
        caller, base_url = request.scope["state"][_STATE]
        version = request.headers.get(VERSION_HEADER) or PROTOCOL_VERSION_0_3
        context.state.update({CALLER: caller, BASE_URL: base_url, IS_LEGACY: is_legacy_version(version)})
        # Nothing of ours looks at them, and a token is among them.
        context.state["headers"] = {VERSION_HEADER: request.headers.get(VERSION_HEADER, "")}
        return context


def _read_base_url(request: ASGIRequest) -> str:
    try:
        return f"{request.scheme}://{request.get_host()}"
    except DisallowedHost:
        raise BadRequest("this host name is not served here") from None


def _admit(request: ASGIRequest, golem_id: UUID) -> A2ACaller:
    return identify_caller(request, golem_id=golem_id, now=clock.now())


def _check_type(request: ASGIRequest) -> None:
    # The protocol's verbs without a body, such as tasks/<id>:cancel, declare nothing.
    declared = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if declared and declared not in _CONTENT_TYPES:
        raise UnsupportedContentType("declare the body as application/json")


async def _read_raw(receive: Receive) -> bytes:
    most = settings.GOLEM_A2A_MOST_BODY_BYTES
    pieces, size = [], 0
    while True:
        piece = read_piece(await receive())
        if piece is None:
            raise BadRequest("the body ended early")
        pieces.append(piece.body)
        size += len(pieces[-1])
        if size > most:
            raise BodyTooLarge(f"a body is at most {most} bytes", limit_bytes=most)
        if not piece.more_body:
            return b"".join(pieces)


def _check_body(raw: bytes, *, is_rest: bool) -> GolemError | dict[str, object] | None:
    """What is wrong with a body before anybody acts on it: a refusal, or a JSON-RPC error; None where it is fine."""
    try:
        body = read_body(raw)
        if is_rest:
            check_parts(body)
    except GolemError as error:
        if is_rest:
            return error
        code = _NOT_JSON if isinstance(error, BodyNotJson) else _INVALID_REQUEST
        return _rpc_error(None, code, f"{error.code}: {error.detail}")
    return None if is_rest else _check_params(body)


def _check_query(asked: AskedRequest) -> GolemError | None:
    match parse_qs(asked.query_string.decode("latin-1")):
        case {"status": states} if not all(map(_is_state, states)):
            return BadRequest(_NO_STATE)
    return None


def _is_state(value: object) -> bool:
    """The SDK leaves out a state that is none, and would list every task."""
    return value is None or str(value) in {*wire.TaskState.keys(), *map(str, wire.TaskState.values())}


def _check_params(body: JsonObject) -> dict[str, object] | None:
    """The SDK answers wrong parameters of 0.3 as a wrong request; they are -32602 in both versions."""
    call = read_stored(_ToldCall, body)
    method, request_id, params = call.method, call.id, call.params
    if call.jsonrpc != "2.0" or not isinstance(method, str) or isinstance(request_id, bool):
        return None
    if request_id is not None and not isinstance(request_id, str | int):
        return None
    legacy: Any = JSONRPC03Adapter.METHOD_TO_MODEL.get(method)  # Any: JSON of a request or answer
    current: Any = JsonRpcDispatcher.METHOD_TO_MODEL.get(method)  # Any: JSON of a request or answer
    try:
        if legacy is not None:
            legacy.model_validate(body)
        elif current is not None and isinstance(params, dict):
            validate_proto_required_fields(ParseDict(params, current(), ignore_unknown_fields=True))
            if method == "ListTasks" and not _is_state(read_stored(_ToldFilter, params).status):
                return _rpc_error(request_id, _INVALID_PARAMS, _NO_STATE)
        elif current is not None:
            return _rpc_error(request_id, _INVALID_PARAMS, "params must be an object")
    except ValidationError as error:
        places = sorted({".".join(str(step) for step in found["loc"]) for found in error.errors()})
        return _rpc_error(request_id, _INVALID_PARAMS, f"wrong or missing: {', '.join(places[:5])[:300]}")
    except InvalidParamsError as error:
        return _rpc_error(request_id, _INVALID_PARAMS, f"{error.message}: {str(error.data)[:300]}")
    except ParseError as error:
        return _rpc_error(request_id, _INVALID_PARAMS, f"malformed: {str(error)[:200]}")
    return None


def _rpc_error(request_id: str | int | None, code: int, message: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


async def _send_rest_error(error: Exception, send: Send, *, instance: str, request_id: str) -> None:
    """An error of the protocol over HTTP (section 11.6: `error` as AIP-193 with ErrorInfo), our problem beside it."""
    problem, headers = describe_problem(error, instance=instance)
    told_problem = Problem(problem)
    code, status = told_problem.code, told_problem.status
    reason = "CONTENT_TYPE_NOT_SUPPORTED" if isinstance(error, PartNotTaken) else code
    info = {"@type": _ERROR_INFO, "reason": reason, "domain": "a2a-protocol.org", "metadata": {"code": code}}
    name = _RPC_STATUS.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
    told = {"code": status, "status": name, "message": told_problem.detail, "details": [info]}
    document = {**problem, "request_id": request_id, "error": told}
    await _send_json(document, send, status=status, headers=headers)


def _replay(raw: bytes, receive: Receive) -> Receive:
    is_given = False

    async def give() -> MutableMapping[str, Any]:  # Any: JSON of a request or answer
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": raw, "more_body": False}

    return give


def _with_headers(send: Send, *, request_id: str) -> Send:
    ours = [(b"x-request-id", request_id.encode()), (b"x-content-type-options", b"nosniff")]

    async def pass_on(message: JsonObject) -> None:
        begun = read_start(message)
        if begun is not None:
            names = {name.lower() for name, _ in begun.headers}
            extra = [] if b"cache-control" in names else [(b"cache-control", b"no-store")]
            message = {**message, "headers": [*begun.headers, *ours, *extra]}
        await send(message)

    return pass_on


async def _answer_whole(app: App, scope: Scope, receive: Receive, send: Send) -> None:
    """The SDK's streams break off when their server is asked to stop; what was told stays an answer with an end."""
    is_open = False

    async def note(message: JsonObject) -> None:
        nonlocal is_open
        is_open = goes_on(message)
        await send(message)

    await app(scope, receive, note)
    if is_open:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_json(
    document: dict[str, object], send: Send, *, status: int = 200, headers: Mapping[str, str] = _NO_HEADERS
) -> None:
    body = json.dumps(document).encode()
    named = {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}
    encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
