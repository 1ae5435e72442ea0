"""What the issuers of restaked ether and strangers do on the local chain."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.measured import Golem
from tools_app.core.errors import GolemError
from tools_app.protocols.liquid_restaking.addresses import COIN
from tools_app.protocols.liquid_restaking.positions import request_ref
from tools_app.protocols.liquid_restaking.protocol import PROTOCOL
from tools_app.toolkit.positions import Position

ETH, DAY = 10**18, 86_400
NOBODY = "0x" + "00" * 20


def at(key: str) -> str:
    return str(PROTOCOL.address(CHAIN_ID, key))


def refused(golem: Golem, tool: str, **params: Any) -> GolemError:
    with pytest.raises(GolemError) as found:
        golem.plan(tool, **params)
    return found.value


def of_kind(golem: Golem, kind: str, *hints: str) -> Position:
    named = [request_ref(CHAIN_ID, each) for each in hints]
    (found,) = (each for each in golem.positions(named) if each.ref.kind == kind)
    return found


def answer(golem: Golem, tool: str, **params: Any) -> Any:
    return answer_of(make_context(golem.chain, address=golem.address), tool, **params)


def as_admin(chain: World, key: str, signature: str, *args: Any, value: int = 0) -> None:
    """The deployer, who stands for every admin and keeper."""
    chain.transact(derive_account("liquid_restaking deployer"), at(key), signature, *args, value=value)


def pass_time(chain: World, seconds: int, *, blocks: int = 1) -> None:
    chain.rpc.call("evm_increaseTime", seconds)
    chain.rpc.call("anvil_mine", hex(blocks))


def pay_all(chain: World) -> None:
    """Delays are over, ether came back from validators, and every request is paid."""
    pass_time(chain, 4 * DAY, blocks=60)
    (following,) = chain.rpc.read(at("etherfi_requests"), "nextRequestId()", returns="(uint32)")
    if following > 1:
        as_admin(chain, "etherfi_requests", "finalizeRequests(uint256)", following - 1)
    (unused,) = chain.rpc.read(at("kelp_withdrawals"), "nextUnusedNonce(address)", COIN, returns="(uint256)")
    if unused:
        unlock = "unlockQueue(address,uint256,uint256,uint256,uint256,uint256)"
        as_admin(chain, "kelp_withdrawals", unlock, COIN, unused, 0, 0, 0, 0)
    (short,) = chain.rpc.read(at("renzo_queue"), "getQueueDeficit(address)", COIN, returns="(uint256)")
    if short:
        as_admin(chain, "renzo_queue", "fillEthWithdrawBuffer()", value=short)


def trade(chain: World, key: str, ether: int, *, sells: bool = True) -> None:
    """Somebody sells so much worth of a token into its pool, or buys it there."""
    maker = chain.new_account(2 * ether, {"WETH": ether})
    puts: dict[str, tuple[str, str, tuple[Any, ...]]] = {
        "weeth": ("etherfi_adapter", "depositETHForWeETH(address)", (NOBODY,)),
        "rseth": ("kelp_pool", "depositETH(uint256,string)", (0, "")),
        "ezeth": ("renzo_manager", "depositETH(uint256)", (0,)),
    }
    contract, signature, args = puts[key]
    chain.transact(maker, at(contract), signature, *args, value=ether)
    sold, bought = (at(key), chain.tokens["WETH"].address) if sells else (chain.tokens["WETH"].address, at(key))
    amount = chain.rpc.balance_of(sold, maker.address)
    router = chain.contracts["uniswap_v3_swap_router_02"]
    chain.transact(maker, sold, "approve(address,uint256)", router, amount)
    single = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
    chain.transact(maker, router, single, (sold, bought, 500, maker.address, amount, 0, 0))
