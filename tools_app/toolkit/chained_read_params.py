"""How a read is called that follows another: its parameters, found in those of the call before and in its answer.

Tools call one thing by several names: what a pool's answer calls `token0` is the `token` that a price asks for. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from tools_app.core.errors import GolemError
from tools_app.toolkit.schema import validate_params
from tools_app.toolkit.tooldef import ToolDef

Spellings = list[dict[str, Any]]  # Any: a value of the ABI's type
"""One call, by each of the ways in which an agent may write it; the first is made."""
FindCalls = Callable[[ToolDef], list[Spellings]]

MOST_CALLS: Final = 2
"""So many calls of one tool follow one answer: both tokens of a pool."""
_DEPTH: Final = 3
_TOKENS: Final = ("token", "token_in", "token0", "token1", "asset", "collateral_asset", "underlying", "token_out")
_POOLS: Final = ("pool", "pool_address", "pool_id")
_ACCOUNTS: Final = ("account", "owner", "wallet_address")
_WORTHS: Final = ("amount_usd", "trade_size_usd", "position_size_usd", "value_usd")
MEANS: Final[Mapping[str, tuple[str, ...]]] = {
    "token": _TOKENS,
    "asset": _TOKENS,
    "token_in": ("token_in", "token", "asset", "token0"),
    "token_out": ("token_out", "token1"),
    "token0": ("token0", "token_in", "token_a"),
    "token1": ("token1", "token_out", "token_b"),
    "collateral_asset": ("collateral_asset", "collateral", "asset"),
    "borrow_asset": ("borrow_asset", "debt_asset"),
    "amount": ("amount", "amount_in"),
    "initial_amount": ("initial_amount", "amount", "amount_in"),
    **dict.fromkeys(_WORTHS, _WORTHS),
    "pool": _POOLS,
    "pool_address": ("pool_address", "pool"),
    **dict.fromkeys((*_ACCOUNTS, "address"), _ACCOUNTS),
    "position_id": ("position_id", "token_id", "nft_id"),
    "token_id": ("token_id", "position_id", "nft_id"),
    "order_hash": ("order_hash", "order_id"),
    "order_id": ("order_id", "order_hash"),
    "bridge_id": ("bridge_id", "transfer_id"),
    "vault": ("vault", "vault_address"),
    "source_chain": ("source_chain", "chain_id", "from_chain"),
    "dest_chain": ("dest_chain", "to_chain"),
    "to": ("to", "router"),
    "data": ("data", "calldata"),
}
"""What a parameter may be called where it is given or answered, the likeliest first."""


def list_from_params(params: Mapping[str, object]) -> FindCalls:
    """Calls by the parameters of the call before alone, as it begins."""
    return partial(_find, params, {})


def list_from_answer(params: Mapping[str, object], answer: object) -> FindCalls:
    """Calls that need something of the answer; those that the parameters alone make are not among them."""
    return partial(_find, params, answer)


def _find(params: Mapping[str, object], answer: object, tool: ToolDef) -> list[Spellings]:
    fields = tool.params_model.model_fields
    shared = {name: value for name, value in params.items() if name in fields and value is not None}
    missing = [name for name, field in fields.items() if field.is_required() and name not in shared]
    for name in list(missing):
        given = next((params[each] for each in MEANS.get(name, ()) if params.get(each) is not None), None)
        if given is not None:
            shared[name] = given
            missing.remove(name)
    if not answer:
        calls = [[shared]] if not missing else []
    elif missing:
        calls = _fill_at_once(shared, missing, set(fields), answer) or _fill(shared, missing, answer)
    else:
        calls = []
    return [kept for each in calls if (kept := [one for one in each if _is_valid(tool, one)])][:MOST_CALLS]


def _fill_at_once(shared: dict[str, object], missing: list[str], fields: set[str], answer: object) -> list[Spellings]:
    """A call that the answer writes whole, such as a router's, with what may be left out; none where it writes none."""
    if len(missing) < 2:
        return []
    for node in _walk_all(answer, _DEPTH):
        if set(missing) <= node.keys():
            told = {name: value for name, value in node.items() if name in fields and isinstance(value, str)}
            return [[{**shared, **told}]]
    return []


def _fill(shared: dict[str, Any], missing: list[str], answer: Any) -> list[Spellings]:  # Any: a value of the ABI's type
    """A call for each value of the first that is missing; of the others the answer names one."""
    first, *others = missing
    rest: dict[str, object] = {}
    for name in others:
        found = next(_list_values(answer, MEANS.get(name, (name,))), None)
        if found is None:
            return []
        rest[name] = found[0]
    calls: list[Spellings] = []
    for values in _list_values(answer, MEANS.get(first, (first,))):
        spelled = [{**shared, **rest, first: value} for value in values]
        if spelled not in calls:
            calls.append(spelled)
    return calls


def _list_values(answer: object, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:  # Any: a value of the ABI's type
    """What the answer has under one of `names`, by each of its spellings, the likeliest name first."""
    for name in names:
        for member in _walk(answer, name, _DEPTH):
            if isinstance(member, Mapping) and {"symbol", "address"} <= set(member):
                # What a stranger's contract calls itself is no name to ask by.
                spelled = (member["address"],) if member.get("untrusted") else (member["symbol"], member["address"])
                yield spelled
            elif isinstance(member, str) and member:
                yield (member,)


def _walk(node: object, name: str, depth: int) -> Iterator[object]:
    if isinstance(node, Mapping):
        if name in node:
            yield node[name]
        children = list(node.values())
    else:
        children = list(node) if isinstance(node, list | tuple) else []
    if depth:
        for child in children:
            yield from _walk(child, name, depth - 1)


def _walk_all(node: object, depth: int) -> Iterator[Mapping[str, object]]:
    if isinstance(node, Mapping):
        yield node
    if depth:
        for child in node.values() if isinstance(node, Mapping) else node if isinstance(node, list | tuple) else ():
            yield from _walk_all(child, depth - 1)


def _is_valid(tool: ToolDef, params: dict[str, object]) -> bool:
    try:
        validate_params(tool.params_model, params)
    except GolemError:
        return False
    return True
