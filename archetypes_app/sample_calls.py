"""Makes the first calls that a key may send, as agents say them: small, of the golem's own tools and its base asset."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from archetypes_app.golem_intents import INTENTS, find_intent
from archetypes_app.models import ApiKey, Golem
from archetypes_app.models.api_key import Scope
from archetypes_app.toolset import resolve_toolset
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.tooldef import ToolDef, WriteTool
from tools_app.toolkit.views import TokenMeta
from tools_app.wording.address_names import list_tokens

PERMIT_HERE: Final = "PERMIT_ID"
"""Stands in a sample call where the permit of the preview's answer belongs."""
_FIRST: Final = tuple(each.first for each in INTENTS.values() if each.first)
_FAR_BELOW: Final = ("0.00000001", "0.000001")
"""Prices under those of every pair: a sample of liquidity takes its base asset alone, and waits."""


def find_first_action(key: ApiKey) -> dict[str, str] | None:
    """A small action that this very key may preview now; None where it may preview none."""
    golem = key.golem
    if Scope.PREVIEW not in key.scopes or not golem.address:
        return None
    writes = [tool for tool in resolve_toolset(golem) if isinstance(tool, WriteTool)]
    for word in dict.fromkeys((find_intent(golem).first, *_FIRST)):
        for tool in writes:
            if tool.key == word and tool.supports_chain(golem.home_chain_id):
                given = _fill(tool, golem)
                if given is not None:
                    return {"action_type": word, "venue": str(tool.venue), **given}
    return None


def find_coin(chain_id: int) -> TokenMeta | None:
    """The token that wraps a chain's coin, where it is registered."""
    network = KNOWN_NETWORKS.get(chain_id)
    wrapped = f"W{network.native_symbol}" if network is not None else ""
    return next((each for each in list_tokens(chain_id) if each.symbol == wrapped), None)


def find_base(golem: Golem) -> TokenMeta | None:
    """The token that a golem measures itself in, its wrapped coin for the coin; None where nobody registered it."""
    named = next((each for each in list_tokens(golem.home_chain_id) if each.symbol == golem.base_asset), None)
    coin = find_coin(golem.home_chain_id)
    return named or (coin if coin is not None and coin.symbol == f"W{golem.base_asset}" else None)


def find_other(golem: Golem) -> TokenMeta | None:
    """What it would swap its base asset for: the wrapped coin, or a token of six decimals where it is that."""
    base, coin = find_base(golem), find_coin(golem.home_chain_id)
    if base is None or coin is None or base.address != coin.address:
        return coin
    return next((each for each in list_tokens(golem.home_chain_id) if each.decimals == 6), None)


def _fill(tool: WriteTool, golem: Golem) -> dict[str, str] | None:
    base, other = find_base(golem), find_other(golem)
    if base is None:
        return None
    amount = str(10**base.decimals if base.decimals <= 6 else 10**base.decimals // 1_000)
    values: dict[str, Callable[[], str | None]] = {
        "amount": lambda: amount,
        "asset": lambda: base.symbol,
        "token_in": lambda: base.symbol,
        "token_out": lambda: other.symbol if other else None,
        "token0": lambda: other.symbol if other else None,
        "token1": lambda: base.symbol,
        "amount1": lambda: amount,
        "price_lower": lambda: _FAR_BELOW[0],
        "price_upper": lambda: _FAR_BELOW[1],
        "vault": lambda: _find_place(tool, golem.home_chain_id),
    }
    asked = list(tool.schema.get("required", ()))
    if "price_lower" in asked and "amount1" in tool.schema["properties"]:
        asked.append("amount1")
    given: dict[str, str] = {}
    for name in asked:
        value = values[name]() if name in values else None
        if value is None:
            return None
        given[name] = value
    return given


def _find_place(tool: ToolDef, chain_id: int) -> str | None:
    """The first contract of its protocol that holds what is put there."""
    for protocol in SHELF.on(chain_id):
        if protocol.has_module(tool.handler.__module__):
            for contract in protocol.contracts:
                address = protocol.address(chain_id, contract.key)
                if contract.is_place and address is not None:
                    return address
    return None


def list_examples(key: ApiKey) -> tuple[tuple[str, str], ...]:
    """Path and JSON body (empty for a GET) of calls that this very key may make now, the manifest first."""
    examples = [("/api/v1/pi/manifest", "")]
    first = find_first_action(key)
    if first is not None:
        examples.append(("/api/v1/pi/preview_action", json.dumps(first)))
    elif Scope.READ in key.scopes:
        examples.append(("/api/v1/pi/query_state", json.dumps({"query": "limits"})))
    return tuple(examples)


def find_commit(key: ApiKey) -> tuple[str, str] | None:
    """Path and JSON body of the call that carries out what was previewed; None where this key may not or has nothing.

    The number of the permit is the answer's to say, so the call names what belongs there.
    """
    if Scope.COMMIT not in key.scopes or find_first_action(key) is None:
        return None
    return "/api/v1/pi/commit_action", json.dumps({"permit_id": PERMIT_HERE})
