"""Permits as MCP has them: resources that tell a permit's story, and the page where owners decide.

Revision 2026-07-28: a call that needs a person is answered `input_required` with a link (elicitation by `url`); the
client shows it and makes the same call again. Nothing is kept between the two: the permit says how far it is.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol
from urllib.parse import quote

from golem_project.pi.problem_members import ReadOnlyMembers
from tools_app.core.json_types import JsonObject

Answer = tuple[int, JsonObject]
Context = Any  # Any: the library has no types, and is imported where it is used
Ask = Callable[[Context, str], Awaitable[Answer]]
"""Reads a path of the HTTP interface as the caller of a request's context: its status and body."""

FIRST_WITH_ROUNDS: Final = "2026-07-28"
"""The revision from which a result may ask for input; revisions are named by their days."""
URI: Final = "golem://permits/"
APPROVAL: Final = "approval"
_PERMITS: Final = "/api/v1/pi/permits"
_MOST_LISTED: Final = 20
_JSON: Final = "application/json"


class PageParams(Protocol):
    """What a client asks of a list: where it goes on."""

    cursor: str | None


class ResourceParams(Protocol):
    """What a client asks of a resource: its address."""

    uri: object


class CallParams(Protocol):
    """What a client calls: a tool, its arguments, and what its person said since."""

    name: str
    arguments: dict[str, object] | None
    input_responses: object


@dataclass(frozen=True, slots=True)
class _Permit:
    """What a resource and a question tell of a permit."""

    permit_id: str
    action_type: str
    venue: str
    status: str
    missing: list[str]
    page: str | None
    """Where its owners decide, while they are waited for."""

    @classmethod
    def from_json(cls, told: ReadOnlyMembers) -> _Permit:
        """The permit of an answer of the HTTP interface. Raises KeyError for what is none."""
        waits = told.get("waits") or {}
        return cls(
            permit_id=told["permit_id"],
            action_type=told["action_type"],
            venue=told["venue"],
            status=str(told["status"]),
            missing=told["missing"],
            page=waits.get("page"),
        )


def describe(problem: ReadOnlyMembers) -> str:
    """A refusal in one line."""
    return f"{problem.get('code')}: {problem.get('detail')}"


async def ask_person(ask: Ask, ctx: Context, arguments: Mapping[str, object], problem: ReadOnlyMembers) -> object:
    """The result that has a client show its person where owners decide about the permit that `arguments` name; None
    where no owner is waited for, or the client says of itself that it shows no links.
    """
    declared = ctx.session.client_capabilities
    can_show = declared is not None and declared.elicitation is not None and declared.elicitation.url is not None
    permit_id = arguments.get("permit_id")
    if not can_show or ctx.protocol_version < FIRST_WITH_ROUNDS or not isinstance(permit_id, str):
        return None
    status, permit = await ask(ctx, _place(permit_id))
    found = _Permit.from_json(permit) if status == 200 else None
    if found is None or APPROVAL not in found.missing or not found.page:
        return None
    types = import_module("mcp_types")
    told = types.ElicitRequestURLParams(
        message=f"An owner of the golem has to decide. {problem.get('detail', '')}",
        url=f"{ctx.request.url.scheme}://{ctx.request.headers['host']}{found.page}",
    )
    return types.InputRequiredResult(input_requests={APPROVAL: types.ElicitRequest(params=told)})


async def list_resources(ask: Ask, ctx: Context, params: PageParams | None) -> object:
    """The newest permits of the golem. Raises MCPError with the refusal."""
    types = import_module("mcp_types")
    cursor = params.cursor if params is not None else None
    more = f"&cursor={quote(cursor, safe='')}" if cursor else ""
    body = await _read(ask, ctx, f"{_PERMITS}?limit={_MOST_LISTED}{more}")
    resources = [
        types.Resource(
            uri=f"{URI}{each.permit_id}",
            name=f"{each.action_type} at {each.venue}, {each.status.lower()}",
            mime_type=_JSON,
        )
        for each in map(_Permit.from_json, body["permits"])
    ]
    return types.ListResourcesResult(resources=resources, next_cursor=body["next_cursor"])


async def list_templates(ctx: object, params: object) -> object:
    """The one form that addresses of resources have."""
    types = import_module("mcp_types")
    template = types.ResourceTemplate(
        uri_template=f"{URI}{{permit_id}}",
        name="permit",
        description="A permit's story: what was foreseen, who is waited for, what was sent and what became of it.",
        mime_type=_JSON,
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(ask: Ask, ctx: Context, params: ResourceParams) -> object:
    """The permit of a resource's address, as the HTTP interface tells it. Raises MCPError with the refusal."""
    types = import_module("mcp_types")
    uri = str(params.uri)
    if not uri.startswith(URI):
        raise import_module("mcp").MCPError(types.INVALID_PARAMS, f"resources are {URI}<permit_id>", {"uri": uri})
    body = await _read(ask, ctx, _place(uri.removeprefix(URI)))
    text = json.dumps(body, ensure_ascii=False)
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)])


async def _read(ask: Ask, ctx: Context, path: str) -> ReadOnlyMembers:
    status, body = await ask(ctx, path)
    if status != 200:
        raise import_module("mcp").MCPError(import_module("mcp_types").INVALID_PARAMS, describe(body), body)
    return body


def _place(permit_id: str) -> str:
    # Whatever a client calls it, it stays one step of the path.
    return f"{_PERMITS}/{quote(permit_id.replace('/', '_'), safe='')}"
