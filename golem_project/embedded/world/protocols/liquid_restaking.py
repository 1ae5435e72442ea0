"""Liquid restaking on the local chain: our own contracts in the place of ether.fi, Kelp and Renzo, each with a market.

No real bytecode is used: no package carries any. A guest has deposited at each, part of it is with validators, rates
have grown, and each token has a pool against WETH at its rate. Kelp's delay is a few blocks, since a chain that a test
moves would have to make each of tens of thousands.
"""

from __future__ import annotations

from math import isqrt
from typing import Final

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld

ETH: Final = 10**18
STAKED: Final = 3_000 * ETH
WITH_VALIDATORS: Final = 2_000 * ETH
ETHERFI_EARNED: Final = 240 * ETH
BUCKET: Final = 500 * ETH
KELP_FIRST, KELP_PRICE = 105 * ETH // 100, 106 * ETH // 100
KELP_DELAY_BLOCKS: Final = 40
KELP_LEAST: Final = ETH // 10_000
RENZO_EARNED: Final = 210 * ETH
RENZO_COOLDOWN: Final = 3 * 86_400
IN_POOL: Final = 300 * ETH
FEE: Final = 500
TICKS: Final = 2_000
NOBODY: Final = "0x0000000000000000000000000000000000000000"
COIN: Final = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
_NO_DEADLINE: Final = 2**256 - 1
_MINT: Final = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"


def deploy(site: Site) -> dict[str, str]:
    """Three issuers, a guest at each, and three pools."""
    return {**_open_etherfi(site), **_open_kelp(site), **_open_renzo(site)}


def _open_etherfi(site: Site) -> dict[str, str]:
    guest = site.account("guest")
    pool = site.create_ours("SimulatedEtherFiPool")
    eeth = site.create_ours("SimulatedEETH", "(address)", pool)
    weeth = site.create_ours("SimulatedWeETH", "(address,address)", eeth, pool)
    adapter = site.create_ours("SimulatedEtherFiAdapter", "(address,address)", pool, weeth)
    requests = site.create_ours("SimulatedEtherFiWithdrawals", "(address)", pool)
    redemption = site.create_ours("SimulatedEtherFiRedemption", "(address,address,uint256)", pool, weeth, BUCKET)
    site.transact(pool, "initialize(address,address,address)", eeth, requests, redemption)
    site.transact(adapter, "depositETHForWeETH(address)", NOBODY, value=STAKED, sender=guest)
    site.transact(pool, "stake(uint128)", WITH_VALIDATORS)
    site.transact(pool, "rebase(int128)", ETHERFI_EARNED)
    _open_pool(site, weeth, ETH * (STAKED + ETHERFI_EARNED) // STAKED)
    return {
        "weeth": weeth,
        "eeth": eeth,
        "etherfi_pool": pool,
        "etherfi_adapter": adapter,
        "etherfi_requests": requests,
        "etherfi_redemption": redemption,
    }


def _open_kelp(site: Site) -> dict[str, str]:
    guest = site.account("guest")
    oracle = site.create_ours("SimulatedKelpOracle", "(uint256)", KELP_FIRST)
    rseth = site.create_ours("SimulatedRestakedToken", "(string,string)", "Simulated rsETH", "rsETH")
    manager = site.create_ours(
        "SimulatedKelpWithdrawals", "(address,address,uint256,uint256)", oracle, rseth, KELP_DELAY_BLOCKS, KELP_LEAST
    )
    pool = site.create_ours(
        "SimulatedKelpDeposits", "(address,address,address,uint256)", oracle, rseth, manager, KELP_LEAST
    )
    site.transact(rseth, "setIssuer(address)", pool)
    site.transact(rseth, "setIssuer(address)", manager)
    site.transact(pool, "depositETH(uint256,string)", 0, "", value=STAKED, sender=guest)
    site.transact(manager, "stake(uint256)", WITH_VALIDATORS)
    site.transact(oracle, "setPrice(uint256)", KELP_PRICE)
    _open_pool(site, rseth, KELP_PRICE)
    return {
        "rseth": rseth,
        "kelp_pool": pool,
        "kelp_oracle": oracle,
        "kelp_withdrawals": manager,
        "kelp_vault": manager,
    }


def _open_renzo(site: Site) -> dict[str, str]:
    guest = site.account("guest")
    ezeth = site.create_ours("SimulatedRestakedToken", "(string,string)", "Simulated ezETH", "ezETH")
    manager = site.create_ours("SimulatedRenzoManager", "(address)", ezeth)
    queue = site.create_ours("SimulatedRenzoQueue", "(address,address,uint256)", ezeth, manager, RENZO_COOLDOWN)
    site.transact(manager, "initialize(address)", queue)
    site.transact(ezeth, "setIssuer(address)", manager)
    site.transact(ezeth, "setIssuer(address)", queue)
    site.transact(manager, "depositETH(uint256)", 0, value=STAKED, sender=guest)
    site.transact(queue, "stake(uint256)", WITH_VALIDATORS)
    site.transact(manager, "earn(int256)", RENZO_EARNED)
    _open_pool(site, ezeth, ETH * (STAKED + RENZO_EARNED) // STAKED)
    return {
        "ezeth": ezeth,
        "renzo_manager": manager,
        "renzo_deposits": queue,
        "renzo_queue": queue,
        "renzo_risk": queue,
    }


def _open_pool(site: Site, token: str, rate: int) -> None:
    """A pool of the guest's at the issuer's rate, deep around it."""
    guest, weth = site.account("guest"), site.tokens["WETH"]
    manager = site.contracts.uniswap_v3_position_manager
    tokens = sorted((token, weth), key=lambda each: int(each, 16))
    over, under = (rate, ETH) if tokens[0] == token else (ETH, rate)
    start = isqrt((over << 192) // under)
    site.give("WETH", IN_POOL, guest.address)
    for each in tokens:
        site.transact(each, "approve(address,uint256)", manager, _NO_DEADLINE, sender=guest)
    opens = "createAndInitializePoolIfNecessary(address,address,uint24,uint160)"
    site.transact(manager, opens, *tokens, FEE, start, sender=guest, gas=8_000_000)
    amounts = (IN_POOL, IN_POOL)
    place = (*tokens, FEE, -TICKS, TICKS, *amounts, 0, 0, guest.address, _NO_DEADLINE)
    site.transact(manager, _MINT, place, sender=guest)


WORLD = ProtocolWorld("liquid_restaking", deploy)
