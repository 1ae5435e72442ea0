"""Everything the product knows of Rocket Pool, as one value."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.rocketpool.addresses import LOCAL_CHAIN_ID, NAME, deployments
from tools_app.protocols.rocketpool.effects import RocketPoolEffects
from tools_app.protocols.rocketpool.positions import RocketPoolExits, RocketPoolPositions
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef, ValuerKind

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Rocket Pool",
    deployments=deployments,
    entry="storage",
    contracts=(
        Contract("deposit_pool", "Rocket Pool deposit pool", ("function deposit()",)),
        Contract("reth", "Rocket Pool rETH", ("function burn(uint256)",), valuer=ValuerKind.SHARE, is_token=True),
    ),
    positions=RocketPoolPositions(),
    exits=RocketPoolExits(),
    # What is burned comes back to who burns it.
    leaving=(LeavingCall("reth", "function burn(uint256)"),),
    effects=RocketPoolEffects(),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(
        "event DepositReceived(address indexed from, uint256 amount, uint256 time)",
        "event TokensMinted(address indexed to, uint256 amount, uint256 ethAmount, uint256 time)",
        "event TokensBurned(address indexed from, uint256 amount, uint256 ethAmount, uint256 time)",
        "event BalancesUpdated(uint256 indexed block, uint256 slotTimestamp, uint256 totalEth, uint256 stakingEth,"
        " uint256 rethSupply, uint256 blockTimestamp)",
    ),
)
"""Approvals of rETH are those of any token; it has no rights of its own. It reverts with sentences, not with errors."""
