"""search_context: what bears on a question now, from the golem's documents, its state and the chain's prices.

Nothing is locked and nothing changes. A price that cannot be read is a warning, not a failure: the documents and the
state are worth having without it.
"""

from __future__ import annotations

import re
from datetime import datetime
from uuid import UUID

from archetypes_app.models import Golem
from memory_app.actions.search_context import search_context
from permits_app.actions.query import describe_golem, describe_limits, describe_open_permits
from permits_app.safety.hooks.result_filter import filter_result
from tools_app import runner
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_units
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import TokenMeta

_PRICE_BUDGET_MS = 3_000
_MOST_PRICES = 8
_WORD = re.compile(r"0x[0-9a-fA-F]{40}|[A-Za-z0-9.+\-]{1,20}")


def gather_context(
    *, golem: Golem, query: str, limit: int, now: datetime, api_key_id: UUID | None = None
) -> JsonObject:
    """Sections of PLAYBOOK and STRATEGY, the golem's state, prices of the registered tokens `query` names.

    Raises InvalidParams.
    """
    found = search_context(golem_id=golem.pk, query=query, limit=limit, now=now)
    prices, warnings = _read_prices(golem, query, now)
    state = {
        "golem": describe_golem(golem, api_key_id, now),
        "limits": describe_limits(golem, api_key_id, now),
        "open_permits": describe_open_permits(golem, api_key_id, now)["permits"],
    }
    answer: dict[str, object] = filter_result({**found, "state": state, "prices": prices, "warnings": warnings})
    return answer


def _read_prices(golem: Golem, query: str, now: datetime) -> tuple[list[dict[str, object]], list[str]]:
    words = {word.strip(".-+").lower() for word in _WORD.findall(query)}
    try:
        chain = runner.open_reader(golem.home_chain_id, now=now, deadline=Deadline.after_ms(_PRICE_BUDGET_MS))
        known = (chain.native(), *chain.registered_tokens())
        named = [token for token in known if {token.symbol.lower(), token.address.lower()} & words]
    except GolemError as error:
        return [], [f"no prices: {error.code}"]
    prices, warnings = [], []
    for token in named[:_MOST_PRICES]:
        try:
            prices.append(_describe_price(chain, token))
        except GolemError as error:
            warnings.append(f"no price of {token.symbol}: {error.code}")
    return prices, warnings


def _describe_price(chain: ChainReader, token: TokenMeta) -> dict[str, object]:
    price = chain.price(token)
    return {
        "symbol": token.symbol,
        "address": token.address,
        "chain_id": chain.chain_id,
        "price_usd": format_units(price.answer, price.decimals),
        "age_seconds": price.age_seconds,
        "source": "feed",
        "feed": price.feed,
        "block_number": chain.block.number,
    }
