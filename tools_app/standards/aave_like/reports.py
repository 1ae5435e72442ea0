"""Reports what a write at a pool did, from its receipts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from tools_app.chain.abi_records import AbiEvent
from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.rates import UPDATED
from tools_app.standards.aave_like.reads import annual_ppm
from tools_app.standards.format_loan_figures import percent
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.result import TokenAmount

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Moved:
    amount: int


@dataclass(frozen=True, slots=True)
class _Borrowed:
    amount: int
    borrow_rate: int


_SUPPLIED: Final = AbiEvent(signatures.SUPPLIED, _Moved)
_WITHDRAWN: Final = AbiEvent(signatures.WITHDRAWN, _Moved)
_REPAID: Final = AbiEvent(signatures.REPAID, _Moved)
_BORROWED: Final = AbiEvent(signatures.BORROWED, _Borrowed)


@dataclass(frozen=True, slots=True)
class _PoolDetails:
    pool: str
    health_factor_after: str | None


@dataclass(frozen=True, slots=True)
class _SupplyDetails(_PoolDetails):
    supplied_before: int


@dataclass(frozen=True, slots=True)
class _DebtDetails(_PoolDetails):
    owed_before: int
    interest_rate_mode: str


@dataclass(frozen=True, slots=True)
class _CollateralDetails(_PoolDetails):
    asset: str
    use_as_collateral: bool


def report_supply(outcome: PlanOutcome) -> dict[str, object]:
    """What was credited, as the pool's event says."""
    token, details = outcome.plan.spends[0].token, read_details(_SupplyDetails, outcome)
    amount = _amount(_last(outcome, _SUPPLIED, details))
    rates = _last(outcome, UPDATED, details)
    return {
        "a_tokens_received": TokenAmount(amount, token),
        "a_token_balance": TokenAmount(details.supplied_before + amount, token),
        "supply_apy": percent(annual_ppm(0 if rates is None else rates.liquidity_rate)),
        "health_factor_after": details.health_factor_after,
    }


def report_withdraw(outcome: PlanOutcome) -> dict[str, object]:
    """What came out; of what was sold as it came, what the pool says that it gave."""
    token, details = outcome.plan.receives[0].token, read_details(_PoolDetails, outcome)
    amount = _amount(_last(outcome, _WITHDRAWN, details))
    is_sold = "sold_with_it" in outcome.plan.details
    return {
        "assets_withdrawn": TokenAmount(amount if is_sold else outcome.deltas.get(token.address, 0), token),
        "a_tokens_burned": TokenAmount(amount, token),
        "health_factor_after": details.health_factor_after,
    }


def report_borrow(outcome: PlanOutcome) -> dict[str, object]:
    """What is owed now."""
    token, details = outcome.plan.receives[0].token, read_details(_DebtDetails, outcome)
    event = _last(outcome, _BORROWED, details) or _Borrowed(0, 0)
    return {
        "borrowed": TokenAmount(event.amount, token),
        "variable_debt_token_balance": TokenAmount(details.owed_before + event.amount, token),
        "borrow_apy": percent(annual_ppm(event.borrow_rate)),
        "interest_rate_mode": details.interest_rate_mode,
        "health_factor_after": details.health_factor_after,
    }


def report_repay(outcome: PlanOutcome) -> dict[str, object]:
    """What was paid back and what is left; what came out with it, none where nothing was asked for."""
    token, details = outcome.plan.spends[0].token, read_details(_DebtDetails, outcome)
    amount = _amount(_last(outcome, _REPAID, details))
    return {
        "repaid": TokenAmount(amount, token),
        "debt_remaining": TokenAmount(max(0, details.owed_before - amount), token),
        "collateral_withdrawn": [
            TokenAmount(outcome.deltas.get(flow.token.address, 0), flow.token) for flow in outcome.plan.receives
        ],
        "health_factor_after": details.health_factor_after,
    }


def report_collateral(outcome: PlanOutcome) -> dict[str, object]:
    """Which asset counts, or counts no more."""
    details = read_details(_CollateralDetails, outcome)
    return {
        "asset": details.asset,
        "use_as_collateral": details.use_as_collateral,
        "health_factor_after": details.health_factor_after,
    }


def _last(outcome: PlanOutcome, event: AbiEvent[T], details: _PoolDetails) -> T | None:
    """The last event of a kind that the pool emitted for the plan; None where it emitted none."""
    found = list_events(outcome, event, contract=details.pool)
    return found[-1] if found else None


def _amount(moved: _Moved | None) -> int:
    return 0 if moved is None else moved.amount
