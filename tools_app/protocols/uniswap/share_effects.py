"""What giving shares of a V2 pair back does, read from its bytes; written from the router's interface alone."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.uniswap.addresses import NAME, UniswapDeployment
from tools_app.protocols.uniswap.pool_addresses import v2_pair_address
from tools_app.standards.calldata import read_exactly
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

REMOVE_SHARES: Final = "function removeLiquidity(address,address,uint256,uint256,uint256,address,uint256)"
_SHARE: Final = "share"


def read_shares(call: Call, *, place: UniswapDeployment, chain_id: int, into: Effects) -> None:
    """At least so much of both tokens comes, and more where the pair gives more. Raises UnknownCall."""
    token0, token1, _, least0, least1, recipient, deadline = read_exactly(call.data, REMOVE_SHARES)
    if call.value:
        raise UnknownCall("the V2 router is sent coin that it does not use")
    pair = v2_pair_address(place.v2_factory, token0, token1)
    ref = PositionRef(NAME, _SHARE, chain_id, pair)
    for token, least in ((token0, least0), (token1, least1)):
        into.receives[token] += least
        into.changes.append(ChangeRead(NAME, _SHARE, token, 0, ref, is_exact=False))
    into.recipients.append(recipient)
    into.deadlines.append(deadline)
