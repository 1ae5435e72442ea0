"""A golem at Morpho on the local chain, the local markets, and the people who move them."""

from __future__ import annotations

from typing import Any

import tools_app.protocols.morpho_blue.tools.borrowing
import tools_app.protocols.morpho_blue.tools.lending
import tools_app.protocols.morpho_blue.tools.liquidating
import tools_app.protocols.morpho_blue.tools.reads  # noqa: F401  declares the tools
from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import World
from tests.tools_app.protocols.measured import Golem
from tools_app.protocols.morpho_blue.addresses import LOCAL, known_markets
from tools_app.protocols.morpho_blue.protocol import PROTOCOL

ETH, USDC = 10**18, 10**6
MORPHO = LOCAL["morpho"]
PARAMS = "(address,address,address,address,uint256)"


def make_golem(chain: World, **tokens: int) -> Golem:
    held = tokens or {"USDC": 100_000 * USDC, "WETH": 50 * ETH, "DAI": 100_000 * ETH}
    return Golem(chain, PROTOCOL, chain.new_account(5 * ETH, held))


def usdc_market() -> str:
    return known_markets(31337)[0].id


def set_price(chain: World, *, percent: int) -> None:
    """The oracle of the USDC market says so many percent of what the feeds say."""
    price = 3_000 * 10**24 * percent // 100
    chain.transact(chain.actors.makers[0], LOCAL["oracle_weth_usdc"], "setPrice(uint256)", price)


def pass_time(chain: World, seconds: int) -> None:
    chain.rpc.call("evm_increaseTime", seconds)
    chain.rpc.call("evm_mine")


def act_as(chain: World, role: str, signature: str, *arguments: Any) -> None:
    """One of the accounts that filled the local markets calls the contract."""
    chain.transact(derive_account(f"morpho {role}"), MORPHO, signature, *arguments)
