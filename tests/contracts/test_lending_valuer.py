"""What a lending position counts as, on the real Aave V3: aTokens less debt, and no debt that nobody sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from permits_app.policy_cage.contract import (
    AssetRule,
    Limit,
    asset_rules,
    call_rule,
    limit_rule,
    spender_rule,
    valuer_rule,
)
from tests.contracts.test_outcome_rules import expect
from tests.proof.caged.aave import BORROW, REPAY, SUPPLY, WITHDRAW, Market, deploy_market
from tests.proof.caged.engines import Engine
from tests.proof.caged.safe import USD, CagedSafe, build_caged_safe, deploy, selector
from tools_app.chain.abi import decode_revert
from tools_app.toolkit.plan import Call

BALANCE = "function balanceOf(address account) view returns (uint256)"
RESERVES = "constructor(address pool, (address underlying, address aToken, address debtToken)[] reserves)"
DAY = 86_400
WHOLE = 10**18


@dataclass
class Lent:
    """A caged Safe that may use Aave; the valuer knows USDC, WETH and a token without a price, and not WBTC."""

    caged: CagedSafe
    market: Market
    valuer: str

    def call(self, signature: str, *args: Any) -> Call:
        return self.caged.call(self.market.pool, signature, *args)

    def supply(self, symbol: str, amount: int, account: str | None = None) -> list[Call]:
        coin = self.caged.coins[symbol]
        return [
            self.caged.approve(symbol, amount, self.market.pool),
            self.call(SUPPLY, coin.address, amount, account or self.caged.safe, 0),
        ]

    def borrow(self, symbol: str, amount: int) -> Call:
        return self.call(BORROW, self.market.reserves[symbol].underlying, amount, 2, 0, self.caged.safe)

    def held(self, symbol: str) -> int:
        return int(self.caged.read(self.market.reserves[symbol].a_token, BALANCE, self.caged.safe)[0])

    def owed(self, symbol: str) -> int:
        return int(self.caged.read(self.market.reserves[symbol].debt_token, BALANCE, self.caged.safe)[0])

    def measure(self) -> tuple[int, int, int]:
        """Gross and debt at Aave, and the whole account, in micro-USD."""
        measured = self.caged.ask("measure")
        index = self.caged.ask("positions").index(self.market.pool)
        return measured[2][index], measured[3][index], measured[6]

    def valuers_error(self) -> str | None:
        """Why the valuer refuses, asked as the cage asks it."""
        from tests.proof.caged.engines import InProcessEngine, NodeEngine
        from tools_app.chain.abi import encode_call

        data = encode_call("function measure(address account)", self.caged.safe)
        engine = self.caged.engine
        if isinstance(engine, InProcessEngine):
            output = engine.call(self.valuer, data, sender=self.caged.cage).output
        else:
            assert isinstance(engine, NodeEngine)
            request = {"from": self.caged.cage, "to": self.valuer, "data": "0x" + data.hex()}
            output = engine.simulate([request], at=engine.now())[0].output
        errors = (
            "error DebtHasNoPrice(address underlying, uint256 amount)",
            "error DebtNotListed(uint256 borrowed, uint256 listed)",
        )
        return decode_revert(output, errors).name


@pytest.fixture(scope="module")
def lender(engine: Engine) -> Lent:
    caged = build_caged_safe(
        engine, limits={Limit.MAX_POSITION_BPS: 5_000, Limit.MAX_CONCENTRATION_BPS: 6_000}, salt=77
    )
    token = deploy(caged, "SimulatedToken", "constructor(string name, string symbol, uint8 decimals)", "X", "X", 18)
    market = deploy_market(caged, {"X": (token, 18)})
    listed = [market.reserves[symbol] for symbol in ("USDC", "WETH", "X")]
    rows = [(one.underlying, one.a_token, one.debt_token) for one in listed]
    valuer = deploy(caged, "LendingValuer", RESERVES, market.pool, rows)
    caged.change(
        valuer_rule(market.pool, valuer),
        spender_rule(market.pool, most_micro_usd=50_000 * USD),
        *(call_rule(market.pool, selector(text)) for text in (SUPPLY, BORROW, REPAY, WITHDRAW)),
    )
    return Lent(caged, market, valuer)


@pytest.fixture
def lent(lender: Lent) -> Iterator[Lent]:
    snapshot = lender.caged.engine.snapshot()
    yield lender
    lender.caged.engine.revert(snapshot)


def test_collateral_and_debt_count_as_the_tokens_of_aave_say(lent: Lent) -> None:
    start = lent.measure()[2]
    expect(lent.caged, lent.caged.execute(*lent.supply("WETH", 4 * WHOLE), lent.borrow("USDC", 5_000 * USD)), None)
    gross, debt, total = lent.measure()
    assert gross == lent.caged.coins["WETH"].value(lent.held("WETH")) == 12_000 * USD
    assert debt == lent.owed("USDC") + 1 == 5_000 * USD + 1
    assert total == start - 1


def test_interest_is_counted_as_it_accrues_without_a_transaction(lent: Lent) -> None:
    expect(lent.caged, lent.caged.execute(*lent.supply("WETH", 4 * WHOLE), lent.borrow("USDC", 5_000 * USD)), None)
    before = lent.measure()
    lent.caged.engine.advance(30 * DAY)
    gross, debt, total = lent.measure()
    assert debt == lent.owed("USDC") + 1 > before[1]
    assert gross == lent.caged.coins["WETH"].value(lent.held("WETH")) >= before[0]
    assert total - before[2] == (gross - before[0]) - (debt - before[1])


def test_what_is_paid_back_and_taken_out_leaves_nothing(lent: Lent) -> None:
    caged, usdc, weth = lent.caged, lent.caged.coins["USDC"], lent.caged.coins["WETH"]
    expect(caged, caged.execute(*lent.supply("WETH", 4 * WHOLE), lent.borrow("USDC", 5_000 * USD)), None)
    caged.engine.advance(DAY + 900)
    home = [
        caged.approve("USDC", 5_001 * USD, lent.market.pool),
        lent.call(REPAY, usdc.address, 2**256 - 1, 2, caged.safe),
        lent.call(WITHDRAW, weth.address, 2**256 - 1, caged.safe),
        caged.approve("USDC", 0, lent.market.pool),
    ]
    # Aave takes what is owed of "everything" only for the caller's own debt, and the Safe is the caller.
    expect(caged, caged.execute(*home), None)
    assert lent.measure()[:2] == (0, 0)
    assert caged.ask("delayOf", 6, bytes(12) + bytes.fromhex(lent.market.pool[2:]), 0) == 0


def test_the_valuer_of_what_is_held_is_not_taken_away_at_once(lent: Lent) -> None:
    caged = lent.caged
    expect(caged, caged.execute(*lent.supply("WETH", 4 * WHOLE)), None)
    assert caged.ask("delayOf", 6, bytes(12) + bytes.fromhex(lent.market.pool[2:]), 0) == 2 * DAY


def test_a_debt_in_a_reserve_the_valuer_does_not_list_hides_no_theft(lent: Lent) -> None:
    """WBTC is an approved asset, so what is borrowed of it looks like a gain as long as nobody sees the debt."""
    caged = lent.caged
    expect(caged, caged.execute(*lent.supply("WETH", 4 * WHOLE)), None)
    hidden = [lent.borrow("WBTC", 15_000_000), *caged.take("USDC", 8_900 * USD)]
    expect(caged, caged.execute(*hidden), ("ValuerFailed", (lent.market.pool,)))
    expect(caged, caged.execute(lent.borrow("WBTC", 1)), ("ValuerFailed", (lent.market.pool,)))
    # The owners may do it from the Safe; then nothing runs through the cage, for nobody could judge it.
    wbtc = caged.coins["WBTC"].address
    assert caged.owner_call(lent.market.pool, lent.borrow("WBTC", 1).data).succeeded
    assert lent.valuers_error() == "DebtNotListed"
    expect(caged, caged.execute(caged.approve("USDC", 1)), ("ValuerFailed", (lent.market.pool,)))
    assert caged.owner_call(wbtc, caged.approve("WBTC", 10, lent.market.pool).data).succeeded
    assert caged.owner_call(lent.market.pool, lent.call(REPAY, wbtc, 2, 2, caged.safe).data).succeeded
    expect(caged, caged.execute(caged.approve("USDC", 1)), None)


def test_a_debt_in_a_token_without_a_price_stops_everything(lent: Lent) -> None:
    caged = lent.caged
    expect(caged, caged.execute(*lent.supply("WETH", 4 * WHOLE)), None)
    expect(caged, caged.execute(lent.borrow("X", 1)), ("ValuerFailed", (lent.market.pool,)))
    assert caged.owner_call(lent.market.pool, lent.borrow("X", 1).data).succeeded
    assert lent.valuers_error() == "DebtHasNoPrice"


def test_collateral_in_a_reserve_that_is_not_listed_counts_as_lost(lent: Lent) -> None:
    caged = lent.caged
    sent = caged.execute(*lent.supply("WBTC", 10_000_000))
    expect(caged, sent, ("LossTooLarge", (6_000 * USD, 180 * USD)))


def test_collateral_given_to_another_or_taken_out_to_another_is_lost(lent: Lent) -> None:
    caged, weth = lent.caged, lent.caged.coins["WETH"].address
    assert caged.error(caged.execute(*lent.supply("WETH", WHOLE, caged.stranger.address)))[0] == "LossTooLarge"
    expect(caged, caged.execute(*lent.supply("WETH", WHOLE)), None)
    stolen = lent.call(WITHDRAW, weth, WHOLE, caged.stranger.address)
    assert caged.error(caged.execute(stolen))[0] == "LossTooLarge"


def test_a_loan_less_covered_than_the_owner_asks_is_refused_though_aave_gives_it(lent: Lent) -> None:
    caged = lent.caged
    calls = [*lent.supply("WETH", 4 * WHOLE), lent.borrow("USDC", 9_700 * USD)]
    expect(caged, caged.execute(*calls), ("CollateralRatioTooLow", (lent.market.pool, 12_371, 12_500)))
    expect(caged, caged.execute(*calls[:2], lent.borrow("USDC", 9_500 * USD)), None)


def test_the_right_to_borrow_is_given_to_nobody_even_with_arbitrary_calls(lent: Lent) -> None:
    caged = lent.caged
    caged.change(limit_rule(Limit.ALLOWS_ARBITRARY_CALLS, 1))
    delegate = "function approveDelegation(address delegatee, uint256 amount)"
    call = caged.call(lent.market.reserves["USDC"].debt_token, delegate, caged.stranger.address, 1)
    expect(caged, caged.execute(call), ("SelectorForbidden", (selector(delegate),)))


def test_an_atoken_that_is_an_asset_too_is_counted_once(lent: Lent) -> None:
    caged, reserve = lent.caged, lent.market.reserves["WETH"]
    expect(caged, caged.execute(*lent.supply("WETH", 4 * WHOLE)), None)
    before = lent.measure()[2]
    most = 10**24
    asset = AssetRule(caged.coins["WETH"].feed, 3_600, 18, 8)
    caged.change(*asset_rules(reserve.a_token, asset, per_batch=most, per_window=most))
    gross, _, total = lent.measure()
    assert gross == 0
    assert abs(total - before) <= USD
