"""Hooks of V4 pools, at addresses whose last bits say what each may do, and pools of DAI and USDC with them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Final

from eth_abi.abi import encode

from golem_project.embedded.world.protocols import find_protocol_worlds
from golem_project.embedded.world.protocols.uniswap_v4 import FAR, HIGHEST_TICK, MINT, POOL_KEY, SETTLE_PAIR
from golem_project.embedded.world.seed_data import sqrt_price_x96, worth
from tests.evm.world import World
from tools_app.chain.abi import checksum
from tools_app.protocols.uniswap.v4.addresses import V4Contracts, v4_on
from tools_app.protocols.uniswap.v4.keys import DYNAMIC_FEE, PoolKey, make_key
from tools_app.standards.permit2 import PERMIT2

SELECTOR: Final = "5f3560e01c60e01b5f52"
"""Puts the selector it was called with, alone, into the first word of memory."""
ANSWER: Final = "60605ff3"
WATCHES = SELECTOR + ANSWER
"""Answers as the manager wants, and does nothing."""
DEAR, CHEAP = 500_000, 100
# Half of everything when the transaction pays for its gas, and hardly anything when it does not.
TELLS_PAID_GAS = SELECTOR + "3a1515" + f"62{DEAR - CHEAP:06x}02" + "6064016240000017604052" + ANSWER
# Answers as the manager wants, and reverts where the transaction pays for its gas.
STOPS_PAID_GAS = SELECTOR + "3a15601257" + "5f5ffd" + "5b" + ANSWER
# While slot 0xbeef is empty it answers as the manager wants, and then is whatever the slot names.
_TURNING: Final = "61beef54" + "80601757" + "50" + SELECTOR + "60{size}5ff3" + "5b365f5f37" + "5f5f365f845af4"
_TURNING_END: Final = "3d5f5f3e" + "602d57" + "3d5ffd" + "5b3d5ff3"
_TURN_SLOT: Final = "0xbeef"
_BEFORE_SWAP: Final = 0x0080
REMOVE_SELECTOR: Final = "0x21d0ee70"
BAD_ANSWER: Final = "0xdeadbeef"


@dataclass(frozen=True)
class Hook:
    """A hook's low bits, where its code comes from (an artefact of v4-core, or bytecode), and the fee of its pool."""

    bits: int
    artifact: str = ""
    code: str = ""
    fee: int = 3_000

    @property
    def address(self) -> str:
        return checksum(f"0x{0x55AA << 144 | self.bits:040x}")


BENIGN = Hook(0x0040, code=WATCHES)
FEE_CHANGER = Hook(0x1080, "DynamicFeesTestHook", fee=DYNAMIC_FEE)
THIEF = Hook(0x0044, "FeeTakingHook")
EXIT_BLOCKER = Hook(0x0200, "MockHooks")
EXIT_TAXER = Hook(0x0101, "FeeTakingHook")
ENTRY_TAXER = Hook(0x0402, "FeeTakingHook")
LIQUIDITY_TELLER = Hook(0x0A00, code=STOPS_PAID_GAS)
TELLER = Hook(0x0080, code=TELLS_PAID_GAS, fee=DYNAMIC_FEE)
HOOKS: Final = {
    "benign": BENIGN,
    "fee changer": FEE_CHANGER,
    "thief": THIEF,
    "exit blocker": EXIT_BLOCKER,
    "exit taxer": EXIT_TAXER,
    "teller": TELLER,
}


def install_turning(chain: World, hook: Hook) -> None:
    """Put it at its address so that it does nothing until it is turned, which changes no code."""
    size = "60" if hook.bits & _BEFORE_SWAP else "40"
    chain.rpc.call("anvil_setCode", hook.address, "0x" + _TURNING.replace("{size}", size) + _TURNING_END)
    chain.rpc.call("anvil_setCode", _behind(hook), code_of(chain, hook))
    turn(chain, hook, is_hostile=True)
    set_up(chain, hook)
    turn(chain, hook, is_hostile=False)


def turn(chain: World, hook: Hook, *, is_hostile: bool) -> None:
    """Let it begin or end to do what it is for."""
    word = int(_behind(hook), 16) if is_hostile else 0
    chain.rpc.call("anvil_setStorageAt", hook.address, _TURN_SLOT, f"0x{word:064x}")
    chain.rpc.call("evm_mine")


def _behind(hook: Hook) -> str:
    return checksum(f"0x{0x66BB << 144 | hook.bits:040x}")


def contracts() -> V4Contracts:
    found = v4_on(31337)
    assert found is not None
    return found


def open_hooked_pool(chain: World, hook: Hook, *, usd: int = 2_000_000, turns: bool = False) -> PoolKey:
    """Install a hook and open a pool with it over the whole range; both sides are worth `usd`. One that `turns` does
    nothing yet.
    """
    (install_turning if turns else install)(chain, hook)
    v4, maker = contracts(), chain.new_account(10**18)
    key = make_key(chain.tokens["DAI"].address, chain.tokens["USDC"].address, hook.fee, 60, hook.address)
    symbols = [chain_symbol(chain, each) for each in (key.currency0, key.currency1)]
    price = sqrt_price_x96(symbols[0], symbols[1])
    chain.transact(maker, v4.positions, f"initializePool({POOL_KEY},uint160)", key.as_tuple, price)
    amounts = [worth(symbol, usd // 2) for symbol in symbols]
    most = [amount * 101 // 100 for amount in amounts]
    chain.fund(maker.address, 0, dict(zip(symbols, most, strict=True)))
    for symbol, amount in zip(symbols, most, strict=True):
        token = chain.tokens[symbol].address
        chain.transact(maker, token, "approve(address,uint256)", PERMIT2, amount)
        chain.transact(maker, PERMIT2, "approve(address,address,uint160,uint48)", token, v4.positions, amount, FAR)
    edge = HIGHEST_TICK // key.spacing * key.spacing
    minted = encode(
        [POOL_KEY, "int24", "int24", "uint256", "uint128", "uint128", "address", "bytes"],
        [key.as_tuple, -edge, edge, isqrt(amounts[0] * amounts[1]), *most, maker.address, b""],
    )
    params = [minted, encode(["address", "address"], [key.currency0, key.currency1])]
    unlock = encode(["bytes", "bytes[]"], [MINT + SETTLE_PAIR, params])
    chain.transact(maker, v4.positions, "modifyLiquidities(bytes,uint256)", unlock, FAR)
    return key


def install(chain: World, hook: Hook) -> None:
    """Put its code at its address."""
    chain.rpc.call("anvil_setCode", hook.address, code_of(chain, hook))
    set_up(chain, hook)


def code_of(chain: World, hook: Hook) -> str:
    """What runs there."""
    if not hook.artifact:
        return "0x" + hook.code
    fetched = find_protocol_worlds()["uniswap_v4"].fetch()
    artifact = fetched.artifact("v4_core", f"out/{hook.artifact}.sol/{hook.artifact}.json")
    if hook.artifact == "FeeTakingHook":
        manager = encode(["address"], [contracts().manager]).hex()
        made = chain.send(chain.actors.deployer, None, artifact["bytecode"]["object"] + manager)
        return str(chain.rpc.call("eth_getCode", made["contractAddress"], "latest"))
    return str(artifact["deployedBytecode"]["object"])


def set_up(chain: World, hook: Hook) -> None:
    """Tell it what it works with."""
    if hook is FEE_CHANGER:
        chain.transact(chain.actors.deployer, hook.address, "setManager(address)", contracts().manager)
        chain.transact(chain.actors.deployer, hook.address, "setFee(uint24)", CHEAP)
    if hook is EXIT_BLOCKER:
        block_exits(chain)


def block_exits(chain: World) -> None:
    """From now on nobody takes liquidity out of the blocker's pool, fees neither."""
    values = (bytes.fromhex(REMOVE_SELECTOR[2:]), bytes.fromhex(BAD_ANSWER[2:]))
    chain.transact(chain.actors.deployer, EXIT_BLOCKER.address, "setReturnValue(bytes4,bytes4)", *values)


def chain_symbol(chain: World, address: str) -> str:
    return next(symbol for symbol, token in chain.tokens.items() if token.address == address)
