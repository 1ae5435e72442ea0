"""Permits as MCP has them: resources that tell a permit's story, and the page where owners decide.

Revision 2026-07-28: a call that needs a person is answered `input_required` with a link (elicitation by `url`); the
client shows it and makes the same call again. Nothing is kept between the two: the permit says how far it is.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any, Final
from urllib.parse import quote

Ask = Callable[[Any, str], Awaitable[tuple[int, dict[str, Any]]]]
"""Reads a path of the HTTP interface as the caller of a request's context: its status and body."""

FIRST_WITH_ROUNDS: Final = "2026-07-28"
"""The revision from which a result may ask for input; revisions are named by their days."""
URI: Final = "golem://permits/"
APPROVAL: Final = "approval"
_PERMITS: Final = "/api/v1/pi/permits"
_MOST_LISTED: Final = 20
_JSON: Final = "application/json"


def describe(problem: Mapping[str, object]) -> str:
    """A refusal in one line."""
    return f"{problem.get('code')}: {problem.get('detail')}"


async def ask_person(ask: Ask, ctx: Any, arguments: Mapping[str, Any], problem: Mapping[str, Any]) -> object:
    """The result that has a client show its person where owners decide about the permit that `arguments` name; None
    where no owner is waited for, or the client says of itself that it shows no links.
    """
    declared = ctx.session.client_capabilities
    can_show = declared is not None and declared.elicitation is not None and declared.elicitation.url is not None
    permit_id = arguments.get("permit_id")
    if not can_show or ctx.protocol_version < FIRST_WITH_ROUNDS or not isinstance(permit_id, str):
        return None
    status, permit = await ask(ctx, _place(permit_id))
    page = (permit.get("waits") or {}).get("page") if status == 200 and APPROVAL in permit["missing"] else None
    if not page:
        return None
    types = import_module("mcp_types")
    told = types.ElicitRequestURLParams(
        message=f"An owner of the golem has to decide. {problem.get('detail', '')}",
        url=f"{ctx.request.url.scheme}://{ctx.request.headers['host']}{page}",
    )
    return types.InputRequiredResult(input_requests={APPROVAL: types.ElicitRequest(params=told)})


async def list_resources(ask: Ask, ctx: object, params: Any) -> object:
    """The newest permits of the golem. Raises MCPError with the refusal."""
    types = import_module("mcp_types")
    cursor = params.cursor if params is not None else None
    more = f"&cursor={quote(cursor, safe='')}" if cursor else ""
    body = await _read(ask, ctx, f"{_PERMITS}?limit={_MOST_LISTED}{more}")
    resources = [
        types.Resource(
            uri=f"{URI}{each['permit_id']}",
            name=f"{each['action_type']} at {each['venue']}, {str(each['status']).lower()}",
            mime_type=_JSON,
        )
        for each in body["permits"]
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


async def read_resource(ask: Ask, ctx: object, params: Any) -> object:
    """The permit of a resource's address, as the HTTP interface tells it. Raises MCPError with the refusal."""
    types = import_module("mcp_types")
    uri = str(params.uri)
    if not uri.startswith(URI):
        raise import_module("mcp").MCPError(types.INVALID_PARAMS, f"resources are {URI}<permit_id>", {"uri": uri})
    body = await _read(ask, ctx, _place(uri.removeprefix(URI)))
    text = json.dumps(body, ensure_ascii=False)
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)])


async def _read(ask: Ask, ctx: object, path: str) -> dict[str, Any]:
    status, body = await ask(ctx, path)
    if status != 200:
        raise import_module("mcp").MCPError(import_module("mcp_types").INVALID_PARAMS, describe(body), body)
    return body


def _place(permit_id: str) -> str:
    # Whatever a client calls it, it stays one step of the path.
    return f"{_PERMITS}/{quote(permit_id.replace('/', '_'), safe='')}"
