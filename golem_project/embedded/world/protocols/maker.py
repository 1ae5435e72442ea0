"""Maker's vaults on the local chain: contracts of our own with its interface, two kinds of vaults, DAI to draw."""

from __future__ import annotations

from dataclasses import dataclass

from golem_project.embedded.world.protocol_deployer import Site
from golem_project.embedded.world.protocols import ProtocolWorld
from golem_project.embedded.world.seed_data import worth

WAD, RAY, RAD = 10**18, 10**27, 10**45
CEILING = 50_000_000 * RAD
DUST = 100 * RAD
STOCK_USD = 20_000_000
DRAWN_USD = 2_000_000
PLEDGED_USD = 6_000_000
UINT, NAMED = "file(bytes32,uint256)", "file(bytes32,bytes32,uint256)"


@dataclass(frozen=True)
class CollateralKind:
    """One kind of vault: how much collateral a debt needs, and its fee per second in rays."""

    name: str
    ratio_percent: int
    duty: int


# 5% and 3% a year.
KINDS = (
    CollateralKind("ETH-A", 145, 1_000_000_001_547_125_957_863_212_448),
    CollateralKind("ETH-C", 170, 1_000_000_000_937_303_470_807_876_289),
)


def deploy(site: Site) -> dict[str, str]:
    """The ledger and its parts, both kinds of vaults over WETH, and somebody who has one."""
    weth, dai = site.tokens["WETH"], site.tokens["DAI"]
    vat = site.create_ours("SimulatedVat")
    jug = site.create_ours("SimulatedJug", "(address)", vat)
    spot = site.create_ours("SimulatedSpotter", "(address)", vat)
    join_dai = site.create_ours("SimulatedDaiJoin", "(address,address)", vat, dai)
    manager = site.create_ours("SimulatedCdpManager", "(address)", vat)
    cdps = site.create_ours("SimulatedGetCdps")
    pip = site.create_ours("SimulatedPip", "(address)", site.feeds["WETH"])
    contracts = {"vat": vat, "jug": jug, "spot": spot, "join_dai": join_dai, "cdp_manager": manager, "get_cdps": cdps}
    site.transact(vat, UINT, _word("Line"), CEILING)
    for each in (jug, spot):
        site.transact(vat, "rely(address)", each)
    for kind in KINDS:
        name = _word(kind.name)
        join = site.create_ours("SimulatedGemJoin", "(address,bytes32,address)", vat, name, weth)
        contracts[f"join_{kind.name.lower().replace('-', '_')}"] = join
        site.transact(vat, "rely(address)", join)
        site.transact(vat, "init(bytes32)", name)
        site.transact(vat, NAMED, name, _word("line"), CEILING)
        site.transact(vat, NAMED, name, _word("dust"), DUST)
        site.transact(spot, "file(bytes32,bytes32,address)", name, _word("pip"), pip)
        site.transact(spot, NAMED, name, _word("mat"), RAY * kind.ratio_percent // 100)
        site.transact(spot, "poke(bytes32)", name)
        site.transact(jug, "start(bytes32,uint256)", name, kind.duty)
    site.give("DAI", worth("DAI", STOCK_USD), join_dai)
    open_vault(site, contracts)
    return contracts


def open_vault(site: Site, contracts: dict[str, str]) -> None:
    """The first vault: drawn DAI is what others pay back with."""
    owner, pledged, drawn = site.account("owner"), worth("WETH", PLEDGED_USD), worth("DAI", DRAWN_USD)
    manager, join = contracts["cdp_manager"], contracts["join_eth_a"]
    site.transact(manager, "open(bytes32,address)", _word("ETH-A"), owner.address, sender=owner)
    site.give("WETH", pledged, owner.address)
    site.transact(site.tokens["WETH"], "approve(address,uint256)", join, pledged, sender=owner)
    (urn,) = site.read(manager, "urns(uint256)", 1, returns="(address)")
    site.transact(join, "join(address,uint256)", urn, pledged, sender=owner)
    site.transact(manager, "frob(uint256,int256,int256)", 1, pledged, drawn, sender=owner)
    site.transact(manager, "move(uint256,address,uint256)", 1, owner.address, drawn * RAY, sender=owner)
    site.transact(contracts["vat"], "hope(address)", contracts["join_dai"], sender=owner)
    site.transact(contracts["join_dai"], "exit(address,uint256)", owner.address, drawn, sender=owner)


def _word(text: str) -> bytes:
    return text.encode().ljust(32, b"\0")


WORLD = ProtocolWorld("maker", deploy)
