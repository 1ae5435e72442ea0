"""What a call of a tool is refused for by what the tool declares alone: no case says it once more.

The published schema of a parameter tells what it is never; an amount is never nothing where it is positive, and a tool
is on no chain but its own. Quick tests hold every tool of the registry to all of it (`tests/tools_app`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from jsonschema import Draft202012Validator

from tools_app.chain.tokens import TokenNotFound
from tools_app.core.errors import InvalidParams
from tools_app.runner import ChainNotSupported
from tools_app.toolkit.tooldef import ToolDef

NOWHERE: Final = 999_999
"""A chain that nothing is on."""
NEVER: Final = "no such thing?!"
"""Text that fits no pattern and is no choice of any tool."""
MAY_BE_NOTHING: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("min_lp_tokens", "min_usdc_out", "limit_amount_out"), "a bound: the tool's own holds where it is lower"
    ),
    **dict.fromkeys(("amount0", "amount1"), "of a range beside the price one token alone goes in"),
    "collateral_amount": "a loan on what is pledged already",
    "eth_amount": "tokens alone are asked for",
    "gas_reserve": "nothing is kept back",
    "value": "a call that sends no coin",
}
"""Amounts that may be nothing, each with what it means."""
NO_TOKEN: Final = "NOTOKEN"
_TOKEN: Final = r"^(0x[0-9a-fA-F]{40}|[A-Za-z0-9.+\-]{1,20})$"
_AMOUNTS: Final = ("^[0-9]{1,78}$", "^([0-9]{1,78}|max)$")

Refusal: TypeAlias = tuple[Mapping[str, Any], str]


def list_declared(tool: ToolDef) -> Iterator[Refusal]:
    """One refusal for each thing that a tool declares of its parameters."""
    for name, schema in tool.schema["properties"].items():
        for form in schema.get("anyOf", [schema]):
            if "pattern" in form or "enum" in form:
                yield {name: NEVER}, InvalidParams.code
            if form.get("minItems", 0):
                yield {name: []}, InvalidParams.code
            if "minimum" in form:
                yield {name: form["minimum"] - 1}, InvalidParams.code
            if "maximum" in form:
                yield {name: form["maximum"] + 1}, InvalidParams.code
        if is_positive(name, schema):
            yield {name: "0"}, InvalidParams.code
    if has_chains(tool):
        yield {"chain_id": NOWHERE}, ChainNotSupported.code


def list_unknown_tokens(tool: ToolDef, params: Mapping[str, Any]) -> Iterator[Refusal]:
    """A token that nobody knows, for each that a call with these parameters names, and for the only one it may name."""
    tokens = [name for name, schema in tool.schema["properties"].items() if _is_token(schema)]
    for name in tokens:
        if name in params or len(tokens) == 1:
            yield {name: NO_TOKEN}, TokenNotFound.code


def _is_token(schema: Mapping[str, Any]) -> bool:
    return any(form.get("pattern") == _TOKEN for form in schema.get("anyOf", [schema]))


def is_declared(tool: ToolDef, changes: Mapping[str, Any], code: str) -> bool:
    """Whether a refusal follows from what the tool declares of the one parameter that is changed."""
    if len(changes) != 1:
        return False
    [(name, value)] = changes.items()
    if code == ChainNotSupported.code:
        return name == "chain_id" and has_chains(tool) and not tool.supports_chain(value)
    schema = tool.schema["properties"].get(name)
    if code != InvalidParams.code or schema is None:
        return False
    fits = Draft202012Validator({**schema, "$defs": tool.schema.get("$defs", {})}).is_valid(value)
    return not fits or (value == "0" and is_positive(name, schema))


def has_chains(tool: ToolDef) -> bool:
    """Whether a caller chooses among the chains of a tool."""
    return tool.supported_chains is not None and "chain_id" in tool.schema["properties"]


def is_positive(name: str, schema: Mapping[str, Any]) -> bool:
    """Whether a parameter is an amount in base units that is never nothing: by its published shape, and not by how the
    code refuses it.
    """
    forms = schema.get("anyOf", [schema])
    return name not in MAY_BE_NOTHING and any(form.get("pattern") in _AMOUNTS for form in forms)
