"""Rocket Pool on the local chain: our own contracts in its place, a rate that grew for a month, a pool half full."""

from __future__ import annotations

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld

WEI = 10**18
STAKED = 5_000 * WEI
DAY_SECONDS = 86_400
DAYS = 31
# Wei of a whole rETH a month ago, and what it gains a day: about 2.8% a year.
EARLIER_RATE = WEI * 112 // 100
DAILY_GAIN = EARLIER_RATE * 28 // 1_000 // 365
SUPPLY = 100_000 * WEI
STAKING_BPS = 9_500
OPERATORS = ((12, 12, 14), (40, 38, 5), (3, 1, 14), (1, 0, 15))
ONE_CONTRACT = ("rocketNodeManager", "rocketMinipoolManager", "rocketNetworkFees")


def deploy(site: Site) -> dict[str, str]:
    """Storage, token, deposit pool, nodes; what the network reported, and ether to burn against."""
    storage = site.create_ours("SimulatedRocketStorage")
    reth = site.create_ours("SimulatedRocketEther")
    pool = site.create_ours("SimulatedRocketDepositPool", "(address)", reth)
    nodes = site.create_ours("SimulatedRocketNodes")
    site.transact(reth, "initialize(address)", pool)
    named = {
        "rocketTokenRETH": reth,
        "rocketNetworkBalances": reth,
        "rocketDepositPool": pool,
        "rocketDAOProtocolSettingsDeposit": pool,
        **dict.fromkeys(ONE_CONTRACT, nodes),
    }
    for name, address in named.items():
        site.transact(storage, "setAddress(string,address)", name, address)
    for day in range(DAYS, -1, -1):
        total = SUPPLY * (EARLIER_RATE + (DAYS - day) * DAILY_GAIN) // WEI
        staking = total * STAKING_BPS // 10_000
        site.transact(
            reth, "submitBalances(uint256,uint256,uint256,uint256)", day * DAY_SECONDS, total, staking, SUPPLY
        )
    for number, (active, staking, fee_percent) in enumerate(OPERATORS, 1):
        node = site.account(f"node operator {number}").address
        fee = fee_percent * WEI // 100
        site.transact(nodes, "register(address,uint256,uint256,uint256)", node, active, staking, fee)
    site.transact(pool, "deposit()", value=STAKED)
    return {"storage": storage, "reth": reth, "deposit_pool": pool}


WORLD = ProtocolWorld("rocketpool", deploy)
