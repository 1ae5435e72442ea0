"""Reads stakes where a bridge brought their token: the token is there, and the pool it is a share of is elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from tools_app.chain.networks import ChainNotSupported
from tools_app.standards import erc20
from tools_app.standards.read_all_or_fail import read_all
from tools_app.toolkit.context import ChainReader

LOCAL_CHAIN_ID: Final = 31_337
SECOND_LOCAL_CHAIN_ID: Final = 31_338
"""It is to the first local chain what a rollup is to Ethereum."""
MAIN_CHAINS: Final = frozenset({1, 10, 56, 130, 137, 8453, 42161, 43114})
"""Where the figures of a pool are asked for; they are those of the chain it is on."""
_ETHEREUM: Final = 1


def find_home(chain_id: int, chains: Collection[int]) -> int:
    """The chain of the pool that a stake on `chain_id` is a share of; `chains` are those with a pool."""
    if chain_id in chains:
        return chain_id
    return LOCAL_CHAIN_ID if chain_id == SECOND_LOCAL_CHAIN_ID else _ETHEREUM


def find_bridged(reader: ChainReader, tokens: Mapping[int, str], *, symbol: str) -> str:
    """The token on the reader's chain, which has code for it. Raises ChainNotSupported."""
    token = tokens.get(reader.chain_id)
    if token is None or not reader.code(token):
        raise ChainNotSupported(
            f"{symbol} is not on chain {reader.chain_id}", chain_id=reader.chain_id, chains=sorted(tokens)
        )
    return token


def read_balance(reader: ChainReader, token: str, owner: str) -> int:
    """Base units that `owner` holds. Raises ContractOutputUnexpected, the node's errors."""
    ((held,),) = read_all(reader, [erc20.balance_call(token, owner)])
    return int(held)
