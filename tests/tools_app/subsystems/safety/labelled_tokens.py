"""Tokens whose kind is known: hostile ones that whoever buys cannot sell as they should, and fair ones with habits."""

from __future__ import annotations

from typing import Final

from golem_project.embedded.world.rpc import checksum
from tests.evm.world import World

ETH: Final = 10**18
POOLED: Final = 300 * ETH
TRAPS: Final[dict[str, tuple[str, int]]] = {
    "no sale": ("TrapToken", 1),
    "a sale keeps 99%": ("TrapToken", 2),
    "dust alone": ("TrapToken", 4),
    "closes after 12 hours": ("TrapToken", 5),
    "says false to sales": ("TrapToken", 7),
    "forgets allowances": ("MarketToken", 100),
    "refuses allowances": ("MarketToken", 101),
    "says true and moves nothing": ("MarketToken", 102),
    "closes after 20 days": ("MarketToken", 103),
    "a tax that grows to 99%": ("MarketToken", 104),
    "not by contracts": ("MarketToken", 105),
    "for the listed": ("MarketToken", 106),
    "behaves where gas is free": ("MarketToken", 107),
    "behaves without a base fee": ("BaseFeeTrapToken", 0),
    "behaves where nobody mines": ("MarketToken", 109),
    "burns millions of gas": ("MarketToken", 110),
    "small sales alone": ("MarketToken", 111),
    "melts": ("MarketToken", 112),
    "one sale each": ("MarketToken", 113),
    "keeps half": ("MarketToken", 114),
}
"""Known while the trial was written."""
UNSEEN: Final[dict[str, tuple[str, int]]] = {
    "lists its buyers a block later": ("LateTrapToken", 0),
    "a sale keeps 60%": ("LateTrapToken", 1),
    "asks a gate of its owner": ("LateTrapToken", 2),
    "only what makes its pool no fuller": ("LateTrapToken", 3),
    "sixty days of waiting": ("LateTrapToken", 4),
    "sends sales to its owner": ("LateTrapToken", 5),
    "five sales of all": ("LateTrapToken", 6),
    "its owner takes what others hold": ("LateTrapToken", 7),
    "shows ten times what it holds": ("LateTrapToken", 8),
    "not into contracts": ("LateTrapToken", 9),
}
"""Written when the trial was whole."""
FAIR: Final[dict[str, tuple[str, int]]] = {
    "abilities of an owner": ("TrapToken", 0),
    "a tenth each way": ("TrapToken", 3),
    "only to its pool": ("TrapToken", 6),
    "plain": ("MarketToken", 0),
    "a tax of 1%": ("MarketToken", 1),
    "a tax of 5% to its owner": ("MarketToken", 2),
    "not twice in a block": ("MarketToken", 3),
    "at most so much in a wallet": ("MarketToken", 4),
    "at most so much in a trade": ("MarketToken", 5),
    "returns nothing": ("MarketToken", 6),
    "allowances begin at zero": ("MarketToken", 7),
    "burns 1%": ("MarketToken", 8),
    "counts a lot": ("MarketToken", 9),
    "opened long ago": ("MarketToken", 10),
    "not to itself": ("MarketToken", 11),
    "an endless allowance": ("MarketToken", 12),
    "taxes purchases": ("MarketToken", 13),
    "a tax that falls": ("MarketToken", 14),
    "logs more": ("MarketToken", 15),
    "not nothing": ("MarketToken", 16),
    "not at any gas price": ("MarketToken", 17),
    "counts votes": ("MarketToken", 18),
    "taxes sales with 8%": ("MarketToken", 19),
    "nobody registered it": ("SimulatedToken", 0),
}
REGISTERED: Final = ("WETH", "USDC", "USDT", "DAI", "WBTC", "FEE")
"""Fair ones that stand on the local chain."""


def list_in_a_pool(chain: World, contract: str, kind: int, *, depth: int = POOLED) -> str:
    """A token of that kind in a V2 pair with WETH."""
    maker = chain.new_account(2 * ETH, {"WETH": depth})
    if contract == "SimulatedToken":
        token = chain.deploy(maker, contract, "(string,string,uint8)", "Other", "OTHER", 18)
        chain.transact(maker, token, "mint(address,uint256)", maker.address, 1_000_000 * ETH)
    else:
        token = chain.deploy(maker, contract, "(uint256)", kind)
    weth, factory = chain.tokens["WETH"].address, chain.contracts["uniswap_v2_factory"]
    chain.transact(maker, factory, "createPair(address,address)", token, weth)
    [found] = chain.rpc.read(factory, "getPair(address,address)", token, weth, returns="(address)")
    pair = checksum(found)
    if contract != "SimulatedToken":
        chain.transact(maker, token, "setPool(address)", pair)
    for each, amount in ((token, 1_000_000 * ETH), (weth, depth)):
        chain.transact(maker, each, "transfer(address,uint256)", pair, amount)
    chain.transact(maker, pair, "mint(address)", maker.address)
    return token
