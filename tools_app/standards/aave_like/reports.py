"""Reports what a write at a pool did, from its receipts."""

from __future__ import annotations

from typing import Any

from tools_app.chain.abi import decode_log
from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.reads import annual_ppm
from tools_app.standards.lending_words import percent
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.result import TokenAmount


def report_supply(outcome: PlanOutcome) -> dict[str, Any]:
    """What was credited, as the pool's event says."""
    token, amount = outcome.plan.spends[0].token, _event(outcome, signatures.SUPPLIED).get("amount", 0)
    return {
        "a_tokens_received": TokenAmount(amount, token),
        "a_token_balance": TokenAmount(_before(outcome, "supplied_before") + amount, token),
        "supply_apy": _rate(outcome, "liquidityRate"),
        "health_factor_after": outcome.plan.details["health_factor_after"],
    }


def report_withdraw(outcome: PlanOutcome) -> dict[str, Any]:
    """What came out; of what was sold as it came, what the pool says that it gave."""
    token, amount = outcome.plan.receives[0].token, _event(outcome, signatures.WITHDRAWN).get("amount", 0)
    is_sold = "sold_with_it" in outcome.plan.details
    return {
        "assets_withdrawn": TokenAmount(amount if is_sold else outcome.deltas.get(token.address, 0), token),
        "a_tokens_burned": TokenAmount(amount, token),
        "health_factor_after": outcome.plan.details["health_factor_after"],
    }


def report_borrow(outcome: PlanOutcome) -> dict[str, Any]:
    """What is owed now."""
    token, event = outcome.plan.receives[0].token, _event(outcome, signatures.BORROWED)
    amount = event.get("amount", 0)
    return {
        "borrowed": TokenAmount(amount, token),
        "variable_debt_token_balance": TokenAmount(_before(outcome, "owed_before") + amount, token),
        "borrow_apy": percent(annual_ppm(event.get("borrowRate", 0))),
        "interest_rate_mode": outcome.plan.details["interest_rate_mode"],
        "health_factor_after": outcome.plan.details["health_factor_after"],
    }


def report_repay(outcome: PlanOutcome) -> dict[str, Any]:
    """What was paid back and what is left; what came out with it, none where nothing was asked for."""
    token, amount = outcome.plan.spends[0].token, _event(outcome, signatures.REPAID).get("amount", 0)
    return {
        "repaid": TokenAmount(amount, token),
        "debt_remaining": TokenAmount(max(0, _before(outcome, "owed_before") - amount), token),
        "collateral_withdrawn": [
            TokenAmount(outcome.deltas.get(flow.token.address, 0), flow.token) for flow in outcome.plan.receives
        ],
        "health_factor_after": outcome.plan.details["health_factor_after"],
    }


def report_collateral(outcome: PlanOutcome) -> dict[str, object]:
    """Which asset counts, or counts no more."""
    details = outcome.plan.details
    return {
        "asset": details["asset"],
        "use_as_collateral": details["use_as_collateral"],
        "health_factor_after": details["health_factor_after"],
    }


def _event(outcome: PlanOutcome, signature: str) -> dict[str, Any]:
    """The last event of a kind that the pool emitted for the plan; empty where it emitted none."""
    pool = outcome.plan.details["pool"]
    found = [
        event
        for receipt in outcome.receipts
        for log in receipt.logs
        if log.address == pool and (event := decode_log(signature, log)) is not None
    ]
    return found[-1] if found else {}


def _rate(outcome: PlanOutcome, name: str) -> str:
    return percent(annual_ppm(_event(outcome, signatures.RATES_UPDATED).get(name, 0)))


def _before(outcome: PlanOutcome, key: str) -> int:
    return int(outcome.plan.details[key])
