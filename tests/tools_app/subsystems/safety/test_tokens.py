"""Tokens that cannot be sold as they were bought are told, and fair ones are not accused."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.rpc import checksum
from tests.evm.world import World
from tests.tools_app.factories import answer_of, make_context
from tools_app.chain.tokens import TokenNotFound
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.simulation.honeypot_check import TokenTrial, TrialSale
from tools_app.subsystems.safety.token_tools import DANGEROUS_TAX_BPS, is_honeypot

ETH = 10**18
POOLED = 300 * ETH
FAIR, NO_SALE, TAX_99, TAX_10, DUST, CLOSES, TO_POOL_ALONE, SAYS_FALSE = range(8)


def deploy_trap(chain: World, kind: int, *, depth: int = POOLED) -> str:
    """A token of that kind in a V2 pair with WETH."""
    maker = chain.new_account(2 * ETH, {"WETH": depth})
    token = chain.deploy(maker, "TrapToken", "(uint256)", kind)
    weth, factory = chain.tokens["WETH"].address, chain.contracts["uniswap_v2_factory"]
    chain.transact(maker, factory, "createPair(address,address)", token, weth)
    [pair] = chain.rpc.read(factory, "getPair(address,address)", token, weth, returns="(address)")
    chain.transact(maker, token, "setPool(address)", checksum(pair))
    for each, amount in ((token, 1_000_000 * ETH), (weth, depth)):
        chain.transact(maker, each, "transfer(address,uint256)", checksum(pair), amount)
    chain.transact(maker, checksum(pair), "mint(address)", maker.address)
    return token


def ask(chain: World, tool: str, token: str) -> Any:
    return answer_of(make_context(chain), tool, token=token)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        # Whether it is a trap; sales now, in a day, in thirty; taxes of a purchase and a sale; the most that is sold.
        (FAIR, (False, (True, True, True), (0, 0), 100)),
        (NO_SALE, (True, (False, False, False), (0, None), 0)),
        (TAX_99, (True, (True, True, True), (0, 9_900), 100)),
        (TAX_10, (False, (True, True, True), (1_000, 1_000), 100)),
        (DUST, (True, (False, False, False), (0, None), 1)),
        (CLOSES, (True, (True, False, False), (0, None), 100)),
        (TO_POOL_ALONE, (False, (True, True, True), (0, 0), 100)),
        (SAYS_FALSE, (True, (False, False, False), (0, None), 0)),
    ],
)
def test_a_token_is_tried_as_it_is_traded(chain: World, kind: int, told: tuple[Any, ...]) -> None:
    verdict = ask(chain, "safety_detect_honeypot", deploy_trap(chain, kind))
    assert (
        verdict["is_honeypot"],
        (verdict["sell_success"], verdict["sell_success_in_1_day"], verdict["sell_success_in_30_days"]),
        (verdict["buy_tax_bps"], verdict["sell_tax_bps"]),
        verdict["max_sell_pct"],
    ) == told
    assert verdict["buy_success"] and verdict["can_be_passed_on"] is (kind != TO_POOL_ALONE)
    # What its owner may do is told of every kind, and makes none of them a trap.
    assert verdict["has_pause"] and verdict["has_blacklist"] and verdict["owner"] is not None
    assert verdict["owner"] in verdict["risk_summary"]


@pytest.mark.parametrize("symbol", ["WETH", "USDC", "USDT", "DAI", "WBTC"])
def test_tokens_that_everybody_trades_are_not_accused(chain: World, symbol: str) -> None:
    verdict = ask(chain, "safety_detect_honeypot", symbol)
    assert not verdict["is_honeypot"] and verdict["max_sell_pct"] == 100 and verdict["sell_tax_bps"] == 0
    check = ask(chain, "safety_validate_token", symbol)
    assert check["risk_level"] == "Safe" and check["warnings"] == [] and check["on_token_list"]
    assert float(check["liquidity_usd"]) > 100_000


def test_a_fee_on_transfers_is_measured_and_is_no_trap(chain: World) -> None:
    feeing = next(each for each in chain.tokens.values() if "fee_on_transfer" in each.traits)
    verdict = ask(chain, "safety_detect_honeypot", feeing.address)
    assert not verdict["is_honeypot"]
    assert verdict["buy_tax_bps"] == 100 and 100 <= verdict["sell_tax_bps"] <= 101
    assert any("keeps 1.0" in each for each in ask(chain, "safety_validate_token", feeing.address)["warnings"])


def test_a_trap_is_dangerous_and_a_look_alike_is_told_by_whom_it_copies(chain: World) -> None:
    check = ask(chain, "safety_validate_token", deploy_trap(chain, NO_SALE))
    assert check["risk_level"] == "Dangerous" and check["is_honeypot"] and check["untrusted_words"]
    assert any("trap" in each for each in check["warnings"])
    maker = chain.new_account(ETH)
    copy = chain.deploy(maker, "SimulatedToken", "(string,string,uint8)", "USD Coin", "U5DC", 6)
    told = ask(chain, "safety_validate_token", copy)
    usdc = chain.tokens["USDC"].address
    assert told["risk_level"] == "Dangerous" and any(usdc in each for each in told["warnings"])
    assert told["is_honeypot"] is None and not told["has_liquidity"] and told["transfer_tax_buy_bps"] is None


def test_a_fair_token_that_is_not_registered_is_for_caution_with_its_reasons(chain: World) -> None:
    check = ask(chain, "safety_validate_token", deploy_trap(chain, FAIR))
    assert check["risk_level"] == "Caution"
    assert any("not registered" in each for each in check["warnings"])
    assert any("can pause" in each for each in check["warnings"])


def test_a_tenth_of_a_trade_is_for_caution_and_more_than_half_is_a_trap(chain: World) -> None:
    check = ask(chain, "safety_validate_token", deploy_trap(chain, TAX_10))
    assert check["risk_level"] == "Caution" and any("keeps 10.00%" in each for each in check["warnings"])
    for tax, is_trap in ((5 * DANGEROUS_TAX_BPS, False), (5 * DANGEROUS_TAX_BPS + 1, True)):
        assert is_honeypot(TokenTrial(1, 0, (TrialSale(0, tax, 0), TrialSale(1, 0, 0)), passes_on=True)) is is_trap


@pytest.mark.parametrize("is_thin", [True, False])
def test_a_pool_of_less_than_a_hundred_thousand_dollars_is_told_as_thin(chain: World, is_thin: bool) -> None:
    [price] = chain.rpc.read(chain.tokens["WETH"].feed, "latestAnswer()", returns="(int256)")
    enough = -(-100_000 * 10**8 * ETH // int(price))
    token = deploy_trap(chain, FAIR, depth=enough - is_thin * 10**12)
    warnings = ask(chain, "safety_validate_token", token)["warnings"]
    assert any("deepest pool holds 99,999 dollars" in each for each in warnings) is is_thin


def test_what_is_no_token_or_trades_nowhere_is_refused_in_words(chain: World) -> None:
    maker = chain.new_account(ETH)
    lonely = chain.deploy(maker, "SimulatedToken", "(string,string,uint8)", "Lonely", "LONE", 18)
    with pytest.raises(TokenNotFound, match="nothing can be tried"):
        ask(chain, "safety_detect_honeypot", lonely)
    with pytest.raises(InvalidParams):
        ask(chain, "safety_detect_honeypot", "ETH")
    with pytest.raises(GolemError):
        ask(chain, "safety_validate_token", maker.address)
