"""Multicall3: reads that belong to one block without being one, such as its own number and a coin balance.

Aggregating reads is done by the reader itself; nothing here is needed for that.
"""

from __future__ import annotations

from typing import Final

from tools_app.chain.networks import MULTICALL3
from tools_app.toolkit.context import ChainReader, ReadCall

_GET_ETH_BALANCE: Final = "function getEthBalance(address account) view returns (uint256)"


def coin_balance_call(account: str) -> ReadCall:
    """A coin balance as an `eth_call`, so that it can share a batch with token balances."""
    return ReadCall(MULTICALL3, _GET_ETH_BALANCE, (account,))


def is_deployed(reader: ChainReader) -> bool:
    """Whether the chain has Multicall3 at the address it has everywhere."""
    return bool(reader.code(MULTICALL3))
