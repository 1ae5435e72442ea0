"""The parameters a tool took before a breaking change: understood for ninety days, then refused with a pointer.

An agent that was written against the old shape goes on meanwhile. The old shape is only looked at when the present one
does not fit, so what is valid now always means what it means now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final

from tools_app.core.errors import GolemError, InvalidParams, Recovery
from tools_app.toolkit.schema import ToolParams, validate_params

if TYPE_CHECKING:
    from tools_app.toolkit.tooldef import ToolDef

SERVED_FOR: Final = timedelta(days=90)


class SchemaRetired(GolemError):
    """The parameters are those of an earlier version, whose time is over."""

    code = "SCHEMA_RETIRED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The parameters are those of an earlier version"


@dataclass(frozen=True, slots=True)
class OldShape:
    """What a tool took in `schema_version`, until `replaced_on`; `renew` says the same in the shape that came after."""

    schema_version: int
    replaced_on: date
    params_model: type[ToolParams]
    renew: Callable[..., Mapping[str, Any]]

    @property
    def served_until(self) -> datetime:
        """The moment from which it is refused, UTC."""
        return datetime.combine(self.replaced_on, time(), UTC) + SERVED_FOR


def renew_params(*, tool: ToolDef, params: Mapping[str, Any], now: datetime) -> Mapping[str, Any]:
    """`params` in the tool's present shape where they have an earlier one that is still served; else as they are.

    Raises SchemaRetired for a shape whose time is over, with the query that tells the present one.
    """
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


def _fits(model: type[ToolParams], given: dict[str, Any]) -> bool:
    try:
        validate_params(model, given)
    except InvalidParams:
        return False
    return True
