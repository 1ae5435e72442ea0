"""Describes, case by case, what the `morpho_*` writes do on the local chain, on Morpho Blue's own code, in its market
of USDC against WETH.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.morpho_blue.addresses import LOCAL_CHAIN_ID, known_markets
from tools_app.toolkit.case import About, Case, FromReport, Look, ReadCase, Together
from tools_app.toolkit.context import AbiValue
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.figure_text import percent

_ETH: Final = 10**18
_USD: Final = 10**6
_MARKET: Final = {"market_id": known_markets(LOCAL_CHAIN_ID)[0].id}
_NO_MARKET: Final = ({"market_id": "0x" + "11" * 32}, "MARKET_NOT_FOUND")

_PAIR: Final = {"protocol": "morpho", "collateral_asset": "WETH", "borrow_asset": "USDC"}
_REPLACED: Final = {
    ("approve(address,uint256)", 1): "of what one round leaves of an approval the next round's takes the place"
}

CASES: Final = (
    Case(
        "morpho_supply_market",
        {**_MARKET, "amount": str(20_000 * _USD)},
        ActionClass.NEW_POSITION,
        moves={"USDC": -20_000 * _USD},
        holds={"USDC": 20_000 * _USD},
        tells={"assets_supplied": str(20_000 * _USD)},
        refuses=(
            _NO_MARKET,
            ({"asset": "DAI"}, "INVALID_PARAMS"),
            ({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"),
            ({"on_behalf_of": "0x" + "11" * 20}, "INVALID_PARAMS"),
        ),
    ),
    Case(
        "morpho_supply_market",
        {**_MARKET, "amount": str(5 * _ETH), "asset": "WETH"},
        ActionClass.NEW_POSITION,
        name="morpho_supply_collateral",
        moves={"WETH": -5 * _ETH},
        holds={"WETH": 5 * _ETH},
    ),
    Case(
        "morpho_withdraw_market",
        {**_MARKET, "amount": str(5_000 * _USD)},
        ActionClass.DECREASE_POSITION,
        after=("morpho_supply_market",),
        moves={"USDC": 5_000 * _USD},
        holds={"USDC": -5_000 * _USD},
        refuses=(
            ({"amount": str(20_500 * _USD)}, "MORPHO_MORE_THAN_THERE_IS"),
            ({"amount": "1", "asset": "WETH"}, "LENDING_NOTHING_THERE"),
        ),
    ),
    Case(
        "morpho_withdraw_market",
        {**_MARKET, "amount": "max"},
        ActionClass.CLOSE_POSITION,
        name="morpho_withdraw_all",
        after=("morpho_supply_market",),
        moves={"USDC": About(20_000 * _USD, 1)},
        holds={"USDC": About(-20_000 * _USD, 1)},
    ),
    Case(
        "morpho_withdraw_market",
        {**_MARKET, "amount": str(_ETH), "asset": "WETH"},
        ActionClass.DECREASE_POSITION,
        name="morpho_withdraw_collateral",
        after=("morpho_borrow_market",),
        moves={"WETH": _ETH},
        holds={"WETH": -_ETH},
        refuses=(({"amount": "max"}, "HEALTH_TOO_LOW"),),
        # The debt has grown by two fifths then.
        when_old="HEALTH_TOO_LOW",
    ),
    Case(
        "morpho_borrow_market",
        {**_MARKET, "amount": str(10_000 * _USD), "collateral_amount": str(10 * _ETH)},
        ActionClass.NEW_POSITION,
        moves={"WETH": -10 * _ETH, "USDC": 10_000 * _USD},
        holds={"WETH": 10 * _ETH},
        owes={"USDC": 10_000 * _USD},
        tells={"borrowed": str(10_000 * _USD), "ltv": "33.33", "liquidation_ltv": "86.00"},
        refuses=(_NO_MARKET, ({"amount": str(17_500 * _USD)}, "HEALTH_TOO_LOW")),
    ),
    Case(
        "morpho_repay_market",
        {**_MARKET, "amount": str(4_000 * _USD)},
        ActionClass.DECREASE_POSITION,
        after=("morpho_borrow_market",),
        moves={"USDC": -4_000 * _USD},
        owes={"USDC": -4_000 * _USD},
        refuses=(({"amount": str(10_500 * _USD)}, "MORPHO_MORE_THAN_THERE_IS"),),
    ),
    Case(
        "morpho_repay_market",
        {**_MARKET, "amount": "max"},
        ActionClass.DECREASE_POSITION,
        name="morpho_repay_all",
        after=("morpho_borrow_market",),
        moves={"USDC": About(-10_000 * _USD, 1)},
        owes={"USDC": About(-10_000 * _USD, 1)},
        tells={"remaining_debt": "0"},
    ),
    Case(
        "morpho_repay_market",
        {**_MARKET, "amount": "max", "withdraw_collateral": True},
        ActionClass.CLOSE_POSITION,
        name="morpho_repay_and_leave",
        after=("morpho_borrow_market",),
        moves={"USDC": About(-10_000 * _USD, 1), "WETH": 10 * _ETH},
        holds={"WETH": -10 * _ETH},
        owes={"USDC": About(-10_000 * _USD, 1)},
        tells={"remaining_debt": "0", "collateral_withdrawn": str(10 * _ETH)},
        refuses=(({"amount": str(1_000 * _USD)}, "INVALID_PARAMS"),),
    ),
    Case(
        "lending_execute_leverage_loop",
        {**_PAIR, "initial_amount": str(4 * _ETH), "target_leverage": "1.8"},
        ActionClass.INCREASE_POSITION,
        name="morpho_loop",
        moves={"WETH": About(-4 * _ETH, 100)},
        holds={"WETH": About(72 * _ETH // 10, 100)},
        owes={"USDC": About(9_600 * _USD, 100)},
        meaningless=_REPLACED,
        loses_bps=100,
    ),
    Case(
        "lending_unwind_loop",
        {"protocol": "morpho", "account": FromReport("account"), "percent_to_unwind": 100},
        ActionClass.CLOSE_POSITION,
        name="morpho_unwind_all",
        after=("morpho_loop",),
        moves={"WETH": About(4 * _ETH, 200), "USDC": About(48 * _USD, 9_900)},
        holds={"WETH": About(-72 * _ETH // 10, 100)},
        owes={"USDC": About(-9_600 * _USD, 100)},
        # The debt has grown by two thirds then; one plan pays a part of it.
        when_old="LEVERAGE_OUT_OF_REACH",
        meaningless=_REPLACED,
        loses_bps=100,
    ),
    Case(
        "morpho_liquidate",
        {**_MARKET, "borrower": FromReport("borrower"), "seized_assets": str(_ETH)},
        ActionClass.REBALANCE,
        given=("a borrower of the market is no longer covered",),
        moves={"WETH": _ETH, "USDC": About(-1_724_480_000, 10)},
        tells={"collateral_seized": str(_ETH)},
        refuses=(({"seized_assets": str(7 * _ETH)}, "MORPHO_MORE_THAN_THERE_IS"),),
        # The borrower's loss, at the feeds' price.
        gains_bps=4_500,
    ),
)

TOGETHER: Final = (
    Together(
        "morpho_withdraw_market",
        {"amount": str(12_000 * _USD)},
        {"amount": str(13_000 * _USD)},
        {"amount": str(5_000 * _USD)},
        before="morpho_supply_market",
    ),
    Together(
        "morpho_withdraw_collateral",
        {"amount": str(3 * _ETH)},
        {"amount": str(31 * _ETH // 10)},
        {"amount": str(_ETH // 10)},
        before="morpho_borrow_market",
        is_cover=True,
    ),
)

_STATE: Final = "function market(bytes32) view returns (uint128, uint128, uint128, uint128, uint128, uint128)"
_POSITION: Final = "function position(bytes32, address) view returns (uint256, uint128, uint128)"
_ID: Final = str(_MARKET["market_id"])
_BORROWED: Final = ("morpho_borrow_market", "morpho_supply_market")


def _state(look: Look) -> AbiValue:
    return look.call(look.at("morpho"), _STATE, bytes.fromhex(_ID[2:]))


def _own(look: Look, place: int) -> int:
    return int(look.call(look.at("morpho"), _POSITION, bytes.fromhex(_ID[2:]), look.account)[place])


def _of_shares(shares: int, assets: int, all_shares: int) -> int:
    """What shares are worth with the contract's virtual million of shares and one asset, as its documents say it."""
    return shares * (assets + 1) // (all_shares + 10**6)


READS: Final = (
    ReadCase(
        "morpho_get_market_info",
        _MARKET,
        {
            "markets.#": 1,
            "markets.0.market_id": _ID,
            "markets.0.loan_token.symbol": "USDC",
            "markets.0.lltv": "86.00",
            # Interest of a few blocks lies between what the contract last wrote and what is told.
            "markets.0.total_supplied": lambda look: About(_state(look)[0], 1),
            "markets.0.total_borrowed": lambda look: About(_state(look)[2], 1),
            "markets.0.available_liquidity": lambda look: _state(look)[0] - _state(look)[2],
            "markets.0.utilization": lambda look: percent(_state(look)[2], _state(look)[0], 2),
        },
        after=_BORROWED,
        refuses=(_NO_MARKET,),
        most_exchanges=5,
    ),
    ReadCase(
        "morpho_get_user_position",
        tells={
            "markets.#": 1,
            "markets.0.supply_shares": lambda look: _own(look, 0),
            "markets.0.borrow_shares": lambda look: _own(look, 1),
            "markets.0.supply_assets": lambda look: About(
                _of_shares(_own(look, 0), _state(look)[0], _state(look)[1]), 1
            ),
            "markets.0.borrow_assets": lambda look: About(
                _of_shares(_own(look, 1), _state(look)[2], _state(look)[3]), 1
            ),
            "markets.0.collateral": 10 * _ETH,
            # 10,000 owed over ten WETH at 3,000.
            "markets.0.ltv": "33.33",
            "markets.0.is_liquidatable": False,
        },
        after=_BORROWED,
        most_exchanges=5,
    ),
)
