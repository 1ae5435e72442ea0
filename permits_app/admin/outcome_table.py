"""Predicted beside actual, row by row, with the difference: balances, gas, fee."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from permits_app.models import ActionPermit, OutcomeRecord
from permits_app.permits.balance_deltas import read_deltas
from permits_app.permits.kept_bounds import read_bounds
from tools_app.core.units import format_units
from tools_app.pages.html import show_amount
from tools_app.wording.address_names import find_token
from tools_app.wording.formats import format_bps, format_coin, format_gas, format_usd


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """One figure. The bars are percent of the larger of the two."""

    name: str
    expected: SafeString | str
    actual: SafeString | str
    difference: SafeString | str
    is_exact: bool
    expected_percent: int
    actual_percent: int


@dataclass(frozen=True, slots=True)
class OutcomeTable:
    """The verdict and its rows."""

    is_verified: bool
    source: str
    divergence: str
    rows: tuple[OutcomeRow, ...]
    findings: tuple[str, ...]
    pnl: str


def build_outcome_table(permit: ActionPermit, outcome: OutcomeRecord) -> OutcomeTable:
    """What was predicted beside what the receipts show."""
    expected = {row.token: row.raw for row in read_deltas(outcome.expected)}
    actual = {row.token: row.raw for row in read_deltas(outcome.actual)}
    rows = [
        _token_row(permit, address, expected.get(address, 0), actual.get(address, 0))
        for address in dict.fromkeys([*expected, *actual])
    ]
    if outcome.gas_used or outcome.gas_expected:
        # Of a user operation, what its call is predicted to use and the most that is taken around it.
        name = "Gas, the whole operation" if permit.sends_operation else "Gas"
        rows.append(_gas_row(name, int(outcome.gas_expected), int(outcome.gas_used)))
        rows.append(_fee_row(permit, outcome))
    return OutcomeTable(
        is_verified=outcome.is_verified,
        source=outcome.ground_truth_source.replace("_", " "),
        divergence=format_bps(outcome.divergence_bps),
        rows=tuple(rows),
        findings=tuple(str(finding) for finding in outcome.findings),
        pnl=_describe_profit(outcome),
    )


def _describe_profit(outcome: OutcomeRecord) -> str:
    """The figure and the parts that made it; empty where it could not be told."""
    if outcome.pnl_micro_usd is None:
        return ""
    parts = [
        f"{name.replace('_', ' ')} {format_usd(int(value))}" for name, value in outcome.pnl_parts.items() if int(value)
    ]
    made_of = f" ({', '.join(parts)})" if parts else ""
    return f"{format_usd(outcome.pnl_micro_usd)}{made_of}"


def _token_row(permit: ActionPermit, address: str, expected: int, actual: int) -> OutcomeRow:
    decimals, symbol = token_units(permit, address)
    return _row(
        name=symbol,
        expected=_signed(expected, decimals, symbol),
        actual=_signed(actual, decimals, symbol),
        difference=_signed(actual - expected, decimals, symbol),
        figures=(expected, actual),
    )


def token_units(permit: ActionPermit, address: str) -> tuple[int, str]:
    """Decimals and symbol of a token the permit speaks of; zero decimals say that its units are not known."""
    for flow in read_bounds(permit.bounds).flows:
        if flow.token.address == address:
            return flow.token.decimals, flow.token.symbol
    token = find_token(permit.chain_id, address)
    return (token.decimals, token.symbol) if token else (0, f"base units of {address[:8]}…")


def _gas_row(name: str, expected: int, actual: int) -> OutcomeRow:
    change = actual - expected
    return _row(
        name=name,
        expected=format_gas(expected),
        actual=format_gas(actual),
        difference=f"{change:+,} gas" if change else "none",
        figures=(expected, actual),
    )


def _fee_row(permit: ActionPermit, outcome: OutcomeRecord) -> OutcomeRow:
    expected = int(outcome.expected.get("fee_wei", 0))
    actual = int(outcome.fee_wei)
    change = format_coin(actual - expected, permit.chain_id)
    return _row(
        name="Fee",
        expected=show_amount(format_coin(expected, permit.chain_id)),
        actual=show_amount(format_coin(actual, permit.chain_id)),
        difference=show_amount(change if actual <= expected else f"+{change}"),
        figures=(expected, actual),
    )


def _row(
    *,
    name: str,
    expected: SafeString | str,
    actual: SafeString | str,
    difference: SafeString | str,
    figures: tuple[int, int],
) -> OutcomeRow:
    largest = max(abs(figures[0]), abs(figures[1]), 1)
    is_exact = figures[0] == figures[1]
    return OutcomeRow(
        name=name,
        expected=expected,
        actual=actual,
        difference="none" if is_exact else difference,
        is_exact=is_exact,
        expected_percent=abs(figures[0]) * 100 // largest,
        actual_percent=abs(figures[1]) * 100 // largest,
    )


def _signed(raw: int, decimals: int, symbol: str) -> str:
    text = format_units(raw, decimals, symbol)
    return f"+{text}" if raw > 0 else text
