"""The parameters a tool took before a breaking change: understood for ninety days, then refused with a pointer.

An agent that was written against the old shape goes on meanwhile. The old shape is only looked at when the present one
does not fit, so what is valid now always means what it means now.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from tools_app.core.errors import GolemError, InvalidParams, Recovery
from tools_app.toolkit.parameter_synonyms import use_own_words
from tools_app.toolkit.schema import ToolParams, validate_params
from tools_app.toolkit.tooldef import ToolDef


class SchemaRetired(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The parameters are those of an earlier version"
):
    """The parameters are those of an earlier version, whose time is over."""


def renew_params(*, tool: ToolDef, params: Mapping[str, object], now: datetime) -> Mapping[str, object]:
    """`params` in the tool's present shape where they have an earlier one that is still served; else as they are, each
    under the tool's own name for it.

    Raises SchemaRetired for a shape whose time is over, with the query that tells the present one.
    """
    params = use_own_words(tool.params_model.model_fields, params)
    given = {name: value for name, value in params.items() if value is not None}
    if not tool.old_shapes or _fits(tool.params_model, given):
        return params
    for shape in tool.old_shapes:
        if not _fits(shape.params_model, given):
            continue
        if now >= shape.served_until:
            raise SchemaRetired(
                f"{tool.name} has not taken this since {shape.served_until.date()}; it is version"
                f" {tool.schema_version} now",
                schema_version=tool.schema_version,
                served_until=shape.served_until.isoformat(),
                next_call={"tool": "query_state", "arguments": {"query": "describe_tool", "tools": [tool.name]}},
            )
        return shape.renew(tool, **validate_params(shape.params_model, given))
    return params


def _fits(model: type[ToolParams], given: dict[str, object]) -> bool:
    try:
        validate_params(model, given)
    except InvalidParams:
        return False
    return True
