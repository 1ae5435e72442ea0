"""How the staker tells whose position it keeps; it lists nobody's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.protocols.uniswap.errors import PositionStaked
from tools_app.protocols.uniswap.liquidity_mining.addresses import mining_on
from tools_app.toolkit.context import ChainReader

DEPOSITS: Final = (
    "function deposits(uint256) view returns (address owner, uint48 numberOfStakes, int24 tickLower, int24 tickUpper)"
)
DEPOSIT_MOVED: Final = (
    "event DepositTransferred(uint256 indexed tokenId, address indexed oldOwner, address indexed newOwner)"
)


@dataclass(frozen=True, slots=True)
class DepositMoved:
    """A position that the staker keeps for another owner now."""

    token_id: int
    new_owner: str


DEPOSITS_MOVED: Final = AbiEvent(DEPOSIT_MOVED, DepositMoved)


def check_not_staked(reader: ChainReader, position_id: str, *, holder: str, account: str) -> None:
    """Raises PositionStaked for a position that its `holder`, the staker, keeps for `account`."""
    mining = mining_on(reader.chain_id)
    if mining is None or holder != mining.staker:
        return
    if reader.call(mining.staker, DEPOSITS, int(position_id))[0] == account:
        raise PositionStaked(
            f"position {position_id} lies at the staker; uniswap_lp_unstake_position brings it back",
            position_id=position_id,
            next_tool="uniswap_lp_unstake_position",
        )
