"""What an attacker of the cage works with: the real Aave V3 and Uniswap V3, and what owners signed for another time."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import Any

from eth_utils.crypto import keccak

from golem_project.embedded.world.artifacts import fetch_artifacts
from golem_project.embedded.world.deploy import V3_PERIPHERY
from golem_project.proof.caged.engines import CHAIN_ID, Engine, Sent
from golem_project.proof.caged.safe import (
    APPROVE,
    TRADE,
    TRANSFER,
    USD,
    CagedSafe,
    build_caged_safe,
    deploy,
    selector,
    set_session,
    sign_digest,
)
from permits_app.policy_cage.contract import Limit, Rule, call_rule, decode_cage_event, spender_rule, valuer_rule
from permits_app.policy_cage.safe_tx import EXEC_TRANSACTION, NONCE, join_signatures
from tests.contracts.aave import BORROW, REPAY, SUPPLY, WITHDRAW, deploy_market
from tests.contracts.test_hostile import add_asset
from tools_app.chain.abi import encode_call, encode_constructor
from tools_app.toolkit.plan import Call

WHOLE = 10**18
LOSSES = "0x" + "00" * 19 + "01"
RESERVES = "constructor(address pool, (address underlying, address aToken, address debtToken)[] reserves)"
BALANCE = "function balanceOf(address account) view returns (uint256)"
LISTEN = "function listen(address listener, bytes message)"
EXACT_IN = "function exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) params)"
MINT_V3 = (
    "function mint((address token0, address token1, uint24 fee, int24 lower, int24 upper, uint256 a0, uint256 a1,"
    " uint256 m0, uint256 m1, address recipient, uint256 deadline) params)"
)
INCREASE = (
    "function increaseLiquidity((uint256 tokenId, uint256 a0, uint256 a1, uint256 m0, uint256 m1, uint256 deadline)"
    " params)"
)
DECREASE = (
    "function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 m0, uint256 m1, uint256 deadline) p)"
)
COLLECT = "function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max) params)"
POSITIONS = (
    "function positions(uint256 tokenId) view returns (uint96 nonce, address operator, address token0, address token1,"
    " uint24 fee, int24 tickLower, int24 tickUpper, uint128 liquidity, uint256 inside0, uint256 inside1,"
    " uint128 owed0, uint128 owed1)"
)
CREATE_POOL = "function createAndInitializePoolIfNecessary(address a, address b, uint24 fee, uint160 price)"
_SAFE_TX = (
    "SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,"
    "address gasToken,address refundReceiver,uint256 nonce)"
)
_DOMAIN = "EIP712Domain(uint256 chainId,address verifyingContract)"
MOST = 2**128 - 1
FOREVER = 2**40


def ran(caged: CagedSafe, sent: Sent) -> Sent:
    """The batch ran, or the test says why it did not."""
    assert sent.succeeded, caged.error(sent)
    return sent


def refused(caged: CagedSafe, sent: Sent) -> str | None:
    """The cage's error by name."""
    return caged.error(sent)[0]


def class_of(sent: Sent) -> int:
    """What the cage took the batch for."""
    events = [event for event in map(decode_cage_event, sent.logs) if event is not None]
    [done] = [event.args for event in events if event.name == "BatchExecuted"]
    return int(done["batchClass"])


def list_hooked_token(caged: CagedSafe) -> str:
    """An approved token that calls whoever listens in the middle of every transfer; the Safe has one."""
    token = deploy(caged, "HookedToken")
    add_asset(caged, token, caged.coins["WETH"].feed)
    minted = encode_call("function mint(address to, uint256 amount)", caged.safe, WHOLE)
    assert caged.engine.send(caged.deployer, token, minted).succeeded
    caged.change(call_rule(token, encode_call(TRANSFER, caged.venue, 0)[:4]))
    set_session(caged)
    return token


def listen(caged: CagedSafe, token: str, listener: str, message: bytes) -> None:
    assert caged.engine.send(caged.stranger, token, encode_call(LISTEN, listener, message)).succeeded


def sign_for_owners(caged: CagedSafe, to: str, data: bytes, *, safe_tx_gas: int = 0) -> bytes:
    """A transaction of the Safe that two owners signed and anyone may send; with `safe_tx_gas` a failure uses it up."""
    nonce = int(caged.read(caged.safe, NONCE)[0])
    zero = "0x" + "00" * 20

    def word(value: int) -> bytes:
        return value.to_bytes(32, "big")

    def address(value: str) -> bytes:
        return word(int(value, 16))

    fields = [keccak(text=_SAFE_TX), address(to), word(0), keccak(data), word(0), word(safe_tx_gas), word(0), word(0)]
    struct = keccak(b"".join([*fields, address(zero), address(zero), word(nonce)]))
    domain = keccak(keccak(text=_DOMAIN) + word(CHAIN_ID) + address(caged.safe))
    digest = keccak(b"\x19\x01" + domain + struct)
    signed = join_signatures({str(owner.address): sign_digest(owner, digest) for owner in caged.owners[:2]})
    return encode_call(EXEC_TRANSACTION, to, 0, data, 0, safe_tx_gas, 0, 0, zero, zero, signed)


def sign_a_deposit(caged: CagedSafe, dollars: int) -> bytes:
    """What the owners signed: fetch dollars from where nobody values them."""
    usdc = caged.coins["USDC"].address
    return sign_for_owners(caged, caged.venue, encode_call(TRADE, usdc, 0, usdc, dollars * USD))


class Lent:
    """A caged Safe that may use Aave; the valuer knows USDC and WETH, and not WBTC."""

    def __init__(self, engine: Engine, *, is_valued: bool = True) -> None:
        self.caged = caged = build_caged_safe(
            engine, limits={Limit.MAX_POSITION_BPS: 5_000, Limit.MAX_CONCENTRATION_BPS: 6_000}, salt=77
        )
        self.market = deploy_market(caged, {})
        rows = [(r.underlying, r.a_token, r.debt_token) for r in (self.market.reserves[s] for s in ("USDC", "WETH"))]
        self.valuer = deploy(caged, "LendingValuer", RESERVES, self.market.pool, rows)
        self.rules = [valuer_rule(self.market.pool, self.valuer)]
        self.calls = [call_rule(self.market.pool, selector(text)) for text in (SUPPLY, BORROW, REPAY, WITHDRAW)]
        caged.change(spender_rule(self.market.pool, most_micro_usd=50_000 * USD))
        if is_valued:
            caged.change(*self.rules, *self.calls)
        set_session(caged)

    def call(self, signature: str, *args: Any) -> Call:
        return self.caged.call(self.market.pool, signature, *args)

    def supply(self, symbol: str, amount: int) -> list[Call]:
        coin = self.caged.coins[symbol]
        approved = self.caged.approve(symbol, amount, self.market.pool)
        return [approved, self.call(SUPPLY, coin.address, amount, self.caged.safe, 0)]

    def withdraw(self, symbol: str, amount: int, to: str | None = None) -> Call:
        return self.call(WITHDRAW, self.caged.coins[symbol].address, amount, to or self.caged.safe)

    def borrow(self, symbol: str, amount: int) -> Call:
        return self.call(BORROW, self.caged.coins[symbol].address, amount, 2, 0, self.caged.safe)

    def owners_supply(self, symbol: str, amount: int) -> None:
        for call in self.supply(symbol, amount):
            assert self.caged.owner_call(call.to, call.data).succeeded


class V3:
    """The real factory, position manager and router beside a caged Safe; the thief makes any pool it likes."""

    def __init__(self, caged: CagedSafe, *, is_valued: bool = True, calls: Sequence[Rule] | None = None) -> None:
        self.caged, self.engine, self.thief = caged, caged.engine, caged.stranger
        folder = "artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"
        self.factory = self._create("uniswap_v3_core", folder, "constructor()")
        manager = f"{V3_PERIPHERY}/NonfungiblePositionManager.sol/NonfungiblePositionManager.json"
        three = "constructor(address factory, address weth, address descriptor)"
        self.npm = self._create("uniswap_v3_periphery", manager, three, self.factory, caged.venue, caged.venue)
        rules = [call_rule(self.npm, selector(text)) for text in (MINT_V3, INCREASE, DECREASE, COLLECT)]
        if is_valued:
            valuer = deploy(caged, "V3PositionValuer", "constructor(address manager)", self.npm)
            rules.append(valuer_rule(self.npm, valuer))
        caged.change(spender_rule(self.npm, most_micro_usd=50_000 * USD), *(rules if calls is None else calls))
        set_session(caged)

    def _create(self, package: str, path: str, types: str, *args: Any) -> str:
        code = fetch_artifacts().creation_code(package, path) + encode_constructor(types, *args)
        created = self.engine.send(self.caged.deployer, None, code).created
        assert created
        return created

    def deploy_router(self) -> str:
        path = f"{V3_PERIPHERY}/SwapRouter02.sol/SwapRouter02.json"
        types = "constructor(address a, address b, address c, address d)"
        venue = self.caged.venue
        return self._create("uniswap_swap_router", path, types, venue, self.factory, self.npm, venue)

    def as_thief(self, to: str, signature: str, *args: Any) -> Sent:
        sent = self.engine.send(self.thief, to, encode_call(signature, *args))
        assert sent.succeeded
        return sent

    def order(self, one: str, other: str, dollars: float) -> tuple[str, str, int, int]:
        """The two tokens as a pool orders them, and what so many dollars are of each."""
        coins = {coin.address: coin for coin in self.caged.coins.values()}
        first, second = sorted((one, other), key=lambda address: int(address, 16))

        def units(token: str) -> int:
            return int(dollars * 10**8 * 10 ** coins[token].decimals // coins[token].price)

        return first, second, units(first), units(second)

    def open_pool(self, one: str, other: str, fee: int) -> None:
        first, second, amount0, amount1 = self.order(one, other, 10**6)
        self.as_thief(self.npm, CREATE_POOL, first, second, fee, isqrt((amount1 << 192) // amount0))

    def minting(self, one: str, other: str, fee: int, dollars: float, to: str) -> tuple[Any, ...]:
        first, second, amount0, amount1 = self.order(one, other, dollars)
        return (first, second, fee, -887_220, 887_220, amount0, amount1, 0, 0, to, FOREVER)

    def open_position(self, one: str, other: str, fee: int, dollars: float) -> list[Call]:
        """Of the session key: approve both, mint, and take back what is left of the rights."""
        caged, asked = self.caged, self.minting(one, other, fee, dollars, self.caged.safe)
        rights = [caged.call(asked[n], APPROVE, self.npm, asked[5 + n]) for n in (0, 1)]
        nothing = [caged.call(asked[n], APPROVE, self.npm, 0) for n in (0, 1)]
        return [*rights, caged.call(self.npm, MINT_V3, asked), *nothing]

    def leave(self, number: int, liquidity: int, to: str | None = None) -> list[Call]:
        caged = self.caged
        return [
            caged.call(self.npm, DECREASE, (number, liquidity, 0, 0, FOREVER)),
            caged.call(self.npm, COLLECT, (number, to or caged.safe, MOST, MOST)),
        ]

    def liquidity(self, number: int) -> int:
        return int(self.caged.read(self.npm, POSITIONS, number)[7])

    def give_pennies(self, count: int) -> None:
        """The thief gives the Safe positions of a cent each."""
        caged = self.caged
        usdc, weth = caged.coins["USDC"].address, caged.coins["WETH"].address
        for symbol in ("USDC", "WETH"):
            caged.mint(symbol, self.thief.address, caged.coins[symbol].units(1))
            self.as_thief(caged.coins[symbol].address, APPROVE, self.npm, 2**255)
        for _ in range(count):
            self.as_thief(self.npm, MINT_V3, self.minting(usdc, weth, 3_000, 0.01, caged.safe))

    def wealth(self) -> int:
        """Dollars and WETH of the thief, in micro-USD."""
        thief = self.thief.address
        return self.caged.balance("USDC", thief) + self.caged.balance("WETH", thief) * 3_000 * USD // WHOLE
