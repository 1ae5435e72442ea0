"""Describes the cage's valuer of a token that stands for a growing amount of another."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools_app.chain.signatures import parse_signature
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.positions import PositionsUnreadable, Reads
from tools_app.toolkit.protocol import Valuer


def describe_share_valuer(
    deployments: Callable[[int], Mapping[str, str] | None],
    key: str,
    underlying_of: Callable[[int, str], str | None],
    *,
    worth_of: str,
) -> Valuer:
    """Of the token `key`; `worth_of` is the signature of its call that tells how much an amount of it would give.

    `underlying_of` tells by chain and token what it gives.
    """

    def ask(chain_id: int) -> Reads[AbiValues]:
        yield []
        token = (deployments(chain_id) or {})[key]
        underlying = underlying_of(chain_id, token)
        if underlying is None:
            raise PositionsUnreadable(f"what {token} stands for is not registered on this chain")
        return token, underlying, parse_signature(worth_of).selector

    return Valuer(
        subject=key,
        code="ShareValuer",
        constructor="constructor(address token_, address underlying_, bytes4 worthOf_)",
        arguments=ask,
        views=(
            "function token() view returns (address)",
            "function underlying() view returns (address)",
            "function worthOf() view returns (bytes4)",
        ),
    )
