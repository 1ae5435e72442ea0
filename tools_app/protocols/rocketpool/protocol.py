"""Everything the product knows of Rocket Pool, as one value."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.rocketpool.addresses import LOCAL_CHAIN_ID, NAME, deployments
from tools_app.protocols.rocketpool.effects import EFFECTS
from tools_app.protocols.rocketpool.positions import RocketPoolExits, RocketPoolPositions
from tools_app.protocols.rocketpool.reads import ETH_VALUE
from tools_app.protocols.rocketpool.yields import list_yields
from tools_app.standards.cage_share_valuer import describe_share_valuer
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef
from tools_app.toolkit.views import NATIVE

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Rocket Pool",
    deployments=deployments,
    entry="storage",
    contracts=(
        Contract("deposit_pool", "Rocket Pool deposit pool", ("function deposit()",), valued_at="reth"),
        Contract("reth", "Rocket Pool rETH", ("function burn(uint256)",), valued_at="reth", is_token=True),
    ),
    valuers=(describe_share_valuer(deployments, "reth", lambda chain_id, reth: NATIVE, worth_of=ETH_VALUE),),
    positions=RocketPoolPositions(),
    exits=RocketPoolExits(),
    # What is burned comes back to who burns it.
    leaving=(LeavingCall("reth", "function burn(uint256)"),),
    effects=EFFECTS,
    yields=list_yields,
    listed_as=("rocket-pool",),
    issues=("reth",),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=(
        "event EtherDeposited(address indexed from, uint256 amount, uint256 time)",
        "event DepositReceived(address indexed from, uint256 amount, uint256 time)",
        "event ExcessWithdrawn(address indexed to, uint256 amount, uint256 time)",
        "event TokensMinted(address indexed to, uint256 amount, uint256 ethAmount, uint256 time)",
        "event TokensBurned(address indexed from, uint256 amount, uint256 ethAmount, uint256 time)",
        "event BalancesUpdated(uint256 indexed block, uint256 slotTimestamp, uint256 totalEth, uint256 stakingEth,"
        " uint256 rethSupply, uint256 blockTimestamp)",
    ),
)
"""Approvals of rETH are those of any token; it has no rights of its own. It reverts with sentences, not with errors."""
