"""Describes, case by case, what reads of the golem itself, its wallet, its alerts and its owner's other golems tell on
the local chain, and what its own alerts and breaker do.
"""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, FromReport, LocalCase, Look, ReadCase
from tools_app.toolkit.figure_text import dollars

_ELSEWHERE: Final = ({"chain_id": 999_999}, "CHAIN_NOT_SUPPORTED")
_TICKED: Final = ("its heart beat twice",)
_WATCHED: Final = ("it has its debts watched from a health of 5 down",)
_BORROWED: Final = ("aave_borrow", "aave_supply_more")
_DECIMALS: Final = {"ETH": 18, "WETH": 18, "USDC": 6, "DAI": 18, "USDT": 6}
_PERSON: Final = "0x" + "55" * 20
_SEND_SEVEN_USDC: Final = "0xa9059cbb" + _PERSON[2:].rjust(64, "0") + hex(7 * 10**6)[2:].rjust(64, "0")
_HEALTH: Final = "function getUserAccountData(address) view returns (uint256,uint256,uint256,uint256,uint256,uint256)"


def _wallet(look: Look) -> int:
    """Micro-USD of what lies in the wallet, at the feeds."""
    return sum(look.balance(symbol) * look.price(symbol) // 10 ** (digits + 2) for symbol, digits in _DECIMALS.items())


def _near(look: Look) -> About:
    """All that it holds: each part is rounded by itself."""
    return About(_wallet(look), 1)


def _health_at_lender(look: Look) -> str:
    """As the lender says it, cut to hundredths."""
    wad = int(look.call(look.at("pool"), _HEALTH, look.account)[5])
    return f"{wad // 10**18}.{wad // 10**16 % 100:02d}"


def _gwei(wei: int) -> str:
    whole, part = divmod(wei, 10**9)
    return f"{whole}.{part:09d}".rstrip("0").rstrip(".")


def _gas_cost(look: Look, gas: int) -> str:
    """Never told as less than it is."""
    return dollars(-(-gas * sum(look.gas_price()) * look.price("ETH") // 10**20))


READS: Final = (
    ReadCase(
        "golem_get_vitality_score",
        {},
        # It holds what it began with, of which a fiftieth is kept for its end; nothing was predicted yet.
        {
            "economic": "0.98",
            "epistemic": "1",
            "predictions": 0,
            "is_epistemic_judged": False,
            "vitality": About(980_000, 1),
            "phase": "THRIVING",
        },
        given=_TICKED,
    ),
    ReadCase(
        "golem_get_mortality_state",
        tells={"death_state": None, "ends_at": None, "balance_usd": _near, "starting_budget_usd": _near},
        given=_TICKED,
    ),
    ReadCase(
        "golem_get_heartbeat_stats",
        tells={"is_on": True, "planner": "RULE", "ticks": 2, "completed": 2, "failed": 0, "abandoned": 0},
        given=_TICKED,
    ),
    ReadCase(
        "golem_get_health",
        tells={
            "status": "OK",
            "is_halted": False,
            "permits_under_way": 0,
            "problems": [],
            "heartbeat.completed": 2,
            "vitality.economic": "0.98",
        },
        given=_TICKED,
    ),
    ReadCase(
        "golem_cluster_archetypes",
        tells={
            "golems": 1,
            "clusters.#": 1,
            "clusters.0.main_action": "swap",
            "clusters.0.episodes": 6,
            # Two of six failed.
            "clusters.0.success_percent": 66,
            "confidence": "low",
        },
        given=("it swapped six times and two of them failed",),
    ),
    ReadCase(
        "golem_mine_testaments",
        tells={
            "total": 1,
            "testaments.0.reason": "no life left",
            "testaments.0.actions": 3,
            "testaments.0.went_wrong.swap": 1,
            "testaments.0.positions_left": 2,
            "often_went_wrong.swap": 1,
        },
        given=("another golem of its owner ended after three swaps, one of which failed",),
    ),
    ReadCase(
        "safety_simulate_transaction",
        {"to": FromReport("usdc"), "data": _SEND_SEVEN_USDC},
        {
            "success": True,
            "balance_changes.#": 1,
            "balance_changes.0.symbol": "USDC",
            "balance_changes.0.before": lambda look: look.balance("USDC"),
            "balance_changes.0.delta": -7 * 10**6,
            "state_changes": [],
            "revert_reason": None,
            "block_number": lambda look: look.block,
        },
        given=("the address of USDC is told",),
        refuses=(_ELSEWHERE,),
        most_exchanges=12,
    ),
    ReadCase(
        "safety_get_health_alerts",
        tells={
            "alerts.#": 1,
            "alerts.0.protocol": "aave_v3",
            "alerts.0.min_health_factor": "5.00",
            "alerts.0.last_triggered": None,
        },
        given=_WATCHED,
    ),
    ReadCase(
        "safety_check_pending_alerts",
        tells={
            "all_clear": False,
            "breached_alerts.#": 1,
            "breached_alerts.0.current_health_factor": _health_at_lender,
            "breached_alerts.0.threshold": "5.00",
            "breached_alerts.0.recommended_tool": "aave_repay",
        },
        after=_BORROWED,
        given=_WATCHED,
        refuses=(({"account": _PERSON}, "INVALID_PARAMS"),),
        most_exchanges=8,
    ),
    ReadCase(
        "safety_get_status",
        tells={
            "is_halted": False,
            "limits.#": 4,
            "limits[window=day].used_usd": dollars(0),
            "permits_waiting": 0,
            "permits_under_way": 0,
            "health_alerts": 1,
        },
        given=_WATCHED,
    ),
    ReadCase(
        "wallet_get_status",
        tells={
            "address": lambda look: look.account,
            "account_type": "eoa",
            "chain_id": lambda look: look.chain_id,
            "block_number": lambda look: look.block,
            "debt_usd": dollars(0),
            "total_value_usd": _near,
            "pending_transactions": [],
            "active_session_keys": 0,
        },
        refuses=(_ELSEWHERE,),
        most_exchanges=10,
        most_characters=8_000,
    ),
    ReadCase(
        "wallet_get_gas_price",
        tells={
            "chain_id": lambda look: look.chain_id,
            "base_fee_gwei": lambda look: _gwei(look.gas_price()[0]),
            "priority_fee_gwei": lambda look: _gwei(look.gas_price()[1]),
            "max_fee_gwei": lambda look: _gwei(2 * look.gas_price()[0] + look.gas_price()[1]),
            "estimated_swap_cost_usd": lambda look: _gas_cost(look, 180_000),
            "estimated_lp_cost_usd": lambda look: _gas_cost(look, 520_000),
            "cost_missing": None,
        },
        refuses=(_ELSEWHERE,),
    ),
    ReadCase(
        "wallet_get_supported_chains",
        tells={
            "chains.0.chain_id": lambda look: look.chain_id,
            "chains.0.is_private": True,
            "chains.0.block_number": lambda look: look.block,
        },
    ),
    ReadCase(
        "wallet_detect_account_type",
        {"address": FromReport("usdc")},
        {"account_type": "contract", "has_code": True, "delegates_to": None, "block_number": lambda look: look.block},
        given=("the address of USDC is told",),
        refuses=(_ELSEWHERE,),
        most_exchanges=6,
    ),
    ReadCase(
        "wallet_get_delegation",
        tells={"address": lambda look: look.account, "delegated": False, "permissions": [], "expires_at": None},
        refuses=(_ELSEWHERE,),
    ),
    ReadCase("session_get_keys", tells={"keys": [], "contract": None}),
    ReadCase("wallet_get_payment_hosts", tells={"hosts": []}),
    ReadCase("golem_get_standing_plans", tells={"plans": [], "is_carried_out": False}),
)

_NO_ID: Final = "00000000-0000-4000-8000-000000000000"

LOCAL: Final = (
    LocalCase(
        "safety_set_health_alert",
        {"protocol": "aave_v3", "min_health_factor": "5"},
        {
            "protocol": "aave_v3",
            "chain_id": lambda look: look.chain_id,
            "min_health_factor": "5.00",
            "notify_on_breach": True,
            "auto_action": "NONE",
            "last_triggered": None,
        },
        {
            "health_alerts": {"alerts.#": 1, "alerts.0.min_health_factor": "5.00", "is_watched": False},
            "pending_alerts": {
                "all_clear": False,
                "breached_alerts.#": 1,
                "breached_alerts.0.current_health_factor": _health_at_lender,
                "breached_alerts.0.threshold": "5.00",
                "breached_alerts.0.recommended_tool": "aave_repay",
            },
        },
        after=_BORROWED,
        refuses=(
            ({"min_health_factor": "1"}, "INVALID_PARAMS"),
            ({"protocol": "nobody"}, "INVALID_PARAMS"),
            ({"chain_id": 999_999}, "INVALID_PARAMS"),
            ({"auto_action": "SELL"}, "INVALID_PARAMS"),
        ),
    ),
    LocalCase(
        "safety_set_health_alert",
        {"protocol": "aave_v3", "min_health_factor": "1.5", "auto_action": "CLOSE", "notify_on_breach": False},
        {
            "min_health_factor": "1.50",
            "notify_on_breach": False,
            "auto_action": "CLOSE",
            "alert_id": FromReport("alert_id"),
        },
        # It took the place of the first, and what is owed is healthier than that.
        {
            "health_alerts": {"alerts.#": 1, "alerts.0.min_health_factor": "1.50"},
            "pending_alerts": {"all_clear": True, "breached_alerts": []},
        },
        name="safety_set_health_alert_again",
        after=("safety_set_health_alert",),
    ),
    LocalCase(
        "safety_clear_health_alert",
        {"alert_id": FromReport("alert_id")},
        {"alert_id": FromReport("alert_id")},
        {
            "health_alerts": {"alerts": []},
            "pending_alerts": {"all_clear": True, "breached_alerts": []},
            "safety_status": {"health_alerts": 0},
        },
        after=("safety_set_health_alert",),
        refuses=(({"alert_id": _NO_ID}, "HEALTH_ALERT_NOT_FOUND"), ({"alert_id": "the first"}, "INVALID_PARAMS")),
    ),
    LocalCase(
        "safety_set_circuit_breaker",
        {"action": "TRIGGER", "reason": "the pool answers another price than the feed"},
        {"action": "TRIGGER", "scope": "all", "active": True, "epoch": 1},
        {
            "safety_status": {
                "is_halted": True,
                "halt_reason": "its agent stopped it: the pool answers another price than the feed",
                "permits_waiting": 0,
                "keys.0.scopes": ["directive", "events", "halt", "preview", "read"],
            },
        },
        refuses=(
            ({"action": "RESET"}, "BREAKER_RESET_BY_OWNER"),
            ({"action": "PAUSE"}, "INVALID_PARAMS"),
            ({"reason": ""}, "INVALID_PARAMS"),
        ),
    ),
)
