"""What a trade in the made-up manager does, read from its bytes."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, MarketRead, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.pool_ids import PoolId

from .addresses import DEPLOYED, NAME
from .hooks import hook_of

_TRADE = "function trade(bytes32,bool,uint256,uint256)"
_KEYS = "function keys(bytes32) view returns (address, address, address)"


class PoolsEffects:
    """One reader for all of it."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        if call.value or not calls(call.data, _TRADE):
            raise UnknownCall("the manager is asked for something else than a trade")
        manager = DEPLOYED[chain.chain_id]["manager"]
        raw, forward, amount, least = read_exactly(call.data, _TRADE)
        pool = PoolId("0x" + raw.hex(), manager)
        token0, token1, hook = chain.call(manager, _KEYS, raw)
        sold, bought = (token0, token1) if forward else (token1, token0)
        into.spends[sold] += amount
        into.receives[bought] += least
        into.recipients.append(account)
        into.markets.append(MarketRead(NAME, sold, bought, pool=pool))
        found = hook_of(pool.text, hook)
        if found is not None:
            into.hooks.append(found)
