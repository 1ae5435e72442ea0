"""Lido on the local chain: our own contracts in its place, a pool that has earned for a month, an empty queue.

No real bytecode is used and no validator stands behind it. The oracle is on time by itself; what it earns, and which
requests become final, its admin says (`submitReport`).
"""

from __future__ import annotations

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld

WEI = 10**18
STAKED = 100_000 * WEI
EARLIER_GAIN = 20_000 * WEI
DAY_SECONDS = 86_400
DAYS = 30
# About 3% a year before the protocol's tenth.
DAILY_GAIN = STAKED * 12 // 10 * 3 // 100 // 365
EPOCHS_PER_FRAME = 225
QUORUM = 2
MEMBERS = ("oracle member 1", "oracle member 2", "oracle member 3")
NOBODY = "0x" + "0" * 40


def deploy(site: Site) -> dict[str, str]:
    """Pool, wrapped token, queue, and the oracle with its members."""
    steth = site.create_ours("SimulatedStakedEther")
    wsteth = site.create_ours("SimulatedWrappedStakedEther", "(address)", steth)
    queue = site.create_ours("SimulatedWithdrawalQueue", "(address)", wsteth)
    members = [site.account(role).address for role in MEMBERS]
    consensus = site.create_ours(
        "SimulatedHashConsensus", "(address[],uint256,uint256)", members, QUORUM, EPOCHS_PER_FRAME
    )
    oracle = site.create_ours("SimulatedAccountingOracle", "(address,address)", steth, consensus)
    site.transact(steth, "initialize(address,address)", oracle, queue)
    site.transact(steth, "submit(address)", NOBODY, value=STAKED)
    report = "submitReport(uint256,uint256,uint256,uint256,uint256)"
    site.transact(oracle, report, (DAYS + 60) * DAY_SECONDS, DAY_SECONDS, EARLIER_GAIN, 0, 0)
    for day in range(DAYS, 0, -1):
        site.transact(oracle, report, (day - 1) * DAY_SECONDS, DAY_SECONDS, DAILY_GAIN, 0, 0)
    return {"steth": steth, "wsteth": wsteth, "queue": queue, "consensus": consensus, "oracle": oracle}


WORLD = ProtocolWorld("lido", deploy)
