"""One call of a written tool: a GET through the guarded client, or reads of the product one after the other.

What comes back is data from outside, bounded and marked. A composition reads what its golem may read, through the same
door as its agent, and only what is built in: no tool of an owner calls another, so there is no circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import quote, urlencode
from uuid import UUID

from tools_app.core import guarded_http
from tools_app.core.bounded_parsing import OutsideTextRefused, read_json
from tools_app.core.errors import BudgetExceeded, GolemError, InvalidParams, Recovery
from tools_app.core.json_types import JsonObject
from tools_app.core.taint import DataSink, Tainted, TaintLabel, clean_for
from tools_app.sandbox.definition import Definition
from tools_app.sandbox.owner_toml_definition import ComposedRead, HttpRead, fill_path, read_tool, split_reference
from tools_app.sandbox.plain_values import write_plain, write_without_fractions
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.result import encode_result

MOST_ANSWER_BYTES: Final = 64 * 1024
_LEAST_SECONDS: Final = 0.05
_OK: Final = 200


class WrittenToolFailed(
    GolemError,
    status=502,
    recovery=Recovery.WAIT,
    title="What the tool asks did not answer",
    cleared_by="the address answers as the tool's author expects",
):
    """The address a written tool asks did not answer, or not with JSON of a bounded size."""


class WrittenToolAddressRefused(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The tool asks an address this server may not ask"
):
    """The address of a written tool leads where no request of this server may go."""


@dataclass(frozen=True, slots=True)
class OutsideReads:
    """What this server lets written tools ask: private addresses only where its operator says so."""

    allows_private: bool


class OwnReads(Protocol):
    """A read of the product for a golem, as its agent makes it; an owner's own tools are not among them."""

    def __call__(
        self,
        *,
        golem_id: UUID,
        query: str,
        venue: str,
        params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    ) -> dict[str, object]:
        """The answer's data. Raises GolemError."""
        ...


def call_written(
    *,
    ctx: ReadContext,
    definition: Definition,
    params: Mapping[str, object],
) -> JsonObject:
    """The answer as data from outside. Raises WrittenToolFailed, WrittenToolAddressRefused, what a read raises."""
    given = {name: write_plain(value) for name, value in params.items() if value is not None}
    tool = read_tool(definition)
    answer = _compose(ctx, tool.compose or (), given) if tool.http is None else _ask(ctx, tool.http, given)
    told = encode_result(write_without_fractions(answer))
    return {
        "tool": definition.name,
        "definition_hash": definition.hash,
        "answer": clean_for(DataSink.MODEL, Tainted(told, TaintLabel.UNTRUSTED_EXTERNAL)),
    }


def _ask(
    ctx: ReadContext,
    http: HttpRead,
    given: Mapping[str, Any],  # Any: JSON that a module or host tells
) -> Any:  # Any: JSON that a module or host tells
    url = fill_path(http.url, {name: _quote_segment(name, value) for name, value in given.items()})
    wanted = {name: _fill(value, given) for name, value in http.query.items()}
    query = urlencode({name: value for name, value in wanted.items() if value is not None})
    seconds = ctx.deadline.remaining_ms() / 1000
    if seconds < _LEAST_SECONDS:
        raise BudgetExceeded("nothing is left of the tool's time")
    allows_private = ctx.service(OutsideReads).allows_private
    try:
        target = guarded_http.resolve(
            f"{url}?{query}" if query else url,
            allows_private=allows_private,
            seconds=min(seconds, guarded_http.LOOK_UP_SECONDS),
        )
        answer = guarded_http.exchange(
            "GET",
            target,
            headers={"Accept": "application/json", "Accept-Encoding": "identity", **http.headers},
            body=None,
            seconds=ctx.deadline.remaining_ms() / 1000,
            most_bytes=MOST_ANSWER_BYTES + 1,
        )
    except guarded_http.AddressRefused as refusal:
        raise WrittenToolAddressRefused(str(refusal)) from None
    except guarded_http.ExchangeFailed as failure:
        raise WrittenToolFailed(str(failure)) from None
    if answer.status != _OK:
        raise WrittenToolFailed(f"it answered {answer.status}", status_of_answer=answer.status)
    try:
        return read_json(answer.body, most_bytes=MOST_ANSWER_BYTES)
    except OutsideTextRefused as refusal:
        raise WrittenToolFailed(f"its answer cannot be read: {refusal}") from None


def _quote_segment(name: str, value: Any) -> str:  # Any: JSON that a module or host tells
    text = _spell(value)
    if text in ("", ".", ".."):
        raise InvalidParams(f"{name} cannot be a part of a path", fields={name: "a name"})
    return quote(text, safe="")


def _spell(value: Any) -> str:  # Any: JSON that a module or host tells
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _fill(value: str, given: Mapping[str, Any]) -> str | None:  # Any: JSON that a module or host tells
    """The text of a query value; None for a parameter that was not given."""
    reference = split_reference(value)
    if reference is None:
        return value
    return _spell(given[reference[0]]) if reference[0] in given else None


def _compose(
    ctx: ReadContext,
    reads: Sequence[ComposedRead],
    given: Mapping[str, Any],  # Any: JSON that a module or host tells
) -> JsonObject:
    read_for = ctx.service(OwnReads)  # type: ignore[type-abstract]
    answers: JsonObject = {}
    for read in reads:
        if ctx.deadline.is_over:
            raise BudgetExceeded(f"nothing is left of the tool's time before its read {read.id!r}")
        wanted = {name: _take(name, value, given, answers) for name, value in read.params.items()}
        params = {name: value for name, value in wanted.items() if value is not None}
        answers[read.id] = read_for(golem_id=ctx.golem.id, query=read.query, venue=read.venue, params=params)
    return answers


def _take(
    name: str,
    value: Any,  # Any: JSON that a module or host tells
    given: Mapping[str, Any],  # Any: JSON that a module or host tells
    answers: Mapping[str, Any],  # Any: JSON that a module or host tells
) -> Any:  # Any: JSON that a module or host tells
    """The value a read is given: what was written, a parameter, or something of an earlier answer. None: not given."""
    reference = split_reference(value)
    if reference is None:
        return value
    first, path = reference
    if first not in answers:
        return given.get(first)
    found: object = answers[first]
    for step in path:
        if isinstance(found, Mapping) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            raise InvalidParams(f"the answer of {first!r} has no {'.'.join(path)}", fields={name: "not there"})
    if not isinstance(found, str | int | bool):
        raise InvalidParams(f"{'.'.join((first, *path))} is no single value", fields={name: "a single value"})
    return found
