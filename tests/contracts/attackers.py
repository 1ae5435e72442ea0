"""What an attacker of the cage works with: the real Aave V3 and Uniswap V3, and what owners signed for another time."""

from __future__ import annotations

from typing import Any

from permits_app.policy_cage.contract import Limit, call_rule, decode_cage_event, spender_rule, valuer_rule
from tests.contracts.test_hostile import add_asset
from tests.proof.caged.aave import BORROW, REPAY, SUPPLY, WITHDRAW, deploy_market
from tests.proof.caged.engines import Engine, Sent
from tests.proof.caged.safe import (
    APPROVE,
    TRADE,
    TRANSFER,
    USD,
    CagedSafe,
    build_caged_safe,
    deploy,
    selector,
    set_session,
)
from tests.proof.caged.signed import LISTEN, sign_for_owners
from tests.proof.caged.uniswap import WHOLE
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

LOSSES = "0x" + "00" * 19 + "01"
RESERVES = "constructor(address pool, (address underlying, address aToken, address debtToken)[] reserves)"
BALANCE = "function balanceOf(address account) view returns (uint256)"


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

    def give(self, symbol: str, amount: int) -> None:
        """A stranger supplies for the Safe."""
        caged, coin = self.caged, self.caged.coins[symbol]
        caged.mint(symbol, caged.stranger.address, amount)
        approved = caged.call(coin.address, APPROVE, self.market.pool, amount)
        for call in (approved, self.call(SUPPLY, coin.address, amount, caged.safe, 0)):
            assert caged.engine.send(caged.stranger, call.to, call.data).succeeded

    def owners_supply(self, symbol: str, amount: int) -> None:
        for call in self.supply(symbol, amount):
            assert self.caged.owner_call(call.to, call.data).succeeded
