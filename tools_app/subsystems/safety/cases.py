"""Describes, case by case, what taking approvals back does on the local chain."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Case, FromReport, Look, ReadCase
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.figure_text import dollars

_STRANGER: Final = "0x" + "66" * 20

CASES: Final = (
    Case(
        "safety_batch_revoke_approvals",
        {
            "approvals": [
                {"token": "USDC", "spender": FromReport("old_spender")},
                {"token": "WETH", "spender": FromReport("old_spender")},
            ]
        },
        ActionClass.CLOSE_POSITION,
        given=("it once let a person take USDC and WETH",),
        tells={"revoked_count": 2, "failed": []},
        refuses=(
            ({"approvals": [{"token": "USDC", "spender": _STRANGER}]}, "NO_SUCH_APPROVAL"),
            ({"approvals": [{"token": "ETH", "spender": _STRANGER}]}, "INVALID_PARAMS"),
        ),
    ),
)

_DECIMALS: Final = {"ETH": 18, "WETH": 18, "USDC": 6, "DAI": 18, "USDT": 6}
_HELD: Final = ("aave_borrow", "aave_supply_more")
_ELSEWHERE: Final = ({"chain_id": 999_999}, "CHAIN_NOT_SUPPORTED")
_STEPS: Final = 3
_SUPPLIED, _OWED = 14_000 * 10**6, 3_000 * 10**6
"""Micro-USD of four WETH and 2,000 DAI, and of 3,000 USDC."""


def _worth(look: Look, symbol: str) -> int:
    return look.balance(symbol) * look.price(symbol) // 10 ** (_DECIMALS[symbol] + 2)


def _wallet(look: Look) -> int:
    """Micro-USD of what lies in the wallet, at the feeds."""
    return sum(_worth(look, symbol) for symbol in _DECIMALS)


def _way_out(look: Look, wei_per_gas: int) -> str:
    """Two supplies and a debt are three transactions of 400,000 gas, each rounded by itself."""
    return dollars(_STEPS * (400_000 * wei_per_gas * look.price("ETH") // 10**20))


def _near(micro_usd: int) -> About:
    """Roundings of each part."""
    return About(micro_usd, 1)


def _ether(look: Look) -> int:
    """Micro-USD of all that follows ether: coin, wrapped, and the four that are lent."""
    return _worth(look, "ETH") + _worth(look, "WETH") + 4 * look.price("WETH") // 100


READS: Final = (
    ReadCase(
        "safety_audit_approvals",
        tells={
            "total_approvals": 2,
            "approvals.#": 2,
            "approvals.0.spender": lambda look: look.told("old_spender"),
            "revoked": [],
        },
        given=("it once let a person take USDC and WETH",),
        refuses=(_ELSEWHERE,),
        most_exchanges=6,
    ),
    ReadCase(
        "safety_get_protocol_exposure",
        tells={
            "by_protocol[name=wallet].held_usd": lambda look: _near(_wallet(look)),
            "by_protocol[name=Aave V3].held_usd": dollars(_SUPPLIED),
            "by_protocol[name=Aave V3].owed_usd": dollars(_OWED),
            "by_chain.0.net_usd": lambda look: _near(_wallet(look) + _SUPPLIED - _OWED),
            "not_counted": [],
        },
        after=_HELD,
        refuses=(_ELSEWHERE,),
        most_exchanges=7,
    ),
    ReadCase(
        "safety_get_portfolio_health",
        tells={
            "total_value_usd": lambda look: _near(_wallet(look) + _SUPPLIED),
            "debt_usd": dollars(_OWED),
            "net_worth_usd": lambda look: _near(_wallet(look) + _SUPPLIED - _OWED),
            "positions.#": 1,
            "positions.0.health_factor": "3.83",
            "overall_risk": "Safe",
        },
        after=_HELD,
        refuses=(_ELSEWHERE,),
        most_exchanges=7,
    ),
    ReadCase(
        "safety_get_liquidation_risks",
        tells={
            "risky_positions.#": 1,
            # One less debt over cover, 1 - 3,000 / 11,500, and never told as more than it is.
            "risky_positions.0.collateral_may_fall_percent": "73.91",
            "risky_positions.0.debt_usd": dollars(_OWED),
            "risky_positions.0.tool": "aave_repay",
            "total_at_risk_usd": dollars(0),
        },
        after=_HELD,
        refuses=(_ELSEWHERE,),
        most_exchanges=7,
    ),
    ReadCase(
        "safety_get_risk_dashboard",
        tells={
            "net_worth_usd": lambda look: _near(_wallet(look) + _SUPPLIED - _OWED),
            "total_debt_usd": dollars(_OWED),
            "critical_positions": [],
            "off_peg": [],
            "overall_risk": "Safe",
        },
        after=_HELD,
        refuses=(_ELSEWHERE,),
        most_exchanges=7,
    ),
    ReadCase(
        "safety_simulate_price_stress",
        tells={
            "scenarios[price_change_pct=-20].total_loss_usd": lambda look: _near(_ether(look) // 5),
            "scenarios[price_change_pct=-60].total_loss_usd": lambda look: _near(_ether(look) * 3 // 5),
            "scenarios[price_change_pct=-60].liquidated_positions": [],
            "scenarios[price_change_pct=-60].debt_usd": dollars(_OWED),
        },
        after=_HELD,
        refuses=(_ELSEWHERE,),
        most_exchanges=7,
    ),
    ReadCase(
        "safety_estimate_unwind_cost",
        tells={
            "positions.#": 1,
            "positions.0.tool": "aave_repay",
            "positions.0.steps": _STEPS,
            "positions.0.cost_usd": lambda look: _way_out(look, sum(look.gas_price())),
            "total_unwind_cost_usd": lambda look: _way_out(look, sum(look.gas_price())),
            "estimated_total_time": 0,
            "not_counted": [],
        },
        after=_HELD,
        refuses=(_ELSEWHERE,),
        most_exchanges=8,
    ),
    ReadCase(
        "safety_estimate_unwind_cost",
        {"urgency": "Urgent", "kind": "Lending"},
        # The base fee counts twice, the tip once.
        {"total_unwind_cost_usd": lambda look: _way_out(look, look.gas_price()[0] + sum(look.gas_price()))},
        name="safety_estimate_unwind_cost_in_a_hurry",
        after=_HELD,
        most_exchanges=8,
    ),
    ReadCase(
        "safety_detect_honeypot",
        {"token": "USDC"},
        {"is_honeypot": False, "sell_tax_bps": 0, "max_sell_pct": 100},
        refuses=(_ELSEWHERE,),
        most_exchanges=12,
    ),
    ReadCase(
        "safety_detect_honeypot",
        {"token": "FEE"},
        {"is_honeypot": False, "buy_tax_bps": 100, "sell_tax_bps": 100},
        name="safety_detect_honeypot_of_one_that_keeps_a_hundredth",
        most_exchanges=12,
    ),
    ReadCase(
        "safety_validate_token",
        {"token": "USDC"},
        {
            "token": lambda look: look.token("USDC"),
            "symbol": "USDC",
            "decimals": 6,
            "on_token_list": True,
            "is_honeypot": False,
            "risk_level": "Safe",
        },
        refuses=(_ELSEWHERE,),
        most_exchanges=13,
    ),
)
