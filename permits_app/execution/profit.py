"""What one action earned or cost: what arrived less what left less gas, at the feeds of the block it ended in.

Only where nothing but the account's own tokens changed hands. A deposit is no loss and a withdrawal no gain, so what
goes into a position or comes out of one has none; fees and rewards that are collected have. Seed: 002, "OutcomeRecord".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from permits_app.models import ActionPermit
from tools_app.core.errors import GolemError
from tools_app.core.units import value_in_micro_usd
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import Category
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import TokenMeta

_TRADES: Final = frozenset({Category.TRADING, Category.FEES})
_COLLECTS: Final = ("collect_", "claim_", "harvest_")


def measure_profit(
    *,
    permit: ActionPermit,
    tool: WriteTool | None,
    succeeded: bool,
    deltas: Mapping[str, int],
    fee_wei: int,
    chain: ChainReader | None,
) -> int | None:
    """Micro-USD; None where it cannot be told. `deltas` in base units by token, gas in `fee_wei`. Reads the feeds."""
    if chain is None or (succeeded and not _is_counted(permit, tool)):
        return None
    moved = {address: delta for address, delta in deltas.items() if delta} if succeeded else {}
    try:
        tokens = {address: chain.token(address) for address in moved}
        coin = chain.native()
        chain.preload(prices_of=[coin, *tokens.values()])
        gas = _value(chain, coin, fee_wei)
        return sum(_value(chain, tokens[address], delta) for address, delta in moved.items()) - gas
    except GolemError:
        # A token nobody prices, or a node that went away: no figure rather than half of one.
        return None


def _is_counted(permit: ActionPermit, tool: WriteTool | None) -> bool:
    return tool is None or tool.category in _TRADES or permit.action_type.startswith(_COLLECTS)


def _value(chain: ChainReader, token: TokenMeta, raw: int) -> int:
    price = chain.price(token)
    worth = value_in_micro_usd(
        raw=abs(raw), token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals
    )
    return worth if raw >= 0 else -worth
